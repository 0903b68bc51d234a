"""The ledger's length: what a recovery takes for it, and how it comes to close with another.

Mirrors RecoveryData, ReadLastConfirmedOp.readEntryComplete and LedgerRecoveryOp of bookkeeper-server. Every entry carries the
ledger's length up to and with itself. Lengths are counted in entries here, so that the length up to entry e is e + 1: as long
as no entry is empty, lengths in bytes are equal exactly where these are.

A recovery has the right length as soon as it has found an entry. Before that it has the one that it took over, and closes with
it if it finds none. Without the bugs that is the length up to its last add confirmed, and no variable is needed for it.
"""

from __future__ import annotations

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import Condition, Conditional, If, Number, Protocol, Updates

BUGS = ("length_of_the_last_entry", "length_not_raised")


class Lengths:
    """The lengths that recoveries have, as updates for their steps."""

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        self._s = s
        self._taken = p.number("recovery_length", 0, s.entries, per=s.recoverer) if any(map(p.has, BUGS)) else None

        @p.rule
        def told_by(b: int) -> Number:
            """The length up to the last add confirmed that a bookie tells."""
            return s.bookie_lac[b] + 1

        @p.rule
        def raised(r: int, length: Number, lac: Number | int) -> Number:
            """A last add confirmed that is raised to the end of the ensembles before the last brings its length along."""
            return If(lac > s.recovery_lac[r], lac + 1, length)

        told_by.instead("length_of_the_last_entry", self._of_last_entry)
        raised.instead("length_not_raised", lambda r, length, lac: length)
        self._told_by, self._raised = told_by, raised

    def _of_last_entry(self, b: int) -> int | Conditional:
        """The length that the entry carries which told the last add confirmed: that of the bookie's last entry."""
        stored = self._s.stored[b]
        length: int | Conditional = 0
        for e in self._s.entry:
            length = If(stored.has(e), e + 1, length)
        return length

    def none(self, r: int) -> Updates:
        """The updates: the recovery has no length."""
        return {} if self._taken is None else {self._taken[r]: 0}

    def after_lac(self, r: int, b: int, is_higher: Condition) -> Updates:
        """The updates: a bookie has told its last add confirmed, which counts if it is higher than those before."""
        return {} if self._taken is None else {self._taken[r]: If(is_higher, self._told_by(b), self._taken[r])}

    def after_raise(self, r: int, lac: Number | int) -> Updates:
        """The updates: the recovery begins to read with this last add confirmed."""
        return {} if self._taken is None else {self._taken[r]: self._raised(r, self._taken[r], lac)}

    def after_entry(self, r: int) -> Updates:
        """The updates: the recovery has found the next entry, which carries the length."""
        return {} if self._taken is None else {self._taken[r]: self._s.recovered_next(r) + 1}

    def at_end(self, r: int) -> Number:
        """The length with which the recovery closes the ledger."""
        return self._s.recovery_lac[r] + 1 if self._taken is None else self._taken[r]
