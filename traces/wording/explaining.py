"""Why not: which conditions of an action's guard fail in a state."""

from __future__ import annotations

import difflib

from fencepost.model.language import Action, Protocol
from fencepost.traces.trace import State
from fencepost.traces.wording.reasons import why_false
from fencepost.traces.wording.text import because


class UnknownActionError(Exception):
    """An action that the protocol does not have; the message lists what is like it."""


def actions_named(protocol: Protocol, label: str) -> list[Action]:
    """The action of that label, or all of that name; UnknownActionError if there is none."""
    wanted = "".join(label.split())
    actions = [a for a in protocol.actions if wanted in (a.name, "".join(a.label.split()))]
    if not actions:
        labels = [action.label for action in protocol.actions]
        close = difflib.get_close_matches(label, labels, 3) or sorted({action.name for action in protocol.actions})
        raise UnknownActionError(f"{protocol.name} has no action {label!r} in this instance; it has {', '.join(close)}")
    return actions


def explained(protocol: Protocol, state: State, action: Action, width: int = 120) -> str:
    """Whether an action can happen in a state and, if not, what of its guard does not hold there, as lines of text."""
    why = why_false(protocol, action.guard, state)
    kind = "fault " if action.fault else ""
    if not why.reasons:
        return f"{kind}{action.label}, {action.location}, is enabled there"
    failing = why.of("its guard") if why.conjuncts > 1 else "its one condition does not hold"
    return "\n".join([f"{kind}{action.label}, {action.location}, is not enabled there: {failing}", *because(why, "  ", width)])
