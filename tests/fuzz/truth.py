"""What is true of a generated protocol, as plain Python sees it: of its properties, and of runs that engines show."""

from __future__ import annotations

from collections.abc import Sequence

import networkx

from fencepost.traces.trace import Loop, Trace
from tests.fuzz.plain import Meaning, Reading, State, World
from tests.fuzz.syntax import Statement, Term


class Truth:
    """Answers of one protocol, from all that was explored of it."""

    def __init__(self, reading: Reading, world: World) -> None:
        self.reading, self.world = reading, world
        self._numbers = {event.label: number for number, event in enumerate(reading.events)}
        self._meanings: dict[int, tuple[Term, Meaning]] = {}

    def holds(self, term: Term, state: State, after: State | None = None) -> bool:
        """Whether a formula holds in a state or, if it speaks of next values, of a step."""
        if id(term) not in self._meanings:
            self._meanings[id(term)] = term, self.reading.meaning(term, {})
        return bool(self._meanings[id(term)][1](state, state if after is None else after))

    def first(self, term: Term) -> int | None:
        """How many steps away the nearest state is in which a formula holds; None if none was met."""
        for depth, level in enumerate(self.world.levels):
            if any(self.holds(term, state) for state in level):
                return depth
        return None

    def shortest(self, statement: Statement) -> int | None:
        """The steps of a shortest run that violates a property (or reaches a ``sometimes``); None if none was met."""
        (formula,) = statement.formulas
        if statement.kind == "sometimes":
            return self.first(formula)
        if statement.kind in ("always", "strict"):
            return self.first(Term("not", (formula,)))
        lengths = []
        for state, steps in self.world.steps.items():
            if statement.kind == "ends" and not steps and not self.holds(formula, state):
                lengths.append(self.world.depth[state])
            elif statement.kind == "step" and any(self._broken(formula, state, after) for _, after in steps):
                lengths.append(self.world.depth[state] + 1)
        return min(lengths, default=None)

    def _broken(self, formula: Term, state: State, after: State) -> bool:
        """Whether a step breaks a rule of steps, which does not speak of those that change nothing."""
        return after != state and not self.holds(formula, state, after)

    @staticmethod
    def noticed(statement: Statement, shortest: int) -> int:
        """With which level a breadth-first search meets a shortest violation: of an end it knows when it has looked beyond."""
        return shortest + (statement.kind == "ends")

    # --- what must come about; only of what was explored as a whole

    def is_met(self, statement: Statement) -> bool:
        """Whether any premise ever holds."""
        return any(self.first(premise) is not None for premise in statement.formulas[::2])

    def comes(self, statement: Statement) -> bool:
        """Whether each conclusion comes on every fair run whenever its premise has held."""
        pairs = zip(statement.formulas[::2], statement.formulas[1::2], strict=True)
        return not any(self._may_wait(statement, premise, conclusion) for premise, conclusion in pairs)

    def _may_wait(self, statement: Statement, premise: Term, conclusion: Term) -> bool:
        graph = networkx.MultiDiGraph()
        open_still = {state for state in self.world.depth if not self.holds(conclusion, state)}
        graph.add_nodes_from(open_still)
        for state in open_still:
            graph.add_edges_from((state, after, number) for number, after in self.world.steps[state] if after in open_still)
        pending = {state for state in open_still if self.holds(premise, state)}
        for state in list(pending):
            pending |= networkx.descendants(graph, state)
        part = graph.subgraph(pending)
        if any(not self._obliged(statement, state) for state in pending):
            return True  # it may stop there
        return any(self._is_fair(statement, part.subgraph(nodes)) for nodes in networkx.strongly_connected_components(part))

    def obliges(self, statement: Statement, number: int) -> bool:
        """Whether the property obliges an event."""
        deed = self.reading.events[number].deed
        return deed.fair and deed.name not in statement.unfair

    def _obliged(self, statement: Statement, state: State) -> set[int]:
        return {number for number, _ in self.world.steps[state] if self.obliges(statement, number)}

    def _is_fair(self, statement: Statement, component: networkx.MultiDiGraph) -> bool:
        """Whether a run may stay in a component forever."""
        taken = {number for _, _, number in component.edges(keys=True)}
        always = set.intersection(*(self._obliged(statement, state) for state in component))
        return bool(taken) and always <= taken

    # --- runs

    def flaw(self, trace: Trace, statement: Statement | None) -> str:
        """What is wrong with a run that is said to violate a property, or to reach a ``sometimes``; empty if nothing is."""
        state, numbers = trace.initial, list[int]()
        if state not in self.reading.initial:
            return f"it does not begin in an initial state: {state}"
        for step in trace.steps:
            number = self._numbers.get(step.action)
            if number is None or not self.reading.events[number].guard(state, state):
                return f"{step.action} cannot happen in {state}"
            after = self.reading.take(self.reading.events[number], state)
            if after != step.state:
                return f"{step.action} leads from {state} to {after}, not to {step.state}"
            numbers.append(number)
            state = after
        if statement is None:
            return ""
        if statement.kind == "leads_to":
            return self._flaw_of_lasso(trace.states, numbers, trace.loop, statement)
        return "" if self._is_shown(trace.states, statement) else f"{statement.name} is not what it shows"

    def _is_shown(self, states: Sequence[State], statement: Statement) -> bool:
        (formula,) = statement.formulas
        if statement.kind == "step":
            return len(states) > 1 and self._broken(formula, states[-2], states[-1])
        if statement.kind == "ends":
            return not self.reading.steps(states[-1]) and not self.holds(formula, states[-1])
        return self.holds(formula, states[-1]) == (statement.kind == "sometimes")

    def _flaw_of_lasso(self, states: Sequence[State], numbers: list[int], loop: Loop | None, statement: Statement) -> str:
        if loop is None or states[loop.start] != states[-1]:
            return "it has no loop"
        enabled = [{number for number, _ in self.reading.steps(state)} for state in states[loop.start :]]
        left_out = set.intersection(*enabled) - set(numbers[loop.start :])
        if any(self.obliges(statement, number) for number in left_out):
            return "its loop is not fair"
        for premise, conclusion in zip(statement.formulas[::2], statement.formulas[1::2], strict=True):
            fulfilled = [place for place, state in enumerate(states) if self.holds(conclusion, state)]
            after = max(fulfilled, default=-1) + 1
            if after <= loop.start and any(self.holds(premise, state) for state in states[after:]):
                return ""
        return f"{statement.name} is fulfilled on it"
