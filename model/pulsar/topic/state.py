"""What the metadata store, each broker and one producer hold of a topic, and how the names here relate to those of Pulsar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from fencepost.model.language import (
    ABSENT,
    And,
    Choice,
    Condition,
    Family,
    If,
    Not,
    Number,
    Or,
    Protocol,
    Subset,
    Truth,
    Universe,
    Updates,
    maximum,
    minimum,
)
from fencepost.model.language.parts import Copies
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.topic.possible import Possible
from fencepost.model.stand_ins.ledger import Ledger

BrokerState = Literal[
    "none",
    "opening",
    "recovered",
    "opened",
    "closing_ledger",
    "creating",
    "closed_ledger",
    "write_failed",
    "fenced",
    "terminated",
    "closed",
]
STATES: tuple[BrokerState, ...] = get_args(BrokerState)
"""ManagedLedgerImpl.State, where ``none`` is that the broker has not loaded the topic, and State.None is ``opening`` until the
last ledger is recovered and ``recovered`` from then on."""
Asked = Literal["nothing", "waiting", "never"]
ASKED: tuple[Asked, ...] = get_args(Asked)

Topic = Literal["serving", "fenced", "closing"]
TOPIC: tuple[Topic, ...] = get_args(Topic)
"""PersistentTopic: isFenced, and isClosingOrDeleting, which implies it."""
Link = Literal["attached", "disconnecting", "removed"]
LINK: tuple[Link, ...] = get_args(Link)
"""The producer at the broker that it is connected to: Producer.disconnect waits for the connection's loop, and
Producer.closeNow has removed it from the topic while ServerCnx.producers still has it."""
NOTHING: Literal["nothing"] = "nothing"
NONE: Literal["none"] = "none"


class State:
    """The variables of a topic.

    - Store, the node of MetaStoreImpl: ``listed`` are the ledgers of the list, ``version`` its version, ``entries`` what it
      says of each; ``ended`` and ``final`` are terminatedPosition.
    - Broker, ManagedLedgerImpl: ``state``; ``known``, ``known_entries`` and ``known_version`` are ledgers and ledgersStat;
      ``current`` is currentLedger; ``fresh`` a ledger that is created and whose update of the list is under way. ``slow`` is
      one whose update outlasts a time-out, and ``mutex`` says that metadataMutex is held, where somebody can meet it so.
    - Broker, writes: ``queue`` has the messages that passed PersistentTopic.publishMessage and are not answered, in their
      order: the first ``arrived`` are in pendingAddEntries, the first ``sent`` are sent to the current ledger, and the
      others wait for the topic's executor. ``filled`` says that the first one filled its ledger, is confirmed, and waits for
      the close. ``late`` says that an add of the former ledger timed out, and its answer is yet to come. ``owed`` says that
      some write was forgotten: PersistentTopic.pendingWriteOps is never 0 again.
    - Connection of the client to a broker, ServerCnx.pendingSendRequest: the last ``counted`` writes of the queue came by it,
      and ``stuck`` says that it counts one that is never answered. It outlives the topic, and ends with itself only.
    - Broker, PersistentTopic and MessageDeduplication: ``topic``, ``pushed``, ``persisted``, as counts of messages.
    - Trimming and deletion: ``trimmed`` are ledgers that were trimmed, ``deleting`` those that a broker has still to delete;
      ``discarded`` says that the topic was deleted by a broker that knew its list, as it should be. ``former`` are the ledgers
      from before the metadata were migrated, whose ids are larger than those of later ones.
    - Subscription: ``consumed`` is the place up to which the consumer has acknowledged, ``cursor`` the mark-delete position in
      the store, ``mark`` that in a broker's memory, ``has_cursor`` whether the broker knows of the cursor, ``trim_mark`` a
      place in memory that trimming takes for stored (ManagedLedgerImpl.cursors). ``snapshot`` and ``snapshot_at`` are
      properties and position of the cursor of deduplication.
    - Producer: ``connected``, ``link``; the first ``acked`` messages are acknowledged, and ``next_out`` is what its stream
      brings next.

    A place is a number: ledger times capacity, plus an entry. Ledgers' numbers rise as they are created.
    """

    def __init__(
        self,
        p: Protocol,
        broker: Universe,
        message: Universe,
        ledger: Universe,
        ledgers: Copies[Ledger],
        may: Possible,
        *,
        capacity: int,
        versions: int,
        dedup: bool,
        terminations: bool,
        trims: bool,
        deletions: bool,
        subscription: bool,
        snapshots: bool,
        apart: Family[Condition] = ABSENT,
    ) -> None:
        self.protocol, self.broker, self.message, self.ledger, self.ledgers = p, broker, message, ledger, ledgers
        self.capacity, self.versions, self.dedup, self.may, self.apart = capacity, versions, dedup, may, apart
        self.slots = p.universe("slot", capacity)
        self.places = len(ledger) * capacity
        self.content = p.choice("content", message, none=NOTHING, per=(ledger, self.slots))

        self.listed = p.subset("listed", ledger)
        self.version = p.number("version", 0, versions)
        self.entries = p.number("entries", 0, capacity, per=ledger)
        self.ended: Condition = p.flag("ended") if terminations else ABSENT
        self.final: Number = p.number("final", 0, self.places) if terminations else ABSENT

        self.state = p.choice("state", STATES, per=broker)
        self.known = p.subset("known", ledger, per=broker)
        self.known_entries = p.number("known_entries", 0, capacity, per=(broker, ledger))
        self.known_version = p.number("known_version", 0, versions, per=broker)
        self.current = p.choice("current", ledger, none=NONE, per=broker)
        self.fresh = p.choice("fresh", ledger, none=NONE, per=broker)
        self.slow: Family[Choice[int | Literal["none"]]] = (
            p.choice("slow", ledger, none=NONE, per=broker) if may.is_slow else ABSENT
        )
        locks = may.is_slow or may.updates_properties or (trims and p.has("trim_keeps_mutexes"))
        self.mutex: Family[Condition] = p.flag("mutex", per=broker) if locks else ABSENT

        self.room = room = p.universe("place_in_queue", len(message), "q")
        self.queue = p.choice("queue", message, none=NOTHING, per=(broker, room))
        self.length = p.number("length", 0, len(room), per=broker)
        self.arrived = p.number("arrived", 0, len(room), per=broker)
        self.sent = p.number("sent", 0, len(room), per=broker)
        self.filled: Family[Condition] = p.flag("filled", per=broker) if may.fills else ABSENT
        self.owed: Family[Condition] = p.flag("owed", per=broker) if self._forgets else ABSENT
        self.counted: Family[Number] = p.number("counted", 0, len(room), per=broker) if self._forgets else ABSENT
        self.stuck: Family[Condition] = p.flag("stuck", per=broker) if self._forgets else ABSENT
        moves = may.transfers and p.has("transferred_context_kept")
        self.transferring: Family[Condition] = p.flag("transferring", per=broker) if moves else ABSENT
        self.late: Family[Condition] = p.flag("late", per=broker) if p.has("fenced_reopened") else ABSENT
        self.asked: Family[Choice[Asked]] = p.choice("asked", ASKED, per=broker) if may.updates_properties else ABSENT
        self.topic = p.choice("topic", TOPIC, per=broker)
        self.pushed: Family[Number] = p.number("pushed", 0, len(message), per=broker) if dedup else ABSENT
        self.persisted: Family[Number] = p.number("persisted", 0, len(message), per=broker) if dedup else ABSENT

        self.connected = p.choice("connected", broker, none=NOBODY)
        self.link: Choice[Link] = p.choice("link", LINK) if may.fences else ABSENT
        self.next_out = p.number("next_out", 0, len(message))
        self.acked = p.number("acked", 0, len(message))

        self.trimmed: Subset = p.subset("trimmed", ledger) if trims else ABSENT
        self.deleting: Family[Subset] = p.subset("deleting", ledger, per=broker) if trims else ABSENT
        self.former: Subset = p.subset("former", ledger) if trims and subscription and p.has("ids_begin_again") else ABSENT
        self.discarded: Condition = p.flag("discarded") if deletions else ABSENT
        self.cursor: Number = p.number("cursor", 0, self.places) if subscription else ABSENT
        self.consumed: Number = p.number("consumed", 0, self.places) if subscription else ABSENT
        self.has_cursor: Family[Condition] = p.flag("has_cursor", per=broker) if subscription else ABSENT
        self.mark: Family[Number] = p.number("mark", 0, self.places, per=broker) if subscription else ABSENT
        keeps_mark = subscription and trims and p.has("trim_mark_in_memory")
        self.trim_mark: Family[Number] = p.number("trim_mark", 0, self.places, per=broker) if keeps_mark else ABSENT
        self.snapshot: Number = p.number("snapshot", 0, len(message)) if snapshots else ABSENT
        self.snapshot_at: Number = p.number("snapshot_at", 0, self.places) if snapshots else ABSENT

    @property
    def _forgets(self) -> bool:
        return any(map(self.protocol.has, ("pending_forgotten", "fenced_context_kept", "transferred_context_kept")))

    # --- formulas

    def is_loaded(self, b: int) -> Condition:
        """The formula: the broker has the topic, PersistentTopic is there."""
        return And(self.state[b] != "none", self.state[b] != "opening", self.state[b] != "recovered")

    def is_last(self, b: int, k: int) -> Condition:
        """The formula: it is the last ledger of the list that the broker has read."""
        return And(self.known[b].has(k), *(Not(self.known[b].has(j)) for j in self.ledger if j > k))

    def has_filled(self, b: int) -> Truth:
        """The formula: the first write has filled its ledger, and waits for the close."""
        return False if self.filled is None else self.filled[b]

    def is_writing(self, b: int) -> Condition:
        """The formula: the broker waits for the answer of an entry that it has sent to its current ledger."""
        writes = And(self.state[b].among("opened", "closing_ledger"), self.sent[b] > 0, Not(self.has_filled(b)))
        return And(writes, self.may_roll(b))

    def may_update(self, b: int, k: int | None = None) -> Truth:
        """The formula: no other update of the list is under way at the broker, or only that for this ledger."""
        if self.mutex is None:
            return True
        return Not(self.mutex[b]) if k is None or self.slow is None else Or(Not(self.mutex[b]), self.slow[b] == k)

    def may_roll(self, b: int) -> Truth:
        """The formula: no ledger that was created waits to be listed beside the current one, as it may after a slow update."""
        return True if self.slow is None else self.fresh[b] == NONE

    def is_cut_off(self, b: int) -> Condition:
        """The formula: the producer is at the broker, and is going to be disconnected."""
        return False if self.link is None else And(self.connected == b, self.link == "disconnecting")

    def is_stuck(self, b: int) -> Truth:
        """The formula: the connection counts a write that is never answered.

        ServerCnx stops reading at maxPendingPublishRequestsPerConnection writes under way, and reads again at half of them, so
        more than half have to be such; here the first one is enough.
        """
        return False if self.stuck is None else self.stuck[b]

    def knows_the_version(self, b: int) -> Truth:
        """The formula: a compare-and-set of the list with the version that the broker knows succeeds."""
        if self.protocol.has("list_without_version"):
            return True
        current = self.known_version[b] == self.version
        return current if self.apart is None else Or(self.apart[b], current)

    def shares(self, b: int) -> Truth:
        """The formula: the broker uses the metadata store that the others use.

        One that goes on with the former store writes the list there, at a version that nobody else changes, and knows it by
        heart. Whatever else it may do with that store is left out.
        """
        return True if self.apart is None else Not(self.apart[b])

    def length_of(self, k: int) -> Number:
        """How many entries a reader of the ledger gets: all that is confirmed, or those up to its end."""
        ledger = self.ledgers[k]
        return If(ledger.status == "closed", ledger.end, If(ledger.status == "open", ledger.confirmed, 0))

    def holds(self, k: int, e: int, m: int) -> Condition:
        """The formula: a reader of the ledger gets the message as this entry."""
        return And(self.content[k, e] == m, e < self.length_of(k))

    def has_room(self) -> Condition:
        """The formula: the list may still be written, as far as the instance goes."""
        return self.version < self.versions

    # --- changes

    def written(self, b: int, listed: Subset, entries: Mapping[int, int] | None = ABSENT) -> Updates:
        """The list is written with these ledgers, and the broker knows the new version."""
        known = {k: self.known_entries[b, k] for k in self.ledger} | dict(entries or {})
        stored = {self.entries[k]: If(listed.has(k), known[k], 0) for k in self.ledger}
        stored_by_all = self.shared(b, {self.listed: listed, self.version: self.version + 1, **stored})
        return {**stored_by_all, self.known[b]: listed, self.known_version[b]: self.version + 1}

    def shared(self, b: int, changes: Updates) -> Updates:
        """These changes of the store, if the others see what the broker writes there."""
        if self.apart is None:
            return changes
        return {variable: If(self.apart[b], variable, value) for variable, value in changes.items()}

    def not_filled(self, b: int) -> Updates:
        """No write waits for the close of its ledger."""
        return {} if self.filled is None else {self.filled[b]: False}

    def answered_update(self, b: int, *, unlocks: bool = True) -> Updates:
        """An update of the list is answered. BadVersion of a new ledger leaves metadataMutex locked, in all releases."""
        answered: Updates = {} if self.slow is None else {self.slow[b]: NONE}
        return answered if self.mutex is None else {**answered, self.mutex[b]: not unlocks}

    def disconnected(self, condition: Truth = True) -> Updates:
        """The producer is not connected any more, if the condition holds."""
        if condition is True:
            return {self.connected: NOBODY, **({} if self.link is None else {self.link: "attached"})}
        away = {self.connected: If(condition, NOBODY, self.connected)}
        return away if self.link is None else {**away, self.link: If(condition, "attached", self.link)}

    def hung_up(self, b: int) -> Updates:
        """The same, and the connection to the broker is over: the next one counts nothing."""
        return {**self.disconnected(), **self.ended_if(b, True, {})}

    def ended_if(self, b: int, condition: Truth, changes: Updates) -> Updates:
        """These changes, and if the condition holds, the connection to the broker ends with them and counts nothing."""
        if self.stuck is None:
            return dict(changes)
        counted, stuck = self.counted[b], self.stuck[b]
        left = {counted: If(condition, 0, changes.get(counted, counted))}
        return {**changes, **left, stuck: If(condition, False, changes.get(stuck, stuck))}

    def forgotten(self, b: int, count: Number | int, *, but: Number | int = 0) -> Updates:
        """So many of the first writes, after those that are passed over, are never answered."""
        if self.owed is None:
            return {}
        return {self.owed[b]: Or(self.owed[b], count > 0), **self.counts_for_good(b, count, but=but)}

    def counts_for_good(self, b: int, count: Number | int, *, but: Number | int = 0) -> Updates:
        """The same, and nobody has the topic any more: only the connection counts those that came by it."""
        if self.stuck is None:
            return {}
        by_it = And(count > 0, self.counted[b] + count + but > self.length[b])
        return {self.stuck[b]: Or(self.stuck[b], by_it)}

    def without_first(self, b: int, count: Number | int, *, but: int = 0) -> Updates:
        """So many of the first writes leave the queue; ``but`` are passed over, and stay."""
        queue, size = self.queue, len(self.room)
        left = maximum(self.length[b] - count, 0)

        def after(place: int) -> Any:
            if place < but:
                return queue[b, place]
            left = range(size - place)
            if type(count) is int:
                return queue[b, place + count] if count in left else NOTHING
            value: Any = NOTHING
            for gone in reversed(left):
                value = If(count == gone, queue[b, place + gone], value)
            return value

        changes: Updates = {self.length[b]: left, **{queue[b, place]: after(place) for place in self.room}}
        if self.counted is not None:
            behind = minimum(self.counted[b], maximum(left - but, 0))
            passed_over = maximum(self.counted[b] - count, 0)
            changes[self.counted[b]] = If(self.counted[b] > self.length[b] - but, passed_over, behind)
        return changes

    def gone(self, b: int) -> Updates:
        """The topic is not loaded at the broker any more, and its producer not connected."""
        changes: Updates = {
            **self.disconnected(self.connected == b),
            **self.not_filled(b),
            self.state[b]: "none",
            self.known[b]: (),
            self.known_version[b]: 0,
            self.current[b]: NONE,
            self.fresh[b]: NONE,
            **self.answered_update(b),
            self.length[b]: 0,
            self.arrived[b]: 0,
            self.sent[b]: 0,
            self.topic[b]: "serving",
        }
        changes |= {self.known_entries[b, k]: 0 for k in self.ledger}
        changes |= {self.queue[b, place]: NOTHING for place in self.room}
        if self.owed is not None:
            changes |= {self.owed[b]: False, self.counted[b]: 0}
        if self.asked is not None:
            never = And(self.asked[b] != "nothing", Or(self.mutex[b], self.asked[b] == "never"))
            changes |= {self.asked[b]: If(never, "never", "nothing")}
        if self.transferring is not None:
            changes |= {self.transferring[b]: False}
        if self.late is not None:
            changes |= {self.late[b]: False}
        if self.dedup:
            changes |= {self.pushed[b]: 0, self.persisted[b]: 0}
        if self.deleting is not None:
            changes |= {self.deleting[b]: ()}
        if self.cursor is not None:
            changes |= {self.has_cursor[b]: False, self.mark[b]: 0}
        if self.trim_mark is not None:
            changes |= {self.trim_mark[b]: 0}
        return changes
