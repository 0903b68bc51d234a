"""How statistics of bundles compare: since 4.0.8 rounded, before by whether they are far enough apart.

Mirrors compareTo of NamespaceBundleStats, and its methods for one resource, of which the first that decides counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.model.balance.java import rounded
from fencepost.model.balance.load_data import NamespaceBundleStats

THROUGHPUT, RATE, CONNECTIONS, CACHE = 1e5, 100, 500, 100_000
"""Bytes per second, messages per second, connections with topics, and bytes that count as no difference."""


def connections(stats: NamespaceBundleStats) -> int:
    """Topics, producers and consumers."""
    return stats.topics + stats.consumerCount + stats.producerCount


def rounded_size(stats: NamespaceBundleStats) -> tuple[int, int, int, int, int]:
    """What is compared since 4.0.8."""
    return (
        rounded(stats.msgThroughputIn / THROUGHPUT),
        rounded(stats.msgThroughputOut / THROUGHPUT),
        rounded(stats.rate / RATE),
        connections(stats) // CONNECTIONS,
        stats.cacheSize // CACHE,
    )


def difference(one: float, other: float, close: float) -> int:
    """How two numbers compare that count as equal if they are close: no order, as what is close to both may lie between."""
    return (one > other) - (one < other) if abs(one - other) > close else 0


@dataclass(frozen=True)
class Close:
    """What is compared before 4.0.8, with ``<`` and ``>``."""

    stats: NamespaceBundleStats

    def compared(self, other: Close) -> int:
        """compareTo: below, above or, with 0, neither."""
        one, two = self.stats, other.stats
        return (
            difference(one.msgThroughputIn, two.msgThroughputIn, THROUGHPUT)
            or difference(one.msgThroughputOut, two.msgThroughputOut, THROUGHPUT)
            or difference(one.rate, two.rate, RATE)
            or difference(connections(one), connections(two), CONNECTIONS)
            or difference(one.cacheSize, two.cacheSize, CACHE)
        )

    def __lt__(self, other: Close) -> bool:
        return self.compared(other) < 0

    def __gt__(self, other: Close) -> bool:
        return self.compared(other) > 0
