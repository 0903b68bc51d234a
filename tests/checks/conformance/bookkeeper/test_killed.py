"""Bookies that are killed: real processes, which all end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from fencepost.checks.commands.bookies_killed import text
from fencepost.checks.conformance.bookkeeper.killed_bookies import Killed
from tests.checks.conformance.real import tools
from tests.command import ROOT, command, fencepost

LOST = Killed("4.18.0", -1, 0, "", -1)
KEPT = Killed("4.18.0", 0, None, "the ledger was fenced", 0)


def test_what_is_lost() -> None:
    assert LOST.lost
    assert not KEPT.lost
    assert text(LOST).splitlines()[-3:] == [
        "  the old writer's add: e0 is confirmed",
        "  the ledger is closed at -1",
        "a confirmed entry is lost: e0",
    ]
    assert text(KEPT).splitlines()[-1] == "no confirmed entry is lost"


def _of(folder: Path) -> list[str]:
    """The processes that were started with a path in the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found += [line] if str(folder) in line else []
    return found


@pytest.mark.deep
@pytest.mark.parametrize(
    ("arguments", "status", "last"),
    [([], 12, "a confirmed entry is lost: e0"), (["--entry-first"], 0, "no confirmed entry is lost")],
)
def test_bookies_that_never_saw_the_ledger_forget_its_fence(
    arguments: list[str], status: int, last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ran = fencepost("conform", "bookies-killed", "--quiet", *arguments)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (status, last), ran
    assert _of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.deep
def test_an_interrupt_ends_every_process(tmp_path: Path) -> None:
    tools()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    asked = command("conform", "bookies-killed")
    with subprocess.Popen(asked, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if "starting three bookies" in line:
                break
        ports = [int(conf.read_text().partition("bookiePort=")[2].partition("\n")[0]) for conf in tmp_path.rglob("bookie.conf")]
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
    assert run.returncode == 20
    assert ports
    for port in ports:
        with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.1", port), timeout=1):
            pass
    assert _of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
