"""Loads of small clusters, made at random: each a function of the configuration, the seed and its number alone.

Usages lie about as often on a threshold, or next to it, as anywhere; bundles carry what others carry, nothing, or very much.
"""

from __future__ import annotations

from random import Random

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import (
    BundleData,
    LoadData,
    LocalBrokerData,
    NamespaceBundleStats,
    ResourceUsage,
    TimeAverageMessageData,
)
from fencepost.model.balance.wording import MIB

MOST_BROKERS = 5
MOST_BUNDLES = 5
NOW = 1_000_000_000
SIZES = (0.0, 1.0, 999.0, 1000.0, 5000.0, MIB, 10.0 * MIB, 50.0 * MIB, 300.0 * MIB)
RATES = (0.0, 0.5, 10.0, 999.0, 1000.0, 5000.0, 20000.0)


def random_load(conf: Configuration, seed: int, number: int) -> LoadData:
    """A cluster of two to five brokers with up to five bundles each.

    A bundle's averages are mostly what it carries now, sometimes something else, and sometimes not known. A few bundles were
    unloaded a moment ago, and a few are gone that their broker still has statistics of.
    """
    random = Random(f"{seed}/{number}")
    edges = sorted(
        {0, conf.loadBalancerBrokerOverloadedThresholdPercentage, conf.loadBalancerBrokerThresholdShedderPercentage, 100}
    )
    brokers: dict[str, LocalBrokerData | None] = {}
    bundles: dict[str, BundleData] = {}
    for place in range(1, random.randint(2, MOST_BROKERS) + 1):
        broker = f"b{place}:8080"
        seen = {f"n/b{place}-{n}": _stats(random) for n in range(random.randint(0, MOST_BUNDLES))}
        percent = max(0, random.choice(edges) + random.randint(-1, 1)) if random.random() < 0.5 else random.randint(0, 110)
        brokers[broker] = LocalBrokerData(
            sum(stats.msgRateIn for stats in seen.values()),
            sum(stats.msgRateOut for stats in seen.values()),
            sum(stats.msgThroughputIn for stats in seen.values()),
            sum(stats.msgThroughputOut for stats in seen.values()),
            cpu=ResourceUsage(percent, 100),
            lastStats=seen,
            lastUpdate=NOW,
            bundles=tuple(name for name in seen if random.random() < 0.97),
        )
        for name, stats in seen.items():
            if random.random() < 0.9:
                bundles[name] = _averages(stats if random.random() < 0.8 else _stats(random))
    recent = {name: NOW for name in bundles if random.random() < 0.1}
    return LoadData(brokers, bundles, recent, now=NOW)


def _stats(random: Random) -> NamespaceBundleStats:
    return NamespaceBundleStats(
        msgRateIn=random.choice(RATES), msgThroughputIn=random.choice(SIZES), topics=random.randint(1, 9)
    )


def _averages(stats: NamespaceBundleStats) -> BundleData:
    rates = (stats.msgRateIn, stats.msgRateOut, stats.msgThroughputIn, stats.msgThroughputOut)
    average = TimeAverageMessageData(*rates, maxSamples=10, numSamples=10)
    return BundleData(average, average, stats.topics)
