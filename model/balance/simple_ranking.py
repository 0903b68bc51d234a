"""What the leader of SimpleLoadManagerImpl thinks that a broker can carry: quotas of bundles, and what they leave of a broker.

Mirrors the quotas of SimpleLoadManagerImpl, and ResourceUnitRanking, ResourceQuota and BundlesQuotas. Read in 2.10.1, 3.0.7,
4.0.8, 4.2.4 and 5.0.0-M1, whose rules are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fencepost.model.balance.java import LONG_MAX, quotient, total
from fencepost.model.balance.load_data import LocalBrokerData, NamespaceBundleStats, ResourceUsage

MILLIS_UP = 30 * 60_000
MILLIS_DOWN = 1440 * 60_000
"""Over which a quota follows what is seen."""
GROUP = 500
"""Topics, producers and consumers that share the memory of one."""
BYTES_OF_A_KILOBIT = 1024 / 8
CLOSE = 5.0
"""Percentages that differ by no more count as equal."""


class Quota(NamedTuple):
    """What a bundle is expected to take: messages and bytes per second, and MiB of heap."""

    rate_in: float
    rate_out: float
    bandwidth_in: float
    bandwidth_out: float
    memory: float

    @property
    def rate(self) -> float:
        """Messages per second, in and out."""
        return self.rate_in + self.rate_out


INITIAL = Quota(40.0, 120.0, 100_000.0, 300_000.0, 80.0)
"""That of a bundle of which the store has none."""
LEAST = Quota(5.0, 5.0, 10_000.0, 10_000.0, 2.0)
MOST = Quota(0.0, 0.0, 1_000_000.0, 1_000_000.0, 200.0)
"""0 is no bound."""


@dataclass(frozen=True)
class Quotas:
    """The quotas of bundles as the leader keeps them, and what a message takes of the CPU and a group of clients of the heap.

    ``updated`` is when they were computed last, in milliseconds since 1970; before the first time it is -1, so that quotas
    are at once what is seen. ``stored`` is what a leader has written of bundles.
    """

    cpu: float = 0.025
    memory: float = 25.0
    by_bundle: Mapping[str, Quota] = field(default_factory=dict)
    updated: int = -1
    stored: Mapping[str, Quota] = field(default_factory=dict)

    def of(self, bundle: str) -> Quota:
        """The quota of a bundle; of one that no report speaks of, that in the store, or of a new one."""
        return self.by_bundle.get(bundle) or self.stored.get(bundle, INITIAL)

    def written(self) -> Quotas:
        """The same, in the store. Small changes are not written there; they would hardly count."""
        return replace(self, stored={**self.stored, **self.by_bundle})

    def sum(self, bundles: Iterable[str]) -> Quota:
        """The quotas of some bundles together."""
        own = [self.of(bundle) for bundle in bundles]
        return Quota(*(total(column) for column in zip(*own, strict=True))) if own else Quota(0.0, 0.0, 0.0, 0.0, 0.0)

    def after(self, reports: Iterable[LocalBrokerData]) -> Quotas:
        """The quotas once the leader has gone through the reports (updateRealtimeResourceQuota)."""
        reports = list(reports)
        if not reports:
            return self
        stats = [one for report in reports for one in report.lastStats.values()]
        groups, time = sum(map(_groups, stats)), max(report.lastUpdate for report in reports)
        past, rate = time - self.updated, total(one.msgRateIn for one in stats) + total(one.msgRateOut for one in stats)
        following = replace(self, updated=time)
        if rate > 1000 and groups > 30:
            cpu = smoothed(self.cpu, total(r.cpu.usage for r in reports) / rate, 0.01, 0.1, past)
            memory = smoothed(self.memory, total(r.memory.usage for r in reports) / groups, 10.0, 50.0, past)
            following = replace(following, cpu=cpu, memory=memory)
        by_bundle = {
            bundle: Quota(*map(smoothed, self.of(bundle), _seen(one, following.memory), LEAST, MOST, [past] * len(LEAST)))
            for report in reports
            for bundle, one in report.lastStats.items()
        }
        return replace(following, by_bundle=by_bundle)


def smoothed(old: float, sample: float, least: float, most: float, past: int) -> float:
    """A value that follows a sample within bounds: up within half an hour, down within a day (timeSmoothValue)."""
    sample = max(least, sample)
    if most > 0:
        sample = min(most, sample)
    weight = min(1.0, max(0.0, past / (MILLIS_UP if sample >= old else MILLIS_DOWN)))
    return (1 - weight) * old + weight * sample


def _groups(stats: NamespaceBundleStats) -> int:
    return 1 + (stats.topics + stats.producerCount + stats.consumerCount) // GROUP


def _seen(stats: NamespaceBundleStats, memory: float) -> Quota:
    rates = (stats.msgRateIn, stats.msgRateOut, stats.msgThroughputIn, stats.msgThroughputOut)
    return Quota(*rates, _groups(stats) * memory)


@dataclass(frozen=True)
class Ranking:
    """A broker as the leader ranks it: its report, the bundles of it, those that it was given since, and the quotas of both.

    ``cpu`` is what a message per second takes of it.
    """

    report: LocalBrokerData
    loaded: frozenset[str]
    given: frozenset[str]
    allocated: Quota
    expected: Quota
    cpu: float

    @property
    def percents(self) -> tuple[float, float, float, float, float]:
        """Of CPU, heap, direct memory, and both directions of the network what is used or promised, at most 100 %."""
        report = self.report
        return (
            _percent(report.cpu, self.cpu * self.allocated.rate, self.cpu * self.expected.rate),
            _percent(report.memory, self.allocated.memory, self.expected.memory),
            _percent(report.directMemory, report.directMemory.usage, 0.0),
            _of_network(report.bandwidthIn, self.allocated.bandwidth_in, self.expected.bandwidth_in),
            _of_network(report.bandwidthOut, self.allocated.bandwidth_out, self.expected.bandwidth_out),
        )

    @property
    def percent(self) -> float:
        """The largest of the percentages."""
        return max(self.percents)

    @property
    def rate(self) -> float:
        """Messages per second that its bundles are expected to carry."""
        return self.allocated.rate_in + self.allocated.rate_out + self.expected.rate_in + self.expected.rate_out

    @property
    def capacity(self) -> int:
        """How many new bundles it could carry if it were empty."""
        report = self.report
        parts = (
            quotient(quotient(report.cpu.limit, self.cpu), INITIAL.rate),
            report.memory.limit / INITIAL.memory,
            report.bandwidthOut.limit * BYTES_OF_A_KILOBIT / INITIAL.bandwidth_out,
            report.bandwidthIn.limit * BYTES_OF_A_KILOBIT / INITIAL.bandwidth_in,
        )
        return int(min(max(min(parts), 0.0), LONG_MAX))

    def rank(self, strategy: str) -> int:
        """By which brokers are ordered: percent, messages per second, or for a draw the room that is left."""
        if strategy == LEAST_LOADED:
            return int(self.percent)
        if strategy == LEAST_MESSAGES:
            return int(self.rate)
        idle = (100 - self.percent) / 100
        return int(self.capacity * idle * idle)

    def is_better(self, other: Ranking, strategy: str) -> bool:
        """Whether the broker has less to do: the first of load, heap, CPU, and network that differs by more than 5 %."""
        if strategy == LEAST_MESSAGES:
            return self.rate < other.rate
        cpu, memory, _, network_in, network_out = zip(self.percents, other.percents, strict=True)
        load = (self.percent, other.percent)
        return next(
            (one < two for one, two in (load, memory, cpu, network_in, network_out) if abs(one - two) > CLOSE),
            load[0] < load[1],
        )

    def without(self, bundle: str, quota: Quota) -> Ranking:
        """The same, if a bundle that it reports is about to be another broker's."""
        left = Quota(*(all_ - one for all_, one in zip(self.allocated, quota, strict=True)))
        return replace(self, loaded=self.loaded - {bundle}, allocated=left) if bundle in self.loaded else self

    def with_bundle(self, bundle: str, quota: Quota) -> Ranking:
        """The same, with a bundle that it is given."""
        more = Quota(*(all_ + one for all_, one in zip(self.expected, quota, strict=True)))
        return replace(self, given=self.given | {bundle}, expected=more)


LEAST_LOADED, LEAST_MESSAGES, DRAWN = "leastLoadedServer", "leastMsgPerSecond", "weightedRandomSelection"
"""The values of loadBalancerPlacementStrategy; any other one is the last."""


def _percent(resource: ResourceUsage, allocated: float, expected: float) -> float:
    if resource.limit <= 0:
        return 0.0
    return min(100.0, 100 * (max(resource.usage, allocated) + expected) / resource.limit)


def _of_network(resource: ResourceUsage, allocated: float, expected: float) -> float:
    return _percent(resource, allocated / BYTES_OF_A_KILOBIT, expected / BYTES_OF_A_KILOBIT)


def ranked(reports: Mapping[str, LocalBrokerData], quotas: Quotas, before: Mapping[str, Ranking]) -> dict[str, Ranking]:
    """The brokers as they are ranked after a report (doLoadRanking); what one was given counts until it reports that."""
    rankings = {}
    for broker, report in reports.items():
        given = before[broker].given.difference(report.lastStats) if broker in before else frozenset()
        own = frozenset(report.lastStats)
        rankings[broker] = Ranking(report, own, given, quotas.sum(report.lastStats), quotas.sum(sorted(given)), quotas.cpu)
    return rankings
