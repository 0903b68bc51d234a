"""What a check of the ledger finds: which places of its ensemble are bad."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.language import And, Condition, Implies, Not, Or, all_of


class Checker:
    """What LedgerChecker.checkLedger says, of a worker's check and of the auditor's."""

    def __init__(self, s: State) -> None:
        self._s = s
        p = s.protocol

        @p.rule
        def is_read(e: int) -> bool:
            """The checker reads the entry, of each place."""
            return True

        @p.rule
        def passes(b: int, e: int) -> Condition:
            """The checker takes the bookie's answer for the entry."""
            return s.has_good(b, e)

        is_read.instead("checker_reads_ends_only", lambda e: e in (0, s.entry.size - 1))
        passes.instead("checker_ignores_digest", lambda b, e: s.stored[b].has(e))
        self._is_read, self._passes = is_read, passes

    def is_bad(self, b: int) -> Condition:
        """The metadata name the bookie, and it is not registered, or does not answer for an entry that it should have."""
        s = self._s
        answers = all_of(Implies(And(self._is_read(e), s.confirmed.has(e)), self._passes(b, e)) for e in s.entry)
        return And(s.named(b), Or(Not(And(s.registered(b), s.reached(b))), Not(answers)))

    def finds_nothing(self) -> Condition:
        """No place is bad."""
        return all_of(Not(self.is_bad(b)) for b in self._s.bookie)
