"""Which methods of Pulsar's load balancing no model mirrors, and why: what ``fencepost list --java`` prints of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

PASSES_ON: Final = "declares or passes on what a manager does; the manager's own class has it"
KEEPS_DATA: Final = "a record: the rules take its fields, and its methods decide nothing"
REPORTS_ONLY: Final = "a log, a counter or a metric: it decides nothing"
OF_ONE_HOST: Final = "reads the usage of a host: snapshots and scenarios say what a report has"
STARTS: Final = "starts or stops a part of a broker: a simulated broker is there, or it is gone"
WAITS: Final = "what a request for an unload or a split is answered, and when: no rule and no protocol asks for that"
STORES: Final = "the topic or the node that holds reports: simulated reports are there at once, and none is lost"
STALE: Final = (
    "averages in the store of what is gone: a simulated broker that starts may still find a bundle that no report speaks of"
)
TWO_MANAGERS: Final = "brokers with different load managers during a migration: a snapshot and a simulation have one manager"
SMALLER_STEPS: Final = "a part of a step that the protocol service_unit takes as a whole"
BY_HAND: Final = "an administrator's request, or a check of who owns a bundle: the rules decide on what nobody asks for"
OLD_CHANNEL: Final = "the channel of Pulsar 3.0.7, which is another one and is not modelled"
UNUSED: Final = "no release calls it where the load is balanced"

BEYOND: Final[Mapping[str, tuple[str, ...]]] = {
    PASSES_ON: (
        "BrokerFilter.*",
        "BrokerHostUsage.*",
        "BrokerRegistry.*",
        "BrokerSelectionStrategy.*",
        "BrokerSelectionStrategyFactory.*",
        "BundleSplitStrategy.*",
        "ExtensibleLoadManager.*",
        "ExtensibleLoadManagerWrapper.*",
        "LoadCalculator.*",
        "LoadDataReporter.*",
        "LoadDataStore.*",
        "LoadManager.*",
        "LoadManagerContext.*",
        "LoadManagerContextImpl.*",
        "LoadManagerContextImpl.LoadManagerContextImplBuilder.*",
        "LoadManagerScheduler.*",
        "LoadReportUpdaterTask.*",
        "LoadSheddingStrategy.findBundlesForUnloading",
        "ModularLoadManager.*",
        "ModularLoadManagerStrategy.*",
        "ModularLoadManagerWrapper.*",
        "NamespaceBundleSplitStrategy.*",
        "NamespaceUnloadStrategy.*",
        "NoopLoadManager.*",
        "PlacementStrategy.*",
        "ServiceUnitStateChannel.*",
        "ServiceUnitStateTableView.*",
        "StateChangeListener.*",
        "StateChangeListeners.*",
    ),
    KEEPS_DATA: (
        "AntiAffinityGroupPolicyFilter.name",
        "AvgShedder.PendingUnload.*",
        "BrokerIsolationPoliciesFilter.name",
        "BrokerLookupData.*",
        "BrokerMaxTopicCountFilter.name",
        "BrokerVersionFilter.name",
        "LeaderBroker.*",
        "ModularLoadManagerImpl.LoadBalanceStrategies.*",
        "PulsarResourceDescription.*",
        "PulsarServiceUnit.*",
        "ResourceDescription.*",
        "ServiceUnitStateData.*",
        "SimpleResourceUnit.*",
        "Split.*",
        "TopBundlesLoadData.BundleLoadData.*",
        "Unload.*",
    ),
    REPORTS_ONLY: (
        "AssignCounter.*",
        "ExtensibleLoadManagerImpl.debug",
        "ModularLoadManagerImpl.updateBundleSplitMetrics",
        "ModularLoadManagerImpl.updateBundleUnloadingMetrics",
        "ModularLoadManagerImpl.updateLoadBalancingBundlesMetrics",
        "ModularLoadManagerImpl.updateLoadBalancingMetrics",
        "ServiceUnitStateChannelImpl.debug",
        "ServiceUnitStateChannelImpl.handleSkippedEvent",
        "ServiceUnitStateChannelImpl.log",
        "ServiceUnitStateChannelImpl.printCleanupMetrics",
        "ServiceUnitStateTableViewSyncer.logIfFailed",
        "SimpleLoadManagerImpl.updateLoadBalancingMetrics",
        "SplitCounter.*",
        "SplitDecision.*",
        "UnloadCounter.*",
        "UnloadDecision.*",
        "UnloadManager.LatencyMetric.*",
        "UnloadManager.beforeEvent",
    ),
    OF_ONE_HOST: (
        "BrokerLoadData.clear",
        "GenericBrokerHostUsageImpl.*",
        "LoadManagerShared.getSystemResourceUsage",
        "SimpleLoadManagerImpl.fromLoadReport",
        "SimpleLoadManagerImpl.generateLoadReport",
        "SimpleLoadManagerImpl.generateLoadReportForcefully",
        "LinuxBrokerHostUsageImpl.*",
        "LinuxInfoUtils.*",
        "LinuxInfoUtils.ResourceUsage.*",
        "LinuxInfoUtils.ResourceUsage.ResourceUsageBuilder.*",
    ),
    STARTS: (
        "AntiAffinityGroupPolicyHelper.close",
        "AntiAffinityGroupPolicyHelper.listenFailureDomainUpdate",
        "BrokerRegistryImpl.addListener",
        "BrokerRegistryImpl.checkState",
        "BrokerRegistryImpl.close",
        "BrokerRegistryImpl.start",
        "ExtensibleLoadManagerImpl.close",
        "ExtensibleLoadManagerImpl.closeInternalTopics",
        "ExtensibleLoadManagerImpl.configureSystemTopics",
        "ExtensibleLoadManagerImpl.createBrokerRegistry",
        "ExtensibleLoadManagerImpl.createServiceUnitStateChannel",
        "ExtensibleLoadManagerImpl.createSystemTopic",
        "ExtensibleLoadManagerImpl.createSystemTopics",
        "ExtensibleLoadManagerImpl.disabled",
        "ExtensibleLoadManagerImpl.failForUnexpectedState",
        "ExtensibleLoadManagerImpl.failStarting",
        "ExtensibleLoadManagerImpl.get",
        "ExtensibleLoadManagerImpl.handleNoChannelOwnerError",
        "ExtensibleLoadManagerImpl.initialize",
        "ExtensibleLoadManagerImpl.monitor",
        "ExtensibleLoadManagerImpl.playFollower",
        "ExtensibleLoadManagerImpl.running",
        "ExtensibleLoadManagerImpl.start",
        "ExtensibleLoadManagerImpl.stopLoadDataReportTasks",
        "LoadManagerShared.refreshBrokerToFailureDomainMap",
        "LoadSheddingTask.*",
        "ModularLoadManagerImpl.disableBroker",
        "ModularLoadManagerImpl.handleDataNotification",
        "ModularLoadManagerImpl.handleMetadataSessionEvent",
        "ModularLoadManagerImpl.initialize",
        "ModularLoadManagerImpl.refreshBrokerToFailureDomainMap",
        "ModularLoadManagerImpl.start",
        "ModularLoadManagerImpl.stop",
        "ServiceUnitStateChannelImpl.cancelOwnershipMonitor",
        "ServiceUnitStateChannelImpl.close",
        "ServiceUnitStateChannelImpl.createServiceUnitStateTableView",
        "ServiceUnitStateChannelImpl.disable",
        "ServiceUnitStateChannelImpl.enable",
        "ServiceUnitStateChannelImpl.listen",
        "ServiceUnitStateChannelImpl.start",
        "ServiceUnitStateChannelImpl.started",
        "ServiceUnitStateChannelImpl.unregisterSessionListener",
        "ServiceUnitStateChannelImpl.validateChannelState",
        "ServiceUnitStateMetadataStoreTableViewImpl.close",
        "ServiceUnitStateMetadataStoreTableViewImpl.start",
        "ServiceUnitStateTableViewBase.init",
        "ServiceUnitStateTableViewImpl.close",
        "ServiceUnitStateTableViewImpl.start",
        "ServiceUnitStateTableViewSyncer.close",
        "SimpleLoadManagerImpl.disableBroker",
        "SimpleLoadManagerImpl.initialize",
        "SimpleLoadManagerImpl.start",
        "SimpleLoadManagerImpl.stop",
        "SplitScheduler.close",
        "SplitScheduler.start",
        "UnloadScheduler.close",
        "UnloadScheduler.start",
    ),
    WAITS: (
        "ExtensibleLoadManagerImpl.splitAsync",
        "ExtensibleLoadManagerImpl.unloadAsync",
        "ModularLoadManagerImpl.unloadNamespaceBundle",
        "SplitManager.*",
        "UnloadManager.close",
        "UnloadManager.complete",
        "UnloadManager.handleEvent",
        "UnloadManager.waitAsync",
    ),
    STORES: (
        "LoadDataStoreFactory.*",
        "TableViewLoadDataStoreImpl.*",
        "TopBundleLoadDataReporter.handleEvent",
        "TopBundleLoadDataReporter.reportAsync",
        "TopBundleLoadDataReporter.tombstone",
    ),
    STALE: (
        "ModularLoadManagerImpl.deleteBundleDataFromMetadataStore",
        "ModularLoadManagerImpl.deleteTimeAverageDataFromMetadataStoreAsync",
    ),
    TWO_MANAGERS: (
        "BrokerLoadManagerClassFilter.*",
        "RedirectManager.*",
        "RedirectManagerForLoadManagerMigration.*",
    ),
    SMALLER_STEPS: (
        "ServiceUnitState.isValidTransition",
        "BrokerRegistryImpl.doRegisterAsyncWithRetries",
        "BrokerRegistryImpl.keyPath",
        "BrokerRegistryImpl.lookupAsync",
        "BrokerRegistryImpl.register",
        "BrokerRegistryImpl.registerAsyncWithRetries",
        "ServiceUnitStateChannelImpl.channelDisabled",
        "ServiceUnitStateChannelImpl.doHealthCheckBrokerAsyncWithRetries",
        "ServiceUnitStateChannelImpl.get",
        "ServiceUnitStateChannelImpl.handleBrokerRegistrationEvent",
        "ServiceUnitStateChannelImpl.pubAsync",
        "ServiceUnitStateChannelImpl.selectBroker",
        "ServiceUnitStateChannelImpl.splitServiceUnit",
        "ServiceUnitStateChannelImpl.tryWaitForOverrides",
        "ServiceUnitStateDataConflictResolver.*",
        "ServiceUnitStateMetadataStoreTableViewImpl.*",
        "ServiceUnitStateTableViewBase.*",
        "ServiceUnitStateTableViewImpl.delete",
        "ServiceUnitStateTableViewImpl.entrySet",
        "ServiceUnitStateTableViewImpl.flush",
        "ServiceUnitStateTableViewImpl.get",
        "ServiceUnitStateTableViewImpl.ownedServiceUnits",
        "ServiceUnitStateTableViewSyncer.dummy",
        "ServiceUnitStateTableViewSyncer.maybeWaitCompletion",
        "ServiceUnitStateTableViewSyncer.syncExistingItemsToMetadataStore",
        "ServiceUnitStateTableViewSyncer.syncExistingItemsToSystemTopic",
        "ServiceUnitStateTableViewSyncer.writeToMetadataStore",
    ),
    BY_HAND: (
        "ExtensibleLoadManagerImpl.checkOwnershipAsync",
        "LeaderElectionService.readCurrentLeader",
    ),
    OLD_CHANNEL: ("ServiceUnitStateChannelImpl.newInstance", "ServiceUnitStateCompactionStrategy.*"),
    UNUSED: (
        "PulsarLoadReportImpl.*",
        "ResourceAvailabilityRanker.*",
        "SimpleLoadCalculatorImpl.*",
    ),
}
"""By the reason, as ``Class.method``, or ``Class.*`` for whatever of a class no model mirrors."""


def beyond(method: str) -> Iterator[tuple[str, str]]:
    """Names that are not modelled and have this text in them, each with the reason. Upper and lower case count alike."""
    asked = method.lower()
    for reason, names in BEYOND.items():
        for name in names:
            lower = name.lower()
            if asked in lower or (lower.endswith(".*") and fnmatchcase(asked, lower)):
                yield name, reason
