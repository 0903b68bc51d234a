"""Traces as sequence diagrams: one lane for each actor, an arrow where an action names another actor."""

from __future__ import annotations

from model.language import Action, Protocol
from traces.trace import Trace


def as_mermaid(trace: Trace, protocol: Protocol) -> str:
    """The trace as a sequence diagram in Mermaid's language, which GitHub and GitLab draw where it stands in Markdown.

    The lanes are the actors that take part, in the order of the protocol. An action is an arrow from its actor to the first
    other actor among its arguments, or to itself; a fault is a cross at its end. What repeats for ever is in a frame.
    """
    actions = {action.label: action for action in protocol.actions}
    taken = [actions[step.action] for step in trace.steps]
    known = dict.fromkeys(action.actor for action in protocol.actions)
    among = {name for action in taken for name in (action.actor, _other(action, known))}
    lanes = {name: f"lane{number}" for number, name in enumerate(name for name in known if name in among)}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {lane} as {name}" for name, lane in lanes.items()]
    start = trace.loop.start if trace.loop and trace.loop.start < len(taken) else None
    for place, action in enumerate(taken):
        if place == start:
            lines.append("    loop for ever")
        arrow = "-x" if action.fault else "->>"
        target = lanes[_other(action, known)]
        lines.append(f"    {lanes[action.actor]}{arrow}{target}: {place + 1} {action.label}")
    lines += ["    end"] if start is not None else []
    if trace.violated is not None and lanes:
        ends = dict.fromkeys(list(lanes.values())[:: max(len(lanes) - 1, 1)])
        lines.append(f"    Note over {','.join(ends)}: {trace.violated}")
    return "\n".join(lines) + "\n"


def _other(action: Action, actors: dict[str, None]) -> str:
    """The actor to whom the action is done: the first among its arguments that is not its own actor, otherwise itself."""
    return next((name for name in action.arguments.values() if name in actors and name != action.actor), action.actor)
