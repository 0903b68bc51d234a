"""The hash range: Pulsar's own numbers, and small ranges in which every layout can be looked at."""

import zlib
from bisect import bisect_right
from itertools import combinations
from typing import Any

import pytest

from fencepost.model.pulsar.hash_range import (
    BUGS,
    FULL,
    Bundle,
    HashRange,
    Layout,
    Refused,
    TopicLoad,
    flow_or_qps_equally_divide,
    given_boundaries,
    range_equally_divide,
    specified_positions_divide,
    topic_count_equally_divide,
    topic_hash,
)
from fencepost.model.terms.asking import Asking
from fencepost.model.terms.nodes import Term, constant
from fencepost.model.terms.sorts import INT

SMALL = HashRange(last=15)
LAST = 0xFFFFFFFF
HASHED_TO_THE_LAST = "persistent://public/default/orders-cquomch"


def layout(*boundaries: int, last: int = 15, bugs: tuple[str, ...] = ()) -> Layout:
    return Layout(boundaries, HashRange(last, frozenset(bugs)))


def reachable(hashes: HashRange) -> set[Layout]:
    """Every layout that splits at any one boundary that is admitted lead to, from every number of equal bundles."""
    counts = range(1, (hashes.last + 1) // 2 + 1)
    layouts = {Layout.of_equal_bundles(count, hashes) for count in counts}
    new = list(layouts)
    while new:
        before = new.pop()
        for bundle in before.bundles:
            for boundary in range(bundle.lower + 1, bundle.upper):
                after = before.split(bundle, [boundary])
                assert after is not None
                if after not in layouts:
                    layouts.add(after)
                    new.append(after)
    return layouts


# --- Pulsar's own numbers


@pytest.mark.parametrize(
    ("count", "boundaries"),
    [
        (1, (0, LAST)),
        (3, (0, 0x55555555, 0xAAAAAAAA, LAST)),
        (4, (0, 0x40000000, 0x80000000, 0xC0000000, LAST)),
    ],
)
def test_a_new_namespace(count: int, boundaries: tuple[int, ...]) -> None:
    assert Layout.of_equal_bundles(count).boundaries == boundaries


def test_as_many_bundles_as_an_int_holds_fit() -> None:
    most = 2**31 - 1
    assert FULL.equal(most, 0) == 0
    assert FULL.equal(most, most - 1) < FULL.equal(most, most) == LAST


@pytest.mark.parametrize("count", [0, -1, 2**31])
def test_a_namespace_cannot_begin_so(count: int) -> None:
    with pytest.raises(ValueError, match=f"with {count} bundles"):
        Layout.of_equal_bundles(count)


def test_an_even_split_of_the_full_range_rounds_down_each_part() -> None:
    full = Layout.of_equal_bundles(1)
    (bundle,) = full.bundles
    cut = full.split(bundle, [full.hashes.part(*bundle, 4, index) for index in (1, 2, 3)])
    assert cut is not None
    assert cut.boundaries == (0, 0x3FFFFFFF, 0x7FFFFFFE, 0xBFFFFFFD, LAST)


def test_the_full_range_is_halved_one_below_its_middle() -> None:
    assert range_equally_divide(Bundle(0, LAST)) == [0x7FFFFFFF]
    assert range_equally_divide(Bundle(0x80000000, 0xC0000000)) == [0xA0000000]


def test_names() -> None:
    assert str(Bundle(0, LAST)) == "0x00000000_0xffffffff"
    assert Bundle.parse("public/default/0x40000000_0x80000000") == Bundle(0x40000000, 0x80000000)
    assert all(Bundle.parse(str(bundle)) == bundle for bundle in Layout.of_equal_bundles(7).bundles)


@pytest.mark.parametrize("name", ["", "0x00_", "1_2", "0x00000000-0x40000000", "0x0_0x1_0x2"])
def test_no_names(name: str) -> None:
    with pytest.raises(Refused, match="does not name a bundle"):
        Bundle.parse(name)


def test_the_hash_of_a_topic_is_crc_32() -> None:
    assert topic_hash("123456789") == 0xCBF43926  # the check value of every table of CRCs
    assert topic_hash("ä-partition-0") == zlib.crc32(b"\xc3\xa4-partition-0")
    assert 0 <= topic_hash("persistent://public/default/orders") <= LAST


# --- lookup


@pytest.mark.parametrize("hash", range(16))
def test_every_hash_is_found_in_the_bundle_that_has_it(hash: int) -> None:
    every = Layout((0, 3, 4, 11, 15), SMALL)
    holders = [bundle for bundle in every.bundles if SMALL.contains(*bundle, hash)]
    assert holders == [every.find(hash)]


def test_every_reachable_layout_covers_every_hash_exactly_once() -> None:
    layouts = reachable(HashRange(last=9))
    assert len(layouts) == 2**8  # any set of cuts strictly inside can be reached
    for cut in layouts:
        for hash in range(10):
            place = min(bisect_right(cut.boundaries, hash) - 1, len(cut) - 1)
            assert [b for b in cut.bundles if cut.hashes.contains(*b, hash)] == [cut.find(hash)] == [cut.bundles[place]]


def test_upstream_looks_the_last_hash_up_behind_the_last_bundle() -> None:
    hole = layout(0, 8, 15, bugs=("lookup_hits_last_boundary",))
    assert [hash for hash in range(16) if hole.find(hash) is None] == [15]


@pytest.mark.parametrize("count", [1, 4, 128])
def test_upstream_finds_no_bundle_for_a_topic_with_the_last_hash(count: int) -> None:
    upstream = HashRange(bugs=frozenset({"lookup_hits_last_boundary"}))
    assert topic_hash(HASHED_TO_THE_LAST) == LAST
    assert Layout.of_equal_bundles(count, upstream).find(LAST) is None
    assert Layout.of_equal_bundles(count).find(LAST) == Layout.of_equal_bundles(count).bundles[-1]


# --- layouts and splits that are refused


@pytest.mark.parametrize(
    "boundaries",
    [(0,), (), (0, 8, 8, 15), (0, 9, 8, 15), (0, 14), (0, 15, 15), (0, 16), (0, 8, 16, 15)],
)
def test_a_layout_is_refused(boundaries: tuple[int, ...]) -> None:
    with pytest.raises(Refused):
        layout(*boundaries)


def test_a_layout_that_does_not_begin_at_zero_is_not_refused_by_the_constructor() -> None:
    assert layout(3, 15).find(2) is None


@pytest.mark.parametrize("inside", [[4], [8], [3, 9], [5, 5], [6, 5], [5, 9, 6]])
def test_a_split_is_refused(inside: list[int]) -> None:
    with pytest.raises(Refused):
        layout(0, 4, 8, 15).split(Bundle(4, 8), inside)


@pytest.mark.parametrize("bundle", [Bundle(4, 5), Bundle(14, 15)])
def test_a_bundle_of_one_hash_is_not_split_nor_one_of_the_last_two(bundle: Bundle) -> None:
    with pytest.raises(Refused, match="too small"):
        layout(0, 4, 5, 14, 15).split(bundle, [SMALL.part(*bundle, 2, 1)])


def test_a_bundle_that_is_not_in_the_layout_is_not_split() -> None:
    assert layout(0, 4, 8, 15).split(Bundle(4, 9), [5]) is None


def test_a_split_into_several() -> None:
    cut = layout(0, 4, 8, 15).split(Bundle(4, 8), [5, 7])
    assert cut is not None
    assert cut.boundaries == (0, 4, 5, 7, 8, 15)


def test_each_protection_alone_keeps_a_boundary_on_the_edge_out() -> None:
    def attempt(*bugs: str) -> Layout | None:
        return layout(0, 2, 4, 8, 15, bugs=bugs).split(Bundle(4, 8), [4])

    for protected in ("empty_bundles_allowed", "boundaries_unchecked"):
        with pytest.raises(Refused):
            attempt(protected)
    broken = attempt("boundaries_unchecked", "empty_bundles_allowed")
    assert broken is not None
    assert broken.boundaries == (0, 2, 4, 4, 8, 15)
    assert broken.find(4) == Bundle(4, 4)  # which does not contain it
    assert not broken.hashes.contains(4, 4, 4)


# --- boundaries that a user gives


def test_given_boundaries_are_sorted_and_each_taken_once() -> None:
    assert given_boundaries(["0xFFFFFFFF", "0", "0x80000000", "0x80000000"]) == (0, 0x80000000, LAST)


@pytest.mark.parametrize("texts", [[], ["0x0"], ["0x1", "0xffffffff"], ["0x0", "0xfffffffe"], ["0x0", "many", "0xffffffff"]])
def test_given_boundaries_that_do_not_span_the_range_are_refused(texts: list[str]) -> None:
    with pytest.raises(Refused):
        given_boundaries(texts)


def test_a_given_boundary_above_the_last_hash_is_stored_and_then_refused_by_every_broker() -> None:
    stored = given_boundaries(["0x00000000", "0x100000000", "0xffffffff"])
    assert stored == (0, 2**32, LAST)
    with pytest.raises(Refused):
        Layout(stored)


# --- the algorithms


def test_topic_count_cuts_between_the_middle_topics() -> None:
    assert topic_count_equally_divide([90, 10, 20, 70]) == [45]
    assert topic_count_equally_divide([30, 10, 20]) == [15]
    assert topic_count_equally_divide([7]) is None
    assert topic_count_equally_divide([]) is None


def test_topic_count_can_cut_at_the_lower_boundary_which_a_split_refuses() -> None:
    cut = topic_count_equally_divide([4, 5])
    assert cut == [4]
    with pytest.raises(Refused, match="not strictly inside"):
        layout(0, 4, 8, 15).split(Bundle(4, 8), cut)


def test_specified_positions_are_sorted_and_kept_if_inside() -> None:
    bundle = Bundle(4, 8)
    assert specified_positions_divide(bundle, [7, 4, 5, 8, 5, 99], 2) == [5, 5, 7]
    assert specified_positions_divide(bundle, [4, 8], 2) is None
    assert specified_positions_divide(bundle, [5], 1) is None
    assert specified_positions_divide(bundle, [5], 0, force=True) == [5]
    with pytest.raises(ValueError, match="no positions"):
        specified_positions_divide(bundle, [], 2)


def test_flow_cuts_where_the_next_topic_would_be_too_much() -> None:
    topics = [TopicLoad(hash, 400, 0) for hash in (10, 20, 31, 40, 50)]
    assert flow_or_qps_equally_divide(topics, most_rate=1000) == [26, 46]
    assert flow_or_qps_equally_divide(topics, most_rate=800) == [26, 46]  # exactly the most is not too much
    assert flow_or_qps_equally_divide(topics[:2], most_rate=800) is None  # not ten percent above it
    exact = [TopicLoad(10, 550, 0), TopicLoad(20, 550, 0)]
    assert flow_or_qps_equally_divide(exact, most_rate=1000) == [16]  # exactly ten percent above it
    assert flow_or_qps_equally_divide(topics[:1], most_rate=1) is None


def test_flow_counts_bytes_too_and_passes_over_idle_topics() -> None:
    heavy = [TopicLoad(10, 1, 2 * 2**20), TopicLoad(15, 0, 0), TopicLoad(20, 1, 2 * 2**20)]
    assert flow_or_qps_equally_divide(heavy, most_mebibytes=3) == [16]
    assert flow_or_qps_equally_divide(heavy[:2], most_mebibytes=1) is None


def test_flow_takes_the_load_of_the_last_of_two_topics_with_equal_hashes() -> None:
    twins = [TopicLoad(10, 900, 0), TopicLoad(10, 1, 0), TopicLoad(20, 500, 0)]
    assert flow_or_qps_equally_divide(twins, most_rate=1000) == []  # 1 + 1 + 500, though the bundle has 1401
    assert flow_or_qps_equally_divide([TopicLoad(10, 900, 0)] * 2, most_rate=1000) is None


def test_flow_can_cut_twice_at_one_place_which_a_split_refuses() -> None:
    topics = [TopicLoad(5, 900, 0), TopicLoad(5, 900, 0), TopicLoad(6, 900, 0)]
    cuts = flow_or_qps_equally_divide(topics, most_rate=1000)
    assert cuts == [6, 6]
    with pytest.raises(Refused):
        layout(0, 4, 8, 15).split(Bundle(4, 8), cuts)


@pytest.mark.parametrize("topics", list(combinations(range(4, 8), 3)))
def test_flow_separates_the_topics_between_which_it_cuts(topics: tuple[int, ...]) -> None:
    cuts = flow_or_qps_equally_divide([TopicLoad(hash, 900, 0) for hash in topics], most_rate=1000)
    assert cuts is not None
    cut = layout(0, 4, 8, 15).split(Bundle(4, 8), cuts)
    assert cut is not None
    assert len({cut.find(hash) for hash in topics}) == 3


# --- one arithmetic for numbers and terms

LOWER, UPPER, HASH, INDEX, COUNT = (constant(name, INT) for name in ("lower", "upper", "hash", "index", "count"))
GIVEN = {LOWER: 3, UPPER: 2**32 - 1, HASH: 2**31 + 5, INDEX: 2, COUNT: 7}


@pytest.mark.parametrize("bug", ["", *BUGS])
def test_terms_compute_what_numbers_do(bug: str) -> None:
    hashes = HashRange(bugs=frozenset({bug} - {""}))

    def boundary(index: Any) -> Any:
        return index * 11

    def everything(lower: Any, upper: Any, hash: Any, index: Any, count: Any) -> list[Any]:
        return [
            hashes.contains(lower, upper, hash),
            hashes.contains(lower, upper, upper),
            hashes.accepts(lower, lower, lower == upper),
            hashes.splittable(lower, lower),
            hashes.admits(lower, upper, lower, hash),
            hashes.midpoint(lower, hash),
            hashes.midpoint(hash, upper),
            hashes.behind_midpoint(lower, upper),
            hashes.part(lower, upper, count, index),
            hashes.equal(count, index),
            hashes.equal(count, count),
            *(hashes.spliced(boundary, 4, boundary, 2, count - minus) for minus in range(5)),
            *hashes.narrowed(boundary, lower, hash, upper),
            *hashes.narrowed(boundary, lower, hash, lower),
            hashes.place(lower == index, count, count),
            hashes.place(lower == lower, count, count),
        ]

    numbers = everything(*GIVEN.values())
    asking = Asking(term == value for term, value in GIVEN.items())
    assert asking.answer() == "sat"
    assert [asking.value(t) if isinstance(t, Term) else t for t in everything(*GIVEN)] == numbers


def test_half_the_sum_in_ints_is_negative_in_the_middle() -> None:
    assert FULL.midpoint(2**30, 2**31) == 2**30 + 2**29
    assert HashRange(bugs=frozenset({"midpoint_in_ints"})).midpoint(2**30, 2**31) == -(2**29)


def test_an_unknown_bug() -> None:
    with pytest.raises(ValueError, match="no bug 'typo'"):
        HashRange(bugs=frozenset({"typo"}))
