"""The whole on a standalone cluster of two executors, each a process: what is killed changes no byte of the result."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.checks.commands.test_explore import standalone
from tests.checks.history.made import log_line, openmetrics, write_snapshots
from tests.checks.history.test_ingesting import UNLOAD
from tests.checks.history.test_questions import FENCED, REFUSED

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.xdist_group("spark")]

SETTINGS = ["--spark-conf", "spark.driver.host=127.0.0.1", "--spark-conf", "spark.executor.memory=512m"]
PYTHON = [sys.executable, "-m", "fencepost"]
ENVIRONMENT = {**os.environ, "PYSPARK_PYTHON": sys.executable}


def fencepost(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command, as it runs by itself."""
    return subprocess.run([*PYTHON, *words], env=ENVIRONMENT, cwd=folder, text=True, capture_output=True)


def sources(folder: Path) -> Path:
    """A day of one cluster, which has all the rows, in files that are read for some seconds."""
    write_snapshots(folder, 6, 240, range(0, 1440, 5))
    (folder / "dump.om").write_text(openmetrics(6, 240, range(1440, 1560, 5)), "utf-8")
    lines = [log_line(minute, UNLOAD.format(f"a/b/0x{minute:08x}_0x{minute + 1:08x}")) for minute in range(0, 1440, 7)]
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


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits for a condition while a process runs."""
    while not condition():
        assert process.poll() is None, "it has ended before"
        time.sleep(0.05)


def test_a_killed_executor_changes_no_byte_and_a_killed_driver_is_resumed(tmp_path: Path) -> None:
    source = sources(tmp_path / "source")
    here = fencepost(
        "ingest", str(source), "--cluster-name", "prod", "--out", str(tmp_path / "here"), "--master", "local[2]", "--quiet"
    )
    assert here.returncode == 0, here.stderr
    cluster = tmp_path / "cluster"
    with standalone(cluster, 2) as url:
        words = ["ingest", str(source), "--cluster-name", "prod", "--master", url, *SETTINGS, "--quiet", "--out"]
        pipe: Any = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([*PYTHON, *words, str(tmp_path / "there")], env=ENVIRONMENT, **pipe)
        until(lambda: len(executors(cluster)) == 2 and any(cluster.rglob("rdd_*")), process)  # rows are held by executors
        os.kill(executors(cluster)[0], signal.SIGKILL)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert output.replace("there", "here") == here.stdout
        assert digests(tmp_path / "there") == digests(tmp_path / "here")
        driver = subprocess.Popen([*PYTHON, *words, str(tmp_path / "again")], env=ENVIRONMENT, start_new_session=True, **pipe)
        until(lambda: any((tmp_path / "again").rglob("*.parquet")), driver)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        resumed = fencepost(*words, str(tmp_path / "again"))
        assert resumed.returncode == 0, resumed.stderr
        assert digests(tmp_path / "again") == digests(tmp_path / "here")
        asked = ["--window", "2h", "--against", "ThresholdShedder", "--conf", "UniformLoadShedder", "--quiet"]
        arguments = ["policy", "compare", "--history", str(tmp_path / "there"), *asked]
        far = fencepost(*arguments, "--master", url, *SETTINGS, "--out", str(tmp_path / "found-far"))
        explained = {
            master: _explained_and_walked(tmp_path / name, master) for name, master in (("there", url), ("here", "local[2]"))
        }
    assert explained[url] == explained["local[2]"]
    near = fencepost(*arguments, "--master", "local[2]", "--out", str(tmp_path / "found-near"))
    assert far.stdout.replace("found-far", "found-near") == near.stdout, far.stderr
    assert near.stdout.startswith("UniformLoadShedder against ThresholdShedder: ")


def _explained_and_walked(tables: Path, master: str) -> tuple[list[str], list[tuple[str, str]]]:
    """What a ledger's lines are explained by, and the walks of an exploration: what is printed, and the bytes of the tables."""
    where = ["--tables", str(tables), "--master", master, *SETTINGS, "--quiet"]
    ledgers = fencepost("conform", "log", "ledger", *where, "--set", "entries=1")
    assert ledgers.returncode == 12, ledgers.stderr
    walked = fencepost(
        "explore", "election", "--walks", "300", "--sampled", "30", *where, "--out", "walked", folder=tables.parent
    )
    assert walked.returncode == 0, walked.stderr
    shutil.rmtree(tables.parent / "walked")
    of_these = [each for each in digests(tables) if each[0].startswith(("verdicts", "walks", "steps"))]
    assert {name.partition("/")[0] for name, _ in of_these} == {"verdicts", "walks", "steps"}
    return ledgers.stdout.splitlines(), of_these
