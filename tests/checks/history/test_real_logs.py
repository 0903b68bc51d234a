"""The logs of real bookies and brokers, which reproductions start and kill, are ingested and explained."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fencepost.checks.conformance.reproductions.fence_forgotten import take
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.transfer_comes_back import transferred
from tests.checks.conformance.real import each_release, tools
from tests.checks.history.conftest import Ingest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fencepost.properties.registry import Value

pytestmark = pytest.mark.long


@pytest.fixture
def explained(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> Callable[..., tuple[Counter[str], list[str]]]:
    """What is told of real processes that were played with: how many events of each kind and assignments there are of a
    protocol, and the steps, with their arguments, of the run that explains all of them."""
    from fencepost.checks.history.explaining import Question, explained
    from fencepost.checks.history.tables import Tables

    def answer(play: Callable[[Stage], object], protocol: str, settings: dict[str, Value]) -> tuple[Counter[str], list[str]]:
        with Stage(tmp_path / "stage", tools(), say=print, logs=True) as stage:
            play(stage)
        came = ingest(*sorted((tmp_path / "stage").rglob("log")))
        tables = Tables(spark, tmp_path / "tables")
        told = Counter(row["event"] for row in tables.rows("events").where(f"protocol = '{protocol}'").collect())
        told += Counter(f"{row['kind']} {row['bundle']}" for row in tables.rows("decisions").collect())
        assert told, came.notes
        (verdict,) = explained(tables, Question(protocol, settings)).collect()
        assert verdict["verdict"] == "explained", verdict["why"]
        states = json.loads(verdict["trace"])["states"][1:]
        return told, [
            " ".join([s["mbt::actionTaken"], *(pick["value"] for pick in s["mbt::nondetPicks"].values())]) for s in states
        ]

    return answer


@each_release(("4.17.3", "4.18.2"))
@pytest.mark.xdist_group("real bookkeeper")
def test_the_logs_of_bookies_that_fence_are_explained(
    explained: Callable[..., tuple[Counter[str], list[str]]], release: str
) -> None:
    """In the control the bookies know the ledger: they fence it, are killed, and refuse the old writer's add."""

    def play(stage: Stage) -> None:
        assert not take(stage, release, control=True).harmed

    told, steps = explained(play, "ledger", {})
    assert told["fenced"] >= 2, told
    assert told["refused"] >= 1, told
    assert any(step.startswith(("read_lac", "fence_unheard")) for step in steps), steps


@each_release(("4.2.4", "5.0.1"))
@pytest.mark.xdist_group("real brokers")
def test_the_log_of_a_broker_whose_transfer_comes_back_is_explained(
    explained: Callable[..., tuple[Counter[str], list[str]]], release: str
) -> None:
    """The run that explains it is what was done: a transfer to a dead broker, a release, and the leader's override."""
    told, steps = explained(lambda stage: transferred(stage, release, control=False), "service_unit", {"store": "metadata"})
    assert told.pop("assign t/n/0x00000000_0xffffffff") >= 1
    assert told == {"handled": 1, "overridden": 1}
    done = ["transfer b0 b0 u0 b1", "release b0 u0", "clean_up b0 u0 b1 b0"]
    assert [step for step in steps if step in done] == done
