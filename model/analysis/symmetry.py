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

from fencepost.model.analysis.exchange import Equivalence, Exchange, Transposition
from fencepost.model.language.declarations import Action
from fencepost.model.language.domains import Universe
from fencepost.model.language.formulas import any_of
from fencepost.model.language.mistakes import ModelError
from fencepost.model.language.protocol import Protocol
from fencepost.model.terms.simplification import simplified
from fencepost.model.terms.values import Condition, implication, negation

MOST_IMAGES = 64
"""How many permutations of one formula are looked for together."""


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
    protocol: Protocol, formulas: Mapping[str, Condition], progress: Callable[[int, int], None] = lambda done, count: None
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
        groups, obstacle = _classes(universe, proof, lambda member: progress(done + member, count))  # noqa: B023
        done += universe.size
        classes += [Interchangeable(universe, tuple(members)) for members in groups if len(members) > 1]
        obstacles += [obstacle] if obstacle else []
    return Symmetry(tuple(classes), tuple(obstacles))


def _classes(universe: Universe, proof: _Proof, tell: Callable[[int], None]) -> tuple[list[list[int]], str]:
    """The classes of a universe, and the first obstacle between two of its members; ``tell`` hears of each member done.

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
        tell(member + 1)
    return classes, first


class _Proof:
    """Looks for what stands in the way of exchanges."""

    def __init__(self, protocol: Protocol, formulas: Mapping[str, Condition]) -> None:
        self._protocol, self._formulas = protocol, formulas
        self._actions = {(a.name, tuple(value for _, value in a.grounding)): a for a in protocol.actions}
        self._order = list(protocol.actions)
        self._places = {(v.family, v.index) for v in protocol.variables}
        self._equivalence = Equivalence(protocol)

    def obstacle(self, transposition: Transposition) -> str:
        """What tells the two members apart, or nothing."""
        lone = next((v for v in self._protocol.variables if transposition.place(v) not in self._places), None)
        if lone is not None:
            return f"{lone.name} has no counterpart in the slice"
        exchange = Exchange(self._protocol, transposition)
        return self._at_the_beginning(exchange) or self._in_the_actions(exchange) or self._in_the_formulas(exchange)

    def _at_the_beginning(self, exchange: Exchange) -> str:
        for v in self._protocol.variables:
            values = {exchange.transposition.value(v.domain, raw) for raw in v.initial}
            if values != set(exchange.variable(v).initial):
                return f"{v.name} tells them apart at the beginning"
        return ""

    def _in_the_actions(self, exchange: Exchange) -> str:
        for action in self._order:
            obstacle = self._in_action(action, exchange)
            if obstacle:
                self._order.remove(action)
                self._order.insert(0, action)  # what tells two members apart is likely to tell others apart as well
                return obstacle
        return ""

    def _in_the_formulas(self, exchange: Exchange) -> str:
        for name, formula in self._formulas.items():
            if not self._equivalence.same(formula, exchange.term(formula)):
                return f"{name} tells them apart"
        return ""

    def _in_action(self, action: Action, exchange: Exchange) -> str:
        twin = self._actions.get(exchange.transposition.grounding(action))
        if twin is None:
            return "" if self._equivalence.always(negation(action.guard)) else f"action {action.label} has no counterpart"
        enabled = self._equivalence.equation(action.guard, exchange.term(twin.guard))
        changed = {*action.updates, *(exchange.variable(v) for v in twin.updates)}
        effects: list[Condition] = []
        for v in sorted(changed, key=lambda v: v.name):
            other = exchange.variable(v)
            mine = exchange.transposition.term(v.domain, action.updates.get(v, v.term))
            effects += self._equivalence.equation(mine, exchange.term(twin.updates.get(other, other.term)))
        if self._equivalence.always(*enabled, *(implication(action.guard, effect) for effect in effects)):
            return ""
        if twin is action:
            return f"action {action.label} tells them apart"
        return f"action {action.label} with the two exchanged is not {twin.label}"


def anywhere(protocol: Protocol, symmetry: Symmetry, formula: Condition) -> Condition:
    """The formula: some permutation of the state satisfies the given one, which may tell members apart.

    Where a state can be reached, so can all its permutations: the given formula holds in some reachable state just if this one
    does, and this one tells no members apart. Raises ModelError if that takes too many formulas.
    """
    exchanges = [Exchange(protocol, transposition) for c in symmetry.classes for transposition in c.transpositions]
    equivalence, images = Equivalence(protocol), [formula]
    for image in images:  # grows meanwhile
        for exchange in exchanges:
            other = simplified(exchange.term(image))
            if not any(equivalence.same(other, known) for known in images):
                images.append(other)
                if len(images) > MOST_IMAGES:
                    raise ModelError(
                        f"{protocol.name}: a formula speaks of so many particular members that it has over {MOST_IMAGES}"
                        " permutations: say it of any members, or search without symmetry"
                    )
    return any_of(images)
