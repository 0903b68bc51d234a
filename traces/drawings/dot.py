"""Traces as sequence diagrams in the language of Graphviz."""

from __future__ import annotations

from itertools import pairwise

import pydot

from fencepost.model.language import Protocol
from fencepost.traces.drawings.lanes import lanes, messages
from fencepost.traces.trace import Trace

FONT = "DejaVu Sans Mono,Menlo,Consolas,monospace"
FAULT = "#c9252d"


def as_dot(trace: Trace, protocol: Protocol) -> str:
    """The trace as a sequence diagram in the language of Graphviz, for ``dot``.

    Each lane is a line down the page, each action a box on its actor's, with an arrow to the lane of whom it is done to, or
    from that of whom it hears, dashed and open where what is sent arrives later; a fault is red. From the last step of what
    repeats for ever an arrow goes back to its first.
    """
    told = messages(trace, protocol)
    graph = pydot.Dot("trace", graph_type="digraph", splines="line", nodesep="0.4", ranksep="0.3", fontname=FONT)
    graph.set_node_defaults(fontname=FONT, fontsize="11", shape="box", style="rounded")
    graph.set_edge_defaults(fontname=FONT, fontsize="10", arrowsize="0.7")
    if trace.violated is not None:
        graph.set("label", f"{trace.protocol}: {trace.violated}")
    names = lanes(told, protocol)
    lane = {name: f"lane{number}" for number, name in enumerate(names)}
    line = {name: [lane[name]] for name in names}
    heads = pydot.Subgraph("heads", rank="same")
    heads.add_node(pydot.Node("step0", label="", shape="plaintext", group="steps"))
    for name in names:
        heads.add_node(pydot.Node(lane[name], label=name, group=lane[name], style="bold"))
    for before, after in pairwise(["step0", *lane.values()]):  # keeps them in order
        heads.add_edge(pydot.Edge(before, after, style="invis"))
    graph.add_subgraph(heads)
    for number, message in enumerate(told, start=1):
        row = pydot.Subgraph(f"row{number}", rank="same")
        row.add_node(pydot.Node(f"step{number}", label=str(number), shape="plaintext", group="steps"))
        box = f"{lane[message.actor]}_{number}"
        colour = FAULT if message.action.fault else "black"
        row.add_node(pydot.Node(box, label=message.action.label, group=lane[message.actor], color=colour))
        line[message.actor].append(box)
        for other in dict.fromkeys(arrow.other(message.actor) for arrow in message.arrows):
            end = f"{lane[other]}_{number}"
            row.add_node(pydot.Node(end, shape="point", width="0.03", group=lane[other]))
            line[other].append(end)
        for arrow in message.arrows:
            start, end = (f"{lane[name]}_{number}" for name in (arrow.sender, arrow.receiver))
            style, head = ("dashed", "open") if arrow.under_way else ("solid", "normal")
            graph.add_edge(pydot.Edge(start, end, constraint="false", color=colour, style=style, arrowhead=head))
        graph.add_subgraph(row)
    for number in range(len(told)):
        graph.add_edge(pydot.Edge(f"step{number}", f"step{number + 1}", style="invis", weight="8"))
    for before, after in (pair for nodes in line.values() for pair in pairwise(nodes)):
        graph.add_edge(pydot.Edge(before, after, dir="none", color="gray70", weight="8"))
    if trace.loop is not None and trace.loop.start < len(told):
        last, first = (f"{lane[told[place].actor]}_{place + 1}" for place in (len(told) - 1, trace.loop.start))
        graph.add_edge(pydot.Edge(last, first, label="for ever", style="dashed", constraint="false"))
    return str(graph.to_string())
