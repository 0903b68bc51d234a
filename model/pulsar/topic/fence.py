"""PersistentTopic's fence: a write that fails fences the topic and disconnects its producers; when nothing is under way it is
unfenced.

Two things keep writes in the producer's order over a failure: whatever passed the fence before it fell is refused by the
managed ledger, in state WriteFailed, and whatever a removed producer still brings is ignored.
"""

from __future__ import annotations

from fencepost.model.language import And, If, Not, Number, Outcome, Protocol, Updates, either, maximum
from fencepost.model.language.effects import Happens
from fencepost.model.pulsar.topic.state import NONE, State


class Fence:
    """When a topic is fenced, unfenced and closed; ``s`` are its variables."""

    def __init__(self, p: Protocol, s: State) -> None:
        self.protocol, self.s = p, s

    def write_failed(self, b: int) -> Updates:
        """PersistentTopic.addFailed: the topic is fenced, and its producers are going to be disconnected."""
        s = self.s
        if s.link is None:
            return {}
        leads = And(s.connected == b, s.link == "attached")
        fenced = {s.topic[b]: If(s.topic[b] == "serving", "fenced", s.topic[b])}
        return {**fenced, s.link: If(leads, "disconnecting", s.link)}

    def writes_met_fence(self, b: int, count: Number | int, *, but: Number | int = 0) -> Updates:
        """So many writes failed since the managed ledger is fenced: PersistentTopic.close.

        Up to 4.2.4 this branch answers nothing: the write's context is never completed, its connection counts it as under way.
        """
        s = self.s
        debt = s.forgotten(b, count, but=but) if self.protocol.has("fenced_context_kept") else {}
        return {s.topic[b]: If(count > 0, "closing", s.topic[b]), **debt}

    def arriving_failed(self, b: int) -> Happens:
        """A write fails as it arrives, behind those that the managed ledger has. As the topic is transferred, 4.0.8 and 4.2.4
        do not answer it."""
        s = self.s
        if s.transferring is None:
            return self.write_failed(b)
        return either(s.transferring[b], s.forgotten(b, 1, but=s.arrived[b]), self.write_failed(b))

    def all_fail(self, b: int) -> Updates:
        """ManagedLedgerImpl.clearPendingAddEntries: every write that the managed ledger has fails."""
        s = self.s
        fenced = {variable: If(s.arrived[b] > 0, value, variable) for variable, value in self.write_failed(b).items()}
        return {**s.without_first(b, s.arrived[b]), s.arrived[b]: 0, s.sent[b]: 0, **fenced}

    def all_meet_fence(self, b: int) -> Updates:
        """The same with ManagedLedgerFencedException."""
        s = self.s
        left = {**s.without_first(b, s.arrived[b]), s.arrived[b]: 0, s.sent[b]: 0}
        return {**left, **self.writes_met_fence(b, s.arrived[b])}

    def refused(self, b: int) -> Updates:
        """ManagedLedgerImpl.createComplete's callback at BadVersion: the managed ledger is fenced, what is pending fails."""
        s = self.s
        fenced = {
            s.state[b]: "fenced",
            s.fresh[b]: NONE,
            **s.answered_update(b, unlocks=not self.protocol.has("bad_version_keeps_mutex")),
        }
        return {**fenced, **self.all_meet_fence(b)}

    def becomes_fenced(self, b: int) -> Happens:
        """ManagedLedgerImpl.setFenced at BadVersion. Up to 4.2.4 what is pending goes on; later it fails, except for an entry
        that waits for the close of its ledger."""
        s = self.s
        fenced: Updates = {s.state[b]: "fenced"}
        if self.protocol.has("fenced_context_kept"):
            return fenced
        if s.filled is None:
            return fenced, self.all_meet_fence(b)
        behind = s.arrived[b] > 1
        left = s.without_first(b, maximum(s.arrived[b] - 1, 0), but=1)
        failed = {**left, s.arrived[b]: 1, s.sent[b]: 1, s.topic[b]: If(behind, "closing", s.topic[b])}
        return fenced, either(s.filled[b], failed, self.all_meet_fence(b))

    def declare(self) -> None:
        """Declares the steps."""
        p, s = self.protocol, self.s
        late = s.link is not None and p.has("removed_producer_publishes")

        @p.step(
            by="b",
            takes="task",
            mirrors="Producer.disconnect, Producer.closeNow, ServerCnx.closeProducer, ServerCnx.safelyRemoveProducer",
            fair=True,
            b=s.broker,
            only_if=s.may.fences,
        )
        def disconnect(b: int) -> Outcome:
            """On the connection's loop the producer is closed: the client is going to connect again.

            Since #25352 the connection forgets the producer in a later task of that loop, which reads its socket in between.
            """
            cut = {s.link: "removed"} if late else s.disconnected()
            return s.is_cut_off(b), cut

        @p.step(by="b", takes="forgetting", mirrors="ServerCnx.safelyRemoveProducer", fair=True, b=s.broker, only_if=late)
        def forget_producer(b: int) -> Outcome:
            """The later task: what the stream still brings is ignored from now on."""
            return And(s.connected == b, s.link == "removed"), s.disconnected()

        @p.step(
            by="b",
            takes="unfencing",
            mirrors="PersistentTopic.decrementPendingWriteOpsAndCheck, ManagedLedgerImpl.readyToCreateNewLedger, "
            "MessageDeduplication.resetHighestSequenceIdPushed",
            fair=True,
            b=s.broker,
            only_if=s.may.fences,
        )
        def unfence(b: int) -> Outcome:
            """No write and no disconnection is under way: what was pushed is what is persisted, and writes are taken again."""
            drained = And(s.topic[b] == "fenced", s.length[b] == 0, Not(s.is_cut_off(b)))
            if s.owed is not None:
                drained = And(drained, Not(s.owed[b]))
            ready = {s.state[b]: If(s.state[b] == "write_failed", "closed_ledger", s.state[b])}
            reset = {s.pushed[b]: s.persisted[b]} if s.dedup else {}
            return drained, {s.topic[b]: "serving", **ready, **reset}

        @p.step(
            by="b",
            takes="task",
            mirrors="PersistentTopic.close, ManagedLedgerImpl.asyncClose",
            fair=True,
            b=s.broker,
            only_if=s.may.closes,
        )
        def leave_topic(b: int) -> Outcome:
            """A topic that is being closed is gone, and its producers disconnected.

            What was handed to the executor has arrived by then, and what was sent is answered. Nobody answers what waits for a
            rollover that the topic does not wait for.
            """
            settled = And(s.sent[b] == 0, s.length[b] == s.arrived[b])
            return And(s.topic[b] == "closing", settled), {**s.gone(b), **s.counts_for_good(b, s.arrived[b])}
