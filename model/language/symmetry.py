"""Which members of the universes are interchangeable in a protocol: found from its declarations, and proved.

A protocol is symmetric under an exchange of two members if whatever can happen in a state can happen, with the two exchanged,
in the state with the two exchanged. Then states that differ by nothing else satisfy the same formulas, as long as these do not
tell the two apart either, and one of them can stand for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import factorial, prod
from typing import Any

import z3

from model.language.declarations import Action, Variable
from model.language.domains import Universe
from model.language.protocol import Protocol
from model.language.transposition import Transposition

EFFORT = 50_000_000
"""What Z3 may spend on one question, in its own units, which are the same on every machine; it takes seconds to reach."""


Renaming = Mapping[Variable, tuple[tuple[Any, Any], ...]]
"""For each variable that an exchange changes, what stands for its value, and for its next value, afterwards."""


@dataclass(frozen=True)
class Interchangeable:
    """Members of a universe of which any two may be exchanged."""

    universe: Universe
    members: tuple[int, ...]

    @property
    def transpositions(self) -> tuple[Transposition, ...]:
        """The exchanges of neighbours, from which every permutation is made."""
        return tuple(Transposition(self.universe, one, other) for one, other in pairwise(self.members))

    def __str__(self) -> str:
        return f"{self.universe.name} " + ", ".join(map(self.universe.label, self.members))


@dataclass(frozen=True)
class Symmetry:
    """The proved symmetry of a protocol: every permutation within each of the classes, and of several at once.

    ``obstacles`` has, for each universe whose members are not all interchangeable, a sentence on what first told two apart.
    """

    classes: tuple[Interchangeable, ...]
    obstacles: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """How many permutations there are."""
        return prod(factorial(len(c.members)) for c in self.classes)

    def within(self, order: int) -> Symmetry:
        """A part of this symmetry with at most that many permutations: the largest classes are divided until it is so."""
        classes = list(self.classes)
        while classes and prod(factorial(len(c.members)) for c in classes) > order:
            largest = max(classes, key=lambda c: len(c.members))
            place, half = classes.index(largest), (len(largest.members) + 1) // 2
            parts = largest.members[:half], largest.members[half:]
            classes[place : place + 1] = [Interchangeable(largest.universe, part) for part in parts if len(part) > 1]
        return Symmetry(tuple(classes), self.obstacles)


def symmetry_of(
    protocol: Protocol, formulas: Mapping[str, Any], progress: Callable[[int, int], None] | None = None
) -> Symmetry:
    """The members of each universe that the protocol and these formulas, over values and next values, do not tell apart.

    The formulas are by name, as an obstacle is to name them. Two members are interchangeable if with them exchanged the
    initial states are the same, each action is the action with its arguments exchanged (enabled in the same states of the
    variables' domains, with the same effect), and each formula is equivalent to itself. What Z3 cannot prove counts as
    told apart. ``progress`` is told how many members have been compared with others, of how many.
    """
    proof = _Proof(protocol, formulas)
    classes: list[Interchangeable] = []
    obstacles: list[str] = []
    done, count = 0, sum(universe.size for universe in protocol.universes.values())
    for universe in protocol.universes.values():
        found, obstacle = _classes(universe, proof)
        done += universe.size
        if progress is not None:
            progress(done, count)
        classes += [Interchangeable(universe, tuple(members)) for members in found if len(members) > 1]
        obstacles += [obstacle] if obstacle else []
    return Symmetry(tuple(classes), tuple(obstacles))


def _classes(universe: Universe, proof: _Proof) -> tuple[list[list[int]], str]:
    """The classes of a universe, and the first obstacle between two of its members.

    One member of a class is compared for all: what can be exchanged with it can be exchanged with each.
    """
    classes: list[list[int]] = []
    first = ""
    for member in universe:
        for members in classes:
            obstacle = proof.obstacle(Transposition(universe, members[-1], member))
            if not obstacle:
                members.append(member)
                break
            labels = universe.label(members[-1]), universe.label(member)
            first = first or f"{universe.name} {labels[0]} and {labels[1]} are not interchangeable: {obstacle}"
        else:
            classes.append([member])
    return classes, first


class _Proof:
    """Looks for what stands in the way of exchanges."""

    def __init__(self, protocol: Protocol, formulas: Mapping[str, Any]) -> None:
        self._protocol, self._formulas = protocol, formulas
        self._variables = {(v.family, v.index): v for v in protocol.variables}
        self._actions = {(a.name, tuple(value for _, value in a.grounding)): a for a in protocol.actions}
        self._order: list[Action] = list(protocol.actions)
        self._solver = z3.SimpleSolver()
        self._solver.set("rlimit", EFFORT)
        for v in protocol.variables:
            self._solver.add(v.domain.within(v.term), v.domain.within(v.next))

    def obstacle(self, exchange: Transposition) -> str:
        """What tells the two members apart, or nothing."""
        return self._at_the_beginning(exchange) or self._in_the_actions(exchange) or self._in_the_formulas(exchange)

    def _at_the_beginning(self, exchange: Transposition) -> str:
        for v in self._variables.values():
            values = {exchange.value(v.domain, raw) for raw in v.initial}
            if values != set(self._after(exchange, v).initial):
                return f"{v.name} tells them apart at the beginning"
        return ""

    def _in_the_actions(self, exchange: Transposition) -> str:
        renaming = self._renaming(exchange)
        for action in self._order:
            obstacle = self._in_action(action, exchange, renaming)
            if obstacle:
                self._order.remove(action)
                self._order.insert(0, action)  # what tells two members apart is likely to tell others apart as well
                return obstacle
        return ""

    def _in_the_formulas(self, exchange: Transposition) -> str:
        renaming = self._renaming(exchange)
        for name, formula in self._formulas.items():
            if not self._always(*_compared(formula, self._exchanged(formula, renaming))):
                return f"{name} tells them apart"
        return ""

    def _in_action(self, action: Action, exchange: Transposition, renaming: Renaming) -> str:
        twin = self._actions.get(exchange.grounding(action))
        if twin is None:
            return "" if self._always(z3.Not(action.guard)) else f"action {action.label} has no counterpart"
        enabled = _compared(action.guard, self._exchanged(twin.guard, renaming))
        changed = {*action.updates, *(self._after(exchange, v) for v in twin.updates)}
        effects: list[Any] = []
        for v in sorted(changed, key=lambda v: v.name):
            other = self._after(exchange, v)
            mine = exchange.term(v.domain, action.updates.get(v, v.term))
            effects += _compared(mine, self._exchanged(twin.updates.get(other, other.term), renaming))
        if self._always(*enabled, *(z3.Implies(action.guard, effect) for effect in effects)):
            return ""
        if twin is action:
            return f"action {action.label} tells them apart"
        return f"action {action.label} with the two exchanged is not {twin.label}"

    def _after(self, exchange: Transposition, variable: Variable) -> Variable:
        return self._variables[exchange.place(variable)]

    def _renaming(self, exchange: Transposition) -> Renaming:
        renaming: dict[Variable, tuple[tuple[Any, Any], ...]] = {}
        for v in self._variables.values():
            other = self._after(exchange, v)
            pairs = (v.term, exchange.term(v.domain, other.term)), (v.next, exchange.term(v.domain, other.next))
            if not v.term.eq(pairs[0][1]):
                renaming[v] = pairs
        return renaming

    def _exchanged(self, term: Any, renaming: Renaming) -> Any:
        """What a term is worth in the exchanged state, in terms of the state before."""
        mentioned = sorted(self._protocol.variables_of(term) & renaming.keys(), key=lambda v: v.name)
        return z3.substitute(term, *(pair for v in mentioned for pair in renaming[v]))

    def _always(self, *formulas: Any) -> bool:
        """Whether Z3 proves that all formulas hold wherever the variables are in their domains."""
        if not formulas:
            return True
        self._solver.push()
        self._solver.add(z3.Not(z3.And(*formulas)))
        proved: bool = self._solver.check() == z3.unsat
        self._solver.pop()
        return proved


def _compared(first: Any, second: Any) -> list[Any]:
    """The equation of two terms, or nothing if they are the same text, as they stand or simplified."""
    if first.eq(second):
        return []
    one, other = z3.simplify(first), z3.simplify(second)
    return [] if one.eq(other) else [one == other]
