"""What each broker of the modular manager remembers of bundles, and what of that is in the metadata store.

Mirrors updateAll, getBundleDataOrDefault, writeBundleDataOnZooKeeper and selectTopKBundle of ModularLoadManagerImpl. Every
broker hears every report, so all that were there from the beginning have the same averages, and so has the next leader if it is
one of them. A broker that starts takes those in the store, which are as old as the leader's last write. As it writes, the
leader adds a sample to its own averages, which is not mirrored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.bundle_sizes import RATE, THROUGHPUT
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.simulation.records import Averages


class Remembered:
    """The averages of bundles by broker: brokers that started in the same minute share theirs."""

    def __init__(self, conf: Configuration, averages: Averages) -> None:
        self._conf, self._first, self._stored = conf, averages, averages.copy()
        self._since: dict[str, Averages] = {}
        self._started: dict[int, Averages] = {}

    def of(self, broker: str) -> Averages:
        """What a broker remembers."""
        return self._since.get(broker, self._first)

    def all(self) -> Iterator[Averages]:
        """All that is remembered or stored."""
        yield from self.heard()
        yield self._stored

    def heard(self) -> Iterator[Averages]:
        """What the brokers remember, which each report changes."""
        yield self._first
        yield from self._started.values()

    def start(self, broker: str, minute: int, reported: NDArray[np.int64]) -> None:
        """A broker starts: of what is reported it takes the averages in the store, and adds a sample."""
        if minute not in self._started:
            self._started[minute] = self._first.replaced_by(self._stored)
            self._started[minute].add_again(reported > 0)
        self._since[broker] = self._started[minute]

    def stop(self, broker: str) -> None:
        """A broker is gone, with what it remembers."""
        self._since.pop(broker, None)
        self._started = {
            minute: averages
            for minute, averages in self._started.items()
            if any(averages is other for other in self._since.values())
        }

    def write(self, leader: str, brokers: int, may_be: Callable[[], NDArray[np.bool_]]) -> None:
        """The leader writes what it remembers: since 4.0.8 only the largest bundles, so many for each of its brokers.

        ``may_be`` says which bundles may be among these.
        """
        averages, most = self.of(leader), self._conf.loadBalancerMaxNumberOfBundlesInBundleLoadReport
        chosen = averages.counts[0, 0] > 0
        if not self._conf.before("4.0.8"):
            chosen &= may_be()
        if most > 0 and not self._conf.before("4.0.8"):
            sizes = [rows for short_or_long in averages.rates for rows in _compared(short_or_long)]
            largest = np.lexsort([*reversed(sizes), chosen])[::-1][: most * max(1, brokers)]
            chosen &= np.isin(np.arange(len(chosen)), largest)
        self._stored.take(averages, chosen)


def _compared(rates: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """By what averages compare, the first first (TimeAverageMessageData.compareTo)."""
    rate_in, rate_out, throughput_in, throughput_out = rates
    return [_rounded(throughput_in / THROUGHPUT), _rounded(throughput_out / THROUGHPUT), _rounded((rate_in + rate_out) / RATE)]


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """As Java's Math.round."""
    rounded: NDArray[np.float64] = np.floor(values + 0.5)
    return rounded
