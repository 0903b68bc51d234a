"""Comparisons: the same worlds for all policies, the same file wherever they are made, folders that remember whose they are."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.simulation.cluster import Generated
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.measures import MEASURES, measures
from fencepost.model.balance.simulation.run import Action, Run
from fencepost.model.balance.simulation.scenario import scenario
from fencepost.model.balance.strategies import load_manager
from fencepost.model.balance.user_code import UserFunction
from fencepost.model.balance.user_policy import UserShedder
from fencepost.traces.comparison import compare as module
from fencepost.traces.comparison.compare import RUNS, compare, complete, here
from fencepost.traces.comparison.comparison import Comparison, Contender
from fencepost.traces.comparison.on_spark import on_spark
from fencepost.traces.comparison.rows import ROW, row, worker
from fencepost.traces.exploration.folder import FolderError

pytestmark = pytest.mark.xdist_group("spark")
SMALL = scenario("restart", Generated(count=4, bundles=16, namespaces=2, topics_per_bundle=4))
POLICIES = tuple(Contender(name, load_manager(defaults("4.2.4"), name)) for name in ("ThresholdShedder", "UniformLoadShedder"))
COMPARISON = Comparison(POLICIES, SMALL, runs=10, hours=1.0, seed=7)


def failing(text: str) -> Contender:
    return Contender("mine", replace(load_manager(defaults("4.2.4")), shedder=UserShedder(UserFunction("p.py", text, "shed"))))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    assert compare(here, COMPARISON, folder) == "complete"
    return folder


def test_every_run_is_there_under_every_policy(results: Path) -> None:
    table = pq.read_table(results / RUNS)
    assert table.schema.names == ROW.names == ["run", "policy", "seed", *MEASURES, "violations", "fault"]
    assert table["run"].to_pylist() == [run for run in range(10) for _ in POLICIES]
    assert table["policy"].to_pylist() == ["ThresholdShedder", "UniformLoadShedder"] * 10
    seeds = table["seed"].to_pylist()
    assert seeds[::2] == seeds[1::2] == [COMPARISON.seed_of(run) for run in range(10)]
    assert len(set(seeds)) == 10
    assert table["violations"].to_pylist() == [0] * 20
    assert table["fault"].null_count == 20


def test_a_row_is_a_run_made_alone(results: Path) -> None:
    row = pq.read_table(results / RUNS).to_pylist()[7]
    alone = measures(COMPARISON.simulated(3, POLICIES[1])).as_dict()
    assert {name: row[name] for name in MEASURES} == alone


def test_the_world_is_the_same_for_all_policies() -> None:
    one, other = (COMPARISON.simulated(0, contender) for contender in POLICIES)
    np.testing.assert_allclose(one.offered, other.offered, rtol=1e-12)
    assert one.done("stop", "start") == other.done("stop", "start")
    assert not np.allclose(COMPARISON.simulated(1, POLICIES[0]).offered, one.offered, rtol=1e-3)


def test_a_measure_that_a_run_lacks_is_null(tmp_path: Path) -> None:
    steady = replace(COMPARISON, scenario=scenario("steady", SMALL.source), runs=1, hours=0.1)
    compare(here, steady, tmp_path)
    assert pq.read_table(tmp_path / RUNS)["time_to_fill"].to_pylist() == [None, None]


@pytest.mark.deep
def test_the_file_is_the_same_wherever_it_is_made(
    spark: SparkSession, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compare(on_spark(spark), COMPARISON, tmp_path / "many") == "complete"
    monkeypatch.setattr("fencepost.traces.comparison.on_spark._TASKS_PER_CORE", 1)
    assert compare(on_spark(spark), COMPARISON, tmp_path / "few") == "complete"
    contents = [(folder / RUNS).read_bytes() for folder in (results, tmp_path / "many", tmp_path / "few")]
    assert contents[0] == contents[1] == contents[2]


def test_spark_tells_a_fault_as_a_row(spark: SparkSession, tmp_path: Path) -> None:
    comparison = replace(COMPARISON, contenders=(POLICIES[0], failing("def shed(load, conf):\n    return 1 / 0\n")), runs=2)
    assert compare(on_spark(spark), comparison, tmp_path) == "fault"
    assert pq.read_table(tmp_path / RUNS)["fault"].to_pylist() == [None, "p.py:2: ZeroDivisionError: division by zero"] * 2


def test_what_is_complete_is_kept_and_not_made_again(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = itertools.count()
    assert compare(here, COMPARISON, tmp_path, should_stop=lambda: next(asked) == 18) == "interrupted"
    assert len(pq.read_table(tmp_path / RUNS)) == len(complete(COMPARISON, tmp_path)) == 16
    before = [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("first=000000/*.parquet"))]
    assert before
    assert compare(here, COMPARISON, tmp_path) == "complete"
    assert (tmp_path / RUNS).read_bytes() == (results / RUNS).read_bytes()
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("first=000000/*.parquet"))] == before
    monkeypatch.setattr(module, "row", None)
    assert compare(here, COMPARISON, tmp_path) == "complete"


def test_what_is_complete_has_no_gap(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "copy")
    (tmp_path / "copy" / "rounds" / "first=000000" / "_files.json").unlink()
    assert len(complete(COMPARISON, tmp_path / "copy")) == 0


def test_more_runs_go_on_with_those_that_are_there(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for three, then ten, then two: no run is made twice, and the file is what ten at once, or two, would have made."""
    made_runs = list[int]()

    def noted(comparison: Comparison, run: int, contender: Contender) -> dict[str, object]:
        made_runs.append(run)
        return row(comparison, run, contender)

    monkeypatch.setattr(module, "row", noted)
    for runs in (3, 10):
        with replace(COMPARISON, runs=runs).held(tmp_path):
            assert compare(here, replace(COMPARISON, runs=runs), tmp_path) == "complete"
    assert made_runs == [run for run in range(10) for _ in POLICIES]
    assert (tmp_path / RUNS).read_bytes() == (results / RUNS).read_bytes()
    assert compare(here, replace(COMPARISON, runs=2), tmp_path) == "complete"
    assert pq.read_table(tmp_path / RUNS)["run"].to_pylist() == [0, 0, 1, 1]
    assert len(made_runs) == 20


def test_progress_comes_to_an_end(tmp_path: Path) -> None:
    reports = []
    compare(here, replace(COMPARISON, runs=2, hours=0.1), tmp_path, progress=reports.append)
    assert [(at.done, at.of) for at in reports] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert all(at.rate > 0 for at in reports)


def test_what_the_protocols_do_not_allow_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    thief = Action(1, "unload", "public/namespace-1/0x00000000_0x20000000", "broker-1:8080", "broker-1:8080")
    refused = replace(thief, source="broker-2:8080", refused="it is not there")

    def stolen(*arguments: object, **others: object) -> Run:
        run = simulate(*arguments, **others)  # type: ignore[arg-type]
        return replace(run, actions=(thief, refused))

    monkeypatch.setattr("fencepost.traces.comparison.comparison.simulate", stolen)
    assert row(COMPARISON, 0, POLICIES[0])["violations"] == 1


def test_rounds_are_all_runs_once() -> None:
    rounds = replace(COMPARISON, runs=333).rounds()
    assert [run for runs in rounds for run in runs] == list(range(333))
    assert [len(runs) for runs in rounds] == [8, 16, 32, 64, 64, 64, 64, 21]
    assert replace(COMPARISON, runs=12).rounds(3) == [range(3, 11), range(11, 12)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 8}, "seed is 7 there, 8 here"),
        ({"hours": 2.0}, "hours is 1.0 there, 2.0 here"),
        ({"contenders": POLICIES[::-1]}, "baseline is ThresholdShedder there, UniformLoadShedder here"),
        ({"contenders": (POLICIES[0], Contender("x", POLICIES[1].manager))}, "policies is ThresholdShedder, Uni.* there, Thr"),
        (
            {"contenders": (POLICIES[0], Contender(POLICIES[1].name, load_manager(defaults("2.10.1"), "UniformLoadShedder")))},
            "policies: UniformLoadShedder changed",
        ),
        ({"scenario": scenario("restart", Generated(count=5))}, "scenario: hash changed"),
    ],
)
def test_a_folder_is_of_one_comparison(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with COMPARISON.held(tmp_path), pytest.raises(FolderError, match="in use"), COMPARISON.held(tmp_path):
        pass
    with COMPARISON.held(tmp_path):
        pass
    other = replace(COMPARISON, **change)  # type: ignore[arg-type]
    with pytest.raises(FolderError, match=f"belongs to another run \\(.*{message}"), other.held(tmp_path):
        pass


def test_a_damaged_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "comparison.json").write_text("[")
    with pytest.raises(FolderError, match=r"comparison\.json is damaged"), COMPARISON.held(tmp_path):
        pass


def test_the_worker_makes_what_it_is_given() -> None:
    (batch,) = worker(replace(COMPARISON, hours=0.1))([pa.RecordBatch.from_pydict({"id": [5]})])
    assert (batch["run"].to_pylist(), batch["policy"].to_pylist()) == ([2], ["UniformLoadShedder"])
