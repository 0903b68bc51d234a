"""What runs on real code came to, for tests of several targets."""

from __future__ import annotations

from fencepost.checks.conformance.running.campaign import Result
from fencepost.checks.conformance.running.pair import Outcome

KNOWN_OF_LOCKS = {"found_lock_unattended", "recreated_behind_release", "N2", "one event at a time", "several deletions"}
"""The names of differences that runs with locks on bundles meet."""


def unexplained(result: Result) -> str:
    """Each run that differs without a name, and its steps as a script that can be followed again."""
    return "\n".join(f"{run}\n  {'; '.join(step.action for step in run.trace.steps)}" for run in result.differing)


def shown(outcome: Outcome, what: str) -> dict[str, object]:
    """What the code showed in the end of the one bundle, at each broker that runs."""
    assert outcome.seen is not None
    brokers = outcome.seen.values["brokers"]
    return {b: of_broker["bundles"]["u0"][what] for b, of_broker in brokers.items() if of_broker["lives"]}
