"""The odds of ways: against the textbook, against larger instances, and by what scaling says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fencepost.checks.engines.odds.transitions import transitions
from fencepost.checks.odds.solving import Solver, interval, throttled
from fencepost.checks.odds.ways import OVERLAP, WAYS, Way
from fencepost.model.kernel.walks.law import LONG, LONG_ONES, SHORT
from fencepost.model.odds.numbers import MS_PER_YEAR, published
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.odds.solver import SOLVER
from tests.marking import first_at_once

NUMBERS = published()
IN_A_GROUP = pytest.mark.xdist_group("odds")
pytestmark = IN_A_GROUP


def test_two_lost_disks_are_the_textbook() -> None:
    """The second disk is lost within the repair of the first: 2 nu^2 T of a pair."""
    found = SOLVER.per_year(WAYS["disks"], NUMBERS)
    assert math.isclose(found, 2 * NUMBERS["disk_losses"] ** 2 * NUMBERS["repair"] / MS_PER_YEAR, rel_tol=1e-4)


def test_effects_of_disks_are_what_the_formula_says() -> None:
    effects = {effect.name: effect for effect in SOLVER.effects(WAYS["disks"], NUMBERS)}
    assert effects["disk_losses"].doubled == pytest.approx(4, rel=1e-3)
    assert effects["repair"].doubled == pytest.approx(2, rel=1e-3)
    assert effects["repair"].upper == pytest.approx(3, rel=1e-3)
    assert effects["journal"].doubled == pytest.approx(1, rel=1e-3)
    factor = math.exp(math.hypot(2 * math.log(2), math.log(3)))
    assert interval(effects.values()) == pytest.approx((1 / factor, factor), rel=1e-2)


def test_faster_time_of_everything_is_more_incidents_in_the_same_proportion() -> None:
    """If every duration halves and every rate doubles, so does the frequency: there is no hidden unit."""
    faster = NUMBERS
    for name in NUMBERS:
        number = NUMBERS.of(name)
        if number.parts is None and number.unit not in ("1", "messages"):
            faster = faster.given(name, number.value / 2 if number.unit == "ms" else number.value * 2)
    for name in ("removed_producer_publishes", "terminated_reopened", "disks"):
        found = SOLVER.per_year(WAYS[name], faster) / SOLVER.per_year(WAYS[name], NUMBERS)
        assert found == pytest.approx(2, rel=1e-9)


def larger(name: str, **parameters: int) -> Way:
    return replace(WAYS[name], name=f"larger {name}", parameters={**WAYS[name].parameters, **parameters})


def test_one_message_more_changes_little() -> None:
    usual = SOLVER.per_year(WAYS["terminated_reopened"], NUMBERS)
    assert SOLVER.per_year(larger("terminated_reopened", messages=4), NUMBERS) == pytest.approx(usual, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("removed_producer_publishes", {"messages": 5, "capacity": 6}),
        ("removed_producer_publishes", {"connections": 4}),
        ("terminated_reopened", {"connections": 3}),
        ("disks", {"entries": 4}),
    ],
)
def test_larger_budgets_of_what_is_no_fault_change_little(name: str, parameters: dict[str, int]) -> None:
    usual = SOLVER.per_year(WAYS[name], NUMBERS)
    assert SOLVER.per_year(larger(name, **parameters), NUMBERS) == pytest.approx(usual, rel=0.01)


@pytest.mark.parametrize(
    "name", first_at_once(sorted(set(WAYS) - {"zombie_deletes", "captured_ensemble", "failed_save_forgotten"}))
)
def test_workers_change_no_byte(name: str) -> None:
    two = Solver(2)
    for numbers in (NUMBERS, NUMBERS.given("journal", 50)):
        assert SOLVER.per_year(WAYS[name], numbers) == two.per_year(WAYS[name], numbers)


@pytest.mark.long
def test_a_rival_recovers_about_as_often_as_sessions_are_lost() -> None:
    """Of four lost sessions a year some end before another broker has opened the topic."""
    assert SOLVER.per_year(OVERLAP, NUMBERS) == pytest.approx(1.5720, rel=1e-3)


PINNED = {
    "removed_producer_publishes": 5.2713e-4,
    "listed_after_time_out": 5.6463e-9,
    "terminated_reopened": 9.2650e-9,
    "fence_checked_apart": 4.0068e-4,
    "idle_checkpoint_skips_index": 8.9563e-16,
    "denies_before_fence_is_journaled": 1.0260e-12,
    "master_key_with_entries_only": 2.9774e-18,
    "key_record_after_entry": 1.1336e-13,
    "cookie_deleted_after_wipe": 3.2498e-11,
    "captured_ensemble": 1.3587e-11,
    "failed_save_forgotten": 9.3607e-12,
}


@pytest.mark.parametrize("name", first_at_once(PINNED))
def test_frequencies_are_as_they_were(name: str) -> None:
    assert SOLVER.per_year(WAYS[name], NUMBERS) == pytest.approx(PINNED[name], rel=1e-3, abs=0)


def test_of_failed_creations_the_share_is_small_where_messages_come_at_random() -> None:
    """The model says 2 to 9 % where producers send 1,000 to 10,000 messages a second, and none by itself at rest."""
    way = replace(WAYS["removed_producer_publishes"], throttled=None)
    shares = [SOLVER.share(way, NUMBERS.given("messages", rate)) for rate in (100, 1_000, 10_000)]
    assert shares == pytest.approx([0.00247, 0.0226, 0.0909], rel=0.02)
    often = SOLVER.per_year(way, NUMBERS) / shares[0]
    creations = NUMBERS["outages"] * NUMBERS["outage_fails"] * NUMBERS["rollovers"] * NUMBERS["outage"] / MS_PER_YEAR
    assert often == pytest.approx(creations, rel=0.01)


def test_of_failed_creations_the_share_is_a_mixture_with_throttled_connections() -> None:
    """An outage of 20 s on average lets 1,000 messages of 100/s pend with a probability of exp(-1/2)."""
    way = WAYS["removed_producer_publishes"]
    assert throttled(NUMBERS) == pytest.approx(math.exp(-0.5))
    calm, full = SOLVER.share(replace(way, throttled=None), NUMBERS), SOLVER.share_throttled(way, NUMBERS)
    assert 0.2 < full < 0.4
    assert SOLVER.share(way, NUMBERS) == pytest.approx((1 - math.exp(-0.5)) * calm + math.exp(-0.5) * full)
    unlimited = NUMBERS.given("pending_limit", 1e15)
    assert SOLVER.per_year(way, unlimited) == pytest.approx(SOLVER.per_year(replace(way, throttled=None), NUMBERS))


def test_a_slow_update_is_an_outage_that_begins_within_it_and_outlasts_the_time_out() -> None:
    """It begins while the list is written, and lasts longer than a timer of 16 stages; half of such updates fail in the end."""
    way, stages = WAYS["listed_after_time_out"], 16
    written = NUMBERS["rollovers"] * NUMBERS["metadata"] / MS_PER_YEAR
    outlasts = (1 + NUMBERS["slow_update"] / NUMBERS["outage"] / stages) ** -stages
    often = SOLVER.per_year(way, NUMBERS) / SOLVER.share(way, NUMBERS)
    assert often == pytest.approx(NUMBERS["outages"] * written * outlasts, rel=0.01)
    never_fails = NUMBERS.given("outage_fails", 1e-9)
    assert SOLVER.share(way, never_fails) == pytest.approx(2 * SOLVER.share(way, NUMBERS), rel=0.01)
    assert SOLVER.share(way, never_fails.given("journal", 0.001).given("network", 0.001)) > 0.98


def test_a_heavy_tail_of_outages_makes_slow_updates_six_times_as_frequent() -> None:
    """To the first order in outages a mixture of them is the mixture of their odds."""
    way = WAYS["listed_after_time_out"]
    parts = ((LONG_ONES, LONG), (1 - LONG_ONES, SHORT))
    mixed = sum(share * SOLVER.per_year(way, NUMBERS.given("outage", mean * NUMBERS["outage"])) for share, mean in parts)
    assert mixed / SOLVER.per_year(way, NUMBERS) == pytest.approx(6, abs=0.5)


def test_an_update_that_fails_in_time_loses_nothing() -> None:
    """Without an outage that blocks it the second creation is done long before the first time-out."""
    way = WAYS["listed_after_time_out"]
    assert SOLVER.per_year(way, NUMBERS.given("operations_timeout", 1e9)) < 1e-20


def test_every_event_that_can_be_counted_has_a_share() -> None:
    shares = {name: SOLVER.share(WAYS[name], NUMBERS) for name in ("terminated_reopened", "fence_checked_apart")}
    assert shares["terminated_reopened"] * NUMBERS["terminations"] == pytest.approx(
        SOLVER.per_year(WAYS["terminated_reopened"], NUMBERS), rel=0.01
    )
    assert 1e-4 < shares["fence_checked_apart"] < 1e-3


def test_without_the_bug_nothing_is_lost() -> None:
    way = replace(WAYS["terminated_reopened"], name="fixed", bugs=())
    assert SOLVER.per_year(way, NUMBERS) == 0


def test_backward_probabilities_are_those_of_a_dense_solution() -> None:
    cycles = SOLVER.cycles(WAYS["removed_producer_publishes"])
    generator = np.random.default_rng(1)
    rates = 10 ** generator.uniform(-9, 0, len(cycles.codes))
    found = cycles.chain.reaching(rates, np.where(cycles.ends, 1.0, -1.0))
    matrix, right = np.eye(cycles.nodes), cycles.ends * 1.0
    whole = np.bincount(cycles.sources, rates, cycles.nodes)
    inside = ~cycles.ends[cycles.sources]
    np.add.at(matrix, (cycles.sources[inside], cycles.chain.targets[inside]), -(rates / whole[cycles.sources])[inside])
    dense = np.linalg.solve(matrix, right)
    assert np.allclose(found[found > 1e-12], dense[found > 1e-12], rtol=1e-9)


def test_stages_of_a_timer_keep_its_mean() -> None:
    """An inactive topic is deleted after a minute, whatever the stages: each goes as many times as fast as all together."""
    p = PROTOCOLS["cluster"].build(
        dict(WAYS["zombie_deletes"].parameters) | {"messages": 1, "connections": 1}, ("zombie_deletes",)
    )
    whole = transitions(p, NUMBERS, WAYS["zombie_deletes"].lost, 0, workers=1)
    is_timer = np.array([action.takes == "inactive" for action in p.actions])[whole.codes]
    assert set(whole.weights[is_timer]) == {16.0}
