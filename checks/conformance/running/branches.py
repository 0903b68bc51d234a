"""The branches of actions: which alternative of a guard holds where one is taken, and which way each ``If`` in it goes.

A pair of an action and a branch is what a campaign covers: an action that was taken a thousand times, always by the same way
through its conditions, was not held against the code in the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Limits, Sought
from fencepost.model.kernel.search.search import search
from fencepost.model.language import Action, And, Not, Or, Protocol
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.simplification import truth_of
from fencepost.model.terms.values import Condition, conditions_of
from fencepost.model.terms.values import condition as condition_of
from fencepost.traces.trace import State, Trace
from fencepost.traces.wording.reasons import conjuncts
from fencepost.traces.wording.wording import Wording

Branch = tuple[str, str]
"""The name of an action, and the condition that held as it was taken, in words and of no particular member."""

LONGEST = 160
"""Characters of a condition that are worth reading. Conditions that are alike so far count as one."""


SEARCHED = 64 << 20
"""Bytes that the search for ways to branches may take: some seconds."""

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
            for formula, text in _alternatives(action, self._words(action)):
                self._goals.setdefault((action.name, text), []).append(And(action.guard, formula))
                number = numbers.setdefault(formula, len(formulas))
                if number == len(formulas):
                    formulas.append(formula)
                rows.append((number, (action.name, text)))
        self._formulas = tuple(formulas)
        self._true = lru_cache(REMEMBERED)(self._observed)  # runs come to the same states again and again

    def _observed(self, state: State) -> frozenset[int]:
        """The numbers of the formulas that hold in a state."""
        return frozenset(self._kernel.observe(self._kernel.packing.pack(state)) if self._formulas else ())

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
        true = self._true(state)
        return frozenset(branch for number, branch in self._of.get(label, ()) if number in true)

    @cached_property
    def ways(self) -> Mapping[Branch, tuple[str, ...]]:
        """For each branch that a search of the instance meets, in order, the labels of a shortest run to a state in which it is
        open. The search has a limit; what it does not meet, random runs may still."""
        branches = sorted(self._goals)
        kernel = Kernel(self._protocol, [Or(self._goals[branch]) for branch in branches])
        result = search(kernel, Sought(watch=range(len(branches))), workers=1, limits=Limits(memory=SEARCHED))
        return {
            branches[find.formula]: tuple(kernel.actions[number].label for number in result.path(find, 1).actions)
            for find in sorted(result.watched, key=lambda find: find.formula)
        }

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


def _alternatives(action: Action, words: Callable[[Condition], str]) -> Iterator[tuple[Condition, str]]:
    """The conditions that tell the branches of an action apart, each with its text."""
    for part in conjuncts(action.guard):
        if part.op == "or":
            yield from ((one, words(one)) for one in conditions_of(part) if not _is_settled(one))
    seen: set[Term] = set()
    for value in action.updates.values():
        for path, condition in _decisions(value, (), seen):
            for way in (condition, Not(condition)):
                formula = And(*path, way)
                if not _is_settled(formula):
                    yield formula, words(way)


def _is_settled(formula: Condition) -> bool:
    """Whether it holds always, or never."""
    return truth_of(formula) is not None


def _decisions(term: Term, path: tuple[Condition, ...], seen: set[Term]) -> Iterator[tuple[tuple[Condition, ...], Condition]]:
    """The condition of every ``If`` in a term, each once, with the conditions on the way to it."""
    stack = [(term, path)]
    while stack:
        node, way = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "ite":
            test, then, otherwise = node.arguments
            condition = condition_of(test)
            yield way, condition
            stack += [(then, (*way, condition)), (otherwise, (*way, Not(condition))), (condition, way)]
        else:
            stack += [(child, way) for child in node.arguments]
