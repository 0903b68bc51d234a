"""Exploration on a real Spark."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from fencepost.model.kernel.search.results import Limits
from fencepost.traces.exploration import explore as module
from fencepost.traces.exploration.explore import SLICES, News, explore
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.java import SparkError
from fencepost.traces.exploration.plots import write_plots
from fencepost.traces.exploration.report import Report, report
from fencepost.traces.exploration.run import Run, VersionError
from fencepost.traces.exploration.search import search
from fencepost.traces.exploration.session import patient
from fencepost.traces.exploration.stretches import trace_of_walk, worker
from fencepost.traces.replay import replay_on
from tests.traces.exploration.searches import ALL, assert_same, by_itself, with_a_bit_flipped

pytestmark = pytest.mark.xdist_group("spark")
RUN = Run("ledger", {"entries": 1}, ("closes_at_lac",), walks=6400, steps=50, seed=1)


def without_spark(run: Run) -> list[dict[str, Any]]:
    """The rows that a run has to give."""
    batch = pa.RecordBatch.from_pydict({"id": list(range(run.slices))})
    return [row for answer in worker(run)([batch]) for row in answer.to_pylist()]


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    return without_spark(RUN)


@pytest.fixture(scope="module")
def explored(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    assert explore(spark, RUN, folder) == "complete"
    return folder


def rows(folder: Path) -> list[dict[str, Any]]:
    table = pq.read_table(folder / SLICES, partitioning=None)
    return sorted(table.to_pylist(), key=lambda row: row["slice"])


def test_a_walk_through_spark_is_that_walk(spark: SparkSession, tmp_path: Path) -> None:
    """One task, in one worker of Spark's."""
    run = replace(RUN, walks=1)
    assert explore(spark, run, tmp_path) == "complete"
    assert rows(tmp_path) == without_spark(run)


def test_the_rows_are_those_of_the_walks_whatever_the_partitions(
    spark: SparkSession, explored: Path, expected: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rows(explored) == expected
    monkeypatch.setattr(module, "_TASKS_PER_CORE", 1)
    assert explore(spark, RUN, tmp_path) == "complete"
    assert rows(tmp_path) == expected


def test_a_killed_worker_loses_and_doubles_nothing(
    spark: SparkSession, expected: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = str(tmp_path / "killed")

    def killing(run: Run) -> Any:
        honest = worker(run)

        def die_once(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, batch in enumerate(honest(batches)):
                if number == 1 and not os.path.exists(killed):  # noqa: PTH110
                    open(killed, "w").close()  # noqa: PTH123
                    os.kill(os.getpid(), signal.SIGKILL)
                yield batch

        return die_once

    monkeypatch.setattr(module, "worker", killing)
    assert explore(spark, RUN, tmp_path / "run") == "complete"
    assert Path(killed).exists()
    assert rows(tmp_path / "run") == expected


@pytest.mark.deep
def test_a_run_goes_on_where_it_was_killed(spark: SparkSession, expected: list[dict[str, Any]], tmp_path: Path) -> None:
    asked = iter([False, True])
    heard = list[News]()
    assert explore(spark, RUN, tmp_path, should_stop=lambda: next(asked, True), news=heard.append) == "interrupted"
    with pytest.raises(FolderError, match="no complete round"):
        report(spark, RUN, tmp_path)
    assert explore(spark, RUN, tmp_path) == "complete"
    first, second, third = sorted((tmp_path / SLICES).iterdir())
    (second / "_files.json").unlink()  # as if killed before the round was complete
    stamp = {part: part.stat().st_mtime_ns for folder in (first, third) for part in folder.iterdir()}
    assert explore(spark, RUN, tmp_path, news=heard.append) == "complete"
    assert rows(tmp_path) == expected
    assert stamp == {part: part.stat().st_mtime_ns for folder in (first, third) for part in folder.iterdir()}
    violations = [violation for row in expected for violation in row["violations"]]
    assert heard == [News("no_truncation", min(v["walk"] for v in violations), violations[0]["length"])]


def test_the_first_violation_stops_the_run(spark: SparkSession, tmp_path: Path, expected: list[dict[str, Any]]) -> None:
    assert explore(spark, RUN, tmp_path, stop_on_first=True) == "stopped"
    beginning = rows(tmp_path)
    assert beginning == expected[: len(beginning)]
    assert any(row["violations"] for row in beginning)
    assert len(beginning) < len(expected)


@pytest.fixture(scope="module")
def summary(spark: SparkSession, explored: Path) -> Report:
    return report(spark, RUN, explored)


def test_the_report_says_what_the_rows_say(summary: Report, expected: list[dict[str, Any]]) -> None:
    for name in ("walks", "steps", "stuck", "looked_at"):
        assert getattr(summary, name) == sum(row[name] for row in expected), name
    (violated,) = summary.violated
    violations = [v for row in expected for v in row["violations"]]
    shortest = min(violations, key=lambda v: (v["length"], v["walk"]))
    assert (violated.walk, violated.length, list(violated.actions)) == (
        shortest["walk"],
        shortest["length"],
        shortest["actions"],
    )
    assert violated.walks == sum(v["walks"] for row in expected for v in row["violating"]) == 43
    taken = {c["action"]: sum(r["coverage"][n]["taken"] for r in expected) for n, c in enumerate(expected[0]["coverage"])}
    assert {action: covered.taken for action, covered in summary.coverage.items()} == taken
    seen = {c["action"] for row in expected for c in row["coverage"] if c["enabled"]}
    assert {action for action, covered in summary.coverage.items() if covered.enabled} == seen
    states = np.concatenate(
        [np.repeat([s["fingerprint"] for s in r["states"]], [s["visits"] for s in r["states"]]) for r in expected]
    )
    _, visits = np.unique(states, return_counts=True)
    assert RUN.bits == 0
    assert (summary.distinct, summary.error) == (len(visits), 0)
    assert summary.unseen == np.count_nonzero(visits == 1) / (summary.walks + summary.steps)
    assert summary.growth[-1] == (RUN.walks, len(visits))
    assert [states for _, states in summary.growth] == sorted(states for _, states in summary.growth)


def test_the_plots_are_the_same_every_time(summary: Report, tmp_path: Path) -> None:
    one, two = (write_plots(summary, tmp_path / name) for name in ("one", "two"))
    assert [path.name for path in one] == ["states.svg", "coverage.svg"]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    text = "".join(ElementTree.parse(one[1]).getroot().itertext())
    assert "close_recovered(r0)" in text


def test_a_walk_of_the_run_replays(expected: list[dict[str, Any]]) -> None:
    violation = next(v for row in expected for v in row["violations"])
    trace = trace_of_walk(RUN, violation["walk"])
    assert trace.violated == violation["property"]
    assert [step.action for step in trace.steps] == violation["actions"]
    suite = RUN.observed().suite
    assert replay_on(trace, suite.protocol, suite).replays


def test_another_version_on_a_worker_is_refused() -> None:
    other = worker(replace(RUN, fingerprint="another"))
    with pytest.raises(VersionError, match="the model of ledger is not the one that this run began with"):
        list(other([pa.RecordBatch.from_pydict({"id": [0]})]))


@pytest.mark.deep
def test_what_a_worker_says_is_told_in_a_line(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SparkError, match=r"^\S*VersionError: the model of ledger is not the one that this run began with"):
        explore(spark, replace(RUN, fingerprint="another"), tmp_path)


@pytest.mark.parametrize(
    ("asked", "master"),
    [("local", "local[1,4]"), ("local[*]", "local[*,4]"), ("local[2]", "local[2,4]"), ("local[2,1]", "local[2,1]")],
)
def test_a_local_master_tries_again(asked: str, master: str) -> None:
    assert patient(asked) == master


def test_another_master_is_left_as_it_is() -> None:
    assert patient("spark://host:7077") == "spark://host:7077"


# --- all states


@pytest.mark.deep
def test_a_search_that_is_cut_off_finds_what_the_engine_finds(spark: SparkSession, tmp_path: Path) -> None:
    wanted, levels = by_itself(ALL), tmp_path / "levels"
    assert (wanted.outcome, wanted.distinct, wanted.depth) == ("violated", 3125, 11)
    head = Limits(depth=9)
    cut = search(spark, ALL, tmp_path, head=head, should_stop=lambda: (levels / "depth=10").exists())
    assert cut.outcome == "interrupted"
    assert cut.level_sizes == wanted.level_sizes[: len(cut.level_sizes)]
    assert len(cut.level_sizes) <= 11
    # what a kill may leave: part of a level, and the draft of what was to be told of it
    next_level = levels / f"depth={len(cut.level_sizes)}"
    shutil.copytree(levels / "depth=3", next_level, dirs_exist_ok=True)
    (tmp_path / "steps" / f"{len(cut.level_sizes):05d}.json.part").write_text("{")
    result = search(spark, ALL, tmp_path, head=head)
    assert_same(result, wanted)
    assert search(spark, ALL, tmp_path) == result


def refused(spark: SparkSession, run: Run, folder: Path, file: Path) -> None:
    """Going on with that folder is refused because of that file."""
    with pytest.raises(FolderError) as error:
        search(spark, run, folder) if run.walks == 0 else explore(spark, run, folder)
    assert str(error.value).startswith(f"{file} "), error.value


@pytest.fixture(scope="module")
def searched(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search of which the driver makes the first levels and Spark the last."""
    folder = tmp_path_factory.mktemp("searched")
    assert search(spark, ALL, folder, head=Limits(depth=10)).outcome == "violated"
    return folder


def test_a_search_in_whose_folder_anything_is_changed_does_not_go_on(spark: SparkSession, searched: Path) -> None:
    whole = search(spark, ALL, searched)
    *_, before, note = sorted((searched / "steps").iterdir())
    levels = [searched.resolve() / "levels" / f"depth={depth}" for depth in (1, 11)]  # one of the driver's, one of Spark's
    for file in [note, *(next(level.glob(pattern)) for level in levels for pattern in ("*.parquet", "_files.json"))]:
        good = file.read_bytes()
        file.write_bytes(with_a_bit_flipped(good))
        refused(spark, ALL, searched, file)
        file.write_bytes(good)
    good = note.read_bytes()
    note.write_bytes(before.read_bytes())
    refused(spark, ALL, searched, note)
    note.write_bytes(good)
    assert search(spark, ALL, searched) == whole


def test_a_round_of_walks_in_which_anything_is_changed_does_not_count(spark: SparkSession, explored: Path) -> None:
    for number in range(2):
        part = next((explored / SLICES / f"round={number:05d}").glob("*.parquet"))
        good = part.read_bytes()
        part.write_bytes(with_a_bit_flipped(good))
        refused(spark, RUN, explored, part)
        with pytest.raises(FolderError, match=r"is damaged: its content does not fit its checksum"):
            report(spark, RUN, explored)
        part.write_bytes(good)
    refused(spark, replace(RUN, seed=2), explored, explored / SLICES / "round=00000" / "_files.json")
    assert explore(spark, RUN, explored) == "complete"


@pytest.mark.deep
@pytest.mark.parametrize(
    ("parameters", "bugs"),
    [
        ({"entries": 1}, ()),
        ({"entries": 1, "losses": 1}, ()),
        ({"entries": 1, "crashes": 1}, ("fence_not_durable",)),
        ({"entries": 1}, ("confirms_with_gaps", "no_such_entry_though_stored")),
    ],
)
def test_a_search_all_on_spark_finds_what_the_engine_finds(
    spark: SparkSession, tmp_path: Path, parameters: dict[str, int], bugs: tuple[str, ...]
) -> None:
    run = Run("ledger", parameters, bugs)
    assert_same(search(spark, run, tmp_path, head=Limits(depth=0)), by_itself(run))
