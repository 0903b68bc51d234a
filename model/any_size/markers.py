"""Markers: what stands for every member of an unbounded universe while a loop over it runs.

Iterating an unbounded universe yields one marker. A formula that mentions a marker whose loop has ended is *open*: it stands
for one formula for each member, as a loop over a finite universe makes them. Whatever joins formulas closes open ones: a
conjunction by "for all", a disjunction by "there is". Where formulas are not joined nothing can be meant by an open one, and it
is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Protocol

from fencepost.model.any_size.quorums import Counted, Quorums
from fencepost.model.language.formulas import closed
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.simplification import simplified
from fencepost.model.terms.traversal import QUANTIFIERS, substituted
from fencepost.model.terms.values import (
    TRUE,
    Condition,
    Numeric,
    StandsForNumber,
    Truth,
    condition,
    conjunction,
    disjunction,
    distinct,
    for_all,
    for_some,
    implication,
    negation,
)


class Unlimited(Protocol):
    """A universe as markers need it."""

    def fresh(self) -> Term:
        """A constant for a member, of a name that nothing else has."""

    def within(self, member: Term) -> Condition:
        """The formula: a term of the sort is a member."""

    def narrows(self, member: Term) -> Condition:
        """The formula: a member is one of those that are gone through, which may be some of them only."""


class Markers:
    """The markers of one protocol."""

    def __init__(self) -> None:
        self._universes: dict[Term, Unlimited] = {}
        self._live: set[Term] = set()
        self._mentioned: dict[Term, frozenset[Term]] = {}
        self.quorums = Quorums()

    def each(self, universe: Unlimited) -> Iterator[Term]:
        """One marker for all members, which lives as long as the loop over it."""
        marker = universe.fresh()
        self._universes[marker] = universe
        self._live.add(marker)
        try:
            yield marker
        finally:
            self._live.discard(marker)

    @contextmanager
    def alive(self, terms: Iterable[Term]) -> Iterator[None]:
        """Within it those of the terms that are markers are live again, though their loop has ended."""
        again = {term for term in terms if self.is_marker(term)} - self._live
        self._live |= again
        try:
            yield
        finally:
            self._live -= again

    def is_marker(self, term: Term) -> bool:
        """Whether the term is a marker itself."""
        return isinstance(term, Term) and term in self._universes

    def of(self, term: Term) -> list[Term]:
        """The markers whose loop has ended that the term mentions, in the order in which they were made."""
        open_ = self._markers_in(term) - self._live
        return [marker for marker in self._universes if marker in open_]

    def close(self, formula: Condition, *, universal: bool) -> Condition:
        """The formula for all members that its markers stand for, or else for some of them."""
        markers = self.of(formula)
        if not markers:
            return formula
        within = [w for m in markers for w in self._within(m)]
        while len(known := self.of(conjunction((formula, *within)))) > len(markers):  # besides a marker alone
            within += [w for m in known if not any(m is one for one in markers) for w in self._within(m)]
            markers = known
        if universal:
            return for_all(markers, implication(conjunction(tuple(within)), formula) if within else formula)
        return for_some(markers, conjunction((*within, formula)) if within else formula)

    def narrowing(self, marker: Term) -> Condition:
        """The formula: the member that a marker stands for is one of those that its loop goes through."""
        return self._universes[marker].narrows(marker)

    def _within(self, marker: Term) -> list[Condition]:
        universe = self._universes[marker]
        return [w for w in (universe.within(marker), universe.narrows(marker)) if w is not TRUE]

    def _so_many(self, count: int, formula: Condition) -> Condition | None:
        """The formula: there are ``count`` different members for which it holds; None if it is not open in one marker."""
        if len(markers := self.of(formula)) != 1:
            return None
        (marker,) = markers
        them = [self._universes[marker].fresh() for _ in range(count)]
        held = conjunction((*self._within(marker), formula))
        different = [distinct(one, other) for one, other in combinations(them, 2)]
        return for_some(them, conjunction((*different, *(substituted(held, {marker: one}) for one in them))))

    def counted(self, count: Numeric, formulas: Sequence[Truth]) -> Condition | None:
        """The formula: at least so many of the formulas hold; None if a number is asked for, and they stand for no others.

        If the number is a term, one formula stands for all, or there is none; else ModelError is raised.
        """
        if isinstance(count, int):
            one = formulas[0] if count > 1 and len(formulas) == 1 else None
            return self._so_many(count, one) if isinstance(one, Condition) else None
        settled = simplified(count.term if isinstance(count, StandsForNumber) else count)
        if settled.op == "literal" and settled.detail == 1:
            return disjunction(tuple(map(condition, closed(tuple(formulas), universal=False))))
        if not formulas:
            return negation(settled > 0)
        formula = condition(formulas[0])
        markers = self.of(formula)
        universe = self._universes[markers[0]] if len(formulas) == len(markers) == 1 else None
        if not isinstance(universe, Counted):
            raise ModelError(f"at_least({settled}, ...) is of one formula for each member of one unbounded universe")
        within = self._within(markers[0])
        return self.quorums.at_least(settled, conjunction((*within, formula)) if within else formula, markers[0], universe)

    def refuse(self, what: str, *formulas: object) -> None:
        """Raises ModelError if one of the formulas is open."""
        for term in formulas:
            if isinstance(term, Term) and self.of(term):
                raise ModelError(
                    f"{what} of a formula that is meant for each member of a universe: join these with all_of or any_of first"
                )

    def _markers_in(self, term: Term) -> frozenset[Term]:
        known = self._mentioned.get(term)
        if known is None:
            if term in self._universes:
                known = frozenset([term])
            else:
                known = frozenset[Term]().union(*map(self._markers_in, term.arguments))
                known -= frozenset(term.detail if term.op in QUANTIFIERS else ())
            self._mentioned[term] = known
        return known
