"""Differences between the topic's model and the code that are known, by name."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.conformance.running.adapter import Deviation, Difference, Taken


def _fills_while_fenced(step: Taken, differences: Sequence[Difference], _: str) -> bool:
    if step.action.name != "confirm":
        return False
    b = step.arguments["b"]
    return bool(step.before[f"state[{b}]"] == "fenced") and any(each.what == f"filled[{b}]" for each in differences)


DEVIATIONS = (
    Deviation(
        "fills_while_fenced",
        "the entry that fills a ledger waits for its close in a fenced managed ledger, too (OpAddEntry.run, closeWhenDone); "
        "the model has it answered at once",
        _fills_while_fenced,
    ),
)
