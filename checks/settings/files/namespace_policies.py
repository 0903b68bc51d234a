"""The policies of a namespace, as ``pulsar-admin namespaces policies`` prints them, as the settings that they override.

Names are those of Policies in pulsar-client-admin-api 4.2.4; what a policy says counts before the broker's own setting
(AbstractTopic.updateTopicPolicyByNamespacePolicy). A policy without a setting keeps its own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from fencepost.checks.settings.files.properties_file import Setting

MARKS = ("replication_clusters", "backlog_quota_map", "persistence", "message_ttl_in_seconds", "bundles")
"""Keys by which policies are recognised: two of them."""

INSTEAD_OF: Mapping[str, str] = {
    "persistence.bookkeeperEnsemble": "managedLedgerDefaultEnsembleSize",
    "persistence.bookkeeperWriteQuorum": "managedLedgerDefaultWriteQuorum",
    "persistence.bookkeeperAckQuorum": "managedLedgerDefaultAckQuorum",
    "deduplicationEnabled": "brokerDeduplicationEnabled",
    "message_ttl_in_seconds": "ttlDurationDefaultInSeconds",
    "subscription_expiration_time_minutes": "subscriptionExpirationTimeMinutes",
    "retention_policies.retentionTimeInMinutes": "defaultRetentionTimeInMinutes",
    "retention_policies.retentionSizeInMB": "defaultRetentionSizeInMB",
    "backlog_quota_map.destination_storage.limitSize": "backlogQuotaDefaultLimitBytes",
    "backlog_quota_map.destination_storage.limit": "backlogQuotaDefaultLimitBytes",
    "backlog_quota_map.destination_storage.policy": "backlogQuotaDefaultRetentionPolicy",
    "backlog_quota_map.message_age.limitTime": "backlogQuotaDefaultLimitSecond",
    "backlog_quota_map.message_age.policy": "backlogQuotaDefaultRetentionPolicy",
    "inactive_topic_policies.inactiveTopicDeleteMode": "brokerDeleteInactiveTopicsMode",
    "inactive_topic_policies.deleteWhileInactive": "brokerDeleteInactiveTopicsEnabled",
    "autoTopicCreationOverride.allowAutoTopicCreation": "allowAutoTopicCreation",
    "compaction_threshold": "brokerServiceCompactionThresholdInBytes",
    "delayed_delivery_policies.active": "delayedDeliveryEnabled",
    "offload_policies.managedLedgerOffloadDriver": "managedLedgerOffloadDriver",
    "entryFilters.entryFilterNames": "entryFilterNames",
    "offload_threshold": "offload_threshold",
    "replication_clusters": "replication_clusters",
}
"""The setting of the brokers in whose place a policy counts, by the path of the policy."""

OF_LEDGERS = "persistence."
NULL = "tag:yaml.org,2002:null"


def is_policies(node: yaml.Node) -> bool:
    """Whether a document is the policies of a namespace."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    keys = {key.value for key, _ in pairs if isinstance(key, yaml.ScalarNode)}
    return len(keys & set(MARKS)) >= 2 and "kind" not in keys


def settings_of(node: yaml.Node) -> Iterator[Setting]:
    """The settings that the policies override, with their lines. Ledgers of size 0 are those of the broker."""
    for path, key in INSTEAD_OF.items():
        value: yaml.Node | None = node
        for name in path.split("."):
            pairs = value.value if isinstance(value, yaml.MappingNode) else ()
            value = next((child for each, child in pairs if each.value == name), None)
        if value is None or (isinstance(value, yaml.ScalarNode) and value.tag == NULL):
            continue
        text = ",".join(part.value for part in value.value) if isinstance(value, yaml.SequenceNode) else str(value.value)
        if not (path.startswith(OF_LEDGERS) and text == "0"):
            yield Setting(key, text, int(value.start_mark.line) + 1)
