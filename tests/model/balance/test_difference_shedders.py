"""The shedders that compare the fullest broker with the emptiest: UniformLoadShedder and AvgShedder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.model.balance.avg_shedder import AvgShedder
from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.uniform_load_shedder import UniformLoadShedder
from tests.model.balance.clusters import MIB, broker, bundle, cluster

CURRENT, OLD = defaults("4.2.4"), defaults("2.10.1")


# --- UniformLoadShedder


def uniform(data: LoadData, conf: Configuration = CURRENT) -> dict[str, tuple[str, ...]]:
    return dict(UniformLoadShedder().find_bundles_for_unloading(data, conf)[0].unload)


def by_rates(full: float, empty: float, *bundles: float) -> LoadData:
    names = {f"n/{n}": bundle(rate=rate) for n, rate in enumerate(bundles)}
    return cluster({"a": broker(rate=full, bundles=list(names)), "b": broker(rate=empty, bundles=["m/1", "m/2"])}, names)


def test_uniform_rates_must_differ_by_more_than_half() -> None:
    assert uniform(by_rates(15000, 10000, 900, 100)) == {}
    assert uniform(by_rates(15001, 10000, 900, 100)) == {"a": ("n/0", "n/1")}


def test_uniform_sheds_a_fifth_of_the_difference_the_largest_that_fit_first() -> None:
    assert uniform(by_rates(30000, 10000, 500, 5000, 3999, 1, 0)) == {"a": ("n/2", "n/3", "n/4")}


def test_uniform_does_nothing_below_the_minimum() -> None:
    """pulsar#21299."""
    assert uniform(by_rates(5000, 1, 100, 100)) == {}  # (int) 999.8
    assert uniform(by_rates(5001, 1, 100, 100)) == {"a": ("n/0", "n/1")}


def test_uniform_truncates_each_subtraction() -> None:
    assert uniform(by_rates(6000, 1000, 0.9, 999.9, 0.9)) == {"a": ("n/1", "n/0", "n/2")}  # 1000 - 999 leaves 1, and 1 stays


def test_uniform_takes_about_0_for_1() -> None:
    assert uniform(by_rates(5000, 0, 100, 100)) == {}  # (5000 - 1) * 0.2 is 999
    assert uniform(by_rates(5002, 1e-6, 100, 100)) == {"a": ("n/0", "n/1")}


def test_uniform_throughput_must_be_more_than_four_times() -> None:
    names = {"n/1": bundle(MIB), "n/2": bundle(MIB)}

    def data(full: float) -> LoadData:
        return cluster({"a": broker(throughput=full, bundles=list(names)), "b": broker(throughput=10 * MIB)}, names)

    assert uniform(data(40 * MIB)) == {}
    assert uniform(data(40 * MIB + 1)) == {"a": ("n/1", "n/2")}


def test_uniform_rates_have_priority_even_if_they_shed_nothing() -> None:
    names = {"n/1": bundle(MIB, rate=1), "n/2": bundle(MIB, rate=1)}
    full = broker(rate=10, throughput=100 * MIB, bundles=list(names))
    assert uniform(cluster({"a": full, "b": broker(rate=1, throughput=MIB)}, names)) == {}
    assert uniform(cluster({"a": full, "b": broker(rate=9, throughput=MIB)}, names)) == {"a": ("n/1", "n/2")}


def test_uniform_minimum_of_throughputs_starts_at_the_largest_int() -> None:
    """Where every broker exceeds 2 GiB/s the emptiest goes unseen: 10 GiB/s against 2^31 - 1 bytes/s."""
    names = {"n/1": bundle(MIB), "n/2": bundle(MIB)}
    data = cluster({"a": broker(throughput=10 * 2**30, bundles=list(names)), "b": broker(throughput=9 * 2**30)}, names)
    assert uniform(data) == {"a": ("n/1", "n/2")}


def test_uniform_bounds_the_number_of_bundles() -> None:
    conf = replace(CURRENT, maxUnloadBundleNumPerShedding=1)
    assert uniform(by_rates(30000, 10000, 10, 20), conf) == {"a": ("n/1",)}


def test_uniform_needs_more_than_one_bundle() -> None:
    assert uniform(by_rates(30000, 10000, 10)) == {}


def test_uniform_of_2_10_chooses_a_wrong_broker() -> None:
    """pulsar#21016: the last broker takes over by its throughput, although another has the highest rate."""
    two = {"n/1": bundle(rate=100), "n/2": bundle(rate=100)}
    three = {"m/1": bundle(rate=100), "m/2": bundle(rate=100)}
    brokers = {
        "a": broker(rate=50000, throughput=MIB, bundles=list(two)),
        "b": broker(rate=20000, throughput=2 * MIB, bundles=list(three)),
        "c": broker(rate=10000, throughput=MIB, bundles=["o/1", "o/2"]),
    }
    data = cluster(brokers, {**two, **three})
    assert uniform(data) == {"a": ("n/1", "n/2")}
    assert uniform(data, OLD) == {"b": ("m/1", "m/2")}


def test_uniform_of_2_10_never_uses_an_idle_broker() -> None:
    """pulsar#17456: brokers with one bundle or none are not looked at."""
    names = {f"{n}/{m}": bundle(rate=10000) for n in "pq" for m in range(2)}
    brokers = {n: broker(rate=20000, bundles=[f"{n}/0", f"{n}/1"]) for n in "pq"}
    data = cluster({**brokers, "idle": broker()}, names)
    assert uniform(data, OLD) == {}
    smaller = replace(data, bundles={name: bundle(rate=3999) for name in names})
    assert uniform(smaller) == {"p": ("p/0",)}


def test_uniform_of_2_10_moves_everything_because_of_the_delta() -> None:
    """pulsar#21905: each bundle is accepted up to 1000 above what remains, however little that is."""
    data = by_rates(12000, 2000, 1000, 1000, 1000, 900, 900)
    assert uniform(data) == {"a": ("n/0", "n/1")}
    assert uniform(data, OLD) == {"a": ("n/0", "n/1", "n/2")}
    small = by_rates(12000, 2000, *[99] * 30)
    assert len(uniform(small)["a"]) == 20
    assert len(uniform(small, OLD)["a"]) == 30


def test_uniform_of_2_10_has_no_delta_for_throughput_and_either_minimum_suffices() -> None:
    names = {"n/1": bundle(400), "n/2": bundle(1)}
    brokers = {
        "a": broker(rate=15000, throughput=3000, bundles=list(names)),
        "b": broker(rate=10000, throughput=500, bundles=["m/1", "m/2"]),
    }
    data = cluster(brokers, names)
    assert uniform(data) == {}  # 500 bytes/s are far below the minimum
    assert uniform(data, OLD) == {"a": ("n/1", "n/2")}  # but 1000 msg/s are not
    larger = replace(data, bundles={"n/1": bundle(501), "n/2": bundle(1)})
    assert uniform(larger, OLD) == {"a": ("n/2",)}


def test_thresholds_of_0_switch_uniform_off() -> None:
    conf = replace(
        CURRENT,
        loadBalancerMsgRateDifferenceShedderThreshold=0.0,
        loadBalancerMsgThroughputMultiplierDifferenceShedderThreshold=0.0,
    )
    assert uniform(by_rates(30000, 10, 10, 20), conf) == {}


# --- AvgShedder


def avg_rounds(count: int, data: LoadData, conf: Configuration = CURRENT) -> list[dict[str, tuple[str, ...]]]:
    shedder, done = AvgShedder(), []
    for _ in range(count):
        unloading, shedder = shedder.find_bundles_for_unloading(data, conf)
        done.append(dict(unloading.unload))
    return done


def pair(full: float, empty: float, *bundles: float, rate: float = 10000) -> LoadData:
    names = {f"n/{n}": bundle(rate=carried) for n, carried in enumerate(bundles)}
    return cluster({"a": broker(full, rate=rate, bundles=list(names)), "b": broker(empty)}, names)


@pytest.mark.parametrize(("full", "first"), [(25, 8), (49, 8), (50, 2), (24, None)])
def test_avg_acts_after_hits(full: float, first: int | None) -> None:
    done = avg_rounds(9, pair(full, 10, 100))
    assert next((n for n, unload in enumerate(done, start=1) if unload), None) == first


def test_avg_counters_are_reset_before_the_traffic_is_looked_at() -> None:
    done = avg_rounds(6, pair(90, 10, 100, rate=4000))  # a fifth of 4000 is not above 1000
    assert done == [{}] * 6
    assert [bool(unload) for unload in avg_rounds(6, pair(90, 10, 100))] == [False, True] * 3


def test_avg_amount_must_be_strictly_above_the_minimum() -> None:
    assert avg_rounds(2, pair(90, 10, 100, rate=5000))[1] == {}
    assert avg_rounds(2, pair(90, 10, 100, rate=5001))[1] == {"a": ("n/0",)}


def test_avg_takes_what_fits_and_carries_something() -> None:
    assert avg_rounds(2, pair(90, 10, 0, 2001, 1500, 600, 500))[1] == {"a": ("n/2", "n/4")}


def test_avg_falls_back_to_throughput() -> None:
    names = {"n/0": bundle(2 * MIB, rate=1), "n/1": bundle(3 * MIB, rate=1)}
    data = cluster({"a": broker(90, throughput=12 * MIB, bundles=list(names)), "b": broker(10)}, names)
    assert avg_rounds(2, data)[1] == {"a": ("n/0",)}


def test_avg_pairs_the_fullest_with_the_emptiest_inwards_and_remembers_where() -> None:
    brokers = {
        name: broker(p, rate=p * 1000, bundles=[f"{name}/0", f"{name}/1"])
        for name, p in {"w": 90, "x": 10, "y": 60, "z": 15, "m": 30}.items()
    }
    data = cluster(brokers, {f"{name}/0": bundle(rate=100) for name in brokers})
    shedder = AvgShedder()
    for _ in range(2):
        unloading, shedder = shedder.find_bundles_for_unloading(data, CURRENT)
    assert unloading.unload == {"w": ("w/0",), "y": ("y/0",)}
    assert unloading.destinations == {"w/0": "x", "y/0": "z"}
    entries = [shedder.memory.get(name) for name in ("w/0", "y/0")]
    assert [entry and (entry.bundle, entry.brokers) for entry in entries] == [("w/0", ("z",))] * 2, "they carry the same"
    assert unloading.why[-1] == "  y/0: its averages equal those of w/0, which goes to z, too"


def test_avg_a_small_difference_clears_both_counters() -> None:
    shedder = AvgShedder()
    hits = []
    for full in (60, 60, 20, 60, 40, 60):
        _, shedder = shedder.find_bundles_for_unloading(
            pair(full, 10), replace(CURRENT, loadBalancerAvgShedderHitCountHighThreshold=9)
        )
        hits.append((shedder.low_hits.get("a", 0), shedder.high_hits.get("a", 0)))
    assert hits == [(1, 1), (2, 2), (0, 0), (1, 1), (2, 0), (3, 1)]


def test_avg_sheds_an_only_bundle() -> None:
    """Upstream warns that it will not, and does."""
    assert avg_rounds(2, pair(90, 10, 100))[1] == {"a": ("n/0",)}
