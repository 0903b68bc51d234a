"""Load data: Java's arithmetic, percentages, the largest usage, averages, and when a broker reports."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.model.balance.averages import (
    advanced,
    exponential,
    long_term_rates,
    never_seen,
    sampled,
    with_reported_bundles,
)
from fencepost.model.balance.configuration import NAMES_BEFORE_4_0_8, Configuration, defaults
from fencepost.model.balance.java import (
    ascending,
    descending,
    hundredth,
    largest,
    percentage,
    quotient,
    square_root,
    to_int,
    total,
)
from fencepost.model.balance.load_data import (
    BrokerAverage,
    LocalBrokerData,
    ResourceUsage,
    TimeAverageMessageData,
    namespace_of,
)
from fencepost.model.balance.reports import Figures, bandwidth, change, must_report, relative
from fencepost.model.balance.usage import RESOURCES, reported_usages, unweighted_usage, usage, weighted_usage
from tests.model.balance.clusters import MINUTE, broker, bundle, cluster, stats

ROOT = Path(__file__).parents[3]
CURRENT, OLD = defaults("4.2.4"), defaults("2.10.1")

# --- Java's arithmetic


@pytest.mark.parametrize(
    ("dividend", "divisor", "expected"),
    [(1.0, 0.0, math.inf), (-1.0, 0.0, -math.inf), (1.0, -0.0, -math.inf), (6.0, 4.0, 1.5), (math.inf, 0.0, math.inf)],
)
def test_quotients(dividend: float, divisor: float, expected: float) -> None:
    assert quotient(dividend, divisor) == expected


@pytest.mark.parametrize("value", [0.0, math.nan])
def test_no_number_at_all(value: float) -> None:
    assert math.isnan(quotient(value, 0.0))
    assert math.isnan(square_root(-1.0))
    assert math.isnan(square_root(math.nan))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.9, 1), (-1.9, -1), (math.nan, 0), (math.inf, 2**31 - 1), (-math.inf, -(2**31)), (3e9, 2**31 - 1), (-0.5, 0)],
)
def test_casts_to_int(value: float, expected: int) -> None:
    assert to_int(value) == expected


def test_the_order_of_doubles() -> None:
    values = [1.0, math.nan, -0.0, 0.0, math.inf]
    assert [str(v) for v in descending(values, float)] == ["nan", "inf", "1.0", "0.0", "-0.0"]
    assert [str(v) for v in ascending(values, float)] == ["-0.0", "0.0", "1.0", "inf", "nan"]


def test_equal_ones_stay_in_their_order() -> None:
    assert descending([("a", 1.0), ("b", 2.0), ("c", 1.0)], lambda pair: pair[1]) == [("b", 2.0), ("a", 1.0), ("c", 1.0)]


def test_a_sum_rounds_as_java_does() -> None:
    assert total([0.1] * 10) == 0.9999999999999999  # Python's own sum is 1.0


def test_nan_is_never_the_largest() -> None:
    assert largest([1.0, math.nan, 0.5]) == 1.0
    assert largest([math.nan]) == -math.inf


# --- percentages and usages: "(float) usage / (float) limit * 100 in 32-bit floats; a limit <= 0 gives 0"


@pytest.mark.parametrize("limit", [0.0, -1.0, math.nan])
def test_without_a_limit_nothing_is_used(limit: float) -> None:
    assert percentage(50, limit) == 0.0


def test_percentages_are_32_bit_floats() -> None:
    assert percentage(85, 100) == 85.0
    assert percentage(30, 100) == 30.000001907348633
    assert percentage(1, 3) == 33.333335876464844


def test_exactly_85_percent_is_more_than_the_double_in_32_bits() -> None:
    assert hundredth(85.0) == 0.8500000238418579 > 0.85
    assert weighted_usage(broker(85), CURRENT) == 0.85


@given(st.floats(0, 1e12), st.floats(1e-3, 1e12))
def test_a_percentage_is_within_float_rounding(used: float, limit: float) -> None:
    assert percentage(used, limit) == pytest.approx(used / limit * 100, rel=4 * float(np.finfo(np.float32).eps), abs=1e-36)


def test_heap_memory_counts_in_2_10_only() -> None:
    report = replace(broker(50), memory=ResourceUsage(95, 100))
    assert weighted_usage(report, CURRENT) == 0.5
    assert weighted_usage(report, OLD) == 0.95
    assert unweighted_usage(report, OLD) == pytest.approx(0.95)
    assert unweighted_usage(report, defaults("3.0.7")) == pytest.approx(0.5)
    assert usage(report, CURRENT) == 0.5
    assert usage(report, OLD) == unweighted_usage(report, OLD)


@pytest.mark.filterwarnings("ignore:overflow")
@given(st.lists(st.lists(st.floats(0), min_size=5, max_size=5), min_size=1))
def test_usages_are_those_of_single_reports(used: list[list[float]]) -> None:
    for conf in (CURRENT, replace(OLD, loadBalancerCPUResourceWeight=0.3)):
        reports = [LocalBrokerData(**{n: ResourceUsage(u, 100) for n, u in zip(RESOURCES, row, strict=True)}) for row in used]
        percents = {name: np.array([getattr(report, name).percent for report in reports]) for name in RESOURCES}
        assert reported_usages(percents, conf).tolist() == [usage(report, conf) for report in reports]


def test_weights() -> None:
    report = replace(broker(80), directMemory=ResourceUsage(90, 100), bandwidthIn=ResourceUsage(60, 100))
    assert weighted_usage(report, CURRENT) == 0.8  # direct memory weighs 0
    assert weighted_usage(report, replace(CURRENT, loadBalancerDirectMemoryResourceWeight=1.0)) == 0.9
    assert weighted_usage(report, replace(CURRENT, loadBalancerCPUResourceWeight=0.5)) == pytest.approx(0.6)
    assert weighted_usage(report, OLD) == 0.9


# --- averages: "n = min(n + 1, max); avg = ((n - 1) * avg + x) / n"


def test_the_first_sample_replaces_the_defaults() -> None:
    first = sampled(never_seen(), stats(1000, rate=7, topics=3))
    assert never_seen().longTermData.rate == 100
    assert never_seen().longTermData.throughput == 100_000
    assert (first.shortTermData.msgThroughputIn, first.longTermData.msgRateIn, first.topics) == (1000, 7, 3)


def test_an_average_is_plain_until_it_is_full_and_then_forgets() -> None:
    average = TimeAverageMessageData(maxSamples=10)
    for rate in range(1, 11):
        average = advanced(average, stats(rate=rate))
    assert (average.numSamples, average.msgRateIn) == (10, 5.5)
    assert advanced(average, stats(rate=100)).msgRateIn == (9 * 5.5 + 100) / 10


def test_an_average_without_a_maximum_divides_by_zero_as_java_does() -> None:
    assert advanced(TimeAverageMessageData(maxSamples=0), stats(rate=5)).msgRateIn == math.inf


def test_bundles_that_are_only_reported_get_a_first_sample() -> None:
    data = cluster({"a": broker(lastStats={"n/1": stats(500), "n/2": stats(7)})}, {"n/2": bundle(9)})
    seen = with_reported_bundles(data)
    assert seen.bundles["n/1"].shortTermData.throughput == 500
    assert seen.bundles["n/2"] == data.bundles["n/2"]
    assert with_reported_bundles(seen) is seen


def test_long_term_rates_of_a_broker_are_the_sum_over_its_bundles() -> None:
    brokers = {"a": broker(bundles=["n/1", "n/2"]), "b": broker(lastStats={"n/1": stats(), "n/9": stats()})}
    data = cluster(brokers, {"n/1": bundle(rate=5), "n/2": bundle(rate=8), "n/3": bundle(rate=100)})
    # nothing is known of n/9
    assert long_term_rates(data) == {"a": BrokerAverage(13, 0), "b": BrokerAverage(55, 50)}


def test_what_is_preallocated_counts_and_leaves_what_was_made_as_it_is() -> None:
    data = cluster({"a": broker(bundles=["n/1"]), "b": None}, {"n/1": bundle(rate=5), "n/2": bundle(rate=8)})
    assert (data.once("x", lambda: [1]), data.counts_of("n")) == ([1], {"a": 1, "b": 0})
    later = data.with_preallocated({"n/2": "a", "n/1": "a", "n/3": "gone"})
    assert (later.once("x", lambda: [2]), later.counts_of("n")) == ([1], {"a": 2, "b": 0})
    assert later.expected_on("a") == ["n/2"]
    assert data.counts_of("n") == {"a": 1, "b": 0}


def test_history_weighs() -> None:
    assert exponential(None, 0.9, 0.9) == 0.9
    assert exponential(0.9, 0.5, 0.9) == pytest.approx(0.86)


def test_namespaces() -> None:
    assert namespace_of("public/default/0x00000000_0x40000000") == "public/default"
    assert namespace_of("b1") == "b1"


# --- reports: "when a change is strictly above the threshold (10) ... or when the last report is older than 15 minutes"


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize(("old", "new", "percent"), [(0, 0, 0), (0, 1, math.inf), (100, 110, 10), (100, 89, 11), (-4, 4, 200)])
def test_relative_change(old: float, new: float, percent: float) -> None:
    assert relative(old, new) == percent


@pytest.mark.parametrize(
    ("now", "reports"),
    [
        (broker(50, rate=110, throughput=100, numBundles=10), False),
        (broker(50, rate=111, throughput=100, numBundles=10), True),
        (broker(50, rate=100, throughput=89, numBundles=10), True),
        (broker(50, rate=100, throughput=100, numBundles=12), True),
        (broker(59, rate=100, throughput=100, numBundles=10), False),
        (broker(60, rate=100, throughput=100, numBundles=10), True),  # 60 % are 60.000004 in 32 bits
    ],
)
def test_a_broker_reports_what_changed_by_more_than_the_threshold(now: LocalBrokerData, reports: bool) -> None:
    last = broker(50, rate=100, throughput=100, numBundles=10)
    assert bool(must_report(Figures.of(last, CURRENT), Figures.of(now, CURRENT), CURRENT)) is reports


def test_a_broker_reports_at_the_latest_after_the_longest_interval() -> None:
    last = Figures.of(broker(50, lastUpdate=1000), CURRENT)
    assert not must_report(last, last._replace(time=1000 + 15 * MINUTE), CURRENT)
    assert must_report(last, last._replace(time=1001 + 15 * MINUTE), CURRENT)


def test_reports_of_many_brokers_are_decided_at_once() -> None:
    now = [broker(50, rate=110), broker(50, rate=111), broker(math.inf, rate=100), broker(0, rate=100)]
    last = Figures.of(broker(50, rate=100), CURRENT)
    current = Figures(*(np.array(column) for column in zip(*(Figures.of(report, CURRENT) for report in now), strict=True)))
    assert must_report(last, current, CURRENT).tolist() == [False, True, True, True]


def test_usage_changes_in_points() -> None:
    assert change(Figures.of(broker(10), CURRENT), Figures.of(broker(20), CURRENT), CURRENT) == pytest.approx(10)


def test_an_interval_of_no_second_makes_a_broker_look_overloaded() -> None:
    hasty = replace(broker(10), bandwidthIn=ResourceUsage(bandwidth(800, 0), 1e6))
    assert weighted_usage(hasty, CURRENT) == math.inf
    idle = replace(broker(10), bandwidthIn=ResourceUsage(bandwidth(0, 0), 1e6))
    assert weighted_usage(idle, CURRENT) == pytest.approx(0.1)  # NaN never counts


# --- configuration


def test_defaults_differ_between_versions() -> None:
    assert (CURRENT.loadBalancerMemoryResourceWeight, OLD.loadBalancerMemoryResourceWeight) == (0.0, 1.0)
    assert (CURRENT.loadBalancerDirectMemoryResourceWeight, OLD.loadBalancerDirectMemoryResourceWeight) == (0.0, 1.0)
    assert defaults() == Configuration()
    assert CURRENT.overload_threshold == 0.85


def test_every_setting_is_used() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "model" / "balance").rglob("*.py")]
    settings = [field.name for field in fields(Configuration)]
    assert [name for name in settings if sum(source.count(f".{name}") for source in sources) == 0] == []


def test_every_setting_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    settings = [field.name for field in fields(Configuration) if field.name != "pulsar_version"]
    assert [name for name in [*settings, *NAMES_BEFORE_4_0_8.values()] if f"`{name}`" not in reference] == []
