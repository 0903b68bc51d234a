"""How full a broker is: the largest of its resources' usages.

Mirrors getMaxResourceUsage and getMaxResourceUsageWithWeight of LocalBrokerData.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.configuration import Configuration, Resource
from fencepost.model.balance.java import hundredth, hundredths, largest, largest_of_each
from fencepost.model.balance.load_data import LoadData, LocalBrokerData

RESOURCES: tuple[Resource, ...] = ("cpu", "memory", "directMemory", "bandwidthIn", "bandwidthOut")
BESIDES_HEAP: tuple[Resource, ...] = tuple(name for name in RESOURCES if name != "memory")


def weighted_usage(report: LocalBrokerData, conf: Configuration) -> float:
    """The largest usage, each times its weight, as a fraction (doubles); of each report it is worked out once."""
    known, weights = report.weighted, conf.weights
    if weights not in known:
        known[weights] = (
            largest([getattr(report, name).percent * weight for name, weight in conf.resource_weights.items()]) / 100
        )
    return known[weights]


def unweighted_usage(report: LocalBrokerData, conf: Configuration) -> float:
    """The largest usage, as a fraction (32-bit floats): what is taken for overload before 4.0.8. Heap memory counts in 2.10."""
    return hundredth(largest(getattr(report, name).percent for name in _unweighted(conf)))


def _unweighted(conf: Configuration) -> tuple[Resource, ...]:
    return RESOURCES if conf.is_2_10 else BESIDES_HEAP


def usage(report: LocalBrokerData, conf: Configuration) -> float:
    """The usage that is compared with the overload threshold: weighted, before 4.0.8 unweighted."""
    return weighted_usage(report, conf) if conf.weighs_usage else unweighted_usage(report, conf)


def overloaded(data: LoadData, conf: Configuration) -> frozenset[str]:
    """The brokers whose usage is above the overload threshold."""

    threshold = conf.overload_threshold

    def above() -> frozenset[str]:
        return frozenset(name for name, report in data.reports.items() if usage(report, conf) > threshold)

    return data.once(("overloaded", threshold, conf.weighs_usage, conf.is_2_10, conf.weights), above)


def reported_usage(report: LocalBrokerData, conf: Configuration) -> float:
    """The usage whose change makes a broker report: in the extensible manager unweighted and without heap memory."""
    if conf.is_extensible:
        return largest(getattr(report, name).percent for name in BESIDES_HEAP) / 100
    return usage(report, conf)


def weighted_usages(percents: Mapping[Resource, NDArray[np.float64]], conf: Configuration) -> NDArray[np.float64]:
    """``weighted_usage`` of many brokers, by the percentages of each resource."""
    with np.errstate(invalid="ignore"):
        return largest_of_each(percents[name] * weight for name, weight in conf.resource_weights.items()) / 100


def reported_usages(percents: Mapping[Resource, NDArray[np.float64]], conf: Configuration) -> NDArray[np.float64]:
    """``reported_usage`` of many brokers, by the percentages of each resource; to SimpleLoadManagerImpl these themselves."""
    if conf.is_simple:
        return np.stack([percents[name] for name in RESOURCES], axis=-1)
    if conf.is_extensible:
        return largest_of_each(percents[name] for name in BESIDES_HEAP) / 100
    if conf.weighs_usage:
        return weighted_usages(percents, conf)
    return hundredths(largest_of_each(percents[name] for name in _unweighted(conf)))
