"""Traces as sequence diagrams in the language of Mermaid."""

from __future__ import annotations

from fencepost.model.language import Protocol
from fencepost.traces.drawings.lanes import Arrow, lanes, messages
from fencepost.traces.trace import Trace


def as_mermaid(trace: Trace, protocol: Protocol) -> str:
    """The trace as a sequence diagram in Mermaid's language, which GitHub and GitLab draw where it stands in Markdown.

    An action is an arrow from lane to lane, dotted and open where what is sent arrives later; that of a fault ends in a cross.
    An action that sends nothing is an arrow from its lane to itself. What repeats forever is in a frame.
    """
    steps = messages(trace, protocol)
    lane = {name: f"lane{number}" for number, name in enumerate(lanes(steps, protocol))}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {number} as {name}" for name, number in lane.items()]
    start = trace.loop.start if trace.loop and trace.loop.start < len(steps) else None
    for place, message in enumerate(steps):
        if place == start:
            lines.append("    loop forever")
        for arrow in message.arrows or [Arrow(message.actor, message.actor)]:
            way = "-x" if message.action.fault else "--)" if arrow.under_way else "->>"
            lines.append(f"    {lane[arrow.sender]}{way}{lane[arrow.receiver]}: {place + 1} {message.action.label}")
    lines += ["    end"] if start is not None else []
    if trace.violated is not None and lane:
        ends = dict.fromkeys(list(lane.values())[:: max(len(lane) - 1, 1)])
        lines.append(f"    Note over {','.join(ends)}: {trace.violated}")
    return "\n".join(lines) + "\n"
