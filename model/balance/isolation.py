"""Which brokers may serve a namespace at all: isolation policies, failure domains and anti-affinity groups as they are stored.

Mirrors SimpleResourceAllocationPolicies, NamespaceIsolationPolicies and applyNamespacePolicies of LoadManagerShared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import LoadData

URL = re.compile(r"([^:/]*|\[[^\]]*\])(:\d*)?")
"""What java.net.URL takes for host and port."""
MOST_PORTS = 65535


@dataclass(frozen=True)
class AutoFailoverPolicy:
    """When the secondaries of a policy join: by ``min_limit``, when fewer primaries than that are there."""

    policy_type: str = "min_available"
    parameters: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def min_limit(self) -> int:
        """How many primaries are enough."""
        return int(self.parameters.get("min_limit", 1))


@dataclass(frozen=True)
class NamespaceIsolationData:
    """One isolation policy; all names are regular expressions, matched as a whole."""

    namespaces: tuple[str, ...] = ()
    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    auto_failover_policy: AutoFailoverPolicy = field(default_factory=AutoFailoverPolicy)


@dataclass(frozen=True)
class FailureDomain:
    """The brokers of one domain."""

    brokers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Policies:
    """The policies of a cluster that bound where bundles may go.

    ``isolation``: policies by name. ``anti_affinity``: the group of each namespace that has one. ``failure_domains``:
    domains by name.
    """

    isolation: Mapping[str, NamespaceIsolationData] = field(default_factory=dict)
    anti_affinity: Mapping[str, str] = field(default_factory=dict)
    failure_domains: Mapping[str, FailureDomain] = field(default_factory=dict)

    def isolation_of(self, namespace: str) -> NamespaceIsolationData | None:
        """The first policy that speaks of the namespace."""
        return next((p for p in self.isolation.values() if _matches(p.namespaces, namespace)), None)

    def is_shared(self, host: str, broker: str, conf: Configuration) -> bool:
        """Whether no policy has that broker, on that host, for a primary."""
        return not any(_name(policy.primary, host, broker, conf) for policy in self.isolation.values())

    def bind(self, namespace: str) -> bool:
        """Whether the namespace is isolated or in an anti-affinity group."""
        return self.isolation_of(namespace) is not None or bool(self.group_of(namespace))

    def group_of(self, namespace: str) -> str:
        """The namespace's anti-affinity group, in whatever case it is written; empty if it has none."""
        return self.anti_affinity.get(namespace, "").strip().lower()

    @property
    def domains(self) -> dict[str, str]:
        """The domain of each broker that has one."""
        return {broker: name for name, domain in self.failure_domains.items() for broker in domain.brokers}


def host(broker: str, conf: Configuration) -> str | None:
    """The host of ``host:port``; None for a broker whose name is not understood, so that it gets nothing.

    Mirrors parseBrokerHost, which wants a colon; 2.10 reads the name as part of a URL.
    """
    return _host_in_url(broker) if conf.is_2_10 else _host(broker)


@lru_cache(maxsize=4096)
def _host(broker: str) -> str | None:
    name, colon, _ = broker.rpartition(":")
    return name if colon else None


def _host_in_url(broker: str) -> str | None:
    match = URL.fullmatch(broker)
    return match[1] if match else None


def permitted(
    namespace: str,
    data: LoadData,
    policies: Policies,
    conf: Configuration,
    brokers: Collection[str] | None = None,
    *,
    persistent: bool = True,
) -> tuple[str, ...]:
    """The brokers that may serve a bundle of a namespace, in their order: of all that are alive, or of those given.

    An isolated namespace: its primaries, and its secondaries if fewer primaries than ``min_limit`` are there. Any other:
    the brokers that are nobody's primary and serve persistent topics, or the others, as the bundle is asked for.
    """
    policy, named = policies.isolation_of(namespace), hosts(data, conf)
    if policy is None:
        serving = data.once(("serving", conf.is_2_10, persistent), lambda: _serving(data, named, persistent))
        able = serving if brokers is None else [broker for broker in brokers if broker in serving]
        return tuple(b for b in able if policies.is_shared(named[b], b, conf)) if policies.isolation else tuple(able)
    those = [broker for broker in (data.brokers if brokers is None else brokers) if broker in named]
    primary = [b for b in those if _name(policy.primary, named[b], b, conf)]
    secondary = [b for b in those if b not in primary and _name(policy.secondary, named[b], b, conf)]
    return (*primary, *secondary) if len(primary) < policy.auto_failover_policy.min_limit else tuple(primary)


def hosts(data: LoadData, conf: Configuration) -> dict[str, str]:
    """The hosts of the live brokers, except those whose names are not understood."""

    def understood() -> dict[str, str]:
        return {broker: name for broker in data.brokers if (name := host(broker, conf)) is not None}

    return data.once(("hosts", conf.is_2_10), understood)


def _serving(data: LoadData, named: Mapping[str, str], persistent: bool) -> dict[str, None]:
    """The live brokers that serve topics of this kind, in their order; one without a report is taken to."""
    reports = data.brokers
    return dict.fromkeys(b for b in named if (report := reports[b]) is None or report.serves(persistent=persistent))


def beside_the_port(policies: Policies, brokers: Collection[str], conf: Configuration) -> list[str]:
    """The patterns that match no host, but would match a broker with its port: Pulsar compares hosts alone.

    Since 5.0.1 it compares hosts with their ports as well, with a pattern that has a colon in it.
    """
    hosts = {name for broker in brokers if (name := host(broker, conf)) is not None}
    sentences = []
    for name, policy in policies.isolation.items():
        for key in ("primary", "secondary"):
            for pattern in getattr(policy, key):
                meant = next((broker for broker in brokers if _matches((pattern,), broker)), "")
                if meant and not any(_matches((pattern,), each) for each in hosts) and not _names_a_port(pattern, conf):
                    says = f"isolation policy {name}: {key} {pattern!r} matches no broker because of its port"
                    sentences.append(f"{says}; Pulsar compares it with {host(meant, conf)!r}")
    return sentences


def _name(patterns: tuple[str, ...], host: str, broker: str, conf: Configuration) -> bool:
    """Whether patterns name a broker: by its host or, since 5.0.1, by host and port if they have a colon in them.

    Mirrors isPrimaryBroker and isSecondaryBroker of LoadManagerShared, and matchesBrokerIdRegex of
    NamespaceIsolationPolicyImpl.
    """
    if _matches(patterns, host):
        return True
    with_port = tuple(pattern for pattern in patterns if _names_a_port(pattern, conf))
    name = _host_and_port(broker) if with_port else None
    return name is not None and _matches(with_port, name)


def _names_a_port(pattern: str, conf: Configuration) -> bool:
    return ":" in pattern and not conf.before("5.0.1")


@lru_cache(maxsize=4096)
def _host_and_port(broker: str) -> str | None:
    """``host:port`` as Guava's HostAndPort writes it, an IPv6 address in brackets; None if it is none."""
    host, _, port = broker.rpartition(":")
    bare = host[1:-1] if len(host) > 1 and host[0] == "[" and host[-1] == "]" else host
    if not bare or not re.fullmatch(r"[+-]?\d+", port) or not 0 <= int(port) <= MOST_PORTS:
        return None
    return f"[{bare}]:{int(port)}" if ":" in bare else f"{bare}:{int(port)}"


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)
