"""Load balancing of Pulsar 3.0.7, in which it differs from that of 2.10.1 and of 4.0.8."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.model.balance.avg_shedder import AvgShedder
from fencepost.model.balance.bundle_brokers import BundleBrokers
from fencepost.model.balance.configuration import Version, defaults
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.java import sorted_by
from fencepost.model.balance.load_data import NamespaceBundleStats, ResourceUsage
from fencepost.model.balance.load_manager import Snapshot
from fencepost.model.balance.overload_shedder import OverloadShedder
from fencepost.model.balance.placement import AvgPlacement
from fencepost.model.balance.simple_manager import largest
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER, load_manager
from fencepost.model.balance.top_bundles import top_bundles
from fencepost.model.balance.tree_map import first_key
from tests.model.balance.clusters import broker, bundle, cluster

FIRST, SECOND, THIRD = "t/n/0x00000000_0x40000000", "t/n/0x40000000_0x80000000", "t/n/0x80000000_0xc0000000"
IDLE = broker(bundles=[THIRD])


@pytest.mark.parametrize(
    ("version", "heap", "direct"), [("2.10.1", True, True), ("3.0.7", False, True), ("4.0.8", False, False)]
)
def test_what_makes_a_broker_overloaded(version: Version, heap: bool, direct: bool) -> None:
    """LocalBrokerData.getMaxResourceUsage: heap memory counts in 2.10.1 alone, and no weight before 4.0.8."""
    for resource, sheds in (("memory", heap), ("directMemory", direct)):
        full = replace(broker(throughput=2e7, bundles=[FIRST, SECOND]), **{resource: ResourceUsage(99, 100)})
        data = cluster({"a:1": full, "b:1": IDLE}, {FIRST: bundle(7), SECOND: bundle(5)})
        conf = replace(defaults(version), loadBalancerDirectMemoryResourceWeight=0.0)
        assert bool(OverloadShedder().find_bundles_for_unloading(data, conf)[0].unload) is sheds


def test_it_chooses_the_destination_before_it_unloads() -> None:
    """ModularLoadManagerImpl.doLoadShedding; 2.10.1 leaves that to the next lookup."""
    full = broker(80, throughput=2e8, bundles=[FIRST, SECOND])
    data = cluster({"a:1": full, "b:1": IDLE}, {FIRST: bundle(1e8), SECOND: bundle(5)})
    for version, destinations in (("2.10.1", {"a:1", "b:1"}), ("3.0.7", {"b:1"})):
        done, _ = load_manager(defaults(version), "ThresholdShedder").next_round(Snapshot(data))
        assert {bundle: set(those) <= destinations for bundle, those in done.destinations.items()} == {FIRST: True}


@pytest.mark.parametrize(("version", "pair"), [("3.0.7", ("b:1", "a:1")), ("4.0.8", ("c:1", "a:1"))])
def test_scores_that_differ_by_less_than_one_are_equal(version: Version, pair: tuple[str, str]) -> None:
    """AvgShedder.calculateScoresAndSort casts the difference to an int."""
    data = cluster(
        {"b:1": broker(10.9), "c:1": broker(10.0), "a:1": broker(90.0, rate=1e5, bundles=[FIRST])}, {FIRST: bundle(1)}
    )
    _, shedder = AvgShedder().find_bundles_for_unloading(data, defaults(version))
    assert set(shedder.high_hits) == set(pair)


def test_destinations_are_remembered_by_the_object_that_has_the_averages() -> None:
    """BundleData has no equals before 4.0.8: bundles that carry the same do not share a destination."""
    data = cluster({"a:1": IDLE, "b:1": broker()}, {FIRST: bundle(1), SECOND: bundle(1)})
    every = tuple(data.brokers)
    for version, shared in (("3.0.7", False), ("4.0.8", True)):
        conf = defaults(version)
        memory = BundleBrokers().reported(data.bundles, by_object=conf.before("4.0.8")).put(FIRST, ("b:1",))
        assert AvgPlacement(memory).select(every, FIRST, data, conf)[0] == ("b:1",)
        assert AvgPlacement(memory).select(every, SECOND, data, conf)[0] == (("b:1",) if shared else every)
        since = replace(data, bundles={FIRST: bundle(2), SECOND: bundle(1)})
        assert AvgPlacement(memory).select(every, FIRST, since, conf)[0] == (every if shared else ("b:1",))
        gone = AvgPlacement(memory.reported({SECOND: bundle(1)}, by_object=conf.before("4.0.8")))
        assert gone.select(every, FIRST, data, conf)[0] == (("b:1",) if shared else every), "its averages are new ones"


def test_bundles_without_traffic_are_named_and_close_ones_are_equal() -> None:
    """TopKBundles.update, and NamespaceBundleStats.compareTo, by which 149 and 151 KB/s are equal and the rate decides."""
    seen = {
        FIRST: NamespaceBundleStats(msgThroughputIn=151e3, msgRateIn=10),
        SECOND: NamespaceBundleStats(msgThroughputIn=149e3, msgRateIn=500),
        THIRD: NamespaceBundleStats(),
    }
    data = cluster({"a:1": broker(bundles=list(seen), lastStats=seen)})
    for version, names in (("3.0.7", [THIRD, FIRST, SECOND]), ("4.0.8", [SECOND, FIRST])):
        conf = replace(defaults(version), loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)
        assert [name for name, _ in top_bundles("a:1", data, conf, Policies())] == names


def rates(*values: float) -> dict[str, NamespaceBundleStats]:
    return {f"t/n/{place}": NamespaceBundleStats(msgRateIn=value) for place, value in enumerate(values)}


def test_the_simple_manager_may_take_a_smaller_one_of_close_bundles() -> None:
    """NamespaceBundleStatsComparator in a TreeMap; since 4.0.8 rates are rounded to hundreds, which is an order."""
    for version, chosen in (("2.10.1", "t/n/0"), ("3.0.7", "t/n/0"), ("4.0.8", "t/n/1")):
        assert largest(rates(140.0, 160.0), "cpu", defaults(version)) == chosen
    for version, chosen in (("3.0.7", "t/n/1"), ("4.0.8", "t/n/1")):
        assert largest(rates(140.0, 260.0), "cpu", defaults(version)) == chosen


def test_which_key_is_first_depends_on_how_the_tree_was_balanced() -> None:
    """As seen on java.util.TreeMap; without the rotations 17 were first, and 14."""

    def first(*values: int, close: int) -> int:
        found = first_key(map(str, values), lambda one, other: -1 if int(one) - int(other) > close else 1)
        assert found is not None
        return int(found)

    assert first(4, 9, 13, 17, 3, close=12) == 4
    assert first(0, 7, 2, 14, 19, 10, close=11) == 19
    assert first(*range(50), close=0) == 49
    assert first_key([], lambda one, other: 1) is None


def test_a_list_is_sorted_by_a_comparator_that_is_no_order() -> None:
    """As seen on java.util.List.sort."""

    def sorted_ints(*values: int, close: int) -> list[int]:
        return sorted_by(values, lambda one, other: int((one - other) / close))

    assert sorted_ints(84, 21, 33, 20, close=11) == [21, 20, 33, 84]
    assert sorted_ints(4, 9, 5, 1, close=11) == [4, 9, 5, 1]
    assert sorted_ints(3, 1, 2, close=1) == [1, 2, 3]
    assert sorted_ints(close=1) == []
