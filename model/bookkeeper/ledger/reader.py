"""What a client does that follows the tail of a ledger without recovering it.

Mirrors LedgerHandle.asyncReadLastConfirmed, asyncReadEntries and PendingReadOp of bookkeeper-server.
"""

from __future__ import annotations

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import And, Not, Or, Outcome, Protocol, any_of


def declare_readers(p: Protocol, s: LedgerState) -> None:
    """Declares the step of readers."""
    bookie, up, status, read_to = s.bookie, s.up, s.status, s.read_to

    @p.step(
        by="l",
        takes="never",
        l=s.reader,
        e=s.entry,
        mirrors="LedgerHandle.asyncReadLastConfirmed, LedgerHandle.asyncReadEntries, ReadLastConfirmedOp.initiate, "
        "TryReadLastConfirmedOp.readEntryComplete, PendingReadOp.initiate",
    )
    def read_tail(l: int, e: int) -> Outcome:  # noqa: E741
        """A reader that polls bookies for the last add confirmed, or knows the ledger's end, reads up to entry e.

        What lies beyond both it leaves alone: an entry that is merely stored may turn out not to be in the ledger.
        """
        hears_of_it = Or(
            And(status == "closed", e <= s.last),
            any_of(And(up[b], Or(e <= s.bookie_lac[b], e <= s.explicit_lac[b])) for b in bookie),
        )
        gets_it = any_of(And(up[b], s.stored[b].has(e), Not(s.rotten[b].has(e)), s.published.holds(b, e)) for b in bookie)
        return And(read_to[l] < e, status != "deleted", hears_of_it, gets_it), {read_to[l]: e}
