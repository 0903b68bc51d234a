"""The variables of ``unload`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number
from fencepost.model.pulsar.unload import Unload
from fencepost.properties.locks.variables import LockVariables


class UnloadVariables(LockVariables):
    """The variables of an instance of ``unload``; each has those that its parameters and bugs need."""

    unloading: Family[Choice[Unload]]
    topic_open: Family[Condition]
    overdue: Family[Condition]
    unloads: Number
    timeouts: Number
    failures: Number
