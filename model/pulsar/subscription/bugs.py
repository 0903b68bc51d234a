"""The bugs of a subscription's cursor, and what behaves otherwise from release to release."""

from __future__ import annotations

from fencepost.model.releases import both, changed

BUGS = {
    "position_behind_ranges": "a position is stored without the ranges that a later one, which waits, has taken in",
    "queued_position_kept": "an acknowledgement that waits is written with its old position, and without the ranges behind it",
    "reset_stores_ranges": "a seek is stored with the ranges from before it, which are forgotten in memory only",
    "acked_during_reset": "an acknowledgement of a message is not refused while a seek is under way, and replaces it",
    "reset_dropped": "pulsar#26304: a seek that waits is answered with an acknowledgement beside it, and not done",
    "reset_not_stored": "pulsar#26304: a seek that waits is answered with an acknowledgement beside it, and not stored",
    "skipped_after_reset": "after a seek a position from before it counts as stored: acknowledgements are not written",
    "reset_stores_read_position": "pulsar#18236: a seek is stored as if its first message were acknowledged",
    "limit_counts_entries": "long arrays are limited by acknowledged entries: ledgers are left out, however few the ranges",
}
"""Each bug in one line, with its number upstream if it has one."""

RELEASES = both(
    changed("one_above", since="5.0.0-M1", before=True, after=False),
    changed("counts_own", since="5.0.1", before=False, after=True),
    changed("sets_last", since="4.2.4", before=True, after=False),
    changed("cuts_ranges", since="4.2.4", before=True, after=False),
)
"""What behaves otherwise from release to release: whether ManagedCursorImpl.buildIndividualDeletedMessageRanges keeps one range
above the limit; whether a ledger counts against the limit of long arrays itself (PositionRangeSet.toRanges), with ranges where
nothing is left (ManagedCursorImpl.serializePositionInfo); whether ManagedCursorImpl.internalResetCursor sets
lastMarkDeleteEntry before the seek is given to be written; and whether ManagedCursorImpl.internalMarkDelete takes the ranges
before each position that is stored out of the memory (individualDeletedMessages.removeAtMost)."""
