"""Measures the kernel on the ledger protocol, against plain Python on the same terms and against the memory.

Two columns compare with Python: a plain interpreter of the terms, which is the baseline asked for, and Python code generated
from them, which is the best that plain Python can do.

Run by ``make bench``. Lines that begin with # name the machine and the time; everything else is a table. What is observed,
nothing or all properties in every state and on every step, is the same for the kernel and for Python.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.search.results import Limits, Result
from fencepost.model.kernel.search.search import search
from fencepost.model.kernel.walks.walks import random_walks
from fencepost.model.language import Not, Protocol
from fencepost.properties.ledger.suite import ledger as properties_of
from tests.bench import plain
from tests.bench.generated import Generated
from tests.bench.interpreter import Interpreter
from tests.bench.limits import kernel_alone, look_ups, memory, two_to_one

SMALL: dict[str, dict[str, int]] = {
    "3 bookies, 2 entries, 1 recoverer": {},
    "4 bookies, 1 entry, 2 recoverers, 1 change": {"bookies": 4, "entries": 1, "recoverers": 2, "changes": 1},
}
"""Instances that are searched and walked, first with the actions alone, then with all properties."""

PROOFS: dict[str, dict[str, int]] = {
    "5 bookies, 10 entries, 2 recoverers, 1 change": {"bookies": 5, "entries": 10, "recoverers": 2, "changes": 1},
}
"""An instance that is proved, for which only the time to compile it matters."""

WALK_STEPS = 100
WINDOW_SECONDS, WINDOWS, COMPILATIONS = 0.05, 40, 2
"""What is fast is measured several times, and the fastest counts: on a shared machine the same run went at three fifths of its
rate, with nothing else to be seen there, for a tenth of a second or for minutes."""
SEARCHES = 4
SEARCH, SEARCHING_SECONDS = Limits(memory=4 << 30, seconds=8.0), 12.0
PYTHON_SECONDS = 1.0
ASKED = ["asked", "", "", "< 1", "", "", ">= 10", ">= 200x", "", "", ">= 2", "", ">= 1.8x", ">= 50x", "", "<= 40"]
HEADINGS = [
    *("instance", "words", "actions", "compile s", "for walks", "long ones", "walk M/s", "to interp.", "to gen.", "distinct"),
    *("M/s on 1", "M/s on 2", "2 to 1", "to interp.", "to gen.", "bytes"),
]


@dataclass(frozen=True)
class Measured:
    """One instance: its row of the table, and what the comparison with the memory needs of it."""

    row: list[str]
    kernel: Kernel
    result: Result
    two_to_one: float


def formulas(protocol: Protocol) -> tuple[list[Any], list[Any]]:
    """What to observe of each state and of each step: violations, and goals reached."""
    suite = properties_of(protocol).properties
    states = [p.formula if p.kind == "sometimes" else Not(p.formula) for p in suite if p.kind != "step"]
    return states, [Not(p.formula) for p in suite if p.kind == "step"]


def walk_rate(kernel: Kernel) -> float:
    """Steps per second of uniform walks on one core: the fastest of many short runs."""
    rates, count = list[float](), 1000
    while len(rates) < WINDOWS:
        result = random_walks(kernel, seed=1, count=count, steps=WALK_STEPS, strategy="uniform", workers=1)
        if result.seconds > WINDOW_SECONDS / 2:
            rates.append(result.steps / result.seconds)
        else:
            count = int(count * min(10.0, WINDOW_SECONDS / max(result.seconds, 1e-3)))
    return max(rates)


def python_rates(protocol: Protocol, python: plain.Runner, observing: bool) -> tuple[float, float]:
    """Steps and distinct states per second of the protocol in plain Python, each over about a second."""
    initial = list(protocol.initial_states())
    steps, started, walks = 0, time.perf_counter(), 0
    while (spent := time.perf_counter() - started) < PYTHON_SECONDS:
        steps += plain.walk(python, initial[walks % len(initial)], WALK_STEPS, walks, observing=observing)
        walks += 1
    walked = steps / spent
    limit = 500
    while True:
        started = time.perf_counter()
        distinct, _ = plain.search(python, initial, limit, observing=observing)
        spent = time.perf_counter() - started
        if spent > PYTHON_SECONDS / 2 or distinct < limit:
            return walked, distinct / spent
        limit *= 2


def search_rates(kernel: Kernel) -> tuple[Result, float, float]:
    """The result of a search on one core, and the distinct states per second on one and on two: the fastest of several searches
    each, in turn, so that both have the machine at its best. Short searches are repeated."""
    best, spent = {1: 0.0, 2: 0.0}, 0.0
    while spent < SEARCHING_SECONDS:
        for workers in (2, 1):
            result = search(kernel, workers=workers, limits=SEARCH)
            best[workers] = max(best[workers], result.distinct / result.seconds)
            spent += result.seconds
    return result, best[1], best[2]


def compiled(
    name: str, protocol: Protocol, observed: tuple[list[Any], list[Any]], *, searched: bool
) -> tuple[Kernel, list[str]]:
    """The kernel, and the start of its row: how long the way from terms to machine code took, at the fastest."""
    fastest = float("inf")
    for _ in range(COMPILATIONS):
        started = time.perf_counter()
        kernel = Kernel(protocol, *observed)
        if searched:
            Program.of(kernel).in_planes(kernel).steps_in_planes(kernel)
        else:
            Program.of(kernel).observing_steps(kernel)
        fastest = min(fastest, time.perf_counter() - started)
    return kernel, [name, str(kernel.words), str(len(kernel.actions)), f"{fastest:.2f}"]


def measure(name: str, protocol: Protocol, observed: tuple[list[Any], list[Any]]) -> Measured:
    """Measures one instance, observing these formulas."""
    kernel, row = compiled(name, protocol, observed, searched=True)
    for thorough in (False, True):
        started = time.perf_counter()
        kernel.advance(thorough=thorough)
        row.append(f"{time.perf_counter() - started:.2f}")
    walked = walk_rate(kernel)
    result, one, two = search_rates(kernel)
    pythons = (kind(protocol, *observed) for kind in (Interpreter, Generated))
    rates = [python_rates(protocol, python, any(observed)) for python in pythons]
    row += [
        f"{walked / 1e6:.2f}",
        *(f"{walked / python_walked:.0f}x" for python_walked, _ in rates),
        f"{result.distinct}{'' if result.outcome == 'exhausted' else '+'}",
        f"{one / 1e6:.2f}",
        f"{two / 1e6:.2f}",
        f"{two / one:.2f}x",
        *(f"{one / python_searched:.0f}x" for _, python_searched in rates),
        f"{result.bytes_per_state:.1f}",
    ]
    return Measured(row, kernel, result, two / one)


def show(rows: list[list[str]], say: Callable[[str], None] = print) -> None:
    """Prints rows with their columns aligned: the first to the left, the rest to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        say("  ".join([row[0].ljust(len(first)), *rest]).rstrip())


def _spread(result: Result) -> Any:
    """Some hundred thousand of the states found, from all depths."""
    states = np.concatenate(list(result.states()))
    return np.ascontiguousarray(states[:: max(1, len(states) >> 18)])


def _processor_time(kernel: Kernel, workers: int) -> float:
    """Seconds of processor time that a search takes: the least of several."""
    spent = []
    for _ in range(SEARCHES):
        started = time.process_time()
        search(kernel, workers=workers, limits=SEARCH)
        spent.append(time.process_time() - started)
    return min(spent)


def limits(measured: Measured) -> list[list[str]]:
    """Where the processor time of a search on one core goes, for each transition, and what the machine allows."""
    result, kernel = measured.result, measured.kernel
    one, two = (_processor_time(kernel, workers) for workers in (1, 2))
    whole = 1e9 * one / result.transitions
    stepping, observed = kernel_alone(kernel, _spread(result))
    making, finding, comparing = look_ups(kernel, result)
    observing = observed * result.distinct / result.transitions
    latency, throughput = memory()
    loops = two_to_one()
    floor = stepping + observing + throughput
    return [
        ["per transition, one core, processor time", "ns"],
        ["search", f"{whole:.1f}"],
        ["  of which finding what is enabled, applying it and observing the step", f"{stepping:.1f}"],
        ["  of which observing the new states", f"{observing:.1f}"],
        ["of all states again, when each successor is known: made and hashed, steps not observed", f"{making:.1f}"],
        ["  and looked for in its line of the table", f"{finding:.1f}"],
        ["  and compared with the state that the line names", f"{comparing:.1f}"],
        ["one cache line of 1 GiB at random, address known early", f"{throughput:.1f}"],
        ["one cache line of 1 GiB at random, each telling where the next is", f"{latency:.1f}"],
        ["the least: kernel and one line, address known early", f"{floor:.1f}"],
        ["reached of that (asked: 70%)", f"{100 * floor / whole:.0f}%"],
        ["distinct states a second of processor time, millions (asked: 8)", f"{result.distinct / one / 1e6:.1f}"],
        ["  at the least", f"{1e3 * result.distinct / (floor * result.transitions):.1f}"],
        ["processor time of two cores, to one", f"{two / one:.2f}x"],
        ["two plain loops over 1 GiB, one a core, to one, by the clock", f"{loops:.2f}x"],
        ["  reached of that by two cores to one (asked: 95%)", f"{100 * measured.two_to_one / loops:.0f}%"],
    ]


def main() -> None:
    """Prints the tables."""
    print(f"# {platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"# {time.strftime('%Y-%m-%d %H:%M:%S %Z')}")
    warm = Kernel(ledger(entries=1))
    for workers in (1, 2):
        search(warm, workers=workers)
        random_walks(warm, seed=1, count=100, steps=10, workers=workers)
    rows, largest = [HEADINGS], None
    for name, parameters in SMALL.items():
        protocol = ledger(**parameters)  # type: ignore[arg-type]
        rows.append(measure(name, protocol, ([], [])).row)
        measured = measure("  with all properties", protocol, formulas(protocol))
        rows.append(measured.row)
        if measured.result.outcome == "exhausted" and (largest is None or measured.result.distinct > largest.result.distinct):
            largest, title = measured, name
    for name, parameters in PROOFS.items():
        protocol = ledger(**parameters)  # type: ignore[arg-type]
        for shown, observed in (name, ([], [])), ("  with all properties", formulas(protocol)):
            row = compiled(shown, protocol, observed, searched=False)[1]
            rows.append(row + [""] * (len(HEADINGS) - len(row)))
    show([*rows, ASKED])
    print("compile: for the search; where there is only a proof, for the single steps of counterexamples. for walks: besides,")
    print("to begin with; long ones: the better code that walks of more than a second go on with, by which they are measured.")
    print("distinct ending in +: not all; the search was given 8 s and 4 GiB. M/s: millions a second, on that many cores,")
    print("at the fastest of several short runs: shared machines have two rates and more. So is what compiling takes.")
    print("to interp.: times a plain Python interpreter of the same terms; to gen.: times Python code generated from them.")
    if largest is not None:
        print()
        print(f"Where the limit lies: {title}, with all properties")
        show(limits(largest))


if __name__ == "__main__":
    main()
