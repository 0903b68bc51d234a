"""The filters between the brokers that may serve a bundle and the placement strategy: each leaves some of the candidates.

Mirrors LoadManagerShared and BrokerVersionFilter of pulsar-broker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from semver import Version

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.load_data import SYSTEM_NAMESPACE, LoadData, namespace_of

DEFAULT_DOMAIN = "default"


class FilterFailure(Exception):
    """A filter that cannot tell; Pulsar then starts again from the isolation policies."""


def within_max_topics(candidates: Sequence[str], data: LoadData, conf: Configuration) -> tuple[str, ...]:
    """The brokers with at most ``loadBalancerBrokerMaxTopics`` topics, preallocated bundles included; all, if none is left."""
    most = conf.loadBalancerBrokerMaxTopics
    full = set(data.once(("full", most), lambda: [broker for broker in data.brokers if _reported(broker, data) > most]))
    full.update(broker for broker in data.placed_on if broker in data.brokers and _topics(broker, data) > most)
    left = tuple(broker for broker in candidates if broker not in full) if full else ()
    return left or tuple(candidates)


def below_max_topics(candidates: Sequence[str], data: LoadData, conf: Configuration) -> tuple[str, ...]:
    """The brokers that report fewer topics than ``loadBalancerBrokerMaxTopics``, if there are any.

    Mirrors BrokerMaxTopicCountFilter of the extensible manager, to which a broker without a report has no topics.
    """
    return tuple(broker for broker in candidates if _reported(broker, data) < conf.loadBalancerBrokerMaxTopics)


def _topics(broker: str, data: LoadData) -> int:
    placed = [data.bundles[bundle].topics for bundle in data.expected_on(broker) if bundle in data.bundles]
    return sum(placed) + _reported(broker, data)


def _reported(broker: str, data: LoadData) -> int:
    report = data.brokers[broker]
    return report.numTopics if report is not None else 0


def least_of_anti_affinity(
    bundle: str, candidates: Sequence[str], data: LoadData, policies: Policies, conf: Configuration
) -> tuple[str, ...]:
    """The brokers with the least of the bundle's group (see ``of_group``), in the failure domains that have the least.

    A domain counts the brokers that are candidates; a broker without a domain is in one called ``default``.
    """
    if not policies.group_of(namespace_of(bundle)):
        return tuple(candidates)
    counts = of_group(bundle, data, policies, conf)
    domains = policies.domains
    left = tuple(candidates)
    if conf.failureDomainsEnabled and domains:
        used: Counter[str] = Counter()
        for broker in left:
            used[domains.get(broker, DEFAULT_DOMAIN)] += counts[broker]
        left = tuple(b for b in left if used[domains.get(b, DEFAULT_DOMAIN)] == min(used.values()))
    fewest = min((counts[broker] for broker in left), default=0)
    return tuple(broker for broker in left if counts[broker] == fewest)


def of_group(bundle: str, data: LoadData, policies: Policies, conf: Configuration) -> Counter[str]:
    """How much of the bundle's anti-affinity group each broker serves: namespaces, in the extensible manager bundles.

    Upstream calls either a count of namespaces (getAntiAffinityNamespaceOwnedBrokers).
    """
    group = policies.group_of(namespace_of(bundle))
    counts: Counter[str] = Counter()
    for broker in data.brokers:
        if conf.is_extensible:
            names = [namespace_of(bundle) for bundle in data.assigned_to(broker)]
        else:
            names = list({namespace_of(bundle) for bundle in data.bundles_of(broker)})
        counts[broker] = sum(policies.group_of(name) == group for name in names)
    return counts


def fewest_bundles(bundle: str, candidates: Sequence[str], data: LoadData, conf: Configuration) -> tuple[str, ...]:
    """The brokers with the fewest bundles of the bundle's namespace, unless that is switched off."""
    namespace = namespace_of(bundle)
    if not conf.loadBalancerDistributeBundlesEvenlyEnabled and namespace != SYSTEM_NAMESPACE:
        return tuple(candidates)
    counts = data.counts_of(namespace)
    fewest = min((counts[broker] for broker in candidates), default=0)
    return tuple(broker for broker in candidates if counts[broker] == fewest)


def latest_version(candidates: Sequence[str], data: LoadData, conf: Configuration) -> tuple[str, ...]:
    """With ``preferLaterVersions``, the brokers of the latest version; FilterFailure if one does not say which it is."""
    if not conf.preferLaterVersions:
        return tuple(candidates)
    if not candidates:
        raise FilterFailure("no broker is left whose version could be the latest")
    versions = {}
    for broker in candidates:
        report = data.brokers[broker]
        text = (report and report.brokerVersionString) or ""
        try:
            versions[broker] = Version.parse(text)
        except ValueError:
            raise FilterFailure(f"{broker} reports the version {text!r}") from None
    latest = max(versions.values())
    return tuple(broker for broker in candidates if versions[broker] == latest)
