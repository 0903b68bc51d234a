"""A census of walks: the walks of ``random_walks``, with every violation listed."""

from __future__ import annotations

import numpy as np
import pytest

from fencepost.model.kernel.walks.census import Census, Walking
from fencepost.model.kernel.walks.walks import random_walks
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS

STEPS, SEED = 40, 5


def observed(*bugs: str) -> Observed:
    entry = PROTOCOLS["ledger"]
    suite = entry.suite(entry.build({"entries": 1}, bugs))
    return Observed.of(suite, suite.properties)


def walking(of: Observed, **options: int) -> Walking:
    alarm, step_alarm = of.alarms()
    may_end = next(iter(of.may_end), None)
    return Walking(of.kernel, seed=SEED, steps=STEPS, alarm=alarm, step_alarm=step_alarm, may_end=may_end, **options)


@pytest.fixture(scope="module")
def broken() -> Observed:
    return observed("closes_at_lac")


@pytest.fixture(scope="module")
def whole(broken: Observed) -> Census:
    return walking(broken, bits=2, keep=3).census(0, 3000)


@pytest.mark.long
def test_it_makes_the_walks_of_random_walks(broken: Observed, whole: Census) -> None:
    alarm, step_alarm = broken.alarms()
    result = random_walks(
        broken.kernel,
        seed=SEED,
        count=3000,
        steps=STEPS,
        alarm=alarm,
        step_alarm=step_alarm,
        may_end=next(iter(broken.may_end)),
        stop_on_violation=False,
        workers=1,
    )
    assert (whole.steps, whole.stuck, whole.enabled) == (result.steps, result.deadlocks, result.enabled)
    assert tuple(whole.taken.tolist()) == result.taken
    assert (whole.seen, whole.seen_steps) == (result.seen, result.seen_steps)
    assert {row: min(run.walk for run in runs) for row, runs in _all(broken).items()} == {
        find.formula: find.walk for find in result.violations
    }


def _all(broken: Observed) -> dict[int, tuple[object, ...]]:
    return dict(walking(broken, keep=10**6).census(0, 3000).shortest)


@pytest.mark.long
def test_stretches_add_up(broken: Observed, whole: Census) -> None:
    walks = walking(broken, bits=2, keep=10**6)
    parts = [walks.census(first, 600) for first in range(0, 3000, 600)]
    assert sum(part.steps for part in parts) == whole.steps
    assert np.array_equal(sum(part.taken for part in parts), whole.taken)
    (row,) = whole.violating
    assert sum(part.violating.get(row, 0) for part in parts) == whole.violating[row] == 15
    hashes = np.concatenate([np.repeat(part.fingerprints, part.visits) for part in parts])
    fingerprints, visits = np.unique(hashes, return_counts=True)
    assert np.array_equal(fingerprints, whole.fingerprints)
    assert np.array_equal(visits, whole.visits)
    every = sorted((len(run.actions), run.walk) for part in parts for run in part.shortest.get(row, ()))
    assert [(len(run.actions), run.walk) for run in whole.shortest[row]] == every[:3]


def test_a_violating_walk_ends_with_its_violation(broken: Observed, whole: Census) -> None:
    for row, runs in whole.shortest.items():
        for run in runs:
            states, actions = walking(broken).path(run.walk)
            assert actions == run.actions
            assert [row in broken.kernel.observe(state) for state in states] == [False] * len(actions) + [True]


def test_without_bits_every_state_is_sampled(broken: Observed) -> None:
    census = walking(broken, bits=0).census(0, 50)
    assert int(census.visits.sum()) == census.walks + census.steps == census.looked_at
    states = np.unique(np.concatenate([walking(broken).path(walk)[0] for walk in range(50)]), axis=0)
    assert len(census.fingerprints) == len(states)
    assert census.possible[census.taken > 0].min() > 0
    fields = broken.kernel.packing.fields.values()
    assert [len(values) for values in census.values] == [
        len(np.unique(states[:, field.word] >> np.uint64(field.shift) & np.uint64(field.mask))) for field in fields
    ]


@pytest.mark.long
def test_a_deadlock_is_a_find() -> None:
    stuck = observed()
    nowhere = Walking(stuck.kernel, seed=SEED, steps=STEPS, may_end=next(iter(stuck.goals)))
    census = nowhere.census(0, 200)
    row = stuck.kernel.formulas["observe"] + stuck.kernel.formulas["observe_step"]
    assert 0 < census.violating[row] <= census.stuck
