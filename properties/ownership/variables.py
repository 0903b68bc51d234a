"""The variables of ``ownership`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number
from fencepost.model.nobody import Nobody
from fencepost.properties.locks.variables import LockVariables


class OwnershipVariables(LockVariables):
    """The variables of an instance of ``ownership``; each has those that its parameters and bugs need."""

    cached: Family[Choice[int | Nobody]]
    releases: Number
    disables: Number
    owner_disabled: Family[Condition]
    migration: Choice[str]
    read_only: Family[Condition]
    prepared: Family[Condition]
    told: Family[Condition]
    apart: Family[Condition]
    target_owner: Family[Choice[int | Nobody]]
    target_session: Family[Choice[int | Nobody]]
    cleanup: Family[Condition]
