"""Walks of an exploration are rows of tables, the same whoever makes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_a_sample_of_walks_is_there_step_by_step(spark: SparkSession, tmp_path: Path) -> None:
    from fencepost.checks.history.tables import Tables
    from fencepost.checks.history.walks import keep_walks
    from fencepost.traces.exploration.run import Run
    from fencepost.traces.exploration.stretches import trace_of_walk

    run = Run("election", {"brokers": 2}, walks=100, steps=20, seed=3)
    tables = Tables(spark, tmp_path / "tables")
    with tables.held():
        assert keep_walks(tables, run, "found", 10)["walks"] == 10
        assert keep_walks(tables, run, "found", 10) == {"walks": 0, "steps": 0}, "they are there"
    walks = tables.rows("walks").orderBy("walk").collect()
    assert [row["walk"] for row in walks] == list(range(0, 100, 10))
    trace = trace_of_walk(run, 30)
    steps = tables.rows("steps").where("walk = 30").orderBy("step").collect()
    assert [row["action"] for row in steps] == [step.action for step in trace.steps]
    variables = run.observed().kernel.protocol.variables
    before = trace.initial
    for row, step in zip(steps, trace.steps, strict=True):
        now = {v.name: v.domain.show(raw) for v, raw, old in zip(variables, step.state, before, strict=True) if raw != old}
        assert row["changed"] == now
        before = step.state
    assert any(row["changed"] for row in steps)
