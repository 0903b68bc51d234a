"""The variables of ``placement`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from typing import Literal

from fencepost.model.language import Choice, Family, Number, Subset, Variables


class PlacementVariables(Variables):
    """The variables of an instance of ``placement``."""

    place: Family[Choice[int | Literal["none"]]]
    chosen: Number
    avoided: Subset
    stage: Choice[Literal["choosing", "placed", "stored", "refused"]]
    start: Choice[int]
    copies: Subset
    away: Subset
    lost: Subset
    outages: Number
    losses: Number
