"""Load data backed by arrays: the same as Pulsar's records, one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fencepost.model.balance.averages import never_seen, sampled
from fencepost.model.balance.java import percentage, percentages
from fencepost.model.balance.load_data import (
    BundleData,
    Columns,
    Figure,
    LocalBrokerData,
    NamespaceBundleStats,
    TimeAverageMessageData,
    sizes,
)
from fencepost.model.balance.simulation.records import Averages, Known, Namespaces, Owned, Sample

AMOUNTS = st.floats(0, 1e12)


def known(places: dict[str, int], averages: Averages, topics: NDArray[np.int64]) -> Known:
    return Known(places, averages, topics, Namespaces.of(list(places)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), min_size=1, max_size=25))
def test_averages_advance_as_those_of_single_bundles(samples: list[tuple[float, float, float, float]]) -> None:
    averages, record = Averages(2), never_seen()
    for rates in samples:
        averages.add(np.array([rates, rates]).T, np.array([True, False]))
        record = sampled(record, NamespaceBundleStats(*rates, topics=7))
    there = known({"a": 0, "b": 1}, averages, np.array([7, 7]))
    assert list(there) == ["a"]  # b was never reported
    assert (there["a"].shortTermData, there["a"].longTermData, there["a"].topics) == (
        record.shortTermData,
        record.longTermData,
        7,
    )


def test_what_is_known_stays_as_it_was() -> None:
    averages = Averages(1)
    averages.know(0, BundleData(TimeAverageMessageData(1, 2, 3, 4, 10, 10), TimeAverageMessageData(5, 6, 7, 8, 1000, 30), 2))
    before = known({"a": 0}, averages, np.array([2]))
    averages.add(np.zeros((4, 1)), np.array([True]))
    assert before["a"].shortTermData == TimeAverageMessageData(1, 2, 3, 4, 10, 10)
    after = known({"a": 0}, averages, np.array([2]))["a"]
    assert (after.shortTermData.msgRateIn, after.longTermData.numSamples) == (0.9, 31)
    assert before.column("longTermData", "msgRateOut") == {"a": 6}
    assert before.column("shortTermData", "rate") == {"a": 3}
    by_throughput = {"a": 15}
    assert before.column("longTermData", "throughput") == by_throughput
    assert Columns(dict(before)).column("longTermData", "throughput") == by_throughput
    averages.forget(0)
    averages.extended(3)
    assert "a" not in known({"a": 0, "b": 2}, averages, np.zeros(3, dtype=np.int64))


def test_all_bundles_at_a_time_are_as_one_by_one() -> None:
    names = [f"{namespace}/{number}" for namespace in ("t/n", "t/m") for number in range(3)]
    places, averages = {name: place for place, name in enumerate(names)}, Averages(6)
    random = np.random.default_rng(0)
    averages.add(random.random((4, 6)), np.array([True, True, False, True, False, True]))
    sample = Sample(random.random((4, 6)), np.ones((3, 6), dtype=np.int64))
    owned = {"a": ["t/m/2", "t/n/0", "t/n/2"], "b": ["t/n/1", "t/m/1"], "c": []}
    reports = {
        broker: LocalBrokerData(lastStats=Owned({name: places[name] for name in own}, sample), bundles=tuple(own))
        for broker, own in owned.items()
    }
    at_once = known(places, averages, np.ones(6, dtype=np.int64))
    one_by_one = Columns(dict(at_once))
    figure: Figure
    for figure in ("msgRateIn", "msgRateOut", "rate", "throughput"):
        assert at_once.sums("longTermData", figure, reports, 50) == one_by_one.sums("longTermData", figure, reports, 50)
        for stats in [*(report.lastStats for report in reports.values()), {"t/n/0": NamespaceBundleStats()}]:
            assert at_once.of("longTermData", figure, stats).tolist() == one_by_one.of("longTermData", figure, stats).tolist()
    for placed in ([], ["t/m/1", "t/n/7", "t/o/1"]):
        assert at_once.counts(reports.values(), placed) == one_by_one.counts(reports.values(), placed)


def test_a_report_has_the_statistics_of_its_bundles() -> None:
    sample = Sample(np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 1.0], [4.0, 1.0]]), np.array([[3, 1], [1, 8], [2, 0]]))
    owned = Owned({"a": 0}, sample)
    assert dict(owned) == {"a": NamespaceBundleStats(1, 2, 3, 4, consumerCount=2, producerCount=1, topics=3)}
    assert "b" not in owned
    both = Owned({"b": 1, "a": 0}, sample)
    assert both.sizes.tolist() == sizes(dict(both)).tolist()


@given(st.lists(st.tuples(st.floats(0), st.floats(0)), min_size=1))
def test_percentages_are_those_of_single_usages(pairs: list[tuple[float, float]]) -> None:
    usages, limits = np.array(pairs).T
    wanted = [percentage(usage, limit) for usage, limit in pairs]
    assert np.array_equal(percentages(usages, limits), wanted, equal_nan=True)
