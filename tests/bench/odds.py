"""Measures how long the odds of every way take, and how many weighted steps a second walks make. Run by ``make bench``."""

from __future__ import annotations

import math
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.checks.engines.odds.guide import factors_of
from fencepost.checks.engines.odds.sampling import estimate
from fencepost.checks.odds.answering import Means, odds_of
from fencepost.checks.odds.on_spark import on_spark
from fencepost.checks.odds.solving import Recipe, Solver, in_threads, repair_of
from fencepost.checks.odds.ways import BOUNDED, WAYS, Fleet
from fencepost.model.odds.numbers import MS_PER_YEAR, published
from fencepost.traces.exploration.session import spark_session

WALKED = ("disks", "removed_producer_publishes", "fence_checked_apart", "captured_ensemble")
WALKS, MANY_WALKS = 400_000, 4_000_000
TEN_SECONDS = 10.0
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
        recipe = recipe_of(name, solver)
        in_threads(1)(recipe, 0, 1_000)  # compiles
        used = time.process_time()
        sums = in_threads(1)(recipe, 1, WALKS)
        used, found = time.process_time() - used, estimate(sums, WALKS)
        half = found.half / found.per_year if found.per_year else float("inf")
        cycle = found.per_year / (published()["messages"] / 1000.0 * MS_PER_YEAR)
        print(f"{name}: {found.steps / used / 1e6:.1f} million weighted steps a second and core; a loss of {cycle:.1g} a cycle")
        print(f"  half width {half:.1%} in {used:.1f} s of a processor, so {half * math.sqrt(used / TEN_SECONDS):.1%} in ten")
    beside_spark()


def recipe_of(name: str, solver: Solver) -> Recipe:
    """What walks of a way are made of; the exact solution of the way guides them."""
    way, numbers = WAYS[name], solver.with_rivals(WAYS[name], published())
    repair = repair_of(way, numbers)
    return Recipe(way, numbers, factors_of(solver.cycles(way), numbers, repair=repair))


def beside_spark() -> None:
    """The same walks by two threads and by two executors of Spark, whose start is not counted."""
    recipe = recipe_of(WALKED[1], Solver(1))
    with spark_session("local[2]", light=True) as spark:
        rates = list[float]()
        for walker in (in_threads(2), on_spark(spark)):
            walker(recipe, 0, 1_000)  # compiles
            began = time.monotonic()
            steps = sum(sums.steps for sums in walker(recipe, 1, MANY_WALKS))
            rates.append(steps / (time.monotonic() - began))
        here, there = rates
        print(
            f"{MANY_WALKS:,} walks by two threads: {here / 1e6:.1f} million steps a second; on Spark {there / here:.2f} of that"
        )


if __name__ == "__main__":
    main()
