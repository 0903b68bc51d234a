"""What is supposed of a cluster: brokers that join and leave, what they can take, loads, splits at the beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.simulation.cluster import Generated
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.recording import Recording, WithRecording
from fencepost.model.balance.simulation.run import Run
from fencepost.model.balance.simulation.scenario import Scenario, Sensors, scenario
from fencepost.model.balance.simulation.what_if import AFTER, WhatIf
from fencepost.model.balance.strategies import load_manager
from fencepost.traces.control_actions import replayed

SOURCE = Generated(4, 16, 2, 6, 0.4)
FIRST = "broker-1:8080"


CALM = replace(defaults("4.2.4"), loadBalancerSheddingEnabled=False, loadBalancerAutoBundleSplitEnabled=False)
"""A leader that does nothing but place what is looked up."""


def ran(what_if: WhatIf, world: Scenario | None = None, minutes: int = 20, conf: Configuration | None = None) -> Run:
    policy = load_manager(conf or defaults("4.2.4"))
    return simulate(policy, world or scenario("zipf", SOURCE), 3, minutes / 60, what_if=what_if)


def test_nothing_supposed_is_the_same_run() -> None:
    world = scenario("noisy-rates", SOURCE)
    assert WhatIf().of(world) is world
    assert not WhatIf()
    assert np.array_equal(ran(WhatIf(), world).usage, simulate(load_manager(defaults("4.2.4")), world, 3, 20 / 60).usage)


def test_brokers_that_join_are_filled_and_change_nothing_before() -> None:
    before, after = ran(WhatIf()), ran(WhatIf(added=2))
    assert after.brokers == (*before.brokers, "added-1:8080", "added-2:8080")
    assert np.array_equal(before.usage[:AFTER], after.usage[:AFTER, :4])
    assert np.isnan(after.usage[:AFTER, 4:]).all()
    assert np.isfinite(after.usage[AFTER:]).all()
    assert (after.usage[-1, 4:] > 0).any()
    assert not replayed(after).objections


def test_the_sensors_of_others_err_as_before_when_a_broker_joins() -> None:
    world = replace(scenario("noisy-sensors", SOURCE), sensors=Sensors(spikes=0.5))
    runs = [ran(WhatIf(added=count), world, conf=CALM) for count in (0, 1)]
    assert np.array_equal(runs[0].usage, runs[1].usage[:, :4])


def test_a_broker_that_is_removed_stays_away_and_its_bundles_are_served() -> None:
    world = scenario("rolling-restart", SOURCE)
    run = ran(WhatIf(removed=(FIRST,)), world, 50, CALM)
    assert np.isnan(run.usage[AFTER:, 0]).all()
    assert [action.kind for action in run.actions if action.source == FIRST and action.kind in ("stop", "start")] == ["stop"]
    lost = {bundle for bundle, owner in run.owners.items() if owner == FIRST}
    placed = {action.bundle for action in run.actions if action.kind == "assign" and action.minute == AFTER}
    assert lost
    assert lost <= placed
    assert run.carried[AFTER + 1] == pytest.approx(run.offered[AFTER + 1])
    assert not replayed(run).objections


def test_bigger_brokers_are_less_full() -> None:
    before, all_of_them, one = ran(WhatIf()), ran(WhatIf(bigger=(("", 2.0),))), ran(WhatIf(bigger=((FIRST, 4.0),)))
    assert all_of_them.usage[0] == pytest.approx(before.usage[0] / 2)
    assert one.usage[0] == pytest.approx(before.usage[0] / np.array([4, 1, 1, 1]))
    joined = WhatIf(added=1, bigger=(("", 2.0), (FIRST, 3.0))).of(scenario("zipf", SOURCE)).source
    cluster = joined.cluster(np.random.default_rng(0))
    assert cluster.joining is not None
    assert (cluster.capacities[0].rate, cluster.capacities[1].rate, cluster.joining.rate) == (600_000, 200_000, 200_000)


@pytest.mark.parametrize("name", ["", "public/namespace-1", "public/namespace-1/0x00000000_0x20000000"])
def test_loads_are_so_many_times_as_much(name: str) -> None:
    source = SOURCE.cluster(np.random.default_rng(0))
    supposed = WhatIf(loads=((name, 3.0),)).of(scenario("zipf", SOURCE)).source.cluster(np.random.default_rng(0))
    assert supposed.topics.factor is not None
    times = [3.0 if supposed.bundles[place].startswith(name) else 1.0 for place in source.topics.bundle]
    assert supposed.topics.factor.tolist() == times
    assert {1.0, 3.0} >= set(times) > (set() if not name else {1.0})


def test_recorded_rates_of_one_topic_are_so_many_times_as_much() -> None:
    names = ("persistent://public/namespace-1/a", "persistent://public/namespace-1/b")
    rates = np.full((1, 4, 2), 100.0)
    recording = Recording(names, (0,), rates)
    world = Scenario("recorded", WithRecording(SOURCE, recording), (recording.course,))
    assert (ran(WhatIf(), world).offered == 400).all()
    assert (ran(WhatIf(loads=((names[1], 2.0), ("", 10.0))), world).offered == 6000).all()


def test_bundles_are_split_first() -> None:
    run = ran(WhatIf(splits=("public/namespace-2/0x00000000_0x20000000",), largest=2), conf=CALM)
    cut = [action for action in run.actions if action.kind == "split"]
    assert [(action.minute, action.reason, action.refused) for action in cut] == [(AFTER, "asked for", "")] * 3
    assert cut[0].bundle == "public/namespace-2/0x00000000_0x20000000"
    assert run.bundles.tolist() == [16, *[19] * 19]
    assert not replayed(run).objections


def test_several_are_supposed_together() -> None:
    one, other = WhatIf(added=1, loads=(("a", 2.0),)), WhatIf(added=2, removed=(FIRST,), bigger=(("", 2.0),))
    both = one.and_also(other)
    assert both == WhatIf(3, (FIRST,), (("", 2.0),), (("a", 2.0),))
    assert both.brokers_worth(SOURCE.brokers) == 3 * 2 + 3 * 2
    assert both.names_of_added(scenario("scale-out", SOURCE)) == ["added-1:8080", "added-2:8080", "added-3:8080"]
