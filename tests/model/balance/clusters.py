"""Small clusters in few words: what brokers report and what bundles carry."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fencepost.model.balance.load_data import (
    BundleData,
    LoadData,
    LocalBrokerData,
    NamespaceBundleStats,
    ResourceUsage,
    TimeAverageMessageData,
)

MIB = 1024 * 1024
MINUTE = 60_000


def broker(
    percent: float = 0.0,
    *,
    throughput: float = 0.0,
    rate: float = 0.0,
    bundles: Collection[str] = (),
    **others: Any,
) -> LocalBrokerData:
    """A broker that uses so many percent of its CPU."""
    return LocalBrokerData(
        cpu=ResourceUsage(percent, 100), msgThroughputIn=throughput, msgRateIn=rate, bundles=tuple(bundles), **others
    )


def bundle(throughput: float = 0.0, *, rate: float = 0.0, topics: int = 0) -> BundleData:
    """A bundle with these averages, short and long."""
    average = TimeAverageMessageData(rate, 0.0, throughput, 0.0, maxSamples=10, numSamples=10)
    return BundleData(average, average, topics)


def stats(throughput: float = 0.0, *, rate: float = 0.0, topics: int = 0, sessions: int = 0) -> NamespaceBundleStats:
    """A bundle as its broker sees it."""
    return NamespaceBundleStats(msgThroughputIn=throughput, msgRateIn=rate, topics=topics, producerCount=sessions)


def cluster(
    brokers: Mapping[str, LocalBrokerData | None], bundles: Mapping[str, BundleData] | None = None, **others: Any
) -> LoadData:
    """What the leader of these brokers knows."""
    return LoadData(dict(brokers), dict(bundles or {}), **others)
