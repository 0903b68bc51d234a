"""Load data backed by arrays: Pulsar's records are made when a policy looks at them, which is at few of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.load_data import (
    LONG_TERM_SAMPLES,
    SHORT_TERM_SAMPLES,
    BundleData,
    Columns,
    Figure,
    LocalBrokerData,
    NamespaceBundleStats,
    Sized,
    Term,
    TimeAverageMessageData,
    namespace_of,
)
from fencepost.model.balance.simulation.sampling import add_samples

T = TypeVar("T")

ROWS: dict[Figure, slice] = {
    "msgRateIn": slice(0, 1),
    "msgRateOut": slice(1, 2),
    "rate": slice(0, 2),
    "throughput": slice(2, 4),
}
"""The rows of rates that make up a figure."""

UNKNOWN = -1
SAMPLES = np.array([SHORT_TERM_SAMPLES, LONG_TERM_SAMPLES], dtype=np.float64)


def record(kind: type[T], **fields: Any) -> T:
    """A frozen record whose fields are all given: what its constructor makes, in a third of the time."""
    instance = object.__new__(kind)
    object.__setattr__(instance, "__dict__", fields)
    return instance


class Namespaces(NamedTuple):
    """The namespaces of bundles: their names, and for each bundle the place of its own among them."""

    names: list[str]
    number: NDArray[np.intp]

    @classmethod
    def of(cls, bundles: Sequence[str]) -> Namespaces:
        """The namespaces of bundles by name."""
        numbers = {name: number for number, name in enumerate(dict.fromkeys(map(namespace_of, bundles)))}
        return cls(list(numbers), np.array([numbers[namespace_of(bundle)] for bundle in bundles], dtype=np.intp))

    def with_parts(self, place: int, parts: int) -> Namespaces:
        """So many bundles more, of the namespace of one that is there."""
        return self._replace(number=np.append(self.number, np.full(parts, self.number[place])))


class Sample:
    """What every bundle carried in one minute: rows of rates, and of topics, producers, consumers; a column for each bundle."""

    def __init__(self, rates: NDArray[np.float64], clients: NDArray[np.int64]) -> None:
        self.rates, self.clients = rates, clients

    def stats(self, place: int) -> NamespaceBundleStats:
        """The statistics of one bundle."""
        rates, clients = self.rates[:, place].tolist(), self.clients[:, place].tolist()
        return record(
            NamespaceBundleStats,
            msgRateIn=rates[0],
            msgRateOut=rates[1],
            msgThroughputIn=rates[2],
            msgThroughputOut=rates[3],
            consumerCount=clients[2],
            producerCount=clients[1],
            topics=clients[0],
            cacheSize=0,
        )

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """What makes bundles too large: a row for each figure of Size."""
        topics, producers, consumers = self.clients
        return np.stack([topics, producers + consumers, self.rates[0] + self.rates[1], self.rates[2] + self.rates[3]])


class Owned(Sized):
    """The ``lastStats`` of a report: of the bundles of one broker, by name. ``at`` are their places, in the same order."""

    def __init__(self, places: Mapping[str, int], at: NDArray[np.intp], sample: Sample) -> None:
        self.places, self.at, self.sample = places, at, sample

    @property
    def sizes(self) -> NDArray[np.float64]:
        """A row for each figure of Size, a column for each bundle, in order."""
        return self.sample.sizes[:, self.at]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, bundle: object) -> bool:
        return bundle in self.places

    def __getitem__(self, bundle: str) -> NamespaceBundleStats:
        return self.sample.stats(self.places[bundle])


def _places(reports: Collection[LocalBrokerData]) -> NDArray[np.intp]:
    """The places of the bundles of reports, one report after the other."""
    places = [report.lastStats.at for report in reports if isinstance(report.lastStats, Owned)]
    return np.concatenate(places) if places else np.zeros(0, dtype=np.intp)


class Averages:
    """A broker's averages of all bundles, short term and long term; a bundle without a sample is not known.

    Holds the rule of ``averages.advanced`` for all bundles at a time. ``_last`` is what each was last reported to carry.
    """

    def __init__(self, bundles: int) -> None:
        self.counts = np.zeros((2, 1, bundles))
        self.rates = np.zeros((2, 4, bundles))
        self._last, self._done = np.zeros((4, bundles)), np.zeros(bundles)
        self._there: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._of: Mapping[str, int] = {}
        self._known: tuple[dict[str, int], NDArray[np.intp]] = {}, np.zeros(0, dtype=np.intp)

    def known(self, places: Mapping[str, int]) -> tuple[dict[str, int], NDArray[np.intp]]:
        """The bundles of which there is a sample, with their places; the same mapping until there are others."""
        there = self.counts[0, 0] > 0
        if self._of is not places or not np.array_equal(there, self._there):
            known = {name: place for name, place in places.items() if there[place]}
            self._of, self._there, self._known = places, there, (known, np.array(list(known.values()), dtype=np.intp))
        return self._known

    def knows(self, place: int) -> bool:
        """Whether there is a sample of a bundle."""
        return bool(self.counts[0, 0, place])

    def know(self, place: int, data: BundleData) -> None:
        """Takes over what is known of a bundle."""
        for term, average in enumerate((data.shortTermData, data.longTermData)):
            self.counts[term, 0, place] = average.numSamples
            self.rates[term, :, place] = _rates(average)

    def extended(self, bundles: int) -> None:
        """Makes room for bundles that are new."""
        more = (0, bundles - self.counts.shape[-1])
        self.counts, self.rates = (np.pad(each, ((0, 0), (0, 0), more)) for each in (self.counts, self.rates))
        self._last, self._done = np.pad(self._last, ((0, 0), more)), np.pad(self._done, more)

    def forget(self, place: int) -> None:
        """A bundle is no more."""
        self.counts[..., place] = 0

    def copy(self) -> Averages:
        """The same averages, which then change on their own."""
        return self.replaced_by(self)

    def replaced_by(self, others: Averages) -> Averages:
        """Averages of others, with what each bundle was last reported to carry here."""
        made = Averages(0)
        made.counts, made.rates = others.counts.copy(), others.rates.copy()
        made._last, made._done = self._last.copy(), self._done.copy()
        return made

    def take(self, others: Averages, chosen: NDArray[np.bool_]) -> None:
        """Takes over the averages of some bundles."""
        self.counts[..., chosen], self.rates[..., chosen] = others.counts[..., chosen], others.rates[..., chosen]

    def add_again(self, reported: NDArray[np.bool_]) -> None:
        """One more sample of bundles that are reported: what each was last reported to carry."""
        counts = np.minimum(self.counts + 1.0, SAMPLES[:, None, None])
        self.rates = np.where(reported, (self.rates * (counts - 1.0) + self._last) / counts, self.rates)
        self.counts = np.where(reported, counts, self.counts)

    def add(
        self, sample: Sample, left: Sequence[NDArray[np.intp]], heard: Sequence[NDArray[np.intp]], reported: NDArray[np.int64]
    ) -> None:
        """Reports come in, one after the other, and with each of them one more sample for each bundle that is reported.

        Each speaks no longer of the bundles in ``left`` and speaks of those in ``heard``, as the sample has them. ``reported``
        is how many reports speak of each bundle.
        """
        places = (
            column for columns in (left, heard) for column in (np.concatenate(columns), np.cumsum(list(map(len, columns))))
        )
        add_samples(self.counts, self.rates, self._last, reported, self._done, SAMPLES, sample.rates, *places)


def _rates(average: TimeAverageMessageData) -> list[float]:
    return [average.msgRateIn, average.msgRateOut, average.msgThroughputIn, average.msgThroughputOut]


class _Bundle(BundleData):
    """The averages of one bundle, each made when it is looked at: policies look at one of them only."""

    known: Known
    place: int

    @cached_property
    def shortTermData(self) -> TimeAverageMessageData:
        """The short-term average."""
        return self.known.average(0, self.place)

    @cached_property
    def longTermData(self) -> TimeAverageMessageData:
        """The long-term average."""
        return self.known.average(1, self.place)


class Known(Columns, Mapping[str, BundleData]):
    """The averages of all known bundles at one moment, by name."""

    def __init__(
        self, places: Mapping[str, int], averages: Averages, topics: NDArray[np.int64], namespaces: Namespaces
    ) -> None:
        super().__init__({})  # not itself: a circle would keep it until Python looks for circles
        self._known, self._where = averages.known(places)
        self._counts, self._rates, self._topics = averages.counts[:, 0].copy(), averages.rates.copy(), topics
        self._places, self._namespaces = places, namespaces
        self._records: dict[str, BundleData] = {}
        self._sums: dict[tuple[Term, Figure], NDArray[np.float64]] = {}

    def average(self, term: int, place: int) -> TimeAverageMessageData:
        """The short-term (0) or the long-term average (1) of a bundle."""
        rate_in, rate_out, throughput_in, throughput_out = self._rates[term, :, place].tolist()
        return record(
            TimeAverageMessageData,
            msgRateIn=rate_in,
            msgRateOut=rate_out,
            msgThroughputIn=throughput_in,
            msgThroughputOut=throughput_out,
            maxSamples=LONG_TERM_SAMPLES if term else SHORT_TERM_SAMPLES,
            numSamples=int(self._counts[term, place]),
        )

    @property
    def positions(self) -> Mapping[str, int]:
        """The places of the bundles, which rise in their order."""
        return self._known

    def of(self, term: Term, figure: Figure, bundles: Collection[str]) -> NDArray[np.float64]:
        """The same, of a report's statistics, or of bundles that are all known, at a time."""
        if isinstance(bundles, Owned):
            return np.where(self._counts[0, bundles.at] > 0, self._figures(term, figure)[bundles.at], 0.0)
        at = [self._known.get(bundle, UNKNOWN) for bundle in bundles]
        return super().of(term, figure, bundles) if UNKNOWN in at else self._figures(term, figure)[at]

    def counts(self, reports: Collection[LocalBrokerData], placed: Collection[str]) -> Counter[str]:
        """The same, of all bundles at a time."""
        there = self._counts[0] > 0
        there[[self._places[bundle] for bundle in placed if bundle in self._places]] = True
        there[_places(reports)] = True
        names, number = self._namespaces
        counts = np.bincount(number[there], minlength=len(names)).tolist()
        of_parts = Counter(namespace_of(bundle) for bundle in placed if bundle not in self._places)
        return of_parts + Counter(dict(zip(names, counts, strict=True)))

    def sums(self, term: Term, figure: Figure, reports: Mapping[str, LocalBrokerData], otherwise: float) -> dict[str, float]:
        """The same as of columns, of all reports at a time: bincount, too, adds one after the other."""
        at, of = _places(reports.values()), np.repeat(np.arange(len(reports)), [len(r.lastStats) for r in reports.values()])
        values = np.where(self._counts[0, at] > 0, self._figures(term, figure)[at], otherwise)
        return dict(zip(reports, np.bincount(of, values, len(reports)).tolist(), strict=True))

    def _column(self, term: Term, figure: Figure) -> Mapping[str, float]:
        return dict(zip(self._known, self._figures(term, figure)[self._where].tolist(), strict=True))

    def _figures(self, term: Term, figure: Figure) -> NDArray[np.float64]:
        if (term, figure) not in self._sums:
            self._sums[term, figure] = self._rates[int(term == "longTermData"), ROWS[figure]].sum(axis=0)
        return self._sums[term, figure]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, bundle: object) -> bool:
        return bundle in self._known

    def __getitem__(self, bundle: str) -> BundleData:
        data = self._records.get(bundle)
        if data is None:
            place = self._known[bundle]
            data = self._records[bundle] = record(_Bundle, known=self, place=place, topics=int(self._topics[place]))
        return data

    def get(self, bundle: str, default: Any = None) -> Any:
        """The same; the default if the bundle is not known."""
        return self[bundle] if bundle in self._known else default
