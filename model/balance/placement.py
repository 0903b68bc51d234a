"""The placement strategies: which of the candidates gets a bundle. Where Pulsar draws at random, all that it draws from.

Mirrors ModularLoadManagerStrategy and the strategies LeastLongTermMessageRate, LeastResourceUsageWithWeight and
RoundRobinBrokerSelector of pulsar-broker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fencepost.model.balance.averages import exponential, long_term_rates, never_seen
from fencepost.model.balance.bundle_brokers import BundleBrokers
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.java import INT_MAX, total
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.usage import overloaded, weighted_usage


class Placement(Protocol):
    """A placement strategy with what it remembers of earlier selections."""

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], Placement]:
        """The candidates of which any may be selected (none only if there is no candidate), and the next strategy."""
        ...

    def with_active_brokers(self, brokers: Collection[str]) -> Placement:
        """The strategy once it has heard which brokers are alive."""
        ...


@dataclass(frozen=True)
class LeastLongTermMessageRate:
    """The least long-term message rate, of the broker's bundles and of those preallocated to it. Remembers nothing.

    A broker above the overload threshold has an infinite score; if all have, any is selected. Before 4.0.8 the usage is a
    32-bit float, for which 85 % is above 0.85.
    """

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], LeastLongTermMessageRate]:
        """The candidates with the least score."""
        scores = self.scores(data, conf)
        least = min((scores[broker] for broker in candidates), default=math.inf)
        return tuple(broker for broker in candidates if scores[broker] == least), self

    @staticmethod
    def scores(data: LoadData, conf: Configuration) -> dict[str, float]:
        """Messages per second of each broker, infinite for one that is overloaded."""

        def alone() -> dict[str, float]:
            return {broker: own.msgRateIn + own.msgRateOut for broker, own in long_term_rates(data).items()}

        scores = dict(data.once("long-term rates", alone))
        for broker in scores.keys() & data.placed_on:
            placed = total(data.bundles.get(bundle, never_seen()).longTermData.rate for bundle in data.expected_on(broker))
            scores[broker] += placed
        return scores | dict.fromkeys(overloaded(data, conf), math.inf)

    def with_active_brokers(self, brokers: Collection[str]) -> LeastLongTermMessageRate:
        """The same: nothing is remembered of a broker."""
        return self


@dataclass(frozen=True)
class LeastResourceUsageWithWeight:
    """Any whose usage is far enough below the mean of the candidates, else any. Remembers usages averaged over selections.

    The history of a broker is dropped when it has no bundles or neither of its rates is above 0. In the extensible manager
    the average is the broker's own, and a candidate without a report is left out of the mean.
    """

    averages: Mapping[str, float] = field(default_factory=dict)

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], LeastResourceUsageWithWeight]:
        """The candidates whose average plus the difference threshold is at most the mean; all, if none is."""
        following = self if conf.is_extensible else self._advanced(candidates, data, conf)
        if conf.is_extensible:
            averages = {b: data.loads[b].weightedMaxEMA for b in candidates if b in data.loads}
        else:
            averages = {broker: following.averages[broker] for broker in candidates}
        if not averages:
            return tuple(candidates), following
        mean = total(averages.values()) / len(averages)
        difference = conf.loadBalancerAverageResourceUsageDifferenceThresholdPercentage / 100.0
        best = tuple(broker for broker, average in averages.items() if average + difference <= mean)
        return best or tuple(candidates), following

    def _advanced(self, candidates: Sequence[str], data: LoadData, conf: Configuration) -> LeastResourceUsageWithWeight:
        averages = dict(self.averages)
        for broker in candidates:
            report = data.reports[broker]
            idle = not report.owned or (report.msgRateIn == 0 and report.msgRateOut == 0)
            history = None if idle else averages.get(broker)
            averages[broker] = exponential(history, weighted_usage(report, conf), conf.loadBalancerHistoryResourcePercentage)
        return LeastResourceUsageWithWeight(averages)

    def with_active_brokers(self, brokers: Collection[str]) -> LeastResourceUsageWithWeight:
        """Without the averages of brokers that are gone."""
        return LeastResourceUsageWithWeight({b: average for b, average in self.averages.items() if b in brokers})


@dataclass(frozen=True)
class RoundRobinBrokerSelector:
    """One after the other. Remembers a counter and the list of candidates that it counts through.

    The list is taken again when its size differs from that of the candidates, or when the chosen broker is none of them.
    """

    count: int = 0
    cached: tuple[str, ...] = ()

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], RoundRobinBrokerSelector]:
        """The candidate whose turn it is."""
        if not candidates:
            return (), self
        index = self.count % len(candidates)
        cached = self.cached if len(self.cached) == len(candidates) else tuple(candidates)
        if cached[index] not in candidates:
            cached = tuple(candidates)
        return (cached[index],), RoundRobinBrokerSelector(0 if self.count == INT_MAX else self.count + 1, cached)

    def with_active_brokers(self, brokers: Collection[str]) -> RoundRobinBrokerSelector:
        """The same: the list corrects itself."""
        return self


@dataclass(frozen=True)
class InTurn:
    """How a bundle is placed whose namespace is excluded from shedding: in turn, as it is to stay.

    If the broker whose turn it is is overloaded, the bundle is placed as any other. Mirrors
    sheddingExcludedNamespaceSelectionStrategy of ModularLoadManagerImpl and ExtensibleLoadManagerImpl, from 4.2 on; the
    extensible one does not look at the load.
    """

    turns: RoundRobinBrokerSelector
    usual: Placement
    once_more: bool = False

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], InTurn]:
        """The candidate whose turn it is; the second time what the usual strategy selects."""
        if self.once_more:
            chosen, usual = self.usual.select(candidates, bundle, data, conf)
            return chosen, replace(self, usual=usual)
        chosen, turns = self.turns.select(candidates, bundle, data, conf)
        return chosen, replace(self, turns=turns, once_more=True)

    def with_active_brokers(self, brokers: Collection[str]) -> InTurn:
        """The same: it is made for one bundle."""
        return self


@dataclass(frozen=True)
class AvgPlacement:
    """AvgShedder as a placement strategy: where the shedder meant the bundle to go, else any.

    Up to 5.0.0-M1 it remembers any as well: ``draw`` is how one of several is drawn, and without it all of them are remembered,
    of which one is meant. Since 5.0.1 it remembers nothing but what is ``planned``, while that is being unloaded.
    """

    memory: BundleBrokers = field(default_factory=BundleBrokers)
    draw: Callable[[Sequence[str], str], str] | None = None
    planned: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], AvgPlacement]:
        """The remembered destination if it is a candidate; all candidates otherwise."""
        if not conf.before("5.0.1"):
            return self._planned_for(candidates, bundle, data, conf), self
        memory = self.memory.reported(data.bundles, by_object=conf.before("4.0.8"))
        found = memory.get(bundle)
        if found is not None and set(found.brokers) <= set(candidates):
            return found.brokers, replace(self, memory=memory)
        if not candidates:
            return (), replace(self, memory=memory)
        chosen = tuple(candidates) if self.draw is None else (self.draw(candidates, bundle),)
        return chosen, replace(self, memory=memory.put(bundle, chosen))

    def _planned_for(self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration) -> tuple[str, ...]:
        """The planned destination; if it is overloaded, others that are not; if it is no candidate, all others but the source.

        Mirrors selectBrokerWithBundleName.
        """
        if bundle not in self.planned:
            return tuple(candidates)
        source, destination = self.planned[bundle]
        if destination not in candidates:
            return tuple(broker for broker in candidates if broker != source)
        above = conf.loadBalancerBrokerOverloadedThresholdPercentage
        scores = {b: weighted_usage(data.reports[b], conf) * 100 for b in candidates if b in data.reports}
        if scores.get(destination, 0.0) > above:
            healthy = tuple(b for b in scores if b not in (source, destination) and scores[b] <= above)
            return healthy or (destination,)
        return (destination,)

    def unloaded(self) -> AvgPlacement:
        """Once the attempt to unload is over: nothing is planned any more (onUnloadAttemptCompleted)."""
        return replace(self, planned={})

    def with_active_brokers(self, brokers: Collection[str]) -> AvgPlacement:
        """The same: upstream forgets no broker."""
        return self
