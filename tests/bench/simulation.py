"""Measures what an hour of a simulated cluster of 20 brokers and 400 bundles takes, and a comparison: processor time.

Run by ``make bench``. The median of several runs counts, after one to warm up.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.simulation.cluster import Generated
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.scenario import SCENARIOS, scenario
from fencepost.model.balance.strategies import SHEDDERS, load_manager
from fencepost.traces.comparison.comparison import Comparison, Contender
from fencepost.traces.comparison.rows import row
from tests.bench.bench import show

ASKED_MS = 100
RUNS = 8
PAIRED = ("ThresholdShedder", "UniformLoadShedder")
PAIRS, HOURS = 10, 6
LARGE, LARGE_HOURS, LARGE_RUNS, ASKED_LARGE_MINUTES = Generated(count=200, bundles=10_000), 6, 100, 5
ASKED_PAIRS, ASKED_MINUTES, CORES = 1000, 10, 2


def seconds(work: Callable[[], object]) -> float:
    """Processor time of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def milliseconds(shedder: str, name: str) -> float:
    """Processor time of one simulated hour, in the median."""
    policy, world = load_manager(defaults(), shedder), scenario(name)
    return median([seconds(lambda: simulate(policy, world, 0, hours=1)) for _ in range(RUNS + 1)][1:]) * 1000


def pairs_a_minute() -> float:
    """How many paired runs one core makes in a minute, the replay through the protocols and the measures included."""
    policies = tuple(Contender(shedder, load_manager(defaults(), shedder)) for shedder in PAIRED)
    comparison = Comparison(policies, scenario("noisy-rates"), PAIRS, HOURS, 0)

    def pair(run: int) -> None:
        for policy in policies:
            row(comparison, run, policy)

    pair(0)
    return 60 * PAIRS / seconds(lambda: [pair(run) for run in range(PAIRS)])


def minutes_at_scale() -> dict[str, float]:
    """By shedder, how many minutes of processor time the default number of runs takes in a large cluster: one is made."""
    made = {}
    for shedder in SHEDDERS:
        policy = Contender(shedder, load_manager(defaults(), shedder))
        comparison = Comparison((policy,), scenario("noisy-rates", LARGE), LARGE_RUNS, LARGE_HOURS, 0)
        made[shedder] = LARGE_RUNS / 60 * seconds(partial(row, comparison, 0, policy))
    return made


def main() -> None:
    """Prints a row for each scenario, and how long a comparison would take."""
    rows, times = [], list[float]()
    for name in SCENARIOS:
        taken = {shedder: milliseconds(shedder, name) for shedder in SHEDDERS}
        times += taken.values()
        worst = max(taken, key=taken.__getitem__)
        rows.append([name, *(f"{ms:.0f}" for ms in taken.values()), f"{taken[worst]:.0f}", worst])
    print(f"processor time of a simulated hour, ms; at most {ASKED_MS} are asked for")
    show([["scenario", *SHEDDERS, "worst", ""], *rows])
    print(f"in the median of all {median(times):.0f} ms, {median(times) / ASKED_MS:.2f} times what is asked for")
    pairs = pairs_a_minute()
    print(f"\n{' against '.join(PAIRED)}, noisy-rates: {pairs:.0f} pairs of {HOURS} h a minute and core,")
    print(
        f"so that {ASKED_PAIRS:,} take {ASKED_PAIRS / pairs / CORES:.1f} minutes on {CORES} cores, Spark's start excluded;"
        f" at most {ASKED_MINUTES} are asked for"
    )
    large = minutes_at_scale()
    two = 2 * sum(large.values()) / len(large) / CORES
    print(f"\n{LARGE.count} brokers, {LARGE.bundles:,} bundles, {LARGE_RUNS} runs of {LARGE_HOURS} h: minutes on one core")
    show([[*large], [f"{minutes:.1f}" for minutes in large.values()]])
    print(f"two policies in the mean {two:.1f} minutes on {CORES} cores; at most {ASKED_LARGE_MINUTES} are asked for")


if __name__ == "__main__":
    main()
