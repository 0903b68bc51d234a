"""The variables of ``geo_replication`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from typing import Literal

from fencepost.model.language import Choice, Condition, Family, Number, Subset, Variables
from fencepost.model.pulsar.geo_replication import Stage


class GeoReplicationVariables(Variables):
    """The variables of an instance of ``geo_replication``; each has those that its parameters and bugs need."""

    published: Number
    read: Number
    replicated: Subset
    queue: Family[Choice[int | Literal["none"]]]
    stage: Family[Choice[Stage]]
    last: Number
    writing: Family[Condition]
    copies: Family[Number]
    pushed: Family[Number]
    persisted: Family[Number]
    refusals: Number
    disconnects: Number
    write_failures: Number
    target_reloads: Number
    source_reloads: Number
