"""Measures a search whose states are on disk beside the same in memory: processor time a state. Run by ``make bench``."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.kernel.search.results import Established, Limits
from fencepost.model.kernel.search.search import search
from fencepost.traces.exploration.levelwise import Searched
from fencepost.traces.exploration.on_disk import search_on_disk
from fencepost.traces.exploration.run import Run
from tests.bench.bench import show

HEADINGS = ["states on disk", "states", "bytes a state", "in memory, us of a core", "on disk", "ratio", "known read", "ratio"]
PARAMETERS = {"entries": 2}

Result = TypeVar("Result", bound=Established)


def main() -> None:
    """Prints the row. Only the first levels of a search on disk, of some 10,000 states, are in memory; what is known is, in ten
    bytes a state, or is read."""
    run = Run("ledger", PARAMETERS)
    observed = run.observed()
    for _ in range(2):  # the second does not compile
        memory, there = timed(lambda: search(observed.kernel, observed.sought()))
    disk, here = on_disk(run, Limits.memory)
    read, away = on_disk(run, 0)
    if not disk.distinct == read.distinct == memory.distinct:
        raise AssertionError(f"{disk.distinct} and {read.distinct} states on disk, {memory.distinct} in memory")
    first, *others = (f"{1e6 * seconds / memory.distinct:.2f}" for seconds in (there, here, away))
    ratios = (f"{seconds / there:.1f}x" for seconds in (here, away))
    cost = [first, *(cell for pair in zip(others, ratios, strict=True) for cell in pair)]
    print()
    show([HEADINGS, [f"ledger, {PARAMETERS}", f"{disk.distinct:,}", f"{disk.bytes_in_use / disk.distinct:.1f}", *cost]])


def on_disk(run: Run, memory: int) -> tuple[Searched, float]:
    """A search on disk, and the processor time that it took."""
    with tempfile.TemporaryDirectory() as folder:
        return timed(lambda: search_on_disk(run, Path(folder), head=Limits(depth=8), memory=memory))


def timed(job: Callable[[], Result]) -> tuple[Result, float]:
    """What a job returns, and the processor time that it took in this process, all threads together."""
    began = time.process_time()
    result = job()
    return result, time.process_time() - began


if __name__ == "__main__":
    main()
