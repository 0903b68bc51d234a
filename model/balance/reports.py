"""When brokers write their reports to the store, and what a network looks like in one.

Mirrors needBrokerDataUpdate of ModularLoadManagerImpl and of BrokerLoadDataReporter (extensible), and the bandwidth of
LinuxBrokerHostUsageImpl.
"""

from __future__ import annotations

from functools import reduce
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.java import largest_of_each, quotient
from fencepost.model.balance.load_data import LocalBrokerData
from fencepost.model.balance.usage import reported_usage

MILLIS_OF_A_MINUTE = 60_000


A = TypeVar("A", float, NDArray[np.float64])
"""A number of one broker, or those of many."""


class Figures(NamedTuple, Generic[A]):
    """What decides whether a report is written: numbers of one broker, or arrays with a place for each of many.

    Messages and bytes per second, bundles, usage as a fraction, and when that was (milliseconds since 1970). To
    SimpleLoadManagerImpl usage has a further axis: that of each resource, in percent.
    """

    rate: A
    throughput: A
    bundles: A
    usage: A
    time: A

    @staticmethod
    def of(report: LocalBrokerData, conf: Configuration) -> Figures[float]:
        """The figures of a report."""
        return Figures(report.rate, report.throughput, report.numBundles, reported_usage(report, conf), report.lastUpdate)


def must_report(last: Figures[A], current: Figures[A], conf: Configuration) -> NDArray[np.bool_]:
    """Whether a broker writes: its last report is too old, or something changed by strictly more than the threshold."""
    too_old = current.time - last.time > conf.loadBalancerReportUpdateMaxIntervalMinutes * MILLIS_OF_A_MINUTE
    return np.asarray(too_old | (change(last, current, conf) > conf.loadBalancerReportUpdateThresholdPercentage))


def change(last: Figures[A], current: Figures[A], conf: Configuration) -> NDArray[np.float64]:
    """What changed most: rate, throughput and bundles in percent of what they were, the usage in percentage points.

    SimpleLoadManagerImpl looks at each resource, in whole percentage points, and at whether the number of bundles is another.
    Before 4.0.8 and in the extensible manager, which take ``Math.max``, it is NaN if one of them is: nothing is reported then.
    """
    if conf.is_simple:
        points = np.floor(np.minimum(100.0, np.abs(last.usage - current.usage)).max(axis=-1))
        return np.where(last.bundles == current.bundles, points, np.inf)
    with np.errstate(all="ignore"):
        changes = (
            relative(last.rate, current.rate),
            relative(last.throughput, current.throughput),
            relative(last.bundles, current.bundles),
            100.0 * np.abs(last.usage - current.usage),
        )
        if conf.is_extensible or not conf.weighs_usage:
            return reduce(np.maximum, changes)
        return largest_of_each(changes)


def relative(old: A, new: A) -> NDArray[np.float64]:
    """The change in percent of the old value; from 0 to 0 it is 0, from 0 to anything else infinite."""
    percent = 100 * np.abs(np.divide(old - new, old))
    return np.where(old == 0, np.where(new == 0, 0.0, np.inf), percent)


def bandwidth(kilobits: float, elapsed_seconds: int) -> float:
    """Kilobits per second over an interval in whole seconds: 0 seconds make it infinite, or NaN if nothing was sent."""
    return quotient(kilobits, elapsed_seconds)
