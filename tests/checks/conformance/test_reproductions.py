"""The reproductions on real code: what each shows, and that every process and file goes with it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.java_side.servers import kafka_servers
from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
from tests.checks.conformance.real import tools
from tests.command import ROOT, command, fencepost


def _of(folder: Path) -> list[str]:
    """The processes that were started with a path in the folder."""
    processes = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        processes += [line] if str(folder) in line else []
    return processes


@pytest.mark.java
@pytest.mark.deep
@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_a_finding_is_seen_and_not_in_its_control(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = fencepost("reproduce", name, "--quiet")
    assert ran.returncode == 0, ran
    assert "seen as the finding says, and not in the control" in ran.stdout.splitlines()
    assert _of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.java
@pytest.mark.deep
@pytest.mark.parametrize(("name", "release"), [("missed-bounce", "2.2.2"), ("reused-name", "4.2.4"), ("trimmed-ack", "4.2.4")])
def test_a_release_in_which_it_is_fixed_ends_otherwise(name: str, release: str) -> None:
    tools()
    ran = fencepost("reproduce", name, "--release", release, "--quiet")
    assert ran.returncode == 12, ran
    assert "not as the finding says: not seen" in ran.stdout.splitlines()


@pytest.mark.java
@pytest.mark.deep
def test_a_finding_on_kafka_is_seen_with_a_build_of_ones_own(tmp_path: Path) -> None:
    """The jar of the release itself, under the name that a build gives it."""
    (core,) = (jar for jar in jars(kafka_servers("1.0.2"), tools()) if jar.name.startswith("kafka_2.12-"))
    shutil.copy(core, tmp_path / "kafka_2.12-1.0.3-SNAPSHOT.jar")
    ran = fencepost("reproduce", "missed-bounce", "--jars", str(tmp_path), "--quiet")
    assert ran.returncode == 0, ran
    assert f"own build, not pinned: jars of {tmp_path}" in ran.stdout.splitlines()[0]


@pytest.mark.java
@pytest.mark.deep
def test_an_interrupt_ends_every_process(tmp_path: Path) -> None:
    tools()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    asked = command("reproduce", "fence-forgotten")
    with subprocess.Popen(asked, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if "each a process" in line:
                break
        confs = [conf.read_text() for conf in tmp_path.rglob("b[0-9]/program.conf")]
        ports = [int(conf.partition("bookiePort=")[2].partition("\n")[0]) for conf in confs]
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
    assert run.returncode == 20
    assert ports
    for port in ports:
        with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.1", port), timeout=1):
            pass
    assert _of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
