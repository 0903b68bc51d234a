"""Termination and closing: what ends a managed ledger on purpose, while a rollover may be under way."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, If, Not, Or, Protocol, either, maximum
from fencepost.model.pulsar.topic.fence import Fence
from fencepost.model.pulsar.topic.state import NONE, State


class Termination:
    """ManagedLedgerImpl.asyncTerminate and asyncClose."""

    def __init__(self, p: Protocol, s: State, fence: Fence) -> None:
        self.protocol, self.s, self.fence = p, s, fence

    def declare(self, *, terminations: int, closings: int) -> None:
        """Declares the steps."""
        if terminations:
            self._terminate()
        if closings:
            self._close()

    def _terminate(self) -> None:
        p, s, fence = self.protocol, self.s, self.fence
        ledgers, state = s.ledgers, s.state
        reopens = p.has("terminated_reopened")

        @p.step(
            by="admin",
            to="b",
            mirrors="ManagedLedgerImpl.asyncTerminate",
            spends="terminations",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def terminate(b: int, k: int) -> Any:
            """The managed ledger is terminated and its ledger closed at what is confirmed. What BookKeeper had under way
            fails.

            Only one that is fenced refuses; one that was closed, or waits after a failure, is terminated as well.
            """
            ledger = ledgers[k]
            end = If(ledger.status == "open", ledger.confirmed, ledger.end)
            under_way: Any = If(s.sent[b] > 0, s.arrived[b], 0) if reopens else s.arrived[b]
            fails = And(s.arrived[b] > 0, under_way > 0)
            if p.has("pending_forgotten"):
                answered: Any = {s.owed[b]: If(fails, True, s.owed[b])}
            else:
                answered = {variable: If(fails, value, variable) for variable, value in fence.write_failed(b).items()}
            left = {s.arrived[b]: maximum(s.arrived[b] - under_way, 0), s.sent[b]: 0}
            writable = state[b].among("opened", "closing_ledger", "creating", "closed_ledger", "write_failed")
            ready = And(Or(writable, And(state[b] == "closed", s.fresh[b] == NONE)), Not(s.has_filled(b)))
            return ready, ledger.close(end), {state[b]: "terminated"}, s.without_first(b, under_way), left, answered

        @p.step(by="b", mirrors="ManagedLedgerImpl.asyncTerminate", fair=True, b=s.broker, k=lambda b: s.current[b])
        def list_end(b: int, k: int) -> Any:
            """The list is written with the terminated position, by compare-and-set; BadVersion: the managed ledger is
            fenced."""
            place = k * s.capacity + ledgers[k].end
            listed = {**s.written(b, s.known[b]), s.ended: True, s.final: place}
            going = And(state[b] == "terminated", Not(s.ended), s.has_room())
            if not (reopens or p.has("terminate_without_mutex")):
                going = And(going, s.fresh[b] == NONE)
            return going, either(s.knows_the_version(b), listed, fence.becomes_fenced(b))

        @p.step(
            by="b",
            mirrors="ManagedLedgerImpl.createComplete",
            fair=True,
            b=s.broker,
            k=s.ledger,
            only_if=not reopens,
        )
        def drop_new(b: int, k: int) -> Any:
            """A ledger was being created as the managed ledger was terminated: it is not listed, but deleted."""
            return And(state[b] == "terminated", s.fresh[b] == k), {s.fresh[b]: NONE}, ledgers[k].delete()

        @p.step(
            by="b",
            mirrors="ManagedLedgerImpl.asyncTerminate, ManagedLedgerImpl.updateLedgersListAfterRollover",
            b=s.broker,
            k=s.ledger,
            only_if=p.has("terminate_without_mutex"),
        )
        def list_end_too_late(b: int, k: int) -> Any:
            """The broker's own rollover, which the termination does not wait for, has written the list first: BadVersion.

            What it wrote has the terminated position.
            """
            going = And(state[b] == "terminated", s.fresh[b] == k, Not(s.ended), s.arrived[b] == 0, s.knows_the_version(b))
            listed = {**s.written(b, s.known[b].plus(k), {k: 0}), s.ended: True}
            for j in s.ledger:
                listed[s.final] = If(s.current[b] == j, j * s.capacity + ledgers[j].end, listed.get(s.final, s.final))
            fenced = {state[b]: "fenced", s.fresh[b]: NONE, s.current[b]: k}
            return And(going, s.has_room()), {**listed, **fenced}

    def _close(self) -> None:
        p, s = self.protocol, self.s
        ledgers, state = s.ledgers, s.state

        @p.step(
            by="admin",
            to="b",
            mirrors="PersistentTopic.close, ManagedLedgerImpl.asyncClose, ManagedCursorImpl.asyncClose",
            spends="closings",
            b=s.broker,
            k=lambda b: s.current[b],
        )
        def close(b: int, k: int) -> Any:
            """The topic is unloaded: the managed ledger is Closed, its ledger closed at what is confirmed, what is pending
            fails, and cursors write their positions.

            Up to 4.2.4 it fails by the answer of an add that is under way; where none is, it stays for a rollover under way.
            Later releases answer what is pending in any case, even what a termination has forgotten.
            """
            ledger = ledgers[k]
            end = If(ledger.status == "open", ledger.confirmed, ledger.end)
            ended = False if s.ended is None else And(s.ended, s.fresh[b] == NONE)
            going = And(s.is_loaded(b), state[b] != "fenced", state[b] != "closed", Or(state[b] != "terminated", ended))
            ready = And(going, Not(s.has_filled(b)), s.topic[b] != "closing")
            closed: dict[Any, Any] = {state[b]: "closed", s.topic[b]: "closing"}
            fails: Any = If(s.sent[b] > 0, s.arrived[b], 0) if p.has("closed_reopened") else s.arrived[b]
            left = {s.arrived[b]: maximum(s.arrived[b] - fails, 0), s.sent[b]: 0}
            if s.owed is not None and not p.has("closed_reopened"):
                closed[s.owed[b]] = False
            if s.cursor is not None:
                closed[s.cursor] = If(s.has_cursor[b], s.mark[b], s.cursor)
            return ready, ledger.close(end), closed, s.without_first(b, fails), left
