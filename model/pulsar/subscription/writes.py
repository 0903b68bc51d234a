"""What waits is given to be written as soon as it can be, and what is being written is stored and answered."""

from __future__ import annotations

from fencepost.model.language import And, If, Not, Number, Or, Outcome, maximum
from fencepost.model.pulsar.subscription.cursor import NONE, Cursor


def declare_writes(cursor: Cursor) -> None:
    """Declares the steps in which what waits is given to be written, and what is written is stored."""
    p = cursor.protocol
    in_group = p.has("reset_dropped") or p.has("reset_not_stored")
    is_flushed = cursor.state == "flushing"
    emptied = {cursor.state: "open", cursor.queued: "nothing", **cursor.joins_queue(0)}

    @p.step(by="broker", mirrors="ManagedCursorImpl.createNewMetadataLedger, ManagedCursorImpl.switchToNewLedger", fair=True)
    def create_ledger() -> Outcome:
        """A ledger of the cursor is created, begins with the position, and is named in the node."""
        ranges = cursor.kept(cursor.acked)
        written = {cursor.stored_mark: cursor.position_to_write(), cursor.stored_acked: ranges}
        promised = cursor.promised_with(cursor.mark, cursor.acked, ranges, cursor.promised)
        return cursor.state == "creating", {cursor.state: "flushing", cursor.promised: promised, **written}

    @p.step(by="broker", mirrors="ManagedCursorImpl.readOperationCompleted", fair=True)
    def end_read() -> Outcome:
        """The read is over for which acknowledgements or a seek wait."""
        return And(cursor.state == "open", cursor.queued != "nothing", cursor.has_room), {cursor.state: "flushing"}

    @p.step(by="broker", mirrors="ManagedCursorImpl.internalFlushPendingMarkDeletes", fair=True)
    def flush_acks() -> Outcome:
        """The last of the acknowledgements that wait is written, and stands for all of them."""
        place = cursor.position_of_queue()
        here = And(is_flushed, cursor.queued == "acks", Not(cursor.is_late(place)))
        return here, {**emptied, cursor.last: maximum(cursor.last, place), **cursor.begin("ack", place, cursor.acked)}

    @p.step(by="broker", mirrors="ManagedCursorImpl.internalMarkDelete", fair=True, only_if=cursor.in_progress is not None)
    def skip_acks() -> Outcome:
        """A later position is stored already: what waits is answered without a write."""
        here = And(is_flushed, cursor.queued == "acks", cursor.is_late(cursor.position_of_queue()))
        return here, {**emptied, **cursor.answers(cursor.mark, cursor.acked, cursor.asked)}

    @p.step(by="broker", mirrors="ManagedCursorImpl.internalFlushPendingMarkDeletes", fair=True, only_if=p.parameters["seeks"])
    def flush_seek() -> Outcome:
        """A seek that waits is written, whatever waits behind it."""
        which = cursor.queued == "seek" if in_group else cursor.queued.among("seek", "seek_and_acks")
        here = And(
            is_flushed, which, cursor.is_seeking, Not(And(in_group, cursor.is_late(cursor.place_of_seek(cursor.target))))
        )
        return here, emptied, cursor.seek_written(cursor.target, cursor.last)

    @p.step(by="broker", mirrors="ManagedCursorImpl.internalMarkDelete", fair=True, only_if=in_group)
    def skip_seek() -> Outcome:
        """An acknowledgement from before the seek is stored by now, at a later position: what waits is only answered."""
        place = If(cursor.queued == "seek", cursor.place_of_seek(cursor.target), cursor.position_of_queue())
        waits = cursor.queued.among("seek", "seek_and_acks")
        here = And(is_flushed, waits, cursor.is_seeking, cursor.is_late(place))
        done = {} if p.has("reset_dropped") else cursor.seek_done()
        return here, {**cursor.seek_answered(), **done, **emptied}

    @p.step(by="broker", mirrors="ManagedCursorImpl.internalFlushPendingMarkDeletes", fair=True, only_if=in_group)
    def flush_both() -> Outcome:
        """The last that waits is an acknowledgement: it is written, and the seek before it answered with it."""
        place = cursor.position_of_queue()
        here = And(is_flushed, cursor.queued == "seek_and_acks", cursor.is_seeking, Not(cursor.is_late(place)))
        return here, {**emptied, cursor.last: maximum(cursor.last, place), **cursor.begin("both", place, cursor.acked)}

    @p.step(by="broker", mirrors="ManagedCursorImpl.persistPositionToLedger, ManagedCursorImpl.internalMarkDelete", fair=True)
    def store() -> Outcome:
        """The first write under way is stored, and answered: an acknowledgement, or a seek, by which the memory changes."""
        kind, place, ranges = cursor.writing[0], cursor.place[0], cursor.ranges[0]
        seeks = Or(kind == "seek", And(kind == "both", p.has("reset_not_stored")))
        persisted: Number = place
        if p.has("skipped_after_reset"):
            persisted = If(kind == "seek", cursor.persisted, place)
        changes: dict[object, object] = {
            cursor.stored_mark: place,
            cursor.stored_acked: cursor.kept(ranges),
            cursor.persisted: persisted,
            cursor.writing[0]: cursor.writing[1],
            cursor.place[0]: cursor.place[1],
            cursor.ranges[0]: cursor.ranges[1],
            cursor.writing[1]: "nothing",
            cursor.place[1]: 0,
            cursor.ranges[1]: (),
        }
        if cursor.in_progress is not None:
            changes[cursor.in_progress] = If(cursor.in_progress == place, NONE, cursor.in_progress)
        if p.parameters["cuts_ranges"]:
            changes[cursor.acked] = cursor.acked & ~cursor.before(place)
        by_ack = cursor.answers(place, ranges, cursor.asked | cursor.meanwhile)
        by_seek = cursor.seek_answered()
        for variable in (cursor.target, cursor.asked, cursor.meanwhile, cursor.answered, cursor.promised):
            otherwise = by_ack.get(variable, variable)
            changes[variable] = If(kind == "ack", otherwise, by_seek[variable])
        for variable, value in cursor.seek_done().items():
            changes[variable] = If(seeks, value, changes.get(variable, variable))
        # an answer to a seek empties the queue, whatever was written
        for variable, value in {cursor.queued: "nothing", **cursor.joins_queue(0)}.items():
            changes[variable] = If(kind == "ack", variable, value)
        return And(cursor.is_in_use, kind != "nothing", Or(kind == "ack", cursor.is_seeking)), changes
