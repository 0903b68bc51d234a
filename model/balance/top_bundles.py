"""The bundles that a broker of the extensible manager names to the leader: its largest, the smallest of them first.

Mirrors TopKBundles of pulsar-broker and compareTo of NamespaceBundleStats (see ``bundle_sizes.py``).
"""

from __future__ import annotations

from typing import Any

from fencepost.model.balance.bundle_sizes import Close, rounded_size
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.java import sorted_by
from fencepost.model.balance.load_data import SYSTEM_NAMESPACE, LoadData, NamespaceBundleStats, namespace_of
from fencepost.model.balance.shedding import never_shed

Named = tuple[str, NamespaceBundleStats]


def top_bundles(broker: str, data: LoadData, conf: Configuration, policies: Policies) -> list[tuple[str, float]]:
    """The names and throughputs of the largest ``loadBalancerMaxNumberOfBundlesInBundleLoadReport`` bundles, ascending.

    Bundles of the system's namespaces and of namespaces excluded from shedding are not named, nor since 4.0.8 those without
    traffic, nor those that policies bind, unless ``loadBalancerSheddingBundlesWithPoliciesEnabled``.
    """
    by_difference = conf.before("4.0.8")
    busy = [
        (bundle, stats)
        for bundle, stats in data.stats_of(broker).items()
        if (stats.throughput != 0 or by_difference)
        and not _is_of_the_system(bundle, conf)
        and not (namespace_of(bundle) in conf.loadBalancerSheddingExcludedNamespaces and not conf.before("4.2.4"))
        and (conf.loadBalancerSheddingBundlesWithPoliciesEnabled or not policies.bind(namespace_of(bundle)))
    ]
    count = min(conf.loadBalancerMaxNumberOfBundlesInBundleLoadReport, len(busy))
    return [(bundle, stats.throughput) for bundle, stats in reversed(_largest(busy, count, by_difference=by_difference))]


def _largest(named: list[Named], count: int, *, by_difference: bool) -> list[Named]:
    """The first so many by size, the largest first: partitionSort, which decides the order of those that compare as equal."""
    size_of: Any = Close if by_difference else rounded_size
    items, start, end, target = [(size_of(stats), (name, stats)) for name, stats in named], 0, len(named) - 1, count - 1
    while start < end:
        low, high, middle, pivot = start, end, start, items[end][0]
        while middle <= high:
            size = items[middle][0]
            if pivot < size:
                items[low], items[middle] = items[middle], items[low]
                low, middle = low + 1, middle + 1
            elif pivot > size:
                items[middle], items[high] = items[high], items[middle]
                high -= 1
            else:
                middle += 1
        if low <= target < middle:
            end = low
            break
        if target < low:
            end = low - 1
        else:
            start = middle
    first = items[: max(end, 0)]
    if by_difference:
        items[: max(end, 0)] = sorted_by(first, lambda one, other: other[0].compared(one[0]))
    else:
        items[: max(end, 0)] = sorted(first, key=lambda item: item[0], reverse=True)
    return [item for _, item in items[: max(count, 0)]]


def _is_of_the_system(bundle: str, conf: Configuration) -> bool:
    namespace = namespace_of(bundle)
    return namespace == SYSTEM_NAMESPACE or never_shed(namespace, conf)
