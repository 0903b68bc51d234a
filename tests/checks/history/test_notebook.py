"""The eleven questions of the notebook are answered from tables that were ingested."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.checks.history.conftest import Ingest
from tests.checks.history.made import BEGIN, log_line, snapshots
from tests.checks.history.test_ingesting import CHANNEL, UNLOAD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTEBOOK = Path(__file__).resolve().parents[3] / "docs" / "examples" / "history.sql"
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def questions() -> dict[int, str]:
    """The queries by their numbers."""
    parts = re.split(r"^-- (\d+)\. .*$", NOTEBOOK.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {int(number): query.strip().removesuffix(";") for number, query in zip(parts[::2], parts[1::2], strict=True)}


def test_the_questions_have_answers(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    from fencepost.checks.history.tables import Tables

    source = tmp_path / "source"
    source.mkdir()
    for moment, snapshot in snapshots(2, 8, range(0, 3000, 60)):
        (source / f"{moment:%dT%H%M}.json").write_text(json.dumps(snapshot), "utf-8")
    bundle = "public/ns-0/0x00000000_0x80000000"
    back = UNLOAD.format(bundle).replace("broker-1", "x").replace("broker-2", "broker-1").replace("x:", "broker-2:")
    lines = [log_line(60, UNLOAD.format(bundle)), log_line(90, back), log_line(100, "a stranger"), '{"message": 3}\n']
    lines += [
        log_line(120, "Ledger: 7  fenced by: /a:1"),
        log_line(121, "Write attempt on fenced/deleted ledger 7 by client /b:1"),
    ]
    handled = [
        CHANNEL.format(f"broker-{n}:8080", "Owned", bundle, 3).replace("dstBroker=broker-2", f"dstBroker=broker-{n}")
        for n in (1, 2)
    ]
    (source / "broker-1.log").write_text("".join([*lines, *(log_line(130, each) for each in handled)]), "utf-8")
    for day, version in enumerate(("4.2.4", "5.0.1")):
        (source / f"{day}").mkdir()
        (source / f"{day}" / "cluster.json").write_text(json.dumps({"version": version, "brokers": []}), "utf-8")
        os.utime(source / f"{day}" / "cluster.json", (BEGIN.timestamp() + day,) * 2)
    ingest(source)
    Tables(spark, tmp_path / "tables").view()
    answers = {number: [tuple(row) for row in spark.sql(query).collect()] for number, query in questions().items()}
    assert sorted(answers) == list(range(1, 12))
    assert [row[0] for row in answers[1]] == ["broker-1:8080", "broker-2:8080"]
    assert len(answers[2]) == 50
    assert all(row[1] >= 1 for row in answers[2])
    assert len(answers[3]) == 8
    assert answers[4][0][0] == "public/ns-0", "it grows by the day"
    assert answers[5] == [(bundle, 2, ["ThresholdShedder"])]
    assert [row[:2] for row in answers[6]] == [(bundle, "broker-1:8080")]
    assert [row[1] for row in answers[7]] == [bundle], "there is a report of the minute of the first only"
    assert answers[8] == [(bundle, "3", 2)]
    assert [(row[0], row[1].total_seconds()) for row in answers[9]] == [("7", 60.0)]
    assert [row[1:] for row in answers[11]] == [("cluster", "prod", "version", "4.2.4", "5.0.1")]
    assert [row[:3] for row in answers[10]] == [("is no line of a log: has no message", 1, 1)]
