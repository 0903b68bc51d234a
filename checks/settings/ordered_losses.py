"""Losses that settings order: what Pulsar takes from a subscription, or forgets, because it was told to.

Read in Pulsar 4.2.4. The names and defaults are those of ServiceConfiguration, and the same in 2.10.1 to 5.0.0-M1, except
managedLedgerForceRecovery, which 2.10.1 and 3.0.7 do not have. A policy of a namespace or of a topic overrides most of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BrokerConf
from fencepost.checks.settings.switches import Feature, SwitchedOn, given, one_of, positive, switched_on, true


@dataclass(frozen=True)
class Order(Feature):
    """A loss that a setting orders. ``matter`` is the question that it answers with *yes*."""

    matter: str = ""


ORDERS = (
    Order(
        "ttl",
        "a message that is {ttlDurationDefaultInSeconds} seconds old is taken from every subscription, read or not",
        ((positive("ttlDurationDefaultInSeconds"),),),
        "PersistentTopic.checkMessageExpiry",
        "backlog",
    ),
    Order(
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
    Order(
        "expiry_of_subscriptions",
        "a subscription without a consumer for {subscriptionExpirationTimeMinutes} minutes is deleted with its backlog",
        ((positive("subscriptionExpirationTimeMinutes"),),),
        "PersistentTopic.checkInactiveSubscriptions",
        "backlog",
    ),
    Order(
        "skipping",
        "a ledger or an entry that cannot be read is skipped, and counts as acknowledged",
        ((true("autoSkipNonRecoverableData"),),),
        "OpReadEntry.internalReadEntriesFailed",
        "backlog",
    ),
    Order(
        "entry_filters",
        "what an entry filter rejects is acknowledged, and no consumer gets it",
        ((given("entryFilterNames"),),),
        "AbstractBaseDispatcher.filterEntriesForConsumer",
        "backlog",
    ),
    Order(
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
    Order(
        "retention",
        "what every subscription has acknowledged, or none holds, is deleted by its age or its size",
        ((positive("defaultRetentionTimeInMinutes"), positive("defaultRetentionSizeInMB")),),
        "ManagedLedgerImpl.internalTrimLedgers",
        "lost",
    ),
    Order(
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
    Order(
        "rewound_cursors",
        "a subscription whose cursor ledger cannot be opened begins again where its last snapshot was: messages come again",
        ((true("managedLedgerForceRecovery"),),),
        "ManagedCursorImpl.recoverFromLedger",
        "order",
    ),
)
"""In the order in which they are reported."""


def ordered_losses(conf: BrokerConf) -> tuple[SwitchedOn, ...]:
    """The losses that these files order."""
    return tuple(switched_on(ORDERS, conf))
