"""Measures whole commands, start included: a search and walks beside TLC's of the same protocol, a first verdict.

By the clock, and in processor time, which depends less on what else the machine does.

Run by ``make bench``. TLC gets the module that ``fencepost export`` writes, with all invariants and step properties, both
cores and the collector of garbage that it recommends. fencepost is asked for the same properties, and once for all, with what
goes on forever and what must be possible, for which TLC takes too long to wait (after 16 minutes it had 545,697 of the 735,344
states, most of the time with what goes on forever). Each is a process of its own, the loops of the kernel are compiled before,
and nothing is remembered. TLC is fetched by Maven at first use; without Java or Maven a line says so, and there is no table.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pytest

from tests.bench.bench import show
from tests.checks.export.tlc import Tlc, fetch_tlc
from tests.command import command

SEARCHED = ["ledger", "--set", "bookies=3"]
FIRST = ["election", "--set", "brokers=2"]
SEVERAL = ["ledger", "election", "bookie", "ownership", "--workers", "1"]
TLC_WALKS, WALKS, STEPS = 2_000, 5_000_000, 100
"""So many walks, so that each takes long enough beside its start."""

COLLECTOR = "-XX:+UseParallelGC"


@dataclass(frozen=True)
class Timed:
    """What a command printed, the seconds from its start to its end, and those of a processor that it took."""

    output: str
    seconds: float
    processor: float

    def count(self, pattern: str) -> int:
        """The last number that its output has at a place."""
        numbers = re.findall(pattern, self.output)
        assert numbers, self.output
        return int(numbers[-1].replace(",", ""))


def timed(words: list[str], folder: Path) -> Timed:
    """Runs a command there, where nothing is remembered."""
    started, before = time.perf_counter(), _of_processes()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return Timed(done.stdout, time.perf_counter() - started, _of_processes() - before)


def _of_processes() -> float:
    """Seconds of a processor that all processes took that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def by_tlc(tlc: Tlc, folder: Path, *more: str) -> Timed:
    """TLC on the exported module."""
    started = [str(tlc.java), COLLECTOR, f"-Djava.io.tmpdir={folder}", "-cp", str(tlc.archive), "tlc2.TLC"]
    return timed([*started, "-workers", "2", *more, "-config", "Ledger.cfg", "Ledger.tla"], folder)


def compared(tlc: Tlc, folder: Path) -> list[list[str]]:
    """The rows of the search and of the walks."""
    timed(command("export", *SEARCHED, "--format", "tla", "--out", str(folder), "--quiet"), folder)
    asked = re.findall(r"^(?:INVARIANT|PROPERTY) (?!TypeOK)(\w+)", (folder / "Ledger.cfg").read_text(), re.MULTILINE)
    same = [word for name in asked for word in ("--property", name)]
    by_search = [*SEARCHED, "--by", "exhaustive", "--quiet"]
    for _ in range(2):  # the first compiles what is kept
        ours = timed(command("check", *by_search, "--no-slice", *same), folder)
    whole = timed(command("check", *by_search), folder)
    theirs = by_tlc(tlc, folder)
    states = theirs.count(r"([\d,]+) distinct states found")
    assert states == ours.count(r"all ([\d,]+) states"), "both search the same"
    walked = ["--by", "walks", "--strategy", "uniform", "--walks", str(WALKS), "--steps", str(STEPS), "--quiet"]
    our_walks = timed(command("check", *SEARCHED, *walked), folder)
    their_walks = by_tlc(tlc, folder, "-simulate", f"num={TLC_WALKS}", "-depth", str(STEPS))
    our_rate = our_walks.count(r"walks \(uniform\), ([\d,]+) steps") / our_walks.seconds
    their_rate = their_walks.count(r"Progress: ([\d,]+) states checked") / their_walks.seconds
    searched = f"{theirs.seconds:.1f}", f"{ours.seconds:.2f}", f"{theirs.seconds / ours.seconds:.0f}x", "150x"
    processor = f"{theirs.processor:.1f}", f"{ours.processor:.2f}", f"{theirs.processor / ours.processor:.0f}x", ""
    rates = f"{their_rate / 1e3:.1f}", f"{our_rate / 1e3:.0f}", f"{our_rate / their_rate:.0f}x", "150x"
    return [
        [f"search of {states:,} states, seconds", *searched],
        ["  seconds of a processor", *processor],
        ["with what goes on forever, seconds", "", f"{whole.seconds:.2f}", "", ""],
        ["  seconds of a processor", "", f"{whole.processor:.2f}", "", ""],
        ["walks, thousand steps a second", *rates],
    ]


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for _ in range(2):  # the first compiles what is kept
            first = timed(command("check", *FIRST, "--quiet"), folder)
        try:
            tlc = fetch_tlc(folder)
        except pytest.skip.Exception as reason:
            print(reason.msg)
            return
        rows = [["", "TLC", "here", "ratio", "asked"], *compared(tlc, folder)]
        several = timed(command("check", *SEVERAL, "--quiet"), folder)
        numpy = timed([sys.executable, "-c", "import numpy"], folder)
        rows.append(["to the first verdict, of two brokers, seconds", "", f"{first.seconds:.2f}", "", "0.4"])
        to_numpy = f"{first.processor / numpy.processor:.1f}x"
        rows.append(["  seconds of a processor, to a Python that loads NumPy", "", f"{first.processor:.2f}", to_numpy, "5x"])
        rows.append([f"check {' '.join(SEVERAL)}, seconds of a processor", "", f"{several.processor:.1f}", "", ""])
        print()
        show(rows)
        print("Start and loading included.")


if __name__ == "__main__":
    main()
