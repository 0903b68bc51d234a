"""Measures how long each engine takes to find each bug: random walks by each strategy, Hypothesis, exhaustive search.

Hypothesis has two columns: with each run from the beginning, and with half of them led to a branch of an action first.

Run by ``make bench``, and alone: python tests/bench/time_to_find.py [--protocol NAME ...] [--seeds N] [--full]. With
--known-bugs it measures instead what ``fencepost check --pulsar RELEASE`` takes for each bug of each release (known_bugs.py).
Each bug is switched on in the small instance that shows it. Walks are made until the first violation that is not expected;
the numbers are medians over the seeds, so that ``> N`` says that in half of the seeds or more nothing was found in N steps.
Lines that begin with # name the time; steps are the same on every run, seconds are of one core.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import get_state_machine_test

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.walks.course import Strategy
from fencepost.model.kernel.walks.walks import random_walks
from fencepost.properties.machines import Violation, machine
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry
from tests.bench import known_bugs
from tests.bench.bench import show

STEPS = 100
"""Steps of a walk, at most."""

MOST, MOST_FULL = 1 << 18, 1 << 24
"""Steps after which a search at random gives up, by default and with --full."""

SAMPLE = ("ledger", "election", "ownership")
"""Protocols that are measured by default."""

EVERY = 4
"""Of these, every so many bugs are."""


@dataclass(frozen=True)
class Effort:
    """What one engine took with one seed: steps up to the find, or all of them if there was none, walks or examples, and
    seconds."""

    success: bool
    steps: int
    walks: int
    seconds: float


def by_walks(observed: Observed, number: int, most: int, *, strategy: Strategy) -> Effort:
    """Walks one after the other until one violates something."""
    alarm, step_alarm = observed.alarms()
    course: dict[str, Any] = {
        "seed": number,
        "steps": STEPS,
        "strategy": strategy,
        "alarm": alarm,
        "step_alarm": step_alarm,
        "may_end": next(iter(observed.may_end), None),
        "workers": 1,
    }
    started, walks, steps, count = time.process_time(), 0, 0, 16
    while steps < most:
        result = random_walks(observed.kernel, first=walks, count=count, **course)
        if result.violations:
            last = result.violations[0].walk
            if last > walks:
                steps += random_walks(observed.kernel, first=walks, count=last - walks, **course).steps
            return Effort(True, steps + result.violations[0].steps, last + 1, time.process_time() - started)
        walks, steps, count = walks + count, steps + result.steps, 2 * count
    return Effort(False, steps, walks, time.process_time() - started)


def by_hypothesis(observed: Observed, number: int, most: int, *, led: bool) -> Effort:
    """Hypothesis draws a few rules for each of its runs, half of which are ``led`` to a branch first; without shrinking."""
    steps = examples = 0
    started = time.process_time()
    machine_type = machine(observed)
    if not led:
        machine_type.run.ways = ()
    steered = machine_type.run.steered
    follow, take = steered.follow, steered.take

    def followed(choices: bytes) -> int:
        nonlocal steps
        taken = follow(choices)
        steps += taken
        return taken

    def took(action: int) -> None:
        nonlocal steps
        take(action)
        steps += 1

    steered.follow, steered.take = followed, took  # type: ignore[method-assign]

    class Counted(machine_type):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            nonlocal examples
            super().__init__()
            examples += 1

    chosen = settings(
        max_examples=max(1, most // 512),
        stateful_step_count=8,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    try:
        seed(number)(get_state_machine_test(Counted, settings=chosen))()
    except Violation:
        return Effort(True, steps, examples, time.process_time() - started)
    return Effort(False, steps, examples, time.process_time() - started)


def exhaustively(observed: Observed) -> Effort:
    """A breadth-first search up to the first violation; its steps are transitions."""
    started = time.process_time()
    result = known_bugs.violation(observed, Limits(memory=1 << 30))
    return Effort(bool(result.violations), result.transitions, 0, time.process_time() - started)


def median(efforts: list[Effort]) -> Effort:
    """The effort of which half of the seeds need less; not found if half of them or more find nothing."""
    ordered = sorted(efforts, key=lambda effort: (not effort.success, effort.steps))
    middle = ordered[len(ordered) // 2]
    return Effort(middle.success, middle.steps, middle.walks, statistics.median(e.seconds for e in efforts))


def cells(effort: Effort, *, runs: bool = True) -> list[str]:
    """An effort as the table shows it."""
    mark = "" if effort.success else "> "
    return [f"{mark}{effort.steps}", *([f"{mark}{effort.walks}"] if runs else []), f"{effort.seconds:.3f}"]


ENGINES: dict[str, Callable[[Observed, int, int], Effort]] = {
    **{strategy: partial(by_walks, strategy=strategy) for strategy in get_args(Strategy)},
    "Hypothesis": partial(by_hypothesis, led=False),
    "Hypothesis, led": partial(by_hypothesis, led=True),
}
"""What is drawn at random, with a seed and the most steps."""


def observed_of(entry: Entry, bug: str) -> Observed:
    """The bug's instance, with the properties that finite runs can violate."""
    suite = entry.suite(entry.build(entry.shown_by[bug], [bug]))
    return Observed.of(suite, [p for p in suite.properties if p.kind not in ("leads_to", "sometimes")])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="How long each engine takes to find each bug.", allow_abbrev=False)
    parser.add_argument("--protocol", action="append", choices=PROTOCOLS, help="all bugs of this; may be repeated")
    parser.add_argument("--seeds", type=int, default=1, help="how many (default: 1)")
    parser.add_argument("--full", action="store_true", help="all bugs of all protocols, with more steps")
    parser.add_argument("--known-bugs", action="store_true", help="instead: the shortest run to each bug of each release")
    asked = parser.parse_args()
    if asked.known_bugs:
        known_bugs.main(asked.protocol or list(PROTOCOLS))
        return
    most = MOST_FULL if asked.full else MOST
    names = asked.protocol or (list(PROTOCOLS) if asked.full else list(SAMPLE))
    thinned = 1 if asked.protocol or asked.full else EVERY
    print(f"# {os.cpu_count()} cores, {time.strftime('%Y-%m-%d %H:%M:%S %Z')}")
    rows = [["bug", *(c for name in ENGINES for c in _headings(name)), "search: steps", "s"]]
    by_engine: dict[str, list[Effort]] = {name: [] for name in ENGINES}
    rates: dict[str, list[float]] = {name: [] for name in ENGINES}
    for protocol in names:
        entry = PROTOCOLS[protocol]
        for bug in list(entry.shown_by)[::thinned]:
            observed = observed_of(entry, bug)
            for engine in ENGINES.values():  # so that no one's time has that of compiling in it
                engine(observed, 0, 1)
            row = [f"{protocol} {bug}"]
            for name, engine in ENGINES.items():
                efforts = [engine(observed, number, most) for number in range(asked.seeds)]
                by_engine[name] += efforts
                rates[name] += [e.steps / e.seconds for e in efforts if e.steps > most // 2]
                row += cells(median(efforts))
            rows.append([*row, *cells(exhaustively(observed), runs=False)])
            print(f"# {row[0]}", file=sys.stderr)
    show(rows)
    print(f"Medians of {asked.seeds} seeds; > N: half of them or more find nothing in N steps. Walks of up to {STEPS} steps.")
    print("A bug that only a leads-to violates is found by none of these: a finite run cannot violate it.")
    print()
    summary = [["engine", "find a violation", "of searches", "walks or examples", "to the first", "thousand steps/s"]]
    first = statistics.geometric_mean(effort.walks for effort in next(iter(by_engine.values())))
    for name, efforts in by_engine.items():
        mean = statistics.geometric_mean(effort.walks for effort in efforts)
        speed = f"{statistics.median(rates[name]) / 1e3:.0f}" if rates[name] else ""
        successes = str(sum(effort.success for effort in efforts))
        summary.append([name, successes, str(len(efforts)), f"{mean:.1f}", f"{mean / first:.2f}x", speed])
    show(summary)
    print("Walks or examples: the geometric mean of all searches; one that finds nothing counts with all that it took.")


def _headings(name: str) -> list[str]:
    return [f"{name}: steps", "examples" if name.startswith("Hypothesis") else "walks", "s"]


if __name__ == "__main__":
    main()
