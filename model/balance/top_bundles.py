"""The bundles that a broker of the extensible manager names to the leader: its largest, the smallest of them first.

Mirrors TopKBundles and StrictNamespaceBundleStatsComparator of pulsar-broker.
"""

from __future__ import annotations

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.load_data import SYSTEM_NAMESPACE, LoadData, NamespaceBundleStats, namespace_of
from fencepost.model.balance.shedding import NEVER_SHED


def top_bundles(broker: str, data: LoadData, conf: Configuration, policies: Policies) -> list[tuple[str, float]]:
    """The names and throughputs of the largest ``loadBalancerMaxNumberOfBundlesInBundleLoadReport`` bundles, ascending.

    Bundles without traffic, of the system's namespaces and of namespaces excluded from shedding are not named; nor are those
    that policies bind, unless ``loadBalancerSheddingBundlesWithPoliciesEnabled``.
    """
    busy = [
        (bundle, stats)
        for bundle, stats in data.stats_of(broker).items()
        if stats.throughput != 0
        and not _is_of_the_system(bundle)
        and namespace_of(bundle) not in conf.loadBalancerSheddingExcludedNamespaces
        and (conf.loadBalancerSheddingBundlesWithPoliciesEnabled or not policies.bind(namespace_of(bundle)))
    ]
    largest = sorted(busy, key=lambda named: _size(named[1]), reverse=True)
    named = largest[: conf.loadBalancerMaxNumberOfBundlesInBundleLoadReport]
    return [(bundle, stats.throughput) for bundle, stats in reversed(named)]


def _is_of_the_system(bundle: str) -> bool:
    namespace = namespace_of(bundle)
    return namespace == SYSTEM_NAMESPACE or NEVER_SHED.fullmatch(namespace) is not None


def _size(stats: NamespaceBundleStats) -> tuple[float, float, float, int, int]:
    connections = stats.topics + stats.consumerCount + stats.producerCount
    return stats.msgThroughputIn, stats.msgThroughputOut, stats.rate, connections, stats.cacheSize
