"""Measures what grows how: states, seconds and bytes of exhaustive searches of each protocol over one of its parameters.

Run by ``make bench``, and alone: python tests/bench/growth.py [--protocol NAME ...] [--seconds N]. Each search has all
properties that a finite run can violate, one core, and so many seconds; a parameter is raised as long as a search ends and has
more states. Times a step: by how much the states are multiplied when the parameter is raised by one, in the geometric mean of
the last two steps. The last lines say how seconds and bytes depend on states over the larger searches of each protocol: the
exponent of power laws, by least squares of the logarithms. The plot is build/growth.svg.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.model.language import ModelError
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.traces.drawings.plotting import STYLE
from tests.bench.bench import show

PLOT = Path("build") / "growth.svg"
MEMORY = 2 << 30
STEPS = 8
"""Values of a parameter, at most."""

LARGE = 30_000
"""States from which a search is long enough for its seconds and bytes to say something."""

RAISED: dict[str, tuple[str, int, dict[str, Value]]] = {
    "ledger": ("entries", 1, {}),
    "bookie": ("entries", 1, {"kills": 1}),
    "metadata_store": ("clients", 2, {"writes": 1, "disconnects": 1}),
    "election": ("brokers", 2, {"disconnects": 1}),
    "ownership": ("brokers", 2, {"disconnects": 1}),
    "unload": ("brokers", 2, {"unloads": 2}),
    "split": ("splits", 1, {"bundles": 2, "maximum": 6}),
    "service_unit": ("unloads", 0, {}),
    "service_unit_migration": ("unloads", 0, {}),
    "topic": ("messages", 1, {}),
    "cluster": ("messages", 1, {}),
    "kafka_controller": ("brokers", 2, {"expiries": 1}),
    "placement": ("outages", 0, {"racks": "3+3+3", "ensemble": 4, "min_racks": 3}),
    "replication": ("entries", 1, {"crashes": 2}),
}
"""Of each protocol the parameter that is raised, from where on, and the others that are not at their defaults."""


@dataclass(frozen=True)
class Point:
    """A search that went to its end: the parameter, states, and what it took."""

    value: int
    states: int
    seconds: float
    memory: int


def searches(protocol: str, seconds: float) -> Iterator[Point]:
    """Searches with the parameter raised one by one, as long as they end and the protocol has such an instance."""
    entry, (parameter, first, others) = PROTOCOLS[protocol], RAISED[protocol]
    before = 0
    for value in range(first, first + STEPS):
        try:
            suite = entry.suite(entry.build({**others, parameter: value}))
        except ModelError:
            if value == first:
                raise
            return
        observed = Observed.of(suite, [p for p in suite.properties if p.kind != "leads_to"])
        observed.kernel.code  # noqa: B018  compiled before the clock runs
        started = time.process_time()
        result = search(observed.kernel, observed.sought(), workers=1, limits=Limits(memory=MEMORY, seconds=seconds))
        if result.outcome != "exhausted" or result.distinct == before:
            return
        yield Point(value, result.distinct, time.process_time() - started, result.bytes_in_use)
        before = result.distinct


def factor(points: Sequence[Point]) -> float:
    """By how much states are multiplied from one value to the next, in the mean of the last two steps."""
    last = points[-3:]
    return (last[-1].states / last[0].states) ** (1 / (len(last) - 1)) if len(last) > 1 else float("nan")


def exponent(measured: Iterable[Sequence[Point]], quantity: Callable[[Point], float]) -> float:
    """The exponent with which a quantity grows with states: that of the power laws, one for each protocol, that fit best. NaN
    where no protocol has two searches that are large enough."""
    xs, ys = list[float](), list[float]()
    for points in measured:
        if len(large := [p for p in points if p.states >= LARGE]) > 1:
            for values, of in ((xs, lambda p: float(p.states)), (ys, quantity)):
                logarithms = np.log([of(p) for p in large])
                values += (logarithms - logarithms.mean()).tolist()
    return float(np.dot(xs, ys) / np.dot(xs, xs)) if xs else float("nan")


def draw(measured: dict[str, list[Point]], file: Path) -> None:
    """States over each parameter, and seconds and bytes over states."""
    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=(14, 5), layout="constrained")
    states, seconds, memory = figure.subplots(1, 3)
    for name, points in measured.items():
        label = f"{name}: {RAISED[name][0]}"
        states.plot([p.value for p in points], [p.states for p in points], marker="o", label=label)
        seconds.plot([p.states for p in points], [max(p.seconds, 1e-4) for p in points], marker="o")
        memory.plot([p.states for p in points], [p.memory / 2**20 for p in points], marker="o")
    for axes, x, y in (
        (states, "parameter", "states"),
        (seconds, "states", "seconds of a core"),
        (memory, "states", "MiB"),
    ):
        axes.set(xlabel=x, ylabel=y, yscale="log", xscale="linear" if x == "parameter" else "log")
    figure.legend(loc="outside right upper", fontsize="small")
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Prints a row for each search, the exponents, and draws the plot."""
    parser = argparse.ArgumentParser(description="What grows how.", allow_abbrev=False)
    parser.add_argument("--protocol", action="append", choices=PROTOCOLS, help="only this; may be repeated")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each search, at most (default: 10)")
    asked = parser.parse_args()
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows = [["protocol", "parameter", "states", "times a step", "s", "bytes a state"]]
    measured: dict[str, list[Point]] = {}
    for name in asked.protocol or PROTOCOLS:
        points = measured[name] = list(searches(name, asked.seconds))
        for number, p in enumerate(points):
            times = f"{factor(points):.1f}" if number + 1 == len(points) > 1 else ""
            bytes_ = f"{p.memory / p.states:.0f}" if p.states >= LARGE else ""
            rows.append([name, f"{RAISED[name][0]}={p.value}", f"{p.states:,}", times, f"{p.seconds:.2f}", bytes_])
        print(f"# {name}", file=sys.stderr)
    show(rows)
    print(f"seconds grow as states to the power of {exponent(measured.values(), lambda p: p.seconds):.2f}")
    print(f"bytes grow as states to the power of {exponent(measured.values(), lambda p: float(p.memory)):.2f}")
    draw(measured, PLOT)
    print(f"plot: {PLOT}")


if __name__ == "__main__":
    main()
