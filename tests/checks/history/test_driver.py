"""What a driver holds on to, round after round: as much of many as of few."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.checks.history.conftest import Ingest
from tests.checks.history.made import write_snapshots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.xdist_group("spark")]

MOST = {
    "org.apache.spark.sql.execution.ui.SQLExecutionUIData": 20,
    "org.apache.spark.sql.execution.ui.SparkPlanGraphWrapper": 20,
    "org.apache.spark.status.JobDataWrapper": 50,
    "org.apache.spark.status.StageDataWrapper": 50,
}
"""How many of each Spark keeps of what has ended."""
ROUNDS = 4
A_FEW = 40
"""Objects of the JVM; a round makes more than a thousand."""


def kept(spark: SparkSession, kind: str) -> int:
    """How many of a kind are in the store of which Spark's pages are made."""
    jvm, context = spark.sparkContext._jvm, spark.sparkContext._jsc
    assert jvm is not None
    return int(context.sc().statusStore().store().count(jvm.java.lang.Class.forName(kind)))


@pytest.fixture
def objects() -> Iterator[dict[object, object]]:
    """What Python refers to in the JVM, while Python collects nothing by itself: when it does depends on all that runs here."""
    from py4j.finalizer import ThreadSafeFinalizer  # type: ignore[import-untyped]

    gc.collect()
    gc.disable()
    try:
        yield ThreadSafeFinalizer.finalizers
    finally:
        gc.enable()


def test_a_driver_keeps_no_more_of_many_rounds_than_of_few(
    spark: SparkSession, ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, objects: dict[object, object]
) -> None:
    from fencepost.checks.history import ingesting

    before = len(objects)
    monkeypatch.setattr(ingesting, "ROUND", 1)
    assert ingest(*write_snapshots(tmp_path / "source", 1, 4, range(ROUNDS))).rows["loads"] == 5 * ROUNDS
    assert len(list((tmp_path / "tables" / "batches").iterdir())) == ROUNDS
    assert len(objects) < before + A_FEW, "the JVM lets go of what a round made"
    jvm, context, session = spark.sparkContext._jvm, spark.sparkContext._jsc, spark._jsparkSession
    assert jvm is not None
    patience = time.monotonic() + 60
    while any(kept(spark, kind) > most for kind, most in MOST.items()):  # Spark takes them away on a thread of its own
        assert time.monotonic() < patience, {kind: kept(spark, kind) for kind in MOST}
        time.sleep(0.05)
    last = session.sharedState().statusStore().executionsList(kept(spark, next(iter(MOST))) - 1, 1).head().executionId()
    assert last >= 2 * MOST["org.apache.spark.sql.execution.ui.SQLExecutionUIData"], "more were run than are kept"
    assert context.getPersistentRDDs().size() == 0
    assert session.sharedState().cacheManager().isEmpty()
    listings = jvm.org.apache.spark.sql.execution.datasources.FileStatusCache.getOrCreate(session)
    assert listings.toString().startswith("org.apache.spark.sql.execution.datasources.NoopCache"), "listings are not kept"
