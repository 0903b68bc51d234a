"""Termination and closing: what ends a managed ledger on purpose, while a rollover may be under way."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import And, Condition, If, Not, Number, Or, Outcome, Protocol, Updates, either, maximum
from fencepost.model.language.effects import Effect, Happens
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.state import NONE, State


class Termination:
    """ManagedLedgerImpl.asyncTerminate and asyncClose."""

    def __init__(self, p: Protocol, s: State, fence: Fence) -> None:
        self.protocol, self.s, self.fence = p, s, fence

    def declare(self, *, terminations: int, closings: int, transfers: int) -> None:
        """Declares the steps."""
        if terminations:
            self._terminate()
        if closings:
            self._close()
        if transfers:
            self._transfer()

    def _under_way(self, b: int, failed: Callable[[Number, int], Updates] | None = None, *, waiting: bool) -> Happens:
        """What is under way leaves the queue as it has ``failed``, except for an entry that has filled its ledger: OpAddEntry
        answers it when it hears of the close. What waits for a new ledger stays if it is ``waiting``."""
        s = self.s

        def leaves(but: int) -> Updates:
            pending = maximum(s.arrived[b] - but, 0)
            count = If(s.sent[b] > but, pending, 0) if waiting else pending
            left = {s.arrived[b]: s.arrived[b] - count, s.sent[b]: but}
            return {**s.without_first(b, count, but=but), **left, **({} if failed is None else failed(count, but))}

        return leaves(0) if s.filled is None else either(s.filled[b], leaves(1), leaves(0))

    def _terminate(self) -> None:
        p, s, fence = self.protocol, self.s, self.fence
        ledgers, state = s.ledgers, s.state
        reopens = p.has("terminated_reopened")

        @p.step(
            by="admin",
            takes="terminations",
            to="b",
            mirrors="ManagedLedgerImpl.asyncTerminate",
            spends="terminations",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def terminate(b: int, k: int) -> Outcome:
            """The managed ledger is terminated and its ledger closed at what is confirmed. What BookKeeper had under way
            fails.

            Only one that is fenced refuses; one that was closed, or waits after a failure, is terminated as well. An entry
            that waits for the close of its ledger is answered by that close. Since 5.0.1 the list says how many entries the
            ledger has, and what waits for another one fails only as that is not created.
            """
            ledger = ledgers[k]
            end = If(ledger.status == "open", ledger.confirmed, ledger.end)
            writable = state[b].among("opened", "closing_ledger", "creating", "closed_ledger", "write_failed")
            ready = And(Or(writable, And(state[b] == "closed", s.fresh[b] == NONE)), s.may_update(b))

            def failed(count: Number, but: int) -> Updates:
                if p.has("pending_forgotten"):
                    return s.forgotten(b, count, but=but)
                return {variable: If(count > 0, value, variable) for variable, value in fence.write_failed(b).items()}

            under_way = self._under_way(b, failed, waiting=reopens or s.may.aborts_rollover)
            counted: Updates = {}
            if s.may.aborts_rollover:
                counted = {s.known_entries[b, k]: If(s.known[b].has(k), end, s.known_entries[b, k])}
            return ready, ledger.close(end), {state[b]: "terminated", **counted}, under_way

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.asyncTerminate",
            fair=True,
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def list_end(b: int, k: int) -> Outcome:
            """The list is written with the terminated position, by compare-and-set; BadVersion: the managed ledger is
            fenced.

            Left out: if somebody has closed its ledger at another end, the close is refused, and the list is never written.
            """
            place = k * s.capacity + ledgers[k].end
            listed = {**s.written(b, s.known[b]), s.ended: True, s.final: place}
            going = And(state[b] == "terminated", Not(s.ended), s.shares(b), s.has_room())
            if not (reopens or p.has("terminate_without_mutex")):
                going = And(going, s.fresh[b] == NONE)
            return going, either(s.knows_the_version(b), listed, fence.becomes_fenced(b))

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.createComplete",
            fair=True,
            b=s.broker,
            k=s.ledger,
            only_if=not reopens,
        )
        def drop_new(b: int, k: int) -> Outcome:
            """A ledger was being created as the managed ledger was terminated: it is not listed, but deleted. What waits for it
            since 5.0.1 fails."""
            fails: Happens = fence.all_fail(b) if s.may.aborts_rollover else {}
            return And(state[b] == "terminated", s.fresh[b] == k), {s.fresh[b]: NONE}, fails, ledgers[k].delete()

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.createComplete, ManagedLedgerImpl.abortRolloverAfterTerminate",
            fair=True,
            b=s.broker,
            only_if=s.may.aborts_rollover,
        )
        def abort_rollover(b: int) -> Outcome:
            """A ledger was to be created as the managed ledger was terminated: what waits for it fails.

            Left out: the ledger, if it is created all the same, is closed and deleted.
            """
            waits = And(s.arrived[b] > 0, s.fresh[b] == NONE, Not(s.has_filled(b)))
            return And(state[b] == "terminated", waits), fence.all_fail(b)

        @p.step(
            by="b",
            takes="metadata",
            mirrors="ManagedLedgerImpl.asyncTerminate, ManagedLedgerImpl.updateLedgersListAfterRollover",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("terminate_without_mutex"),
        )
        def list_end_too_late(b: int, k: int) -> Outcome:
            """The broker's own rollover, which the termination does not wait for, has written the list first: BadVersion.

            What it wrote has the terminated position.
            """
            going = And(state[b] == "terminated", s.fresh[b] == k, Not(s.ended), s.arrived[b] == 0, s.knows_the_version(b))
            listed = {**s.written(b, s.known[b].plus(k), {k: 0}), s.ended: True}
            for j in s.ledger:
                listed[s.final] = If(s.current[b] == j, j * s.capacity + ledgers[j].end, listed.get(s.final, s.final))
            fenced = {state[b]: "fenced", s.fresh[b]: NONE, s.current[b]: k}
            return And(going, s.shares(b), s.has_room()), {**listed, **fenced}

    def _closed(self, b: int, k: int) -> tuple[Condition, Effect, Updates]:
        """ManagedLedgerImpl.asyncClose: when it may be, what becomes of the ledger, and of the topic."""
        s, state = self.s, self.s.state
        ledger = s.ledgers[k]
        end = If(ledger.status == "open", ledger.confirmed, ledger.end)
        ended = False if s.ended is None else And(s.ended, s.fresh[b] == NONE)
        going = And(s.is_loaded(b), state[b] != "fenced", state[b] != "closed", Or(state[b] != "terminated", ended))
        closed: Updates = {state[b]: "closed", s.topic[b]: "closing"}
        if s.cursor is not None:
            closed |= s.shared(b, {s.cursor: If(s.has_cursor[b], s.mark[b], s.cursor)})
        return And(going, s.topic[b] != "closing", s.may_update(b)), ledger.close(end), closed

    def _transfer(self) -> None:
        p, s = self.protocol, self.s

        @p.step(
            by="b",
            takes="unloads",
            mirrors="PersistentTopic.close, ManagedLedgerImpl.asyncClose, PersistentTopic.addFailed",
            spends="transfers",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def transfer(b: int, k: int) -> Outcome:
            """The extensible load manager gives the bundle to another broker: the topic is closed as its clients are still
            connected, who are sent to the other broker later.

            What is pending fails, and no client hears of that. In 4.0.8 and 4.2.4 their connection goes on counting it.
            """
            ready, ledger, closed = self._closed(b, k)
            if s.transferring is None:
                return ready, ledger, closed, self._under_way(b, waiting=p.has("closed_reopened"))
            left = self._under_way(b, lambda count, but: s.forgotten(b, count, but=but), waiting=p.has("closed_reopened"))
            return ready, ledger, {**closed, s.transferring[b]: True}, left

    def _close(self) -> None:
        p, s = self.protocol, self.s

        @p.step(
            by="admin",
            takes="unloads",
            to="b",
            mirrors="PersistentTopic.close, ManagedLedgerImpl.asyncClose, ManagedCursorImpl.asyncClose",
            spends="closings",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def close(b: int, k: int) -> Outcome:
            """The topic is unloaded: the managed ledger is Closed, its ledger closed at what is confirmed, what is pending
            fails, and cursors write their positions.

            Up to 4.2.4 it fails by the answer of an add that is under way; where none is, it stays for a rollover under way.
            Later releases answer what is pending in any case, even what a termination has forgotten.
            """
            ready, ledger, closed = self._closed(b, k)
            if s.owed is not None and not p.has("closed_reopened"):
                closed |= {s.owed[b]: False, s.stuck[b]: False}
            return ready, ledger, closed, self._under_way(b, waiting=p.has("closed_reopened"))
