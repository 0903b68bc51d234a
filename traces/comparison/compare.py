"""A comparison is made: round after round of runs into Parquet, each round complete or not there, here or on Spark."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from fencepost.traces.comparison.comparison import Comparison
from fencepost.traces.comparison.rows import ROW, SPARK_ROW, row, table, worker
from fencepost.traces.exploration.explore import watched
from fencepost.traces.exploration.kept import check, is_kept, keep
from fencepost.traces.files.writing import naming

Outcome = Literal["complete", "fault", "interrupted"]

RUNS = "runs.parquet"
_ROUNDS = "rounds"
_TASKS_PER_CORE = 4


@dataclass(frozen=True)
class Told:
    """How far a comparison is: simulations done of all, and how many a second in this session."""

    done: int
    of: int
    rate: float


class _Interrupted(Exception):
    """A round was given up."""


def compare(
    spark: SparkSession | None,
    comparison: Comparison,
    folder: Path,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Told], None] = lambda told: None,
) -> Outcome:
    """Makes the runs that the folder does not have yet, without Spark in this process, and gathers all in one file.

    There is no round after one in which a user's policy failed. ``should_stop`` ends the comparison with the round that is
    under way left out. Raises SparkError, FolderError if a round that was kept is damaged.
    """
    count = len(comparison.contenders)
    there = complete(comparison, folder)
    started, before = time.monotonic(), len(there)
    outcome: Outcome = "fault" if _has_fault(there) else "complete"
    for runs in comparison.rounds(before // count) if outcome == "complete" else ():
        target = _round(folder, runs.start)

        def tell(done: int) -> None:
            made = runs.start * count + done  # noqa: B023
            rate = (made - before) / max(time.monotonic() - started, 1e-9)
            progress(Told(made, comparison.runs * count, rate))

        shutil.rmtree(target, ignore_errors=True)
        try:
            make = _make_here if spark is None else _make_on(spark)
            make(comparison, runs, target, should_stop, tell)
            keep([target], comparison.text)
        except _Interrupted:
            outcome = "interrupted"
            break
        if _has_fault(_read(target)):
            outcome = "fault"
            break
    _gather(comparison, folder)
    return outcome


def complete(comparison: Comparison, folder: Path) -> pa.Table:
    """The rows of the complete rounds up to the first that is not, by run and, within it, in the order of the policies.

    Of a folder that has more runs than the comparison they are the first ones. Raises FolderError if one is damaged.
    """
    tables = [ROW.empty_table()]
    done = 0
    while done < comparison.runs and is_kept(_round(folder, done)):
        check([_round(folder, done)], comparison.text)
        tables.append(_read(_round(folder, done)))
        done += len(tables[-1]) // len(comparison.contenders)
    rows = pa.concat_tables(tables)
    rows = rows.filter(pc.less(rows["run"], comparison.runs))
    order = pc.index_in(rows["policy"], pa.array([contender.name for contender in comparison.contenders]))
    return rows.append_column("order", order).sort_by([("run", "ascending"), ("order", "ascending")]).drop_columns("order")


def _round(folder: Path, first: int) -> Path:
    """Where the round is kept that begins with a run."""
    return folder / _ROUNDS / f"first={first:06d}"


def _read(target: Path) -> pa.Table:
    return pq.read_table(target, schema=ROW, partitioning=None)


def _has_fault(rows: pa.Table) -> bool:
    return bool(rows["fault"].null_count < len(rows))


_Make = Callable[[Comparison, range, Path, Callable[[], bool], Callable[[int], None]], None]


def _make_here(
    comparison: Comparison, runs: range, target: Path, should_stop: Callable[[], bool], tell: Callable[[int], None]
) -> None:
    made = []
    for run in runs:
        for contender in comparison.contenders:
            if should_stop():
                raise _Interrupted
            made.append(row(comparison, run, contender))
            tell(len(made))
    target.mkdir(parents=True)
    with naming(target):
        pq.write_table(table(made), target / "part-0.parquet")


def _make_on(spark: SparkSession) -> _Make:
    def make(
        comparison: Comparison, runs: range, target: Path, should_stop: Callable[[], bool], tell: Callable[[int], None]
    ) -> None:
        count = len(comparison.contenders)
        tasks = min(len(runs) * count, _TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
        numbers = spark.range(runs.start * count, runs.stop * count, 1, tasks)
        rows = numbers.mapInArrow(worker(comparison), SPARK_ROW)
        place = str(target.resolve())  # the folder that Spark's JVM began in may be another one
        total = len(runs) * count

        def job() -> None:
            rows.write.mode("overwrite").parquet(place)

        if not watched(spark, target.name, job, should_stop, lambda share: tell(int(share * total))):
            raise _Interrupted

    return make


def _gather(comparison: Comparison, folder: Path) -> None:
    draft = folder / f"{RUNS}.part"
    with naming(folder / RUNS):
        pq.write_table(complete(comparison, folder), draft)
    draft.replace(folder / RUNS)
