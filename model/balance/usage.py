"""How full a broker is: the largest of its resources' usages.

Mirrors getMaxResourceUsage and getMaxResourceUsageWithWeight of LocalBrokerData.
"""

from __future__ import annotations

from model.balance.configuration import Configuration
from model.balance.java import hundredth, largest
from model.balance.load_data import LocalBrokerData


def weighted_usage(report: LocalBrokerData, conf: Configuration) -> float:
    """The largest usage, each times its weight, as a fraction (doubles). Heap memory counts in 2.10 only."""
    percents = [
        report.cpu.percent * conf.loadBalancerCPUResourceWeight,
        report.directMemory.percent * conf.loadBalancerDirectMemoryResourceWeight,
        report.bandwidthIn.percent * conf.loadBalancerBandwidthInResourceWeight,
        report.bandwidthOut.percent * conf.loadBalancerBandwidthOutResourceWeight,
    ]
    if conf.is_2_10:
        percents.append(report.memory.percent * conf.loadBalancerMemoryResourceWeight)
    return largest(percents) / 100


def unweighted_usage(report: LocalBrokerData) -> float:
    """The largest usage, heap memory included, as a fraction (32-bit floats): what 2.10 takes for overload."""
    resources = (report.cpu, report.memory, report.directMemory, report.bandwidthIn, report.bandwidthOut)
    return hundredth(largest(resource.percent for resource in resources))


def usage(report: LocalBrokerData, conf: Configuration) -> float:
    """The usage that is compared with the overload threshold: weighted, in 2.10 unweighted."""
    return unweighted_usage(report) if conf.is_2_10 else weighted_usage(report, conf)
