"""A durable subscription's cursor, as far as it decides what is trimmed and what the subscription gets.

In the store a cursor is a node that holds its mark-delete position, or names a ledger whose last entry does. Which of the two
it is makes no difference here: whoever opens the topic reads the position that was written last, and a zombie whose cursor
ledger is closed by that writes into the node, at whatever version, as long as it takes itself for the owner
(ManagedCursorImpl.persistPositionMetaStore). So a cursor is one place, and whoever has the topic may write it.
"""

from __future__ import annotations

from fencepost.model.language import And, Condition, If, Not, Number, Or, Outcome, Protocol, Truth, Updates, maximum
from fencepost.model.pulsar.topic.state import State


def _end(s: State, b: int, k: int) -> Number:
    """The place after the last entry of a ledger, as the broker knows it."""
    return k * s.capacity + s.known_entries[b, k]


class Cursors:
    """ManagedCursorImpl of one subscription: mark-delete in memory and in the store, and a consumer that acknowledges in
    order."""

    def __init__(self, p: Protocol, s: State) -> None:
        self.protocol, self.s = p, s

    def recovered(self, b: int) -> Updates:
        """ManagedLedgerImpl.initializeCursors: the cursor is read from the store; with lazyCursorRecovery later."""
        s = self.s
        if s.cursor is None:
            return {}
        lazy = bool(s.may.settings["lazy"])
        return {s.has_cursor[b]: not lazy, s.mark[b]: 0 if lazy else s.cursor}

    def missed(self, b: int) -> Updates:
        """The list of cursors comes from a cache that does not have it."""
        s = self.s
        return {s.has_cursor[b]: False, s.mark[b]: 0}

    def has_passed(self, b: int, k: int) -> Truth:
        """The formula: the durable cursors that the broker counts have passed the ledger's entries, and the store knows."""
        s = self.s
        after = _end(s, b, k)
        passed: list[Condition] = []
        if s.cursor is not None:
            stored = s.cursor >= after
            behind = And(s.mark[b] >= after, stored if s.trim_mark is None else Or(stored, s.trim_mark[b] >= after))
            counted = s.has_cursor[b]
            absent = self._overlooked()
            passed.append(And(counted, behind) if not absent else Or(Not(counted), behind))
        if s.snapshot is not None:
            passed.append(s.snapshot_at >= after)
        return And(*passed) if passed else True

    def moved(self, b: int) -> Updates:
        """ManagedLedgerImpl.maybeUpdateCursorBeforeTrimmingConsumedLedger, as the list has a new ledger: of a cursor at the end
        of one of the others trimming takes that for stored. As a topic is opened, it is."""
        s = self.s
        if s.trim_mark is None:
            return {}
        ends = [And(s.known[b].has(k), s.known_entries[b, k] > 0, s.mark[b] == _end(s, b, k)) for k in s.ledger]
        return {s.trim_mark[b]: If(And(s.has_cursor[b], Or(*ends)), s.mark[b], s.trim_mark[b])}

    def _overlooked(self) -> bool:
        """Whether trimming does not wait for a cursor that is not there."""
        return self.protocol.has("cursor_list_stale") or self.protocol.has("lazy_cursors_not_waited")

    def declare(self) -> None:
        """Declares the steps."""
        p, s = self.protocol, self.s
        if s.cursor is None:
            return
        places = [(k, e) for k in s.ledger for e in s.slots]

        def number(k: int, e: int) -> int:
            return k * s.capacity + e

        def is_readable(b: int, k: int, e: int) -> Condition:
            return And(s.known[b].has(k), e < s.length_of(k))

        @p.step(by="consumer", to="b", mirrors="ManagedCursorImpl.asyncMarkDelete", b=s.broker, k=s.ledger, e=s.slots)
        def consume(b: int, k: int, e: int) -> Outcome:
            """The subscription gets the next entry after its position, and acknowledges it: the position moves, in memory."""
            skipped = [And(s.mark[b] <= number(*x), is_readable(b, *x)) for x in places if x < (k, e)]
            reads = And(s.is_loaded(b), s.state[b] != "fenced", s.topic[b] != "closing")
            here = And(reads, s.has_cursor[b], s.mark[b] <= number(k, e), is_readable(b, k, e))
            after = number(k, e) + 1
            return And(here, Not(Or(*skipped))), {s.mark[b]: after, s.consumed: maximum(s.consumed, after)}

        @p.step(
            by="b",
            takes="journal",
            to="store",
            mirrors="ManagedCursorImpl.internalMarkDelete, ManagedCursorImpl.persistPositionToLedger, "
            "ManagedCursorImpl.persistPositionMetaStore",
            fair=True,
            b=s.broker,
        )
        def persist_position(b: int) -> Outcome:
            """The position is written, at once or when the rate allows it; one that was written later is overwritten.

            Closing the managed ledger closes its cursors; those of a fenced one are left open.
            """
            writes = And(Or(s.topic[b] != "closing", s.state[b] == "fenced"), s.shares(b))
            return And(s.is_loaded(b), writes, s.has_cursor[b], s.mark[b] != s.cursor), {s.cursor: s.mark[b]}

        @p.step(
            by="b",
            takes="metadata",
            hears="store",
            mirrors="ManagedLedgerImpl.initializeCursors, ManagedCursorImpl.recover",
            fair=True,
            b=s.broker,
            only_if=s.may.settings["lazy"],
        )
        def recover_cursor(b: int) -> Outcome:
            """With lazyCursorRecovery a cursor is recovered when the topic is served already."""
            return And(s.is_loaded(b), Not(s.has_cursor[b])), {s.has_cursor[b]: True, s.mark[b]: s.cursor}
