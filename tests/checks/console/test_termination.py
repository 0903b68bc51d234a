"""No process that a run has forked outlives it, even if the run is killed while the other is at something."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command import ROOT

SECONDS = 60
"""How long a process may take to end; it takes milliseconds."""

AHEAD = """
from fencepost.checks.engines.ahead import Ahead
with Ahead([lambda check: at_it()], workers=2):
    time.sleep(600)
"""
SPREAD = """
from fencepost.checks.engines.solvers.workers import spread
spread(2, 2, lambda: lambda task: at_it())
"""
AT_IT = """
import os, time
def at_it():
    os.write(1, b"%d\\n" % os.getpid())  # at once: several processes write here
    time.sleep(600)
"""


def runs(process: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize(("program", "forked"), [(AHEAD, 1), (SPREAD, 2)], ids=["ahead", "spread"])
def test_what_a_killed_run_has_forked_ends(program: str, forked: int) -> None:
    with subprocess.Popen([sys.executable, "-c", AT_IT + program], cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout is not None
            processes = [int(run.stdout.readline()) for _ in range(forked)]
            assert run.pid not in processes
            assert all(map(runs, processes))
        finally:
            run.send_signal(signal.SIGKILL)
        until = time.monotonic() + SECONDS
        while any(map(runs, processes)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(map(runs, processes))
