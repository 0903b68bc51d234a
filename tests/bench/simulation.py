"""Measures what an hour of a simulated cluster of 20 brokers and 400 bundles takes, for every shedder: processor time.

Run by ``make bench``. The least of several runs counts, after one to warm up; what is left over is the machine's own noise.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from model.balance.configuration import defaults
from model.balance.simulation.cycle import simulate
from model.balance.simulation.scenario import scenario
from model.balance.strategies import SHEDDERS, load_manager
from tests.bench.bench import show

NAMES = ("steady", "zipf", "noisy-rates", "bursts", "rolling-restart")
ASKED_MS = 100
RUNS = 5


def milliseconds(shedder: str, name: str) -> float:
    """Processor time of one simulated hour."""
    policy, world = load_manager(defaults(), shedder), scenario(name)
    taken = []
    for seed in [0] * (RUNS + 1):
        began = time.process_time()
        simulate(policy, world, seed, hours=1)
        taken.append(time.process_time() - began)
    return min(taken[1:]) * 1000


def main() -> None:
    """Prints one row for each shedder."""
    rows = [["asked for", *[f"{ASKED_MS}"] * len(NAMES)]]
    rows += [[shedder, *(f"{milliseconds(shedder, name):.0f}" for name in NAMES)] for shedder in SHEDDERS]
    print("processor time of a simulated hour, ms")
    show([["shedder", *NAMES], *rows])


if __name__ == "__main__":
    main()
