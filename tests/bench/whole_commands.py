"""Measures ``fencepost check`` of everything and of a configuration, from start to end and to the first line that it prints.

Run by ``make bench``. No verdict is remembered. Each command runs twice. The first run of a configuration finds nothing kept,
as in a container; the second run finds on disk what the first compiled, unless an earlier one had: the table has both.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench import show
from tests.command import ROOT, command

BOOKKEEPER = "journalSyncData=true\nledgerStorageClass=org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage\n"
GOALS = {"check": (15.0, 15.0), "check --conf": (20.0, 8.0)}
"""Seconds to the end that are asked for, of the first run and of the second."""

BUILD = """
from fencepost.checks.questions.planning import Wanted, planned
from fencepost.properties.registry import Entry
for item, instance in planned(Wanted((), (), None, (), (), None, ()), None):
    if isinstance(item, Entry):
        item.suite(item.build(instance.parameters))
"""
"""Builds all instances of ``check`` with their properties, which nothing keeps, and checks none."""


class Timed(NamedTuple):
    """Seconds to the first line and to the end, and those of a processor."""

    first: float
    end: float
    processor: float


def timed(words: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> Timed:
    """Runs a command there, with these variables of the environment besides."""
    before = _of_processes()
    started = time.perf_counter()
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}  # as where it is installed
    environment = {**os.environ, **bytecode, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **(variables or {})}
    with subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - started
        process.stdout.read()
    return Timed(first, time.perf_counter() - started, _of_processes() - before)


def _of_processes() -> float:
    """Seconds of a processor that all processes took that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Prints a row for each command and run."""
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows = [["", "run", "to the first line, s", "to the end, s", "to the goal", "of a processor, s"]]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "broker.conf").write_bytes((ROOT / "docs/examples/broker.conf").read_bytes())
        (folder / "bookkeeper.conf").write_text(BOOKKEEPER, encoding="utf-8")
        of_files = ["--conf", "broker.conf", "--conf", "bookkeeper.conf"]
        fresh = {"NUMBA_CACHE_DIR": str(folder / "kept")}
        for name, words, kept in (("check", [], None), ("check --conf", of_files, fresh)):
            for run, goal in enumerate(GOALS[name], 1):
                took = timed(command("check", *words, "--quiet"), folder, kept)
                ratio = f"{goal / took.end:.2f}x"
                rows.append([name, str(run), f"{took.first:.1f}", f"{took.end:.1f}", ratio, f"{took.processor:.1f}"])
        built = timed([sys.executable, "-c", BUILD], folder)
        rows.append(["building all instances of check", "", "", f"{built.end:.1f}", "", f"{built.processor:.1f}"])
    show(rows)


if __name__ == "__main__":
    main()
