"""Clusters and settings at random, with edges: usages on a threshold and next to it, equal loads, nothing, far too much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from fencepost.model.balance.configuration import ABSENT, Configuration, Version, defaults
from fencepost.model.balance.load_data import (
    LONG_TERM_SAMPLES,
    SHORT_TERM_SAMPLES,
    TRAFFIC,
    BundleData,
    LoadData,
    LocalBrokerData,
    NamespaceBundleStats,
    ResourceUsage,
    TimeAverageMessageData,
)

NOW = 1_700_000_000_000
MIB = 1024 * 1024
EQUAL = 0.2
"""In how many cases all bundles have equal data, on brokers of which most are equal: what is equal need not be the same."""
EVEN = 8
"""Rates are multiples of one eighth, so that a sum is the same in every order: upstream sums in the order of a hash table."""

PERCENTS = (0.0, 0.1, 10.0, 15.0, 50.0, 84.9999, 85.0, 85.0001, 90.0, 100.0, 130.0)
THROUGHPUTS = (0.0, 1.0, 1000.0, 50_000.0, 1.0 * MIB, 10.0 * MIB, 60.0 * MIB, 2.0**31, 2.0**36)
RATES = (0.0, 0.125, 50.0, 999.0, 1000.0, 1001.0, 5000.0, 20_000.0, 2.0**32)
NAMESPACES = ("t/n", "t/n", "t/m", "t/no", "public/default", "pulsar/system", "pulsar/b1.x:8080", "sla-monitor/b1.x:8080")
NAMESPACES_BEFORE_4_2 = ("sla-monitor/c/b1.x:8080", "pulsar/c/b1.x:8080")

SETTINGS: dict[str, Sequence[Any]] = {
    "loadBalancerCPUResourceWeight": (0.0, 0.5, 2.0),
    "loadBalancerMemoryResourceWeight": (0.0, 0.3, 1.0),
    "loadBalancerDirectMemoryResourceWeight": (0.0, 0.3, 1.0),
    "loadBalancerBandwidthInResourceWeight": (0.0, 0.5, 2.0),
    "loadBalancerBandwidthOutResourceWeight": (0.0, 0.5, 2.0),
    "loadBalancerHistoryResourcePercentage": (0.0, 0.5, 1.0),
    "loadBalancerBrokerOverloadedThresholdPercentage": (0, 50, 84, 86, 100),
    "loadBalancerPlacementStrategy": ("leastMsgPerSecond", "weightedRandomSelection", "none"),
    "loadBalancerBrokerUnderloadedThresholdPercentage": (0, 20, 90, 101),
    "loadBalancerBrokerComfortLoadLevelPercentage": (10, 40, 101),
    "loadBalancerBrokerThresholdShedderPercentage": (0, 1, 15, 40),
    "loadBalancerBundleUnloadMinThroughputThreshold": (0.0, 0.5, 1.0),
    "lowerBoundarySheddingEnabled": (True,),
    "loadBalancerMsgRateDifferenceShedderThreshold": (0.0, 10.0, 100.0),
    "loadBalancerMsgThroughputMultiplierDifferenceShedderThreshold": (0.0, 1.0, 2.0),
    "minUnloadMessage": (0, 1, 10),
    "minUnloadMessageThroughput": (0, 1, 1000),
    "maxUnloadPercentage": (0.0, 0.5, 1.0),
    "maxUnloadBundleNumPerShedding": (0, 1, 2),
    "loadBalancerAvgShedderLowThreshold": (0, 5, 30),
    "loadBalancerAvgShedderHighThreshold": (0, 20, 60),
    "loadBalancerAvgShedderHitCountLowThreshold": (1, 2),
    "loadBalancerAvgShedderHitCountHighThreshold": (1, 3),
    "loadBalancerAverageResourceUsageDifferenceThresholdPercentage": (0, 5, 25),
    "loadBalancerNamespaceBundleMaxTopics": (1, 3, 10),
    "loadBalancerNamespaceBundleMaxSessions": (-1, 0, 5),
    "loadBalancerNamespaceBundleMaxMsgRate": (0, 1000),
    "loadBalancerNamespaceBundleMaxBandwidthMbytes": (0, 1, 2047, 2048, 4096),
    "loadBalancerNamespaceMaximumBundles": (0, 1, 3, 6),
    "loadBalancerReportUpdateThresholdPercentage": (0, 5, 50),
    "loadBalancerReportUpdateMaxIntervalMinutes": (0, 1, 5),
    "loadBalancerBrokerLoadTargetStd": (0.0, 0.05, 0.1, 1.5),
    "loadBalancerSheddingConditionHitCountThreshold": (0, 0, 0, 1, 2),
    "loadBalancerTransferEnabled": (False,),
    "loadBalancerMaxNumberOfBrokerSheddingPerCycle": (0, 1, 5),
    "loadBalanceSheddingDelayInSeconds": (0, 60),
    "loadBalancerBrokerLoadDataTTLInSeconds": (600,),
    "loadBalancerMaxNumberOfBundlesInBundleLoadReport": (1, 2, 3),
    "loadBalancerSheddingBundlesWithPoliciesEnabled": (True,),
    "loadBalancerDebugModeEnabled": (True,),
    "loadBalancerSheddingExcludedNamespaces": (frozenset({"t/n"}), frozenset({"t/m", "t/no"})),
    "loadBalancerMaxNumberOfBundlesToSplitPerCycle": (0, 1, 2),
    "loadBalancerNamespaceBundleSplitConditionHitCountThreshold": (0, 0, 1),
    "loadBalancerBrokerMaxTopics": (0, 10, 20),
    "loadBalancerDistributeBundlesEvenlyEnabled": (False,),
    "failureDomainsEnabled": (True,),
    "preferLaterVersions": (True,),
}
"""What settings are besides their defaults."""


def settings(random: Random, release: Version, names: Sequence[str], **fixed: Any) -> Configuration:
    """The defaults of a release with some of these settings changed; never one that the release does not have."""
    absent = ABSENT.get(release, frozenset())
    drawn = {name: random.choice(SETTINGS[name]) for name in names if name not in absent and random.random() < 0.4}
    return replace(defaults(release), **drawn, **fixed)


def even(value: float) -> float:
    """The next multiple of one eighth."""
    return round(value * EVEN) / EVEN


def amount(random: Random, edges: Sequence[float]) -> float:
    """One of the edges, or anything up to a million."""
    return random.choice(edges) if random.random() < 0.5 else even(random.random() * 10 ** random.randint(0, 8))


def percentage(random: Random, conf: Configuration, *, wild: bool) -> ResourceUsage:
    """The usage of a resource: mostly of 100; on a threshold, or next to it; ``wild``: also no number, and none that ends."""
    if wild and random.random() < 0.03:
        return ResourceUsage(random.choice((math.inf, math.nan)), random.choice((100.0, 0.0)))
    if random.random() < 0.05:
        return ResourceUsage(random.random() * 10, random.choice((0.0, -1.0, 3.0)))
    if random.random() < 0.5:
        edge = random.choice((*PERCENTS, conf.loadBalancerBrokerOverloadedThresholdPercentage))
        return ResourceUsage(float(edge), 100.0)
    return ResourceUsage(random.random() * 100, 100.0)


def stats(random: Random) -> NamespaceBundleStats:
    """What a broker saw of a bundle."""
    return NamespaceBundleStats(
        msgRateIn=amount(random, RATES),
        msgRateOut=amount(random, RATES),
        msgThroughputIn=amount(random, THROUGHPUTS),
        msgThroughputOut=amount(random, THROUGHPUTS),
        consumerCount=random.choice((0, 1, 2, 400, 600)),
        producerCount=random.choice((0, 1, 3, 300)),
        topics=random.choice((0, 1, 2, 3, 4, 10, 11, 499, 1000, 1001)),
        cacheSize=random.choice((0, 1, 99_999, 100_000, 250_000)),
    )


def averages(random: Random, seen: NamespaceBundleStats) -> BundleData:
    """What the leader knows of a bundle: mostly what was seen."""

    def average(most: int) -> TimeAverageMessageData:
        of = seen if random.random() < 0.7 else stats(random)
        rates = (of.msgRateIn, of.msgRateOut, of.msgThroughputIn, of.msgThroughputOut)
        return TimeAverageMessageData(*rates, maxSamples=most, numSamples=random.choice((0, 1, 9, 10, most)))

    return BundleData(average(SHORT_TERM_SAMPLES), average(LONG_TERM_SAMPLES), seen.topics)


def bundle_names(random: Random, conf: Configuration, count: int) -> list[str]:
    """Names of bundles, all different, of several namespaces."""
    namespaces = (*NAMESPACES, *NAMESPACES_BEFORE_4_2) if conf.before("4.2.4") else NAMESPACES
    names = dict.fromkeys(
        f"{random.choice(namespaces)}/0x{place * 0x1000:08x}_0x{place * 0x1000 + random.choice((1, 2, 0x1000)):08x}"
        for place in random.sample(range(4096), count)
    )
    return list(names)


def cluster(random: Random, conf: Configuration, *, wild: bool = False, before: LoadData | None = None) -> LoadData:
    """A cluster of up to six brokers; ``before``: mostly with the brokers and bundles of an earlier round."""
    count = random.choice((0, 1, 2, 2, 3, 3, 4, 5, 6))
    brokers = [f"b{place}.x:8080" for place in random.sample(range(9), count)]
    if before is not None and random.random() < 0.8:
        brokers = list(before.brokers)
    names = bundle_names(random, conf, random.randint(0, 12))
    if before is not None and before.bundles and random.random() < 0.8:
        names = list(before.bundles)
    return _placed(random, conf, brokers, names, wild=wild)


def _placed(random: Random, conf: Configuration, brokers: Sequence[str], names: Sequence[str], *, wild: bool) -> LoadData:
    owned: dict[str, list[str]] = {broker: [] for broker in brokers}
    for name in names if brokers else ():
        owned[random.choice(brokers)].append(name)
    seen = {name: stats(random) for name in names}
    if random.random() < EQUAL:
        return _equal(random, conf, owned, seen)
    if names and random.random() < 0.3:
        like = random.choice(list(seen.values()))
        seen = {name: like if random.random() < 0.5 else one for name, one in seen.items()}
    reports: dict[str, LocalBrokerData | None] = {}
    for broker, own in owned.items():
        if len(names) > 1 and random.random() < 0.05:
            own = list(dict.fromkeys([*own, random.choice(names)]))
        reports[broker] = report(random, conf, {name: seen[name] for name in own}, wild=wild)
    bundles = {name: averages(random, one) for name, one in seen.items() if random.random() < 0.95}
    recent = {name: NOW - random.randint(0, 10**6) for name in names if random.random() < 0.1}
    return LoadData(reports, bundles, recent, now=NOW)


def _equal(random: Random, conf: Configuration, owned: dict[str, list[str]], seen: dict[str, NamespaceBundleStats]) -> LoadData:
    """Bundles that carry the same, on brokers of which most use the same."""
    like = next(iter(seen.values()), stats(random))
    data = averages(random, like)
    one, other = (report(random, conf, {}) for _ in range(2))
    reports: dict[str, LocalBrokerData | None] = {}
    for broker, own in owned.items():
        shown = one if random.random() < 0.7 else other
        reports[broker] = replace(shown, numBundles=len(own), lastStats=dict.fromkeys(own, like), bundles=tuple(own))
    return LoadData(reports, dict.fromkeys(seen, data), now=NOW)


def report(
    random: Random, conf: Configuration, seen: dict[str, NamespaceBundleStats], *, wild: bool = False
) -> LocalBrokerData:
    """A broker's report, with totals that mostly are those of its bundles."""
    totals = [sum(getattr(one, name) for one in seen.values()) for name in TRAFFIC]
    if random.random() < 0.4:
        totals = [amount(random, RATES), amount(random, RATES), amount(random, THROUGHPUTS), amount(random, THROUGHPUTS)]
    if wild and random.random() < 0.03:
        totals[random.randrange(4)] = random.choice((math.inf, math.nan))
    usages = [percentage(random, conf, wild=wild) if random.random() < 0.6 else ResourceUsage() for _ in range(5)]
    return replace(
        LocalBrokerData.of(seen, usages, list(map(float, totals))),
        numTopics=random.choice((0, 5, 10, 11, 20, 21)),
        lastUpdate=NOW,
    )
