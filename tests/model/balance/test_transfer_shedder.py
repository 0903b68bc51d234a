"""TransferShedder: when it acts, how much it hands over, what it never moves, and when the whole cycle stops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.model.balance.broker_loads import advanced
from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.isolation import NamespaceIsolationData, Policies
from fencepost.model.balance.load_data import BrokerLoad, BundleData, LoadData, LocalBrokerData, ResourceUsage
from fencepost.model.balance.shedding import Unloading
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER
from fencepost.model.balance.top_bundles import top_bundles
from fencepost.model.balance.transfer_shedder import TransferShedder
from tests.model.balance.clusters import broker, bundle, cluster, stats

CONF = replace(defaults("4.2.4"), loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)
NOW = 10_000_000
SCALE = 1e6
"""What is said in megabytes: in steps of 100 kB and less the sizes of bundles are all the same."""


def serving(percent: float, *throughputs: float, name: str) -> LocalBrokerData:
    bundles = {f"{name}/{n}": stats(throughput * SCALE) for n, throughput in enumerate(throughputs)}
    return broker(percent, throughput=sum(throughputs) * SCALE, bundles=list(bundles), lastStats=bundles, lastUpdate=NOW)


def rounds(data: LoadData, count: int = 4, conf: Configuration = CONF, shedder: TransferShedder | None = None) -> Unloading:
    """The last of so many rounds on the same data."""
    shedder = shedder or TransferShedder()
    for _ in range(count):
        unloading, shedder = shedder.find_bundles_for_unloading(data, conf)
    return unloading


def two(*full: float, empty: tuple[float, ...] = (), percents: tuple[float, float] = (90, 10)) -> LoadData:
    return cluster({"a:1": serving(percents[0], *full, name="a"), "b:1": serving(percents[1], *empty, name="b")}, now=NOW)


def test_it_acts_after_more_than_three_hits() -> None:
    data = two(100, 200, 600)
    assert [bool(rounds(data, count).unload) for count in (1, 2, 3, 4)] == [False, False, False, True]
    calm = two(100, 200, 600, percents=(50, 49))
    shedder = TransferShedder(hits=3)
    assert shedder.find_bundles_for_unloading(calm, CONF)[1].hits in (0, 4)


def test_half_the_difference_the_smallest_first() -> None:
    # to offload: 900 * (0.9 - 0.1) / 2 / 0.9 = 400
    done = rounds(two(100, 200, 600))
    assert done.unload == {"a:1": ("a/0", "a/1")}
    assert done.destinations == {"a/0": "b:1", "a/1": "b:1"}


def test_the_last_one_left_is_never_moved() -> None:
    done = rounds(two(10, 10, percents=(90, 0)))
    assert done.unload == {"a:1": ("a/1",)}
    assert done.why[-1] == "  a/0: stays: the last one always does"
    assert rounds(two(10)).unload == {}


def test_a_bundle_too_large_is_swapped_only_if_that_balances_better() -> None:
    # a has 1000, b 300: a/1 (990) is too large; it may go for b's bundles: 1000 - 990 + 290 = 300 < 750, 1000 <= 300 fails
    assert rounds(two(10, 990, empty=(10, 290))).unload == {"a:1": ("a/0",)}
    # 55 are wanted; 400 goes for 100: a ends with 700 < 0.75 * 1000, b with 600
    close = replace(CONF, loadBalancerBrokerLoadTargetStd=0.01)
    swapped = rounds(two(400, 600, empty=(100, 200), percents=(90, 80)), conf=close)
    assert swapped.unload == {"b:1": ("b/0",), "a:1": ("a/0",)}
    swapped = rounds(two(600, 650, empty=(30, 170)), conf=CONF)
    assert swapped.unload == {"b:1": ("b/0", "b/1"), "a:1": ("a/0",)}
    assert swapped.destinations == {"b/0": "a:1", "b/1": "a:1", "a/0": "b:1"}


def test_without_transfer_nothing_is_swapped_and_nothing_has_a_destination() -> None:
    conf = replace(CONF, loadBalancerTransferEnabled=False)
    assert rounds(two(600, 650, empty=(30, 170)), conf=conf).unload == {}
    done = rounds(two(100, 200, 600), conf=conf)
    assert (done.unload, done.destinations) == ({"a:1": ("a/0", "a/1")}, {})


@pytest.mark.parametrize(
    ("percents", "acts"),
    [
        ((90, 39), True),  # a deviation of 0.255
        ((89, 39), False),  # exactly 0.25 is not above it; 89 is not above 64 + 25
        ((60, 8), True),  # 0.26
        ((20, 2), False),  # 2 is not below 11 * 0.125
        ((20, 1), True),  # underloaded
    ],
)
def test_reasons_to_act(percents: tuple[float, float], acts: bool) -> None:
    loads = {"a:1": BrokerLoad(percents[0] / 100, 100), "b:1": BrokerLoad(percents[1] / 100, 100)}
    data = replace(two(1, 1, 1, percents=percents), loads=loads)
    assert TransferShedder().find_bundles_for_unloading(data, CONF)[1].hits == int(acts)


def test_a_broker_without_throughput_is_underloaded() -> None:
    loads = {"a:1": BrokerLoad(0.5, 1000), "b:1": BrokerLoad(0.49, 124)}
    data = replace(two(1, 1, 1), loads=loads)
    assert TransferShedder().find_bundles_for_unloading(data, CONF)[1].hits == 1
    equal = replace(data, loads={**loads, "b:1": BrokerLoad(0.49, 125)})
    assert TransferShedder().find_bundles_for_unloading(equal, CONF)[1].hits == 0


def test_an_overloaded_broker_must_also_be_far_above_the_mean() -> None:
    many = {f"e{n}": BrokerLoad(0.55, 100) for n in range(20)}
    reports = {name: replace(serving(50, 1, 1, name=name), lastUpdate=NOW) for name in ("a:1", *many)}
    for load, acts in ((0.86, True), (0.85, False)):
        data = cluster(reports, now=NOW, loads={"a:1": BrokerLoad(load, 100), **many})
        assert TransferShedder().find_bundles_for_unloading(data, CONF)[1].hits == int(acts)


def test_at_most_three_brokers_are_offloaded_in_a_cycle() -> None:
    full = {f"f{n}:1": serving(90, 100, 200, 600, name=f"f{n}") for n in range(5)}
    empty = {f"e{n}:1": serving(0, name=f"e{n}") for n in range(5)}
    assert list(rounds(cluster({**full, **empty}, now=NOW)).unload) == ["f4:1", "f3:1", "f2:1"]


def test_a_broker_unloaded_lately_stops_the_whole_cycle() -> None:
    data = two(100, 200, 600)
    for seconds, acts in ((179.999, False), (180, True)):
        lately = replace(data, recently_unloaded_brokers={"b:1": NOW - round(seconds * 1000)})
        assert bool(rounds(lately, 1, shedder=TransferShedder(hits=3)).unload) is acts
    unloading = rounds(replace(data, recently_unloaded_brokers={"a:1": NOW}), 1, shedder=TransferShedder(hits=3))
    assert unloading.why == ("the whole cycle stops: a:1 reported 0 s after a bundle left it",)


def test_hits_begin_again_after_an_unload() -> None:
    data = two(100, 200, 600)
    assert TransferShedder(hits=3).find_bundles_for_unloading(data, CONF)[1] == TransferShedder()
    assert [bool(rounds(data, count).unload) for count in (7, 8)] == [False, True]


def test_a_live_broker_without_a_report_stops_the_whole_cycle() -> None:
    data = two(100, 200, 600)
    assert rounds(replace(data, brokers={**data.brokers, "c:1": None})).why == ("the whole cycle stops: c:1 without a report",)


def test_a_report_past_its_time_does_not_count() -> None:
    data = two(100, 200, 600)
    old = replace(data, now=NOW + 1_800_001)
    assert rounds(old).why == ("the whole cycle stops: there is no broker whose report is fresh",)
    assert rounds(replace(data, now=NOW + 1_800_000)).unload


def test_bundles_that_stay() -> None:
    data = two(100, 200, 300, 600)
    policies = Policies(isolation={"p": NamespaceIsolationData(("a",), ("a", "b"))})
    assert rounds(data, shedder=TransferShedder(policies=policies)).unload == {}
    allowed = replace(CONF, loadBalancerSheddingBundlesWithPoliciesEnabled=True)
    assert rounds(data, conf=allowed, shedder=TransferShedder(policies=policies)).unload
    elsewhere = Policies(isolation={"p": NamespaceIsolationData(("a",), ("a",))})
    assert rounds(data, conf=allowed, shedder=TransferShedder(policies=elsewhere)).unload == {}
    assert rounds(replace(data, recently_unloaded={"a/0": 0})).unload == {"a:1": ("a/1", "a/2")}
    stolen = replace(data.reports["a:1"], bundles=("a/1", "a/2", "a/3"))
    assert rounds(replace(data, brokers={**data.brokers, "a:1": stolen})).unload == {"a:1": ("a/1", "a/2")}


def test_what_comes_back_counts_only_in_debug_mode() -> None:
    """Upstream adds it up inside a condition that is meant for the log."""
    data, conf = two(50, 50, 50, empty=(10, 40), percents=(90, 70)), replace(CONF, loadBalancerBrokerLoadTargetStd=0.01)
    loud = replace(conf, loadBalancerDebugModeEnabled=True)
    assert rounds(data, conf=conf).unload == {"b:1": ("b/0",), "a:1": ("a/2",)}
    assert rounds(data, conf=loud).unload == {"b:1": ("b/0", "b/1"), "a:1": ("a/2", "a/1")}


def named(report: LocalBrokerData, conf: Configuration = CONF, **bundles: BundleData) -> list[float]:
    named = top_bundles("t:1", cluster({"t:1": report}, bundles), conf, Policies(anti_affinity={"g": "x"}))
    return [size / SCALE for _, size in named]


def test_a_broker_names_its_largest_bundles_the_smallest_first() -> None:
    report = serving(1, *range(15), name="t")
    assert named(report) == list(range(5, 15))
    busy = replace(report, lastStats={**report.lastStats, "pulsar/system/1": stats(99 * SCALE)})
    assert named(busy) == named(report)
    assert named(report, replace(CONF, loadBalancerSheddingExcludedNamespaces=frozenset({"t"}))) == []


def test_bundles_that_policies_bind_are_not_named_unless_they_may_be_shed() -> None:
    seen = {"t/1": stats(1 * SCALE), "g/1": stats(2 * SCALE)}
    report = broker(bundles=list(seen), lastStats=seen)
    assert named(report) == [1]
    assert named(report, replace(CONF, loadBalancerSheddingBundlesWithPoliciesEnabled=True)) == [1, 2]
    full = {"a:1": replace(report, cpu=ResourceUsage(90, 100), lastUpdate=NOW), "b:1": broker(lastUpdate=NOW)}
    bound = TransferShedder(policies=Policies(anti_affinity={"g": "x"}))
    assert "  a:1 names 1 bundles; the last one always stays" in rounds(cluster(full, now=NOW), shedder=bound).why


def test_nothing_moves_if_a_filter_fails() -> None:
    conf = replace(CONF, preferLaterVersions=True)
    data = two(100, 200, 600)
    assert rounds(data, conf=conf).unload == {}
    versions = {name: replace(report, brokerVersionString="4.0.1") for name, report in data.reports.items()}
    assert rounds(replace(data, brokers=versions), conf=conf).unload == {"a:1": ("a/0", "a/1")}


def test_averages_of_an_idle_broker_grow_from_zero() -> None:
    first = advanced(None, "a:1", cluster({"a:1": broker(0)}), CONF)
    assert first == BrokerLoad(0.0, 0.0)
    later = advanced(first, "a:1", cluster({"a:1": broker(50, throughput=100)}), CONF)
    assert (later.weightedMaxEMA, later.msgThroughputEMA) == (pytest.approx(0.05), pytest.approx(10))


def test_without_statistics_the_averages_are_named() -> None:
    assert named(broker(bundles=["b2", "b1", "b3"]), b1=bundle(7 * SCALE), b2=bundle(9 * SCALE)) == [7, 9]
