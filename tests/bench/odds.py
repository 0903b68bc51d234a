"""Measures how long the odds of every way take, and how many weighted steps a second walks make. Run by ``make bench``."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.checks.odds.answering import Means, odds_of
from fencepost.checks.odds.solving import Solver
from fencepost.checks.odds.ways import BOUNDED, WAYS, Fleet
from fencepost.model.odds.numbers import published

WALKED = ("disks", "removed_producer_publishes", "fence_checked_apart", "captured_ensemble")
WALKS = 400_000
GIB = 2**20
"""Of what getrusage counts in kilobytes."""


def main() -> None:
    """Prints a line for each measurement."""
    began, used = time.monotonic(), time.process_time()
    odds = odds_of([*WAYS, *BOUNDED], published(), Fleet(), Means(Solver()))
    wall, processor = time.monotonic() - began, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIB
    states = sum(row.states for row in odds.rows)
    print(f"{len(odds.rows)} ways, {states:,} states: {wall:.1f} s, {processor:.1f} s of a processor, {peak:.2f} GiB at most")
    solver = Solver(1)
    for name in WALKED:
        solver.walked(WAYS[name], published(), 1_000, 0)  # compiles
        used = time.process_time()
        found = solver.walked(WAYS[name], published(), WALKS, 1)
        rate = found.steps / (time.process_time() - used)
        half = found.half / found.per_year if found.per_year else float("inf")
        print(f"{name}: {found.steps:,} weighted steps, {rate / 1e6:.1f} million a second and core, half width {half:.1%}")


if __name__ == "__main__":
    main()
