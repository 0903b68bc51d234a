"""SimpleLoadManagerImpl, which runs where it is configured and, up to 4.0.8, where another manager fails.

Mirrors doLoadShedding, doNamespaceBundleSplit, getLeastLoadedBroker and findBrokerForPlacement of SimpleLoadManagerImpl, and
WRRPlacementStrategy. Read in 2.10.1, 3.0.7, 4.0.8, 4.2.4 and 5.0.0-M1, whose rules are the same, except that the first two
take bundles for equal that differ by little (NamespaceBundleStatsComparator, and see ``bundle_sizes.py``), and that the first
knows brokers by their URLs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from fencepost.model.balance.bundle_sizes import CONNECTIONS, RATE, THROUGHPUT, connections, difference
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.isolation import Policies, permitted
from fencepost.model.balance.java import rounded
from fencepost.model.balance.load_data import LoadData, LocalBrokerData, NamespaceBundleStats, Size, namespace_of
from fencepost.model.balance.load_manager import LoadManager, PlannedSplit, Shedding, planned_split
from fencepost.model.balance.selection import Selection
from fencepost.model.balance.shedding import Shedder, Unloading
from fencepost.model.balance.simple_ranking import DRAWN, LEAST_LOADED, LEAST_MESSAGES, Quotas, Ranking, ranked
from fencepost.model.balance.splitting import FEWEST_TOPICS, Split, Topic, excess, is_splittable, most
from fencepost.model.balance.tree_map import first_key
from fencepost.model.balance.wording import MIB

Bottleneck = Literal["cpu", "memory", "bandwidthIn", "bandwidthOut"]
COMPARED = ("bandwidthOut", "bandwidthIn", "cpu", "directMemory")
"""What of a broker is compared with a threshold. Its heap is not."""
FULL = 100.0
TURNS = 1_000_000


@dataclass(frozen=True)
class SimpleShedding:
    """SimpleLoadManagerImpl: a broker above the threshold gives away its largest bundle, if another broker has room for it.

    Remembers nothing. One bundle a round, the largest by the resource that is used most; if that was unloaded within the grace
    period, none.
    """

    policies: Policies = field(default_factory=Policies)

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, SimpleShedding]:
        """What should be unloaded now."""
        unload, why = dict[str, tuple[str, ...]](), list[str]()
        threshold = conf.loadBalancerBrokerOverloadedThresholdPercentage
        for broker, report in data.reports.items():
            full = max(percents(report))
            if not full > threshold:
                why.append(f"{broker}: usage {full:.4g} % is at most the threshold, {threshold} %")
            elif len(report.lastStats) == 1:
                why.append(f"{broker}: usage {full:.4g} %, and it has one bundle, which is never shed")
            elif report.lastStats:
                why.append(f"{broker}: usage {full:.4g} % is above the threshold, {threshold} %")
                bundle = largest(report.lastStats, bottleneck(report), conf)
                taken = any(bundle in bundles for bundles in unload.values())
                obstacle = "another broker reports it too" if taken else self._obstacle(bundle, data, conf)
                why.append(f"  {bundle}: {f'stays: {obstacle}' if obstacle else f'unloaded: the most of {bottleneck(report)}'}")
                if not obstacle:
                    unload[broker] = (bundle,)
        return Unloading(unload, tuple(why)), self

    def _obstacle(self, bundle: str, data: LoadData, conf: Configuration) -> str:
        """Why a bundle is not unloaded; empty if nothing is in the way."""
        comfort, namespace = conf.loadBalancerBrokerComfortLoadLevelPercentage, namespace_of(bundle)
        serving = [broker for broker in permitted(namespace, data, self.policies, conf) if broker in data.reports]
        if not any(all(percent < comfort for percent in percents(data.reports[broker])) for broker in serving):
            return f"no broker that may serve it is below {comfort} %"
        if bundle in data.recently_unloaded:
            return "it was unloaded within the grace period"
        return ""

    def with_active_brokers(self, brokers: Collection[str]) -> SimpleShedding:
        """The same: nothing is remembered of a broker."""
        return self


@dataclass(frozen=True)
class SimplePlacement:
    """SimpleLoadManagerImpl: by load, by messages or by a draw, with quotas that follow what is seen.

    ``rankings`` are of the last reports, ``order`` has the rank of each broker then, and ``turn`` counts placements.
    ``counted`` are the bundles of each broker that count when those of a namespace are spread: doLoadRanking takes them from
    the rankings before the last reports, and not from the new ones.
    """

    quotas: Quotas = field(default_factory=Quotas)
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    order: Mapping[str, int] = field(default_factory=dict)
    counted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    turn: int = 0

    def with_reports(self, data: LoadData, conf: Configuration) -> SimplePlacement:
        """After the leader has ranked the brokers again, if one has reported since."""
        begins = self.quotas.updated < 0
        if not begins and {broker: ranking.report for broker, ranking in self.rankings.items()} == data.reports:
            return self
        quotas = self.quotas.after(data.reports.values())
        if begins:
            quotas = replace(quotas, updated=data.now)
        if not data.reports:
            return replace(self, quotas=quotas)  # the old ranking counts
        rankings = ranked(data.reports, quotas, self.rankings)
        order = {broker: ranking.rank(strategy_of(conf)) for broker, ranking in rankings.items()}
        before = {
            broker: ranking.loaded | (rankings[broker].given if broker in rankings else ranking.given)
            for broker, ranking in self.rankings.items()
        }
        return replace(self, quotas=quotas, rankings=rankings, order=order, counted={**self.counted, **before})

    def of_another(self, conf: Configuration) -> SimplePlacement:
        """What another broker knows that has heard the same reports, and placed nothing."""
        rankings = ranked({broker: ranking.report for broker, ranking in self.rankings.items()}, self.quotas, {})
        order = {broker: ranking.rank(strategy_of(conf)) for broker, ranking in rankings.items()}
        return SimplePlacement(self.quotas, rankings, order, {broker: one.loaded for broker, one in rankings.items()})

    def bundles_of(self, namespace: str, broker: str) -> int:
        """How many bundles of a namespace count for a broker."""
        return sum(namespace_of(bundle) == namespace for bundle in self.counted.get(broker, ()))

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], SimplePlacement]:
        """Those of the candidates of which any may be selected, and what is remembered then (getLeastLoadedBroker)."""
        for broker, ranking in self.rankings.items():
            if bundle in ranking.given:
                return (broker,), self
        candidates = sorted(candidates, key=lambda broker: (self.order[broker], broker))
        if strategy_of(conf) != DRAWN:
            return self._found(candidates, bundle, conf)
        with_room = [broker for broker in candidates if self.order[broker] > 0]
        return tuple(with_room or candidates), self

    def _found(self, candidates: Sequence[str], bundle: str, conf: Configuration) -> tuple[tuple[str, ...], SimplePlacement]:
        """By load or by messages (findBrokerForPlacement): nothing is drawn."""
        quota, strategy = self.quotas.of(bundle), strategy_of(conf)
        rankings = {**self.rankings, **{broker: self.rankings[broker].without(bundle, quota) for broker in candidates}}
        by_messages = strategy == LEAST_MESSAGES
        idle, best, roomiest, room = "", "", "", -1
        for broker in candidates:
            ranking = rankings[broker]
            left = int(ranking.capacity * max(0.0, (100 - ranking.percent) / 100))
            if left > room:
                room, roomiest = left, broker
            if not (ranking.loaded or ranking.given):
                idle = idle or broker
            elif not best or ranking.is_better(rankings[best], strategy):
                best = broker
        least = rankings[best].percent if best else FULL + 1
        if not best or (idle and least > conf.loadBalancerBrokerUnderloadedThresholdPercentage):
            best = idle
        elif least >= FULL and not by_messages:
            best = candidates[self.turn % len(candidates)]
        elif least > conf.loadBalancerBrokerOverloadedThresholdPercentage and not by_messages:
            best = roomiest
        if not best:
            return (), replace(self, rankings=rankings)
        rankings[best] = rankings[best].with_bundle(bundle, quota)
        counted = {**self.counted, best: self.counted.get(best, frozenset()) | {bundle}}
        return (best,), replace(self, rankings=rankings, counted=counted, turn=(self.turn + 1) % TURNS)

    def with_active_brokers(self, brokers: Collection[str]) -> SimplePlacement:
        """The same: a broker without a report is not ranked."""
        return self


@dataclass(frozen=True)
class SimpleLoadManager(LoadManager):
    """The leader of SimpleLoadManagerImpl, and its brokers, each of which splits its own bundles."""

    shedder: Shedder = field(default_factory=SimpleShedding)
    placement: SimplePlacement = field(default_factory=SimplePlacement)

    def _seen(self, data: LoadData) -> LoadData:
        """The data, with statistics of every bundle that a broker owns: its report has no others."""
        reports = {
            broker: report and replace(report, lastStats=data.stats_of(broker)) for broker, report in data.brokers.items()
        }
        return replace(data, brokers=reports, recently_unloaded=self.within_grace_period(data))

    def _usage(self, report: LocalBrokerData) -> float:
        return max(percents(report)) / 100

    def inherited(self, before: LoadManager) -> SimpleLoadManager:
        """The same; every broker keeps quotas (updateRanking)."""
        return (
            replace(self, placement=before.placement.of_another(self.conf)) if isinstance(before, SimpleLoadManager) else self
        )

    def written(self) -> SimpleLoadManager:
        """The quotas are in the store (writeResourceQuotasToZooKeeper)."""
        return replace(self, placement=replace(self.placement, quotas=self.placement.quotas.written()))

    def place(self, bundle: str, data: LoadData, policies: Policies) -> tuple[Selection, SimpleLoadManager]:
        """Where a bundle goes, of the brokers that may serve it and have the fewest bundles of its namespace."""
        placement = self.placement.with_reports(data, self.conf)
        persistent = bundle not in data.non_persistent
        allowed = permitted(namespace_of(bundle), data, policies, self.conf, persistent=persistent)
        first = tuple(broker for broker in allowed if broker in placement.rankings)
        counts = {broker: placement.bundles_of(namespace_of(bundle), broker) for broker in first}
        fewest = tuple(broker for broker in first if counts[broker] == min(counts.values()))
        chosen, placement = placement.select(fewest, bundle, data, self.conf)
        left = {"isolation_policies": first, "fewest_bundles": fewest}
        return Selection(left, chosen), replace(self, placement=placement)

    def _shed(self, data: LoadData, policies: Policies) -> tuple[Shedding, SimpleLoadManager]:
        if not (self.conf.loadBalancerEnabled and self.conf.loadBalancerSheddingEnabled):
            return Shedding(Unloading(why=("shedding is switched off",))), self
        unloading, _ = SimpleShedding(policies).find_bundles_for_unloading(data, self.conf)
        drawn_from, manager = dict[str, tuple[str, ...]](), self
        for bundles in unloading.unload.values():
            for bundle in bundles:
                selection, manager = manager.place(bundle, data, policies)
                drawn_from[bundle] = selection.any_of
        return Shedding(unloading, drawn_from), manager

    def split(
        self, data: LoadData, topics: Mapping[str, Sequence[Topic]], among: Collection[str] | None = None
    ) -> tuple[tuple[PlannedSplit, ...], list[str], SimpleLoadManager]:
        """What the brokers split now: whatever is too large by the last report of its broker.

        A namespace whose maximum is reached gets no more; the splits that are thought of in the same report do not count.
        """
        conf, planned = self.conf, dict[str, PlannedSplit]()
        if not (conf.loadBalancerEnabled and conf.loadBalancerAutoBundleSplitEnabled):
            return (), [], self
        bounds = most(conf)._replace(throughput=conf.loadBalancerNamespaceBundleMaxBandwidthMbytes * MIB)
        for broker, report in data.reports.items():
            for bundle, stats in report.lastStats.items() if among is None or broker in among else ():
                size, has_room = (
                    Size.of(stats),
                    data.bundle_counts[namespace_of(bundle)] < conf.loadBalancerNamespaceMaximumBundles,
                )
                large = any(one > bound for one, bound in zip(size, bounds, strict=True))
                if large and stats.topics >= FEWEST_TOPICS and has_room and is_splittable(bundle):
                    planned[bundle] = planned_split(Split(bundle, excess(size, bounds)), topics.get(bundle), conf)
        return tuple(planned.values()), [split.why for split in planned.values()], self


def strategy_of(conf: Configuration) -> str:
    """By what brokers are ranked: loadBalancerPlacementStrategy, and a draw if that is no name of one."""
    named = conf.loadBalancerPlacementStrategy
    return named if named in (LEAST_LOADED, LEAST_MESSAGES) else DRAWN


def percents(report: LocalBrokerData) -> list[float]:
    """What is compared with a threshold."""
    return [getattr(report, name).percent for name in COMPARED]


def bottleneck(report: LocalBrokerData) -> Bottleneck:
    """The resource that is used most, the first of those that are (getBottleneckResourceType)."""
    names: tuple[Bottleneck, ...] = ("cpu", "memory", "bandwidthIn", "bandwidthOut")
    return max(names, key=lambda name: getattr(report, name).percent)


UNITS: Mapping[Bottleneck, float] = {
    "cpu": RATE,
    "memory": CONNECTIONS,
    "bandwidthIn": THROUGHPUT,
    "bandwidthOut": THROUGHPUT,
}
"""How coarse bundles are compared by what takes a resource: messages per second, connections with topics, bytes per second."""


def largest(stats: Mapping[str, NamespaceBundleStats], resource: Bottleneck, conf: Configuration) -> str:
    """The bundle that takes most of a resource, as coarse as Pulsar compares, the first of equal ones.

    Before 4.0.8 it is the first of a TreeMap by a comparator that is no order: a smaller one of close bundles is possible.
    """
    amounts, unit = {bundle: _amount(one, resource) for bundle, one in stats.items()}, UNITS[resource]
    if conf.before("4.0.8"):
        found = first_key(amounts, lambda one, other: -1 if difference(amounts[one], amounts[other], unit) > 0 else 1)
        assert found is not None, "a broker without bundles has none that is the largest"
        return found
    if resource == "memory":
        return max(amounts, key=lambda bundle: amounts[bundle] // unit)
    return max(amounts, key=lambda bundle: rounded(amounts[bundle] / unit))


def _amount(stats: NamespaceBundleStats, resource: Bottleneck) -> float:
    """What a bundle takes of a resource, or what stands for it."""
    if resource == "cpu":
        return stats.rate
    if resource == "memory":
        return connections(stats)
    return stats.msgThroughputIn if resource == "bandwidthIn" else stats.msgThroughputOut
