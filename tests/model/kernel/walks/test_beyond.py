"""What walks have not visited, against instances whose states are all known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.search import search
from fencepost.model.kernel.walks.beyond import VISITS, Beyond, Visits, beyond, has_others, upper_bound
from fencepost.model.kernel.walks.walks import walk_path
from fencepost.properties.protocols import PROTOCOLS


@pytest.fixture(scope="module")
def ledger() -> Kernel:
    entry = PROTOCOLS["ledger"]
    return Kernel(entry.build({"entries": 1}))


def test_the_bound_is_that_of_the_binomial() -> None:
    for trials in (1, 10, 459, 4152):
        assert upper_bound(0, trials, 0.99) == pytest.approx(1 - 0.01 ** (1 / trials))
        assert upper_bound(trials, trials, 0.99) == 1.0
    for new in (1, 7, 40):
        bound = upper_bound(new, 50, 0.99)
        tail = math.fsum(math.comb(50, k) * bound**k * (1 - bound) ** (50 - k) for k in range(new + 1))
        assert tail == pytest.approx(0.01)
    assert upper_bound(4, 100, 0.9) < upper_bound(4, 100, 0.99) < upper_bound(5, 100, 0.99)


def test_the_trials_are_walks_that_the_others_are_held_against(ledger: Kernel) -> None:
    how = {"seed": 3, "steps": 30, "strategy": "uniform"}
    walks = [{tuple(state) for state in walk_path(ledger, walk=walk, **how).states} for walk in range(50)]  # type: ignore[arg-type]
    first, last = set[tuple[int, ...]]().union(*walks[:40]), walks[40:]
    assert beyond(ledger, count=50, **how) == Beyond(10, sum(not walk <= first for walk in last), len(first))  # type: ignore[arg-type]


def test_few_walks_and_endless_ones_have_no_bound(ledger: Kernel) -> None:
    assert beyond(ledger, seed=0, count=4, steps=10, strategy="held") is None
    assert beyond(ledger, seed=0, count=9, steps=VISITS, strategy="held") is None


def test_where_everything_was_visited_nothing_is_new() -> None:
    kernel = Kernel(PROTOCOLS["election"].build({"brokers": 2}))
    further = beyond(kernel, seed=0, count=10_000, steps=100, strategy="uniform")
    assert further == Beyond(2000, 0, search(kernel).distinct)
    assert further.at_most == pytest.approx(0.0023, rel=0.01)


def test_further_walks_visit_new_states_no_more_often_than_the_bound(ledger: Kernel) -> None:
    """Of ten runs a bound of 99 % may miss in one; each is held against five hundred walks that it knows nothing of."""
    every, misses, shares = search(ledger).distinct, 0, list[float]()
    for seed in range(10):
        further = beyond(ledger, seed=seed, count=500, steps=60, strategy="uniform")
        visits = Visits(ledger, seed=seed, steps=60, strategy="uniform")
        known = np.unique(visits.of(0, 400))
        assert further is not None
        assert further.known == len(known) < every
        shares.append(sum(has_others(visits.of(walk, walk + 1), known) for walk in range(500, 1000)) / 500)
        misses += shares[-1] > further.at_most
    assert misses <= 1
    assert 0.1 < np.mean(shares) < 0.4
