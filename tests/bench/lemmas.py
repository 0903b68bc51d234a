"""Measures how long it takes to find lemmas, and what is found. Run by ``make bench``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.checks.engines.lemmas.finding import Means, Telling, find
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from tests.bench.bench import show

ASKED: tuple[tuple[str, str, dict[str, Value]], ...] = (
    ("ownership", "single_owner", {}),
    ("ownership", "single_owner", {"brokers": 3, "bundles": 2, "disconnects": 1}),
    ("ownership", "single_owner", {"disconnects": 1, "releases": 1}),
    ("election", "leader_holds_the_node", {"brokers": 2, "disconnects": 1}),
    ("split", "full_coverage", {}),
    ("service_unit", "one_takes_itself_for_the_owner", {}),
    ("ledger", "no_truncation", {"readers": 0}),
)
HEADINGS = ["lemmas for", "states", "clauses tried", "candidates", "questions to Z3", "lemmas", "proved", "any size", "s"]


def main() -> None:
    """Prints a row for each property that is asked about."""
    rows = [HEADINGS]
    for name, prop, parameters in ASKED:
        started = time.monotonic()
        ends = started + 900
        telling = Telling(should_stop=lambda: time.monotonic() > ends)  # noqa: B023
        answer = find(PROTOCOLS[name], Instance("bench", parameters), prop, (), Means(), telling)
        general = [size for size, findings in answer.general if not findings.failures]
        last = answer.stages[-1] if answer.stages else None
        counts = [f"{last.candidates:,}", f"{sum(stage.questions for stage in answer.stages):,}"] if last else ["", ""]
        verdict = "yes" if answer.is_proved else "stopped" if answer.unfinished else "no"
        settings = "".join(f" {key}={value}" for key, value in parameters.items())
        looked_at = f"{name}{settings}: {prop}", f"{answer.states:,}", f"{answer.tried:,}", *counts
        rows.append([*looked_at, str(answer.count), verdict, ", ".join(general), f"{time.monotonic() - started:.1f}"])
    print()
    show(rows)


if __name__ == "__main__":
    main()
