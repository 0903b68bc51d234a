"""The logs of real bookies, which a reproduction starts and kills, are ingested and explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fencepost.checks.conformance.reproductions.fence_forgotten import take
from fencepost.checks.conformance.reproductions.stage import Stage
from tests.checks.conformance.real import tools
from tests.checks.history.conftest import Ingest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.long
@pytest.mark.xdist_group("real bookkeeper")
def test_the_logs_of_bookies_that_fence_are_explained(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    """In the control the bookies know the ledger: they fence it, are killed, and refuse the old writer's add."""
    from fencepost.checks.history.explaining import Question, explained
    from fencepost.checks.history.tables import Tables

    with Stage(tmp_path / "stage", tools(), say=print, logs=True) as stage:
        assert not take(stage, "4.17.3", control=True).harmed
    came = ingest(*sorted((tmp_path / "stage").rglob("log")))
    assert came.rows["events"], came.notes
    tables = Tables(spark, tmp_path / "tables")
    counts = {row["event"]: row["count"] for row in tables.rows("events").groupBy("event").count().collect()}
    assert counts.get("fenced", 0) >= 2, counts
    assert counts.get("refused", 0) >= 1, counts
    (verdict,) = explained(tables, Question("ledger", {})).collect()
    assert verdict["verdict"] == "explained", verdict["why"]
