"""Measures how long shrinking long random walks takes, in processor time. Run by ``make bench``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.kernel.walks.walks import walk_path
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.shrinking.runs import Aim
from fencepost.traces.shrinking.shrinking import shrink
from fencepost.traces.shrinking.smaller import in_smallest
from fencepost.traces.trace import Trace, trace_of
from tests.bench.bench import show

PARAMETERS = {"brokers": 3, "bundles": 2, "disconnects": 40, "expiries": 40, "crashes": 40, "releases": 40, "fixed": True}
BUG, PROPERTY = "released_without_version", "node_of_another_is_kept"
LONG, WALKS = 300, 3
HEADINGS = ["shrinking a walk of ownership", "steps", "changes of actor", "shrunk to", "changes", "cpu, s", "smaller, cpu, s"]
ASKED = ["asked for", f">= {LONG}", "", "", "", "seconds", ""]


def main() -> None:
    """Prints a row for each of the first walks that are long."""
    entry = PROTOCOLS["ownership"]
    suite = entry.suite(entry.build(PARAMETERS, [BUG]))
    prop = suite.named(PROPERTY)
    observed = Observed.of(suite, [prop])
    aim = Aim.of(suite, prop, observed)
    alarm, step_alarm = observed.alarms()
    rows: list[list[str]] = []
    walk = -1
    while len(rows) < WALKS:
        walk += 1
        course = {"seed": 0, "steps": 1000, "strategy": "uniform", "alarm": alarm, "step_alarm": step_alarm}
        path = walk_path(observed.kernel, **course, walk=walk)
        if len(path.actions) < LONG or not aim.shown(path.states[-2:], path.actions[-1:]):
            continue
        states = [np.array(state, dtype=np.uint64) for state in path.states]
        trace = trace_of(observed.kernel, states, path.actions, violated=PROPERTY, found_by=f"walk {walk}", seed=0)
        rows.append([f"walk {walk}", *_measured(trace, observed)])
    print()
    show([HEADINGS, *rows, ASKED])
    print(f"{BUG}, {PROPERTY}; smaller: found again with the smallest parameters")


def _measured(trace: Trace, observed: Observed) -> list[str]:
    started = time.process_time()
    shrunk = shrink(trace, observed.suite)
    between = time.process_time()
    in_smallest(shrunk.trace, PROTOCOLS[trace.protocol])
    seconds = between - started, time.process_time() - between
    counts = shrunk.steps, shrunk.changes, len(shrunk.trace.steps), shrunk.changes_left
    return [*map(str, counts), *(f"{each:.1f}" for each in seconds)]


if __name__ == "__main__":
    main()
