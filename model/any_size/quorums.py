"""Counting members of an unbounded universe: "at least so many" says that there is a quorum, a set of so many, in which all.

Of quorums only what follows from their sizes is supposed: that none is empty, that two of them have a member in common if
together they are more than the universe has members, and that one stays one where a member is exchanged for another. That
their sizes are such is proved over the integers. "At least as many as in two", as in an ensemble and one more, is said of two
without a member in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Protocol, runtime_checkable

from fencepost.model.any_size.sizes import Size
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.asking import Asking
from fencepost.model.terms.nodes import Function, Term, constant, number
from fencepost.model.terms.simplification import simplified
from fencepost.model.terms.sorts import BOOL, Sort, things_sort
from fencepost.model.terms.traversal import substituted
from fencepost.model.terms.values import (
    FALSE,
    Condition,
    Number,
    conjunction,
    disjunction,
    equation,
    for_all,
    for_some,
    implication,
    negation,
)


@dataclass(frozen=True, eq=False)
class Quorum:
    """The sets of ``count`` members of a universe with ``size`` members, as a sort; ``has`` relates members and sets.

    ``is_one`` is true of all of them: it is what a solver meets where a formula speaks of such a set.
    """

    name: str
    universe: str
    count: Number
    size: Number
    sort: Sort[Term]
    has: Function[Condition]
    is_one: Function[Condition]

    def a_set(self, name: str) -> Term:
        """A constant for such a set."""
        return constant(name, self.sort)

    def a_member(self, name: str) -> Term:
        """A constant for a member of the universe."""
        return constant(name, self.has.sorts[0])

    def within(self, chosen: Term, holds: Callable[[Term], Condition]) -> Condition:
        """The formula: it is such a set, and that holds of each of its members."""
        one = self.a_member("q")
        return conjunction((self.is_one(chosen), for_all([one], implication(self.has(one, chosen), holds(one)))))


@dataclass(frozen=True, eq=False)
class Single:
    """The sets of one member, which are its members themselves; otherwise like a ``Quorum``."""

    universe: str
    sort: Sort[Term]

    @property
    def count(self) -> Number:
        """One."""
        return number(1)

    def a_set(self, name: str) -> Term:
        """A constant for a member."""
        return constant(name, self.sort)

    def has(self, member: Term, chosen: Term) -> Condition:
        """The formula: this is the member."""
        return equation(member, chosen)

    def within(self, chosen: Term, holds: Callable[[Term], Condition]) -> Condition:
        """The formula: that holds of the member."""
        return holds(chosen)


@runtime_checkable
class Counted(Protocol):
    """A universe as quorums need it."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> Size: ...

    @property
    def sort(self) -> Sort[Term]:
        """The sort of its members."""


class Quorums:
    """The quorums that the formulas of a protocol speak of."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Quorum] = {}
        self.firsts: dict[str, tuple[Number, Function[Condition]]] = {}
        """Of each universe of which a part is told by its size: that, and the relation that holds of its members."""
        self._assumed: list[Condition] = []
        self._counted: dict[Sort[Term], None] = {}

    def suppose(self, formulas: list[Condition]) -> None:
        """Takes note of what is known of the sizes."""
        self._assumed += formulas

    def at_least(self, count: Number, formula: Condition, marker: Term, universe: Counted) -> Condition:
        """The formula: it holds of at least ``count`` of the members for which the marker stands.

        Raises ModelError for a number that is not known to be from 1 up to their size.
        """
        size = universe.size.term
        self._counted.setdefault(marker.sort)

        def holds(member: Term) -> Condition:
            return substituted(formula, {marker: member})

        if self._follows(count > size):
            return FALSE
        if self._follows(count == size):
            one = constant("q", marker.sort)
            return for_all([one], holds(one))
        if not self._follows(conjunction((count >= 1, count <= size))):
            raise ModelError(f"at_least({count}, ...): whether that is a number from 1 to {size} depends on the sizes")
        if pair := self._two(count, universe, marker.sort):
            return _apart(*pair, holds)
        quorum = self._quorum(count, universe)
        chosen = quorum.a_set("Q")
        return for_some([chosen], quorum.within(chosen, holds))

    def _quorum(self, count: Number, universe: Counted) -> Quorum:
        """The quorums of that size."""
        known = next((one for one in self._known_of(universe.name) if self._follows(one.count == count)), None)
        if known is not None:
            return known
        name = str(simplified(count))
        sort = things_sort(f"{name} of {universe.name}")
        has = Function(f"among {name} of {universe.name}", universe.sort, sort, BOOL)
        is_one = Function(f"is {name} of {universe.name}", sort, BOOL)
        quorum = self.known[universe.name, name] = Quorum(name, universe.name, count, universe.size.term, sort, has, is_one)
        return quorum

    def _two(self, count: Number, universe: Counted, sort: Sort[Term]) -> tuple[Quorum | Single, Quorum | Single] | None:
        """Two sizes that are together ``count``, if of both was spoken before, or of the size that is one less.

        Rather two of which neither is 1: with an ack quorum, what it takes to deny it.
        """
        known, of_one = self._known_of(universe.name), Single(universe.name, sort)
        if any(self._follows(count == one.count) for one in known):
            return None
        for pair in combinations_with_replacement(known, 2):
            if self._follows(count == pair[0].count + pair[1].count):
                return pair
        for less in known:
            if self._follows(count == less.count + 1):
                others = (one for one in known if one is not less and self._follows(count - one.count >= 1))
                other = next(others, None)
                return (less, of_one) if other is None else (other, self._quorum(count - other.count, universe))
        return None

    def first(self, size: Number, universe: Counted) -> Callable[[Term], Condition]:
        """Which members are the first so many, as far as it is known: they are so many, whichever they are.

        Raises ModelError for a number that is not known to be one of a part of them.
        """
        if not self._follows(conjunction((size >= 1, size < universe.size.term))):
            raise ModelError(f"of {universe.name}, of which there are any number, none are known as the first {size}")
        holds = Function(f"first {universe.name}", universe.sort, BOOL)
        self.firsts[universe.name] = size, holds
        self._counted.setdefault(universe.sort)
        return lambda member: holds(member)

    def axioms(self) -> Iterator[Condition]:
        """What is true of these quorums, whatever the sizes are."""
        for quorum in self.known.values():
            chosen, one = quorum.a_set("Q"), quorum.a_member("q")
            yield for_all([chosen], implication(quorum.is_one(chosen), for_some([one], quorum.has(one, chosen))))
        for first, second in combinations_with_replacement(self.known.values(), 2):
            if first.universe == second.universe and self._follows(first.count + second.count > first.size):
                this, that = first.a_set("Q"), second.a_set("R")
                both = conjunction((first.is_one(this), second.is_one(that)))
                yield for_all([this, that], implication(both, _meet(first, second, this, that)))
        for name, (size, is_first) in self.firsts.items():
            yield from self._of_the_first(name, size, is_first)

    def exchanged(self, leaving: Term, joining: Term) -> Iterator[Condition]:
        """With a member exchanged for another that it has not got a quorum is a quorum, as it has as many members."""
        for quorum in self.known.values():
            if quorum.has.sorts[0] is leaving.sort:
                before, after, one = quorum.a_set("Q"), quorum.a_set("R"), quorum.a_member("q")
                stays = conjunction((negation(equation(one, leaving)), quorum.has(one, before)))
                same = equation(quorum.has(one, after), disjunction((equation(one, joining), stays)))
                exchange = for_some([after], conjunction((quorum.is_one(after), for_all([one], same))))
                may = conjunction((quorum.is_one(before), quorum.has(leaving, before), negation(quorum.has(joining, before))))
                yield for_all([before], implication(may, exchange))

    def sorts(self) -> Iterator[Sort[Term]]:
        """The sorts of what is counted, and of these quorums."""
        yield from self._counted
        yield from (quorum.sort for quorum in self.known.values())

    def _of_the_first(self, universe: str, size: Number, is_first: Function[Condition]) -> Iterator[Condition]:
        """Of the first members there is every quorum that is not larger; and two that are, together, have one in common."""
        of_one = Single(universe, is_first.sorts[0])
        sizes: list[Quorum | Single] = [*self._known_of(universe), of_one]
        for quorum in sizes:
            if self._follows(quorum.count <= size):
                chosen = quorum.a_set("Q")
                yield for_some([chosen], quorum.within(chosen, is_first))
        for first, second in self._pairs(universe, of_one):
            if self._follows(first.count + second.count > size):
                this, that = first.a_set("Q"), second.a_set("R")
                inside = conjunction((first.within(this, is_first), second.within(that, is_first)))
                yield for_all([this, that], implication(inside, _meet(first, second, this, that)))

    def _known_of(self, universe: str) -> list[Quorum]:
        return [quorum for quorum in self.known.values() if quorum.universe == universe]

    def _pairs(self, universe: str, of_one: Single) -> Iterator[tuple[Quorum | Single, Quorum | Single]]:
        """Two sizes of sets that the formulas speak of, perhaps the same; 1 is always one of them, and comes last."""
        yield from combinations_with_replacement([*self._known_of(universe), of_one], 2)

    def _follows(self, formula: Condition) -> bool:
        """Whether that is so for all sizes: a question of linear arithmetic, which is decided."""
        return Asking(self._assumed).excludes(negation(formula))


def _apart(first: Quorum | Single, second: Quorum | Single, holds: Callable[[Term], Condition]) -> Condition:
    """The formula: there are two such sets without a member in common, and that holds of all members of both."""
    this, that = first.a_set("Q"), second.a_set("R")
    apart = negation(_meet(first, second, this, that))
    return for_some([this, that], conjunction((first.within(this, holds), second.within(that, holds), apart)))


def _meet(first: Quorum | Single, second: Quorum | Single, this: Term, that: Term) -> Condition:
    """The formula: these two sets have a member in common."""
    if isinstance(second, Single):
        return first.has(that, this)
    one = second.a_member("q")
    return for_some([one], conjunction((first.has(one, this), second.has(one, that))))
