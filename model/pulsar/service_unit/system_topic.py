"""The system topic as the store of service units: one log, and the table view that each broker folds it into.

Mirrors ServiceUnitStateTableViewImpl over TableViewImpl of the client. A message is acknowledged when it is stored; whether it
is accepted each view decides by itself, by the conflict resolver, as it comes to it. A view may lag, by ``lag`` messages at
most; then nobody writes until it has read one, and what clients want is written only if it leaves room for one more. What every
live broker has read is dropped from the log. ``record`` is what one has come to that has read everything, as a broker does that
starts.

Compaction (StrategicTwoPhaseCompactor) keeps of each unit the message that its own fold has come to, at its old place. A view
that lags goes on with what is left. That compaction leaves no tombstones is the bug ``tombstones_compacted``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol as Protocol_

from fencepost.model.language import (
    ABSENT,
    And,
    Choice,
    Condition,
    Family,
    If,
    Not,
    Or,
    Outcome,
    Protocol,
    Truth,
    Universe,
    Updates,
    all_of,
    any_of,
    how_many,
)
from fencepost.model.pulsar.service_unit.records import FIRST, Record, Records, named
from fencepost.model.zookeeper.sessions_and_nodes import merged


class Users(Protocol_):
    """Those who read and write a store: who of them there is, and whether each lives."""

    client: Universe

    @property
    def lives(self) -> Family[Condition] | Sequence[Condition]:
        """The formula of each: it lives."""


Handler = Callable[[int, int, Record], tuple[Updates, Truth, Record]]
"""What a broker does with an event of a unit: its updates, whether it writes a record in answer, and which."""

HANDLERS = ", ".join(
    f"ServiceUnitStateChannelImpl.{handler}"
    for handler in (
        "handleEvent",
        "handleAssignEvent",
        "handleDeleteEvent",
        "handleInitEvent",
        "handleOwnEvent",
        "handleSplitEvent",
    )
)
"""What a ``Handler`` mirrors, except for what waits until topics are closed."""

HEARS = f"{HANDLERS}, TableViewImpl.handleMessage, ServiceUnitStateDataConflictResolver.shouldKeepLeft"


class SystemTopic:
    """The log, the views, and how messages get there.

    ``name`` goes before the names of what both stores have; with ``keeps_force`` it is known of a record in ``record`` whether
    it was forced; with ``skips`` there are writers who leave out records.
    """

    def __init__(
        self,
        p: Protocol,
        store: Users,
        records: Records,
        unit: Universe,
        *,
        lag: int,
        compactions: int = 0,
        late: int = 0,
        name: str = "",
        keeps_force: bool = False,
        skips: bool = False,
    ) -> None:
        self.protocol, self.store, self.records, self.unit, self.lag = p, store, records, unit, lag
        self.broker = store.client
        view = records.declare(f"{name}view", (self.broker, unit), force=False)
        record = records.declare(f"{name}record", (unit,), force=keeps_force)
        self.view = {(b, u): view(b, u) for b in self.broker for u in unit}
        self.record = {u: record(u) for u in unit}
        self.behind = p.number("behind", 0, lag, per=self.broker)
        place = self.place = p.universe("place", lag, "m")
        message = records.declare("message", (place,), force=True)
        self.message = [message(k) for k in place]
        self.of: Family[Choice[int]] = p.choice("message_of", unit, per=place) if len(unit) > 1 else ABSENT
        self.counts: Family[Condition] = p.flag("message_counts", per=place) if compactions else ABSENT
        self.gone: Family[Condition] = p.flag("message_gone", per=place) if compactions else ABSENT
        p.budget("compactions", compactions)
        p.budget("late_messages", late)

        @p.rule
        def keeps_old(old: Record, new: Record) -> Condition:
            """A view takes or leaves a message by the conflict resolver.

            If nobody skips versions, and compaction has taken nothing, none may be missing before a record that is taken.
            """
            follows = new.version == If(old.absent, FIRST, records.after(old.version))
            gap = And(Not(new.absent), Not(follows), compactions == 0 and not skips)
            return Or(gap, records.keeps_old(old, new, topic=True))

        @p.rule
        def outlives(record: Record) -> bool:
            """Compaction leaves the last message of a unit, and tombstones, so that a view that lags hears of them."""
            return True

        self.keeps_old, self.outlives = keeps_old, outlives

    # --- formulas

    def has_room(self, b: int | None = None) -> Condition:
        """The formula: a message can be written, no view lags too far; what ``b`` writes on reading one needs no room there."""
        return all_of(Or(Not(self.store.lives[c]), self.behind[c] < self.lag) for c in self.broker if c != b)

    def is_known(self, b: int, u: int) -> Condition:
        """The formula: the broker's view of a unit is what the whole log comes to."""
        return self.view[b, u].equals(self.record[u])

    def may_write(self, b: int) -> Condition:
        """The formula: the broker's producer gets a message stored."""
        return And(self.store.lives[b], self.has_room())

    def may_ask(self, b: int) -> Condition:
        """The formula: the broker can write for a client, and room is left: clients ask again and again."""
        return And(self.store.lives[b], *(Or(Not(self.store.lives[c]), self.behind[c] < self.lag - 1) for c in self.broker))

    def has_news(self, b: int, u: int) -> Condition:
        """The formula: there is something that the broker has not read."""
        return self.behind[b] > 0

    # --- updates

    def written(self, b: int, u: int, record: Record, condition: Truth = True, *, on_reading: bool = False) -> Updates:
        """A message is written where the condition holds; ``on_reading`` says that the broker reads one in the same step."""
        return self._changed(u, record, condition, reader=b if on_reading else None)

    def _changed(self, u: int, record: Record, condition: Truth, reader: int | None = None) -> Updates:
        """The log after a message is written, where the condition holds, and after the reader has read one."""
        behind = {
            c: self.behind[c] + how_many(And(condition, self.store.lives[c])) - (1 if c == reader else 0) for c in self.broker
        }
        accepted = And(condition, Not(self.keeps_old(self.record[u], record)))
        updates = dict(self.record[u].becomes(record, accepted))
        for c in self.broker:
            updates[self.behind[c]] = behind[c]
        for k in self.place:
            needed = any_of(behind[c] > k for c in self.broker)
            updates |= self._put(k, needed, condition, u, record, accepted)
        return updates

    def _put(self, k: int, needed: Condition, condition: Truth, u: int, record: Record, accepted: Condition) -> Updates:
        """What is at a place: the message before it, or the new one, where one is written; nothing that is not needed."""
        newer = record if k == 0 else self.message[k - 1]
        there = newer.where(condition, self.message[k]).where(needed, self.records.none)
        updates: Updates = self.message[k].becomes(there)
        if self.of is not None:
            of = If(condition, self.named(u) if k == 0 else self.of[k - 1], self.of[k])
            updates[self.of[k]] = If(needed, of, self.named(0))
        if self.counts is not None:
            replaced = And(accepted, self.is_of(k - 1, u), Not(self.message[k - 1].absent)) if k else False
            arrives = And(accepted, self.outlives(record)) if k == 0 else And(self.counts[k - 1], Not(replaced))
            stays = And(self.counts[k], Not(condition))
            updates[self.counts[k]] = And(needed, Or(And(condition, arrives), stays))
            gone = False if k == 0 else self.gone[k - 1]
            updates[self.gone[k]] = And(needed, If(condition, gone, self.gone[k]))
        return updates

    def named(self, u: int) -> Choice[int]:
        """The unit as a value of the variables that say which unit a message is of."""
        return named(self.unit.label(u), tuple(self.unit.label(other) for other in self.unit))

    def is_of(self, k: int, u: int) -> Truth:
        """The formula: the message at a place is of that unit."""
        return True if self.of is None else self.of[k] == u

    def forgotten(self, b: int, starts: Truth | None = None) -> Updates:
        """A process that ends has no view, and the log need not keep what only it had not read; one that starts reads all.

        One ``starts``, unless that is said, if it does not live.
        """
        starts = Not(self.store.lives[b]) if starts is None else starts
        updates: Updates = {self.behind[b]: 0}
        for u in self.unit:
            updates |= self.view[b, u].becomes(self.record[u].where(starts, self.records.none))
        for k in self.place:
            needed = any_of(self.behind[c] > k for c in self.broker if c != b)
            updates |= self.message[k].becomes(self.message[k].where(needed, self.records.none))
            for flag in filter(lambda f: f is not None, (self.counts, self.gone)):
                updates[flag[k]] = And(flag[k], needed)
            if self.of is not None:
                updates[self.of[k]] = If(needed, self.of[k], self.named(0))
        return updates

    def lost(self, b: int) -> Updates:
        """A broker whose session is gone goes on with its view."""
        return {}

    def reestablished(self, b: int) -> Updates:
        """A new session of the metadata store means nothing to the view."""
        return {}

    def reconnected(self, b: int) -> Updates:
        """Nor does a connection to it."""
        return {}

    # --- steps

    def reading(self, handler: Handler, b: int, u: int, k: int, *, may_answer: Truth = True) -> tuple[Condition, Updates]:
        """Guard and updates of a reader that reads the message at a place; it waits where it answers, and may not yet."""
        message = self.message[k]
        there = True if self.gone is None else Not(self.gone[k])
        accepted = And(there, Not(self.keeps_old(self.view[b, u], message)))
        updates, answers, answer = handler(b, u, message)
        answers = And(accepted, answers)
        taken = {v: If(accepted, value, v) for v, value in updates.items()}
        view = self.view[b, u].becomes(message, accepted)
        ready = Or(Not(answers), And(self.has_room(b), may_answer))
        guard = And(self.store.lives[b], self.behind[b] == k + 1, self.is_of(k, u), ready)
        return guard, merged(taken, view, self._changed(u, answer, answers, reader=b))

    def declare(self, handler: Handler) -> None:
        """Declares how messages are read, and what befalls the log."""
        p, broker, unit, place = self.protocol, self.broker, self.unit, self.place

        @p.step(by="b", hears="store", mirrors=HEARS, fair=True, b=broker, u=unit, k=place)
        def read(b: int, u: int, k: int) -> Outcome:
            """A broker reads the next message of the topic, and acts on it if its view accepts it.

            What it writes in answer is stored in the same step: nobody could tell that from reading the message later.
            """
            return self.reading(handler, b, u, k)

        @p.fault(
            by="topic",
            mirrors="StrategicTwoPhaseCompactor.compact, StrategicTwoPhaseCompactor.doCompactMessage",
            spends="compactions",
        )
        def compact() -> Outcome:
            """The topic is compacted: of each unit only the last accepted message is left."""
            lags = any_of(self.behind[b] > 0 for b in broker)
            return lags, {self.gone[k]: And(any_of(self.behind[b] > k for b in broker), Not(self.counts[k])) for k in place}

        @p.fault(
            by="topic",
            mirrors="ServiceUnitStateTableViewImpl.put",
            spends="late_messages",
            u=unit,
            k=place,
        )
        def store_again(u: int, k: int) -> Outcome:
            """A producer that did not hear that a message was stored sends it again: it is stored twice.

            Of those that somebody has not read yet it may be any, and what others wrote meanwhile is before it. A tombstone
            that is stored again is one that comes late.
            """
            any_record = True if p.has("late_tombstones") else Not(self.message[k].absent)
            there = And(any_of(self.behind[b] > k for b in broker), any_record)
            return And(there, self.has_room(), self.is_of(k, u)), self._changed(u, self.message[k], True)
