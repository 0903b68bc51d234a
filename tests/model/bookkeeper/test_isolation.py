"""From which racks a client with isolation groups draws: primary groups, then secondary ones, then bookies of no group."""

from __future__ import annotations

import pytest

from fencepost.model.bookkeeper.isolation import IsolationGroups, counts_down

SIZES = (2, 2, 2, 2)
GROUPS = {"first": [0], "second": [1], "other": [2]}
"""Each of the racks is in one group, but the last is in none."""


@pytest.mark.parametrize(
    ("ensemble", "away", "racks"),
    [
        (2, [], {0}),
        (3, [], {0, 1}),
        (5, [], {0, 1, 3}),
        (2, [0], {1}),
        (2, [0, 1], set()),
        (3, [0, 1], {3}),
    ],
)
def test_groups_join_where_bookies_are_too_few(ensemble: int, away: list[int], racks: set[int]) -> None:
    """Before 5.0.1 two bookies of the secondary group count for an ensemble of two though they are away: nobody else joins."""
    groups = IsolationGroups(GROUPS, ["first"], ["second"], counts_down=True)
    assert groups.allowed(SIZES, ensemble, away) == racks


def test_a_bookie_that_is_down_does_not_count_since_5_0_1() -> None:
    assert IsolationGroups(GROUPS, ["first"], ["second"]).allowed(SIZES, 2, [0, 1]) == {3}
    assert [counts_down(release) for release in ("4.0.7", "5.0.0-M1", "5.0.1", "5.0.2")] == [True, True, False, False]


def test_bookies_of_other_groups_never_join() -> None:
    assert IsolationGroups(GROUPS, ["first"]).allowed(SIZES, 8) == {0, 3}


def test_a_bookie_of_a_primary_group_may_be_in_others_too() -> None:
    assert IsolationGroups({**GROUPS, "both": [0, 2]}, ["both"]).allowed(SIZES, 4) == {0, 2}


def test_without_groups_all_bookies_are_there() -> None:
    assert IsolationGroups({}, ["first"]).allowed(SIZES, 2, [3]) == {0, 1, 2}
