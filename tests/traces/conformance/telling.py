"""What a test says of runs that differ."""

from __future__ import annotations

from fencepost.traces.conformance.campaign import Result


def told(result: Result) -> str:
    """Each run that differs without a name, and its steps as a script that can be followed again."""
    return "\n".join(f"{run}\n  {'; '.join(step.action for step in run.trace.steps)}" for run in result.differing)
