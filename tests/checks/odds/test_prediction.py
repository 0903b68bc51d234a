"""Predictions and counts with their intervals, and how studies tell them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fencepost.checks.conformance.reproductions.predictions import (
    agree,
    as_data,
    count_in_words,
    prediction_in_words,
    ratio_in_words,
)
from fencepost.checks.conformance.reproductions.registry import STUDIES
from fencepost.checks.conformance.reproductions.study import Count, Prediction
from fencepost.checks.odds.prediction import Fit, Share, counted, predicted

STUDY = STUDIES["failed-flush"]


@pytest.mark.parametrize(
    ("lost", "faults", "low", "high"),
    [(0, 20, 0.0, 0.1684), (20, 20, 0.8316, 1.0), (19, 77, 0.1556, 0.3582), (1, 10, 0.0025, 0.4450)],
)
def test_counts_have_the_interval_of_clopper_and_pearson(lost: int, faults: int, low: float, high: float) -> None:
    found = counted(lost, faults)
    assert (found.middle, found.low, found.high) == pytest.approx((lost / faults, low, high), abs=1e-4)


def test_what_was_logged_allows_as_much_as_draws_of_it_vary() -> None:
    """Of an exponential law; nearly constant durations allow less."""
    durations = np.random.default_rng(1).exponential(3.0, 40).tolist()
    fit = Fit.of(durations)
    generator = np.random.default_rng(2)
    drawn = [fit.drawn(generator) for _ in range(4_000)]
    assert fit.mean == pytest.approx(np.mean(durations))
    assert np.std(drawn) / fit.mean == pytest.approx(fit.spread / math.sqrt(40), rel=0.15)
    constant = Fit.of([2.0, 2.02, 1.98, 2.0])
    assert np.std([constant.drawn(generator) for _ in range(1_000)]) < 0.05


def test_a_prediction_has_the_same_interval_twice_and_contains_its_middle() -> None:
    fits = {"repair": Fit.of([900.0, 1_100.0, 1_300.0, 700.0])}
    one, other = (predicted(fits, lambda means: means["repair"] / (means["repair"] + 1_000.0), 3) for _ in range(2))
    assert one == other
    assert one.middle == pytest.approx(0.5)
    assert one.low < one.middle < one.high


def test_what_never_ended_still_bounds_a_prediction() -> None:
    found = predicted({"reading": Fit(0, 500.0)}, lambda means: math.exp(-means["reading"] / 100.0))
    assert (found.middle, found.low) == pytest.approx((0.0, 0.0), abs=1e-3)
    assert 0.01 < found.high < 1.0


@pytest.mark.parametrize(
    ("name", "means", "values"),
    [
        ("failed-flush", {"checkpoint": 2_000.0}, (2_000.0, 0.15)),
        ("failed-flush", {"checkpoint": 200.0}, (200.0, 0.82)),
        ("lost-disks", {"repair": 3_000.0}, (10_000.0, 0.23)),
        ("lost-disks", {"repair": 3_000.0}, (1_000.0, 0.75)),
        ("slow-listing", {"second_creation": 2_200.0}, (1_000.0, 0.11)),
        (
            "dedup-loses",
            {"unfencing": 2.5, "forgetting": 5.7, "throttled_reading": 14.0, "journal": 8.0, "metadata": 7.7, "task": 0.1},
            (1_000.0, 0.25),
        ),
        (
            "dedup-loses",
            {"unfencing": 2.5, "forgetting": 5.7, "throttled_reading": math.inf, "journal": 8.0, "metadata": 7.7, "task": 0.1},
            (10_000.0, 0.0),
        ),
    ],
)
@pytest.mark.long
def test_what_the_studies_predict(name: str, means: dict[str, float], values: tuple[float, float]) -> None:
    value, share = values
    assert STUDIES[name].predict(means, value) == pytest.approx(share, abs=0.01)


def told(lost: int, middle: float, low: float, high: float, value: float = 2_000.0) -> Count:
    return Count(Prediction(value, 20, {"checkpoint": Fit(8, 16_000.0)}, Share(middle, low, high)), lost)


def test_a_study_is_told_before_and_after_the_count() -> None:
    usual, changed = told(3, 0.15, 0.14, 0.16), told(20, 0.3, 0.2, 0.4, 200.0)
    assert list(prediction_in_words(STUDY, usual.prediction)) == [
        "flushInterval: 2000",
        "logged: checkpoint 2e+03 ms (of 8)",
        "predicted: 15 % (14 to 16 %) of 20 failed checkpoints of a bookie that is killed lose messages (certainty of 90 %)",
    ]
    assert count_in_words(usual) == "counted: 3 of 20, 15 % (3.2 to 38 %) (certainty of 95 %): the intervals overlap"
    assert count_in_words(changed).endswith("the prediction is off by a factor of 2.1 to 5")
    assert agree([usual])
    assert not agree([usual, changed])
    assert ratio_in_words(STUDY, [usual, changed]) == (
        "flushInterval 2000 to 200: predicted 2 times as many, counted 2.2 to 31 times"
    )
    assert as_data(STUDY, "4.18.0", [usual, changed], ["a"])["settings"][0]["lost"] == 3
