"""The variables of ``topic`` with their sorts, and words about them that its properties and lemmas share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from fencepost.model.analysis.refinement import Refinement
from fencepost.model.language import (
    And,
    Choice,
    Condition,
    Family,
    If,
    Implies,
    Not,
    Number,
    Or,
    Protocol,
    Subset,
    Truth,
    Variables,
    all_of,
    any_of,
)
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.topic.state import NONE, Asked, BrokerState, Link, Topic
from fencepost.model.stand_ins.ledger import State, stand_in


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
    truncations: Number
    transfers: Number
    property_updates: Number
    migrations: Number
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
    former: Subset
    deleting: Family[Subset]
    cursor: Number
    consumed: Number
    has_cursor: Family[Condition]
    mark: Family[Number]
    trim_mark: Family[Number]
    discarded: Condition
    owed: Family[Condition]
    counted: Family[Number]
    stuck: Family[Condition]
    transferring: Family[Condition]
    asked: Family[Choice[Asked]]
    late: Family[Condition]


class Log:
    """The log of an instance that ``fencepost.model.pulsar.topic.topic`` built.

    A place is a ledger and an entry. The log is the ledgers of the list in their order, each up to its end, and those before
    them that were trimmed: what is trimmed was passed by every cursor, which is a property of its own.
    """

    def __init__(self, p: Protocol) -> None:
        self.protocol, self.settings, s = p, p.parameters, TopicVariables.now(p)
        self.state = s
        self.broker, self.ledger, self.message, self.slot = (p.universes[u] for u in ("broker", "ledger", "message", "slot"))
        self.capacity = len(self.slot)
        self.places = [(k, e) for k in self.ledger for e in self.slot]
        self.status, self.sent, self.confirmed, self.end = s.ledger.status, s.ledger.sent, s.ledger.confirmed, s.ledger.end
        self.next_confirmed = TopicVariables.later(p).ledger.confirmed

    def as_one_ledger(self, k: int) -> Refinement:
        """What a ledger of the topic is to the protocol of one ledger alone."""
        weak = ("confirm_late",) if self.settings["unfenced"] else ()
        alone = stand_in(self.capacity, created=False, deletions=True, allows=weak)
        values = {"status": self.status[k], "sent": self.sent[k], "confirmed": self.confirmed[k], "end": self.end[k]}
        return Refinement(f"{self.protocol.name}: ledger {k}", self.protocol, alone, values)

    def number(self, k: int, e: int) -> int:
        """A place as a number, as positions are kept."""
        return k * self.capacity + e

    def length(self, k: int) -> Number:
        """How many entries a reader of the ledger gets."""
        open_ = If(self.status[k] == "open", self.confirmed[k], 0)
        return If(self.status[k] == "closed", self.end[k], open_)

    def is_trimmed(self, k: int) -> Truth:
        """The formula: the ledger was trimmed."""
        return self.state.trimmed.has(k) if self.settings["trims"] else False

    def is_stored(self, k: int, e: int) -> Condition:
        """The formula: the place is one of the log, or was until it was trimmed."""
        listed = And(self.state.listed.has(k), e < self.length(k))
        return Or(listed, And(self.is_trimmed(k), e < self.end[k])) if self.settings["trims"] else listed

    def has(self, k: int, e: int, m: int) -> Condition:
        """The formula: the message is at that place of the log."""
        return And(self.state.content[k, e] == m, self.is_stored(k, e))

    def serves(self, b: int, k: int) -> Condition:
        """The formula: a reader at that broker gets to the ledger, or it was trimmed."""
        return Or(self.state.known[b].has(k), self.is_trimmed(k))

    def reaches(self, k: int, e: int) -> Truth:
        """The formula: the place is not past the position at which the topic was terminated."""
        if not self.settings["terminations"]:
            return True
        return Or(Not(self.state.ended), self.state.final > self.number(k, e))

    def gets(self, m: int) -> Condition:
        """The formula: a reader who begins with the first message gets this one, or the topic was deleted on purpose."""
        is_readable = any_of(And(self.has(k, e, m), self.reaches(k, e)) for k, e in self.places)
        return Or(self.is_discarded, is_readable)

    @property
    def keeps_acknowledged(self) -> Condition:
        """The formula: every acknowledged message is in the log."""
        return all_of(Implies(self.state.acked > m, self.gets(m)) for m in self.message)

    def what_a_reader_gets(self) -> Iterator[tuple[str, Truth]]:
        """Of each acknowledged message whether such a reader gets it, in words."""
        for m in self.message:
            acknowledged = f"{self.message.label(m)} is acknowledged, and a reader that begins with the first message"
            yield f"{acknowledged} gets it", And(self.state.acked > m, self.gets(m))
            yield f"{acknowledged} never gets it", And(self.state.acked > m, Not(self.gets(m)))

    @property
    def keeps_unread(self) -> Condition:
        """The formula: no ledger is trimmed of which the subscription has not acknowledged everything."""
        consumed = {k: self.state.consumed >= self.number(k, 0) + self.end[k] for k in self.ledger}
        return all_of(Not(And(self.is_trimmed(k), self.end[k] > 0, Not(consumed[k]))) for k in self.ledger)

    @property
    def is_discarded(self) -> Truth:
        """The formula: the topic was deleted on purpose, with all that was in it."""
        return self.state.discarded if self.settings["deletions"] else False

    def has_a_ledger_after(self, k: int) -> Truth:
        """The formula: the list has a ledger after this one."""
        return any_of(self.state.listed.has(j) for j in self.ledger if j > k) if k < len(self.ledger) - 1 else False

    def waits_in_vain(self, b: int) -> Condition:
        """The formula: the broker has to create a ledger, and the instance has no further one."""
        creates = self.state.state[b].among("creating", "recovered")
        return And(creates, self.state.fresh[b] == NONE, self.status[len(self.ledger) - 1] != "absent")

    def is_unspent(self, budget: str) -> Truth:
        """The formula: it has not happened yet, or cannot."""
        return self.protocol.counter(budget) == 0 if budget in self.protocol.budgets else True

    def is_spent(self, budget: str) -> Truth:
        """The formula: it has happened as often as it may."""
        return self.protocol.counter(budget) == self.protocol.budgets[budget] if budget in self.protocol.budgets else True
