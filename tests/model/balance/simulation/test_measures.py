"""Measures of runs that are written down by hand."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from fencepost.model.balance.simulation.measures import MEASURES, Measures, deviation, imbalance, measures
from fencepost.model.balance.simulation.run import Action, Run

NAN = math.nan


def _run(usage: list[list[float]], *actions: Action, constant: bool = True, assignment: tuple[int, ...] = ()) -> Run:
    values, minutes = np.array(usage), len(usage)
    return Run(
        policy="P",
        scenario="s",
        seed=0,
        brokers=tuple(f"b{n}" for n in range(values.shape[1])),
        owners={},
        usage=values,
        rate=values,
        throughput=values,
        offered=np.ones(minutes),
        carried=np.ones(minutes),
        bundles=np.full(minutes, 4),
        constant=np.full(minutes, constant),
        assignment=np.array(assignment or [0] * minutes, dtype=np.uint64),
        actions=actions,
        grace_minutes=30,
        overload_threshold=0.85,
    )


def _unload(minute: int, source: str, destination: str, bundle: str = "x") -> Action:
    return Action(minute, "unload", bundle, source, destination, seconds=2.0, topics=3)


def test_every_measure_is_described() -> None:
    assert list(MEASURES) == [field.name for field in fields(Measures)]
    assert list(measures(_run([[0.5, 0.5]])).as_dict()) == list(MEASURES)


def test_brokers_that_are_down_do_not_count() -> None:
    run = _run([[0.6, 0.2, NAN], [0.9, 0.3, 0.3], [0.0, 0.0, 0.0], [NAN, NAN, NAN]])
    assert imbalance(run).tolist() == pytest.approx([1.5, 1.8, 1.0, 1.0])
    assert deviation(run).tolist() == pytest.approx([0.2, math.sqrt(0.08), 0.0, 0.0])
    figures = measures(run)
    assert (figures.imbalance, figures.overloaded) == (pytest.approx(5.3 / 4), 1.0)


def test_unloads_are_counted_and_what_was_refused_is_not() -> None:
    moves = [_unload(0, "b0", "b1"), _unload(5, "b1", "b0"), _unload(6, "b0", "b1", "y")]
    refused = replace(_unload(7, "b0", "b1"), refused="no", seconds=0.0)
    split = Action(8, "split", "x", "b0", "b0", seconds=1.5, topics=3)
    figures = measures(_run([[0.5, 0.5]] * 30, *moves, refused, split))
    assert (figures.unloads_per_hour, figures.most_unloads, figures.refused, figures.splits) == (6.0, 2.0, 1.0, 1.0)
    assert (figures.unavailable, figures.topics_moved, figures.bundles) == (7.5, 12.0, 4.0)


@pytest.mark.parametrize(("back", "returns"), [(29, 1), (30, 1), (31, 0)])
def test_a_bundle_returns_if_it_is_back_within_the_grace_period(back: int, returns: int) -> None:
    run = _run([[0.5, 0.5]] * 60, _unload(0, "b0", "b1"), _unload(back, "b1", "b0"))
    assert measures(run).returns == returns


def test_an_unload_that_comes_straight_back_returns() -> None:
    """In 2.10 a bundle is unloaded before it is placed, and may be placed where it was."""
    run = _run([[0.5, 0.5]] * 60, _unload(0, "b0", "b0"), _unload(40, "b0", "b0"), _unload(41, "b0", "b1"))
    assert measures(run).returns == 2


def test_an_assignment_that_comes_again_repeats_only_under_constant_load() -> None:
    assert measures(_run([[0.5, 0.5]] * 6, assignment=(1, 1, 2, 1, 2, 3))).repeats == 2
    assert measures(_run([[0.5, 0.5]] * 6, assignment=(1, 1, 2, 1, 2, 3), constant=False)).repeats == 0
    once = _run([[0.5, 0.5]] * 4, assignment=(1, 2, 2, 1))
    assert measures(replace(once, constant=np.array([True, True, False, True]))).repeats == 0


def test_a_broker_is_filled_at_half_the_mean() -> None:
    usage = [[0.5, NAN], [0.5, 0.0], [0.4, 0.1], [0.35, 0.15], [0.35, 0.15]]
    start = Action(1, "start", source="b1")
    assert measures(_run(usage, start)).time_to_fill == 2  # 0.15 of a mean of 0.25
    assert measures(_run(usage[:3], start)).time_to_fill == 2  # never; as long as the run is
    assert math.isnan(measures(_run(usage)).time_to_fill)
