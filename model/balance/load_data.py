"""What a policy knows: the brokers' reports and the bundles' averages, as Pulsar stores them.

Mirrors LocalBrokerData, NamespaceBundleStats, BundleData, TimeAverageMessageData and ResourceUsage of pulsar-common, and
LoadData of pulsar-broker. A field that is missing has the value that Java's constructor gives it.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, repeat
from operator import attrgetter
from typing import Annotated, Literal, NamedTuple, TypeVar, cast

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from fencepost.model.balance.java import percentage, total

T = TypeVar("T")
SHORT_TERM_SAMPLES = 10
LONG_TERM_SAMPLES = 1000
SYSTEM_NAMESPACE = "pulsar/system"
KILOBIT = 1000 / 8
"""Bytes in the unit of a report's bandwidths."""

Amount = Annotated[float, Ge(0), Le(sys.float_info.max)]
Number = Annotated[float, Ge(-sys.float_info.max), Le(sys.float_info.max)]
"""What LinuxBrokerHostUsageImpl reports may be below 0: a limit of -1000 for a network card that tells no speed, a usage of -1
where /proc/stat cannot be read, or a rate of a counter that went back."""
Count = Annotated[int, Ge(0)]


Unit = Literal["reported", "percent"]
"""What a usage and its limit are in. ``reported``: as a broker's load report has the resource, the CPU in percent of one core,
memory in MiB, the network in kbit/s. ``percent``: in percent of a limit whose size nobody says."""


@dataclass(frozen=True)
class ResourceUsage:
    """How much of a resource is used; a limit of 0 or less means that it is unknown."""

    usage: Number = 0.0
    limit: Number = 0.0
    unit: Unit = "reported"

    @cached_property
    def percent(self) -> float:
        """percentUsage(): 0 to 100 and above, a 32-bit float."""
        return percentage(self.usage, self.limit)

    @property
    def bytes_per_second(self) -> float | None:
        """The limit of a network that is reported; None if its size is not known.

        BitRateUnit has 1,000 bits in a kilobit; LinuxBrokerHostUsageImpl of 2.10 has 1,024.
        """
        return self.limit * KILOBIT if self.unit == "reported" and self.limit > 0 else None


@dataclass(frozen=True)
class Traffic:
    """What a bundle or a broker carries: messages and bytes per second."""

    msgRateIn: Amount = 0.0
    msgRateOut: Amount = 0.0
    msgThroughputIn: Amount = 0.0
    msgThroughputOut: Amount = 0.0

    @property
    def rate(self) -> float:
        """Messages per second, in and out."""
        return self.msgRateIn + self.msgRateOut

    @property
    def throughput(self) -> float:
        """Bytes per second, in and out."""
        return self.msgThroughputIn + self.msgThroughputOut


TRAFFIC = ("msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut")
"""The fields of Traffic."""


@dataclass(frozen=True)
class NamespaceBundleStats(Traffic):
    """A bundle as its broker last saw it."""

    consumerCount: Count = 0
    producerCount: Count = 0
    topics: Count = 0
    cacheSize: Count = 0


@dataclass(frozen=True)
class LocalBrokerData(Traffic):
    """A broker's report, as it is under /loadbalance/brokers."""

    cpu: ResourceUsage = field(default_factory=ResourceUsage)
    memory: ResourceUsage = field(default_factory=ResourceUsage)
    directMemory: ResourceUsage = field(default_factory=ResourceUsage)
    bandwidthIn: ResourceUsage = field(default_factory=ResourceUsage)
    bandwidthOut: ResourceUsage = field(default_factory=ResourceUsage)
    numTopics: Count = 0
    numBundles: Count = 0
    numConsumers: Count = 0
    numProducers: Count = 0
    lastUpdate: Count = 0
    lastStats: Mapping[str, NamespaceBundleStats] = field(default_factory=dict)
    bundles: tuple[str, ...] = ()
    lastBundleGains: tuple[str, ...] = ()
    lastBundleLosses: tuple[str, ...] = ()
    brokerVersionString: str | None = None
    persistentTopicsEnabled: bool = True
    nonPersistentTopicsEnabled: bool = True

    @classmethod
    def of(
        cls, stats: Mapping[str, NamespaceBundleStats], usages: Sequence[ResourceUsage], totals: Sequence[float] | None = None
    ) -> LocalBrokerData:
        """A report of these bundles; ``usages`` are in the order of the fields, totals are sums if none are given."""
        if totals is None:
            totals = [sum(getattr(one, name) for one in stats.values()) for name in TRAFFIC]
        rate_in, rate_out, throughput_in, throughput_out = totals
        cpu, memory, direct, incoming, outgoing = usages
        return cls(
            rate_in,
            rate_out,
            throughput_in,
            throughput_out,
            cpu,
            memory,
            direct,
            incoming,
            outgoing,
            numTopics=sum(one.topics for one in stats.values()),
            numBundles=len(stats),
            lastStats=stats,
            bundles=tuple(stats),
        )

    def serves(self, *, persistent: bool) -> bool:
        """Whether the broker serves topics of this kind."""
        return self.persistentTopicsEnabled if persistent else self.nonPersistentTopicsEnabled

    @cached_property
    def weighted(self) -> dict[tuple[float, ...], float]:
        """Weighted usages that were asked for, by the weights: of one report they are asked for again with each decision."""
        return {}

    @cached_property
    def owned(self) -> frozenset[str]:
        """``bundles`` as the set that they are."""
        return frozenset(self.bundles)

    @cached_property
    def spoken_of(self) -> tuple[str, ...]:
        """The bundles of the report. Pulsar goes through the keys of ``lastStats``, which it keeps equal to ``bundles``; a
        snapshot may lack one of them."""
        return tuple(dict.fromkeys([*self.lastStats, *self.bundles]))

    @cached_property
    def namespaces(self) -> Counter[str]:
        """How many bundles of each namespace the report speaks of."""
        return Counter(map(namespace_of, self.spoken_of))


@dataclass(frozen=True)
class TimeAverageMessageData(Traffic):
    """A bundle's rates, averaged over its last samples."""

    maxSamples: Count = 0
    numSamples: Count = 0


@dataclass(frozen=True)
class BundleData:
    """A bundle's averages, as they are under /loadbalance/bundle-data."""

    shortTermData: TimeAverageMessageData = TimeAverageMessageData(maxSamples=SHORT_TERM_SAMPLES)
    longTermData: TimeAverageMessageData = TimeAverageMessageData(maxSamples=LONG_TERM_SAMPLES)
    topics: Count = 0

    @property
    def as_last_seen(self) -> NamespaceBundleStats:
        """The short-term averages as statistics, for want of better ones."""
        short = self.shortTermData
        rates = (short.msgRateIn, short.msgRateOut, short.msgThroughputIn, short.msgThroughputOut)
        return NamespaceBundleStats(*rates, topics=self.topics)


Term = Literal["shortTermData", "longTermData"]
Figure = Literal["msgRateIn", "msgRateOut", "rate", "throughput"]


class Columns:
    """The averages of bundles, one figure of all bundles at a time."""

    def __init__(self, bundles: Mapping[str, BundleData]) -> None:
        self._bundles = bundles
        self._columns: dict[tuple[Term, Figure], Mapping[str, float]] = {}

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Numbers that rise in the order of the bundles."""
        return {bundle: number for number, bundle in enumerate(self._bundles)}

    def column(self, term: Term, figure: Figure) -> Mapping[str, float]:
        """The figure of every bundle, in order; the same mapping when it is asked for again."""
        if (term, figure) not in self._columns:
            self._columns[term, figure] = self._column(term, figure)
        return self._columns[term, figure]

    def _column(self, term: Term, figure: Figure) -> Mapping[str, float]:
        of = attrgetter(f"{term}.{figure}")
        return {bundle: of(data) for bundle, data in self._bundles.items()}

    def of(self, term: Term, figure: Figure, bundles: Collection[str]) -> NDArray[np.float64]:
        """The figure of these bundles, or of those of statistics, in order; 0 for one that is not known."""
        column = self.column(term, figure)
        return np.array([column.get(bundle, 0.0) for bundle in bundles], dtype=np.float64)

    def counts(self, reports: Collection[LocalBrokerData], placed: Collection[str]) -> Counter[str]:
        """How many bundles each namespace has, of these and of those that are reported or placed."""
        every = dict.fromkeys(chain(self._bundles, placed, *(report.spoken_of for report in reports)))
        return Counter(map(namespace_of, every))

    def sums(self, term: Term, figure: Figure, reports: Mapping[str, LocalBrokerData], otherwise: float) -> dict[str, float]:
        """The sum over the bundles that each report speaks of, one after the other; ``otherwise`` for one that is not known."""
        column = self.column(term, figure)
        return {name: total(map(column.get, report.spoken_of, repeat(otherwise))) for name, report in reports.items()}


class Sized(Mapping[str, NamespaceBundleStats]):
    """Statistics of bundles whose sizes are at hand."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.float64]:
        """A row for each figure of Size, a column for each bundle, in order."""


class Size(NamedTuple):
    """What makes a bundle too large."""

    topics: float
    sessions: float
    rate: float
    throughput: float

    @classmethod
    def of(cls, stats: NamespaceBundleStats) -> Size:
        """The size by statistics."""
        return cls(stats.topics, stats.consumerCount + stats.producerCount, stats.rate, stats.throughput)


def sizes(stats: Mapping[str, NamespaceBundleStats]) -> NDArray[np.float64]:
    """A row for each figure of Size, a column for each bundle, in order."""
    if isinstance(stats, Sized):
        return stats.sizes
    return np.array([Size.of(one) for one in stats.values()], dtype=np.float64).reshape(-1, len(Size._fields)).T


@dataclass(frozen=True)
class BrokerAverage:
    """A broker's long-term rates, in messages per second: the sums over its bundles."""

    msgRateIn: float
    msgRateOut: float


@dataclass(frozen=True)
class BrokerLoad:
    """What a broker of the extensible manager says of itself: averages over time of its usage and of its throughput."""

    weightedMaxEMA: Amount = 0.0
    msgThroughputEMA: Amount = 0.0


@dataclass(frozen=True)
class LoadData:
    """All that the leader knows when it decides.

    ``brokers`` are the live ones; one without a report is None. ``recently_unloaded`` says when a bundle was last unloaded,
    ``recently_unloaded_brokers`` when one last left a broker (extensible manager), ``preallocated`` where a bundle was
    placed that its new broker has not reported yet. ``loads`` are the averages of the extensible manager. ``non_persistent``
    are the bundles in which a topic was looked up that is not persistent.
    """

    brokers: Mapping[str, LocalBrokerData | None] = field(default_factory=dict)
    bundles: Mapping[str, BundleData] = field(default_factory=dict)
    recently_unloaded: Mapping[str, Count] = field(default_factory=dict)
    recently_unloaded_brokers: Mapping[str, Count] = field(default_factory=dict)
    now: Count = 0
    loads: Mapping[str, BrokerLoad] = field(default_factory=dict)
    preallocated: Mapping[str, str] = field(default_factory=dict)
    non_persistent: Collection[str] = ()

    @cached_property
    def reports(self) -> dict[str, LocalBrokerData]:
        """The reports of the live brokers that have one."""
        return {name: report for name, report in self.brokers.items() if report is not None}

    @cached_property
    def columns(self) -> Columns:
        """The averages of all bundles, one figure at a time."""
        return self.bundles if isinstance(self.bundles, Columns) else Columns(self.bundles)

    @cached_property
    def _made(self) -> dict[Hashable, object]:
        return {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once; nothing of it may depend on what is preallocated."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    def with_preallocated(self, preallocated: Mapping[str, str]) -> LoadData:
        """The same, except for what is preallocated; what that does not change is not made again."""
        data = replace(self, preallocated=preallocated)
        vars(data).update(reports=self.reports, _made=self._made)
        return data

    @property
    def placed_on(self) -> Collection[str]:
        """The brokers to which a bundle is preallocated, whether their reports speak of it or not."""
        return self._placed.keys()

    @cached_property
    def bundle_counts(self) -> Counter[str]:
        """How many bundles each namespace has: of those that the reports or the averages speak of."""
        placed = [bundle for bundle, broker in self.preallocated.items() if broker in self.brokers]
        return self.columns.counts(self.reports.values(), placed)

    def bundles_of(self, broker: str) -> dict[str, None]:
        """The bundles that a broker owns or is about to own: those of its report and those preallocated to it."""
        report = self.brokers[broker] or LocalBrokerData()
        return dict.fromkeys([*report.spoken_of, *self._placed.get(broker, ())])

    def assigned_to(self, broker: str) -> dict[str, None]:
        """The bundles that a broker owns, whether it has statistics of them or not, or is about to own."""
        report = self.brokers[broker] or LocalBrokerData()
        return dict.fromkeys([*report.bundles, *self._placed.get(broker, ())])

    def counts_of(self, namespace: str) -> dict[str, int]:
        """How many bundles of a namespace each broker owns or is about to own."""
        counts = dict(
            self.once(("bundles", namespace), lambda: {broker: self._own(namespace, broker) for broker in self.brokers})
        )
        for broker, bundles in self._placed.items():
            if broker in counts:
                report = self.brokers[broker]
                mine = () if report is None else report.spoken_of
                counts[broker] += sum(namespace_of(bundle) == namespace for bundle in set(bundles).difference(mine))
        return counts

    def _own(self, namespace: str, broker: str) -> int:
        report = self.brokers[broker]
        return 0 if report is None else report.namespaces.get(namespace, 0)

    def expected_on(self, broker: str) -> Sequence[str]:
        """The bundles that a broker is about to own: those preallocated to it of which its report does not speak."""
        placed = self._placed.get(broker, ())
        if not placed or (report := self.brokers[broker]) is None:
            return placed
        return [bundle for bundle in placed if bundle not in report.owned]

    @cached_property
    def _placed(self) -> dict[str, list[str]]:
        """What is preallocated to each broker, whether its report speaks of it or not."""
        placed: dict[str, list[str]] = {}
        for bundle, broker in self.preallocated.items():
            placed.setdefault(broker, []).append(bundle)
        return placed

    def stats_of(self, broker: str) -> Mapping[str, NamespaceBundleStats]:
        """A broker's bundles as it last saw them; where its report lacks one that it owns, the short-term averages."""
        report = self.brokers[broker] or LocalBrokerData()
        lacking = {name: self.bundles[name] for name in report.bundles if name not in report.lastStats and name in self.bundles}
        if not lacking:
            return report.lastStats
        return {**report.lastStats, **{name: bundle.as_last_seen for name, bundle in lacking.items()}}


@cache
def namespace_of(bundle: str) -> str:
    """The namespace of a bundle ``tenant/namespace/0x..._0x...``; a name without a slash is its own namespace."""
    return bundle.rpartition("/")[0] or bundle
