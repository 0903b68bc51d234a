"""Simulated runs: small ones against what is computed by hand, larger ones for what must hold of every run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.load_manager import LoadManager
from fencepost.model.balance.shedding import Unloading
from fencepost.model.balance.simulation.cluster import Generated
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.measures import measures
from fencepost.model.balance.simulation.run import Run
from fencepost.model.balance.simulation.scenario import SCENARIOS, Event, Scenario, Sensors, scenario
from fencepost.model.balance.simulation.workload import HotTopic, Jitter, Recorded
from fencepost.model.balance.simulation.world import World
from fencepost.model.balance.strategies import SHEDDERS, load_manager
from tests.model.balance.simulation.pictures import NAMESPACE, bundle, pictured, policy, still

SMALL = Generated(count=4, bundles=24, namespaces=3, topics_per_bundle=5)
QUIET = {"loadBalancerSheddingEnabled": False, "loadBalancerAutoBundleSplitEnabled": False}


def _same(one: Run, other: Run) -> bool:
    arrays = ("usage", "rate", "throughput", "offered", "carried", "bundles", "constant", "assignment")
    equal = all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in arrays[:5])
    return (
        equal and all(np.array_equal(getattr(one, n), getattr(other, n)) for n in arrays[5:]) and one.actions == other.actions
    )


# --- by hand


def test_an_overloaded_broker_sheds_its_largest_bundle_once() -> None:
    """90 % of which 85 % is too much: need = 0.1 of 9000; the largest, 5000, is enough and fits into the other's 10 %."""
    world = still({"b1:1": {0: 5000, 1: 3000, 2: 1000}, "b2:1": {3: 1000}})
    run = simulate(policy(), world, seed=0, hours=0.1)
    (action,) = run.actions
    assert (action.minute, action.kind, action.bundle, action.source, action.destination) == (
        0,
        "unload",
        bundle(0),
        "b1:1",
        "b2:1",
    )
    assert (action.seconds, action.topics, action.refused) == (1.01, 1, "")
    assert run.usage[0].tolist() == pytest.approx([0.9, 0.1])
    # in the minute of the move nobody serves the bundle for 1.01 of 60 seconds
    assert run.usage[1].tolist() == pytest.approx([0.4, 0.1 + 0.5 * (1 - 1.01 / 60)])
    assert run.usage[2].tolist() == pytest.approx([0.4, 0.6])


def test_nothing_is_unloaded_again_within_the_grace_period() -> None:
    """Two bundles of half a broker each cannot be balanced over one and a half: the move repeats once it may."""
    world = still({"b1:1": {0: 4500, 1: 4500}, "b2:1": {2: 100, 3: 100}})
    run = simulate(policy(loadBalancerSheddingGracePeriodMinutes=7), world, seed=0, hours=1)
    times: dict[str, list[int]] = {}
    for action in run.done("unload"):
        times.setdefault(action.bundle, []).append(action.minute)
    assert run.done("unload")
    assert all(later - earlier > 7 for of_one in times.values() for earlier, later in pairwise(of_one))


def test_shedding_keeps_to_its_interval() -> None:
    world = still({"b1:1": {0: 5000, 1: 3000, 2: 1000}, "b2:1": {3: 1000}})
    run = simulate(policy(loadBalancerSheddingIntervalMinutes=4), world, seed=0, hours=0.2)
    assert [action.minute for action in run.actions] == [3]


def test_a_restarted_broker_stays_empty_under_threshold_shedder() -> None:
    """pulsar#18215: five brokers at 50 % and one at 0 %; nobody is 10 points above the mean."""
    owned = {f"b{n}:1": {2 * n: 2500.0, 2 * n + 1: 2500.0} for n in range(5)}
    run = simulate(policy("ThresholdShedder"), still({**owned, "b5:1": {}}), seed=0, hours=2)
    assert run.actions == ()
    assert np.all(run.usage[:, 5] == 0)
    lower = policy("ThresholdShedder", lowerBoundarySheddingEnabled=True, loadBalancerBundleUnloadMinThroughputThreshold=0.1)
    filled = simulate(lower, still({**owned, "b5:1": {}}), seed=0, hours=2)
    assert filled.usage[-1, 5] == pytest.approx(0.25)


def test_threshold_shedder_sheds_although_the_load_has_fallen() -> None:
    """pulsar#18173: b1 falls from 90 % to 50 %, where b2 is; its average takes two minutes more to come near the mean."""
    world = still({"b1:1": dict.fromkeys(range(12), 750.0), "b2:1": dict.fromkeys(range(12, 16), 1250.0)})
    topics = world.source.cluster(np.random.default_rng(0)).topics
    fallen = topics.rates.copy()
    fallen[:, :12] *= 5 / 9
    world = replace(world, shapes=(Recorded((1,), fallen[None]),))
    manager = policy("ThresholdShedder", loadBalancerBundleUnloadMinThroughputThreshold=0.1)
    run = simulate(manager, world, seed=0, hours=0.1)
    late = [action for action in run.done("unload") if action.minute >= 1]
    assert [action.source for action in late] == ["b1:1"] * len(late)
    assert len(late) == 2
    assert all(run.usage[action.minute, 0] < run.usage[action.minute, 1] for action in late)


def test_deviation_shedder_never_comes_to_rest() -> None:
    """It looks at no grace period: what is constant load for the others is a lasso for it."""
    figures = measures(simulate(policy("DeviationShedder"), scenario("zipf"), seed=1, hours=1))
    assert figures.returns > 40
    assert figures.repeats > 40
    calm = measures(simulate(policy("AvgShedder"), scenario("zipf"), seed=1, hours=1))
    assert (calm.returns, calm.repeats) == (0, 0)


def test_2_10_moves_more_than_required_for_its_delta() -> None:
    """pulsar#21905: a fifth of 7200 - 450 is required, 1350; bundles up to 1000 above what remains are accepted."""
    world = still({"b1:1": dict.fromkeys(range(12), 600.0), "b2:1": {12: 300, 13: 150}})
    old = replace(defaults("2.10.1"), loadBalancerLoadSheddingStrategy="UniformLoadShedder")
    for manager, moved in ((load_manager(old), 3), (policy("UniformLoadShedder"), 2)):
        run = simulate(manager, world, seed=0, hours=0.02)
        assert len(run.done("unload")) == moved


# --- what befalls brokers


def test_a_crash_leaves_its_bundles_to_others_after_the_session() -> None:
    events = (Event(2, "crash", "b1:1"), Event(5, "start", "b1:1"))
    world = still({"b1:1": {0: 1000, 1: 1000}, "b2:1": {2: 1000}, "b3:1": {3: 1000}}, events=events)
    run = simulate(policy(**QUIET), world, seed=0, hours=0.2)
    assert [(a.minute, a.kind) for a in run.actions] == [(2, "crash"), (2, "assign"), (2, "assign"), (5, "start")]
    assigned = run.done("assign")
    assert {action.destination for action in assigned} == {
        "b2:1",
        "b3:1",
    }  # the fewest bundles of the namespace, counting the first
    assert all(action.seconds == pytest.approx(30 + 1.01) for action in assigned)
    assert np.isnan(run.usage[2:5, 0]).all()
    assert run.usage[5:, 0].tolist() == [0.0] * (run.minutes - 5)
    assert measures(run).orphaned == pytest.approx(2 * 31.01)
    assert measures(run).time_to_fill == run.minutes - 5


def test_a_broker_that_stops_gives_its_bundles_up_without_waiting_for_the_session() -> None:
    world = still({"b1:1": {0: 1000}, "b2:1": {2: 1000}}, events=(Event(2, "stop", "b1:1"),))
    run = simulate(policy(**QUIET), world, seed=0, hours=0.1)
    assert [action.seconds for action in run.done("assign")] == [1.01]


def test_without_a_broker_bundles_wait() -> None:
    events = (Event(2, "crash", "b1:1"), Event(5, "start", "b1:1"))
    run = simulate(policy(**QUIET), still({"b1:1": {0: 1000}}, events=events), seed=0, hours=0.2)
    (assigned,) = run.done("assign")
    assert assigned.minute == 6  # its first report is at the end of the minute in which it starts
    assert run.carried[2:6].tolist() == [0.0] * 4
    assert run.carried[7] == run.offered[7] == 1000


def test_when_the_leader_goes_the_shedder_begins_anew() -> None:
    """AvgShedder needs two high hits; the crash of the leader in between takes the first one away."""
    owned = {"leader:1": {9: 100.0}, "b1:1": {0: 4000.0, 1: 900.0, 2: 900.0, 3: 900}, "b2:1": {4: 100.0}}
    settings = {"minUnloadMessage": 10, "loadBalancerAutoBundleSplitEnabled": False}
    with_crash = still(owned, events=(Event(1, "crash", "leader:1"),))
    calm = simulate(policy("AvgShedder", **settings), still(owned), seed=0, hours=0.1)
    crashed = simulate(policy("AvgShedder", **settings), with_crash, seed=0, hours=0.1)
    assert min(action.minute for action in calm.done("unload")) == 1
    assert min(action.minute for action in crashed.done("unload")) == 2


def test_events_that_change_nothing_are_passed_over() -> None:
    events = (Event(1, "start", "b1:1"), Event(2, "crash", "b3:1"), Event(2, "stop", "b3:1"), Event(3, "stop", "b3:1"))
    run = simulate(policy(**QUIET), still({"b1:1": {0: 1}, "b2:1": {1: 1}, "b3:1": {2: 1}}, events=events), seed=0, hours=0.1)
    assert [action.kind for action in run.actions] == ["crash", "assign"]


# --- splits


def test_a_bundle_with_too_much_is_split_until_it_is_small_enough() -> None:
    manager = policy("ThresholdShedder", loadBalancerNamespaceBundleMaxMsgRate=3000, loadBalancerSheddingEnabled=False)
    world = still({"b1:1": {0: 5000}, "b2:1": {1: 1000}, "b3:1": {2: 1000}}, topics=8)
    run = simulate(manager, world, seed=0, hours=0.3)
    (split,) = run.done("split")
    assert (split.bundle, split.source, split.boundaries, split.topics) == (bundle(0), "b1:1", (0x08000000,), 8)
    assert run.bundles[[0, -1]].tolist() == [4, 5]  # of 16ths of the range the last 13 are one bundle
    parts = [action for action in run.done("unload") if action.reason == "unloaded after its split"]
    assert {action.source for action in parts} == {"b1:1"}
    assert run.carried[-1] == pytest.approx(run.offered[-1])


def test_parts_stay_where_they_are_unless_they_are_to_be_unloaded() -> None:
    manager = policy(
        loadBalancerNamespaceBundleMaxTopics=4,
        loadBalancerAutoUnloadSplitBundlesEnabled=False,
        loadBalancerSheddingEnabled=False,
    )
    run = simulate(manager, still({"b1:1": {0: 100}, "b2:1": {1: 0}}, topics=8), seed=0, hours=0.3)
    assert [action.kind for action in run.actions] == ["split", "split"]
    assert run.usage[-1].tolist() == run.usage[0].tolist()


@pytest.mark.parametrize("algorithm", ["topic_count_equally_divide", "flow_or_qps_equally_divide"])
def test_algorithms_that_look_at_topics_get_them(algorithm: str) -> None:
    manager = policy(
        loadBalancerNamespaceBundleMaxMsgRate=3000,
        defaultNamespaceBundleSplitAlgorithm=algorithm,
        loadBalancerSheddingEnabled=False,
    )
    run = simulate(manager, still({"b1:1": {0: 5000}, "b2:1": {1: 100}}, topics=5), seed=0, hours=0.2)
    assert run.done("split")
    assert run.refused == ()


def test_the_extensible_manager_splits_after_more_hits_than_three() -> None:
    manager = policy("TransferShedder", loadBalancerNamespaceBundleMaxMsgRate=3000, loadBalancerSheddingEnabled=False)
    run = simulate(manager, still({"b1:1": {0: 5000}, "b2:1": {1: 100}}, topics=8), seed=0, hours=0.2)
    assert [action.minute for action in run.done("split")] == [3]


# --- what must hold of every run


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_offered_is_carried_but_for_pauses(name: str) -> None:
    run = simulate(policy("ThresholdShedder"), scenario(name, SMALL), seed=3, hours=1.5)
    assert run.usage.shape == (90, len(run.brokers))
    assert np.all(run.carried <= run.offered * (1 + 1e-12))
    paused = {action.minute + (action.kind != "assign") for action in run.done("assign", "unload", "split")}
    waiting = {m for action in run.done("crash", "stop") for m in (action.minute, action.minute + 1)}
    still_minutes = [minute for minute in range(run.minutes) if minute not in paused | waiting]
    assert still_minutes
    assert run.carried[still_minutes] == pytest.approx(run.offered[still_minutes])
    assert run.refused == ()


@pytest.mark.parametrize("shedder", SHEDDERS)
def test_the_same_seed_gives_the_same_run(shedder: str) -> None:
    world = scenario("crash", SMALL)
    one, other, third = (simulate(policy(shedder), world, seed=seed, hours=0.8) for seed in (5, 5, 6))
    assert _same(one, other)
    assert not _same(one, third)


@pytest.mark.parametrize("name", ["bursts", "hot-topic", "diurnal"])
def test_policies_meet_the_same_world(name: str) -> None:
    runs = [
        simulate(policy(shedder), scenario(name, SMALL), seed=1, hours=0.7)
        for shedder in ("ThresholdShedder", "DeviationShedder")
    ]
    for run in runs[1:]:
        assert run.offered == pytest.approx(runs[0].offered, rel=1e-12)  # added up by bundle, hence in another order


def test_one_more_shape_leaves_the_others_as_they_were() -> None:
    """Rates are multiplied, so that what jitter makes of a topic is the same beside a hot one."""
    source = pictured({"b1:1": {0: 1000}, "b2:1": {1: 1000}})
    plain = simulate(policy(**QUIET), Scenario("a", source, (Jitter(),)), seed=1, hours=0.5)
    more = simulate(policy(**QUIET), Scenario("b", source, (Jitter(), HotTopic(20, 0.5))), seed=1, hours=0.5)
    assert np.array_equal(plain.usage[:20], more.usage[:20])
    assert not np.array_equal(plain.usage[20:], more.usage[20:])


def test_noise_of_sensors_is_not_load() -> None:
    calm = simulate(policy(**QUIET), Scenario("calm", SMALL), seed=1, hours=1)
    noisy = simulate(policy(**QUIET), Scenario("noisy", SMALL, sensors=Sensors(0.2, 0.1, 0.1)), seed=1, hours=1)
    assert np.array_equal(calm.usage, noisy.usage)
    fooled = simulate(policy(), Scenario("noisy", SMALL, sensors=Sensors(spikes=0.2)), seed=1, hours=1)
    assert len(fooled.done("unload")) > len(simulate(policy(), Scenario("calm", SMALL), seed=1, hours=1).done("unload"))


def test_a_run_that_is_ended_is_the_beginning_of_the_whole() -> None:
    whole = simulate(policy(), scenario("zipf", SMALL), seed=0, hours=1)
    reports: list[tuple[int, int]] = []

    def should_stop(done: int, minutes: int) -> bool:
        reports.append((done, minutes))
        return done == 3

    begun = simulate(policy(), scenario("zipf", SMALL), seed=0, hours=1, should_stop=should_stop)
    assert reports == [(1, 60), (2, 60), (3, 60)]
    assert np.array_equal(begun.usage, whole.usage[:3])
    assert begun.actions == tuple(action for action in whole.actions if action.minute < 3)


# --- a policy that asks for what cannot be


@dataclass(frozen=True)
class Asking:
    """A shedder that always asks for the same."""

    unload: dict[str, tuple[str, ...]]
    where: str

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, Asking]:
        return Unloading(self.unload), self

    def with_active_brokers(self, brokers: Collection[str]) -> Asking:
        return self

    def select(self, candidates: object, bundle: str, data: LoadData, conf: Configuration) -> tuple[tuple[str, ...], Asking]:
        return (self.where,), self


@pytest.mark.parametrize(
    ("source", "asked", "where", "refused"),
    [
        ("b1:1", bundle(3), "b2:1", "b1:1 does not own"),
        ("b1:1", "public/default/0x00000000_0x00000007", "b2:1", "is not in the layout"),
        ("b1:1", "elsewhere/0x00000000_0x10000000", "b2:1", "is not in the layout"),
    ],
)
def test_what_cannot_be_is_refused(source: str, asked: str, where: str, refused: str) -> None:
    asking = Asking({source: (asked,)}, where)
    manager = LoadManager(defaults("4.2.4"), asking, asking)
    run = simulate(manager, still({"b1:1": {0: 100}, "b2:1": {2: 100}, "b3:1": {3: 100}}), seed=0, hours=0.05)
    unloads = [action for action in run.actions if action.kind == "unload"]
    assert unloads
    assert all(refused in action.refused for action in unloads)
    assert {(action.seconds, action.topics) for action in unloads} == {(0.0, 0)}
    assert measures(run).refused == len(run.refused)


def test_the_world_refuses_what_cannot_be() -> None:
    world = World(still({"b1:1": {0: 100}, "b2:1": {2: 100}, "b3:1": {3: 100}}), seed=0, minutes=1)
    world.happens(Event(0, "stop", "b3:1"))
    assert not world.unload(bundle(0), "b1:1", "b3:1", "")
    assert not world.unload(bundle(3), "b3:1", "b1:1", "")
    assert not world.assign(bundle(0), "b2:1", "")
    assert not world.split(bundle(0), "b2:1", (0x08000000,), "")
    assert not world.split(bundle(0), "b1:1", (0x10000000,), "")
    assert [action.refused for action in world.actions if action.kind != "stop"] == [
        "b3:1 is not alive",
        f"b3:1 does not own {bundle(3)}: nobody does",
        f"b1:1 owns {bundle(0)}",
        f"b2:1 does not own {bundle(0)}: b1:1 does",
        "0x10000000 to 0x10000000 is not strictly inside bundle 0x00000000_0x10000000",
    ]
    assert world.split(bundle(0), "b1:1", (0x08000000,), "") == [
        f"{NAMESPACE}/0x00000000_0x08000000",
        f"{NAMESPACE}/0x08000000_0x10000000",
    ]
    assert not world.unload(bundle(0), "b1:1", "b2:1", "")
    assert world.actions[-1].refused == f"{bundle(0)} is not in the layout of its namespace"
