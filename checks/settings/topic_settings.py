"""What a topic's managed ledger takes from a cluster's configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.checks.settings.broker_conf import LARGEST, BrokerConf, Taken
from fencepost.checks.settings.metadata_store_settings import metadata_store
from fencepost.model.pulsar.stores import STORES
from fencepost.properties.registry import Value

DEDUPLICATION = "brokerDeduplicationEnabled"
MOST_ENTRIES = "managedLedgerMaxEntriesPerLedger"
ADD_TIMEOUT = "managedLedgerAddEntryTimeoutSeconds"
LAZY_CURSORS = "lazyCursorRecovery"
RETENTION_TIME, RETENTION_SIZE = "defaultRetentionTimeInMinutes", "defaultRetentionSizeInMB"
DELETES_INACTIVE = "brokerDeleteInactiveTopicsEnabled"
BOOKKEEPER_STORE = "bookkeeperMetadataServiceUri"

ROOM = 3
"""Entries of a ledger below which its limit is felt in the small instances, which have full ledgers of their own besides."""


@dataclass(frozen=True)
class TopicSettings:
    """Deduplication; entries of a full ledger; after how many seconds an add times out (not at all: 0 or less); whether cursors
    are recovered after the topic is served; what is retained (for good: a negative number); whether inactive topics are
    deleted; whether BookKeeper's metadata come by a session of their own; and the metadata store."""

    deduplication: Taken[bool]
    most_entries: Taken[int]
    add_timeout: Taken[int]
    lazy_cursors: Taken[bool]
    retention_time: Taken[int]
    retention_size: Taken[int]
    deletes_inactive: Taken[bool]
    bookkeeper_store: Taken[bool]
    metadata_store: Taken[str]

    @property
    def taken(self) -> tuple[Taken[Any], ...]:
        """Those that some file has, in the order in which they are reported."""
        every: tuple[Taken[Any], ...] = (
            *(self.deduplication, self.most_entries, self.add_timeout, self.lazy_cursors),
            *(self.retention_time, self.retention_size, self.deletes_inactive, self.bookkeeper_store),
        )
        return tuple(each for each in every if each.place is not None)

    @property
    def keeps_all(self) -> bool:
        """Whether no ledger is ever trimmed, as ManagedLedgerImpl.hasLedgerRetentionExpired and isLedgerRetentionOverSizeQuota
        have it: neither a time nor a size limits what is retained."""
        return self.retention_time.value < 0 and self.retention_size.value < 0

    @property
    def deletes(self) -> bool:
        """Whether a topic that nobody uses is deleted: PersistentTopic.checkGC and shouldTopicBeRetained."""
        return self.deletes_inactive.value and self.retention_time.value >= 0

    @property
    def parameters(self) -> dict[str, Value]:
        """The settings as parameters of the topic protocol."""
        store = STORES[self.metadata_store.value]
        return {
            "dedup": self.deduplication.value,
            "timeouts": self.add_timeout.value > 0,
            "lazy": self.lazy_cursors.value,
            "elsewhere": self.bookkeeper_store.value,
            "metadata_store": self.metadata_store.value,
            **({"capacity": self.most_entries.value} if self.most_entries.value < ROOM else {}),
            **({"trims": 0} if self.keeps_all else {}),
            **({} if self.deletes else {"deletions": 0}),
            **({"brokers": 1} if store.in_process else {}),
        }


def topic_settings(conf: BrokerConf) -> TopicSettings:
    """The settings of topics in a ``broker.conf``; ConfigurationError for a value that Pulsar does not take."""
    remedy = "write a number, such as {}=0, or -1 for no limit"
    separate = conf.address(BOOKKEEPER_STORE)
    return TopicSettings(
        conf.flag(DEDUPLICATION, False),
        conf.number(MOST_ENTRIES, 50_000, f"write the number of entries, such as {MOST_ENTRIES}=50000"),
        conf.number(ADD_TIMEOUT, 0, f"write seconds, such as {ADD_TIMEOUT}=120, or 0 for none", least=-LARGEST),
        conf.flag(LAZY_CURSORS, False),
        conf.number(RETENTION_TIME, 0, remedy.format(RETENTION_TIME), least=-LARGEST),
        conf.number(RETENTION_SIZE, 0, remedy.format(RETENTION_SIZE), least=-LARGEST),
        conf.flag(DELETES_INACTIVE, True),
        Taken(BOOKKEEPER_STORE, separate is not None, separate.place if separate else None),
        metadata_store(conf),
    )
