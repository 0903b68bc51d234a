"""Measures a history: rows that are ingested a second by one, two and four executors, each a process of one core; the memory of
the driver for a small and a large ingestion; and windows that are simulated a second.

Run by ``make bench``. ``python tests/bench/history.py SNAPSHOTS WINDOWS`` takes more of both. Without pyspark a line says so.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench import show
from tests.checks.history.made import snapshots

BROKERS, BUNDLES = 200, 10_000
EXECUTORS = (1, 2, 4)
HEADINGS = ["ingestion, 200 brokers and 10,000 bundles", "snapshots", "rows", "s", "rows a second", "driver, MiB"]
OF_WINDOWS = ["backtest, 50 brokers and 3,000 bundles", "windows of 6 h", "policies", "s", "s a window and policy"]
POLICIES = ("UniformLoadShedder", "AvgShedder", "loadBalancerBrokerThresholdShedderPercentage=5")


def main(count: int = 16, windows: int = 2) -> None:
    """Prints the rows."""
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None:
        print("history: not measured, pyspark is not installed")
        return
    os.environ["SPARK_HOME"] = str(Path(spark.origin).parent)  # from where Spark starts executors
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        measured = [alone(ingested, Path(folder), executors, count) for executors in EXECUTORS]
        measured.append(alone(ingested, Path(folder), 2, 4 * count))
        show([HEADINGS, *measured])
        show([OF_WINDOWS, alone(backtested, Path(folder), windows)])


def alone(measure: Callable[..., list[str]], *given: Path | int) -> list[str]:
    """A measurement in a process of its own: a JVM keeps the Java that its executors are started with."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measure, *given).result()


def ingested(folder: Path, executors: int, count: int) -> list[str]:
    """A row for so many snapshots, without the start of Spark."""
    from fencepost.checks.history.ingesting import Reader, ingest
    from fencepost.checks.history.session import history_session, tables_at
    from fencepost.checks.history.sources import Sources

    source = folder / f"source-{count}"
    write(source, BROKERS, BUNDLES, range(0, 5 * count, 5))
    with history_session(f"local-cluster[{executors},1,1024]", ["spark.executor.memory=1g"]) as spark:
        spark.range(executors).repartition(executors).count()
        tables = tables_at(spark, folder / f"tables-{executors}-{count}")
        begin = time.perf_counter()
        with tables.held():
            came = ingest(tables, Sources(spark, [str(source)]), Reader("prod"))
        seconds = time.perf_counter() - begin
        memory = _memory(spark)
    rows = came.rows["loads"]
    return [f"{executors} executors", f"{count}", f"{rows:,}", f"{seconds:.0f}", f"{rows / seconds:,.0f}", f"{memory:.0f}"]


def backtested(folder: Path, windows: int) -> list[str]:
    """A row for so many windows, with the reading of their rows."""
    from fencepost.checks.history.backtest import Backtest, History
    from fencepost.checks.history.ingesting import Reader, ingest
    from fencepost.checks.history.session import history_session, tables_at
    from fencepost.checks.history.sources import Sources
    from fencepost.checks.policy.comparison.contenders import contenders
    from fencepost.traces.comparison.compare import compare

    write(folder / "windows", 50, 3000, range(0, 360 * windows, 5))
    with history_session("local[2]") as spark:
        tables = tables_at(spark, folder / "tables-windows")
        with tables.held():
            ingest(tables, Sources(spark, [str(folder / "windows")]), Reader("prod"))
        begin = time.perf_counter()
        one = Backtest.of(History.of(tables, 6.0, None, None, None), contenders("ThresholdShedder", POLICIES, None)[0], 0)
        with one.held(folder / "found"):
            compare(one.make, one, folder / "found")
        seconds = time.perf_counter() - begin
    policies = len(one.contenders)
    return ["two cores", f"{one.runs}", f"{policies}", f"{seconds:.0f}", f"{seconds / one.runs / policies:.2f}"]


def write(folder: Path, brokers: int, bundles: int, minutes: range) -> None:
    """A snapshot for each of these minutes."""
    folder.mkdir(exist_ok=True)
    for moment, snapshot in snapshots(brokers, bundles, minutes):
        (folder / f"{moment:%dT%H%M}.json").write_text(json.dumps(snapshot), encoding="utf-8")


def _memory(spark: object) -> float:
    """The heap that the driver's JVM uses after a collection, and what this process has, in MiB."""
    runtime = spark.sparkContext._jvm.java.lang.Runtime.getRuntime()  # type: ignore[attr-defined]
    runtime.gc()
    heap = (runtime.totalMemory() - runtime.freeMemory()) / 2**20
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return float(heap) + pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
