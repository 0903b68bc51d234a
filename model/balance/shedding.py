"""What a shedder is: it looks at the load and says which bundles should leave which broker, and why.

Mirrors LoadSheddingStrategy of pulsar-broker. A shedder is a value: what Pulsar's object would have learnt in a round is
in the shedder that comes back with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.java import descending
from fencepost.model.balance.load_data import LoadData, LocalBrokerData, namespace_of
from fencepost.model.balance.wording import throughput

NEVER_SHED = re.compile(r"(pulsar|sla-monitor)/[^:/]+:\d+", re.ASCII)
NEVER_SHED_BEFORE_4_2 = re.compile(r"pulsar/([^/]+/)?[^:/]+:\d+|sla-monitor/[^/]+/[^:/]+:\d+", re.ASCII)
"""The namespaces of heartbeats and of the service-level monitor; 4.2 knows no namespace with a cluster in its name."""


@dataclass(frozen=True)
class Unloading:
    """The answer of a shedder: the bundles that leave each broker, in order, and the reasons.

    ``averages`` are the brokers' usages over time, where the shedder keeps them. ``destinations`` are the brokers that the
    shedder itself has in mind for a bundle. ``skipped`` is the reason under which the extensible manager counts a cycle in
    which nothing is unloaded, by the names of UnloadDecision.Reason.
    """

    unload: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    why: tuple[str, ...] = ()
    averages: Mapping[str, float] = field(default_factory=dict)
    destinations: Mapping[str, str] = field(default_factory=dict)
    skipped: str = ""


class Shedder(Protocol):
    """A shedding policy with what it remembers of earlier rounds."""

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, Shedder]:
        """What should be unloaded now, and the shedder of the next round."""
        ...

    def with_active_brokers(self, brokers: Collection[str]) -> Shedder:
        """The shedder once it has heard which brokers are alive."""
        ...


def never_shed(namespace: str, conf: Configuration) -> bool:
    """Whether every broker keeps its own namespace of this kind: isSLAOrHeartbeatNamespace of NamespaceService."""
    return _is_a_brokers_own(namespace, conf.before("4.2.4"))


@lru_cache(maxsize=1 << 16)
def _is_a_brokers_own(namespace: str, before: bool) -> bool:
    return (NEVER_SHED_BEFORE_4_2 if before else NEVER_SHED).fullmatch(namespace) is not None


@dataclass(frozen=True)
class Load:
    """A bundle and what it carries: messages or bytes per second."""

    bundle: str
    amount: float


def candidates(data: LoadData, report: LocalBrokerData, conf: Configuration, *, by_rate: bool) -> list[Load]:
    """The bundles that may leave a broker, the largest first by their short-term rate or throughput.

    These are the ones that it owns, of which averages are known, and which were not unloaded within the grace period.
    """
    columns = data.columns
    known = [bundle for bundle in report.owned.difference(data.recently_unloaded) if bundle in columns.positions]
    able = [bundle for bundle in known if not never_shed(namespace_of(bundle), conf)]
    able.sort(key=columns.positions.__getitem__)
    amounts = columns.of("shortTermData", "rate" if by_rate else "throughput", able).tolist()
    return descending(map(Load, able, amounts), lambda load: load.amount)


def at_least(need: float, loads: Iterable[Load]) -> tuple[tuple[str, ...], list[str]]:
    """The first bundles until what they carry is no longer below the need, and at least one; and what became of each."""
    taken: list[str] = []
    reasons: list[str] = []
    marked = 0.0
    for load in loads:
        if marked < need or not taken:
            taken.append(load.bundle)
            marked += load.amount
            reasons.append(f"  {load.bundle}: {throughput(load.amount)}, unloaded ({throughput(marked)} so far)")
        else:
            reasons.append(f"  {load.bundle}: {throughput(load.amount)}, stays: enough is unloaded")
    return tuple(taken), reasons


def kept_back(data: LoadData, report: LocalBrokerData, conf: Configuration) -> list[str]:
    """The bundles of a broker that may not leave it now, each with the reason."""
    reasons = []
    for bundle in report.bundles:
        if bundle in data.recently_unloaded:
            minutes = (data.now - data.recently_unloaded[bundle]) / 60_000
            reasons.append(f"  {bundle}: stays: unloaded {minutes:.4g} min ago, within the grace period")
        elif bundle not in data.bundles:
            reasons.append(f"  {bundle}: stays: its load is not known")
        elif never_shed(namespace_of(bundle), conf):
            reasons.append(f"  {bundle}: stays: its namespace belongs to the broker")
    return reasons


def too_few(broker: str, report: LocalBrokerData) -> str:
    """Why a broker with one bundle or none keeps it."""
    if report.owned:
        return f"{broker}: its only bundle, {report.bundles[0]}, is never shed"
    return f"{broker}: has no bundle"
