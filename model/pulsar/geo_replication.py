"""How a topic's messages are copied to another cluster: a replicator, its cursor, its producer, and deduplication over there.

Mirrors PersistentReplicator and GeoPersistentReplicator of the source cluster, ProducerImpl and GeoReplicationProducerImpl of
the client that the source's broker runs, and PersistentTopic.publishMessage with MessageDeduplication of the target cluster, as
read in Pulsar 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1 (decompiled).

The replicator reads the source's log by a cursor and sends each message through one producer, which keeps in a queue, oldest
first, what is not confirmed. A receipt confirms the head of the queue, and the cursor then counts that message as replicated.
Since pulsar#23697 (3.0.11, 3.3.6, 4.0.4) a copy carries the position of its source: the target takes a copy for a duplicate by
that position, and the client matches receipts with it. Before, both use the number that the original producer gave the message.

A message that the target refuses by itself (NotAllowedError: it is too large there or, which 4.0.8 asks and 3.0.7 does not,
held back for too long) makes the replicator rewind its cursor to the first message that is not replicated. Where nothing is
wrong the connection ends with it, so that nothing behind it is stored; upstream it stays (``refusal_overtaken``), and a refusal
that comes before the receipt of an earlier message is not heard at all (``refusal_unheard``).

Not modelled: messages whose schema is not known yet, markers of replicated subscriptions and of transactions, batches and
chunks, more than two clusters and the way back, time to live, several writes under way of one copy, the snapshot of
deduplication, which is taken for never taken. The source's log is as safe as the protocol ``topic`` says. While a copy is being
written the target cannot tell whether another one is a duplicate, and ends the connection; without deduplication a second write
of it is one with the first. What is being written is stored in the order of the source's log, also where something is sent
again behind a later message.

A message that the producer itself cannot send (InvalidMessageException: it is larger than the target's maxMessageSize) counts
as replicated, and so does an entry that cannot be parsed. Neither is modelled.

A refusal that comes while something ahead of it is not confirmed is ignored by ProducerImpl.recoverNotAllowedError: the message
waits until something ends the connection, such as a later receipt. Here the refusal is heard once its message is the head. A
receipt of what is sent again confirms also what follows in the queue and is no later than ``last``; here each message has its
own. What a read has found that ends behind a rewind is dropped in 4.0.8 and 5.0.0-M1; here it is sent, as up to 3.0.7.

Constants
    messages             messages that the source stores
    window               messages that the replicator's producer has under way at most
    producers            original producers, whose messages take turns
    namesakes            the second half of the messages comes from producers of the same name that count from the first number
                         again: a producer that is started again where the source has no deduplication, or one of that name in
                         the other cluster
    deduplication        the target looks for duplicates
    refusals             messages that the target refuses by themselves
    disconnects          lost connections between the clusters
    write_failures       times that writes of the target fail
    target_reloads       times that the target's topic is loaded again
    source_reloads       times that the source's topic is loaded again, and with it the replicator

Variables of the source
    published            messages that its log has
    read                 where the replicator reads on
    replicated           messages that the cursor counts as replicated
    queue                of each place in the producer's queue: the message there, or none
    stage                of each place: unsent, writing at the target, answered, refused, or ignored, after a receipt that
                         confirmed nothing or a refusal that was not heard
    last                 the source position that the producer has last seen confirmed

Variables of the target
    writing              of each message: a copy is being written
    copies               of each message: how many copies are stored
    pushed, persisted    of each producer that deduplication tells apart: the highest number that was taken, and the highest
                         that was stored. Only with deduplication

Variables that count
    refusals, disconnects, write_failures, target_reloads, source_reloads
                         how often each event has happened, up to the constant of that name

Actions of the source
    publish              the source stores a message, and acknowledges it
    read_next            the replicator reads the next message that is not replicated, and sends it
    confirm, confirm_repeated
                         a receipt confirms the head of the queue; where a refusal leaves the connection any receipt confirms a
                         message which is no later than what was confirmed
    ignore, close        with the bug dedup_by_sequence_id, and where a refusal leaves the connection: a receipt of what is
                         confirmed confirms nothing; one that fits nothing ends the connection
    hear_refusal         a refusal of the head: the replicator rewinds
    miss_refusal         with the bug refusal_unheard: a refusal of what is not the head does nothing
    hear_refusal_behind_read
                         with the bug read_behind_rewind: a read that was out moves the cursor on again
    reload_source        a fault: the source's topic is loaded again; its cursor may be where it was at first

Actions of the target
    take                 takes the next message of the connection: as new, as a duplicate, or it cannot tell
    refuse               a fault: refuses a message by itself
    store                a copy is stored
    disconnect           a fault: the connection ends
    fail_writes          a fault: what is being written fails; the producer is disconnected
    reload_target        a fault: the target's topic is loaded again

The properties are in ``properties/geo_replication/suite.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fencepost.model.language import (
    And,
    Choice,
    Condition,
    Conditional,
    Family,
    If,
    ModelError,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Subset,
    Universe,
    Updates,
    any_of,
)

Stage = Literal["unsent", "writing", "answered", "refused", "ignored"]
STAGES: tuple[Stage, ...] = ("unsent", "writing", "answered", "refused", "ignored")
NONE: Literal["none"] = "none"

BUGS = {
    "dedup_by_sequence_id": "pulsar#23697: copies and receipts are told apart by the numbers of the original producers",
    "refusal_overtaken": "pulsar#26113: what follows a refused message is stored before that is sent again, which then counts "
    "as a duplicate",
    "refusal_unheard": "a refusal is heard of the head of the queue alone, and the receipt of a later message confirms what "
    "was refused",
    "read_behind_rewind": "pulsar#26106, #21965: a read that is out when the cursor is rewound moves it on again, behind what "
    "was to be sent again",
    "watermark_not_replayed": "pulsar#25861: a target that is loaded again does not know which positions its log has",
    "replicated_when_sent": "the cursor counts a message as replicated once it is sent",
    "persisted_when_pushed": "the target takes a copy for a duplicate of one that is not stored yet",
}


@dataclass(frozen=True)
class _Numbers:
    """By what copies are told apart: each message has a number among those of a key."""

    keys: Universe
    key: tuple[int, ...]
    number: tuple[int, ...]


class _Copying:
    """Both ends of the replication of one topic, with the updates that steps share."""

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

    def __init__(self, p: Protocol) -> None:
        self.protocol = p
        messages, self.dedup = p.parameters["messages"], p.parameters["deduplication"]
        self.by_sequence = p.has("dedup_by_sequence_id")
        self.overtaken = p.has("refusal_overtaken") or p.has("refusal_unheard")
        self.message, self.place = p.universe("message", messages), p.universe("place", p.parameters["window"], "q")
        self.numbers = _numbers(p)
        self.published = p.number("published", 0, messages)
        self.read = p.number("read", 0, messages)
        self.replicated = p.subset("replicated", self.message)
        self.queue = p.choice("queue", self.message, per=self.place, none=NONE)
        self.stage = p.choice("stage", STAGES, per=self.place)
        if not self.by_sequence:
            self.last = p.number("last", 0, messages)
        self.writing = p.flag("writing", per=self.message)
        self.copies = p.number("copies", 0, 2, per=self.message)
        if self.dedup:
            most = max(self.numbers.number)
            self.pushed = p.number("pushed", 0, most, per=self.numbers.keys)
            self.persisted = p.number("persisted", 0, most, per=self.numbers.keys)

    def head_removed(self) -> Updates:
        """The queue without its head."""
        places = list(self.place)
        after: Updates = {}
        for i in places[:-1]:
            after |= {self.queue[i]: self.queue[i + 1], self.stage[i]: self.stage[i + 1]}
        return {**after, self.queue[places[-1]]: NONE, self.stage[places[-1]]: "unsent"}

    def confirmed(self, m: int) -> Updates:
        """The head, message ``m``, leaves the queue, and the cursor counts it as replicated."""
        return {**self.head_removed(), self.replicated: self.replicated.plus(m)}

    def disconnected(self) -> Updates:
        """The connection is over: all of the queue is sent again on the next one."""
        return {self.stage[i]: "unsent" for i in self.place}

    def emptied(self) -> Updates:
        """The producer is closed, with all that it had under way."""
        empty: Updates = {self.queue[i]: NONE for i in self.place}
        return {**self.disconnected(), **empty, **({} if self.by_sequence else {self.last: 0})}

    def rewound(self) -> Updates:
        """ManagedCursorImpl.rewind: reading goes on at the first message that is not replicated."""
        first: Conditional | Number | int = self.protocol.parameters["messages"]
        for m in reversed(list(self.message)):
            first = If(self.replicated.has(m), first, m)
        return {self.read: first}

    def forgotten(self) -> Updates:
        """MessageDeduplication.resetHighestSequenceIdPushed: what was taken is what is stored; nothing is being written."""
        kept: Updates = {self.pushed[k]: self.persisted[k] for k in self.numbers.keys} if self.dedup else {}
        return {**kept, **{self.writing[m]: False for m in self.message}}

    def is_next_answer(self, i: int) -> Condition:
        """The formula: the receipt of that place is the next that arrives. What is a duplicate is answered at once, and so
        before what is being written."""
        return And(self.stage[i] == "answered", *(self.stage[j].among("writing", "ignored") for j in range(i)))


def _numbers(p: Protocol) -> _Numbers:
    """MessageDeduplication of the release: by the position in the source's log, with one key, or by original producers."""
    messages, producers = p.parameters["messages"], p.parameters["producers"]
    if not p.has("dedup_by_sequence_id"):
        return _Numbers(p.universe("sender", 1), (0,) * messages, tuple(range(1, messages + 1)))
    again = -(-messages // 2) if p.parameters["namesakes"] else messages
    numbers = tuple((m % again) // producers + 1 for m in range(messages))
    return _Numbers(p.universe("sender", producers), tuple(m % again % producers for m in range(messages)), numbers)


def geo_replication(
    *,
    messages: int = 2,
    window: int = 2,
    producers: int = 1,
    namesakes: bool = False,
    deduplication: bool = True,
    refusals: int = 1,
    disconnects: int = 1,
    write_failures: int = 0,
    target_reloads: int = 0,
    source_reloads: int = 0,
    bugs: Iterable[str] = (),
) -> Protocol:
    """One topic that is replicated to another cluster; see the module for what the parameters are."""
    if min(messages, window, producers) < 1:
        raise ModelError("geo_replication: messages, window and producers are at least 1")
    budgets = {
        "refusals": refusals,
        "disconnects": disconnects,
        "write_failures": write_failures,
        "target_reloads": target_reloads,
        "source_reloads": source_reloads,
    }
    parameters = {
        "messages": messages,
        "window": window,
        "producers": producers,
        "namesakes": namesakes,
        "deduplication": deduplication,
        **budgets,
    }
    p = Protocol("geo_replication", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    c = _Copying(p)
    for name, limit in budgets.items():
        p.budget(name, limit)
    _declare_source(p, c)
    _declare_receipts(p, c)
    _declare_target(p, c)
    return p


def _declare_source(p: Protocol, c: _Copying) -> None:
    @p.step(by="source", mirrors="PersistentTopic.addComplete")
    def publish() -> Outcome:
        """The source stores a message, and acknowledges it to its producer."""
        return c.published < c.message.size, {c.published: c.published + 1}

    @p.step(
        by="source",
        mirrors="GeoPersistentReplicator.replicateEntries, PersistentReplicator.readMoreEntries",
        fair=True,
        m=c.message,
        i=c.place,
    )
    def read_next(m: int, i: int) -> Outcome:
        """The replicator reads the next message, and sends it unless it is replicated."""
        is_there = And(c.read == m, m < c.published, c.queue[i] == NONE, *(c.queue[j] != NONE for j in range(i)))
        done = c.replicated.plus(m) if p.has("replicated_when_sent") else c.replicated
        skips = c.replicated.has(m)
        return is_there, {c.read: m + 1, c.queue[i]: If(skips, c.queue[i], m), c.replicated: done}

    @p.fault(by="source", mirrors="PersistentTopic.close", spends="source_reloads")
    def reload_source() -> Outcome:
        """The topic is loaded again: a new producer, and a cursor that was last stored before anything was replicated."""
        return True, {**c.emptied(), c.read: 0, c.replicated: set()}


def _declare_receipts(p: Protocol, c: _Copying) -> None:
    received = "GeoReplicationProducerImpl.ackReceivedReplicatedMsg, ProducerImpl.ackReceived"
    unordered = c.overtaken or c.by_sequence  # else receipts come in the order of the queue

    def at(i: int, m: int, head: int) -> Condition:
        """The formula: the next receipt is of message ``m`` at place ``i``, while ``head`` is at the head of the queue."""
        return And(c.is_next_answer(i), c.queue[i] == m, c.queue[0] == head)

    @p.step(by="source", mirrors=received, fair=True, i=c.place, m=c.message, head=c.message)
    def confirm(i: int, m: int, head: int) -> Outcome:
        """A receipt of what is at the head of the queue: it is replicated."""
        if c.by_sequence:
            return And(at(i, m, head), c.numbers.number[m] == c.numbers.number[head]), _by_number(c, i, head)
        return And(i == 0, m == head, at(i, m, head), head + 1 > c.last), {**c.confirmed(head), c.last: head + 1}

    @p.step(
        by="source",
        mirrors=received,
        fair=True,
        only_if=c.overtaken and not c.by_sequence,
        i=c.place,
        m=c.message,
        head=c.message,
    )
    def confirm_repeated(i: int, m: int, head: int) -> Outcome:
        """A receipt, while the head of the queue is no later than what was confirmed: it was sent again after a rewind, and
        counts as replicated, whatever the receipt is of. Then the receipt is looked at again."""
        return And(at(i, m, head), head + 1 <= c.last), c.confirmed(head)

    @p.step(by="source", mirrors=received, fair=True, only_if=unordered, i=c.place, m=c.message, head=c.message)
    def ignore(i: int, m: int, head: int) -> Outcome:
        """A receipt of something earlier than the head of the queue, or than what was confirmed: it confirms nothing."""
        fits = c.numbers.number[m] < c.numbers.number[head] if c.by_sequence else And(head + 1 > c.last, m + 1 <= c.last)
        return And(at(i, m, head), fits), {c.stage[i]: "ignored"}

    @p.step(by="source", mirrors=received, fair=True, only_if=unordered, i=c.place, m=c.message, head=c.message)
    def close(i: int, m: int, head: int) -> Outcome:
        """A receipt of something later than the head of the queue: the client ends the connection, and sends all again."""
        is_later = c.numbers.number[m] > c.numbers.number[head]
        fits = is_later if c.by_sequence else And(m != head, head + 1 > c.last, m + 1 > c.last)
        return And(at(i, m, head), fits), c.disconnected()

    refused = "PersistentReplicator.ProducerSendCallback.sendComplete, ProducerImpl.recoverNotAllowedError"

    @p.step(by="source", mirrors=refused, fair=True)
    def hear_refusal() -> Outcome:
        """The head of the queue is refused: the cursor is rewound, and reading goes on there."""
        left = c.head_removed() if c.overtaken else c.emptied()
        return c.stage[0] == "refused", {**left, **c.rewound()}

    @p.step(by="source", mirrors=refused, only_if=p.has("read_behind_rewind"))
    def hear_refusal_behind_read() -> Outcome:
        """The same while a read is out, which ends behind the rewind, and moves the cursor on to where it was."""
        left = c.head_removed() if c.overtaken else c.emptied()
        return And(c.stage[0] == "refused", c.read < c.published), left

    @p.step(by="source", mirrors="ProducerImpl.recoverNotAllowedError", fair=True, only_if=p.has("refusal_unheard"), i=c.place)
    def miss_refusal(i: int) -> Outcome:
        """The refusal of something behind what is still being written: it is not of the head of the queue, and is ignored."""
        ahead = [c.stage[j].among("writing", "ignored") for j in range(i)]
        return And(i > 0, c.stage[i] == "refused", *ahead), {c.stage[i]: "ignored"}


def _by_number(c: _Copying, i: int, head: int) -> Updates:
    """The head leaves the queue by the receipt of place ``i``, which is of another message with the same number, maybe."""
    after = c.confirmed(head)
    if i:
        after[c.stage[i - 1]] = "ignored"
    return after


def _declare_target(p: Protocol, c: _Copying) -> None:
    number, key = c.numbers.number, c.numbers.key

    def is_next(i: int, m: int) -> Condition:
        """The formula: message ``m`` at place ``i`` is the next that comes by the connection."""
        sent = [c.stage[j] != "unsent" for j in range(i)]
        open_ = [] if c.overtaken else [c.stage[j] != "refused" for j in range(i)]
        return And(c.queue[i] == m, c.stage[i] == "unsent", *sent, *open_)

    @p.step(
        by="target",
        mirrors="PersistentTopic.publishMessage, MessageDeduplication.isDuplicate, MessageDeduplication.isDuplicateReplV2",
        fair=True,
        i=c.place,
        m=c.message,
    )
    def take(i: int, m: int) -> Outcome:
        """The target writes what is new, answers a duplicate, and refuses what it cannot tell: that ends the connection."""
        if not c.dedup:
            return is_next(i, m), {c.writing[m]: True, c.stage[i]: "writing"}
        k = key[m]
        is_new = number[m] > c.pushed[k]
        known = c.pushed[k] if p.has("persisted_when_pushed") else c.persisted[k]
        is_duplicate = And(Not(is_new), number[m] <= known)
        is_unknown = And(Not(is_new), number[m] > known)
        stages: Updates = {c.stage[j]: If(is_unknown, "unsent", c.stage[j]) for j in c.place if j != i}
        mine = If(is_new, "writing", If(is_duplicate, "answered", "unsent"))
        pushed = If(is_new, number[m], c.pushed[k])
        return is_next(i, m), {**stages, c.stage[i]: mine, c.writing[m]: Or(c.writing[m], is_new), c.pushed[k]: pushed}

    @p.step(
        by="target", mirrors="PersistentTopic.addComplete, MessageDeduplication.recordMessagePersisted", fair=True, m=c.message
    )
    def store(m: int) -> Outcome:
        """A copy is stored, and its receipt is on its way. Of copies that are being written the earlier is stored first,
        whoever sent them: they are in one log."""
        earlier = [n for n in c.message if n < m]
        after: Updates = {c.stage[i]: If(_is_written(c, i, m), "answered", c.stage[i]) for i in c.place}
        after |= {c.writing[m]: False, c.copies[m]: If(c.copies[m] < 2, c.copies[m] + 1, c.copies[m])}
        if c.dedup:
            after[c.persisted[key[m]]] = number[m]
        return And(c.writing[m], *(Not(c.writing[n]) for n in earlier)), after

    @p.fault(by="target", mirrors="AbstractTopic.isExceedMaximumMessageSize", spends="refusals", i=c.place, m=c.message)
    def refuse(i: int, m: int) -> Outcome:
        """The target refuses a message by itself, before it looks whether it is a duplicate."""
        return is_next(i, m), {c.stage[i]: "refused"}

    @p.fault(by="target", mirrors="ProducerImpl.connectionClosed", spends="disconnects")
    def disconnect() -> Outcome:
        """The connection ends. What is being written goes on."""
        return any_of(c.stage[i] != "unsent" for i in c.place), c.disconnected()

    @p.fault(by="target", mirrors="PersistentTopic.addFailed", spends="write_failures")
    def fail_writes() -> Outcome:
        """What is being written fails: the producer is disconnected, and deduplication goes back to what is stored."""
        return any_of(c.writing[m] for m in c.message), {**c.disconnected(), **c.forgotten()}

    @p.fault(by="target", mirrors="MessageDeduplication.replayCursor", spends="target_reloads")
    def reload_target() -> Outcome:
        """The topic is loaded again, by the log; what was being written is not there."""
        after = {**c.disconnected(), **c.forgotten()}
        if c.dedup and p.has("watermark_not_replayed"):
            after |= {c.pushed[k]: 0 for k in c.numbers.keys} | {c.persisted[k]: 0 for k in c.numbers.keys}
        return True, after


def _is_written(c: _Copying, i: int, m: int) -> Condition:
    return And(c.queue[i] == m, c.stage[i] == "writing")
