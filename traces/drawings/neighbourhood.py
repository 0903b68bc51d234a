"""The neighbourhood of a trace: its states, those a few steps away from it, and all transitions between them, as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import networkx
import numpy as np

from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.paths import plain
from fencepost.properties.vocabulary import Suite
from fencepost.traces.shrinking.runs import Aim, Packed
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import changes

TRACE, VIOLATED = "#2f6fd0", "#c9252d"


@dataclass(frozen=True)
class Neighbourhood:
    """A part of the state graph around a trace.

    The nodes of ``graph`` are numbers, those of the trace's states first, with ``label`` (``3``, the state after step 3, or
    ``3 + add(b0, e0)``, what an action leads to from there), ``distance`` (the steps from the trace; 0 on it), ``place`` (after
    how many steps the trace first meets it; -1), ``via`` (the state that it was first reached from; -1), ``action`` and
    ``changes`` (by which, and what that changed), ``state`` (the values of all variables), ``violates`` (the trace's property
    does not hold there, or, of a ``sometimes``, does) and ``open`` (a transition leads out of the graph). Transitions have the
    action's label as key and as ``label``, its ``actor``, ``fault``, ``on_trace`` and, of a ``step`` property, ``violates``.

    ``radius`` is the distance up to which states were looked for; ``further`` counts the states that transitions out of the
    graph lead to; ``limited`` is whether there are more within the radius. Prints as a line that says so.
    """

    graph: networkx.MultiDiGraph
    radius: int
    further: int
    limited: bool

    def __str__(self) -> str:
        states, transitions = (count_of(count, what) for count, what in self._counts())
        size = f"{states} within {count_of(self.radius, 'step')} of the trace, {transitions}"
        if self.limited:
            return f"the first {size}; there are more so near, which --limit leaves out"
        further = f"{count_of(self.further, 'state')} beyond are not shown" if self.further else "nothing is beyond"
        return f"{size}; {further}"

    def _counts(self) -> list[tuple[int, str]]:
        return [(self.graph.number_of_nodes(), "state"), (self.graph.number_of_edges(), "transition")]


def neighbourhood(trace: Trace, suite: Suite, *, radius: int = 1, limit: int = 200) -> Neighbourhood:
    """The states that at most ``radius`` steps lead to from a state of a trace that replays on the suite's protocol.

    States are looked for in the order of the trace and of the protocol's actions until there are ``limit`` besides its own.
    """
    return _Around(trace, suite).within(radius, limit)


def as_graphml(graph: Neighbourhood) -> str:
    """The neighbourhood as GraphML, with all that is known of each state and transition, for graph tools such as Gephi."""
    graph.graph.graph["description"] = str(graph)
    return "\n".join(networkx.generate_graphml(graph.graph)) + "\n"


class _Around:
    """Explores the protocol from the states of a trace."""

    def __init__(self, trace: Trace, suite: Suite) -> None:
        self.trace, self.protocol = trace, suite.protocol
        prop = suite.named(trace.violated) if trace.violated is not None else None
        self.aim = Aim.of(suite, prop) if prop is not None and prop.kind != "leads_to" else None
        self.of_steps = prop is not None and prop.kind == "step"
        self.kernel = self.aim.kernel if self.aim else Kernel(suite.protocol)
        self.run = [plain(self.kernel.packing.pack(state)) for state in trace.states]
        self.numbers: dict[Packed, int] = {}
        self.known: dict[Packed, list[tuple[int, Packed]]] = {}
        self.graph = networkx.MultiDiGraph()

    def within(self, radius: int, limit: int) -> Neighbourhood:
        limited = False
        limit += len(set(self.run))
        for place, state in enumerate(self.run):
            if state not in self.numbers:
                self._add(state, 0, place, -1, self.trace.steps[place - 1].action if place else "")
        level = list(self.numbers)
        for distance in range(1, radius + 1):
            nearest: list[Packed] = []
            for state, action, after in self._transitions(level):
                if after in self.numbers:
                    continue
                if len(self.numbers) >= limit:
                    limited = True
                    break
                self._add(after, distance, -1, self.numbers[state], action)
                nearest.append(after)
            level = nearest
        self._connect()
        further = {after for _, _, after in self._transitions(list(self.numbers)) if after not in self.numbers}
        return Neighbourhood(self.graph, radius, len(further), limited)

    def _transitions(self, states: list[Packed]) -> Iterator[tuple[Packed, str, Packed]]:
        for state in states:
            for action, after in self._successors(state):
                yield state, self.kernel.actions[action].label, after

    def _successors(self, state: Packed) -> list[tuple[int, Packed]]:
        if state not in self.known:
            words = np.array(state, dtype=np.uint64)
            self.known[state] = [(a, plain(self.kernel.apply(words, a))) for a in self.kernel.enabled(words)]
        return self.known[state]

    def _add(self, state: Packed, distance: int, place: int, via: int, action: str) -> None:
        values = self._values(state)
        before = self._values(self.run[place - 1]) if place > 0 else values
        label = str(place)
        if via >= 0:
            before = self.graph.nodes[via]["values"]
            label = f"{self.graph.nodes[via]['label']} + {action}"
        text = " ".join(changes(self.protocol.variables, before, values)) if action else ""
        number = self.numbers[state] = len(self.numbers)
        rows = zip(self.protocol.variables, values, strict=True)
        about = {"label": label, "distance": distance, "place": place, "via": via, "action": action, "changes": text}
        shown = "; ".join(f"{variable.name} {variable.domain.show(raw)}" for variable, raw in rows)
        self.graph.add_node(number, **about, state=shown, values=values)

    def _values(self, state: Packed) -> tuple[int, ...]:
        return self.kernel.packing.unpack(np.array(state, dtype=np.uint64))

    def _connect(self) -> None:
        """Adds the transitions between the states that were found, and says of each state and transition what it is."""
        steps = {(before, step.action) for before, step in zip(self.run, self.trace.steps, strict=False)}
        for state, number in self.numbers.items():
            violates = not self.of_steps and self._shows([state], [])
            leads_out = any(after not in self.numbers for _, after in self._successors(state))
            self.graph.nodes[number].update(violates=violates, open=leads_out)
            del self.graph.nodes[number]["values"]
            for action, after in self._successors(state):
                if after in self.numbers:
                    taken = self.kernel.actions[action]
                    about = {"label": taken.label, "actor": taken.actor, "fault": taken.fault}
                    about["on_trace"] = (state, taken.label) in steps
                    about["violates"] = self.of_steps and self._shows([state, after], [action])
                    self.graph.add_edge(number, self.numbers[after], taken.label, **about)

    def _shows(self, path: list[Packed], actions: list[int]) -> bool:
        return self.aim is not None and self.aim.shown(path, actions)
