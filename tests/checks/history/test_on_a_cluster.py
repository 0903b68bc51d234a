"""The whole on a standalone cluster of two executors, each a process: what is killed changes no byte of the result."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.checks.commands.test_explore import standalone
from tests.checks.history.conftest import Ingest
from tests.checks.history.made import log_line, openmetrics, write_snapshots
from tests.checks.history.test_ingesting import UNLOAD
from tests.checks.history.test_questions import FENCED, REFUSED
from tests.command import ROOT, Ran, ran, several

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.xdist_group("spark")]

CONF = ["driver.host=127.0.0.1", "executor.memory=512m", "sql.shuffle.partitions=2", "sql.adaptive.enabled=false"]
THERE = [*(word for setting in CONF for word in ("--spark-conf", f"spark.{setting}")), "--quiet"]
"""Executors as small as Spark takes them, and few tasks: the rows are few."""
QUICKLY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of each JVM: most of its time goes into compiling otherwise."""


def sources(folder: Path) -> Path:
    """Some hours of one cluster, which has all the rows."""
    write_snapshots(folder, 4, 64, range(0, 240, 5))
    (folder / "dump.om").write_text(openmetrics(4, 64, range(240, 260, 5)), "utf-8")
    lines = [log_line(minute, UNLOAD.format(f"a/b/0x{minute:08x}_0x{minute + 1:08x}")) for minute in range(0, 240, 7)]
    (folder / "broker-1.log").write_text("".join(lines), "utf-8")
    (folder / "bookie-1.log").write_text(log_line(1, FENCED.format(7)) + log_line(2, REFUSED.format(7)), "utf-8")
    (folder / "bookie-2.log").write_text(log_line(3, REFUSED.format(7)), "utf-8")
    return folder


def digests(tables: Path) -> list[tuple[str, str]]:
    """The bytes of each file's rows, by its folder. Spark draws the names of files, and the footer lists the encodings of a
    column in an order that is each JVM's own."""
    files = list(tables.rglob("*.parquet"))
    assert files
    return sorted((file.parent.relative_to(tables).as_posix(), _digest(file.read_bytes())) for file in files)


def _digest(content: bytes) -> str:
    footer = int.from_bytes(content[-8:-4], "little")
    assert content[-4:] == b"PAR1"
    return hashlib.sha256(content[: len(content) - 8 - footer]).hexdigest()


def executors(folder: Path) -> list[int]:
    """The processes of executors whose working folder is below this one."""
    found = list[int]()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and (
                process / "cwd"
            ).resolve().is_relative_to(folder.resolve()):
                found.append(int(process.name))
        except OSError:
            continue
    return sorted(found)


@contextmanager
def begun(folder: Path, *commands: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that runs these commands in a folder, one after the other; it ends with the block."""
    folder.mkdir(exist_ok=True)
    pipe, environment = subprocess.PIPE, {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        several(*commands), cwd=folder, env=environment, text=True, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def ended(process: subprocess.Popen[str]) -> list[Ran]:
    """What came of its commands."""
    printed, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return ran(printed)


def inside(folder: Path, pattern: str) -> set[str]:
    """The files below a folder with such names, also while others of its folders are removed."""
    return {f"{place}/{name}" for place, _, names in os.walk(folder) for name in fnmatch.filter(names, pattern)}


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits for a condition while a process runs."""
    while not condition():
        assert process.poll() is None, "it has ended before"
        time.sleep(0.05)


def questions(source: Path, master: str) -> list[list[str]]:
    """An ingestion, and what its tables are asked."""
    spark = ["--master", master, *THERE]
    compared = ["policy", "compare", "--history", "tables", "--window", "2h", "--against", "ThresholdShedder"]
    return [
        ["ingest", str(source), "--cluster-name", "prod", "--out", "tables", *spark],
        ["conform", "log", "ledger", "--tables", "tables", "--set", "entries=1", *spark],
        [*compared, "--conf", "UniformLoadShedder", "--out", "found", *spark],
    ]


def test_a_killed_driver_is_resumed_and_a_killed_executor_changes_no_byte(
    spark: SparkSession, ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fencepost.checks.history.explaining import Question, explained, keep
    from fencepost.checks.history.session import tables_at

    monkeypatch.setenv("JDK_JAVA_OPTIONS", QUICKLY)
    source, cluster, far = sources(tmp_path / "source"), tmp_path / "cluster", tmp_path / "far"
    with standalone(cluster, 2) as url:
        asked = questions(source, url)
        with begun(far, asked[0]) as driver:
            until(lambda: bool(inside(far, "*.parquet")), driver)
        assert not (far / "tables" / "batches").exists()
        before = inside(cluster, "rdd_*")
        with begun(far, *asked) as process:
            until(lambda: len(executors(cluster)) == 2 and bool(inside(cluster, "rdd_*") - before), process)
            os.kill(executors(cluster)[0], signal.SIGKILL)  # it holds rows
            ingest(source, out="tables")
            near = tables_at(spark, tmp_path / "tables")
            with near.held():
                keep(near, explained(near, Question("ledger", {"entries": 1})))
            came = ended(process)
    assert [each.returncode for each in came] == [0, 12, 20], came
    assert came[-1].stdout.startswith("UniformLoadShedder against ThresholdShedder: not judged")
    found = digests(far / "tables")
    assert found == digests(tmp_path / "tables")
    tables = {name.partition("/")[0] for name, _ in found}
    assert tables == {"loads", "decisions", "events", "files", "verdicts"}
