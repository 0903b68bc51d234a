"""Seeks: they are written first, and change the memory as they are answered."""

from __future__ import annotations

from fencepost.model.language import And, If, Not, Outcome
from fencepost.model.pulsar.subscription.cursor import Cursor


def declare_seeks(cursor: Cursor) -> None:
    """Declares the steps with which a seek begins."""
    p = cursor.protocol
    begins = And(cursor.is_in_use, Not(cursor.is_seeking))

    positions = p.upto(cursor.messages)
    reset = "ManagedCursorImpl.internalResetCursor, PersistentSubscription.resetCursorInternal"

    @p.step(by="client", to="broker", mirrors=reset, spends="seeks", n=positions)
    def seek(n: int) -> Outcome:
        """The subscription is moved: its consumers are disconnected, and the new position is written."""
        direct = And(begins, cursor.state == "open", cursor.queued == "nothing", cursor.has_room)
        return direct, {**cursor.seek_begun(n), **cursor.seek_written(n, cursor.last_of_seek(n))}

    @p.step(by="client", to="broker", mirrors=reset, spends="seeks", n=positions)
    def seek_during_read(n: int) -> Outcome:
        """The same while a read is under way, or without a ledger: it waits."""
        creating = If(cursor.state == "no_ledger", "creating", cursor.state)
        return begins, {**cursor.seek_begun(n), cursor.queued: "seek", cursor.state: creating}
