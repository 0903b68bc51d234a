"""When a broker writes its report to the store, and what its network looks like in it.

Mirrors needBrokerDataUpdate of ModularLoadManagerImpl and the bandwidth of LinuxBrokerHostUsageImpl.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from model.balance.configuration import Configuration
from model.balance.java import largest, quotient
from model.balance.load_data import LocalBrokerData
from model.balance.usage import usage

MILLIS_OF_A_MINUTE = 60_000


@dataclass(frozen=True)
class Change:
    """How far a broker is from its last report, in percent (rates, throughputs, bundles) and percentage points (usage)."""

    rate: float
    throughput: float
    bundles: float
    usage: float

    @property
    def largest(self) -> float:
        """The largest of them."""
        return largest((self.rate, self.throughput, self.bundles, self.usage))


def change(last: LocalBrokerData, current: LocalBrokerData, conf: Configuration) -> Change:
    """What changed between the last report and now."""
    return Change(
        relative(last.rate, current.rate),
        relative(last.throughput, current.throughput),
        relative(last.numBundles, current.numBundles),
        100.0 * abs(usage(last, conf) - usage(current, conf)),
    )


def relative(old: float, new: float) -> float:
    """The change in percent of the old value; from 0 to 0 it is 0, from 0 to anything else infinite."""
    if old == 0:
        return 0.0 if new == 0 else math.inf
    return 100 * abs((old - new) / old)


def must_report(last: LocalBrokerData, current: LocalBrokerData, now: int, conf: Configuration) -> bool:
    """Whether the broker writes: the last report is too old, or something changed by strictly more than the threshold."""
    if now - last.lastUpdate > conf.loadBalancerReportUpdateMaxIntervalMinutes * MILLIS_OF_A_MINUTE:
        return True
    return change(last, current, conf).largest > conf.loadBalancerReportUpdateThresholdPercentage


def bandwidth(kilobits: float, elapsed_seconds: int) -> float:
    """Kilobits per second over an interval in whole seconds: 0 seconds make it infinite, or NaN if nothing was sent."""
    return quotient(kilobits, elapsed_seconds)
