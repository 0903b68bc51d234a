"""The settings of load balancing, with Pulsar's names and defaults.

Mirrors ServiceConfiguration of pulsar-broker-common. ``pulsar_version`` is the release whose rules the policies follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, Literal

from fencepost.model import releases
from fencepost.model.releases import NEWEST_BALANCED, is_since

Version = str
"""A release of Pulsar whose rules are modelled, by its number."""

RELEASES: Final[tuple[Version, ...]] = tuple(row.number for row in releases.RELEASES if row.policies)
"""The releases whose rules are modelled, the oldest first."""

SPELLINGS: Final[Mapping[str, Version]] = {"2.10": "2.10.1", "current": NEWEST_BALANCED}
"""Other names of releases."""

Resource = Literal["cpu", "memory", "directMemory", "bandwidthIn", "bandwidthOut"]

IMPLEMENTATION = "org.apache.pulsar.broker.loadbalance.impl."

DEFAULTS_BEFORE_4_0_8: Final[Mapping[str, Any]] = {
    "loadBalancerMemoryResourceWeight": 1.0,
    "loadBalancerDirectMemoryResourceWeight": 1.0,
}
"""Defaults that were others before 4.0.8."""

DEFAULTS_BEFORE_5_0_1: Final[Mapping[str, Any]] = {
    "loadBalancerLoadSheddingStrategy": IMPLEMENTATION + "ThresholdShedder",
    "loadBalancerLoadPlacementStrategy": IMPLEMENTATION + "LeastLongTermMessageRate",
    "loadBalancerDistributeBundlesEvenlyEnabled": True,
    "maxUnloadPercentage": 0.2,
}
"""Defaults that were others before 5.0.1."""

NAMES_BEFORE_4_0_8: Final[Mapping[str, str]] = {
    "loadBalancerBandwidthInResourceWeight": "loadBalancerBandwithInResourceWeight",
    "loadBalancerBandwidthOutResourceWeight": "loadBalancerBandwithOutResourceWeight",
}
"""Keys that are spelled in another way before 4.0.8."""

STRATEGIES: Final = frozenset({"loadManagerClassName", "loadBalancerLoadSheddingStrategy", "loadBalancerLoadPlacementStrategy"})
"""Keys that name what decides."""

NOT_DYNAMIC: Final = frozenset(
    {
        "loadBalancerBrokerComfortLoadLevelPercentage",
        "loadBalancerBrokerUnderloadedThresholdPercentage",
        "loadBalancerEnabled",
        "loadBalancerLoadPlacementStrategy",
        "loadBalancerPlacementStrategy",
        "loadBalancerResourceQuotaUpdateIntervalMinutes",
        "loadBalancerSplitIntervalMinutes",
        "lowerBoundarySheddingEnabled",
        "statsUpdateFrequencyInSecs",
    }
)
"""Keys that ServiceConfiguration marks as dynamic in no release: a broker reads them when it starts."""

READ_BY_SIMPLE: Final = frozenset(
    {
        "defaultNamespaceBundleSplitAlgorithm",
        "flowOrQpsDifferenceThresholdPercentage",
        "loadBalancerAutoBundleSplitEnabled",
        "loadBalancerAutoUnloadSplitBundlesEnabled",
        "loadBalancerBrokerComfortLoadLevelPercentage",
        "loadBalancerBrokerOverloadedThresholdPercentage",
        "loadBalancerBrokerUnderloadedThresholdPercentage",
        "loadBalancerEnabled",
        "loadBalancerHostUsageCheckIntervalMinutes",
        "loadBalancerNamespaceBundleMaxBandwidthMbytes",
        "loadBalancerNamespaceBundleMaxMsgRate",
        "loadBalancerNamespaceBundleMaxSessions",
        "loadBalancerNamespaceBundleMaxTopics",
        "loadBalancerNamespaceMaximumBundles",
        "loadBalancerPlacementStrategy",
        "loadBalancerReportUpdateMaxIntervalMinutes",
        "loadBalancerReportUpdateThresholdPercentage",
        "loadBalancerResourceQuotaUpdateIntervalMinutes",
        "loadBalancerSheddingEnabled",
        "loadBalancerSheddingGracePeriodMinutes",
        "loadBalancerSheddingIntervalMinutes",
        "loadManagerClassName",
        "statsUpdateFrequencyInSecs",
    }
)
"""Keys that count where SimpleLoadManagerImpl runs: it reads them, or LoadManagerShared, LoadSheddingTask or a split."""

ABSENT: Final[Mapping[str, frozenset[str]]] = {
    "2.10.1": frozenset(
        {
            "loadBalancerLoadPlacementStrategy",
            "loadBalancerSheddingExcludedNamespaces",
            "lowerBoundarySheddingEnabled",
            "minUnloadMessage",
            "minUnloadMessageThroughput",
            "maxUnloadPercentage",
            "maxUnloadBundleNumPerShedding",
            "loadBalancerAvgShedderLowThreshold",
            "loadBalancerAvgShedderHighThreshold",
            "loadBalancerAvgShedderHitCountLowThreshold",
            "loadBalancerAvgShedderHitCountHighThreshold",
            "loadBalancerBrokerLoadTargetStd",
            "loadBalancerSheddingConditionHitCountThreshold",
            "loadBalancerTransferEnabled",
            "loadBalancerMaxNumberOfBrokerSheddingPerCycle",
            "loadBalanceSheddingDelayInSeconds",
            "loadBalancerBrokerLoadDataTTLInSeconds",
            "loadBalancerMaxNumberOfBundlesInBundleLoadReport",
            "loadBalancerSheddingBundlesWithPoliciesEnabled",
            "loadBalancerDebugModeEnabled",
            "loadBalancerAverageResourceUsageDifferenceThresholdPercentage",
            "loadBalancerDistributeBundlesEvenlyEnabled",
            "loadBalancerSplitIntervalMinutes",
            "loadBalancerMaxNumberOfBundlesToSplitPerCycle",
            "loadBalancerNamespaceBundleSplitConditionHitCountThreshold",
            "flowOrQpsDifferenceThresholdPercentage",
        }
    ),
    "3.0.7": frozenset({"loadBalancerSheddingExcludedNamespaces"}),
    "4.0.8": frozenset({"loadBalancerSheddingExcludedNamespaces"}),
}
"""The keys that ServiceConfiguration of a release does not have, so that it passes over them."""


_is_since = cache(is_since)


@dataclass(frozen=True)
class Configuration:
    """What a broker is configured with, as far as load balancing looks at it.

    Percentages are as written (85 is 85 %), thresholds of throughput in the unit that the key's documentation gives.
    """

    pulsar_version: Version = NEWEST_BALANCED

    loadBalancerEnabled: bool = True
    loadManagerClassName: str = IMPLEMENTATION + "ModularLoadManagerImpl"
    loadBalancerLoadSheddingStrategy: str = IMPLEMENTATION + "AvgShedder"
    loadBalancerLoadPlacementStrategy: str = IMPLEMENTATION + "AvgShedder"
    loadBalancerPlacementStrategy: str = "leastLoadedServer"

    loadBalancerReportUpdateThresholdPercentage: int = 10
    loadBalancerReportUpdateMaxIntervalMinutes: int = 15
    loadBalancerHostUsageCheckIntervalMinutes: int = 1
    statsUpdateFrequencyInSecs: int = 60

    loadBalancerCPUResourceWeight: float = 1.0
    loadBalancerMemoryResourceWeight: float = 0.0
    loadBalancerDirectMemoryResourceWeight: float = 0.0
    loadBalancerBandwidthInResourceWeight: float = 1.0
    loadBalancerBandwidthOutResourceWeight: float = 1.0
    loadBalancerHistoryResourcePercentage: float = 0.9

    loadBalancerSheddingEnabled: bool = True
    loadBalancerResourceQuotaUpdateIntervalMinutes: int = 15
    loadBalancerSheddingIntervalMinutes: int = 1
    loadBalancerSheddingGracePeriodMinutes: int = 30
    loadBalancerSheddingExcludedNamespaces: frozenset[str] = frozenset()
    loadBalancerBrokerOverloadedThresholdPercentage: int = 85
    loadBalancerBrokerUnderloadedThresholdPercentage: int = 50
    loadBalancerBrokerComfortLoadLevelPercentage: int = 65
    loadBalancerBrokerThresholdShedderPercentage: int = 10
    loadBalancerBundleUnloadMinThroughputThreshold: float = 10.0
    lowerBoundarySheddingEnabled: bool = False

    loadBalancerMsgRateDifferenceShedderThreshold: float = 50.0
    loadBalancerMsgThroughputMultiplierDifferenceShedderThreshold: float = 4.0
    minUnloadMessage: int = 1000
    minUnloadMessageThroughput: int = 1024 * 1024
    maxUnloadPercentage: float = 0.5
    maxUnloadBundleNumPerShedding: int = -1

    loadBalancerAvgShedderLowThreshold: int = 15
    loadBalancerAvgShedderHighThreshold: int = 40
    loadBalancerAvgShedderHitCountLowThreshold: int = 8
    loadBalancerAvgShedderHitCountHighThreshold: int = 2

    loadBalancerBrokerLoadTargetStd: float = 0.25
    loadBalancerSheddingConditionHitCountThreshold: int = 3
    loadBalancerTransferEnabled: bool = True
    loadBalancerMaxNumberOfBrokerSheddingPerCycle: int = 3
    loadBalanceSheddingDelayInSeconds: int = 180
    loadBalancerBrokerLoadDataTTLInSeconds: int = 1800
    loadBalancerMaxNumberOfBundlesInBundleLoadReport: int = 10
    loadBalancerSheddingBundlesWithPoliciesEnabled: bool = False
    loadBalancerDebugModeEnabled: bool = False

    loadBalancerAverageResourceUsageDifferenceThresholdPercentage: int = 10
    loadBalancerBrokerMaxTopics: int = 50000
    loadBalancerDistributeBundlesEvenlyEnabled: bool = False
    failureDomainsEnabled: bool = False
    preferLaterVersions: bool = False

    loadBalancerAutoBundleSplitEnabled: bool = True
    loadBalancerAutoUnloadSplitBundlesEnabled: bool = True
    loadBalancerSplitIntervalMinutes: int = 1
    loadBalancerNamespaceBundleMaxTopics: int = 1000
    loadBalancerNamespaceBundleMaxSessions: int = 1000
    loadBalancerNamespaceBundleMaxMsgRate: int = 30000
    loadBalancerNamespaceBundleMaxBandwidthMbytes: int = 100
    loadBalancerNamespaceMaximumBundles: int = 128
    loadBalancerMaxNumberOfBundlesToSplitPerCycle: int = 10
    loadBalancerNamespaceBundleSplitConditionHitCountThreshold: int = 3
    defaultNamespaceBundleSplitAlgorithm: str = "range_equally_divide"
    flowOrQpsDifferenceThresholdPercentage: int = 10

    @cached_property
    def is_2_10(self) -> bool:
        """Whether the rules of 2.10 apply."""
        return self.before("3.0.7")

    @cached_property
    def weighs_usage(self) -> bool:
        """Whether resources have weights where a broker's usage is compared with a fixed threshold, or with its last report."""
        return not self.before("4.0.8")

    def before(self, release: Version) -> bool:
        """Whether the rules are those of an older release than this one."""
        return not _is_since(self.pulsar_version, release)

    @property
    def overload_threshold(self) -> float:
        """The usage at which a broker counts as overloaded, as a fraction."""
        return self.loadBalancerBrokerOverloadedThresholdPercentage / 100.0

    @cached_property
    def resource_weights(self) -> Mapping[Resource, float]:
        """What a resource's usage counts. The modular manager counts heap memory up to 2.10, the extensible one always."""
        weights: dict[Resource, float] = {
            "cpu": self.loadBalancerCPUResourceWeight,
            "directMemory": self.loadBalancerDirectMemoryResourceWeight,
            "bandwidthIn": self.loadBalancerBandwidthInResourceWeight,
            "bandwidthOut": self.loadBalancerBandwidthOutResourceWeight,
        }
        counts_heap = self.is_2_10 or self.is_extensible
        return {**weights, "memory": self.loadBalancerMemoryResourceWeight} if counts_heap else weights

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """The same numbers, in that order."""
        return tuple(self.resource_weights.values())

    @cached_property
    def is_extensible(self) -> bool:
        """Whether the extensible load manager decides, not the modular one."""
        return self.loadManagerClassName.endswith("ExtensibleLoadManagerImpl")

    @cached_property
    def is_simple(self) -> bool:
        """Whether the simple load manager decides, not the modular one."""
        return self.loadManagerClassName.endswith("SimpleLoadManagerImpl")

    @cached_property
    def places_afterwards(self) -> bool:
        """Whether a bundle is unloaded first, and placed when it is looked up, so that it may come back to its broker."""
        return self.is_2_10 or self.is_simple


def key_of(name: str, version: Version) -> str:
    """What a release calls a setting."""
    return name if _is_since(version, "4.0.8") else NAMES_BEFORE_4_0_8.get(name, name)


def defaults(version: Version = NEWEST_BALANCED) -> Configuration:
    """What a broker of that release has that is configured with nothing."""
    others = {} if _is_since(version, "5.0.1") else DEFAULTS_BEFORE_5_0_1
    return Configuration(pulsar_version=version, **others, **({} if _is_since(version, "4.0.8") else DEFAULTS_BEFORE_4_0_8))
