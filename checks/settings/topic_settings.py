"""What a topic's managed ledger takes from a cluster's configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.checks.settings.broker_conf import LARGEST, BrokerConf, Taken
from fencepost.properties.configuration import Topics

DEDUPLICATION = "brokerDeduplicationEnabled"
MOST_ENTRIES = "managedLedgerMaxEntriesPerLedger"
ADD_TIMEOUT = "managedLedgerAddEntryTimeoutSeconds"
LAZY_CURSORS = "lazyCursorRecovery"
RETENTION_TIME, RETENTION_SIZE = "defaultRetentionTimeInMinutes", "defaultRetentionSizeInMB"
DELETES_INACTIVE = "brokerDeleteInactiveTopicsEnabled"
BOOKKEEPER_STORE = "bookkeeperMetadataServiceUri"

@dataclass(frozen=True)
class TopicSettings:
    """Deduplication; entries of a full ledger; after how many seconds an add times out (not at all: 0 or less); whether cursors
    are recovered after the topic is served; what is retained (for good: a negative number); whether inactive topics are
    deleted; whether BookKeeper's metadata come by a session of their own."""

    deduplication: Taken[bool]
    most_entries: Taken[int]
    add_timeout: Taken[int]
    lazy_cursors: Taken[bool]
    retention_time: Taken[int]
    retention_size: Taken[int]
    deletes_inactive: Taken[bool]
    bookkeeper_store: Taken[bool]

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
    def plain(self) -> Topics:
        """They as a protocol takes them."""
        return Topics(
            deduplication=self.deduplication.value,
            most_entries=self.most_entries.value,
            times_out=self.add_timeout.value > 0,
            lazy_cursors=self.lazy_cursors.value,
            keeps_all=self.keeps_all,
            deletes=self.deletes,
            separate_store=self.bookkeeper_store.value,
        )


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
    )
