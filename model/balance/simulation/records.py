"""Load data backed by arrays: Pulsar's records are made when a policy looks at them, which is at few of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.load_data import (
    LONG_TERM_SAMPLES,
    SHORT_TERM_SAMPLES,
    BundleData,
    Columns,
    Figure,
    NamespaceBundleStats,
    Sized,
    Term,
    TimeAverageMessageData,
)

T = TypeVar("T")

ROWS: dict[Figure, slice] = {
    "msgRateIn": slice(0, 1),
    "msgRateOut": slice(1, 2),
    "rate": slice(0, 2),
    "throughput": slice(2, 4),
}
"""The rows of rates that make up a figure."""

SAMPLES = np.array([SHORT_TERM_SAMPLES, LONG_TERM_SAMPLES], dtype=np.float64)[:, None, None]


def record(kind: type[T], **fields: Any) -> T:
    """A frozen record whose fields are all given: what its constructor makes, in a third of the time."""
    instance = object.__new__(kind)
    object.__setattr__(instance, "__dict__", fields)
    return instance


class Sample:
    """What every bundle carried in one minute: rows of rates, and of topics, producers, consumers; a column for each bundle."""

    def __init__(self, rates: NDArray[np.float64], clients: NDArray[np.int64]) -> None:
        self.rates, self.clients = rates, clients

    @cached_property
    def _columns(self) -> tuple[list[list[float]], list[list[int]]]:
        return self.rates.T.tolist(), self.clients.T.tolist()

    def stats(self, place: int) -> NamespaceBundleStats:
        """The statistics of one bundle."""
        rates, clients = self._columns[0][place], self._columns[1][place]
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
    """The ``lastStats`` of a report: of the bundles of one broker, by name."""

    def __init__(self, places: Mapping[str, int], sample: Sample) -> None:
        self.places, self.sample = places, sample

    @property
    def sizes(self) -> NDArray[np.float64]:
        """A row for each figure of Size, a column for each bundle, in order."""
        return self.sample.sizes[:, list(self.places.values())]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, bundle: object) -> bool:
        return bundle in self.places

    def __getitem__(self, bundle: str) -> NamespaceBundleStats:
        return self.sample.stats(self.places[bundle])


class Averages:
    """The leader's averages of all bundles, short term and long term; a bundle without a sample is not known.

    Holds the rule of ``averages.advanced`` for all bundles at a time.
    """

    def __init__(self, bundles: int) -> None:
        self.counts = np.zeros((2, 1, bundles))
        self.rates = np.zeros((2, 4, bundles))
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
        more = ((0, 0), (0, 0), (0, bundles - self.counts.shape[-1]))
        self.counts, self.rates = np.pad(self.counts, more), np.pad(self.rates, more)

    def forget(self, place: int) -> None:
        """A bundle is no more."""
        self.counts[..., place] = 0

    def add(self, rates: NDArray[np.float64], reported: NDArray[np.bool_]) -> None:
        """One more sample for each bundle that is reported."""
        counts = np.minimum(self.counts + 1, SAMPLES)
        advanced = ((counts - 1) * self.rates + rates) / counts
        if reported.all():
            self.counts, self.rates = counts, advanced
        else:
            self.counts, self.rates = np.where(reported, counts, self.counts), np.where(reported, advanced, self.rates)


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

    def __init__(self, places: Mapping[str, int], averages: Averages, topics: NDArray[np.int64]) -> None:
        super().__init__(self)
        self._known, self._where = averages.known(places)
        self._counts, self._rates, self._topics = averages.counts[:, 0].copy(), averages.rates.copy(), topics
        self._records: dict[str, BundleData] = {}

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

    def _column(self, term: Term, figure: Figure) -> Mapping[str, float]:
        values = self._rates[int(term == "longTermData"), ROWS[figure]].sum(axis=0)
        return dict(zip(self._known, values[self._where].tolist(), strict=True))

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
