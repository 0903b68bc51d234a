"""Subsets where universes may be unbounded: instead of a bit for each member, what holds of a member that is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias

from fencepost.model.language.formulas import And, Not, Or, StandsForSubset
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition, Truth, conditional, equation
from fencepost.model.terms.values import condition as formula_of

Element: TypeAlias = Term | int
Holds: TypeAlias = Callable[[Element], Truth]
Place: TypeAlias = tuple[str, tuple[Element, ...]]
"""The name of a family, and an index of it."""

Subsets: TypeAlias = "Membership | Iterable[Element]"


class Members(Protocol):
    """A universe as subsets need it."""

    is_unbounded: bool

    def __iter__(self) -> Iterator[Element]:
        """Its members, or the marker that stands for them."""

    def is_member(self, member: Element) -> bool:
        """Whether that is a member, and no term of which it is open."""

    def within(self, member: Element) -> Condition:
        """The formula: the term is a member."""


class Membership(StandsForSubset):
    """A subset of a universe, with the words of a subset term; ``place`` says of which variable it is the value, if of one."""

    def __init__(self, universe: Members, holds: Holds, place: Place | None = None) -> None:
        self.universe, self.holds, self.place = universe, holds, place

    def has(self, member: Element) -> Condition:
        """The formula: the subset contains the member, or the value of the term, which may lie beyond the universe."""
        if self.universe.is_member(member):
            return formula_of(self.holds(member))
        if self.universe.is_unbounded:
            return And(self.universe.within(member), self.holds(member))
        return Or(*(And(_same(member, m), self.holds(m)) for m in self.universe))

    def plus(self, member: Element) -> Membership:
        """The subset with a member added."""
        return Membership(self.universe, lambda m: Or(_same(m, member), self.holds(m)))

    def minus(self, member: Element) -> Membership:
        """The subset with a member taken out."""
        return Membership(self.universe, lambda m: And(Not(_same(m, member)), self.holds(m)))

    @property
    def is_empty(self) -> Condition:
        """The formula: nothing is in."""
        return And(*(Not(self.holds(m)) for m in self.universe))

    def beside(self, other: object) -> Membership:
        """The other subset, which may be written as a set of members."""
        if isinstance(other, Membership):
            return other
        if not isinstance(other, Iterable):
            raise ModelError(f"{other!r} is no set of members")
        members = list(other)
        return Membership(self.universe, lambda m: Or(*(_same(m, one) for one in members)))

    def between(self, test: Truth, then: object, otherwise: object) -> Membership:
        """The first subset where the condition holds, else the second; one of them may be written as a set of members."""
        first, second = self.beside(then), self.beside(otherwise)
        return Membership(self.universe, lambda m: _chosen(test, first.holds(m), second.holds(m)))

    def __or__(self, other: Subsets) -> Membership:
        theirs = self.beside(other)
        return Membership(self.universe, lambda m: Or(self.holds(m), theirs.holds(m)))

    def __and__(self, other: Subsets) -> Membership:
        theirs = self.beside(other)
        return Membership(self.universe, lambda m: And(self.holds(m), theirs.holds(m)))

    def __invert__(self) -> Membership:
        return Membership(self.universe, lambda m: Not(self.holds(m)))

    def __eq__(self, other: Subsets) -> Condition:  # type: ignore[override]  # as of any subset
        theirs = self.beside(other)
        return And(*(equation(formula_of(self.holds(m)), formula_of(theirs.holds(m))) for m in self.universe))

    def __ne__(self, other: Subsets) -> Condition:  # type: ignore[override]
        return Not(self == other)

    def __hash__(self) -> int:
        return id(self)


def subset_of(universe: Members, members: object) -> Membership:
    """These members of a universe."""
    return Membership(universe, lambda m: False).beside(members)


def _same(one: object, other: object) -> Condition:
    return formula_of(one == other)


def _chosen(test: Truth, one: Truth, other: Truth) -> Condition:
    return conditional(formula_of(test), formula_of(one), formula_of(other))
