"""Averages over time: of a bundle's rates over its samples, of a broker's rates over its bundles, of a usage over its history.

Mirrors TimeAverageMessageData, BundleData and TimeAverageBrokerData of pulsar-common, and ModularLoadManagerImpl where it
meets a bundle for the first time.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from fencepost.model.balance.amounts import RIGHT
from fencepost.model.balance.java import quotient
from fencepost.model.balance.load_data import (
    LONG_TERM_SAMPLES,
    SHORT_TERM_SAMPLES,
    BrokerAverage,
    BundleData,
    LoadData,
    NamespaceBundleStats,
    TimeAverageMessageData,
)

DEFAULT_STATS = NamespaceBundleStats(msgRateIn=50, msgRateOut=50, msgThroughputIn=50_000, msgThroughputOut=50_000)
"""What a bundle is taken to carry of which nothing is known."""


def advanced(average: TimeAverageMessageData, sample: NamespaceBundleStats) -> TimeAverageMessageData:
    """The average with one more sample: n = min(n + 1, max), then ((n - 1) * average + sample) / n.

    The first sample therefore replaces what was there.
    """
    count = min(average.numSamples + 1, average.maxSamples)

    def updated(old: float, new: float) -> float:
        return quotient((count - 1) * old + new, count)

    return replace(
        average,
        numSamples=count,
        msgThroughputIn=updated(average.msgThroughputIn, sample.msgThroughputIn),
        msgThroughputOut=updated(average.msgThroughputOut, sample.msgThroughputOut),
        msgRateIn=updated(average.msgRateIn, sample.msgRateIn),
        msgRateOut=updated(average.msgRateOut, sample.msgRateOut),
    )


def sampled(bundle: BundleData, sample: NamespaceBundleStats) -> BundleData:
    """The bundle's averages with one more sample."""
    return BundleData(advanced(bundle.shortTermData, sample), advanced(bundle.longTermData, sample), sample.topics)


@cache
def never_seen() -> BundleData:
    """What a bundle starts with of which nothing is stored."""
    return BundleData(_steady(SHORT_TERM_SAMPLES, 0, DEFAULT_STATS), _steady(LONG_TERM_SAMPLES, 0, DEFAULT_STATS))


def _steady(maximum: int, count: int, stats: NamespaceBundleStats) -> TimeAverageMessageData:
    rates = (stats.msgRateIn, stats.msgRateOut, stats.msgThroughputIn, stats.msgThroughputOut)
    return TimeAverageMessageData(*rates, maxSamples=maximum, numSamples=count)


def with_reported_bundles(data: LoadData) -> LoadData:
    """The data with a first sample for every bundle that a report speaks of and of which no averages are known."""
    unknown = {
        bundle: sampled(never_seen(), report.lastStats[bundle])
        for report in data.reports.values()
        for bundle in report.lastStats
        if bundle not in data.bundles
    }
    return replace(data, bundles={**data.bundles, **unknown}) if unknown else data


def long_term_rates(data: LoadData) -> dict[str, BrokerAverage]:
    """The long-term rates of each broker's bundles together.

    One of which nothing is known counts with the rates of a bundle never seen.
    """
    incoming = data.columns.sums("longTermData", "msgRateIn", data.reports, DEFAULT_STATS.msgRateIn)
    outgoing = data.columns.sums("longTermData", "msgRateOut", data.reports, DEFAULT_STATS.msgRateOut)
    return {broker: BrokerAverage(incoming[broker], outgoing[broker]) for broker in data.reports}


def exponential(history: float | None, value: float, weight: float) -> float:
    """history * weight + (1 - weight) * value; the first value as it is."""
    return value if history is None else RIGHT.averaged(history, value, weight)
