"""A folder that ``check --cluster --save`` wrote is rows of the table settings, as often as it was written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fencepost.checks.commands.check.cluster import with_cluster
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.inputs.input_files import Inputs
from tests.checks.cluster.test_running import PLAIN, RUNTIME, broker
from tests.checks.history.conftest import Ingest
from tests.checks.policy.fake_broker import FakeBroker, fake_broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["broker"]  # a fixture
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

MONDAY, DAY = 1_793_577_600, 86_400


def save(broker: FakeBroker, folder: Path, day: int) -> None:
    """What the command writes, as on a day."""
    with fake_broker() as bookie:
        bookie.answers["/api/v1/config/server_config"] = {"journalSyncData": "false", "metadataServiceUri": "zk://zk-1/ledgers"}
        with_cluster(CheckRequest(cluster=(broker.url,), bookie=(bookie.url,), save=folder), Inputs())
    for path in folder.rglob("*.json"):
        os.utime(path, (MONDAY + day * DAY,) * 2)


def test_what_a_cluster_said_day_by_day_is_its_settings(
    spark: SparkSession, ingest: Ingest, tmp_path: Path, broker: FakeBroker
) -> None:
    from fencepost.checks.history.tables import Tables

    folder = tmp_path / "said"
    quota = "managedLedgerDefaultAckQuorum"
    for day, value in enumerate(("2", "1", "2")):
        broker.answers["brokers/configuration/runtime"] = RUNTIME | {quota: value}
        save(broker, folder, day)
        came = ingest(folder)
        assert (came.read, came.notes) == (5, []), "the third day is not the first one"
        assert came.rows["quarantine"] == 0
        assert ingest(folder).read == 0
    tables = Tables(spark, tmp_path / "tables")
    tables.view()
    changes = f"SELECT name, value FROM settings WHERE setting = '{quota}' ORDER BY time"
    assert [tuple(row) for row in spark.sql(changes).collect()] == [(broker.address, value) for value in ("2", "1", "2")]
    last = tables.rows("settings").where("day = '2026-11-04'").collect()
    said = {(row["kind"], row["setting"]): row["value"] for row in last if row["name"] != "acme/orders"}
    assert said["cluster", "version"] == "5.0.1"
    assert said["cluster", "brokers"] == '["broker-1:8080", "broker-2:8080"]'
    assert said["bookie", "journalSyncData"] == "false"
    assert said["namespace", "bundles"] == '{"numBundles": 4}'
    assert {setting for kind, setting in said if kind == "namespace"} == set(PLAIN)
    assert said["broker", "brokerClientTlsKeyStorePassword"] == ""
    given = {setting for setting, value in RUNTIME.items() if value is not None}
    assert {setting for kind, setting in said if kind == "broker"} == given
    assert {row["name"] for row in last if row["kind"] == "namespace"} == {"acme/orders", "public/default"}
