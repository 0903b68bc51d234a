"""Measures how many steps of real code a second are held against the model, with one JVM and with as many as ``fencepost
conform`` starts, and the processor time that each takes. Run by ``make bench``; without a JDK and Maven it says so."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.checks.conformance.java_side.toolchain import ToolchainError, toolchain
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.choosing import WINDOW
from fencepost.checks.conformance.targets import Asked
from fencepost.properties.protocols import PROTOCOLS
from tests.bench.bench import show

RUNS = {"ledger": 600, "bookie": 60, "election": 400, "ownership": 200, "topic": 200}
WARM = 70
"""Runs of each JVM before those that are measured, at most: it compiles what is used, and kernels are compiled, too."""

WORKERS = (1, min(WINDOW, (os.cpu_count() or 1) + 1))
"""How many JVMs take runs at once."""

GOALS = {"ledger": 2000.0, "election": 2000.0, "ownership": 1000.0}
"""Steps a second that are asked for."""

HEADINGS = ["target", "JVMs", "runs", "s to the first", "steps", "steps/s", "to the goal", "ms of Python", "ms of Java"]


def of_java(pids: Iterable[int]) -> float:
    """Processor seconds that these processes have taken, and those that have ended: a run may kill a bookie."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    return seconds


def measured(name: str, runs: int, workers: int) -> list[str]:
    """A row: the target's default runs on its usual release, the second half of them. The first half waits for what a campaign
    does once: it looks for the branches of each instance, and for ways to those that no run has met."""
    target = TARGETS[name]
    release, storage = target.releases[0], next(iter(target.storages), "")
    entry = PROTOCOLS[target.protocol]
    instances = [target.model(entry, release, parameters) for parameters in target.instances_on(storage)]
    with ExitStack() as ended:
        adapters = [ended.enter_context(target.start(Asked(release, storage))) for _ in range(workers)]

        marks: dict[int, tuple[tuple[float, ...], int]] = {}

        def mark(so_far: Result) -> None:
            if so_far.runs in (1, runs // 2):
                marks[so_far.runs] = now(), so_far.steps

        def taken(count: int, seed: int, progress: Callable[[Result], None] | None = None) -> Result:
            adapter, *besides = adapters
            return campaign(
                instances,
                adapter,
                besides=besides,
                runs=count,
                steps=60,
                seed=seed,
                weights=target.weights,
                shrink=False,
                progress=progress,
            )

        def now() -> tuple[float, ...]:
            return time.perf_counter(), time.process_time(), of_java(adapter.session.pid for adapter in adapters)

        taken(min(WARM, runs // 4) * workers, 1)
        before = now()
        result = taken(runs, 2, mark)
        half, steps_then = marks[runs // 2]
        wall, *spent = (after - then for after, then in zip(now(), half, strict=True))
        steps, set_up = result.steps - steps_then, marks[1][0][0] - before[0]
    rate = steps / wall
    goal = f"{rate / GOALS[name]:.2f}x" if name in GOALS else ""
    each = [f"{1000 * seconds / steps:.2f}" for seconds in spent]
    return [name, str(workers), f"{runs:,}", f"{set_up:.1f}", f"{steps:,}", f"{rate:,.0f}", goal, *each]


def main() -> None:
    """Prints a row for each target."""
    try:
        toolchain()
    except ToolchainError as error:
        print(f"steps of real code: not measured, {error}")
        return
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    show([HEADINGS, *(measured(name, runs, workers) for name, runs in RUNS.items() for workers in WORKERS)])


if __name__ == "__main__":
    main()
