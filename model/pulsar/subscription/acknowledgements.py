"""Acknowledgements: they change the memory, and are written at once, wait, or are answered before they are written."""

from __future__ import annotations

from fencepost.model.language import (
    And,
    Condition,
    If,
    Implies,
    Not,
    Number,
    Or,
    Outcome,
    Subset,
    Truth,
    Updates,
    maximum,
)
from fencepost.model.pulsar.subscription.cursor import Cursor


def declare_acknowledgements(cursor: Cursor) -> None:
    """Declares the steps of consumers, and those of the timer."""
    p = cursor.protocol
    refused = cursor.is_seeking if not p.has("acked_during_reset") else False

    delete = "ManagedCursorImpl.asyncDelete, ManagedCursorImpl.internalAsyncMarkDelete"
    up_to = "ManagedCursorImpl.asyncMarkDelete, ManagedCursorImpl.internalAsyncMarkDelete"

    def noted(m: int) -> Updates:
        new = {cursor.asked: If(cursor.is_seeking, cursor.asked, cursor.asked.plus(m))}
        return {**new, cursor.meanwhile: If(cursor.is_seeking, cursor.meanwhile.plus(m), cursor.meanwhile)}

    def acknowledged(m: int) -> tuple[Number, Subset]:
        return cursor.advanced(cursor.mark, cursor.acked.plus(m))

    def is_open(m: int) -> Condition:
        """The formula: the message can be acknowledged, one by one."""
        return And(cursor.is_in_use, Not(refused), cursor.mark <= m, Not(cursor.acked.has(m)))

    def is_flushed() -> Condition:
        """The formula: the timer finds something, which asyncMarkDelete takes. It refuses a position before the memory's."""
        here = And(cursor.is_in_use, Not(cursor.is_seeking), cursor.last == cursor.mark)
        return And(here, Not(cursor.answered == cursor.promised))

    def waiting(mark: Number) -> Updates:
        """An acknowledgement joins the queue with this position."""
        behind_seek = cursor.queued.among("seek", "seek_and_acks")
        return {cursor.queued: If(behind_seek, "seek_and_acks", "acks"), **cursor.joins_queue(mark)}

    def sent(mark: Number, acked: Subset, guard: Truth) -> tuple[Condition, Updates]:
        """It is written at once, or waits for the cursor's ledger."""
        direct = And(cursor.state == "open", cursor.queued == "nothing")
        begun = cursor.begin("ack", mark, acked)
        written = {variable: If(direct, value, variable) for variable, value in begun.items()}
        # an entry is given to be written as it leaves the queue
        last = If(direct, maximum(cursor.last, mark), cursor.last)
        queue = {
            cursor.state: If(cursor.state == "no_ledger", "creating", cursor.state),
            **{variable: If(direct, variable, value) for variable, value in waiting(mark).items()},
        }
        here = And(guard, Implies(direct, And(cursor.has_room, Not(cursor.is_late(mark)))), Or(direct, cursor.state != "open"))
        return here, {cursor.mark: mark, cursor.acked: acked, cursor.last: last, **queue, **written}

    @p.step(by="consumer", to="broker", mirrors=delete, m=cursor.message)
    def acknowledge(m: int) -> Outcome:
        """One message is acknowledged: a range in memory, and if it joins the position, that moves."""
        return *sent(*acknowledged(m), is_open(m)), noted(m)

    @p.step(by="consumer", to="broker", mirrors=delete, m=cursor.message)
    def acknowledge_during_read(m: int) -> Outcome:
        """The same while a read is under way (PENDING_READ_OPS_UPDATER): it waits until that is over."""
        mark, acked = acknowledged(m)
        return And(is_open(m), cursor.state == "open"), {cursor.mark: mark, cursor.acked: acked, **waiting(mark)}, noted(m)

    @p.step(
        by="consumer",
        to="broker",
        mirrors="ManagedCursorImpl.internalMarkDelete",
        m=cursor.message,
        only_if=cursor.in_progress is not None,
    )
    def skip(m: int) -> Outcome:
        """A later position is stored already: the acknowledgement is answered without a write."""
        mark, acked = acknowledged(m)
        direct = And(cursor.state == "open", cursor.queued == "nothing", cursor.is_late(mark))
        done = cursor.answers(mark, acked, cursor.asked.plus(m))
        return And(is_open(m), direct), {cursor.mark: mark, cursor.acked: acked, **done}, noted(m)

    @p.step(by="consumer", to="broker", mirrors=up_to, m=cursor.message)
    def acknowledge_up_to(m: int) -> Outcome:
        """Everything up to a message is acknowledged. While a seek is under way that is refused."""
        mark, acked = cursor.advanced(If(cursor.mark > m, cursor.mark, m + 1), cursor.acked & ~cursor.before(m + 1))
        guard = And(cursor.is_in_use, Not(cursor.is_seeking), cursor.mark <= m)
        return *sent(mark, acked, guard), {cursor.asked: cursor.asked | cursor.before(m + 1)}

    @p.step(
        by="consumer", to="broker", mirrors="ManagedCursorImpl.asyncDelete", m=cursor.message, only_if=p.parameters["limited"]
    )
    def acknowledge_at_rest(m: int) -> Outcome:
        """The rate of writes is reached (markDeleteLimiter): the acknowledgement is answered, and written later."""
        mark, acked = acknowledged(m)
        known = {cursor.mark: mark, cursor.acked: acked, cursor.last: maximum(cursor.last, mark)}
        return is_open(m), {**known, cursor.answered: cursor.answered.plus(m)}, noted(m)

    @p.step(by="broker", mirrors="ManagedCursorImpl.flush", only_if=p.parameters["limited"])
    def flush_at_rest() -> Outcome:
        """The timer writes what was answered before (managedLedgerCursorPositionFlushSeconds)."""
        return sent(cursor.mark, cursor.acked, is_flushed())

    @p.step(by="broker", mirrors="ManagedCursorImpl.flush", only_if=p.parameters["limited"])
    def flush_during_read() -> Outcome:
        """The same while a read is under way: it waits until that is over."""
        return And(is_flushed(), cursor.state == "open"), waiting(cursor.mark)
