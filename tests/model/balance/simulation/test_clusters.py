"""Clusters at the beginning of a run, generated or of a snapshot, and what topics carry."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fencepost.model.balance.load_data import BundleData, LoadData, LocalBrokerData, NamespaceBundleStats, ResourceUsage
from fencepost.model.balance.load_manager import Snapshot
from fencepost.model.balance.simulation.cluster import UNOWNED, Capacity, Generated, places
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.scenario import SCENARIOS, Event, Scenario, scenario
from fencepost.model.balance.simulation.sensing import Load
from fencepost.model.balance.simulation.snapshot_cluster import Pictured, Unusable
from fencepost.model.balance.simulation.workload import Bursts, Diurnal, HotTopic, Jitter, Recorded, course_of
from fencepost.model.balance.simulation.world import World, stream
from fencepost.model.balance.splitting import Topic
from fencepost.model.pulsar.hash_range import Layout
from tests.model.balance.simulation.pictures import bundle, pictured, policy

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("zipf", [0.0, 0.7, 1.2])
def test_a_generated_cluster_is_as_full_as_asked(zipf: float) -> None:
    world = World(scenario("noisy-rates", Generated(count=5, bundles=53, namespaces=7, load=0.4, zipf=zipf)), seed=1, minutes=1)
    cluster = world.cluster
    assert (len(cluster.bundles), len(cluster.brokers), len(cluster.layouts)) == (53, 5, 7)
    assert set(Counter(cluster.owners.tolist()).values()) <= {10, 11}
    world = World(replace(world.scenario, shapes=()), seed=1, minutes=1)
    assert Load(world, world.carried()[0]).usage.mean() == pytest.approx(0.4)


def test_topics_are_in_the_bundle_of_their_hash() -> None:
    cluster = Generated(count=2, bundles=10, namespaces=3).cluster(np.random.default_rng(1))
    for place, hash in zip(cluster.topics.bundle.tolist(), cluster.topics.hash.tolist(), strict=True):
        namespace, _, name = cluster.bundles[place].rpartition("/")
        assert str(cluster.layouts[namespace].find(hash)) == name


@pytest.mark.parametrize("hash", [0, 1, 0x3FFFFFFF, 0x40000000, 0xFFFFFFFE, 0xFFFFFFFF])
def test_places_are_where_a_lookup_finds_them(hash: int) -> None:
    layout = Layout.of_equal_bundles(4)
    bundle = layout.find(hash)
    assert bundle is not None
    assert places(layout, np.array([hash])).tolist() == [layout.bundles.index(bundle)]


def test_a_snapshot_is_taken_as_it_is() -> None:
    cluster = pictured({"b1": {0: 1000, 2: 500}, "b2": {3: 4000}}, topics=2).cluster(RANDOM)
    assert [name for name, owner in zip(cluster.bundles, cluster.owners.tolist(), strict=True) if owner == 0] == [
        bundle(0),
        bundle(2),
    ]
    assert cluster.bundles[1] == bundle(1)  # what lies between is a bundle, too: without an owner, without topics
    assert cluster.owners.tolist() == [0, UNOWNED, 0, 1, UNOWNED]
    assert cluster.topics.rates[0].tolist() == [500, 500, 250, 250, 2000, 2000]
    assert [f"{hash:08x}" for hash in cluster.topics.hash.tolist()[:2]] == ["04000000", "0c000000"]
    assert [capacity.rate for capacity in cluster.capacities] == pytest.approx([10_000, 10_000])


def test_topics_that_a_snapshot_lists_are_its_topics() -> None:
    snapshot = pictured({"b1": {0: 1000}}, topics=2).snapshot
    listed = {bundle(0): (Topic(hash=7, msgRateIn=3.0), Topic(hash=8, msgRateOut=4.0))}
    topics = Pictured(replace(snapshot, topics=listed)).cluster(RANDOM).topics
    assert (topics.hash.tolist(), topics.rates[:2].tolist()) == ([7, 8], [[3, 0], [0, 4]])


def test_capacities_are_seen_in_reports() -> None:
    by_rate = LocalBrokerData(500, 500, cpu=ResourceUsage(50, 200), bandwidthIn=ResourceUsage(1, 8000), bundles=(bundle(0),))
    by_bytes = LocalBrokerData(msgThroughputIn=300, cpu=ResourceUsage(25, 100))
    idle = LocalBrokerData()
    capacities = Pictured(Snapshot(LoadData({"a": by_rate, "b": by_bytes, "c": idle, "d": None}))).cluster(RANDOM).capacities
    infinite = float("inf")
    assert capacities[0] == Capacity(4000, infinite, 1e6, infinite)
    assert capacities[1] == Capacity(infinite, 1200, infinite, infinite)
    assert capacities[2] == capacities[3] == Capacity(4000, 1200, infinite, infinite)


def test_a_network_takes_what_the_report_shows() -> None:
    carrying = LocalBrokerData(msgThroughputIn=3e6, msgThroughputOut=1e6, bandwidthIn=ResourceUsage(25, 100, "percent"))
    of_a_card = LocalBrokerData(msgThroughputIn=1e6, bandwidthIn=ResourceUsage(16_000, 80_000))
    idle, noisy = (LocalBrokerData(msgThroughputIn=carried, bandwidthIn=ResourceUsage(1, 8000)) for carried in (0, 10))
    unknown = LocalBrokerData(bandwidthIn=ResourceUsage(0, 100, "percent"))
    reports = {"a": replace(carrying, bundles=(bundle(0),)), "b": of_a_card, "c": idle, "d": noisy, "e": unknown}
    capacities = Pictured(Snapshot(LoadData(reports))).cluster(RANDOM).capacities
    assert [each.incoming for each in capacities] == pytest.approx([12e6, 5e6, 1e6, 1e6, 8.5e6])
    assert {each.outgoing for each in capacities} == {float("inf")}


def test_of_two_owners_the_later_report_is_right() -> None:
    stats = {bundle(0): NamespaceBundleStats(topics=1)}
    early = LocalBrokerData(lastStats=stats, bundles=(bundle(0),), lastUpdate=1)
    late = replace(early, lastUpdate=2)
    assert Pictured(Snapshot(LoadData({"a": late, "b": early}))).cluster(RANDOM).owners.tolist() == [0, UNOWNED]


def test_brokers_serve_the_topics_and_say_the_version_that_the_snapshot_says() -> None:
    """The bundle that broker b1 loses is looked up for a topic that is not persistent: b2 serves none."""
    source = pictured({f"b{n}:1": {n: 10.0} for n in (1, 2, 3)}, non_persistent=(bundle(1),))
    brokers = {
        name: replace(report, brokerVersionString=f"4.{name[1]}", nonPersistentTopicsEnabled=name != "b2:1")
        for name, report in source.snapshot.load.reports.items()
    }
    source = replace(source, snapshot=replace(source.snapshot, load=replace(source.snapshot.load, brokers=brokers)))
    for seed in range(8):
        run = simulate(policy(), Scenario("x", source, events=(Event(1, "stop", "b1:1"), Event(1, "start", "b4:1"))), seed, 0.1)
        (placed,) = (action.destination for action in run.actions if action.kind == "assign")
        assert placed == "b3:1"
    world = World(Scenario("x", source, events=(Event(1, "start", "b4:1"),)), 0, 1)
    assert [world.traits[f"b{n}:1"].version for n in (1, 2, 3, 4)] == ["4.1", "4.2", "4.3", "4.1"]


def test_what_is_preallocated_has_an_owner() -> None:
    preallocated = {bundle(0): "b2", bundle(1): "gone", bundle(2): "b1"}
    source = pictured({"b1": {3: 100}, "b2": {2: 100}}, preallocated=preallocated)
    cluster = source.cluster(RANDOM)
    owned = {
        name: cluster.brokers[owner] for name, owner in zip(cluster.bundles, cluster.owners.tolist(), strict=True) if owner >= 0
    }
    assert owned == {bundle(0): "b2", bundle(2): "b2", bundle(3): "b1"}
    assert simulate(policy(), Scenario("s", source), seed=0, hours=0.05).refused == ()


@pytest.mark.parametrize(
    ("bundles", "message"),
    [
        ({}, "there are no bundles"),
        ({"n/no-bundle": BundleData()}, "does not name a bundle"),
        ({"n/0x00000000_0x20000000": BundleData(), "n/0x10000000_0x30000000": BundleData()}, "the bundles of n overlap"),
        ({"0x00000000_0x20000000": BundleData()}, "write it as Pulsar does: tenant/namespace/0x00000000_0x20000000"),
        ({"n/0x0_0x20000000": BundleData()}, "write it as Pulsar does"),
        ({"n/0x30000000_0x20000000": BundleData()}, "overlap"),
    ],
)
def test_what_is_no_cluster_is_told(bundles: dict[str, BundleData], message: str) -> None:
    with pytest.raises(Unusable, match=message):
        Pictured(Snapshot(LoadData({"a": LocalBrokerData()}, bundles))).cluster(RANDOM)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_are_of_the_cluster_that_they_are_made_of(name: str) -> None:
    cluster_scenario = scenario(name, Generated(count=3, bundles=6, namespaces=1))
    assert cluster_scenario.name == name
    assert cluster_scenario.brokers[:3] == ("broker-1:8080", "broker-2:8080", "broker-3:8080")


def test_shapes_change_rates_as_they_say() -> None:
    groups, rates = np.array([0, 0, 1]), np.ones((4, 3))
    wave = Diurnal(lowest=0.2, period_minutes=60, spread=0.0).course(groups, 60, stream(0, "a"))
    heights = np.array([wave(minute, rates)[0, 0] for minute in range(60)])
    assert heights.min() == pytest.approx(0.2, abs=0.01)
    assert heights.max() == pytest.approx(1.0, abs=0.01)
    assert np.array_equal(wave(7, rates)[:, 0], wave(7, rates)[:, 2])
    hot = HotTopic(minute=5, share=0.5).course(groups, 60, stream(0, "b"))
    assert hot(4, rates) is rates
    assert sorted(hot(5, rates)[0].tolist()) == [1, 1, 2.5]
    jitter = Jitter(0.5).course(groups, 60, stream(0, "c"))
    factors = np.array([jitter(minute, rates) for minute in range(60)])
    assert 0.5 <= factors.min() < 0.6
    assert 1.4 < factors.max() <= 1.5
    recorded = Recorded((2, 4), np.stack([2 * rates, 3 * rates])).course(groups, 60, stream(0, "d"))
    assert [recorded(minute, rates)[0, 0] for minute in range(6)] == [1, 1, 2, 2, 3, 3]


def test_bursts_begin_and_end() -> None:
    groups, rates = np.zeros(100, dtype=np.intp), np.ones((4, 100))
    burst = Bursts(per_hour=6, share=0.3, factor=4, minutes=5).course(groups, 120, stream(0, "a"))
    sums = np.array([burst(minute, rates)[0].max() for minute in range(120)])
    assert set(sums.tolist()) >= {1.0, 4.0}
    assert 0 < np.mean(sums > 1) < 0.9


def test_each_shape_draws_from_a_stream_of_its_own() -> None:
    groups, rates = np.zeros(10, dtype=np.intp), np.ones((4, 10))
    one = course_of((Jitter(),), groups, 10, lambda purpose: stream(4, purpose))
    both = course_of((Jitter(), Recorded((50,), rates[None])), groups, 10, lambda purpose: stream(4, purpose))
    assert np.array_equal(one(0, rates), both(0, rates))
    assert not np.array_equal(stream(4, "a").random(3), stream(4, "b").random(3))


@pytest.mark.parametrize("rows", [(0, 1, 2, 3), (0, 0, 1, 1), (0, 1, 2, 2)])
def test_a_bundle_carries_what_its_topics_carry_in_and_out(rows: tuple[int, ...]) -> None:
    source = Generated(count=2, bundles=4, topics_per_bundle=5)
    rates = RANDOM.random((4, 20))[list(rows)]
    world = World(Scenario("recorded", source, (Recorded((0,), rates[None]),)), seed=1, minutes=1)
    sample, offered, _ = world.carried()
    assert np.array_equal(sample.rates, [np.bincount(world.topics.bundle, row, 4) for row in rates])
    assert offered == sample.rates[:2].sum()
