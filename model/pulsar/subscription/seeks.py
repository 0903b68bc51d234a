"""Seeks: they are written first, and change the memory as they are answered."""

from __future__ import annotations

from fencepost.model.language import And, If, Not, Outcome, Truth
from fencepost.model.pulsar.subscription.cursor import NONE, Cursor


def declare_seeks(cursor: Cursor) -> None:
    """Declares the steps with which a seek begins."""
    p = cursor.protocol
    begins = And(cursor.is_in_use, Not(cursor.is_seeking))

    def queued(guard: Truth, to: int) -> Outcome:
        creating = If(cursor.state == "no_ledger", "creating", cursor.state)
        begun = {cursor.target: to, cursor.persisted: NONE, cursor.last: cursor.last_of_seek(to)}
        return guard, {**begun, cursor.queued: "seek", cursor.state: creating}

    positions = p.upto(cursor.messages)
    reset = "ManagedCursorImpl.internalResetCursor, PersistentSubscription.resetCursorInternal"

    @p.step(by="client", to="broker", mirrors=reset, spends="seeks", n=positions)
    def seek(n: int) -> Outcome:
        """The subscription is moved: its consumers are disconnected, and the new position is written."""
        direct = And(begins, cursor.state == "open", cursor.queued == "nothing", cursor.has_room)
        return direct, {cursor.target: n, cursor.persisted: NONE}, cursor.seek_written(n)

    @p.step(by="client", to="broker", mirrors=reset, spends="seeks", n=positions)
    def seek_during_read(n: int) -> Outcome:
        """The same while a read is under way, or without a ledger: it waits."""
        return queued(begins, n)
