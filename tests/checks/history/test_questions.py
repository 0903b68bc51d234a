"""Questions that are asked of the tables: a backtest, explanations of ledgers, numbers for the odds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.checks.history.conftest import Ingest
from tests.checks.history.made import BEGIN, log_line, matrix, write_snapshots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fencepost.checks.history.backtest import Backtest

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def backtest(spark: SparkSession, folder: Path, *proposed: str, hours: float = 1.0) -> Backtest:
    from fencepost.checks.history.backtest import Backtest, History
    from fencepost.checks.history.tables import Tables
    from fencepost.checks.policy.comparison.contenders import contenders

    history = History.of(Tables(spark, folder / "tables"), hours, None, None, None)
    return Backtest.of(history, contenders("ThresholdShedder", proposed, None)[0], 0)


def test_each_window_is_simulated_by_a_task_as_it_is_here(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    from fencepost.model.balance.simulation.measures import measures
    from fencepost.traces.comparison.compare import compare, complete

    ingest(write_snapshots(tmp_path / "source", 3, 24, range(0, 180, 5))[0].parent)
    one = backtest(spark, tmp_path, "eager=UniformLoadShedder,loadBalancerMsgRateDifferenceShedderThreshold=1")
    assert one.runs == 3
    with one.held(tmp_path / "found"):
        assert compare(one.make, one, tmp_path / "found") == "complete"
        rows = complete(one, tmp_path / "found").to_pylist()
    assert [(row["run"], row["policy"]) for row in rows] == [
        (run, name) for run in range(3) for name in ("ThresholdShedder", "eager")
    ]
    here = measures(one.simulated(2, one.contenders[1])).as_dict()
    assert {name: rows[-1][name] for name in ("imbalance", "deviation", "unloads_per_hour")} == {
        name: here[name] for name in ("imbalance", "deviation", "unloads_per_hour")
    }
    happened = one.happened(one.contenders[0].manager.conf)
    np.testing.assert_allclose(happened["imbalance"], [row["imbalance"] for row in rows[::2]], rtol=0.05)


def test_windows_with_few_reports_are_left_out_and_a_cluster_has_to_be_named(
    spark: SparkSession, ingest: Ingest, tmp_path: Path
) -> None:
    from fencepost.checks.history.backtest import History
    from fencepost.checks.history.tables import Tables
    from fencepost.checks.inputs.input_files import InputError

    write_snapshots(tmp_path / "source", 2, 8, range(0, 60, 5))
    write_snapshots(tmp_path / "source", 2, 8, range(120, 125, 5))
    ingest(tmp_path / "source")
    tables = Tables(spark, tmp_path / "tables")
    history = History.of(tables, 1.0, None, None, None)
    assert (len(history.starts), history.left_out) == (1, 2)
    begin = int(BEGIN.timestamp())
    with pytest.raises(InputError, match="no window of 1 h of prod has enough reports"):
        History.of(tables, 1.0, begin + 3600, None, None)
    assert History.of(tables, 0.5, begin, begin + 1800, "prod").starts == (begin * 1_000_000,)
    with pytest.raises(InputError, match="has no cluster test; there is prod"):
        History.of(tables, 1.0, None, None, "test")


FENCED, REFUSED = (
    "Ledger: {}  fenced by: /10.0.0.9:41000",
    "Write attempt on fenced/deleted ledger {} by client /10.0.0.8:40000",
)


def test_each_ledger_gets_an_explanation_and_what_none_explains_is_a_trace(
    spark: SparkSession, ingest: Ingest, tmp_path: Path
) -> None:
    from fencepost.checks.history.explaining import Question, explained, keep
    from fencepost.checks.history.tables import Tables
    from fencepost.properties.protocols import PROTOCOLS
    from fencepost.traces.files.itf import read

    source = tmp_path / "source"
    source.mkdir()
    for bookie in (1, 2, 3):
        (source / f"bookie-{bookie}.log").write_text(
            log_line(bookie / 100, FENCED.format(7)) + log_line(5, REFUSED.format(7)), "utf-8"
        )
    with (source / "bookie-1.log").open("a", encoding="utf-8") as log:
        log.write(log_line(6, FENCED.format(8)) + log_line(7, REFUSED.format(8)))
    with (source / "bookie-2.log").open("a", encoding="utf-8") as log:
        log.write(log_line(8, REFUSED.format(8)))  # it never fenced ledger 8
    ingest(source)
    tables = Tables(spark, tmp_path / "tables")
    verdicts = explained(tables, Question("ledger", {"entries": 1}))
    assert keep(tables, verdicts) == 2
    rows = {row["subject"]: row for row in tables.rows("verdicts").collect()}
    assert [(rows[ledger]["verdict"], rows[ledger]["events"], rows[ledger]["explained"]) for ledger in ("7", "8")] == [
        ("explained", 6, 6),
        ("unexplained", 3, 2),
    ]
    assert rows["8"]["next"].endswith("bookie-2.log:3: refused at bookie-2")
    (tmp_path / "run.itf.json").write_text(rows["8"]["trace"], "utf-8")
    trace, _ = read(tmp_path / "run.itf.json", PROTOCOLS)
    assert "read_lac(r0, b0)" in [step.action for step in trace.steps] or "fence_unheard(r0, b0)" in [
        step.action for step in trace.steps
    ]
    assert keep(tables, explained(tables, Question("ledger", {"entries": 1}))) == 0, "they are there"
    assert keep(tables, explained(tables, Question("ledger", {"entries": 1, "changes": 0}))) == 2, "with other settings"


def test_numbers_for_the_odds_are_those_of_all_the_time(spark: SparkSession, ingest: Ingest, tmp_path: Path) -> None:
    from fencepost.checks.history.odds import measured_in
    from fencepost.checks.history.tables import Tables
    from fencepost.checks.inputs.input_files import InputError

    source, begin = tmp_path / "source", BEGIN.timestamp()
    source.mkdir()
    labels = {"instance": "bookie-1:8000", "success": "true"}
    counts = [(begin, 100.0), (begin + 60, 150.0), (begin + 120, 10.0)]  # the process was restarted: 50 and 10 adds
    sums = [(begin, 5000.0), (begin + 60, 6000.0), (begin + 120, 200.0)]  # 1,000 ms and 200 ms
    for name, values in (("count", counts), ("sum", sums)):
        (source / f"{name}.json").write_text(matrix(f"bookie_journal_JOURNAL_ADD_ENTRY_{name}", labels, values), "utf-8")
    topic = {"topic": "persistent://a/b/c", "instance": "broker-1:8080"}
    (source / "rate.json").write_text(matrix("pulsar_rate_in", topic, [(begin, 10.0), (begin + 60, 30.0)]), "utf-8")
    ingest(source)
    tables = Tables(spark, tmp_path / "tables")
    found = {each.name: each for each in measured_in(tables).numbers}
    assert found["journal"].value == pytest.approx(1200 / 60)
    assert found["messages"].value == pytest.approx(20.0)
    assert json.dumps(found["journal"].source) == '"bookie_journal_JOURNAL_ADD_ENTRY of bookie-1:8000"'
    other = {**labels, "cluster": "other"}
    (source / "other.json").write_text(matrix("bookie_journal_JOURNAL_ADD_ENTRY_count", other, [(begin + 30, 7.0)]), "utf-8")
    ingest(source)
    with pytest.raises(InputError, match="has the clusters other, prod: name one with --cluster-name"):
        measured_in(tables)
    assert {each.name: each for each in measured_in(tables, "prod").numbers}["journal"].value == pytest.approx(1200 / 60)
