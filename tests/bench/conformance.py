"""Measures how many steps of real code a second are held against the model, and the processor time that each takes. Run by
``make bench``; without a JDK and Maven it says so."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.conformance.campaign import campaign
from fencepost.traces.conformance.catalogue import TARGETS
from fencepost.traces.conformance.targets import Asked
from fencepost.traces.conformance.toolchain import ToolchainError, toolchain
from tests.bench.bench import show

RUNS = {"ledger": 1000, "bookie": 40, "election": 40, "ownership": 40}
WARM = 70
"""Runs of the ledger before those that are measured: the JVM compiles what is used, and kernels are compiled, too."""

GOALS = {"ledger": 1000.0}
"""Steps a second that are asked for."""

HEADINGS = ["target", "runs", "steps", "steps/s", "to the goal", "ms of Python", "ms of Java"]


def of_java(pid: int) -> float:
    """Processor seconds that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def measured(name: str, runs: int) -> list[str]:
    """A row: the target's default runs on its usual release, one after the other."""
    target = TARGETS[name]
    release, storage = target.releases[0], next(iter(target.storages), "")
    entry = PROTOCOLS[target.protocol]
    instances = [target.model(entry, release, parameters) for parameters in target.instances_on(storage)]
    with target.start(Asked(release, storage)) as adapter:
        campaign(instances, adapter, runs=min(WARM, runs), steps=60, seed=1, weights=target.weights, shrink=False)
        wall, python, java = time.perf_counter(), time.process_time(), of_java(adapter.session.pid)
        result = campaign(instances, adapter, runs=runs, steps=60, seed=2, weights=target.weights, shrink=False)
        wall, python = time.perf_counter() - wall, time.process_time() - python
        java = of_java(adapter.session.pid) - java
    rate = result.steps / wall
    goal = f"{rate / GOALS[name]:.2f}x" if name in GOALS else ""
    each = [f"{1000 * spent / result.steps:.2f}" for spent in (python, java)]
    return [name, f"{result.runs:,}", f"{result.steps:,}", f"{rate:,.0f}", goal, *each]


def main() -> None:
    """Prints a row for each target."""
    try:
        toolchain()
    except ToolchainError as error:
        print(f"steps of real code: not measured, {error}")
        return
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    show([HEADINGS, *(measured(name, runs) for name, runs in RUNS.items())])


if __name__ == "__main__":
    main()
