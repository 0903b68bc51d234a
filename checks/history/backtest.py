"""A comparison of policies on a cluster's history: each window of it is a run, made by a task of Spark that has its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from fencepost.checks.history.happened import REPORTED
from fencepost.checks.history.reports import LOADS, NoWindow
from fencepost.checks.history.tables import Tables
from fencepost.checks.history.windows import DECISIONS, Window
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.policy.comparison.paired import Values
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.measures import measures
from fencepost.model.balance.simulation.run import Run
from fencepost.model.balance.simulation.scenario import Scenario
from fencepost.model.balance.simulation.snapshot_cluster import Unusable
from fencepost.traces.comparison.compare import Interrupted
from fencepost.traces.comparison.comparison import Comparison, Contender
from fencepost.traces.comparison.rows import ROW, SPARK_ROW, row_of
from fencepost.traces.exploration.explore import watched

SECOND = 1_000_000
FEWEST = 2
"""Moments with reports that a window needs."""
COVERED = 0.5
"""The part of a window between its first report and its last, at least."""
_HAPPENED = "run long, " + ", ".join(f"`{name}` double" for name in REPORTED)


@dataclass(frozen=True)
class History:
    """The windows of a cluster with enough reports: when each begins, in microseconds, and how many have too few."""

    tables: Tables
    cluster: str
    hours: float
    starts: tuple[int, ...]
    left_out: int

    @property
    def seconds(self) -> int:
        """The length of a window."""
        return round(self.hours * 3600)

    @property
    def minutes(self) -> int:
        """The length of a window."""
        return max(1, self.seconds // 60)

    @classmethod
    def of(cls, tables: Tables, hours: float, begin: int | None, end: int | None, cluster: str | None) -> History:
        """The windows from ``begin`` until ``end`` (seconds since 1970, a window's beginning), or all. Raises InputError."""
        loads = tables.rows("loads")
        chosen = tables.cluster_of("loads", cluster, "has no loads: ingest snapshots, load reports or an export of Prometheus")
        seconds = round(hours * 3600)
        own = _of(loads, chosen, begin, end)
        number = F.floor(F.unix_timestamp("time") / seconds)
        found = (
            own.where("bundle IS NOT NULL")
            .groupBy(number.alias("number"))
            .agg(
                F.countDistinct("time").alias("times"),
                (F.max(F.unix_timestamp("time")) - F.min(F.unix_timestamp("time"))).alias("span"),
            )
        )
        rows = found.orderBy("number").collect()
        good = [row["number"] for row in rows if row["times"] >= FEWEST and row["span"] >= COVERED * seconds]
        if not good:
            raise InputError(f"{tables.folder}: no window of {hours:g} h of {chosen} has enough reports; give another --window")
        gaps = int(rows[-1]["number"] - rows[0]["number"] + 1 - len(good))
        return cls(tables, chosen, hours, tuple(int(number) * seconds * SECOND for number in good), gaps)

    def rows(self, name: str, columns: Sequence[str], runs: range) -> DataFrame:
        """The rows of a table that are in these windows, with the number of the run."""
        starts = [(self.starts[run] // SECOND, run) for run in runs]
        windows = self.tables.spark.createDataFrame(starts, "begin long, run long")
        begin, last = starts[0][0], starts[-1][0] + self.seconds
        own = _of(self.tables.rows(name), self.cluster, begin, last)
        placed = own.withColumn("begin", F.floor(F.unix_timestamp("time") / self.seconds) * self.seconds)
        return placed.join(F.broadcast(windows), "begin").select("run", *(f"`{column}`" for column in columns))

    def window(self, run: int) -> Window:
        """One window, with its rows here."""
        loads, decisions = (
            self.rows(name, columns, range(run, run + 1)).toArrow()
            for name, columns in (("loads", LOADS), ("decisions", DECISIONS))
        )
        return _window(self.starts[run], self.minutes, loads, decisions)


def _of(rows: DataFrame, cluster: str, begin: int | None, end: int | None) -> DataFrame:
    """The rows of a cluster in a stretch of time; only its days are read."""
    own = rows.where(F.col("cluster") == cluster)
    if begin is not None:
        own = own.where((F.col("day") >= F.to_date(F.timestamp_seconds(F.lit(begin)))) & (F.unix_timestamp("time") >= begin))
    if end is not None:
        own = own.where((F.col("day") <= F.to_date(F.timestamp_seconds(F.lit(end)))) & (F.unix_timestamp("time") < end))
    return own


def _window(start: int, minutes: int, loads: pa.Table, decisions: pa.Table) -> Window:
    def plain(table: pa.Table) -> pa.Table:
        for name in {"time", "reported"} & set(table.column_names):
            times = table[name].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
            table = table.set_column(table.column_names.index(name), name, times)
        return table

    return Window(start, minutes, plain(loads), plain(decisions))


@dataclass(frozen=True)
class Backtest(Comparison):
    """A comparison whose runs are the windows of a history, in order."""

    history: History = field(kw_only=True)

    def simulated(self, run: int, contender: Contender) -> Run:
        """A window under one of the policies. Raises PolicyFault where a user's own fails."""
        world = self._worlds.get(run) or self._worlds.setdefault(run, self.history.window(run).scenario(self.scenario.name))
        return simulate(contender.manager, world, self.seed_of(run), self.hours, what_if=contender.what_if)

    @cached_property
    def _worlds(self) -> dict[int, Scenario]:
        return {}

    @classmethod
    def of(cls, history: History, contenders: tuple[Contender, ...], seed: int) -> Backtest:
        """The comparison on all windows of a history. Raises InputError."""
        first = _world(f"history of {history.cluster}", history.window(0))
        world = replace(first, shapes=(), events=())
        return cls(contenders, world, len(history.starts), history.hours, seed, history=history)

    @property
    def described(self) -> dict[str, Any]:
        """What a folder remembers of it."""
        history = self.history
        own = {"tables": str(history.tables.folder), "cluster": history.cluster, "starts": list(history.starts)}
        return {**super().described, "history": {**own, "batches": history.tables.batches}}

    def happened(self, conf: Configuration) -> dict[str, Values]:
        """The measures of what the cluster did, with a value for each window."""
        rows = self._grouped(range(self.runs), partial(_happened, self.history.starts, self.history.minutes, conf), _HAPPENED)
        by_run = {int(row["run"]): row for row in rows.collect()}
        nothing = float("nan")
        return {
            name: np.array(
                [by_run[run][name] if run in by_run and by_run[run][name] is not None else nothing for run in range(self.runs)]
            )
            for name in REPORTED
        }

    def make(
        self, comparison: Comparison, runs: range, target: Path, should_stop: Callable[[], bool], tell: Callable[[int], None]
    ) -> None:
        """Makes these runs on Spark, as ``compare`` asks for it. Raises Interrupted, SparkError."""
        task = partial(_simulated, self.plain, self.history.starts, self.history.minutes)
        rows, total = self._grouped(runs, task, SPARK_ROW), len(runs) * len(self.contenders)

        def job() -> None:
            rows.write.mode("overwrite").parquet(str(target.resolve()))

        if not watched(self.history.tables.spark, target.name, job, should_stop, lambda share: tell(int(share * total))):
            raise Interrupted

    @property
    def plain(self) -> Comparison:
        """The same without the tables, as a worker gets it."""
        return Comparison(self.contenders, self.scenario, self.runs, self.hours, self.seed)

    def _grouped(self, runs: range, task: Callable[[pa.Table, pa.Table], pa.Table], schema: str) -> DataFrame:
        """What a task makes of each window: its rows come to it from wherever Spark read them."""
        loads, decisions = (
            self.history.rows(name, columns, runs).repartition(len(runs), "run").groupBy("run")
            for name, columns in (("loads", LOADS), ("decisions", DECISIONS))
        )
        return loads.cogroup(decisions).applyInArrow(task, schema)


def _simulated(comparison: Comparison, starts: Sequence[int], minutes: int, loads: pa.Table, decisions: pa.Table) -> pa.Table:
    if not len(loads):
        return ROW.empty_table()
    run = int(loads["run"][0].as_py())
    world = _world(comparison.scenario.name, _window(starts[run], minutes, loads, decisions))

    def simulation(contender: Contender) -> Run:
        return simulate(contender.manager, world, comparison.seed_of(run), comparison.hours, what_if=contender.what_if)

    return pa.Table.from_pylist(
        [row_of(comparison, run, contender, partial(simulation, contender)) for contender in comparison.contenders], schema=ROW
    )


def _world(name: str, window: Window) -> Scenario:
    try:
        return window.scenario(name)
    except (NoWindow, Unusable) as error:
        raise InputError(f"the window from {np.datetime64(window.start, 'us')} on: {error}") from None


def _happened(starts: Sequence[int], minutes: int, conf: Configuration, loads: pa.Table, decisions: pa.Table) -> pa.Table:
    schema = pa.schema([("run", pa.int64()), *((name, pa.float64()) for name in REPORTED)])
    if not len(loads):
        return schema.empty_table()
    run = int(loads["run"][0].as_py())
    found: Mapping[str, float] = measures(_window(starts[run], minutes, loads, decisions).happened(conf)).as_dict()
    cells = {name: found[name] if found[name] == found[name] else None for name in REPORTED}
    return pa.Table.from_pylist([{"run": run, **cells}], schema=schema)
