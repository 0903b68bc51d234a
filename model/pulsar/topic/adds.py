"""Adds: ManagedLedgerImpl.internalAsyncAddEntry and what becomes of an OpAddEntry."""

from __future__ import annotations

from functools import reduce
from typing import Literal

from fencepost.model.language import (
    And,
    Choice,
    Condition,
    If,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Truth,
    Updates,
    any_of,
    either,
    maximum,
)
from fencepost.model.language.effects import Effect, Happens
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.producer import Producer
from fencepost.model.pulsar.topic.state import NONE, State


class Adds:
    """The writes of a managed ledger, from the topic's executor to the answer."""

    def __init__(self, p: Protocol, s: State, fence: Fence, producer: Producer) -> None:
        self.protocol, self.s, self.fence, self.producer = p, s, fence, producer

    def answered(self, b: int, fails: Truth = False) -> Happens:
        """PersistentTopic.addComplete of the first write: what is persisted rises, and the producer is answered. If another
        one ``fails`` just before, the topic is fenced by that."""
        s = self.s
        effects: Happens = {}
        for m in s.message:
            stored: Updates = self.producer.receipt(b, m)
            if s.dedup:
                stored |= {s.persisted[b]: m + 1}
            for variable, value in ({} if fails is False else self.fence.write_failed(b)).items():
                leads = And(fails, Not(self.producer.hangs_up(b, m))) if variable is s.link else fails
                stored[variable] = If(leads, value, stored.get(variable, variable))
            effects = either(s.queue[b, 0] == m, stored, effects)
        return effects

    def completed(self, b: int) -> Happens:
        """The first write is answered, and leaves the queue."""
        s = self.s
        left = {s.arrived[b]: maximum(s.arrived[b] - 1, 0), s.sent[b]: maximum(s.sent[b] - 1, 0)}
        return self.answered(b), self._off_the_queue(b, 1), left

    def _off_the_queue(self, b: int, count: Number | int, forgotten: Updates | None = None) -> Updates:
        """The first writes leave the queue as the first of them is answered, which may end the connection."""
        s = self.s
        over = any_of(And(s.queue[b, 0] == m, self.producer.hangs_up(b, m)) for m in s.message)
        return s.ended_if(b, over, {**s.without_first(b, count), **(forgotten or {})})

    def completed_when_closed(self, b: int) -> Happens:
        """The same in a closed managed ledger: what is pending behind it fails."""
        return self.answered(b), self._off_the_queue(b, self.s.arrived[b]), {self.s.arrived[b]: 0, self.s.sent[b]: 0}

    def completed_when_terminated(self, b: int) -> Happens:
        """The same in a terminated managed ledger: what is pending behind it fails before."""
        s = self.s
        left = {s.arrived[b]: 0, s.sent[b]: 0}
        return self.answered(b, s.arrived[b] > 1), self._off_the_queue(b, s.arrived[b]), left

    def completed_when_fenced(self, b: int) -> Happens:
        """The same in a fenced managed ledger, up to 4.2.4: what is pending behind it is never answered."""
        s = self.s
        left = {s.arrived[b]: 0, s.sent[b]: 0}
        return self.answered(b), self._off_the_queue(b, s.arrived[b], s.forgotten(b, s.arrived[b] - 1, but=1)), left

    def ledger_closed(self, b: int, k: int, end: Number | int) -> Updates:
        """ManagedLedgerImpl.ledgerClosed: the list will say how many entries it has, or drop it if it is empty; a ledger is
        created."""
        s = self.s
        listed = {s.known[b]: If(end == 0, s.known[b].minus(k), s.known[b]), s.known_entries[b, k]: end}
        return {s.state[b]: "creating", **listed}

    def declare(self) -> None:
        """Declares the steps."""
        p, s, fence = self.protocol, self.s, self.fence
        full = s.capacity

        def arrives(b: int) -> Condition:
            return s.length[b] > s.arrived[b]

        def waits_for_abort(b: int) -> Truth:
            """The formula: the managed ledger is terminated, and what it has pending is yet to fail."""
            if not s.may.aborts_rollover:
                return False
            waiting = Or(s.arrived[b] > 1, And(s.arrived[b] == 1, Not(s.has_filled(b))))
            return And(s.state[b] == "terminated", waiting)

        def first_waiting(b: int) -> Choice[int | Literal["nothing"]]:
            """The first write that waits for the executor."""
            value: Choice[int | Literal["nothing"]] = s.queue[b, 0]
            for place in s.room:
                value = If(s.arrived[b] == place, s.queue[b, place], value)
            return value

        def without_first_waiting(b: int) -> Updates:
            """It leaves the queue, and what has arrived before stays."""
            stays = {place: s.without_first(b, 1, but=place) for place in s.room}
            return {x: reduce(lambda y, place: If(s.arrived[b] == place, stays[place][x], y), s.room, x) for x in stays[0]}

        @p.step(
            by="b",
            takes="task",
            mirrors="ManagedLedgerImpl.internalAsyncAddEntry, OpAddEntry.initiate",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
            e=s.slots,
        )
        def add(b: int, k: int, e: int) -> Outcome:
            """With an open ledger the entry is sent; the one that fills the ledger is the last."""
            then: Updates = {s.arrived[b]: s.arrived[b] + 1, s.sent[b]: s.arrived[b] + 1, s.content[k, e]: first_waiting(b)}
            closing: Updates = {s.state[b]: "closing_ledger"} if e == full - 1 else {}
            ready = And(arrives(b), s.state[b] == "opened", s.ledgers[k].sent == e)
            return ready, s.ledgers[k].send(1), {**then, **closing}

        @p.step(by="b", takes="task", mirrors="ManagedLedgerImpl.internalAsyncAddEntry", fair=True, b=s.broker)
        def add_waits(b: int) -> Outcome:
            """Without one it waits; if nobody creates a ledger, this add does. Since 5.0.1 it also waits behind those that wait
            as the topic is terminated."""
            waits = Or(s.state[b].among("closing_ledger", "creating", "closed_ledger"), waits_for_abort(b))
            creates = {s.state[b]: If(s.state[b] == "closed_ledger", "creating", s.state[b])}
            return And(arrives(b), waits), {s.arrived[b]: s.arrived[b] + 1, **creates}

        @p.step(
            by="b",
            takes="task",
            mirrors="ManagedLedgerImpl.internalAsyncAddEntry, PersistentTopic.addFailed",
            fair=True,
            b=s.broker,
            only_if=s.may.closes or s.may.fences,
        )
        def add_refused(b: int) -> Outcome:
            """After a failure, a termination or a fence it fails at once, and what is pending stays."""
            refused = s.state[b].among("write_failed", "terminated", "closed", "fenced")
            met = fence.writes_met_fence(b, 1, but=s.arrived[b])
            failed = either(s.state[b] == "fenced", met, fence.arriving_failed(b))
            return And(arrives(b), refused, Not(waits_for_abort(b))), without_first_waiting(b), failed

        @p.step(
            by="b",
            takes="journal",
            mirrors="OpAddEntry.run, OpAddEntry.addComplete, PersistentTopic.addComplete, "
            "MessageDeduplication.recordMessagePersisted",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
            e=s.slots,
        )
        def confirm(b: int, k: int, e: int) -> Outcome:
            """The entry is confirmed and answered; the one that fills the ledger closes it first."""
            going = And(s.sent[b] > 0, Not(s.has_filled(b)), s.ledgers[k].confirmed == e)
            fills = e == full - 1 and s.filled is not None
            return going, s.ledgers[k].confirm(), {s.filled[b]: True} if fills else self.completed(b)

        @p.step(
            by="b",
            takes="metadata",
            mirrors="OpAddEntry.closeComplete, ManagedLedgerImpl.ledgerClosed",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
            only_if=s.may.fills,
        )
        def hear_close(b: int, k: int) -> Outcome:
            """The full ledger is closed: its last entry is answered, and a ledger is created unless the managed ledger is
            fenced. If the ledger is deleted already, the error is logged, and nothing else is different."""
            closed = either(s.state[b] == "closing_ledger", self.ledger_closed(b, k, full), {})
            closes: Effect = s.ledgers[k].close(full)
            if s.may.deletes and s.may.rivals:
                closes = either(s.ledgers[k].status == "deleted", {}, closes)
            completed = self.completed(b)
            if s.may.settings["closings"] and p.has("closed_reopened"):
                completed = either(s.state[b] == "closed", self.completed_when_closed(b), completed)
            if s.may.aborts_rollover:
                completed = either(s.state[b] == "terminated", self.completed_when_terminated(b), completed)
            if s.may.closes and s.may.trims and p.has("fenced_context_kept"):
                completed = either(s.state[b] == "fenced", self.completed_when_fenced(b), completed)
            return s.has_filled(b), closes, s.not_filled(b), closed, completed

        @p.step(
            by="b",
            takes="metadata",
            mirrors="OpAddEntry.closeComplete, ManagedLedgerImpl.ledgerClosed",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
            only_if=s.may.settings["unfenced"],
        )
        def hear_close_refused(b: int, k: int) -> Outcome:
            """The full ledger was closed elsewhere, before its last entry, by a fence that did not hold: the close is refused.

            The entry should be sent to the next ledger; all three releases log the error, and answer it as stored. The ledger
            is listed with its end, which the handle has by then.
            """
            lost = And(s.has_filled(b), s.ledgers[k].status == "closed", s.ledgers[k].end < full)
            ended = s.not_filled(b)
            closed = self.ledger_closed(b, k, s.ledgers[k].end)
            return lost, ended, closed, self.completed(b) if p.has("close_error_ignored") else {s.sent[b]: 0}

        @p.step(
            by="b",
            takes="network",
            mirrors="ManagedLedgerImpl.addEntryFailedDueToConcurrentlyModified, OpAddEntry.handleAddFailure",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
            only_if=s.may.recovered_elsewhere,
        )
        def hear_fence(b: int, k: int) -> Outcome:
            """An add is answered that somebody has recovered the ledger: the end is looked up, and a ledger created.

            What is within the end is stored and should be answered; all three releases send it once more.
            """
            ledger = s.ledgers[k]
            met = And(s.is_writing(b), ledger.status == "closed")
            if not (p.has("resends_recovered") or p.has("fenced_unknown_end")):
                met = And(met, Not(ledger.may_confirm))
            end = ledger.confirmed if p.has("fenced_unknown_end") else ledger.end
            return met, self.ledger_closed(b, k, end), {s.sent[b]: 0}

        @p.step(
            by="b",
            takes="network",
            mirrors="ManagedLedgerImpl.addEntryFailedDueToConcurrentlyModified, ManagedLedgerImpl.fenceByAnotherWriter, "
            "ManagedLedgerImpl.metadataSessionLost",
            b=s.broker,
            k=lambda b: s.current[b],
            only_if=s.may.gives_up,
        )
        def give_up(b: int, k: int) -> Outcome:
            """An add is answered that somebody has recovered the ledger, and the broker has heard of the loss of its session:
            the managed ledger fences itself, and the topic closes. The end is not looked up.

            A topic knows of no session, so that this may happen whenever there is another broker.
            """
            over = s.ledgers[k].status.among("closed", "deleted") if s.may.deletes else s.ledgers[k].status == "closed"
            return And(s.is_writing(b), over), fence.becomes_fenced(b)

        def end_unknown(b: int) -> Happens:
            """The managed ledger fences itself. Up to 4.2.4 nobody answers what is pending."""
            if not p.has("fenced_context_kept"):
                return fence.becomes_fenced(b)
            left = {**s.without_first(b, s.arrived[b]), s.arrived[b]: 0, s.sent[b]: 0}
            return {s.state[b]: "fenced"}, left, s.forgotten(b, s.arrived[b])

        @p.fault(
            by="b",
            takes="outage_fails",
            mirrors="ManagedLedgerImpl.addEntryFailedDueToConcurrentlyModified, ManagedLedgerImpl.handleBadVersion",
            spends="failures",
            b=s.broker,
            k=lambda b: s.current[b],
            only_if=s.may.recovered_elsewhere,
        )
        def fail_to_look_up(b: int, k: int) -> Outcome:
            """The end of a ledger that somebody has recovered cannot be looked up."""
            met = And(s.is_writing(b), s.ledgers[k].status == "closed")
            return met, end_unknown(b)

        @p.fault(
            by="b",
            takes="outage_fails",
            mirrors="ManagedLedgerImpl.addEntryFailedDueToConcurrentlyModified, ManagedLedgerImpl.handleBadVersion",
            spends="failures",
            b=s.broker,
            k=lambda b: s.current[b],
            n=p.upto(full),
            only_if=s.late is not None,
        )
        def fail_to_look_up_late(b: int, k: int, n: int) -> Outcome:
            """An add that timed out is answered that somebody has recovered its ledger, whose end cannot be looked up. The
            managed ledger fences itself as the next ledger is being listed, and its version of the list is as it was. What is
            pending stays so."""
            met = And(s.state[b] == "creating", s.late[b], s.fresh[b] != NONE, s.ledgers[k].confirmed < s.ledgers[k].sent)
            return met, s.ledgers[k].close(n), {s.state[b]: "fenced", s.late[b]: False}

        @p.step(
            by="b",
            takes="network",
            mirrors="ManagedLedgerImpl.addEntryFailedDueToConcurrentlyModified, ManagedLedgerImpl.handleBadVersion",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
            only_if=s.may.deletes and s.may.rivals,
        )
        def find_deleted(b: int, k: int) -> Outcome:
            """The ledger was recovered and is deleted already: its end is not to be had."""
            return And(s.is_writing(b), s.ledgers[k].status == "deleted"), end_unknown(b)

        @p.step(
            by="b",
            takes="task",
            mirrors="ManagedLedgerImpl.ledgerClosed, ManagedLedgerImpl.clearPendingAddEntries",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
            only_if=s.may.closes and s.may.trims and p.has("fenced_context_kept"),
        )
        def fail_when_fenced(b: int, k: int) -> Outcome:
            """The managed ledger is fenced, and the ledger closed: what is pending fails, and up to 4.2.4 nobody answers it."""
            over = And(s.ledgers[k].status.among("closed", "deleted"), Not(s.has_filled(b)))
            return And(s.state[b] == "fenced", s.arrived[b] > 0, over), end_unknown(b)

        @p.fault(
            by="b",
            takes="bookie_failures",
            mirrors="OpAddEntry.handleAddFailure, ManagedLedgerImpl.ledgerClosed",
            spends="add_failures",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def fail_add(b: int, k: int) -> Outcome:
            """An add fails: BookKeeper closes the ledger at what is confirmed, and a ledger is created."""
            under_way = And(s.is_writing(b), s.ledgers[k].status == "open")
            end = s.ledgers[k].confirmed
            return under_way, s.ledgers[k].close(end), self.ledger_closed(b, k, end), {s.sent[b]: 0}

        @p.fault(
            by="b",
            mirrors="ManagedLedgerImpl.checkAddTimeout, OpAddEntry.handleAddFailure",
            spends="add_failures",
            b=s.broker,
            k=lambda b: s.current[b],
            n=p.upto(full),
            only_if=s.may.settings["timeouts"],
        )
        def time_out_add(b: int, k: int, n: int) -> Outcome:
            """An add is not answered within managedLedgerAddEntryTimeoutSeconds. The ledger should be recovered, so that its
            end is known; up to 5.0.0-M1 its handle stays open, and what it still writes is sent to the next ledger, too. Since
            5.0.1 the handle is closed, at what it has confirmed."""
            under_way = And(s.is_writing(b), s.ledgers[k].status == "open")
            if s.may.closes_timed_out:
                confirmed = And(under_way, s.ledgers[k].confirmed == n)
                return confirmed, s.ledgers[k].close(n), self.ledger_closed(b, k, n), {s.sent[b]: 0}
            if not any(map(p.has, ("resends_recovered", "timeout_races_ack", "fenced_reopened"))):
                return under_way, s.ledgers[k].close(n)
            answered: Updates = {} if p.has("timeout_races_ack") else {s.sent[b]: 0}
            if s.late is not None:
                answered |= {s.late[b]: True}
            return And(under_way, s.ledgers[k].confirmed == n), self.ledger_closed(b, k, n), answered

        @p.fault(by="auditor", takes="other_recoveries", spends="recoveries", k=s.ledger, n=p.upto(full))
        def recover_elsewhere(k: int, n: int) -> Outcome:
            """Somebody who is no broker recovers a ledger that is being written: auto-recovery, or a tool."""
            return And(s.listed.has(k), s.ledgers[k].status == "open"), s.ledgers[k].close(n)

        @p.fault(
            by="b",
            mirrors="OpAddEntry.initiate, OpAddEntry.failed",
            spends="failures",
            b=s.broker,
            only_if=p.has("payload_error_goes_on"),
        )
        def payload_fails(b: int) -> Outcome:
            """An interceptor cannot process an entry, which fails; those behind it are written."""
            return And(arrives(b), s.state[b] == "opened", s.arrived[b] == 0), s.without_first(b, 1), fence.write_failed(b)
