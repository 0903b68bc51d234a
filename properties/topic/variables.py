"""The variables of ``topic`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from typing import Literal

from fencepost.model.language import Choice, Condition, Family, Number, Subset, Variables
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.topic.state import BrokerState, Link, Topic
from fencepost.model.stand_ins.ledger import State


class LedgersVariables(Variables):
    """The variables of its part ``ledger``."""

    status: Family[Choice[State]]
    sent: Family[Number]
    confirmed: Family[Number]
    end: Family[Number]


class TopicVariables(Variables):
    """The variables of an instance of ``topic``; each has those that its parameters and bugs need."""

    ledger: LedgersVariables
    openings: Number
    connections: Number
    rolls: Number
    failures: Number
    add_failures: Number
    recoveries: Number
    crashes: Number
    terminations: Number
    closings: Number
    trims: Number
    deletions: Number
    snapshots: Number
    slow_updates: Number
    content: Family[Choice[int | Literal["nothing"]]]
    listed: Subset
    version: Number
    entries: Family[Number]
    state: Family[Choice[BrokerState]]
    known: Family[Subset]
    known_entries: Family[Number]
    known_version: Family[Number]
    current: Family[Choice[int | Literal["none"]]]
    fresh: Family[Choice[int | Literal["none"]]]
    slow: Family[Choice[int | Literal["none"]]]
    mutex: Family[Condition]
    queue: Family[Choice[int | Literal["nothing"]]]
    length: Family[Number]
    arrived: Family[Number]
    sent: Family[Number]
    topic: Family[Choice[Topic]]
    pushed: Family[Number]
    persisted: Family[Number]
    connected: Choice[int | Nobody]
    next_out: Number
    acked: Number
    filled: Family[Condition]
    link: Choice[Link]
    ended: Condition
    final: Number
    snapshot: Number
    snapshot_at: Number
    trimmed: Subset
    deleting: Family[Subset]
    cursor: Number
    consumed: Number
    has_cursor: Family[Condition]
    mark: Family[Number]
    discarded: Condition
    owed: Family[Condition]
    counted: Family[Number]
    stuck: Family[Condition]
    late: Family[Condition]
