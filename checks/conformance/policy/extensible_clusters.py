"""Clusters of the extensible manager at random, with what binds namespaces, and as the harness reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.chance import NOW, cluster, settings
from fencepost.model.balance.configuration import RELEASES, Configuration, Version
from fencepost.model.balance.isolation import AutoFailoverPolicy, FailureDomain, NamespaceIsolationData, Policies
from fencepost.model.balance.load_data import BrokerLoad, LoadData, LocalBrokerData
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER
from fencepost.model.releases import is_since

SINCE: Sequence[Version] = tuple(release for release in RELEASES if is_since(release, "3.0.7"))
NAMED = (
    "loadBalancerMaxNumberOfBundlesInBundleLoadReport",
    "loadBalancerSheddingBundlesWithPoliciesEnabled",
    "loadBalancerSheddingExcludedNamespaces",
)
FILTERS = ("loadBalancerBrokerMaxTopics", "failureDomainsEnabled", "preferLaterVersions")
LEVELS = (0.0, 0.05, 0.1, 0.3, 0.5, 0.85, 0.86, 0.9, 1.0)
SECONDS = 1000
FAILOVER = {"policy_type": "min_available"}


def extensible(random: Random, release: Version, names: Sequence[str]) -> Configuration:
    """Settings of the extensible manager."""
    return settings(random, release, names, loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)


def brokers(random: Random, conf: Configuration, before: LoadData | None = None) -> LoadData:
    """A cluster in which no bundle is in two reports, and brokers say averages of themselves."""
    load = cluster(random, conf, before=before)
    taken: set[str] = set()
    reports: dict[str, LocalBrokerData | None] = {}
    loads: dict[str, BrokerLoad] = {}
    for broker, its in load.reports.items():
        own = tuple(bundle for bundle in its.bundles if bundle not in taken and random.random() < 0.95)
        seen = {bundle: one for bundle, one in its.lastStats.items() if bundle not in taken}
        taken.update(its.bundles)
        if random.random() < 0.05:
            reports[broker] = None
            continue
        loads[broker] = BrokerLoad(_level(random), random.choice((0.0, 1e5, 2e6, its.throughput)))
        age = random.choice((0, 0, 0, 0, 30, 100, 700, 2000)) * SECONDS
        version = random.choice(("3.0.0", "3.1.0", "3.1.0", "3.1.0", "3.1.0-rc1")) if random.random() < 0.97 else "?"
        reports[broker] = replace(
            its,
            bundles=own,
            lastStats=seen,
            lastUpdate=NOW - age,
            brokerVersionString=version,
            persistentTopicsEnabled=random.random() < 0.95,
            nonPersistentTopicsEnabled=random.random() < 0.8,
        )
    gone = {broker: NOW - random.choice((10, 100, 250, 400)) * SECONDS for broker in reports if random.random() < 0.1}
    return replace(load, brokers=reports, bundles={}, loads=loads, recently_unloaded_brokers=gone)


def _level(random: Random) -> float:
    return random.choice(LEVELS) if random.random() < 0.5 else round(random.random(), 4)


def policies(random: Random) -> Policies:
    """Isolation of a namespace or two, anti-affinity groups and failure domains; often none."""
    isolation = {}
    if random.random() < 0.4:
        limit = AutoFailoverPolicy(parameters={"min_limit": random.choice(("0", "1", "2")), "usage_threshold": "80"})
        primary = random.choice((("b[0-3].x",), ("b1.x", "b2.x"), (".*",), ("b[0-3].x:8080",)))
        secondary = random.choice(((), ("b[4-9].x",), ("b4.x:.*",)))
        isolation["p"] = NamespaceIsolationData((random.choice(("t/n", "t/n.*", "public/.*")),), primary, secondary, limit)
    groups = {name: random.choice(("g", "G", "h")) for name in ("t/n", "t/m", "t/no") if random.random() < 0.3}
    domains = {name: FailureDomain(tuple(f"b{n}.x:8080" for n in range(9) if random.random() < 0.4)) for name in ("d", "e")}
    once = {broker: name for name, domain in domains.items() for broker in domain.brokers}
    unique = {name: FailureDomain(tuple(b for b, where in once.items() if where == name)) for name in domains}
    return Policies(isolation, groups, unique if random.random() < 0.5 else {})


def world(load: LoadData, bound: Policies) -> dict[str, object]:
    """A cluster as the harness reads it."""
    loads = broker_loads_of(load)
    content: dict[str, object] = {}
    for broker, its in load.brokers.items():
        own = loads.get(broker)
        content[broker] = None
        if its is not None and own is not None:
            content[broker] = {
                **wire.report(its),
                "weightedMaxEMA": own.weightedMaxEMA,
                "msgThroughputEMA": own.msgThroughputEMA,
                "age": load.now - its.lastUpdate,
                "brokerVersionString": its.brokerVersionString,
                "persistentTopicsEnabled": its.persistentTopicsEnabled,
                "nonPersistentTopicsEnabled": its.nonPersistentTopicsEnabled,
            }
    return {
        "brokers": content,
        "recent": {bundle: load.now - time for bundle, time in load.recently_unloaded.items()},
        "recent brokers": {broker: load.now - time for broker, time in load.recently_unloaded_brokers.items()},
        "groups": dict(bound.anti_affinity),
        "domains": bound.domains,
        "isolation": {
            name: {
                "namespaces": list(one.namespaces),
                "primary": list(one.primary),
                "secondary": list(one.secondary),
                "auto_failover_policy": {**FAILOVER, "parameters": dict(one.auto_failover_policy.parameters)},
            }
            for name, one in bound.isolation.items()
        },
    }


def broker_loads_of(load: LoadData) -> Mapping[str, BrokerLoad]:
    """What brokers say of themselves; one whose saying was left out says that it is idle."""
    return {broker: load.loads.get(broker, BrokerLoad()) for broker in load.reports}


def with_loads(load: LoadData) -> LoadData:
    """The load in which every broker with a report says something of itself."""
    return replace(load, loads=dict(broker_loads_of(load)))
