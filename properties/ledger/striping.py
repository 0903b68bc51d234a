"""Every copy of an entry is written to the place where it will be read: up to which entry Java's arithmetic keeps this.

Place and copy count from 0. All three ways to compute a place are functions of entry + copy alone, so what is proved of
every sum below a bound is proved of every copy of every entry whose last copy's sum is below it.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.model.bookkeeper.striping import place_of_int, place_read, place_written, right_place
from fencepost.model.java_numbers import int_of
from fencepost.model.language import And, Condition, Implies, Not, Number, Or
from fencepost.model.terms.asking import Asking
from fencepost.model.terms.nodes import constant
from fencepost.model.terms.sorts import INT

INT_RANGE = 2**31
CAST_PERIOD = 2**32
LARGEST_ENSEMBLE = 2**16
LAST = 2**63 - 1
EFFORT = 50_000_000
"""What Z3 may spend on one proof, in its own units."""

TOTAL = constant("total", INT)
"""Any entry + copy."""


class Unproved(Exception):
    """The solver gave up on a proof, or refuted what does hold of the arithmetic that is mirrored here."""


@dataclass(frozen=True)
class Misplacement:
    """An entry whose copies go to other places than it is read from: those written to and the right ones, copy by copy."""

    entry: int
    written: tuple[int, ...]
    right: tuple[int, ...]

    def __str__(self) -> str:
        return f"entry {self.entry}: written to places {_listed(self.written)}, read from {_listed(self.right)}"


@dataclass(frozen=True)
class Placement:
    """What was proved for one ensemble size and write quorum.

    Every entry below ``first.entry`` (every entry at all if ``first`` is None) is written to distinct places within the
    ensemble, in round-robin order, and read from there; ``first`` is the first that is not. Where a place does not exist the
    add fails; ``silent`` is an entry whose copies all go to places that exist, so that no error says so, or None if it is
    proved that there is none.
    """

    ensemble: int
    write_quorum: int
    first: Misplacement | None
    silent: Misplacement | None

    def __str__(self) -> str:
        head = f"striping with ensemble {self.ensemble}, write quorum {self.write_quorum}: "
        if self.first is None:
            return head + "proved that every entry is written where it is read"
        tail = f"; silently, {self.silent}" if self.silent else "; never silently: adds fail there"
        return head + f"proved up to entry {self.first.entry - 1}; {self.first}{tail}"


def check(ensemble: int, write_quorum: int) -> Placement:
    """Proves up to which entry each copy is written where it is read, and shows the first entry for which it is not.

    Raises ValueError unless 1 <= write_quorum <= ensemble <= 65536, and Unproved if the solver does not finish.
    """
    if not 1 <= write_quorum <= ensemble <= LARGEST_ENSEMBLE:
        raise ValueError(f"1 <= write quorum ({write_quorum}) <= ensemble ({ensemble}) <= {LARGEST_ENSEMBLE} does not hold")
    _prove_round_robin(ensemble, write_quorum)
    _prove(place_read(TOTAL, ensemble) == right_place(TOTAL, ensemble))
    _prove(Implies(TOTAL < INT_RANGE, place_written(TOTAL, ensemble) == right_place(TOTAL, ensemble)))
    wrong = next((s for s in range(INT_RANGE, INT_RANGE + ensemble + 1) if _misplaced(s, 1, ensemble)), None)
    if wrong is None:
        _prove(place_written(TOTAL, ensemble) == right_place(TOTAL, ensemble))
        return Placement(ensemble, write_quorum, None, None)
    first = _misplaced(wrong - write_quorum + 1, write_quorum, ensemble)
    if first is None:
        raise Unproved(f"entry {wrong - write_quorum + 1} is misplaced and is not")
    return Placement(ensemble, write_quorum, first, _silent(first.entry, ensemble, write_quorum))


def _silent(start: int, ensemble: int, write_quorum: int) -> Misplacement | None:
    for entry in (*range(start, start + 2 * ensemble), CAST_PERIOD):
        misplacement = _misplaced(entry, write_quorum, ensemble)
        if misplacement and all(0 <= place < ensemble for place in misplacement.written):
            return misplacement
    if write_quorum == ensemble:  # places that follow each other round the ensemble are all of it, wherever they begin
        _prove_in_turn(ensemble)
    else:
        place = place_written(TOTAL, ensemble)
        _prove(Or(place < 0, place == right_place(TOTAL, ensemble)))
    return None


def _prove_in_turn(ensemble: int) -> None:
    """Of two totals that follow each other so do the places, unless one is negative; as an int the second may begin anew."""
    one, other, least = int_of(TOTAL), int_of(TOTAL + 1), -INT_RANGE
    _prove(Or(other == one + 1, And(one == INT_RANGE - 1, other == least)))

    def in_turn(place: Number | int, following: Number | int) -> Condition:
        return Or(place < 0, following < 0, following == place + 1, And(place == ensemble - 1, following == 0))

    ends = place_of_int(INT_RANGE - 1, ensemble), place_of_int(least, ensemble)
    _prove(in_turn(*ends))
    some = place_of_int(TOTAL + least, ensemble), place_of_int(TOTAL + least + 1, ensemble)
    _prove(Implies(TOTAL < CAST_PERIOD - 1, in_turn(*some)))


def _misplaced(entry: int, write_quorum: int, ensemble: int) -> Misplacement | None:
    totals = range(entry, entry + write_quorum)
    written = tuple(place_written(total, ensemble) for total in totals)
    right = tuple(right_place(total, ensemble) for total in totals)
    return Misplacement(entry, written, right) if set(written) != set(right) else None


def _prove_round_robin(ensemble: int, write_quorum: int) -> None:
    """The right places are places of the ensemble, and distinct. Only what is left of an entry modulo the ensemble matters."""
    inside = ensemble > TOTAL
    places = [right_place(TOTAL + copy, ensemble) for copy in range(write_quorum)]
    for place in places[1:]:
        _prove(Implies(inside, And(places[0] != place, place >= 0, place < ensemble)))


def _prove(statement: Condition) -> None:
    """Proves it of all longs that are not negative."""
    if not Asking([TOTAL >= 0, TOTAL <= LAST], effort=EFFORT).excludes(Not(statement)):
        raise Unproved(f"not proved: {statement}")


def _listed(places: tuple[int, ...]) -> str:
    return ", ".join(str(place) for place in places)
