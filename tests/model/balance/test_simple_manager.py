"""SimpleLoadManagerImpl: what it sheds, where it places, what it splits, and the quotas that it promises."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from fencepost.model.balance.configuration import IMPLEMENTATION, READ_BY_SIMPLE, Configuration
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.load_data import LoadData, LocalBrokerData, NamespaceBundleStats, ResourceUsage
from fencepost.model.balance.load_manager import Snapshot
from fencepost.model.balance.simple_manager import SimpleLoadManager
from fencepost.model.balance.simple_ranking import INITIAL, Quotas, smoothed
from fencepost.model.balance.strategies import UnknownStrategy, load_manager

CONF = Configuration(pulsar_version="4.0.8", loadManagerClassName=f"{IMPLEMENTATION}SimpleLoadManagerImpl")
HOUR = 3_600_000


def broker(cpu: float, *, update: int = 0, **rates: float) -> LocalBrokerData:
    """A broker with that much of its CPU used, and bundles of namespace t/n by their rates of messages."""
    stats = {f"t/n/{name}": NamespaceBundleStats(msgRateIn=rate, topics=4) for name, rate in rates.items()}
    idle = ResourceUsage(0.0, 1e9)
    return replace(LocalBrokerData.of(stats, [ResourceUsage(cpu, 100.0), idle, idle, idle, idle]), lastUpdate=update)


def cluster(**reports: LocalBrokerData) -> LoadData:
    return LoadData({f"{name}:1": report for name, report in reports.items()}, now=max(r.lastUpdate for r in reports.values()))


def test_a_full_broker_gives_its_largest_bundle_away_if_another_is_below_the_comfort_level() -> None:
    full, half = broker(86.0, a=1000.0, b=5000.0), broker(70.0, c=10.0)
    done, _ = load_manager(CONF).next_round(Snapshot(cluster(one=full, two=half)))
    assert done.unload == {}
    assert "  t/n/b: stays: no broker that may serve it is below 65 %" in done.why
    done, _ = load_manager(CONF).next_round(Snapshot(cluster(one=full, two=broker(64.0, c=10.0))))
    assert done.unload == {"one:1": ("t/n/b",)}
    done, _ = load_manager(CONF).next_round(Snapshot(cluster(one=broker(86.0, a=1000.0), two=broker(1.0))))
    assert done.unload == {}, "its only bundle stays"
    done, _ = load_manager(CONF).next_round(Snapshot(cluster(one=broker(85.0, a=1.0, b=1.0), two=broker(1.0))))
    assert done.unload == {}, "the threshold is not above the threshold"


def test_an_idle_broker_is_filled_once_the_least_loaded_is_above_the_lower_threshold() -> None:
    for used, chosen in ((50.0, "one:1"), (51.0, "two:1")):
        data = cluster(one=broker(used, a=1.0), two=broker(0.0))
        conf = replace(CONF, loadBalancerPlacementStrategy="leastLoadedServer")
        selection, _ = SimpleLoadManager(conf).place("t/m/new", data, Policies())
        assert selection.any_of == (chosen,)


def test_a_draw_leaves_out_whoever_has_no_room() -> None:
    conf = replace(CONF, loadBalancerPlacementStrategy="weightedRandomSelection")
    data = cluster(one=broker(100.0, a=1.0), two=broker(30.0, b=1.0), three=broker(40.0, c=1.0))
    selection, _ = SimpleLoadManager(conf).place("t/m/new", data, Policies())
    assert sorted(selection.any_of) == ["three:1", "two:1"]


def test_bundles_of_a_namespace_are_counted_by_the_ranking_before() -> None:
    one, two = broker(60.0, a=1.0, b=1.0), broker(70.0)
    first, manager = SimpleLoadManager(CONF).place("t/n/new", cluster(one=one, two=two), Policies())
    assert first.candidates["fewest_bundles"] == ("one:1", "two:1"), "nothing was ranked before"
    later = cluster(one=replace(one, lastUpdate=1), two=replace(two, lastUpdate=1))
    second, _ = manager.place("t/n/other", later, Policies())
    assert second.candidates["fewest_bundles"] == ("two:1",)


def test_splits_of_one_report_may_exceed_the_maximum_of_a_namespace() -> None:
    conf = replace(CONF, loadBalancerNamespaceMaximumBundles=3)
    names = {"0x00000000_0x40000000": 40_000.0, "0x40000000_0x80000000": 40_000.0}
    splits, _, _ = SimpleLoadManager(conf).split(cluster(one=broker(10.0, **names)), {})
    assert len(splits) == 2
    none, _, _ = SimpleLoadManager(replace(conf, loadBalancerNamespaceMaximumBundles=2)).split(
        cluster(one=broker(1.0, **names)), {}
    )
    assert none == ()


def test_a_quota_goes_up_in_half_an_hour_and_down_in_a_day() -> None:
    assert smoothed(40.0, 100.0, 5.0, 0.0, HOUR // 4) == 70.0
    assert smoothed(40.0, 100.0, 5.0, 0.0, HOUR) == 100.0
    assert smoothed(40.0, 0.0, 5.0, 0.0, 12 * HOUR) == 22.5
    assert smoothed(40.0, 5000.0, 5.0, 200.0, HOUR) == 200.0
    begun = Quotas().after([broker(10.0, update=HOUR, a=1000.0)])
    assert begun.of("t/n/a").rate_in == 1000.0, "a leader begins with what it sees"
    assert begun.of("t/n/new") == INITIAL


def test_it_reads_no_strategy() -> None:
    with pytest.raises(UnknownStrategy, match="rules of its own"):
        load_manager(CONF, "ThresholdShedder")


def test_it_reads_no_other_settings_than_those_that_a_check_does_not_name() -> None:
    read: set[str] = set()

    class Watched(Configuration):
        def __getattribute__(self, name: str) -> object:
            read.add(name)
            return super().__getattribute__(name)

    conf = Watched(pulsar_version="3.0.7", loadManagerClassName=CONF.loadManagerClassName)
    full = replace(broker(86.0, a=1000.0, b=50_000.0), lastUpdate=1)
    _, manager = SimpleLoadManager(conf).next_round(Snapshot(cluster(one=full, two=broker(10.0, c=1.0))))
    manager.place("t/n/new", cluster(one=full, two=broker(10.0, c=1.0)), Policies())
    assert read & {field.name for field in fields(Configuration)[1:]} <= READ_BY_SIMPLE
    assert "loadBalancerBrokerComfortLoadLevelPercentage" in read
