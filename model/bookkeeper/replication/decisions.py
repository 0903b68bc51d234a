"""What auto-recovery decides about a ledger with several fragments: which are bad, at which places, and who replaces whom.

Mirrors LedgerFragment, LedgerChecker.checkLedger, BookKeeperAdmin.getReplacementBookiesByIndexes and
LedgerFragmentReplicator.updateEnsembleInfo of bookkeeper-server 4.17.3 and 4.18.0, with their defaults: the checker reads the
first and the last entry of a place, and looks at no digest. The protocol has one fragment whose ensemble is its write quorum;
there the two agree. An entry is a number; places count from 0 in an ensemble, which is a list of bookies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Metadata:
    """What the checker knows of a ledger: its ensembles by their first entry, and the last entry that is confirmed or, if it is
    closed, its last one; -1 if there is none."""

    ensembles: Mapping[int, Sequence[str]]
    write_quorum: int
    last: int
    closed: bool = True


@dataclass(frozen=True)
class Fragment:
    """A part of a ledger that one ensemble has. A fragment without entries ends before it begins."""

    first: int
    last: int
    ensemble: Sequence[str]
    closed: bool

    def entries_at(self, place: int, write_quorum: int) -> list[int]:
        """The entries of a place: RoundRobinDistributionSchedule.hasEntry."""
        size = len(self.ensemble)
        return [entry for entry in range(self.first, self.last + 1) if (place - entry) % size < write_quorum]


def fragments(ledger: Metadata) -> list[Fragment]:
    """The fragments of a ledger. Of an open one, the last has at least its first entry, which may have been written.

    A fragment is closed if the ledger is, or if its bookies are not those of the last ensemble, and everything before that
    ensemble is confirmed.
    """
    firsts = sorted(ledger.ensembles)
    newest = firsts[-1]
    ends = [first - 1 for first in firsts[1:]] + [ledger.last if ledger.closed else max(ledger.last, newest)]
    settled = ledger.last >= newest - 1

    def is_closed(first: int) -> bool:
        return ledger.closed or (list(ledger.ensembles[first]) != list(ledger.ensembles[newest]) and settled)

    return [Fragment(first, end, ledger.ensembles[first], is_closed(first)) for first, end in zip(firsts, ends, strict=True)]


def bad_places(fragment: Fragment, write_quorum: int, up: Collection[str], has: Callable[[str, int], bool]) -> list[int]:
    """The places of a fragment whose bookie is not ``up``, or does not have the first or the last entry that it should have."""

    def is_bad(place: int) -> bool:
        bookie, entries = fragment.ensemble[place], fragment.entries_at(place, write_quorum)
        return bookie not in up or not all(has(bookie, entry) for entry in (*entries[:1], *entries[-1:]))

    return [place for place in range(len(fragment.ensemble)) if is_bad(place)]


def under_replicated(
    ledger: Metadata, up: Collection[str], has: Callable[[str, int], bool]
) -> Iterator[tuple[Fragment, list[int]]]:
    """The fragments with bad places, and these. A last fragment of one entry is left out if its whole write set denies that
    entry, in a closed ledger too."""
    every = fragments(ledger)
    for fragment in every:
        if fragment is every[-1] and fragment.first == fragment.last:
            asked = [b for place, b in enumerate(fragment.ensemble) if fragment.entries_at(place, ledger.write_quorum)]
            if all(bookie in up and not has(bookie, fragment.first) for bookie in asked):
                continue
        if places := bad_places(fragment, ledger.write_quorum, up, has):
            yield fragment, places


def candidates(ensemble: Collection[str], chosen: Collection[str], up: Collection[str]) -> list[str]:
    """The bookies that may replace one of an ensemble, as it was checked: those that are up, not in it, and not chosen yet."""
    return [bookie for bookie in up if bookie not in ensemble and bookie not in chosen]


def replaced(ensemble: Sequence[str], moves: Mapping[str, str]) -> list[str]:
    """An ensemble after the compare-and-set: each old bookie that is still there has become its new one, wherever that is."""
    return [moves.get(bookie, bookie) for bookie in ensemble]
