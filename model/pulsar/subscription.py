"""A durable subscription: what a consumer has acknowledged, one message at a time, and what is left of that after a restart.

Mirrors ManagedCursorImpl of managed-ledger, as read in 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1, and
PersistentSubscription of the broker.

A cursor has a position, before which everything is acknowledged, and the acknowledged messages behind it, whose holes are
ranges. An acknowledgement changes both in memory. It is then written, with all ranges, as an entry of the cursor's ledger,
and answered when that is stored. While a read is under way, or a ledger for the cursor is created, it waits in a queue; of
a queue only the last entry is written, and all are answered. A seek is written and answered the same way, and changes the
memory when it is stored. A cursor that is closed writes the node in the metadata store instead. Whoever opens the topic
next goes by what was written last, so it is one place here.

Two ways in which an acknowledged message comes again are no bugs. With managedLedgerDefaultMarkDeleteRateLimit an
acknowledgement may be answered before it is written: a killed broker forgets it (``limited``). Of more than
managedLedgerMaxUnackedRangesToPersist ranges the others are kept in memory only (``limit``). The strict property
``answered_acks_are_kept`` shows both; ``stored_acks_are_kept`` is about what was written and is within the limit.

Not modelled: indexes of batches, transactions, consumers and what is dispatched to which of them, a write of the cursor
that fails, a ledger of the cursor that cannot be read or is full, a cursor that is closed while it writes or gets a
ledger, two owners, trimming, messages that come after a seek. An acknowledgement is one step: between its change in
memory and its write another connection may acknowledge, and here does not. An entry of the queue is written with the
position of the cursor; with its own, as in the releases, only with the bug ``queued_position_kept``. A message is
acknowledged once: ManagedCursorImpl.asyncDelete answers a second time at once where no range is left, even if the first
is not stored. What is acknowledged up to a message is not answered before it is written, and waits for a ledger, not
for a read. What a killed broker is writing is not stored.

Constants
    messages             messages of the topic, all of them stored
    capacity             entries of a ledger of the topic; a range ends with its ledger
    limit                managedLedgerMaxUnackedRangesToPersist
    node_limit           managedLedgerMaxUnackedRangesToPersistInMetadataStore: a cursor that is closed with more ranges
                         writes its ledger once more, and not the node
    long_arrays          managedLedgerPersistIndividualAckAsLongArray: a ledger of the cursor has a bit for each entry
    limited              managedLedgerDefaultMarkDeleteRateLimit: an acknowledgement may be answered before it is written
    one_above            a range above the limit is stored as well (up to 4.2.4)
    counts_own           a ledger counts against the limit of long arrays, and not only those before it; where that leaves out
                         all, ranges are written (since 5.0.1)
    sets_last            a seek is the position that was last given to be written as soon as it begins (up to 4.0.8)
    seeks                times that a client or an administrator moves the subscription
    unloads              times that the topic is unloaded
    crashes              times that the broker dies

Variables of the store
    stored_mark, stored_acked
                         the position that was written last, and the ranges with it

Variables of the broker
    state                ManagedCursorImpl.State: none is not loaded. flushing is no state there: it is the moment in which what
                         is queued is given to be written
    mark, acked          markDeletePosition, as the number of messages before it, and individualDeletedMessages
    last                 lastMarkDeleteEntry: the position that was last given to be written
    persisted            persistentMarkDeletePosition; -1 is none
    queued               pendingMarkDeleteOps: acknowledgements, a seek as the last of them, or a seek and acknowledgements
                         behind it
    writing, place, ranges
                         up to two writes under way, which are stored in order: of what, the position, and the acknowledged
                         messages with it. both is an acknowledgement whose answer is that of a seek as well
    target               where a seek that is under way goes; -1 is none

Variables of the clients
    asked, meanwhile     what was acknowledged since the last seek, or is before where it went; and while one is under way
    answered, promised   which acknowledgements were answered, and which of them as stored and within the limit, which was not
                         exceeded since

Variables that only bugs have
    waits_at             queued_position_kept: the position of the last entry in the queue

Variables that count
    seeks, unloads, crashes
                         how often each event has happened, up to the constant of that name

Actions
    load                 broker: opens the topic, and recovers the cursor
    acknowledge, acknowledge_during_read
                         consumer: acknowledges a message; and as a read is under way
    acknowledge_up_to    consumer: acknowledges everything up to a message
    acknowledge_at_rest  consumer: the same of one message, which is answered before it is written. Only with limited
    flush_at_rest        broker: the timer writes what was answered before. Only with limited
    seek, seek_during_read
                         client: moves the subscription; and as a read is under way
    create_ledger        broker: the cursor has a ledger of its own
    end_read             broker: the read is over
    flush_acks, flush_seek
                         broker: the read or the creation is over: what is queued is given to be written, before anything else
                         happens
    store                broker: the first write is stored, and answered
    unload               admin: the topic is closed, and with it the cursor
    crash                broker, a fault: the process ends

Actions that only bugs have
    skip, skip_acks      an acknowledgement, or those that wait, are answered without a write, as a later position is stored
    skip_seek            a seek is taken for an old position, answered and not written
    flush_both           a seek is answered as the acknowledgement behind it is stored

The properties are in ``properties/subscription/suite.py``. ``BUGS`` has a line for each bug,
``properties/subscription/bugs.toml`` the releases that have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from fencepost.model.language import (
    And,
    Choice,
    Condition,
    If,
    Implies,
    ModelError,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Subset,
    Truth,
    Updates,
    how_many,
    maximum,
    select,
)
from fencepost.model.pulsar.subscription_bugs import BUGS
from fencepost.model.terms.values import subset_where

State = Literal["none", "no_ledger", "creating", "flushing", "open"]
Queued = Literal["nothing", "acks", "seek", "seek_and_acks"]
Written = Literal["nothing", "ack", "seek", "both"]
STATES: tuple[State, ...] = ("none", "no_ledger", "creating", "flushing", "open")
QUEUED: tuple[Queued, ...] = ("nothing", "acks", "seek", "seek_and_acks")
WRITTEN: tuple[Written, ...] = ("nothing", "ack", "seek", "both")
NONE = -1
"""No position."""


def subscription(
    *,
    messages: int = 3,
    capacity: int = 3,
    limit: int = 3,
    node_limit: int = 3,
    long_arrays: bool = False,
    limited: bool = False,
    one_above: bool = False,
    counts_own: bool = False,
    sets_last: bool = False,
    seeks: int = 1,
    unloads: int = 1,
    crashes: int = 1,
    bugs: Iterable[str] = (),
) -> Protocol:
    """A subscription of some ``messages``; the other parameters are constants of the same name."""
    if min(messages, capacity) < 1:
        raise ModelError("subscription: messages and capacity are at least 1")
    settings = {
        "messages": messages,
        "capacity": capacity,
        "limit": limit,
        "node_limit": node_limit,
        "long_arrays": long_arrays,
        "limited": limited,
        "one_above": one_above,
        "counts_own": counts_own,
        "sets_last": sets_last,
        "seeks": seeks,
        "unloads": unloads,
        "crashes": crashes,
    }
    p = Protocol("subscription", doc=__doc__, parameters=settings, bugs=BUGS, active=bugs)
    Cursor(p).declare()
    return p


def exceeds_limit(settings: Mapping[str, int | bool | str]) -> bool:
    """Whether there can be more ranges than are stored. The first message is open, or the position would move."""
    messages, capacity, limit = (int(settings[name]) for name in ("messages", "capacity", "limit"))
    ledgers = [min(capacity, messages - first) for first in range(0, messages, capacity)]
    ranges = [entries // 2 if n == 0 else (entries + 1) // 2 for n, entries in enumerate(ledgers)]
    if settings["long_arrays"]:
        return sum(ranges if settings["counts_own"] else ranges[:-1]) > limit
    return sum(ranges) > limit + bool(settings["one_above"])


class Cursor:
    """ManagedCursorImpl of the subscription, and those who use it."""

    def __init__(self, p: Protocol) -> None:
        settings = p.parameters
        self.protocol = p
        self.messages, self.capacity = int(settings["messages"]), int(settings["capacity"])
        self.message = message = p.universe("message", self.messages, "m")
        slot = p.universe("slot", 2, "w")
        self.stored_mark = p.number("stored_mark", 0, self.messages)
        self.stored_acked = p.subset("stored_acked", message)
        for event in ("seeks", "unloads", "crashes"):
            p.budget(event, int(settings[event]))
        self.state = p.choice("state", STATES)
        self.mark = p.number("mark", 0, self.messages)
        self.acked = p.subset("acked", message)
        self.last = p.number("last", 0, self.messages)
        self.persisted = p.number("persisted", NONE, self.messages, init=NONE)
        self.queued = p.choice("queued", QUEUED)
        self.writing = p.choice("writing", WRITTEN, per=slot)
        self.place = p.number("place", 0, self.messages, per=slot)
        self.ranges = p.subset("ranges", message, per=slot)
        self.waits_at = p.number("waits_at", 0, self.messages) if p.has("queued_position_kept") else None
        self.target = p.number("target", NONE, self.messages, init=NONE)
        self.asked = p.subset("asked", message)
        self.meanwhile = p.subset("meanwhile", message)
        self.answered = p.subset("answered", message)
        self.promised = p.subset("promised", message)

    def before(self, position: Number | int) -> Subset:
        """The messages before a position."""
        return subset_where(self.messages, lambda m: position > m)

    def covers(self, mark: Number | int, acked: Subset) -> Subset:
        """What a position and ranges say is acknowledged."""
        return self.before(mark) | acked

    def range_count(self, acked: Subset, upto: int | None = None) -> Number:
        """How many ranges begin up to a message, or at all; the first of a ledger begins one."""
        last = self.messages if upto is None else upto + 1
        return how_many(*(self._begins(acked, m) for m in range(last)))

    def _begins(self, acked: Subset, m: int) -> Truth:
        return And(acked.has(m), Not(acked.has(m - 1))) if m % self.capacity else acked.has(m)

    def is_within(self, limit: str, acked: Subset) -> Truth:
        """The formula: there are no more ranges than that (ManagedCursorImpl.isCursorDataFullyPersistable)."""
        most = int(self.protocol.parameters[limit])
        return True if most >= self.messages else self.range_count(acked) <= most

    def kept(self, acked: Subset, *, in_node: bool = False) -> Subset:
        """What is written of the ranges: buildIndividualDeletedMessageRanges, and with long arrays toRanges of
        OpenLongPairRangeSet or PositionRangeSet, which keeps or leaves out a whole ledger."""
        limit = int(self.protocol.parameters["limit"])
        most = limit + bool(self.protocol.parameters["one_above"])
        if limit >= self.messages:
            return acked
        ranges = subset_where(self.messages, lambda m: And(acked.has(m), self.range_count(acked, m) <= most))
        if in_node or not self.protocol.parameters["long_arrays"]:
            return ranges
        by_entry = self.protocol.has("limit_counts_entries")
        own = bool(self.protocol.parameters["counts_own"])

        def counted(m: int) -> Number:
            first = m - m % self.capacity
            end = min(first + self.capacity, self.messages) if own else first
            return how_many(*(acked.has(e) if by_entry else self._begins(acked, e) for e in range(end)))

        ledgers = subset_where(self.messages, lambda m: And(acked.has(m), counted(m) <= limit))
        if not own:
            return ledgers
        return subset_where(self.messages, lambda m: Or(ledgers.has(m), And(ledgers.is_empty, ranges.has(m))))

    def advanced(self, mark: Number, acked: Subset) -> tuple[Number, Subset]:
        """ManagedCursorImpl.setAcknowledgedPosition: the position moves over what is acknowledged, and takes that in."""
        moved: Number = mark
        for m in range(self.messages):
            moved = If(And(moved == m, acked.has(m)), m + 1, moved)
        return moved, acked & ~self.before(moved)

    def position_to_write(self) -> Number:
        """The position that a new ledger of the cursor begins with, and a cursor that is closed ends with."""
        return self.last if self.protocol.has("position_behind_ranges") else self.mark

    def position_of_queue(self) -> Number:
        """The position with which the last acknowledgement that waits is written."""
        return self.mark if self.waits_at is None else self.waits_at

    def joins_queue(self, mark: Number | int) -> Updates:
        """An acknowledgement joins the queue with this position; 0 is that of an empty queue."""
        return {} if self.waits_at is None else {self.waits_at: mark}

    @property
    def is_loaded(self) -> Condition:
        return self.state != "none"

    @property
    def is_in_use(self) -> Condition:
        """The formula: the cursor takes requests."""
        return And(self.is_loaded, self.state != "flushing")

    @property
    def is_seeking(self) -> Condition:
        return self.target != NONE

    @property
    def has_room(self) -> Condition:
        """The formula: fewer than two writes are under way."""
        return self.writing[1] == "nothing"

    def begin(self, kind: Written, place: Number | int, ranges: Subset) -> Updates:
        """ManagedCursorImpl.internalMarkDelete: a write is sent, behind one that may be under way."""
        first = self.writing[0] == "nothing"
        return {
            self.writing[0]: If(first, kind, self.writing[0]),
            self.place[0]: If(first, place, self.place[0]),
            self.ranges[0]: If(first, ranges, self.ranges[0]),
            self.writing[1]: If(first, "nothing", kind),
            self.place[1]: If(first, 0, place),
            self.ranges[1]: If(first, (), ranges),
        }

    @property
    def can_be_late(self) -> bool:
        """Whether an acknowledgement may find a later position, which takes a seek and a bug."""
        return any(map(self.protocol.has, ("acked_during_reset", "reset_not_stored", "skipped_after_reset")))

    def is_late(self, mark: Number) -> Condition:
        """The formula: a later position is stored, or being written; as a seek begins, what was being written is forgotten."""
        first = And(self.place[0] > mark, Not(self.writing[1].among("seek", "both")))
        return Or(mark < self.persisted, first, self.place[1] > mark)

    def answers(self, mark: Number, acked: Subset, also: Subset) -> Updates:
        """An acknowledgement is answered as stored: what it covers is promised, if the ranges are within the limit."""
        done = self.covers(mark, acked) & also
        return {self.answered: self.answered | done, self.promised: self.promised_with(mark, acked, self.kept(acked), done)}

    def promised_with(self, mark: Number, acked: Subset, written: Subset, more: Subset) -> Subset:
        """What is promised once that is written: more of it, or, where there are more ranges than the limit, what is left."""
        left = self.promised & self.covers(mark, written)
        return If(self.is_within("limit", acked), self.promised | more, left)

    def seek_answered(self) -> Updates:
        """A seek is answered as done: what is before its target counts as acknowledged, and the rest is to come again."""
        passed = self.before(self.target)
        return {
            self.target: NONE,
            self.asked: passed | self.meanwhile,
            self.meanwhile: (),
            self.answered: passed,
            self.promised: passed,
        }

    def seek_done(self) -> Updates:
        """The memory is changed as the seek says (alignAcknowledgeStatus, resetComplete), and what waits is forgotten."""
        known = {self.mark: self.target, self.acked: (), self.last: self.target}
        return {**known, self.queued: "nothing", **self.joins_queue(0)}

    def declare(self) -> None:
        """Declares the steps."""
        self._declare_loads()
        self._declare_acknowledgements()
        self._declare_seeks()
        self._declare_writes()

    def _declare_loads(self) -> None:
        p = self.protocol

        def ends() -> Updates:
            """What a broker that has the topic no more knows of it; a seek that was not answered may be done or not."""
            pending = self.before(self.target) | self.meanwhile
            return {
                self.state: "none",
                self.mark: 0,
                self.acked: (),
                self.last: 0,
                self.persisted: NONE,
                self.queued: "nothing",
                **self.joins_queue(0),
                **{self.writing[w]: "nothing" for w in range(2)},
                **{self.place[w]: 0 for w in range(2)},
                **{self.ranges[w]: () for w in range(2)},
                self.asked: If(self.is_seeking, self.asked | pending, self.asked),
                self.meanwhile: (),
                self.target: NONE,
            }

        @p.step(by="broker", mirrors="ManagedCursorImpl.recover, ManagedCursorImpl.recoveredCursor", fair=True)
        def load() -> Outcome:
            """The position and the ranges that were written last are read."""
            known = {self.mark: self.stored_mark, self.last: self.stored_mark, self.persisted: self.stored_mark}
            return self.state == "none", {self.state: "no_ledger", self.acked: self.stored_acked, **known}

        @p.step(
            by="admin",
            mirrors="ManagedCursorImpl.asyncClose, ManagedCursorImpl.persistPositionWhenClosing",
            spends="unloads",
        )
        def unload() -> Outcome:
            """The cursor is closed: it writes its position and its ranges, to the node, or to its ledger if they are many."""
            many = Not(self.is_within("node_limit", self.acked))
            written = If(And(many, self.state == "open"), self.kept(self.acked), self.kept(self.acked, in_node=True))
            rest = self.answered & self.covers(self.mark, self.acked)
            kept = self.promised_with(self.mark, self.acked, written, rest)
            stored = {self.stored_mark: self.position_to_write(), self.stored_acked: written, self.promised: kept}
            return And(self.is_in_use, self.writing[0] == "nothing"), stored, ends()

        @p.fault(by="broker", spends="crashes")
        def crash() -> Outcome:
            """The process ends, and what it has in memory is gone."""
            return self.is_in_use, ends()

    def _declare_acknowledgements(self) -> None:
        p = self.protocol
        refused = self.is_seeking if not p.has("acked_during_reset") else False

        delete = "ManagedCursorImpl.asyncDelete, ManagedCursorImpl.internalAsyncMarkDelete"
        up_to = "ManagedCursorImpl.asyncMarkDelete, ManagedCursorImpl.internalAsyncMarkDelete"

        def noted(m: int) -> Updates:
            new = {self.asked: If(self.is_seeking, self.asked, self.asked.plus(m))}
            return {**new, self.meanwhile: If(self.is_seeking, self.meanwhile.plus(m), self.meanwhile)}

        def acknowledged(m: int) -> tuple[Number, Subset]:
            return self.advanced(self.mark, self.acked.plus(m))

        def is_open(m: int) -> Condition:
            """The formula: the message can be acknowledged, one by one."""
            return And(self.is_in_use, Not(refused), self.mark <= m, Not(self.acked.has(m)))

        def waits() -> Choice[Queued]:
            behind_seek = self.queued.among("seek", "seek_and_acks")
            return If(behind_seek, "seek_and_acks", If(self.queued == "nothing", "acks", self.queued))

        def sent(mark: Number, acked: Subset, guard: Truth) -> tuple[Condition, Updates]:
            """It is written at once, or waits for the cursor's ledger."""
            direct = And(self.state == "open", self.queued == "nothing")
            begun = self.begin("ack", mark, acked)
            written = {variable: If(direct, value, variable) for variable, value in begun.items()}
            # an entry is given to be written as it leaves the queue
            last = If(direct, maximum(self.last, mark), self.last)
            queue = {
                self.queued: If(direct, self.queued, waits()),
                self.state: If(self.state == "no_ledger", "creating", self.state),
                **{place: If(direct, place, at) for place, at in self.joins_queue(mark).items()},
            }
            here = And(guard, Implies(direct, And(self.has_room, Not(self.is_late(mark)))), Or(direct, self.state != "open"))
            return here, {self.mark: mark, self.acked: acked, self.last: last, **queue, **written}

        @p.step(by="consumer", to="broker", mirrors=delete, m=self.message)
        def acknowledge(m: int) -> Outcome:
            """One message is acknowledged: a range in memory, and if it joins the position, that moves."""
            return *sent(*acknowledged(m), is_open(m)), noted(m)

        @p.step(by="consumer", to="broker", mirrors=delete, m=self.message)
        def acknowledge_during_read(m: int) -> Outcome:
            """The same while a read is under way (PENDING_READ_OPS_UPDATER): it waits until that is over."""
            mark, acked = acknowledged(m)
            queue = {self.queued: waits(), **self.joins_queue(mark)}
            return And(is_open(m), self.state == "open"), {self.mark: mark, self.acked: acked, **queue}, noted(m)

        @p.step(
            by="consumer", to="broker", mirrors="ManagedCursorImpl.internalMarkDelete", m=self.message, only_if=self.can_be_late
        )
        def skip(m: int) -> Outcome:
            """A later position is stored already: the acknowledgement is answered without a write."""
            mark, acked = acknowledged(m)
            direct = And(self.state == "open", self.queued == "nothing", self.is_late(mark))
            done = self.answers(mark, acked, self.asked.plus(m))
            return And(is_open(m), direct), {self.mark: mark, self.acked: acked, **done}, noted(m)

        @p.step(by="consumer", to="broker", mirrors=up_to, m=self.message)
        def acknowledge_up_to(m: int) -> Outcome:
            """Everything up to a message is acknowledged. While a seek is under way that is refused."""
            mark, acked = self.advanced(If(self.mark > m, self.mark, m + 1), self.acked & ~self.before(m + 1))
            guard = And(self.is_in_use, Not(self.is_seeking), self.mark <= m)
            return *sent(mark, acked, guard), {self.asked: self.asked | self.before(m + 1)}

        @p.step(
            by="consumer", to="broker", mirrors="ManagedCursorImpl.asyncDelete", m=self.message, only_if=p.parameters["limited"]
        )
        def acknowledge_at_rest(m: int) -> Outcome:
            """The rate of writes is reached (markDeleteLimiter): the acknowledgement is answered, and written later."""
            mark, acked = acknowledged(m)
            known = {self.mark: mark, self.acked: acked, self.last: maximum(self.last, mark)}
            return is_open(m), {**known, self.answered: self.answered.plus(m)}, noted(m)

        @p.step(by="broker", mirrors="ManagedCursorImpl.flush", only_if=p.parameters["limited"])
        def flush_at_rest() -> Outcome:
            """The timer writes what was answered before (managedLedgerCursorPositionFlushSeconds)."""
            return sent(self.mark, self.acked, And(self.is_in_use, Not(self.is_seeking), Not(self.answered == self.promised)))

    def _declare_seeks(self) -> None:
        p = self.protocol
        begins = And(self.is_in_use, Not(self.is_seeking))

        def queued(guard: Truth, to: int) -> Outcome:
            creating = If(self.state == "no_ledger", "creating", self.state)
            begun = {self.target: to, self.persisted: NONE, self.last: self._last_of_seek(to)}
            return guard, {**begun, self.queued: "seek", self.state: creating}

        positions = p.upto(self.messages)
        reset = "ManagedCursorImpl.internalResetCursor, PersistentSubscription.resetCursorInternal"

        @p.step(by="client", to="broker", mirrors=reset, spends="seeks", n=positions)
        def seek(n: int) -> Outcome:
            """The subscription is moved: its consumers are disconnected, and the new position is written."""
            direct = And(begins, self.state == "open", self.queued == "nothing", self.has_room)
            return direct, {self.target: n, self.persisted: NONE}, self._seek_written(n)

        @p.step(by="client", to="broker", mirrors=reset, spends="seeks", n=positions)
        def seek_during_read(n: int) -> Outcome:
            """The same while a read is under way, or without a ledger: it waits."""
            return queued(begins, n)

    def _seek_written(self, to: Number | int) -> Updates:
        p = self.protocol
        if p.has("reset_stores_read_position"):  # earliest is the place before the first message in any case
            places = [n + 1 if 0 < n < self.messages else n for n in range(self.messages + 1)]
            to = places[to] if isinstance(to, int) else select(to, places)
        nothing = subset_where(self.messages, lambda _: False)
        begun = self.begin("seek", to, self.acked if p.has("reset_stores_ranges") else nothing)
        return {**begun, self.last: maximum(self._last_of_seek(to), to)}

    def _last_of_seek(self, to: Number | int) -> Number | int:
        """lastMarkDeleteEntry as a seek begins, before it is given to be written."""
        return to if self.protocol.parameters["sets_last"] else self.last

    def _declare_writes(self) -> None:
        p = self.protocol
        in_group = p.has("reset_dropped") or p.has("reset_not_stored")
        is_flushed = self.state == "flushing"
        emptied = {self.state: "open", self.queued: "nothing", **self.joins_queue(0)}

        @p.step(
            by="broker", mirrors="ManagedCursorImpl.createNewMetadataLedger, ManagedCursorImpl.switchToNewLedger", fair=True
        )
        def create_ledger() -> Outcome:
            """A ledger of the cursor is created, begins with the position, and is named in the node."""
            ranges = self.kept(self.acked)
            written = {self.stored_mark: self.position_to_write(), self.stored_acked: ranges}
            promised = self.promised_with(self.mark, self.acked, ranges, self.promised)
            return self.state == "creating", {self.state: "flushing", self.promised: promised, **written}

        @p.step(by="broker", mirrors="ManagedCursorImpl.readOperationCompleted", fair=True)
        def end_read() -> Outcome:
            """The read is over for which acknowledgements or a seek wait."""
            return And(self.state == "open", self.queued != "nothing", self.has_room), {self.state: "flushing"}

        @p.step(by="broker", mirrors="ManagedCursorImpl.internalFlushPendingMarkDeletes", fair=True)
        def flush_acks() -> Outcome:
            """The last of the acknowledgements that wait is written, and stands for all of them."""
            place = self.position_of_queue()
            here = And(is_flushed, self.queued == "acks", Not(self.is_late(place)))
            return here, {**emptied, self.last: maximum(self.last, place), **self.begin("ack", place, self.acked)}

        @p.step(by="broker", mirrors="ManagedCursorImpl.internalMarkDelete", fair=True, only_if=self.can_be_late)
        def skip_acks() -> Outcome:
            """A later position is stored already: what waits is answered without a write."""
            here = And(is_flushed, self.queued == "acks", self.is_late(self.position_of_queue()))
            return here, {**emptied, **self.answers(self.mark, self.acked, self.asked)}

        @p.step(
            by="broker", mirrors="ManagedCursorImpl.internalFlushPendingMarkDeletes", fair=True, only_if=p.parameters["seeks"]
        )
        def flush_seek() -> Outcome:
            """A seek that waits is written, whatever waits behind it."""
            which = self.queued == "seek" if in_group else self.queued.among("seek", "seek_and_acks")
            here = And(is_flushed, which, self.is_seeking, Not(And(in_group, self.target < self.persisted)))
            return here, emptied, self._seek_written(self.target)

        @p.step(by="broker", mirrors="ManagedCursorImpl.internalMarkDelete", fair=True, only_if=in_group)
        def skip_seek() -> Outcome:
            """An acknowledgement from before the seek is stored by now, at a later position: the seek is only answered."""
            here = And(is_flushed, self.queued == "seek", self.is_seeking, self.target < self.persisted)
            done = {} if p.has("reset_dropped") else self.seek_done()
            return here, {**self.seek_answered(), **done, **emptied}

        @p.step(by="broker", mirrors="ManagedCursorImpl.internalFlushPendingMarkDeletes", fair=True, only_if=in_group)
        def flush_both() -> Outcome:
            """The last that waits is an acknowledgement: it is written, and the seek before it answered with it."""
            place = self.position_of_queue()
            here = And(is_flushed, self.queued == "seek_and_acks", self.is_seeking)
            return here, {**emptied, self.last: maximum(self.last, place), **self.begin("both", place, self.acked)}

        @p.step(
            by="broker", mirrors="ManagedCursorImpl.persistPositionToLedger, ManagedCursorImpl.internalMarkDelete", fair=True
        )
        def store() -> Outcome:
            """The first write under way is stored, and answered: an acknowledgement, or a seek, by which the memory changes."""
            kind, place, ranges = self.writing[0], self.place[0], self.ranges[0]
            seeks = Or(kind == "seek", And(kind == "both", p.has("reset_not_stored")))
            persisted: Number = place
            if p.has("skipped_after_reset"):
                persisted = If(kind == "seek", self.persisted, place)
            changes: dict[object, object] = {
                self.stored_mark: place,
                self.stored_acked: self.kept(ranges),
                self.persisted: persisted,
                self.writing[0]: self.writing[1],
                self.place[0]: self.place[1],
                self.ranges[0]: self.ranges[1],
                self.writing[1]: "nothing",
                self.place[1]: 0,
                self.ranges[1]: (),
            }
            by_ack = self.answers(place, ranges, self.asked | self.meanwhile)
            by_seek = self.seek_answered()
            for variable in (self.target, self.asked, self.meanwhile, self.answered, self.promised):
                otherwise = by_ack.get(variable, variable)
                changes[variable] = If(kind == "ack", otherwise, by_seek[variable])
            for variable, value in self.seek_done().items():
                changes[variable] = If(seeks, value, variable)
            # an answer to a seek empties the queue, whatever was written
            for variable, value in {self.queued: "nothing", **self.joins_queue(0)}.items():
                changes[variable] = If(kind == "ack", variable, value)
            return And(self.is_in_use, kind != "nothing", Or(kind == "ack", self.is_seeking)), changes
