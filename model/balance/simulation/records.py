"""Load data backed by arrays: Pulsar's records are made when a policy looks at them, which is at few of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.balance.load_data import (
    LONG_TERM_SAMPLES,
    SHORT_TERM_SAMPLES,
    BundleData,
    NamespaceBundleStats,
    TimeAverageMessageData,
)

SAMPLES = np.array([SHORT_TERM_SAMPLES, LONG_TERM_SAMPLES], dtype=np.int64)[:, None]


class Sample:
    """What every bundle carried in one minute: rows of rates, and of topics, producers and consumers."""

    def __init__(self, rates: NDArray[np.float64], clients: NDArray[np.int64]) -> None:
        self.rates, self.clients = rates, clients

    @cached_property
    def _rows(self) -> tuple[list[list[float]], list[list[int]]]:
        return self.rates.tolist(), self.clients.tolist()

    def stats(self, place: int) -> NamespaceBundleStats:
        """The statistics of one bundle."""
        return _stats(self._rows[0][place], self._rows[1][place])

    def largest(self) -> NamespaceBundleStats:
        """The largest of each figure, of whichever bundle."""
        return _stats(self.rates.max(axis=0).tolist(), self.clients.max(axis=0).tolist())


def _stats(rates: Sequence[float], clients: Sequence[int]) -> NamespaceBundleStats:
    rate_in, rate_out, throughput_in, throughput_out = rates
    topics, producers, consumers = clients
    return NamespaceBundleStats(rate_in, rate_out, throughput_in, throughput_out, consumers, producers, topics)


class Owned(Mapping[str, NamespaceBundleStats]):
    """The ``lastStats`` of a report: of the bundles of one broker, by name."""

    def __init__(self, places: Mapping[str, int], sample: Sample) -> None:
        self.places, self.sample = places, sample

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, bundle: object) -> bool:
        return bundle in self.places

    def __getitem__(self, bundle: str) -> NamespaceBundleStats:
        return self.sample.stats(self.places[bundle])


class Averages:
    """The leader's averages of all bundles; a bundle without a sample is not known.

    Holds the rule of ``averages.advanced`` for all bundles at a time.
    """

    def __init__(self, bundles: int) -> None:
        self.counts = np.zeros((2, bundles), dtype=np.int64)
        self.rates = np.zeros((2, bundles, 4))

    def know(self, place: int, data: BundleData) -> None:
        """Takes over what is known of a bundle."""
        for term, average in enumerate((data.shortTermData, data.longTermData)):
            self.counts[term, place] = average.numSamples
            self.rates[term, place] = _rates(average)

    def extended(self, bundles: int) -> None:
        """Makes room for bundles that are new."""
        more = bundles - self.counts.shape[1]
        self.counts = np.pad(self.counts, ((0, 0), (0, more)))
        self.rates = np.pad(self.rates, ((0, 0), (0, more), (0, 0)))

    def forget(self, place: int) -> None:
        """A bundle is no more."""
        self.counts[:, place] = 0

    def add(self, rates: NDArray[np.float64], reported: NDArray[np.bool_]) -> None:
        """One more sample for each bundle that is reported."""
        chosen: Any = slice(None) if reported.all() else reported
        counts = np.minimum(self.counts[:, chosen] + 1, SAMPLES)
        self.counts[:, chosen] = counts
        self.rates[:, chosen] = ((counts - 1)[..., None] * self.rates[:, chosen] + rates[chosen]) / counts[..., None]


def _average(rates: Sequence[float], most: int, count: int) -> TimeAverageMessageData:
    rate_in, rate_out, throughput_in, throughput_out = rates
    return TimeAverageMessageData(rate_in, rate_out, throughput_in, throughput_out, most, count)


def _rates(average: TimeAverageMessageData) -> list[float]:
    return [average.msgRateIn, average.msgRateOut, average.msgThroughputIn, average.msgThroughputOut]


class Known(Mapping[str, BundleData]):
    """The averages of all known bundles at one moment, by name."""

    def __init__(self, places: Mapping[str, int], averages: Averages, topics: NDArray[np.int64]) -> None:
        self._places = places
        self._counts, self._rates, self._topics = averages.counts.copy(), averages.rates.copy(), topics
        self._made: dict[str, BundleData] = {}

    @cached_property
    def _rows(self) -> tuple[list[list[int]], list[list[list[float]]]]:
        return self._counts.tolist(), self._rates.tolist()

    @cached_property
    def _known(self) -> dict[str, None]:
        counts = self._counts[0].tolist()
        return {name: None for name, place in self._places.items() if counts[place]}

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, bundle: object) -> bool:
        return bundle in self._known

    def __getitem__(self, bundle: str) -> BundleData:
        found = self._made.get(bundle)
        if found is None:
            if bundle not in self._known:
                raise KeyError(bundle)
            place = self._places[bundle]
            (short, long), (short_rates, long_rates) = self._rows
            found = self._made[bundle] = BundleData(
                _average(short_rates[place], SHORT_TERM_SAMPLES, short[place]),
                _average(long_rates[place], LONG_TERM_SAMPLES, long[place]),
                int(self._topics[place]),
            )
        return found
