"""The walks of an exploration as tables: a row a walk and a row a step, of a sample, so that SQL asks what walks did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import functions as F

from fencepost.checks.history.tables import Tables
from fencepost.traces.exploration.run import Run
from fencepost.traces.exploration.stretches import trace_of_walk

_WALK = pa.struct([("walk", pa.int64()), ("steps", pa.int64()), ("violated", pa.string())])
_STEP = pa.struct(
    [("walk", pa.int64()), ("step", pa.int64()), ("action", pa.string()), ("changed", pa.map_(pa.string(), pa.string()))]
)
_SCHEMA = pa.schema([("walks", _WALK), ("steps", _STEP)])
_SPARKS = (
    "walks struct<walk: long, steps: long, violated: string>, "
    "steps struct<walk: long, step: long, action: string, changed: map<string,string>>"
)
_TASKS_PER_CORE = 4


def keep_walks(tables: Tables, run: Run, folder: str, count: int) -> dict[str, int]:
    """Writes about so many walks of a run, evenly spread, and their steps; returns how many rows are new.

    A walk has no time: its day is the first of 1970, and the name of the protocol is in the place of a cluster's.
    """
    spark = tables.spark
    stride = max(1, run.walks // count)
    chosen = -(-run.walks // stride)
    tasks = min(chosen, _TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    made = spark.range(0, run.walks, stride, tasks).mapInArrow(partial(_rows, run), _SPARKS).persist()
    whose = {"cluster": F.lit(run.protocol), "run": F.lit(folder), "time": F.timestamp_seconds(F.lit(0))}
    try:
        frames = {name: made.where(f"{name} IS NOT NULL").select(f"{name}.*").withColumns(whose) for name in ("walks", "steps")}
        frames["walks"] = frames["walks"].withColumn("protocol", F.lit(run.protocol))
        return tables.append(frames, {})
    finally:
        made.unpersist()


def _rows(run: Run, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    variables = run.observed().kernel.protocol.variables
    for batch in batches:
        for number in batch.column("id").to_pylist():
            trace = trace_of_walk(run, number)
            rows: list[dict[str, object]] = [{"walks": {"walk": number, "steps": len(trace.steps), "violated": trace.violated}}]
            before = trace.initial
            for place, step in enumerate(trace.steps, start=1):
                changed = {
                    variable.name: variable.domain.show(raw)
                    for variable, raw, old in zip(variables, step.state, before, strict=True)
                    if raw != old
                }
                rows.append({"steps": {"walk": number, "step": place, "action": step.action, "changed": changed}})
                before = step.state
            yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)
