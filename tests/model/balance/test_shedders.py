"""The shedders of the modular load manager, rule by rule as they are written down."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.deviation_shedder import DeviationShedder, NoBrokers
from fencepost.model.balance.load_data import LoadData, ResourceUsage
from fencepost.model.balance.overload_shedder import OverloadShedder
from fencepost.model.balance.shedding import Unloading
from fencepost.model.balance.threshold_shedder import ThresholdShedder
from tests.model.balance.clusters import MIB, broker, bundle, cluster

CURRENT, OLD = defaults("4.2.4"), defaults("2.10.1")


def threshold_rounds(*rounds: LoadData, conf: Configuration = CURRENT) -> list[Unloading]:
    shedder, done = ThresholdShedder(), []
    for data in rounds:
        unloading, shedder = shedder.find_bundles_for_unloading(data, conf)
        done.append(unloading)
    return done


# --- OverloadShedder


def overload(data: LoadData, conf: Configuration = CURRENT) -> dict[str, tuple[str, ...]]:
    return dict(OverloadShedder().find_bundles_for_unloading(data, conf)[0].unload)


def loaded(percent: float, **others: float) -> LoadData:
    """A broker of 100 MiB/s with bundles of 40, 30, 20 and 10."""
    sizes = {"n/1": 10, "n/2": 40, "n/3": 20, "n/4": 30}
    bundles = {name: bundle(size * MIB) for name, size in sizes.items()}
    return cluster({"a": broker(percent, throughput=100 * MIB, bundles=list(sizes)), "b": broker(1)}, bundles, **others)


def test_overload_exactly_the_threshold_sheds() -> None:
    assert overload(loaded(84.99)) == {}
    assert overload(loaded(85)) == {"a": ("n/2",)}  # 5 MiB/s needed: the largest bundle alone


def test_overload_sheds_the_largest_until_the_need_is_covered() -> None:
    conf = replace(CURRENT, loadBalancerBrokerOverloadedThresholdPercentage=35)
    assert overload(loaded(70), conf) == {"a": ("n/2",)}  # 100 * (0.7 - 0.35 + 0.05) is just not above 40
    assert overload(loaded(71), conf) == {"a": ("n/2", "n/4")}


def test_overload_sheds_at_least_one_bundle_even_when_nothing_is_needed() -> None:
    data = cluster({"a": broker(99, bundles=["n/1", "n/2"])}, {"n/1": bundle(), "n/2": bundle()})
    assert overload(data) == {"a": ("n/1",)}


def test_overload_needs_more_than_one_bundle() -> None:
    assert overload(cluster({"a": broker(99, throughput=9, bundles=["n/1"])}, {"n/1": bundle(9)})) == {}
    assert overload(cluster({"a": broker(99, throughput=9)})) == {}


def test_overload_leaves_alone_what_was_unloaded_and_what_is_not_its_own() -> None:
    data = loaded(90, recently_unloaded={"n/2": 0})
    assert overload(data) == {"a": ("n/4",)}
    data = replace(loaded(90), bundles={**loaded(90).bundles, "m/1": bundle(99 * MIB)})
    assert overload(data) == {"a": ("n/2",)}


def test_overload_is_weighted_now_and_was_not_in_2_10() -> None:
    data = loaded(10)
    full = replace(data.reports["a"], memory=ResourceUsage(90, 100), directMemory=ResourceUsage(90, 100))
    data = replace(data, brokers={**data.brokers, "a": full})
    assert overload(data) == {}
    assert overload(data, OLD) == {"a": ("n/2",)}
    assert overload(data, replace(OLD, loadBalancerMemoryResourceWeight=0.0)) == {"a": ("n/2",)}


@pytest.mark.parametrize(
    ("name", "conf"),
    [
        ("pulsar/b1:8080", CURRENT),
        ("sla-monitor/b1:8080", CURRENT),
        ("pulsar/b1:8080", OLD),
        ("pulsar/cluster/b1:8080", OLD),
        ("sla-monitor/cluster/b1:8080", OLD),
    ],
)
def test_what_belongs_to_the_broker_is_never_shed(name: str, conf: Configuration) -> None:
    own = f"{name}/0x00000000_0xffffffff"
    data = cluster({"a": broker(99, throughput=9, bundles=[own, "n/1"])}, {own: bundle(9), "n/1": bundle(1)})
    assert overload(data, conf) == {"a": ("n/1",)}


# --- ThresholdShedder


def test_threshold_equality_sheds() -> None:
    conf = replace(CURRENT, loadBalancerBrokerThresholdShedderPercentage=25, loadBalancerBundleUnloadMinThroughputThreshold=0.0)
    quarters = loaded(75), replace(loaded(75), brokers={**loaded(75).brokers, "b": broker(25)})
    assert threshold_rounds(quarters[1], conf=conf)[0].unload == {"a": ("n/2",)}  # 75 against a mean of 50 + 25
    below = replace(quarters[1], brokers={**quarters[1].brokers, "b": broker(25.5)})
    assert threshold_rounds(below, conf=conf)[0].unload == {}


def test_threshold_needs_the_minimum() -> None:
    data = replace(loaded(70), brokers={**loaded(70).brokers, "b": broker(30)})  # mean 50: to shed 100 * (0.1 + 0.05)
    assert threshold_rounds(data)[0].unload == {"a": ("n/2",)}
    conf = replace(CURRENT, loadBalancerBundleUnloadMinThroughputThreshold=15.1)
    assert threshold_rounds(data, conf=conf)[0].unload == {}


def test_threshold_takes_the_first_sample_as_it_is_and_then_nine_parts_of_history() -> None:
    first, second = threshold_rounds(loaded(90), loaded(50))
    assert first.averages == {"a": 0.9, "b": pytest.approx(0.01)}
    assert second.averages["a"] == pytest.approx(0.86)


def test_threshold_goes_on_after_the_load_has_fallen() -> None:
    """pulsar#18173: the score is still 86 when the broker is at 50, as all others; after 82.4 the need is below the minimum."""
    data = [replace(loaded(p), brokers={**loaded(p).brokers, "b": broker(50)}) for p in (90, 50, 50, 50)]
    assert [bool(done.unload) for done in threshold_rounds(*data)] == [True, True, True, False]
    assert threshold_rounds(*data)[1].averages["a"] == pytest.approx(0.86)


@pytest.mark.parametrize("percents", [[50, 50, 50, 50, 50, 0], [12, 2, 1, 1]])
def test_threshold_never_fills_a_restarted_broker(percents: list[float]) -> None:
    """pulsar#18215."""
    brokers = {f"b{n}": broker(p, throughput=1000 * MIB, bundles=[f"n/{n}", f"m/{n}"]) for n, p in enumerate(percents)}
    bundles = {name: bundle(500 * MIB) for report in brokers.values() for name in report.bundles}
    data = cluster(brokers, bundles)
    assert all(not done.unload for done in threshold_rounds(*[data] * 20))
    lower = threshold_rounds(data, conf=replace(CURRENT, lowerBoundarySheddingEnabled=True))[0].unload
    assert lower == ({"b0": ("n/0",)} if percents[0] == 50 else {})


def test_threshold_does_nothing_when_the_mean_is_0() -> None:
    data = cluster({"a": broker(throughput=9, bundles=["n/1", "n/2"])}, {"n/1": bundle(9)})
    assert threshold_rounds(data)[0] == Unloading(why=("the mean usage is 0",), averages={"a": 0.0})


def test_threshold_forgets_brokers_that_are_gone() -> None:
    _, shedder = ThresholdShedder().find_bundles_for_unloading(loaded(90), CURRENT)
    assert shedder.with_active_brokers(["b"]).averages.keys() == {"b"}


def test_lower_boundary_advances_the_averages_a_second_time() -> None:
    conf = replace(CURRENT, lowerBoundarySheddingEnabled=True)
    data = replace(loaded(50), brokers={**loaded(50).brokers, "b": broker(45)})
    later = replace(loaded(40), brokers={**loaded(40).brokers, "b": broker(45)})
    assert threshold_rounds(data, later)[1].averages["a"] == pytest.approx(0.49)
    assert threshold_rounds(data, later, conf=conf)[1].averages["a"] == pytest.approx(0.9 * 0.49 + 0.1 * 0.4)


def test_lower_boundary_sheds_half_a_threshold_of_the_fullest() -> None:
    conf = replace(CURRENT, lowerBoundarySheddingEnabled=True, loadBalancerBundleUnloadMinThroughputThreshold=5.0)
    sizes = {f"n/{n}": bundle(2 * MIB) for n in range(50)}
    full = broker(50, throughput=100 * MIB, bundles=list(sizes))
    others = {f"b{n}": broker(49) for n in range(8)}
    data = cluster({"a": full, **others, "c": broker(0)}, sizes)
    assert threshold_rounds(data, conf=conf)[0].unload == {"a": ("n/0", "n/1", "n/2")}  # 100 * 0.1 * 0.5 = 5 MiB/s
    assert threshold_rounds(data)[0].unload == {}
    too_little = replace(conf, loadBalancerBundleUnloadMinThroughputThreshold=5.1)
    assert threshold_rounds(data, conf=too_little)[0].unload == {}


def test_an_infinite_usage_sheds_one_bundle_for_ever() -> None:
    """A report over no second: infinity never leaves the average, and the amount required is no number."""
    hasty = replace(loaded(50).reports["a"], bandwidthIn=ResourceUsage(math.inf, 1))
    data = replace(loaded(50), brokers={**loaded(50).brokers, "a": hasty})
    assert [done.unload for done in threshold_rounds(data, loaded(10), loaded(10))] == [{"a": ("n/2",)}] * 3


# --- DeviationShedder


def deviation(data: LoadData, threshold: float = 1.0) -> dict[str, tuple[str, ...]]:
    return dict(DeviationShedder(threshold).find_bundles_for_unloading(data, OLD)[0].unload)


def test_deviation_sheds_the_largest_that_fits_and_then_too_much() -> None:
    """The second goes because the first was subtracted from the emptiest broker: the spread seems far too small."""
    names = {"n/1": bundle(900), "n/2": bundle(300), "n/3": bundle(100)}
    data = cluster(
        {"a": broker(throughput=1000, bundles=list(names)), "b": broker(throughput=200), "c": broker(throughput=100)}, names
    )
    assert deviation(data) == {"a": ("n/2", "n/3")}


def test_deviation_ends_when_it_is_no_number() -> None:
    assert deviation(cluster({"a": broker(throughput=5), "b": broker(throughput=5)})) == {}


def test_deviation_fails_without_brokers_and_when_none_is_left() -> None:
    with pytest.raises(NoBrokers):
        deviation(cluster({}))
    with pytest.raises(NoBrokers):
        deviation(cluster({"a": broker(throughput=9), "b": broker()}), threshold=-5.0)


def test_deviation_ignores_grace_and_only_bundles() -> None:
    data = cluster(
        {"a": broker(throughput=1000, bundles=["n/1"]), "b": broker(throughput=1), "c": broker(throughput=2)},
        {"n/1": bundle(700)},
        recently_unloaded={"n/1": 0},
    )
    assert deviation(data) == {"a": ("n/1",)}
