"""What Fencepost does not see: the one table of what no model has, and of the settings that switch it on.

The page docs/explanation/not-modelled.md shows this table. A report names each feature that the files of a cluster switch on.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BrokerConf
from fencepost.checks.settings.switches import (
    Feature,
    SwitchedOn,
    given,
    not_negative,
    positive,
    several,
    switched_on,
    true,
)

RACKS = "racks"
"""The feature that is judged where it is known which bookies each rack has."""
PAGE = "docs/explanation/not-modelled.md"


@dataclass(frozen=True)
class NotModelled(Feature):
    """A feature that no model has. ``of_bookies`` says that the settings of a bookie switch it on."""

    of_bookies: bool = False


NOT_MODELLED = (
    NotModelled(
        "geo-replication",
        "copies of messages in another cluster, and what deduplication makes of them there",
        ((several("replication_clusters"),),),
    ),
    NotModelled(
        "offload",
        "ledgers that are moved to tiered storage, and their deletion from the bookies",
        ((given("managedLedgerOffloadDriver"), not_negative("offload_threshold")),),
        "ManagedLedgerImpl.maybeOffloadInBackground",
    ),
    NotModelled(
        "transactions",
        "the coordinator, the buffer of a topic and pending acknowledgements",
        ((true("transactionCoordinatorEnabled"),),),
        "TopicTransactionBuffer, MLPendingAckStore",
    ),
    NotModelled(
        "compaction",
        "compacted topics, and readers of them",
        ((positive("brokerServiceCompactionThresholdInBytes"),),),
        "AbstractTwoPhaseCompactor",
    ),
    NotModelled(
        "delayed delivery",
        "messages that are held back until their time",
        ((true("delayedDeliveryEnabled", "true"),),),
        "InMemoryDelayedDeliveryTracker, BucketDelayedDeliveryTracker",
    ),
    NotModelled(
        RACKS,
        "on which racks the copies of an entry are: a profile with [racks], or --cluster, says it",
        ((true("bookkeeperClientRackawarePolicyEnabled", "true"),),),
        "RackawareEnsemblePlacementPolicy",
    ),
    NotModelled(
        "regions and isolation groups",
        "in which regions the copies of an entry are, and which bookies a namespace may use",
        ((true("bookkeeperClientRegionawarePolicyEnabled"), given("bookkeeperClientIsolationGroups")),),
        "BkEnsemblePlacementPolicyConfig",
    ),
    NotModelled(
        "entry filters and interceptors",
        "code of others that sees messages before they are stored or delivered",
        ((given("entryFilterNames"), given("brokerInterceptors"), given("brokerEntryPayloadProcessors")),),
        "AbstractBaseDispatcher.filterEntriesForConsumer",
    ),
    NotModelled(
        "other protocols and storages",
        "protocol handlers such as Kafka's, and other classes of topics or of managed ledgers",
        ((given("messagingProtocols"), given("topicFactoryClassName")),),
        "ProtocolHandlers, TopicFactory",
    ),
    NotModelled(
        "functions",
        "functions and connectors that run in the brokers",
        ((true("functionsWorkerEnabled"),),),
        "PulsarService.startWorkerService",
    ),
    NotModelled(
        "collection of entry logs",
        "when a bookie removes or rewrites entry logs, in a cluster; the protocol bookie has that of one bookie",
        ((positive("minorCompactionThreshold"), positive("majorCompactionThreshold"), true("isForceGCAllowWhenNoSpace")),),
        "GarbageCollectorThread",
        of_bookies=True,
    ),
    NotModelled("shared subscriptions", "Shared and Key_Shared: which consumer gets what, and redelivery", ()),
    NotModelled("individual acknowledgements", "acknowledged messages that are delivered again after a restart", ()),
    NotModelled("seek and reset", "a subscription that is moved by a client or an administrator", ()),
    NotModelled("truncation", "pulsar-admin topics truncate, and deletion by force", ()),
    NotModelled("loading of topics", "a load that waits for an answer, and the lookups that wait for it", ()),
    NotModelled("non-persistent topics", "they keep nothing: every message can be lost", ()),
    NotModelled("mixed releases", "brokers, bookies or clients of two releases beside each other, and the way back", ()),
    NotModelled("time", "how long anything takes: a loss that needs an hour counts as one that needs a second", ()),
)
"""In the order in which they are reported; those without settings are there in every cluster."""


def not_modelled(conf: BrokerConf) -> tuple[SwitchedOn, ...]:
    """The features of these files that no model has."""
    of_brokers, of_bookies = conf.only("broker"), conf.only("bookie")
    return tuple(
        each
        for feature in NOT_MODELLED
        if feature.needs
        for each in switched_on([feature], of_bookies if feature.of_bookies else of_brokers)
    )
