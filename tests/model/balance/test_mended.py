"""Where the policies once differed from Pulsar's classes: one case for each, found by running both on the same input."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fencepost.model.balance.broker_loads import broker_loads
from fencepost.model.balance.configuration import ABSENT, RELEASES, Version, defaults
from fencepost.model.balance.isolation import NamespaceIsolationData, Policies, permitted
from fencepost.model.balance.load_data import LocalBrokerData, NamespaceBundleStats, ResourceUsage
from fencepost.model.balance.load_manager import LoadManager, Snapshot
from fencepost.model.balance.overload_shedder import OverloadShedder
from fencepost.model.balance.placement import LeastResourceUsageWithWeight
from fencepost.model.balance.reports import Figures, change, must_report
from fencepost.model.balance.selection import assign
from fencepost.model.balance.shedding import never_shed
from fencepost.model.balance.splitting import SplitStrategy, Topic, boundaries, bundles_to_split
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER, load_manager
from fencepost.model.balance.threshold_shedder import ThresholdShedder
from fencepost.model.balance.top_bundles import top_bundles
from fencepost.model.balance.uniform_load_shedder import UniformLoadShedder
from fencepost.model.pulsar.hash_range import Bundle, Refused
from tests.model.balance.clusters import broker, bundle, cluster, stats

NEWEST, OLD = defaults("4.2.4"), defaults("2.10.1")
EXTENSIBLE = replace(NEWEST, loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)
FIRST, SECOND, THIRD = "t/n/0x00000000_0x40000000", "t/n/0x40000000_0x80000000", "t/n/0x80000000_0xc0000000"
NARROW = "t/n/0xc0000000_0xc0000001"


def test_the_extensible_manager_counts_heap_memory() -> None:
    """1: BrokerLoadData.getMaxResourceUsageWithWeight."""
    report = replace(broker(10), memory=ResourceUsage(90, 100))
    conf = replace(EXTENSIBLE, loadBalancerMemoryResourceWeight=1.0)
    assert broker_loads(cluster({"a:1": report}), conf)["a:1"].weightedMaxEMA == pytest.approx(0.9)
    modular = replace(conf, loadManagerClassName=NEWEST.loadManagerClassName)
    assert broker_loads(cluster({"a:1": report}), modular)["a:1"].weightedMaxEMA == pytest.approx(0.1)


def test_anti_affinity_of_the_extensible_manager_counts_bundles() -> None:
    """2: getAntiAffinityNamespaceOwnedBrokers of LoadManagerShared, by the entries of the channel."""
    data = cluster({"a:1": broker(bundles=["t/m/1", "t/m/2"]), "b:1": broker(bundles=["t/m/3"])})
    policies = Policies(anti_affinity={"t/n": "g", "t/m": "g"})
    for conf, left in ((NEWEST, ("a:1", "b:1")), (EXTENSIBLE, ("b:1",))):
        selection, _ = assign(FIRST, data, policies, conf, LeastResourceUsageWithWeight())
        assert selection.candidates["anti_affinity"] == left


def test_top_bundles_compare_rounded_statistics() -> None:
    """3: NamespaceBundleStats.compareTo; 140 and 60 KB/s are both 100 KB/s, and then the rate decides."""
    seen = {
        FIRST: NamespaceBundleStats(msgThroughputIn=140e3, msgRateIn=10),
        SECOND: NamespaceBundleStats(msgThroughputIn=60e3, msgRateIn=500),
        THIRD: NamespaceBundleStats(msgThroughputIn=400e3),
    }
    data = cluster({"a:1": broker(bundles=list(seen), lastStats=seen)})
    assert [name for name, _ in top_bundles("a:1", data, EXTENSIBLE, Policies())] == [FIRST, SECOND, THIRD]
    one = replace(EXTENSIBLE, loadBalancerMaxNumberOfBundlesInBundleLoadReport=1)
    assert [name for name, _ in top_bundles("a:1", data, one, Policies())] == [THIRD]


def owning(name: str, seen: NamespaceBundleStats) -> LocalBrokerData:
    return broker(bundles=[name], lastStats={name: seen})


LARGE = stats(topics=2000)


def test_split_hits_are_those_of_the_owner() -> None:
    """4: each broker has a DefaultNamespaceBundleSplitStrategyImpl, and drops the hits of what is not its own any more."""
    conf = replace(EXTENSIBLE, loadBalancerNamespaceBundleSplitConditionHitCountThreshold=1)
    here, moved = (cluster({where: owning(FIRST, LARGE)}) for where in ("a:1", "b:1"))
    splits, strategy = SplitStrategy().bundles_to_split(here, conf)
    assert (splits, strategy.hits) == ([], {("a:1", FIRST): 1})
    assert len(strategy.bundles_to_split(here, conf)[0]) == 1
    splits, strategy = strategy.bundles_to_split(moved, conf)
    assert (splits, strategy.hits) == ([], {("b:1", FIRST): 1})


def test_what_is_not_cut_in_two_keeps_its_hits_and_uses_no_quota() -> None:
    """5: findBundlesToSplit goes on without exactly one boundary."""
    conf = replace(
        EXTENSIBLE,
        loadBalancerNamespaceBundleSplitConditionHitCountThreshold=0,
        loadBalancerMaxNumberOfBundlesToSplitPerCycle=1,
        defaultNamespaceBundleSplitAlgorithm="topic_count_equally_divide",
    )
    both = broker(bundles=[FIRST, SECOND], lastStats={FIRST: LARGE, SECOND: LARGE})
    topics = {FIRST: (Topic(hash=1),), SECOND: (Topic(hash=0x40000001), Topic(hash=0x60000000))}
    planned, reasons, manager = load_manager(conf).split(cluster({"a:1": both, "b:1": broker()}), topics)
    assert [split.bundle for split in planned] == [SECOND]
    assert manager.splitter.hits == {("a:1", FIRST): 1}
    assert "needs two topics, and the bundle has 1" in reasons[0]


def test_a_bundle_that_cannot_be_split_takes_a_place_of_the_namespace() -> None:
    """6: BundleSplitterTask counts it, and ModularLoadManagerImpl passes over it later; 2.10 counts nothing."""
    seen = {NARROW: LARGE, FIRST: LARGE}
    data = cluster({"a:1": broker(bundles=list(seen), lastStats=seen)})
    three = {"loadBalancerNamespaceMaximumBundles": 3}
    assert bundles_to_split(data, replace(NEWEST, **three)) == []
    assert [split.bundle for split in bundles_to_split(data, replace(OLD, **three))] == [FIRST]


def test_a_bundle_of_two_reports_is_planned_once() -> None:
    """7: BundleSplitterTask has a map, but counts both."""
    both = broker(bundles=[FIRST, SECOND], lastStats={FIRST: LARGE, SECOND: LARGE})
    twice = cluster({"a:1": owning(FIRST, LARGE), "b:1": both})
    assert [split.bundle for split in bundles_to_split(twice, NEWEST)] == [FIRST, SECOND]
    tight = replace(NEWEST, loadBalancerNamespaceMaximumBundles=4)
    assert [split.bundle for split in bundles_to_split(twice, tight)] == [FIRST]


def test_an_empty_part_is_refused() -> None:
    """8: the constructor of NamespaceBundle."""
    with pytest.raises(Refused, match="twice at 0x00000010"):
        boundaries("specified_positions_divide", Bundle(0, 0x40000000), (), NEWEST, [0x10, 0x10], force=True)


def test_an_average_that_is_no_number_sheds() -> None:
    """9: ThresholdShedder passes over a broker whose average *is below*; 0 * infinity is NaN."""
    conf = replace(NEWEST, loadBalancerHistoryResourcePercentage=0.0)
    endless = replace(broker(throughput=2e8, bundles=[FIRST, SECOND]), cpu=ResourceUsage(math.inf, 1))
    data = cluster({"a:1": endless, "b:1": broker()}, {FIRST: bundle(7), SECOND: bundle(5)})
    _, shedder = ThresholdShedder().find_bundles_for_unloading(data, conf)
    unloading, shedder = shedder.find_bundles_for_unloading(data, conf)
    assert math.isnan(shedder.averages["a:1"])
    assert unloading.unload == {"a:1": (FIRST,)}


@pytest.mark.parametrize("version", RELEASES)
def test_the_namespaces_that_every_broker_keeps(version: Version) -> None:
    """10: NamespaceService.SLA_NAMESPACE_PATTERN."""
    conf = defaults(version)
    before = version in ("2.10.1", "3.0.7", "4.0.8")
    assert never_shed("sla-monitor/host:8080", conf) is not before
    assert never_shed("sla-monitor/x/host:8080", conf) is before
    assert never_shed("pulsar/x/host:8080", conf) is before
    assert never_shed("pulsar/host:8080", conf)
    assert not never_shed("sla-monitor/host", conf)
    assert not never_shed("public/host:8080", conf)


def test_reports_of_the_extensible_manager_go_by_unweighted_usage() -> None:
    """11: BrokerLoadDataReporter.needBrokerDataUpdate; with ``Math.max``, so that NaN is no change at all."""
    direct = replace(broker(10), directMemory=ResourceUsage(50, 100), memory=ResourceUsage(99, 100))
    before, after = (Figures.of(report, EXTENSIBLE) for report in (broker(10), direct))
    assert change(before, after, EXTENSIBLE) == pytest.approx(40)
    assert not must_report(Figures.of(broker(10), NEWEST), Figures.of(direct, NEWEST), NEWEST)
    mad = after._replace(rate=math.inf)
    for conf, reports in ((EXTENSIBLE, False), (OLD, False), (NEWEST, True)):
        assert bool(must_report(mad, mad._replace(usage=before.usage), conf)) is reports


def test_2_10_never_forgets_a_broker() -> None:
    """12: its LoadSheddingStrategy is not told which brokers are alive."""
    pair = {"a:1": broker(50), "b:1": broker(50)}
    for conf, known in ((OLD, {"a:1", "b:1", "c:1"}), (NEWEST, {"a:1", "b:1"})):
        manager = load_manager(conf, "ThresholdShedder")
        for brokers in ({**pair, "c:1": broker(90)}, pair):
            _, manager = manager.next_round(Snapshot(cluster(brokers)))
        assert isinstance(manager.shedder, ThresholdShedder)
        assert manager.shedder.averages.keys() == known


def test_what_remains_and_the_delta_overflow_an_int() -> None:
    """12: UniformLoadShedder adds 1000 to an int."""
    data = cluster(
        {"a:1": broker(rate=2e10, bundles=[FIRST, SECOND]), "b:1": broker()}, {FIRST: bundle(rate=5), SECOND: bundle(rate=7)}
    )
    for version, unload in (("2.10.1", {}), ("4.0.8", {}), ("4.2.4", {"a:1": (SECOND, FIRST)})):
        assert UniformLoadShedder().find_bundles_for_unloading(data, defaults(version))[0].unload == unload


def test_what_is_accepted_beyond_what_remains() -> None:
    """UniformLoadShedder of 4.0.8 adds 1000 to bytes too, which 2.10.1 does not, and 4.2.4 to nothing."""
    full = broker(throughput=2e7, bundles=[FIRST, SECOND])
    data = cluster({"a:1": full, "b:1": broker(throughput=1e6)}, {FIRST: bundle(3.8e6 + 900), SECOND: bundle(3.9e6)})
    for version, unload in (("2.10.1", {}), ("4.0.8", {"a:1": (FIRST,)}), ("4.2.4", {})):
        assert UniformLoadShedder().find_bundles_for_unloading(data, defaults(version))[0].unload == unload


def test_a_key_that_a_release_lacks_is_absent() -> None:
    """12: 26 keys that ServiceConfiguration of 2.10.1 does not have."""
    assert len(ABSENT["2.10.1"]) == 26
    assert all(keys <= vars(NEWEST).keys() for keys in ABSENT.values())


def test_a_broker_without_a_port_gets_nothing() -> None:
    """13: parseBrokerHost; 2.10 makes a URL of the name."""
    data = cluster({"plain": broker(), "a:1": broker(), "[::1]:1": broker()})
    assert permitted("t/n", data, Policies(), NEWEST) == ("a:1", "[::1]:1")
    assert permitted("t/n", data, Policies(), OLD) == ("plain", "a:1", "[::1]:1")
    only = Policies(isolation={"p": NamespaceIsolationData(("t/n",), (r"\[::1\]",))})
    assert permitted("t/n", data, only, NEWEST) == permitted("t/n", data, only, OLD) == ("[::1]:1",)


def test_a_bundle_with_a_topic_that_is_not_persistent() -> None:
    """14: applyNamespacePolicies, when a bundle is looked up; what is shed is placed as any other."""
    data = cluster({"a:1": broker(nonPersistentTopicsEnabled=False), "b:1": broker(persistentTopicsEnabled=False)})
    manager = load_manager(NEWEST)
    assert manager.placed(FIRST, Snapshot(data))[0].any_of == ("a:1",)
    assert manager.placed(FIRST, Snapshot(replace(data, non_persistent=[FIRST])))[0].any_of == ("b:1",)


def test_a_shedder_and_2_10_whose_bundle_comes_back() -> None:
    """2.10 unloads a bundle and places it when it is looked up: doLoadShedding selects no broker, and asks no policies."""
    full, idle = broker(95, throughput=1e9, bundles=[FIRST, SECOND]), broker(0)
    data = cluster({"a:1": full, "b:1": idle}, {FIRST: bundle(9), SECOND: bundle(8)})
    only = Policies(isolation={"p": NamespaceIsolationData(("t/n",), ("a",))})
    for conf, goes in ((OLD, ("a:1",)), (NEWEST, ())):
        done, _ = LoadManager(conf, OverloadShedder(), LeastResourceUsageWithWeight()).next_round(Snapshot(data, only))
        assert done.destinations[FIRST] == goes
