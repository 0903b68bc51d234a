"""The variables of ``split`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from typing import Literal

from fencepost.model.language import Choice, Condition, Family, Number, Subset
from fencepost.model.pulsar.split import Stage
from fencepost.properties.locks.variables import LockVariables


class SplitVariables(LockVariables):
    """The variables of an instance of ``split``; each has those that its parameters and bugs need."""

    layout: Subset
    layout_version: Number
    layout_change: Family[Condition]
    view: Family[Subset]
    view_version: Family[Number]
    split: Family[Choice[Stage]]
    parent: Family[Choice[int | Literal["nothing"]]]
    children: Family[Subset]
    proposed: Family[Subset]
    based_on: Family[Number]
    attempt: Family[Number]
    splits: Number
    releases: Number
    policies: Subset
    hung: Family[Condition]
