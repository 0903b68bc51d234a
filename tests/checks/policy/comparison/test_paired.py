"""Paired differences: their intervals, their verdicts, and what is tolerated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fencepost.checks.policy.comparison.paired import (
    FEWEST,
    Difference,
    Tolerance,
    Tolerances,
    Values,
    differences,
    interval,
    students,
)
from fencepost.checks.policy.comparison.text import in_words
from fencepost.checks.policy.comparison.text import interval as interval_in_words
from fencepost.model.balance.simulation.measures import MEASURES, Measure

LESS, NEITHER = MEASURES["returns"], MEASURES["splits"]


def values(*numbers: float) -> Values:
    return np.array(numbers, dtype=np.float64)


def one(baseline: Values, proposed: Values, measure: Measure = LESS, tolerances: Tolerances | None = None) -> Difference:
    pairs = {measure.name: baseline}, {"new": {measure.name: proposed}}
    (difference,) = differences([measure], *pairs, tolerances or Tolerances())
    return difference


def test_the_interval_is_students() -> None:
    low, high = interval(np.arange(1.0, 11.0), 0.05)
    assert (low, high) == (pytest.approx(5.5 - 2.16585), pytest.approx(5.5 + 2.16585))
    assert all(map(math.isnan, interval(values(3.0), 0.05)))


@pytest.mark.parametrize(
    ("freedom", "error", "bound"),
    [
        (1, 0.05, 12.706204736),
        (2, 0.05, 4.302652730),
        (9, 0.05, 2.262157163),
        (10, 0.001, 4.586893859),
        (29, 0.001, 3.659405019),
        (99, 0.0001, 4.055041309),
        (1000, 0.00001, 4.439926469),
    ],
)
def test_students_bounds_are_those_of_the_tables(freedom: int, error: float, bound: float) -> None:
    assert students(freedom, error) == pytest.approx(bound, rel=1e-9)


def test_no_interval_goes_below_what_a_measure_can_be() -> None:
    """A policy that never does what the baseline did once in a while cannot do it less than never."""
    baseline = values(*[0.0] * 15, 9.0, 3.0)
    difference = one(baseline, np.zeros(17))
    assert interval(-baseline, 0.05)[0] < -difference.baseline
    assert difference.low == -difference.baseline
    assert difference.verdict == "no difference"


def test_ten_pairs_are_the_fewest_of_which_all_on_one_side_mean_something() -> None:
    by_chance = 0.05 / len(MEASURES)
    assert 2 * 0.5**FEWEST <= by_chance < 2 * 0.5 ** (FEWEST - 1)


@pytest.mark.parametrize(
    ("apart", "measure", "verdict"),
    [
        ([1.0, 2.0] * 10, LESS, "worse"),
        ([-1.0, -2.0] * 10, LESS, "better"),
        ([1.0, 2.0] * 10, NEITHER, "differs"),
        ([-1.0, -2.0] * 10, NEITHER, "differs"),
        ([1.0, -1.0] * 10, LESS, "no difference"),
        ([0.0] * 20, LESS, "no difference"),
        ([0.4, 0.6] * 10, LESS, "no difference"),
        ([-0.4, -0.6] * 10, LESS, "no difference"),
        ([5.0] * 9, LESS, "too few runs"),
        ([5.0] * 10, LESS, "worse"),
    ],
)
def test_verdicts(apart: list[float], measure: Measure, verdict: str) -> None:
    baseline = np.full(len(apart), 20.0)
    assert one(baseline, baseline + apart, measure).verdict == verdict


def test_what_is_told_of_a_difference() -> None:
    row = one(values(*[4.0] * 10, math.nan), values(*[5.0] * 4, *[4.0] * 3, *[3.0] * 2, 9.0, 7.0))
    assert (row.pairs, row.baseline, row.proposed, row.difference) == (10, 4.0, 4.7, pytest.approx(0.7))
    assert (row.lower, row.higher, row.worst, row.tolerance) == (2, 5, 9, pytest.approx(0.2))
    assert (row.verdict, row.may_be_worse) == ("no difference", True)
    assert one(values(*[4.0] * 10), values(*[3.0] * 10)).worst is None


def test_tolerances_are_of_a_measure_or_of_all() -> None:
    baseline, proposed = np.full(10, 20.0), np.full(10, 23.0)
    for tolerance, verdict in ((Tolerance(3.0, False), "no difference"), (Tolerance(0.1, True), "worse")):
        assert one(baseline, proposed, tolerances=Tolerances(tolerance)).verdict == verdict
        assert one(baseline, proposed, tolerances=Tolerances(named={LESS.name: tolerance})).verdict == verdict
    assert one(baseline, proposed, tolerances=Tolerances(named={"splits": Tolerance(9.0, False)})).verdict == "worse"


def test_a_difference_that_is_tolerated_names_the_tolerance() -> None:
    baseline = np.full(10, 20.0)
    row = one(baseline, baseline + 0.5)
    assert (row.verdict, in_words(row), interval_in_words(row)) == ("no difference", "within tolerance 1", "+0.5 to +0.5")
    unshown = one(baseline, baseline + np.tile([0.5, -0.5], 5))
    assert in_words(unshown) == "no difference"
    worse = one(baseline, baseline + 2)
    assert in_words(worse) == worse.verdict == "worse"


def test_a_measure_that_no_pair_has_is_left_out() -> None:
    never_both = {LESS.name: values(1.0, math.nan)}, {"new": {LESS.name: values(math.nan, 1.0)}}
    assert differences([LESS], *never_both, Tolerances()) == []


@pytest.mark.long
def test_all_intervals_hold_together() -> None:
    """Of many comparisons in which no policy differs, not more than one in twenty may show any difference."""
    measures = list(MEASURES.values())
    random = np.random.default_rng(1)
    exact = Tolerances(Tolerance(0.0, False))
    wrong = 0
    for _ in range(200):
        worlds = random.exponential(size=(len(measures), 40))
        first, second = ({m.name: w + random.normal(size=40) for m, w in zip(measures, worlds, strict=True)} for _ in range(2))
        wrong += any(d.verdict != "no difference" for d in differences(measures, first, {"new": second}, exact))
    assert 0 < wrong <= 0.08 * 200


def test_pairs_show_what_means_would_not() -> None:
    """The worlds differ by far more than the policies: only the differences of pairs tell them apart."""
    worlds = np.random.default_rng(2).normal(100, 30, 30)
    assert one(worlds, worlds + 1, tolerances=Tolerances(Tolerance(0.0, False))).verdict == "worse"
