"""What was done in a simulated run, in lines for people."""

from __future__ import annotations

from fencepost.model.balance.simulation.run import Action, Run


def timeline(run: Run) -> list[str]:
    """A line for each action: hours and minutes from the beginning, what was done, and why."""
    return [f"{action.minute // 60:>3}:{action.minute % 60:02d}  {_line(action)}" for action in run.actions]


def _line(action: Action) -> str:
    if action.kind in ("crash", "stop", "start"):
        return f"{action.kind:<7} {action.source}"
    where = " -> ".join(broker for broker in (action.source, action.destination) if broker)
    cuts = " at " + ", ".join(f"0x{cut:08x}" for cut in action.boundaries) if action.boundaries else ""
    why = f" ({action.reason})" if action.reason else ""
    refused = f" REFUSED: {action.refused}" if action.refused else ""
    return f"{action.kind:<7} {action.bundle}{cuts} {where}{why}{refused}"
