"""Striping: what is proved agrees with Java's arithmetic computed by hand, on both sides of each bound."""

import pytest

from fencepost.model.bookkeeper.striping import place_read, place_written
from fencepost.model.terms.asking import Asking
from fencepost.properties.ledger import striping
from fencepost.properties.ledger.striping import TOTAL, check
from tests.marking import first_at_once


def to_int(value: int) -> int:
    """A long cast to int, as Java does it."""
    return (value + 2**31) % 2**32 - 2**31


def remainder(value: int, by: int) -> int:
    """Java's %, whose sign is that of the value."""
    return value % by if value >= 0 else -(-value % by)


def written(entry: int, ensemble: int, write_quorum: int) -> list[int]:
    return [remainder(to_int(entry + copy), ensemble) for copy in range(write_quorum)]


def read(entry: int, ensemble: int, write_quorum: int) -> list[int]:
    return [(entry + copy) % ensemble for copy in range(write_quorum)]


@pytest.mark.parametrize("total", [0, 5, 2**31 - 1, 2**31, 2**31 + 2, 2**32 - 1, 2**32, 2**33 + 7, 2**63 - 1])
@pytest.mark.parametrize("ensemble", [1, 2, 3, 5, 8])
def test_terms_compute_as_java_does(total: int, ensemble: int) -> None:
    asking = Asking([total == TOTAL])
    for place, expected in ((place_written, written), (place_read, read)):
        (right,) = expected(total, ensemble, 1)
        assert place(total, ensemble) == right
        assert asking.excludes(place(TOTAL, ensemble) != right)
        assert asking.answer() == "sat"


@pytest.mark.parametrize(
    ("ensemble", "write_quorum", "first"),
    [
        (2, 1, 2**31 + 1),
        (2, 2, 2**31),
        (3, 1, 2**31),
        (3, 2, 2**31 - 1),
        (3, 3, 2**31 - 2),
        (4, 3, 2**31 - 1),
        (5, 3, 2**31 - 2),
        pytest.param(7, 7, 2**31 - 6, marks=pytest.mark.long),
    ],
)
def test_first_misplaced_entry(ensemble: int, write_quorum: int, first: int) -> None:
    misplacement = check(ensemble, write_quorum).first
    assert misplacement is not None
    assert misplacement.entry == first
    assert list(misplacement.written) == written(first, ensemble, write_quorum)
    assert list(misplacement.right) == read(first, ensemble, write_quorum)
    assert min(misplacement.written) < 0
    for entry in range(first - 50, first):
        assert written(entry, ensemble, write_quorum) == read(entry, ensemble, write_quorum)


@pytest.mark.parametrize(("ensemble", "write_quorum", "entry"), [(3, 1, 2**31 + 2), (3, 2, 2**32), (10, 5, 2**32)])
def test_silently_misplaced_entry(ensemble: int, write_quorum: int, entry: int) -> None:
    silent = check(ensemble, write_quorum).silent
    assert silent is not None
    assert silent.entry == entry
    assert list(silent.written) == written(entry, ensemble, write_quorum)
    assert set(silent.written) <= set(range(ensemble))
    assert set(silent.written) != set(read(entry, ensemble, write_quorum))


@pytest.mark.parametrize(("ensemble", "write_quorum"), first_at_once([(2, 1), (2, 2), (4, 3), (3, 3)], 2))
def test_never_silent(ensemble: int, write_quorum: int) -> None:
    assert check(ensemble, write_quorum).silent is None


def test_one_bookie_is_always_right() -> None:
    placement = check(1, 1)
    assert placement.first is None
    assert "every entry" in str(placement)


def test_says_where_the_copies_go() -> None:
    assert str(check(3, 2)) == (
        "striping with ensemble 3, write quorum 2: proved up to entry 2147483646; entry 2147483647: written to places"
        " 1, -2, read from 1, 2; silently, entry 4294967296: written to places 0, 1, read from 1, 2"
    )


@pytest.mark.parametrize(("ensemble", "write_quorum"), [(2, 3), (3, 0), (0, 0), (2**16 + 1, 2)])
def test_refuses_sizes_that_make_no_ensemble(ensemble: int, write_quorum: int) -> None:
    with pytest.raises(ValueError, match="does not hold"):
        check(ensemble, write_quorum)


def test_a_wrong_reading_place_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(striping, "place_read", place_written)
    with pytest.raises(striping.Unproved):
        check(3, 2)
