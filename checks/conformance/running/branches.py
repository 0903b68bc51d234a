"""The branches of actions: which alternative of a guard holds where one is taken, and which way each ``If`` in it goes.

A pair of an action and a branch is what a campaign covers: an action that was taken a thousand times, always by the same way
through its conditions, was not held against the code in the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache

from fencepost.model.analysis.branches import branches
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import shortest_ways
from fencepost.model.language import Action, And, Or, Protocol
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.simplification import truth_of
from fencepost.model.terms.values import Condition
from fencepost.traces.trace import State, Trace
from fencepost.traces.wording.wording import Wording

Branch = tuple[str, str]
"""The name of an action, and the condition that held as it was taken, in words and of no particular member."""

LONGEST = 160
"""Characters of a condition that are worth reading. Conditions that are alike so far count as one."""


SEARCHED = Limits(memory=64 << 20)
"""What the search for ways to branches may take: some seconds."""

REMEMBERED = 10_000
"""States of which the branches are remembered: some megabytes."""


class Branches:
    """The branches of the actions of an instance."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._wording = Wording(protocol)
        self._members = {
            universe.label(member): universe.name for universe in protocol.universes.values() for member in universe
        }
        formulas: list[Condition] = []
        numbers: dict[Term, int] = {}
        self._of: dict[str, list[tuple[int, Branch]]] = {}
        self._goals: dict[Branch, list[Condition]] = {}
        for action in protocol.actions:
            rows = self._of.setdefault(action.label, [])
            words = self._words(action)
            for formula, way in branches(action):
                if truth_of(formula) is not None:
                    continue  # it is taken always, or never
                text = words(way)
                self._goals.setdefault((action.name, text), []).append(And(action.guard, formula))
                number = numbers.setdefault(formula, len(formulas))
                if number == len(formulas):
                    formulas.append(formula)
                rows.append((number, (action.name, text)))
        self._formulas = tuple(formulas)
        self._about = {label: sum({1 << number for number, _ in rows}) for label, rows in self._of.items()}
        self._taken = lru_cache(REMEMBERED)(self._taken_where)
        self._true = lru_cache(REMEMBERED)(self._observed)  # runs come to the same states again and again

    def _observed(self, state: State) -> int:
        """The formulas that hold in a state, a bit for each."""
        return self._kernel.observed_bits(self._kernel.packing.pack(state)) if self._formulas else 0

    def of_run(self, trace: Trace) -> frozenset[Branch]:
        """The branches that the steps of a run take."""
        taken = set[Branch]()
        for before, step in zip(trace.states, trace.steps, strict=False):
            taken |= self.at(before, step.action)
        return frozenset(taken)

    @property
    def every(self) -> frozenset[Branch]:
        """All branches, whether they can be taken or not."""
        return frozenset(branch for rows in self._of.values() for _, branch in rows)

    def at(self, state: State, label: str) -> frozenset[Branch]:
        """The branches that the action of that label takes if it happens in the state; none if there is no such action."""
        return self._taken(label, self._true(state) & self._about.get(label, 0))

    def at_each(self, state: State, labels: Iterable[str]) -> dict[str, frozenset[Branch]]:
        """The branches that each of these actions takes if it happens in the state, which is looked at once."""
        true = self._true(state)
        return {label: self._taken(label, true & self._about.get(label, 0)) for label in labels}

    def _taken_where(self, label: str, true: int) -> frozenset[Branch]:
        return frozenset(branch for number, branch in self._of.get(label, ()) if true >> number & 1)

    @cached_property
    def ways(self) -> Mapping[Branch, tuple[str, ...]]:
        """For each branch that a search of the instance meets, in order, the labels of a shortest run to a state in which it is
        open. The search has a limit; what it does not meet, random runs may still."""
        goals = sorted(self._goals)
        ways = shortest_ways(self._protocol, [Or(self._goals[branch]) for branch in goals], SEARCHED)
        actions = self._protocol.actions
        return {goals[goal]: tuple(actions[number].label for number in way.actions) for goal, way in ways.items()}

    @cached_property
    def _kernel(self) -> Kernel:
        return Kernel(self._protocol, self._formulas)

    def _words(self, action: Action) -> Callable[[Condition], str]:
        """What writes a condition of an action: its arguments by their names, other members by their universe's."""
        of_universes = zip(action.arguments.items(), action.grounding, strict=True)
        arguments = {label: name for (name, label), (universe, _) in of_universes if universe is not None}
        names = {**self._members, **arguments}
        pattern = re.compile("|".join(rf"\b{re.escape(label)}\b" for label in sorted(names, key=len, reverse=True)) or r"(?!)")

        def words(formula: Condition) -> str:
            text = pattern.sub(lambda match: names[match[0]], self._wording(formula))
            return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

        return words
