"""What settings order, and what they switch on that no model has: each with its file and line, and all of it on one page."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.checks.settings.switches import NOT_MODELLED, ORDERS, PAGE
from tests.docs.switches_table import table
from tests.docs.tables import marked

ROOT = Path(__file__).parents[3]
QUORUMS = "managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\nmanagedLedgerDefaultAckQuorum=2\n"
ON = {
    "ttl": "ttlDurationDefaultInSeconds=3600",
    "evicting_quota": "backlogQuotaDefaultRetentionPolicy=consumer_backlog_eviction\nbacklogQuotaDefaultLimitGB=1.5",
    "expiry_of_subscriptions": "subscriptionExpirationTimeMinutes=60",
    "skipping": "autoSkipNonRecoverableData=true",
    "entry_filters": "entryFilterNames=jms",
    "deletion_when_caught_up": "brokerDeleteInactiveTopicsMode=delete_when_subscriptions_caught_up",
    "retention": "defaultRetentionTimeInMinutes=10",
    "forgotten_producers": "brokerDeduplicationEnabled=true",
    "rewound_cursors": "managedLedgerForceRecovery=true",
    "whole_batches": "acknowledgmentAtBatchIndexLevelEnabled=false",
    "offload": "managedLedgerOffloadDriver=aws-s3",
    "transactions": "transactionCoordinatorEnabled=true",
    "compaction": "brokerServiceCompactionThresholdInBytes=1",
    "delayed delivery": "delayedDeliveryEnabled=true",
    "racks": "bookkeeperClientRackawarePolicyEnabled=true",
    "regions": "bookkeeperClientRegionawarePolicyEnabled=true",
    "isolation groups": "bookkeeperClientIsolationGroups=a",
    "bookie affinity of namespaces": "strictBookieAffinityEnabled=true",
    "policies that are waited for without end": "topicPoliciesCacheInitTimeoutSeconds=0",
    "entry filters and interceptors": "brokerInterceptors=audit",
    "other protocols and storages": "messagingProtocols=kafka",
    "functions": "functionsWorkerEnabled=true",
}
"""Lines of a broker.conf that switch on each feature."""

OFF = (
    *("ttlDurationDefaultInSeconds=0", "subscriptionExpirationTimeMinutes=0", "autoSkipNonRecoverableData=false"),
    *("backlogQuotaDefaultRetentionPolicy=consumer_backlog_eviction", "defaultRetentionTimeInMinutes=-1"),
    "backlogQuotaDefaultRetentionPolicy=producer_request_hold\nbacklogQuotaDefaultLimitBytes=100",
    "brokerDeleteInactiveTopicsMode=delete_when_subscriptions_caught_up\nbrokerDeleteInactiveTopicsEnabled=false",
    "brokerDeleteInactiveTopicsMode=delete_when_subscriptions_caught_up\nallowAutoTopicCreation=false",
    *("managedLedgerOffloadDriver=", "messagingProtocols=", "brokerDeduplicationProducerInactivityTimeoutMinutes=360"),
    *("topicPoliciesCacheInitTimeoutSeconds=60", "topicPoliciesCacheInitTimeoutSeconds="),
    "acknowledgmentAtBatchIndexLevelEnabled=true",
    *("transactionCoordinatorEnabled=no", "delayedDeliveryEnabled=false", "ttlDurationDefaultInSeconds=-5"),
)


def test_the_page_has_the_tables() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    made = {"features": table(NOT_MODELLED), "orders": table(ORDERS)}
    assert marked(page) == made, "make it again: .venv/bin/python tests/docs/refresh.py docs/explanation/not-modelled.md"


@pytest.mark.parametrize("name", ON)
def test_a_setting_is_found_with_its_line(tmp_path: Path, name: str) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text(QUORUMS + ON[name])
    settings = read_settings(conf)
    (found,) = (each for each in (*settings.orders, *settings.not_modelled) if each.feature.name == name)
    assert all(f"{line} ({conf}:{number})" in found.settings for number, line in enumerate(ON[name].splitlines(), 4))
    assert "{" not in found.says


@pytest.mark.parametrize("lines", OFF)
def test_what_is_off_is_not_named(tmp_path: Path, lines: str) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text(QUORUMS + lines)
    settings = read_settings(conf)
    assert not settings.orders
    assert not settings.not_modelled


def test_every_switch_of_a_broker_is_tried() -> None:
    of_brokers = {each.name for each in (*ORDERS, *NOT_MODELLED) if each.needs and not getattr(each, "of_bookies", False)}
    assert of_brokers == ON.keys()


def test_what_bookies_collect_is_theirs(tmp_path: Path) -> None:
    conf, bookies = tmp_path / "broker.conf", tmp_path / "bookkeeper.conf"
    conf.write_text(QUORUMS)
    bookies.write_text("journalDirectory=journal\nledgerDirectories=ledgers\nminorCompactionThreshold=0.2\n")
    (found,) = read_settings(conf, bookies).not_modelled
    assert found.feature.name == "collection of entry logs"
    assert found.settings == f"minorCompactionThreshold=0.2 ({bookies}:3)"
