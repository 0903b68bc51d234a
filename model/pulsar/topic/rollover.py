"""Rollover: a ledger is created, listed by compare-and-set, and everything pending is sent to it."""

from __future__ import annotations

from fencepost.model.language import And, Condition, If, Not, Or, Outcome, Protocol, Updates, either, minimum
from fencepost.model.language.effects import Effect, Happens
from fencepost.model.pulsar.topic.adds import Adds
from fencepost.model.pulsar.topic.cursors import Cursors
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.state import NONE, BrokerState, State


class Rollover:
    """ManagedLedgerImpl from a closed ledger to the next one."""

    def __init__(self, p: Protocol, s: State, fence: Fence, adds: Adds, cursors: Cursors) -> None:
        self.protocol, self.s, self.fence, self.adds, self.cursors = p, s, fence, adds, cursors

    def resent(self, b: int, k: int) -> tuple[Effect, Updates]:
        """ManagedLedgerImpl.createNewOpAddEntryForNewLedger: everything pending is sent to the ledger, until it is full."""
        s = self.s
        count = minimum(s.arrived[b], s.capacity)
        sent = {s.content[k, e]: If(e < count, s.queue[b, e], "nothing") for e in s.slots if e < len(s.room)}
        return s.ledgers[k].send(count), {**sent, s.sent[b]: count}

    def opened(self, b: int, k: int, listed: Updates) -> tuple[Updates, Happens]:
        """ManagedLedgerImpl.updateLedgersIdsComplete: the list has the ledger, which is current and has what is pending."""
        s = self.s
        changes = {**s.written(b, s.known[b].plus(k), {k: 0}), **listed, **s.answered_update(b), **self.cursors.moved(b)}
        changes |= {s.current[b]: k}
        if s.late is not None:
            changes |= {s.late[b]: False}
        opens = {s.state[b]: If(s.arrived[b] >= s.capacity, "closing_ledger", "opened")}
        return {**changes, **opens}, {} if self.protocol.has("written_before_listed") else self.resent(b, k)

    def declare(self) -> None:
        """Declares the steps."""
        p, s, fence = self.protocol, self.s, self.fence
        ledgers, state = s.ledgers, s.state
        early = p.has("written_before_listed")
        reopens: list[BrokerState] = ["closed"] if p.has("closed_reopened") else []
        reopens += ["opened"] if p.has("rollover_during_creation") else []
        of_fenced: list[BrokerState] = ["fenced"] if p.has("fenced_reopened") else []
        reopens += of_fenced
        reopens += ["opened", "closing_ledger", "closed_ledger", "write_failed"] if p.has("listed_after_time_out") else []
        ends = p.has("terminated_reopened") and s.ended is not None
        whatever = p.has("reopened_before_fence")

        @p.step(
            by="b",
            takes="rollovers",
            mirrors="ManagedLedgerImpl.rollCurrentLedgerIfFull, OpAddEntry.handleAddFailure, ManagedLedgerImpl.ledgerClosed",
            spends="rolls",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def roll_over(b: int, k: int) -> Outcome:
            """The ledger is old enough: it is closed at what is confirmed, unless somebody has closed it, and one is created.

            Adds under way fail before the close is answered, so what is confirmed is listed. Since 5.0.1 each add that fails
            waits for that answer: where somebody has closed the ledger, its handle then has that end, which is listed.
            """
            ledger = ledgers[k]
            end = If(ledger.status == "open", ledger.confirmed, ledger.end)
            ready = And(state[b] == "opened", ledger.sent > 0, s.may_roll(b))
            if not p.has("resends_recovered"):
                ready = And(ready, Or(ledger.status == "open", Not(ledger.may_confirm)))
            entries = end if s.may.closes_timed_out else ledger.confirmed
            return ready, ledger.close(end), self.adds.ledger_closed(b, k, entries), {s.sent[b]: 0}

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.asyncCreateLedger, ManagedLedgerImpl.createComplete",
            fair=True,
            b=s.broker,
            k=s.ledger,
        )
        def create_ledger(b: int, k: int) -> Outcome:
            """A ledger is created; the update of the list follows at once. Ledgers' numbers rise."""
            next_one = And(*(ledgers[j].status != "absent" for j in s.ledger if j < k))
            going = And(state[b].among("recovered", "creating"), s.fresh[b] == NONE)
            if p.has("listed_before_created"):
                going = And(going, s.listed.has(k))
            early: Updates = {}
            if p.has("current_before_listed"):
                early = {s.current[b]: If(state[b] == "creating", k, s.current[b])}
            return And(going, next_one), ledgers[k].create(), {s.fresh[b]: k, **early}

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.createComplete",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("listed_before_created"),
        )
        def list_early(b: int, k: int) -> Outcome:
            """A ledger is listed that is yet to be created."""
            next_one = And(ledgers[k].status == "absent", *(ledgers[j].status != "absent" for j in s.ledger if j < k))
            going = And(
                state[b].among("recovered", "creating"), s.fresh[b] == NONE, Not(s.known[b].has(k)), next_one, s.has_room()
            )
            return And(going, s.knows_the_version(b)), s.written(b, s.known[b].plus(k), {k: 0})

        @p.step(
            by="b",
            mirrors="ManagedLedgerImpl.asyncCreateLedger",
            spends="rolls",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("rollover_during_creation"),
        )
        def create_another(b: int, k: int) -> Outcome:
            """Another ledger is created, as one has just been: the one that is current is left without a word in the list."""
            next_one = And(*(ledgers[j].status != "absent" for j in s.ledger if j < k))
            return And(state[b] == "opened", s.fresh[b] == NONE, next_one), ledgers[k].create(), {s.fresh[b]: k}

        @p.fault(by="b", takes="outage_fails", mirrors="ManagedLedgerImpl.createComplete", spends="failures", b=s.broker)
        def creation_fails(b: int) -> Outcome:
            """No ledger can be created: what is pending fails, and until the topic has drained so does what comes.

            Left out: one that was terminated or fenced meanwhile becomes WriteFailed or ClosedLedger by that, in all three
            releases.
            """
            fails = {state[b]: If(s.arrived[b] > 0, "write_failed", "closed_ledger")}
            return And(state[b] == "creating", s.fresh[b] == NONE), fails, fence.all_fail(b)

        @p.step(by="b", takes="task", b=s.broker, k=s.ledger, only_if=early)
        def write_early(b: int, k: int) -> Outcome:
            """What is pending goes to the new ledger before the list has it."""
            waits = And(state[b] == "creating", s.fresh[b] == k, s.arrived[b] > 0, ledgers[k].sent == 0)
            return waits, self.resent(b, k), {s.current[b]: k}

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.updateLedgersListAfterRollover, ManagedLedgerImpl.updateLedgersIdsComplete, "
            "ManagedLedgerImpl.createNewOpAddEntryForNewLedger, ManagedLedgerImpl.clearPendingAddEntries",
            fair=True,
            b=s.broker,
            k=s.ledger,
        )
        def list_new(b: int, k: int) -> Outcome:
            """The list with the new ledger is written, by compare-and-set: the ledger is open, and has what is pending.

            BadVersion: another broker has the topic. The managed ledger is fenced, what is pending fails, the ledger is
            deleted.
            """
            from_states: Condition = state[b].among("creating", *reopens)
            if ends:
                from_states = Or(from_states, And(state[b] == "terminated", s.ended))
            ended = {} if s.ended is None else s.shared(b, {s.ended: And(s.ended, state[b] == "terminated")})
            opened = self.opened(b, k, {**ended, s.fresh[b]: NONE})
            ready = And(from_states, s.fresh[b] == k, s.has_room(), s.may_update(b, k))
            if s.slow is not None:
                ready = And(ready, Not(s.has_filled(b)))
            if not s.may.closes:  # nobody else writes the list
                return And(ready, s.knows_the_version(b)), opened
            if p.has("goes_on_after_bad_version"):
                refused: Updates | tuple[Updates, Effect] = {s.known_version[b]: s.version}
            else:
                refused = (fence.refused(b), ledgers[k].delete())
            return ready, either(s.knows_the_version(b), opened, refused)

        @p.fault(
            by="b",
            takes="outage_fails",
            mirrors="ManagedLedgerImpl.createComplete, ManagedLedgerImpl.clearPendingAddEntries",
            spends="failures",
            b=s.broker,
            k=s.ledger,
            done=range(2),
        )
        def list_fails(b: int, k: int, done: int) -> Outcome:
            """The update fails with the session, done or not: the ledger is deleted, and what is pending fails.

            It should leave the managed ledger as a failed creation does, in WriteFailed; in all three releases it is
            ClosedLedger, and takes what passed the fence before. One that was closed or terminated meanwhile becomes
            ClosedLedger, too.
            """
            waits = If(s.arrived[b] > 0, "write_failed", "closed_ledger")
            after = "closed_ledger" if whatever else waits
            failed: Updates = {state[b]: after, s.fresh[b]: NONE, **s.answered_update(b)}
            if done:
                known: Updates = {s.known[b]: s.known[b], s.known_version[b]: s.known_version[b]}
                failed = {**s.written(b, s.known[b].plus(k), {k: 0}), **known, **failed}
            from_states: Condition = state[b] == "creating"
            if whatever:
                ended = False if s.ended is None or s.may.aborts_rollover else And(state[b] == "terminated", s.ended)
                from_states = Or(from_states, state[b].among("closed", *of_fenced), ended)
            current = And(from_states, s.fresh[b] == k, s.has_room(), s.may_update(b, k))
            if done:
                current = And(current, s.knows_the_version(b))
            return current, failed, fence.all_fail(b), ledgers[k].delete()
