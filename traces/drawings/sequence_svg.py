"""Traces as sequence diagrams in SVG: a lane for each actor and the store, and beside each step what it changed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from xml.etree.ElementTree import Element

from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.properties.registry import written
from fencepost.properties.vocabulary import Property
from fencepost.traces.drawings.drawing import SMALL, box, drawing, group, path, point, rendered, text, width_of
from fencepost.traces.drawings.lanes import Message, lanes, messages
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import changes, reasons

MARGIN, GAP = 20, 30
HEADER, LINE, PILL, STEP, FRAME = 46, 17, 24, 14, 24
"""Heights: of an actor's head, of a line of text, of an action's box, between steps, and of the title of a frame."""

WIDEST = 62
"""Characters of a line that tells what a step changed, unless one change is longer."""


@dataclass(frozen=True)
class _Row:
    """One step: its number, who does it to whom, what it changed, and the middle of its box."""

    number: int
    message: Message
    lines: list[str]
    label: str
    y: float


def as_svg(trace: Trace, protocol: Protocol, violated: Property | None = None) -> str:
    """The trace as a sequence diagram in SVG, for a light and a dark page, with what of ``violated`` does not hold at the end.

    Each action is a box on its actor's lane, with an arrow to whom it is done or from whom it hears, dashed and open where
    what is sent arrives later; a fault has another colour, and a cross. What repeats forever is in a dashed frame.
    """
    return rendered(_Diagram(trace, protocol, violated).drawn())


class _Diagram:
    def __init__(self, trace: Trace, protocol: Protocol, violated: Property | None) -> None:
        self.trace, self.protocol, self.violated = trace, protocol, violated
        steps = messages(trace, protocol)
        self.names = lanes(steps, protocol)
        self.kinds = {u.label(i): name for name, u in protocol.universes.items() for i in u}
        self.loop = trace.loop.start if trace.loop else None
        self.head = [self._title(), *self._settings()]
        self.top = MARGIN + LINE * len(self.head) + MARGIN / 2
        self.rows, self.bottom = self._rows(steps)
        self.foot = self._foot()
        self.left = MARGIN + width_of(str(len(steps)), SMALL) + GAP / 2
        widths = [self._width(name) for name in self.names]
        edges = list(accumulate(widths, initial=self.left))
        self.right = edges[-1]
        self.x = {name: (start + end) / 2 for name, (start, end) in zip(self.names, pairwise(edges), strict=True)}
        self.beside = self.right + GAP / 2

    def drawn(self) -> Element:
        lines = [line for row in self.rows for line in row.lines]
        wide = self.beside + max((width_of(line, SMALL) for line in lines), default=0)
        wide = max([wide, *(MARGIN + width_of(line) for line in self.foot + self.head)])
        tall = self.bottom + (LINE * len(self.foot) + MARGIN if self.foot else 0) + MARGIN
        steps = "; ".join(f"{row.number} {row.message.actor}: {row.label}" for row in self.rows)
        svg = drawing(wide + MARGIN, tall, self._title(), f"{' '.join(self._settings())}. {steps}.")
        for number, line in enumerate(self.head):
            text(svg, MARGIN, MARGIN + LINE * (number + 0.7), line, "muted small" if number else "strong")
        self._lanes(svg, wide)
        self._frame(svg)
        for row in self.rows:
            self._step(svg, row)
        for number, line in enumerate(self.foot):
            y = self.bottom + MARGIN + LINE * (number + 0.5)
            text(svg, MARGIN, y, line, "small" if number else "strong bad")
        return svg

    def _title(self) -> str:
        length = count_of(len(self.trace.steps), "step")
        if self.violated is None:
            return f"{self.trace.protocol}: a run of {length}"
        if self.violated.kind == "leads_to":
            return f"{self.violated.name} is never fulfilled"
        return f"{self.violated.name} is {'reached' if self.violated.kind == 'sometimes' else 'violated'} in {length}"

    def _settings(self) -> list[str]:
        trace = self.trace
        settings = [f"{name}={written(value)}" for name, value in trace.parameters.items()]
        settings += [f"bug={bug}" for bug in trace.bugs]
        meaning = self.violated.doc.split("\n\n")[0].split() if self.violated else []
        return [*textwrap.wrap(" ".join(meaning), 110), *textwrap.wrap(" ".join([trace.protocol, *settings]), 110)]

    def _rows(self, steps: Sequence[Message]) -> tuple[list[_Row], float]:
        """The steps from top to bottom, and where they end."""
        rows: list[_Row] = []
        y = self.top + HEADER + STEP
        for place, (message, before, step) in enumerate(zip(steps, self.trace.states, self.trace.steps, strict=False)):
            parts = changes(self.protocol.variables, before, step.state) or ["changes nothing"]
            lines = textwrap.wrap(
                " ".join(part.replace(" ", "\u00a0") for part in parts), WIDEST, break_long_words=False, break_on_hyphens=False
            )
            label = f"fault: {message.action.label}" if message.action.fault else message.action.label
            y += FRAME if place == self.loop else 0
            rows.append(_Row(place + 1, message, lines, label, y + PILL / 2))
            y += max(PILL, LINE * len(lines)) + STEP
        return rows, y

    def _foot(self) -> list[str]:
        """What is said below: what becomes of a run that never ends, and what of the property does not hold."""
        lines = [line.removeprefix("  ") for line in reasons(self.trace, self.protocol, self.violated, 112)[1:]]
        if self.loop == len(self.rows):
            lines += [f"the run stops after step {self.loop}: nothing more is obliged to happen"]
        return lines

    def _width(self, name: str) -> float:
        labels = [width_of(row.label) + PILL for row in self.rows if row.message.actor == name]
        return max(90.0, width_of(name) + PILL, *labels) + GAP

    def _lanes(self, svg: Element, wide: float) -> None:
        for row in self.rows[1::2]:
            tall = max(PILL, LINE * len(row.lines)) + STEP
            box(svg, MARGIN / 2, row.y - PILL / 2 - STEP / 2, wide, tall, "band", round_=4)
        for name, x in self.x.items():
            path(svg, f"M{point(x, self.top + HEADER)} V{point(self.bottom)}", "line")
            wide_name = max(width_of(name), width_of(self.kinds.get(name, ""), SMALL)) + PILL
            box(svg, x - wide_name / 2, self.top, wide_name, HEADER - 6, "actor")
            kind = self.kinds.get(name, "")
            text(svg, x, self.top + (18 if kind else 25), name, "strong", "middle")
            text(svg, x, self.top + 33, kind, "muted small", "middle")

    def _step(self, svg: Element, row: _Row) -> None:
        message, fault = row.message, row.message.action.fault
        part = group(svg, " ".join(message.action.doc.split("\n\n")[0].split()))
        text(part, self.left - GAP / 2, row.y + 4, str(row.number), "muted small", "end")
        here, half = self.x[message.actor], width_of(row.label) / 2 + PILL / 2 - 2
        for arrow in message.arrows:
            there = self.x[arrow.other(message.actor)]
            edge = here + (half if there > here else -half)
            start, end = (edge, there) if arrow.sender == message.actor else (there, edge)
            kind, tip = ("arrow bad", "cross") if fault else ("arrow sent", "open") if arrow.under_way else ("arrow", "tip")
            path(part, f"M{point(start, row.y)} H{point(end)}", kind, tip)
        box(part, here - half, row.y - PILL / 2, 2 * half, PILL, "fault" if fault else "act", round_=PILL / 2)
        text(part, here, row.y + 4.5, row.label, "", "middle")
        for number, line in enumerate(row.lines):
            text(part, self.beside, row.y + 4 + LINE * number, line, "small muted")

    def _frame(self, svg: Element) -> None:
        if self.loop is None or self.loop >= len(self.rows):
            return
        top = self.rows[self.loop].y - PILL / 2 - FRAME
        box(svg, self.left - 4, top, self.right - self.left + 8, self.bottom - top - 2, "loop", round_=8)
        text(svg, self.left + 8, top + 16, "again and again, forever", "small loop")
