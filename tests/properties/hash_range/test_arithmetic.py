"""The theorems about the hash range: all are proved, each falls to a bug or a mutant, and what is shown then is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.engines.theorems import decide, vacuous
from fencepost.model.java_numbers import choose, quotient
from fencepost.model.pulsar.hash_range import BUGS, HashRange, Layout
from fencepost.properties.hash_range import arithmetic as hash_range
from fencepost.properties.hash_range.arithmetic import THEORY, theorems
from fencepost.properties.theorems import Theorem
from tests.marking import first_at_once

NAMES = [theorem.name for theorem in theorems()]

CAUGHT = {
    "lookup_hits_last_boundary": {
        "every_hash_is_looked_up_in_its_bundle": "hash 0xffffffff is in 0x00000000_0xffffffff and is looked up outside the"
        " layout",
    },
    "last_bundle_half_open": {
        "every_hash_is_in_a_bundle": "hash 0xffffffff is in no bundle and is looked up in 0x00000000_0xffffffff",
        "every_hash_is_looked_up_in_its_bundle": "hash 0xffffffff is in no bundle and is looked up in 0x00000000_0xffffffff",
    },
    "every_bundle_closed": {
        "no_hash_is_in_two_bundles": "hash 0x00000001 is in 0x00000000_0x00000001 and 0x00000001_0xffffffff and is looked up in"
        " 0x00000001_0xffffffff",
    },
    "last_boundary_too_high": {"new_namespaces_are_well_formed": "of 1 bundles, bundle 0 is 0x00000000_0x100000000"},
    "splits_any_bundle": {"range_equally_divide_cuts_inside": "bundle 0x00000000_0x00000001 is cut at 0x00000000"},
    "boundaries_unchecked": {
        "splits_at_rising_boundaries_are_accepted": "the split of 0x00000000_0xffffffff at 0x00000000 is refused: bundle"
        " 0x00000000_0x00000000: each must hold some hash, and the last, and no other, end at 0xffffffff",
    },
    "empty_bundles_allowed": {
        "splits_keep_layouts_well_formed": "the split of 0x00000000_0xffffffff at 0x00000001, 0x00000001 makes"
        " 0x00000001_0x00000001",
    },
    "edges_kept": {"specified_positions_divide_cuts_inside": "bundle 0x00000000_0x00000001 is cut at 0x00000000"},
    "midpoint_in_ints": {
        "range_equally_divide_cuts_inside": "bundle 0x00000000_0x80000000 is cut at -0x40000000",
        "topic_count_equally_divide_cuts_inside": "bundle 0x00000000_0x40000001 is cut between topics 0x40000000, 0x40000000 at"
        " -0x40000000",
        "flow_or_qps_equally_divide_cuts_inside": "bundle 0x00000000_0x40000002 is cut between topics 0x3fffffff, 0x40000001 at"
        " -0x3fffffff",
        "flow_or_qps_equally_divide_separates_topics": "between topics 0x00000000, 0x80000000, 0x80000000, 0x80000000 it cuts"
        " at -0x3fffffff, 0x00000001",
    },
}
"""What each bug violates, with the smallest refutation."""


def theorem(name: str, last: int = 0xFFFFFFFF) -> Theorem:
    return next(t for t in theorems(last=last) if t.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_proved_over_all_hashes_by_both_solvers(name: str) -> None:
    verdict = decide(theorem(name), second_solver=True)
    assert verdict.verdict == "proved"
    assert verdict.reach["obligations"] == verdict.reach["confirmed"] == len(theorem(name).steps)


@pytest.mark.parametrize("bug", first_at_once([None, *BUGS]))
def test_nothing_is_proved_of_nothing(bug: str | None) -> None:
    assert [step.name for t in theorems(frozenset({bug} - {None})) for step in vacuous(t)] == []


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_caught_with_the_smallest_refutation(bug: str) -> None:
    verdicts = [decide(t) for t in theorems(frozenset({bug}))]
    assert {v.property.name: v.note for v in verdicts if v.verdict == "violated"} == CAUGHT[bug]
    assert {v.verdict for v in verdicts} == {"proved", "violated"}


@pytest.mark.parametrize("last", [15, 0xFFFF, 2**63 - 2])
def test_the_theorems_do_not_depend_on_how_many_hashes_there_are(last: int) -> None:
    """New namespaces do: with few hashes they have fewer bundles than an int can count."""
    assert {decide(t).verdict for t in theorems(last=last) if t.name != "new_namespaces_are_well_formed"} == {"proved"}


@pytest.mark.long
def test_with_64_bits_a_long_would_overflow() -> None:
    verdicts = {t.name: decide(t) for t in theorems(last=2**64 - 1)}
    assert verdicts["range_equally_divide_cuts_inside"].verdict == "violated"
    assert verdicts["topic_count_equally_divide_cuts_inside"].verdict == "violated"
    assert verdicts["flow_or_qps_equally_divide_cuts_inside"].verdict == "violated"


# --- mutants, one for each way in which a step could prove too little


def segments_rounded_up(self: HashRange, count: Any, index: Any) -> Any:
    return choose(index < count, lambda: index * quotient(self.last + count, count), lambda: self.last)


def parts_rounded_up(self: HashRange, lower: Any, upper: Any, parts: Any, index: Any) -> Any:
    return lower + index * quotient(upper - lower + parts - 1, parts)


def one_bundle_too_far(self: HashRange, boundary: Any, place: Any, inserted: Any, more: Any, index: Any) -> Any:
    return HashRange.spliced(self, boundary, place + 1, inserted, more, index)


def search_skips(self: HashRange, boundary: Any, low: Any, high: Any, hash: Any) -> Any:
    middle, hit, further, nearer = HashRange.narrowed(self, boundary, low, high, hash)
    return middle, hit, choose(boundary(middle) < hash, lambda: middle + 2, lambda: further), nearer


def search_stands_still(self: HashRange, boundary: Any, low: Any, high: Any, hash: Any) -> Any:
    middle, hit, _, nearer = HashRange.narrowed(self, boundary, low, high, hash)
    return middle, hit, low, nearer


def found_at_the_bundle_before(self: HashRange, is_hit: Any, at: Any, count: Any) -> Any:
    return at - 1


def no_place_for_the_last_boundary(self: HashRange, lower: Any, upper: Any, first: Any, final: Any) -> Any:
    return (lower < first) & (final <= upper)


def behind_by_nothing(self: HashRange, lower: Any, upper: Any) -> Any:
    return self.midpoint(lower, upper)


MUTANTS: list[tuple[str, Callable[..., Any], str, str]] = [
    ("equal", segments_rounded_up, "new_namespaces_are_well_formed", "of 65537 bundles, bundle 65536 is 0x100000000_"),
    ("part", parts_rounded_up, "even_parts_are_cut_inside", "is cut at"),
    ("spliced", one_bundle_too_far, "splits_leave_other_bundles_alone", ""),
    ("narrowed", search_skips, "every_hash_is_looked_up_in_its_bundle", "the proof fails at: it goes on between"),
    ("narrowed", search_stands_still, "every_hash_is_looked_up_in_its_bundle", "the proof fails at: it comes to an end"),
    ("place", found_at_the_bundle_before, "every_hash_is_looked_up_in_its_bundle", "hash 0x00000000 is in "),
    ("admits", no_place_for_the_last_boundary, "splits_at_rising_boundaries_are_accepted", "is refused"),
    ("behind_midpoint", behind_by_nothing, "flow_or_qps_equally_divide_separates_topics", "between topics"),
    ("behind_midpoint", behind_by_nothing, "flow_or_qps_equally_divide_cuts_inside", "is cut between"),
]


@pytest.mark.parametrize(("method", "mutant", "caught_by", "message"), MUTANTS)
def test_a_mutant_is_not_proved(
    method: str, mutant: Callable[..., Any], caught_by: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hash_range, "HashRange", type("Mutant", (HashRange,), {method: mutant}))
    verdict = decide(theorem(caught_by))
    assert verdict.verdict in ("violated", "inconclusive")
    assert message in verdict.note


def test_every_theorem_falls_to_something() -> None:
    fallen = {name for caught in CAUGHT.values() for name in caught} | {caught_by for _, _, caught_by, _ in MUTANTS}
    assert fallen == set(NAMES)
    assert CAUGHT.keys() == BUGS.keys() == THEORY.bugs.keys()


# --- what two solvers prove, counted in small


def test_exceptions_of_the_algorithms_are_what_numbers_say() -> None:
    """Where the theorems say that a cut is at an edge, counted over all bundles and topics of 16 hashes."""
    small = HashRange(last=15)
    for lower in range(16):
        for upper in range(lower + 1, 16):
            topics = [hash for hash in range(16) if small.contains(lower, upper, hash)]
            for start in topics:
                for end in (topic for topic in topics if topic >= start):
                    middle, behind = small.midpoint(start, end), small.behind_midpoint(start, end)
                    at_an_edge = (start == lower and end <= lower + 1) or start == upper
                    assert (lower < middle < upper) is not at_an_edge
                    at_the_edge = (start == end and end >= upper - 1) or (end == upper and end - start <= 2)
                    assert (lower < behind < upper) is not at_the_edge


def test_a_refutation_is_computed_anew_with_numbers() -> None:
    """A step of an induction can fail without anything being wrong; then nothing is claimed."""
    (step,) = [s for s in theorem("every_hash_is_in_a_bundle").steps if s.name == "the last"]
    values = {"count": 2, "hash": 7}

    def value(term: Any) -> int:
        if term.op == "apply":
            return (0, 5, 0xFFFFFFFF)[term.arguments[0].detail]
        return values[str(term)]

    assert value(hash_range.count) == 2
    assert step.describe(value) is None


def test_the_theorem_speaks_of_the_model_that_computes() -> None:
    """The layout of numbers, given the least refutation, has the hole that the theorem found."""
    upstream = HashRange(bugs=frozenset({"lookup_hits_last_boundary"}))
    verdict: Verdict = next(
        v for v in map(decide, theorems(upstream.bugs)) if v.property.name == "every_hash_is_looked_up_in_its_bundle"
    )
    hash = int(verdict.note.split()[1], 16)
    assert Layout.of_equal_bundles(1, upstream).find(hash) is None
