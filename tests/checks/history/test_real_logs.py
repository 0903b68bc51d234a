"""The logs of real bookies and brokers, which reproductions start and kill, are ingested and explained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fencepost.checks.conformance.reproductions.fence_forgotten import take
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.transfer_comes_back import transferred
from tests.checks.conformance.real import each_release, tools
from tests.checks.history.conftest import Ingest

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def taken(verdict: Row) -> list[str]:
    """The steps of the run that explains, with their arguments."""
    states = json.loads(verdict["trace"])["states"][1:]
    return [" ".join([s["mbt::actionTaken"], *(pick["value"] for pick in s["mbt::nondetPicks"].values())]) for s in states]


@pytest.mark.long
@each_release(("4.17.3", "4.18.2"))
@pytest.mark.xdist_group("real bookkeeper")
def test_the_logs_of_bookies_that_fence_are_explained(
    spark: SparkSession, ingest: Ingest, tmp_path: Path, release: str
) -> None:
    """In the control the bookies know the ledger: they fence it, are killed, and refuse the old writer's add."""
    from fencepost.checks.history.explaining import Question, explained
    from fencepost.checks.history.tables import Tables

    with Stage(tmp_path / "stage", tools(), say=print, logs=True) as stage:
        assert not take(stage, release, control=True).harmed
    came = ingest(*sorted((tmp_path / "stage").rglob("log")))
    assert came.rows["events"], came.notes
    tables = Tables(spark, tmp_path / "tables")
    counts = {row["event"]: row["count"] for row in tables.rows("events").groupBy("event").count().collect()}
    assert counts.get("fenced", 0) >= 2, counts
    assert counts.get("refused", 0) >= 1, counts
    (verdict,) = explained(tables, Question("ledger", {})).collect()
    assert verdict["verdict"] == "explained", verdict["why"]
    steps = taken(verdict)
    assert any(step.startswith(("read_lac", "fence_unheard")) for step in steps), steps


@pytest.mark.long
@each_release(("4.2.4", "5.0.1"))
@pytest.mark.xdist_group("real brokers")
def test_the_log_of_a_broker_whose_transfer_comes_back_is_explained(
    spark: SparkSession, ingest: Ingest, tmp_path: Path, release: str
) -> None:
    """The run that explains it is what was done: a transfer to a dead broker, a release, and the leader's override."""
    from fencepost.checks.history.explaining import Question, explained
    from fencepost.checks.history.tables import Tables

    with Stage(tmp_path / "stage", tools(), say=print, logs=True) as stage:
        transferred(stage, release, control=False)
    came = ingest(*sorted((tmp_path / "stage").rglob("log")))
    tables = Tables(spark, tmp_path / "tables")
    assigned = tables.rows("decisions").where("kind = 'assign'").collect()
    assert {row["bundle"] for row in assigned} == {"t/n/0x00000000_0xffffffff"}, came.notes
    events = [row["event"] for row in tables.rows("events").where("protocol = 'service_unit'").orderBy("line").collect()]
    assert events == ["handled", "overridden"], came.notes
    (verdict,) = explained(tables, Question("service_unit", {"store": "metadata"})).collect()
    assert verdict["verdict"] == "explained", verdict["why"]
    done = ["transfer b0 b0 u0 b1", "release b0 u0", "clean_up b0 u0 b1 b0"]
    assert [step for step in taken(verdict) if step in done] == done
