"""The rules of a client that knows regions: what they draw, refuse and replace, in the cases that matter to an operator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.model.bookkeeper.regions import RegionRules, region_ensembles, region_replacements

ONE_RACK_EACH = RegionRules((0, 1), (3, 3), ensemble=2, write_quorum=2, ack_quorum=2)
TWO_RACKS_EACH = RegionRules((0, 0, 1, 1), (2, 2, 2, 2), ensemble=2, write_quorum=2, ack_quorum=2)


def regions_of(rules: RegionRules, *away: int) -> set[tuple[int, ...]]:
    """The regions of the ensembles that can be drawn."""
    return {tuple(rules.regions[rack] for rack in racks) for racks in region_ensembles(rules, away)[0]}


@pytest.mark.parametrize("rules", [ONE_RACK_EACH, TWO_RACKS_EACH], ids=["one rack each", "two racks each"])
def test_two_copies_are_in_two_regions(rules: RegionRules) -> None:
    assert regions_of(rules) == {(0, 1), (1, 0)}
    assert not region_ensembles(rules)[1]


@pytest.mark.parametrize("rules", [ONE_RACK_EACH, TWO_RACKS_EACH], ids=["one rack each", "two racks each"])
def test_a_larger_ensemble_goes_region_by_region(rules: RegionRules) -> None:
    """So that both copies of every other entry are in one region."""
    assert regions_of(replace(rules, ensemble=4)) == {(0, 0, 1, 1), (1, 1, 0, 0)}


def test_a_region_with_one_rack_is_not_asked_for_durability() -> None:
    """Of four bookies, one after the other, two in a region have an entry: the listed regions do not prevent it."""
    assert regions_of(replace(ONE_RACK_EACH, ensemble=4, listed=True)) == {(0, 0, 1, 1), (1, 1, 0, 0)}
    assert region_ensembles(replace(TWO_RACKS_EACH, ensemble=4, listed=True)) == (frozenset(), True)


@pytest.mark.parametrize(
    ("quorums", "regions", "why"),
    [
        ((3, 3, 2), 2, "an ack quorum of 2 of 3 copies can be on fewer than 2 regions when one is gone"),
        ((3, 3, 3), 2, ""),
        ((2, 2, 1), 2, "an ack quorum of 1 is less than 2 regions"),
        ((3, 3, 3), 3, "2 regions are fewer than 3"),
    ],
)
def test_quorums_that_do_not_suit_listed_regions_are_refused(quorums: tuple[int, int, int], regions: int, why: str) -> None:
    rules = RegionRules((0, 0, 1, 1), (2, 2, 2, 2), *quorums, listed=True, min_regions=regions)
    assert rules.refusal == why
    assert region_ensembles(rules)[1] is bool(why)
    assert replace(rules, listed=False).refusal == ""


@pytest.mark.parametrize(
    ("rules", "changed", "goes_on"),
    [
        (ONE_RACK_EACH, {}, True),
        (TWO_RACKS_EACH, {}, True),
        (TWO_RACKS_EACH, {"enforced": True}, False),
        (TWO_RACKS_EACH, {"listed": True}, False),
        (ONE_RACK_EACH, {"listed": True}, True),
    ],
)
def test_while_a_region_is_away_all_copies_are_in_the_other_or_nothing_is_written(
    rules: RegionRules, changed: dict[str, bool], goes_on: bool
) -> None:
    rules = replace(rules, **changed)  # type: ignore[arg-type]
    away = [rack for rack, region in enumerate(rules.regions) if region == 1]
    assert regions_of(rules, *away) == ({(0, 0)} if goes_on else set())


def test_a_member_is_replaced_from_its_region_while_that_has_bookies() -> None:
    assert region_replacements(TWO_RACKS_EACH, (0, 2), 0, [0]) == {1}
    assert region_replacements(TWO_RACKS_EACH, (0, 2), 0, [0, 1]) == {2, 3}


def test_where_regions_are_listed_a_member_is_not_replaced_from_the_region_of_the_others() -> None:
    rules = replace(TWO_RACKS_EACH, listed=True)
    assert region_replacements(rules, (0, 2), 0, [0, 1]) == frozenset()
    assert region_replacements(replace(rules, in_replace=False), (0, 2), 0, [0, 1]) == {2, 3}


def test_a_client_of_4_14_5_asks_regions_without_bookies() -> None:
    """So it refuses where a later client has all copies in the region that is left."""
    rules = replace(ONE_RACK_EACH, listed=True)
    assert regions_of(replace(rules, avoids="last", counts_empty=True), 1) == set()
    assert regions_of(rules, 1) == {(0, 0)}
