"""Measures a history: rows that are ingested a second by one, two and four executors, each a process of one core; the memory of
the driver for a small and a large ingestion; and windows that are compared a second.

``make bench`` runs both parts, small. ``python tests/bench/history.py ingestion 144`` reads 144 snapshots with each number of
executors and four times as many, two days, with two; ``python tests/bench/history.py backtest 120`` compares 120 windows.
``python tests/bench/history.py month 882`` reads a tenth of a month with two executors, and says before each batch what the
driver has. ``month 8640 FOLDER`` reads all of it; its 20 GB stay in the folder, with the tables, for the next measurement.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench import show
from tests.checks.history.made import BEGIN, bundles_of, grows, snapshots

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BROKERS, BUNDLES = 200, 10_000
EXECUTORS = (1, 2, 4)
HEADINGS = [
    "ingestion, 200 brokers and 10,000 bundles",
    "snapshots",
    "rows",
    "s",
    "rows a second",
    "driver, MiB, in the end, at most",
]
OF_WINDOWS = ["backtest, 50 brokers and 3,000 bundles", "windows of 6 h", "policies", "s", "s a window and policy"]
POLICIES = ("UniformLoadShedder", "AvgShedder", "loadBalancerBrokerThresholdShedderPercentage=5")


def main(part: str = "", many: str = "0", kept: str = "") -> None:
    """Prints the rows of a part, or of both; what it makes for that is kept in a folder that is named."""
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None:
        print("history: not measured, pyspark is not installed")
        return
    os.environ["SPARK_HOME"] = str(Path(spark.origin).parent)  # from where Spark starts executors
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    count = int(many)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(kept or made)
        if part in ("", "ingestion"):
            amounts = [(executors, count or 16) for executors in EXECUTORS] + [(2, 4 * (count or 16))]
            show([HEADINGS, *(told(alone(ingested, folder, *amount)) for amount in amounts)])
        if part == "month":
            show([HEADINGS, alone(ingested, folder, 2, count or 882)])
        if part in ("", "backtest"):
            show([OF_WINDOWS, alone(backtested, folder, count or 2)])


def alone(measure: Callable[..., list[str]], *given: Path | int) -> list[str]:
    """A measurement in a process of its own: a JVM keeps the Java that its executors are started with."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measure, *given).result()


def told(row: list[str]) -> list[str]:
    """The row, which standard error has at once: the table comes when all of it is measured."""
    print("#", ", ".join(row), file=sys.stderr, flush=True)
    return row


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
        noted = set[int]()

        def progress(batch: int, of: int, share: float) -> None:
            if batch not in noted:
                noted.add(batch)
                told([f"batch {batch} of {of}", f"{time.perf_counter() - begin:.0f} s", f"driver {_memory(spark):.0f} MiB"])

        begin = time.perf_counter()
        with tables.held(), watched(spark) as memory:
            came = ingest(tables, Sources(spark, [str(source)]), Reader("prod"), progress)
        seconds = time.perf_counter() - begin
        memory.append(_memory(spark))
    rows, driver = came.rows["loads"], f"{memory[-1]:.0f}, {max(memory):.0f}"
    return [f"{executors} executors", f"{count}", f"{rows:,}", f"{seconds:.0f}", f"{rows / seconds:,.0f}", driver]


@contextmanager
def watched(spark: SparkSession) -> Iterator[list[float]]:
    """The memory of the driver each ten seconds, as long as this lasts."""
    found, done = list[float](), threading.Event()

    def watch() -> None:
        while not done.wait(10):
            found.append(_memory(spark))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


def backtested(folder: Path, windows: int) -> list[str]:
    """A row for so many windows, with the reading of their rows and what happened in them."""
    from fencepost.checks.history.backtest import Backtest, History
    from fencepost.checks.history.session import history_session, tables_at
    from fencepost.checks.policy.comparison.contenders import contenders
    from fencepost.traces.comparison.compare import compare

    with history_session("local[2]") as spark:
        tables = tables_at(spark, folder / "tables-windows")
        with tables.held():
            tables.append({"loads": loads(spark, 50, 3000, 72 * windows)}, {"loads": max(1, windows // 4)})
        begin = time.perf_counter()
        one = Backtest.of(History.of(tables, 6.0, None, None, None), contenders("ThresholdShedder", POLICIES, None)[0], 0)
        with one.held(folder / "found"):
            compare(one.make, one, folder / "found")
        one.happened(one.contenders[0].manager.conf)
        seconds = time.perf_counter() - begin
    policies = len(one.contenders)
    return ["two cores", f"{one.runs}", f"{policies}", f"{seconds:.0f}", f"{seconds / one.runs / policies:.2f}"]


def loads(spark: SparkSession, brokers: int, bundles: int, reports: int) -> DataFrame:
    """The rows of so many reports, five minutes apart, made by Spark: each bundle has its weight, some grow in each day."""
    from pyspark.sql.functions import broadcast, expr

    names, draw = bundles_of(bundles), random.Random(0)
    rows = [(place % brokers, name, 400 * draw.uniform(0.5, 1.5), "ns-0" in name) for place, name in enumerate(names)]
    own = spark.createDataFrame(rows, "place int, bundle string, weight double, grows boolean")
    moments = spark.range(0, reports, 1, max(2, reports // 288)).selectExpr(
        f"timestamp_seconds({int(BEGIN.timestamp())} + 300 * id) AS time", "1 + 0.5 * (id % 288) / 288 AS wave"
    )
    of_bundles = moments.crossJoin(broadcast(own)).selectExpr(
        "time", "place", "bundle", "IF(grows, wave, 1) * weight AS rate", "CAST(NULL AS double) AS cpu"
    )
    totals = own.groupBy("place").agg(expr("sum(IF(grows, weight, 0)) AS growing"), expr("sum(IF(grows, 0, weight)) AS steady"))
    of_brokers = moments.crossJoin(broadcast(totals)).selectExpr(
        "time",
        "place",
        "CAST(NULL AS string) AS bundle",
        "growing * wave + steady AS rate",
        "(growing * wave + steady) / 600 AS cpu",
    )
    rates = [f"{factor} * rate AS {name}" for factor, name in ((1, "msg_rate_in"), (1, "msg_rate_out"))]
    rates += [f"1000 * rate AS {name}" for name in ("msg_throughput_in", "msg_throughput_out")]
    return of_bundles.unionByName(of_brokers).selectExpr(
        "'prod' AS cluster", "time", "concat('broker-', place + 1, ':8080') AS broker", "bundle", *rates,
        "4L AS topics", "4L AS producers", "4L AS consumers", "cpu",
    )  # fmt: skip


def write(folder: Path, brokers: int, bundles: int, minutes: range) -> None:
    """A snapshot for each of these minutes, if they are not there."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    steady = dict[str, str]()
    for moment, snapshot in snapshots(brokers, bundles, minutes):
        (folder / f"{moment:%dT%H%M}.json").write_text(_text(snapshot, steady), encoding="utf-8")


def _text(snapshot: Mapping[str, Any], steady: dict[str, str]) -> str:
    """A snapshot as JSON. Each broker has bundles that grow, and then others, whose text is made once: it is most of it."""
    reports = []
    for broker, report in snapshot["brokers"].items():
        stats = report["lastStats"]
        if broker not in steady:
            steady[broker] = json.dumps({name: each for name, each in stats.items() if not grows(name)})[1:]
        growing = json.dumps({name: each for name, each in stats.items() if grows(name)})[:-1]
        rest = json.dumps({**report, "lastStats": {}})
        reports.append(f'"{broker}": ' + rest.replace('"lastStats": {}', f'"lastStats": {growing}, {steady[broker]}'))
    return f'{{"brokers": {{{", ".join(reports)}}}, "now": {snapshot["now"]}}}'


def _memory(spark: object) -> float:
    """The heap that the driver's JVM uses after a collection, and what this process has, in MiB."""
    runtime = spark.sparkContext._jvm.java.lang.Runtime.getRuntime()  # type: ignore[attr-defined]
    runtime.gc()
    heap = (runtime.totalMemory() - runtime.freeMemory()) / 2**20
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return float(heap) + pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main(*sys.argv[1:])
