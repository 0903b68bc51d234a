"""The theorems about shedding: all are proved, each falls to a bug, and the shedders do what the theorems say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.checks.engines.theorems import decide, vacuous
from fencepost.model.balance.amounts import BUGS, RIGHT
from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.threshold_shedder import ThresholdShedder
from fencepost.properties.balance.arithmetic import theorems
from tests.model.balance.clusters import MIB, broker, bundle, cluster

NAMES = [theorem.name for theorem in theorems()]

CAUGHT = {
    "value_counts_whole": {
        "averages_stay_between": "0.01 % on average and 0.01 % now, weight 0.0001: the average becomes 0.010001 %",
    },
    "mean_is_enough": {
        "close_brokers_are_left_alone": "emptiest, mean and fullest broker at 0 %, 0 %, 0 %, threshold 0.01 %: the fullest"
        " sheds",
        "a_lone_empty_broker_is_filled_from_n_thresholds_on": "2 brokers, one empty, the others at 0 %, threshold 0.01 %: they"
        " shed",
    },
    "delta": {"a_share_of_at_most_half_turns_no_pair_round": "1 go from 0 to 0, share 0"},
    "whole_difference": {"handing_half_the_difference_over_makes_two_brokers_even": "1 go from 1 to 0"},
    "margin_forgotten": {
        "an_overloaded_broker_is_brought_below_its_threshold": "at 70 %, threshold 70 %, 0 % is to be shed",
    },
}
"""What each bug violates, with the smallest refutation."""


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_proved_over_real_numbers_by_both_solvers(place: int) -> None:
    theorem = theorems()[place]
    verdict = decide(theorem, second_solver=True)
    assert verdict.verdict == "proved"
    assert verdict.reach["obligations"] == verdict.reach["confirmed"] == len(theorem.steps)


@pytest.mark.parametrize("bug", [None, *BUGS])
def test_nothing_is_proved_of_nothing(bug: str | None) -> None:
    assert [step.name for t in theorems(frozenset({bug} - {None})) for step in vacuous(t)] == []


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_caught_with_the_smallest_refutation(bug: str) -> None:
    verdicts = [decide(theorem) for theorem in theorems(frozenset({bug}))]
    assert {v.property.name: v.note for v in verdicts if v.verdict == "violated"} == CAUGHT[bug]


def test_every_theorem_falls_to_a_bug() -> None:
    assert {name for caught in CAUGHT.values() for name in caught} == set(NAMES)


@pytest.mark.parametrize("count", [2, 3, 6, 9])
def test_the_shedder_fills_a_lone_empty_broker_from_n_thresholds_on(count: int) -> None:
    for percent, sheds in ((10 * count - 1, False), (10 * count + 1, True)):
        names = {f"n/{place}": bundle(500 * MIB) for place in range(2 * (count - 1))}
        full = {
            f"b{place}": broker(percent, throughput=1000 * MIB, bundles=[f"n/{2 * place}", f"n/{2 * place + 1}"])
            for place in range(count - 1)
        }
        data = cluster({**full, "empty": broker()}, names)
        unloading, _ = ThresholdShedder().find_bundles_for_unloading(data, defaults("4.2.4"))
        assert bool(unloading.unload) is sheds


def test_among_eleven_brokers_an_empty_one_is_never_filled() -> None:
    names = {f"n/{place}": bundle(500 * MIB) for place in range(20)}
    full = {f"b{p}": broker(100, throughput=1000 * MIB, bundles=[f"n/{2 * p}", f"n/{2 * p + 1}"]) for p in range(10)}
    data = cluster({**full, "empty": broker()}, names)
    assert not ThresholdShedder().find_bundles_for_unloading(data, defaults("4.2.4"))[0].unload
    lower = replace(defaults("4.2.4"), loadBalancerBrokerThresholdShedderPercentage=9)
    assert ThresholdShedder().find_bundles_for_unloading(data, lower)[0].unload


def test_the_bound_of_70_percent_is_not_idle() -> None:
    assert 0.75 * (1 - RIGHT.beyond_the_threshold(1, 0.75, 0.5)) == pytest.approx(0.525)
