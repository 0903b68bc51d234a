"""Load data backed by arrays: the same as Pulsar's records, one by one."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import ref

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


def owned(places: dict[str, int], sample: Sample) -> Owned:
    return Owned(places, np.array(list(places.values()), dtype=np.intp), sample)


BUNDLES, BROKERS = 4, 3
Minute = tuple[list[tuple[int, set[int]]], list[list[float]]]
"""The reports of a minute, each of a broker's bundles, and what the bundles carry in it."""

REPORTS = st.lists(st.tuples(st.integers(0, BROKERS - 1), st.sets(st.integers(0, BUNDLES - 1))), min_size=1, max_size=5)
RATES = st.lists(st.lists(AMOUNTS, min_size=4, max_size=4), min_size=BUNDLES, max_size=BUNDLES)
ONCE_THROUGH = st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=BUNDLES, max_size=BUNDLES).map(
    lambda bundles: [[rate, rate, throughput, throughput] for rate, throughput in bundles]
)
"""Of what comes in all goes out once, in every bundle."""


def places(bundles: Iterable[int]) -> NDArray[np.intp]:
    return np.array(sorted(bundles), dtype=np.intp)


@settings(max_examples=60)
@given(st.lists(st.tuples(REPORTS, RATES | ONCE_THROUGH)))
def test_averages_advance_as_those_of_single_bundles(
    minutes: list[tuple[list[tuple[int, set[int]]], list[list[float]]]],
) -> None:
    averages, reported = Averages(BUNDLES), np.zeros(BUNDLES, dtype=np.int64)
    spoken_of, last = {broker: set[int]() for broker in range(BROKERS)}, dict[int, NamespaceBundleStats]()
    records = {bundle: never_seen() for bundle in range(BUNDLES)}
    for reports, rates in minutes:
        left = []
        for broker, bundles in reports:
            left.append(places(spoken_of[broker]))
            spoken_of[broker] = bundles
            last |= {bundle: NamespaceBundleStats(*rates[bundle], topics=7) for bundle in bundles}
            for bundle in set[int]().union(*spoken_of.values()):
                records[bundle] = sampled(records[bundle], last[bundle])
        heard = [places(bundles) for _, bundles in reports]
        averages.add(Sample(np.array(rates).T, np.zeros((3, BUNDLES), dtype=np.int64)), left, heard, reported)
    there = known({str(bundle): bundle for bundle in range(BUNDLES)}, averages, np.full(BUNDLES, 7))
    assert {int(name): BundleData(one.shortTermData, one.longTermData, one.topics) for name, one in there.items()} == {
        bundle: record for bundle, record in records.items() if bundle in last
    }


def first_report(averages: Averages, rates: NDArray[np.float64], of: Iterable[int]) -> None:
    sample = Sample(rates, np.zeros((3, rates.shape[1]), dtype=np.int64))
    averages.add(sample, [places([])], [places(of)], np.zeros(rates.shape[1], dtype=np.int64))


def test_what_is_known_stays_as_it_was() -> None:
    averages = Averages(1)
    averages.know(0, BundleData(TimeAverageMessageData(1, 2, 3, 4, 10, 10), TimeAverageMessageData(5, 6, 7, 8, 1000, 30), 2))
    before = known({"a": 0}, averages, np.array([2]))
    first_report(averages, np.zeros((4, 1)), [0])
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


def test_what_is_known_goes_with_its_last_user() -> None:
    one = known({"a/b/c": 0}, Averages(1), np.zeros(1, dtype=np.int64))
    assert one.column("longTermData", "rate") == {}
    there = ref(one)
    del one
    assert there() is None


def test_all_bundles_at_a_time_are_as_one_by_one() -> None:
    names = [f"{namespace}/{number}" for namespace in ("t/n", "t/m") for number in range(3)]
    numbers, averages = {name: place for place, name in enumerate(names)}, Averages(6)
    random = np.random.default_rng(0)
    first_report(averages, random.random((4, 6)), [0, 1, 3, 5])
    sample = Sample(random.random((4, 6)), np.ones((3, 6), dtype=np.int64))
    whose = {"a": ["t/m/2", "t/n/0", "t/n/2"], "b": ["t/n/1", "t/m/1"], "c": []}
    reports = {
        broker: LocalBrokerData(lastStats=owned({name: numbers[name] for name in own}, sample), bundles=tuple(own))
        for broker, own in whose.items()
    }
    at_once = known(numbers, averages, np.ones(6, dtype=np.int64))
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
    one = owned({"a": 0}, sample)
    assert dict(one) == {"a": NamespaceBundleStats(1, 2, 3, 4, consumerCount=2, producerCount=1, topics=3)}
    assert "b" not in one
    both = owned({"b": 1, "a": 0}, sample)
    assert both.sizes.tolist() == sizes(dict(both)).tolist()


@given(st.lists(st.tuples(st.floats(0), st.floats(0)), min_size=1))
def test_percentages_are_those_of_single_usages(pairs: list[tuple[float, float]]) -> None:
    usages, limits = np.array(pairs).T
    wanted = [percentage(usage, limit) for usage, limit in pairs]
    assert np.array_equal(percentages(usages, limits), wanted, equal_nan=True)
