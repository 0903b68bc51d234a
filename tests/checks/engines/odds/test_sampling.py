"""Weighted walks against exact answers: seeds, instances, guides, and the same bytes whoever walks."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from fencepost.checks.engines.odds.cycles import Cycles
from fencepost.checks.engines.odds.guide import factors_of
from fencepost.checks.engines.odds.incidents import incidents
from fencepost.checks.engines.odds.sampling import CHUNK, Estimate, Sums, Walks, estimate
from fencepost.checks.engines.odds.transitions import InstanceError, transitions
from fencepost.checks.odds.solving import Solver, instance, repair_of
from fencepost.checks.odds.ways import WAYS, Way
from fencepost.model.kernel.walks.law import LONG, LONG_ONES, SHORT
from fencepost.model.language import And, Protocol, Truth
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers, published
from fencepost.model.pulsar.topic.state import NONE
from fencepost.properties.topic.variables import TopicVariables
from tests.checks.odds.solver import SOLVER

pytestmark = pytest.mark.xdist_group("odds")
NUMBERS = published().given("rival_recoveries", 1.57)


def exact(way: Way, numbers: Numbers = NUMBERS) -> float:
    """Incidents per year, each further message that an incident loses counted, as walks have them."""
    return incidents(SOLVER.cycles(way), numbers, repair=repair_of(way, numbers), once=False).per_year


@cache
def walks(name: str, *, guided: bool = True) -> Walks:
    way = WAYS[name]
    factors = factors_of(SOLVER.cycles(way), NUMBERS, repair=repair_of(way, NUMBERS)) if guided else None
    cycles = {"lead": way.lead, "outages": way.outages}
    return Walks(instance(way), NUMBERS, way.lost, way.opens, **cycles, repair=repair_of(way, NUMBERS), factors=factors)


def test_walks_agree_with_the_textbook_without_a_guide() -> None:
    found = estimate(walks("disks", guided=False).all(1, 100_000, workers=1), 100_000)
    assert found.half < 0.05 * found.per_year
    assert abs(found.per_year - exact(WAYS["disks"])) < 2 * found.half


SAMPLED = (
    pytest.param("disks", 5),
    pytest.param("removed_producer_publishes", 5, marks=pytest.mark.long),
    pytest.param("fence_checked_apart", 5, marks=pytest.mark.long),
    pytest.param("key_record_after_entry", 40, marks=pytest.mark.deep),
    pytest.param("cookie_deleted_after_wipe", 40, marks=pytest.mark.deep),
    pytest.param("denies_before_fence_is_journaled", 40, marks=pytest.mark.deep),
    pytest.param("master_key_with_entries_only", 40, marks=pytest.mark.deep),
    pytest.param("idle_checkpoint_skips_index", 40, marks=pytest.mark.deep),
    pytest.param("terminated_reopened", 20, marks=pytest.mark.deep),
    pytest.param("captured_ensemble", 40, marks=pytest.mark.deep),
)
"""Ways, and how many chunks of walks: two faults make scores skewed, and intervals of few walks too narrow."""


@pytest.mark.parametrize(("name", "chunks"), SAMPLED)
def test_the_exact_answer_is_in_most_intervals_of_twenty_seeds(name: str, chunks: int) -> None:
    """Of intervals of 95 % one in twenty misses; of 20 more than 5 do with a probability of 3 in 10,000."""
    count, truth = chunks * CHUNK, exact(WAYS[name])
    found = [estimate(walks(name).all(seed, count, workers=2), count) for seed in range(20)]
    inside = sum(abs(each.per_year - truth) <= each.half for each in found)
    assert inside >= 15
    assert np.mean([each.per_year for each in found]) == pytest.approx(truth, rel=0.1)


def test_a_guide_finds_what_failure_biasing_does_not() -> None:
    """Two races of 0.05 ms against seconds: without a guide no walk of tens of thousands gets there."""
    count = 4 * CHUNK
    guided, plain = (
        estimate(walks("removed_producer_publishes", guided=g).all(2, count, workers=1), count) for g in (True, False)
    )
    assert guided.hits > 1_000 > plain.hits
    assert abs(guided.per_year - exact(WAYS["removed_producer_publishes"])) < 3 * guided.half


@pytest.mark.long
def test_a_guide_of_a_smaller_instance_serves_a_larger_one() -> None:
    way = WAYS["removed_producer_publishes"]
    larger = replace(way, parameters={**way.parameters, "messages": 5, "capacity": 6})
    guided = Solver(1, {way.name: larger}).walked(way, NUMBERS, 50 * CHUNK, 3)
    assert guided.half < 0.05 * guided.per_year
    assert abs(guided.per_year - exact(larger)) < 3 * guided.half


def test_the_same_seed_walks_the_same_on_any_number_of_workers_and_in_any_pieces() -> None:
    one = walks("disks")
    count = 3 * CHUNK + 17
    assert one.all(7, count, workers=1) == one.all(7, count, workers=2)
    pieces = [one.of(7, first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    assert estimate(pieces, count) == estimate(one.all(7, count, workers=2)[::-1], count)
    assert one.of(8, 0, CHUNK) != pieces[0]


def test_an_estimate_is_a_mean_with_its_interval() -> None:
    found = estimate([Sums(2.0, 4.0, 10, 1), Sums(0.0, 0.0, 10, 0)], 4)
    year = 365.25 * 86_400_000
    assert found.per_year == pytest.approx(0.5 * year)
    assert found.half == pytest.approx(1.959964 * math.sqrt((1 - 0.25) / 4) * year)
    assert (found.steps, found.hits) == (20, 1)


LATER = NUMBERS.given("operations_timeout", 5_000)
"""An outage of 20 s on average outlasts twice that often enough."""


def slow_updates(numbers: Numbers) -> Estimate:
    """Updates of a list that outlast an outage, as if each of them lost a message."""
    way = WAYS["listed_after_time_out"]
    factors = factors_of(cycles_of_slow_updates(), LATER)
    count = 20 * CHUNK
    sums = Walks(instance(way), numbers, outlasts, way.opens, outages=True, factors=factors).all(5, count, workers=1)
    return estimate(sums, count)


def outlasts(p: Protocol, m: int) -> Truth:
    """The formula: an update of the list has outlasted the time-out, and a message comes."""
    s = TopicVariables.now(p)
    return And(m == 1, s.slow[0] != NONE, s.length[0] > s.arrived[0])


@cache
def cycles_of_slow_updates() -> Cycles:
    way = WAYS["listed_after_time_out"]
    return Cycles.of(transitions(instance(way), LATER, outlasts, way.opens), LATER, way.opens, outages=True)


def test_a_timer_has_the_stages_that_exact_solutions_have() -> None:
    found = slow_updates(LATER)
    assert found.half < 0.1 * found.per_year
    assert abs(found.per_year - incidents(cycles_of_slow_updates(), LATER, once=False).per_year) < 2 * found.half


def of_constant_time_out(outage: float) -> float:
    """The messages a year that come while an update outlasts its time-out, if outages do so for that many ms on average."""
    caught = LATER["outages"] * LATER["rollovers"] * LATER["metadata"] / MS_PER_YEAR
    return caught * outage * LATER["messages"] / 1000


def test_an_outage_of_constant_length_outlasts_a_constant_time_out_or_does_not() -> None:
    """Of outages of 20 s each lasts 10 s longer than a time-out of 10 s, and none longer than one of 40 s."""
    constant = LATER.by_law("constant", "outage", "slow_update")
    found = slow_updates(constant)
    assert found.half < 0.1 * found.per_year
    assert abs(found.per_year - of_constant_time_out(10_000)) < 2 * found.half
    assert slow_updates(constant.given("operations_timeout", 20_000)).per_year < 1e-3 * found.per_year


def test_a_heavy_tail_is_a_mixture_of_outages() -> None:
    """An outage of an exponential law outlasts a constant time-out by as much as it lasts, if it does."""
    found = slow_updates(LATER.by_law("constant", "slow_update").by_law("heavy", "outage"))
    by_hand = sum(
        chance * part * LATER["outage"] * math.exp(-LATER["slow_update"] / (part * LATER["outage"]))
        for chance, part in ((LONG_ONES, LONG), (1 - LONG_ONES, SHORT))
    )
    assert found.half < 0.3 * found.per_year
    assert abs(found.per_year - of_constant_time_out(by_hand)) < 2 * found.half


def test_an_instance_with_too_few_messages_is_refused() -> None:
    way = WAYS["disks"]
    few = replace(way, parameters={**way.parameters, "entries": 1})
    with pytest.raises(InstanceError, match="no message comes after 1"):
        Walks(instance(few), NUMBERS, lambda p, m: way.lost(p, 0), 2)
