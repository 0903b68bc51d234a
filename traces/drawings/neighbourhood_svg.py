"""The neighbourhood of a trace as a picture: the trace down the left, and below each state what else could have happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

import networkx

from fencepost.traces.drawings.drawing import SMALL, box, circle, drawing, group, path, point, rendered, text, width_of
from fencepost.traces.drawings.neighbourhood import Neighbourhood

MARGIN, ROW, LAYER, ARCS = 20, 24, 30, 130
"""Pixels: around all, a state's row, from one distance to the next, and the room for the arcs of the other transitions."""

WIDEST = 100
"""Characters of what a step changed that are shown; all of it shows where a pointer rests on the state."""


def as_svg(neighbourhood: Neighbourhood, title: str) -> str:
    """The neighbourhood in SVG, for a light and a dark page.

    Each state has a row: those of the trace in its order and, below each, further to the right the further they are from it,
    the states that other actions lead to. Transitions to states that were reached already are arcs beside them. A state in
    which the property does not hold is red; one from which a transition leads out of the picture is hollow.
    """
    return rendered(_Picture(neighbourhood, title).drawn())


class _Picture:
    def __init__(self, neighbourhood: Neighbourhood, title: str) -> None:
        self.neighbourhood, self.title, self.nodes = neighbourhood, title, neighbourhood.graph.nodes
        order = self._order()
        self.y = {node: MARGIN + 64 + ROW * row for row, node in enumerate(order)}
        self.left = MARGIN + width_of(str(len(order)), SMALL) + 16
        deepest = max(about["distance"] for _, about in self.nodes(data=True))
        self.beside = self.left + LAYER * deepest + ARCS
        self.labels = {node: self._label(node) for node in self.nodes}
        self.changes = self.beside + max(width_of(label) for label in self.labels.values()) + 24

    def _order(self) -> list[int]:
        """The states in the order of their rows: before the next state of the trace all that was first reached from it."""
        tree = networkx.DiGraph()
        trace = [node for node, about in self.nodes(data=True) if about["place"] >= 0]
        tree.add_nodes_from(self.nodes)
        tree.add_edges_from((about["via"], node) for node, about in self.nodes(data=True) if about["via"] >= 0)
        return [node for start in trace for node in networkx.dfs_preorder_nodes(tree, start)]

    def _label(self, node: int) -> str:
        action = str(self.nodes[node]["action"])
        into = self.neighbourhood.graph.in_edges(node, keys=True, data="fault")
        return f"fault: {action}" if any(fault for *_, label, fault in into if label == action) else action

    def drawn(self) -> Element:
        texts = {node: _short(about["changes"]) for node, about in self.nodes(data=True)}
        widest = max(width_of(line, SMALL) for line in texts.values())
        wide = max(self.changes + widest, MARGIN + width_of(str(self.neighbourhood)))
        svg = drawing(wide + MARGIN, max(self.y.values()) + ROW + MARGIN, self.title, str(self.neighbourhood))
        text(svg, MARGIN, MARGIN + 12, self.title, "strong")
        text(svg, MARGIN, MARGIN + 30, str(self.neighbourhood), "muted small")
        for node, about in self.nodes(data=True):
            if about["place"] >= 0:
                box(svg, MARGIN / 2, self.y[node] - ROW / 2, wide, ROW, "band", round_=4)
        self._transitions(svg)
        for node, about in self.nodes(data=True):
            self._state(svg, node, about, texts[node])
        return svg

    def _x(self, node: int) -> float:
        return self.left + LAYER * float(self.nodes[node]["distance"])

    def _state(self, svg: Element, node: int, about: Mapping[str, Any], change: str) -> None:
        on_trace, y = about["place"] >= 0, self.y[node]
        part = group(svg, f"{about['label']}: {about['changes'] or about['state']}")
        kind = "fault" if about["violates"] else "act" if on_trace else "plain"
        circle(part, self._x(node), y, 6 if on_trace else 5, f"{kind} {'open' if about['open'] else 'full'}")
        if on_trace:
            text(part, self.left - 14, y + 4, str(about["place"]), "muted small", "end")
        text(part, self.beside, y + 4.5, self.labels[node] or "initially", "strong" if on_trace else "")
        text(part, self.changes, y + 4, change, "small muted")

    def _transitions(self, svg: Element) -> None:
        """Draws each transition: along the trace, to a state that it reached first, or, as an arc, to any other."""
        edges = sorted(self.neighbourhood.graph.edges(data=True), key=lambda edge: edge[2]["on_trace"])  # the trace lies on top
        for source, target, about in edges:
            x, y, after, below = self._x(source), self.y[source], self._x(target), self.y[target]
            part = group(svg, f"{about['label']} leads from {self.nodes[source]['label']} to {self.nodes[target]['label']}")
            kind = "bad" if about["violates"] else "" if about["on_trace"] else "muted"
            tip = f"tip-{kind}" if kind else "tip"
            if about["on_trace"] and below > y:
                path(part, f"M{point(x, y + 6)} V{point(below - 8)}", f"arrow {kind}", tip)
            elif self.nodes[target]["via"] == source and self.nodes[target]["action"] == about["label"]:
                path(part, f"M{point(x, y + 6)} V{point(below - 8)} q0 8 8 8 H{point(after - 6)}", f"arrow {kind} twig")
            else:
                reach = max(x, after) + 12 + min(ARCS - 30, 4 + abs(below - y) / 5)
                if source == target:
                    way = f"M{point(x + 6, y - 2)} c16 -10 16 14 0 5"
                else:
                    way = f"M{point(x + 6, y)} C{point(reach, y)} {point(reach, below)} {point(after + 8, below)}"
                path(part, way, f"arrow {kind}" if about["on_trace"] else f"arrow {kind} far", tip)


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
