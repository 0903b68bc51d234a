"""What settings switch on, and where a cluster's files do so: losses that they order, and features that no model has.

The page docs/explanation/not-modelled.md shows the table of the latter. A report names each that a cluster's files switch on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fencepost.checks.inputs.input_files import Place
from fencepost.checks.settings.broker_conf import BrokerConf, Taken


@dataclass(frozen=True)
class Switch:
    """A key, the values that switch something on, and the value that Pulsar takes where no file has the key."""

    key: str
    is_on: Callable[[str], bool]
    default: str = ""


@dataclass(frozen=True)
class Feature:
    """What is on if of each group of switches one is on. ``says`` is a sentence about it, in which {KEY} is the value of a key,
    ``mirrors`` the class and method of Pulsar 4.2.4 or BookKeeper that was read. Of a loss that a setting orders ``matter`` is
    the question that it answers with *yes*. ``of_bookies`` says that the settings of a bookie switch it on."""

    name: str
    says: str
    needs: tuple[tuple[Switch, ...], ...]
    mirrors: str = ""
    matter: str = ""
    of_bookies: bool = False


@dataclass(frozen=True)
class SwitchedOn:
    """A feature that files switch on, and by which settings."""

    feature: Feature
    by: tuple[Taken[str], ...]

    @property
    def says(self) -> str:
        """The sentence about it, with the values of this cluster."""
        return self.feature.says.format(**{each.key: each.value for each in self.by})

    @property
    def settings(self) -> str:
        """The settings that switch it on, with file and line; defaults are left out."""
        return ", ".join(f"{each.name}={each.value} ({each.place})" for each in self.by if each.place is not None)

    @property
    def place(self) -> Place:
        """The first line that switches it on."""
        return next(each.place for each in self.by if each.place is not None)


def true(key: str, default: str = "false") -> Switch:
    """On if it is true, as Boolean.valueOf has it."""
    return Switch(key, lambda text: text.lower() == "true", default)


def false(key: str) -> Switch:
    """On if it is not true."""
    return Switch(key, lambda text: text.lower() != "true")


def positive(key: str, default: str = "0") -> Switch:
    """On if it is a number above 0."""
    return Switch(key, lambda text: (_number(text) or 0) > 0, default)


def not_negative(key: str) -> Switch:
    """On if it is a number from 0 on."""
    return Switch(key, lambda text: (_number(text) or 0) >= 0, "-1")


def not_positive(key: str) -> Switch:
    """On if it is a number up to 0."""
    return Switch(key, lambda text: (number := _number(text)) is not None and number <= 0)


def given(key: str) -> Switch:
    """On if there is a value at all."""
    return Switch(key, lambda text: bool(text.strip()))


def one_of(key: str, *values: str) -> Switch:
    """On if it is one of these."""
    return Switch(key, lambda text: text.strip() in values)


def switched_on(features: Sequence[Feature], conf: BrokerConf) -> list[SwitchedOn]:
    """The features that the files switch on: some setting of each is in one of them."""
    found = (_in(feature, conf) for feature in features)
    return [each for each in found if each is not None]


def _in(feature: Feature, conf: BrokerConf) -> SwitchedOn | None:
    by = dict[str, Taken[str]]()
    for group in feature.needs:
        taken = [(switch, conf.given(switch.key) or Taken(switch.key, switch.default)) for switch in group]
        on = [each for switch, each in taken if each.value and switch.is_on(each.value)]
        if not on:
            return None
        # where a file says so, defaults add nothing
        by |= {each.key: each for each in [each for each in on if each.place] or on[:1]}
    return SwitchedOn(feature, tuple(by.values())) if any(each.place for each in by.values()) else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


ORDERS = (
    Feature(
        "ttl",
        "a message that is {ttlDurationDefaultInSeconds} seconds old is taken from every subscription, read or not",
        ((positive("ttlDurationDefaultInSeconds"),),),
        "PersistentTopic.checkMessageExpiry",
        "backlog",
    ),
    Feature(
        "evicting_quota",
        "what is above the quota of a backlog is taken from the slowest subscription",
        (
            (one_of("backlogQuotaDefaultRetentionPolicy", "consumer_backlog_eviction"),),
            (true("backlogQuotaCheckEnabled", "true"),),
            (
                positive("backlogQuotaDefaultLimitBytes"),
                positive("backlogQuotaDefaultLimitGB"),
                positive("backlogQuotaDefaultLimitSecond"),
            ),
        ),
        "BacklogQuotaManager.handleExceededBacklogQuota",
        "backlog",
    ),
    Feature(
        "expiry_of_subscriptions",
        "a subscription without a consumer for {subscriptionExpirationTimeMinutes} minutes is deleted with its backlog",
        ((positive("subscriptionExpirationTimeMinutes"),),),
        "PersistentTopic.checkInactiveSubscriptions",
        "backlog",
    ),
    Feature(
        "skipping",
        "a ledger or an entry that cannot be read is skipped, and counts as acknowledged",
        ((true("autoSkipNonRecoverableData"),),),
        "OpReadEntry.internalReadEntriesFailed",
        "backlog",
    ),
    Feature(
        "entry_filters",
        "what an entry filter rejects is acknowledged, and no consumer gets it",
        ((given("entryFilterNames"),),),
        "AbstractBaseDispatcher.filterEntriesForConsumer",
        "backlog",
    ),
    Feature(
        "deletion_when_caught_up",
        "a topic without clients is deleted with its subscriptions once they have read all; what is sent afterwards makes the "
        "topic again, and no subscription holds it",
        (
            (one_of("brokerDeleteInactiveTopicsMode", "delete_when_subscriptions_caught_up"),),
            (true("brokerDeleteInactiveTopicsEnabled", "true"),),
            (true("allowAutoTopicCreation", "true"),),
        ),
        "PersistentTopic.checkGC, PersistentTopic.isActive",
        "backlog",
    ),
    Feature(
        "retention",
        "what every subscription has acknowledged, or none holds, is deleted by its age or its size",
        ((positive("defaultRetentionTimeInMinutes"), positive("defaultRetentionSizeInMB")),),
        "ManagedLedgerImpl.internalTrimLedgers",
        "lost",
    ),
    Feature(
        "forgotten_producers",
        "deduplication forgets a producer that is away for {brokerDeduplicationProducerInactivityTimeoutMinutes} minutes: what "
        "it then sends again is stored twice",
        (
            (true("brokerDeduplicationEnabled"),),
            (positive("brokerDeduplicationProducerInactivityTimeoutMinutes", "360"),),
        ),
        "MessageDeduplication.purgeInactiveProducers",
        "order",
    ),
    Feature(
        "rewound_cursors",
        "a subscription whose cursor ledger cannot be opened begins again where its last snapshot was: messages come again",
        ((true("managedLedgerForceRecovery"),),),
        "ManagedCursorImpl.recoverFromLedger",
        "order",
    ),
    Feature(
        "whole_batches",
        "a message of a batch is acknowledged when the whole batch is: until then all of it can come again",
        ((false("acknowledgmentAtBatchIndexLevelEnabled"),),),
        "ManagedCursorImpl.asyncDelete",
        "again",
    ),
)
"""The losses that settings order, as they are reported."""


def ordered_losses(conf: BrokerConf) -> tuple[SwitchedOn, ...]:
    """The losses that these files order."""
    return tuple(switched_on(ORDERS, conf))


RACKS, REGIONS, GROUPS = "racks", "regions", "isolation groups"
"""The features that are judged where it is known which bookies each rack has, and in which region each rack is."""
PAGE = "docs/explanation/not-modelled.md"


NOT_MODELLED = (
    Feature(
        "offload",
        "ledgers that are moved to tiered storage, and their deletion from the bookies",
        ((given("managedLedgerOffloadDriver"), not_negative("offload_threshold")),),
        "ManagedLedgerImpl.maybeOffloadInBackground",
    ),
    Feature(
        "transactions",
        "the coordinator, the buffer of a topic and pending acknowledgements",
        ((true("transactionCoordinatorEnabled"),),),
        "TopicTransactionBuffer, MLPendingAckStore",
    ),
    Feature(
        "compaction",
        "compacted topics, and readers of them",
        ((positive("brokerServiceCompactionThresholdInBytes"),),),
        "AbstractTwoPhaseCompactor",
    ),
    Feature(
        "delayed delivery",
        "messages that are held back until their time",
        ((true("delayedDeliveryEnabled", "true"),),),
        "InMemoryDelayedDeliveryTracker, BucketDelayedDeliveryTracker",
    ),
    Feature(
        RACKS,
        "on which racks the copies of an entry are: a profile with [racks], or --cluster, says it",
        ((true("bookkeeperClientRackawarePolicyEnabled", "true"),),),
        "RackawareEnsemblePlacementPolicy",
    ),
    Feature(
        REGIONS,
        "in which regions the copies of an entry are: a profile with [racks] named /region/rack, or --cluster, says it",
        ((true("bookkeeperClientRegionawarePolicyEnabled"),),),
        "RegionAwareEnsemblePlacementPolicy",
    ),
    Feature(
        GROUPS,
        "which bookies the brokers use: a profile with [racks] and [groups], or --cluster, says it",
        ((given("bookkeeperClientIsolationGroups"),),),
        "IsolatedBookieEnsemblePlacementPolicy",
    ),
    Feature(
        "bookie affinity of namespaces",
        "which bookies a namespace may use",
        ((true("strictBookieAffinityEnabled"),),),
        "BrokerService.getManagedLedgerConfig",
    ),
    Feature(
        "policies that are waited for without end",
        "topics that wait for good where the reader of their namespace's policies stalls: `topic_loading` with bounded=no",
        ((not_positive("topicPoliciesCacheInitTimeoutSeconds"),),),
        "SystemTopicBasedTopicPoliciesService.scheduleInitPolicesCacheTimeout",
    ),
    Feature(
        "entry filters and interceptors",
        "code of others that sees messages before they are stored or delivered",
        ((given("entryFilterNames"), given("brokerInterceptors"), given("brokerEntryPayloadProcessors")),),
        "AbstractBaseDispatcher.filterEntriesForConsumer",
    ),
    Feature(
        "other protocols and storages",
        "protocol handlers such as Kafka's, and other classes of topics or of managed ledgers",
        ((given("messagingProtocols"), given("topicFactoryClassName")),),
        "ProtocolHandlers, TopicFactory",
    ),
    Feature(
        "functions",
        "functions and connectors that run in the brokers",
        ((true("functionsWorkerEnabled"),),),
        "PulsarService.startWorkerService",
    ),
    Feature(
        "collection of entry logs",
        "when a bookie removes or rewrites entry logs, in a cluster; the protocol bookie has that of one bookie",
        ((positive("minorCompactionThreshold"), positive("majorCompactionThreshold"), true("isForceGCAllowWhenNoSpace")),),
        "GarbageCollectorThread",
        of_bookies=True,
    ),
    Feature("shared subscriptions", "Shared and Key_Shared: which consumer gets what, and redelivery", ()),
    Feature("batches", "which messages of a batch are acknowledged, and come again", ()),
    Feature("truncation", "what it takes from subscriptions and readers, and deletion by force", ()),
    Feature("non-persistent topics", "they keep nothing: every message can be lost", ()),
    Feature("mixed releases", "brokers, bookies or clients of two releases beside each other, and the way back", ()),
    Feature("time", "how long anything takes: a loss that needs an hour counts as one that needs a second", ()),
)
"""The features that no model has, as they are reported; those without settings are there in every cluster."""


def not_modelled(conf: BrokerConf) -> tuple[SwitchedOn, ...]:
    """The features of these files that no model has."""
    of_brokers, of_bookies = conf.only("broker"), conf.only("bookie")
    return tuple(
        each
        for feature in NOT_MODELLED
        if feature.needs
        for each in switched_on([feature], of_bookies if feature.of_bookies else of_brokers)
    )
