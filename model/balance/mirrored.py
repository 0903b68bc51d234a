"""Which methods of Pulsar the functions of load balancing mirror: what ``fencepost list --java`` finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MIRRORED: Final[Mapping[str, tuple[str, ...]]] = {
    "averages.advanced": ("TimeAverageMessageData.update", "TimeAverageMessageData.getUpdatedValue"),
    "averages.sampled": ("BundleData.update",),
    "averages.long_term_rates": ("TimeAverageBrokerData.reset",),
    "averages.with_reported_bundles": ("ModularLoadManagerImpl.getBundleDataOrDefault",),
    "avg_shedder.AvgShedder": ("AvgShedder.findBundlesForUnloading",),
    "broker_loads.advanced": ("BrokerLoadData.update", "BrokerLoadData.updateFeatures"),
    "bundle_brokers.hash_code": ("BundleData.hashCode", "TimeAverageMessageData.hashCode"),
    "deviation_shedder.DeviationShedder": ("DeviationShedder.findBundlesForUnloading",),
    "filters.below_max_topics": ("BrokerMaxTopicCountFilter.filterAsync",),
    "filters.fewest_bundles": ("LoadManagerShared.removeMostServicingBrokersForNamespace",),
    "filters.latest_version": ("BrokerVersionFilter.filter", "BrokerVersionFilter.filterAsync"),
    "filters.least_of_anti_affinity": (
        "LoadManagerShared.filterAntiAffinityGroupOwnedBrokers",
        "AntiAffinityGroupPolicyFilter.filterAsync",
    ),
    "filters.within_max_topics": ("LoadManagerShared.filterBrokersWithLargeTopicCount",),
    "isolation.permitted": (
        "LoadManagerShared.applyNamespacePolicies",
        "SimpleResourceAllocationPolicies.isPrimaryBroker",
        "BrokerIsolationPoliciesFilter.filterAsync",
    ),
    "load_manager.LoadManager.placed": ("ModularLoadManagerImpl.selectBrokerForAssignment",),
    "load_manager.LoadManager.shed": ("ModularLoadManagerImpl.doLoadShedding", "UnloadScheduler.execute"),
    "load_manager.LoadManager.split": ("ModularLoadManagerImpl.checkNamespaceBundleSplit", "SplitScheduler.execute"),
    "overload_shedder.OverloadShedder": ("OverloadShedder.findBundlesForUnloading",),
    "placement.AvgPlacement": (
        "AvgShedder.selectBroker",
        "AvgShedder.selectBrokerForBundle",
        "AvgShedder.getExpectedBroker",
    ),
    "placement.LeastLongTermMessageRate": ("LeastLongTermMessageRate.selectBroker", "LeastLongTermMessageRate.getScore"),
    "placement.LeastResourceUsageWithWeight": (
        "LeastResourceUsageWithWeight.selectBroker",
        "LeastResourceUsageWithWeight.select",
    ),
    "placement.RoundRobinBrokerSelector": ("RoundRobinBrokerSelector.selectBroker",),
    "preallocation.Preallocation": (
        "ModularLoadManagerImpl.preallocateBundle",
        "ModularLoadManagerImpl.updateBundleData",
        "ModularLoadManagerImpl.reapDeadBrokerPreallocations",
    ),
    "reports.must_report": (
        "ModularLoadManagerImpl.needBrokerDataUpdate",
        "ModularLoadManagerImpl.percentChange",
        "BrokerLoadDataReporter.needBrokerDataUpdate",
    ),
    "selection.select": ("ModularLoadManagerImpl.selectBroker", "ExtensibleLoadManagerImpl.selectAsync"),
    "shedding.candidates": ("LoadData.getBundleDataForLoadShedding",),
    "shedding.never_shed": ("NamespaceService.isSLAOrHeartbeatNamespace",),
    "shedding.Shedder.with_active_brokers": ("LoadSheddingStrategy.onActiveBrokersChange",),
    "splitting.bundles_to_split": ("BundleSplitterTask.findBundlesToSplit",),
    "splitting.SplitStrategy": ("DefaultNamespaceBundleSplitStrategyImpl.findBundlesToSplit",),
    "splitting.boundaries": ("NamespaceBundleSplitAlgorithm.getSplitBoundary",),
    "standing.Standing": ("TransferShedder.isUnderLoaded", "TransferShedder.isOverLoaded"),
    "threshold_shedder.ThresholdShedder": ("ThresholdShedder.findBundlesForUnloading",),
    "top_bundles.top_bundles": ("TopKBundles.update", "NamespaceBundleStats.compareTo"),
    "transfer_shedder.TransferShedder": ("TransferShedder.findBundlesForUnloading",),
    "uniform_load_shedder.UniformLoadShedder": ("UniformLoadShedder.findBundlesForUnloading",),
    "usage.unweighted_usage": ("LocalBrokerData.getMaxResourceUsage",),
    "usage.weighted_usage": ("LocalBrokerData.getMaxResourceUsageWithWeight",),
}
"""By the place in ``fencepost.model.balance``, as Class.method of a release that has it."""
