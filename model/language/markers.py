"""Markers: what stands for every member of an unbounded universe while a loop over it runs.

Iterating an unbounded universe yields one marker. A formula that mentions a marker whose loop has ended is *open*: it stands
for one formula for each member, as a loop over a finite universe makes them. Whatever joins formulas closes open ones: a
conjunction by "for all", a disjunction by "there is". Where formulas are not joined nothing can be meant by an open one, and it
is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import combinations
from typing import Any, Protocol

import z3

from fencepost.model.language.mistakes import ModelError
from fencepost.model.language.quorums import Quorums


class Unlimited(Protocol):
    """A universe as markers need it."""

    def fresh(self) -> Any:
        """A constant for a member, of a name that nothing else has."""

    def within(self, member: Any) -> Any:
        """The formula: a term of the sort is a member."""

    def narrows(self, member: Any) -> Any:
        """The formula: a member is one of those that are gone through, which may be some of them only."""


class Markers:
    """The markers of one protocol."""

    def __init__(self) -> None:
        self._universes: dict[int, tuple[Any, Unlimited]] = {}
        self._live: set[int] = set()
        self._mentioned: dict[int, frozenset[int]] = {}
        self.quorums = Quorums()
        self._references: list[Any] = []  # what identifies a term is its own only while the term is there

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Within it whatever joins formulas closes those that are open."""
        before = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(before)

    def each(self, universe: Unlimited) -> Iterator[Any]:
        """One marker for all members, which lives as long as the loop over it."""
        marker = universe.fresh()
        identity = marker.get_id()
        self._universes[identity] = marker, universe
        self._live.add(identity)
        try:
            yield marker
        finally:
            self._live.discard(identity)

    def keep(self, term: Any) -> None:
        """Keeps a term, so that what identifies it is its own."""
        self._references.append(term)

    @contextmanager
    def alive(self, terms: Iterable[Any]) -> Iterator[None]:
        """Within it those of the terms that are markers are live again, though their loop has ended."""
        again = {term.get_id() for term in terms if self.is_marker(term)} - self._live
        self._live |= again
        try:
            yield
        finally:
            self._live -= again

    def is_marker(self, term: Any) -> bool:
        """Whether the term is a marker itself."""
        return term.get_id() in self._universes

    def of(self, term: Any) -> list[Any]:
        """The markers whose loop has ended that the term mentions, in the order in which they were made."""
        return [self._universes[identity][0] for identity in sorted(self._markers_in(term) - self._live)]

    def close(self, formula: Any, *, universal: bool) -> Any:
        """The formula for all members that its markers stand for, or else for some of them."""
        markers = self.of(formula)
        if not markers:
            return formula
        within = [w for m in markers for w in self._within(m)]
        while len(known := self.of(z3.And(formula, *within))) > len(markers):  # some others than one that is a marker itself
            within += [w for m in known if not any(m.eq(one) for one in markers) for w in self._within(m)]
            markers = known
        if universal:
            return z3.ForAll(markers, z3.Implies(z3.And(within), formula) if within else formula)
        return z3.Exists(markers, z3.And(*within, formula) if within else formula)

    def narrowing(self, marker: Any) -> Any:
        """The formula: the member that a marker stands for is one of those that its loop goes through."""
        return self._universes[marker.get_id()][1].narrows(marker)

    def _within(self, marker: Any) -> list[Any]:
        universe = self._universes[marker.get_id()][1]
        return [w for w in (universe.within(marker), universe.narrows(marker)) if not z3.is_true(w)]

    def so_many(self, count: int, formula: Any) -> Any:
        """The formula: there are ``count`` different members for which it holds; None if it is not open in one marker."""
        if len(markers := self.of(formula)) != 1:
            return None
        (marker,) = markers
        them = [self._universes[marker.get_id()][1].fresh() for _ in range(count)]
        held = z3.And(*self._within(marker), formula)
        different = [one != other for one, other in combinations(them, 2)]
        return z3.Exists(them, z3.And(*different, *(z3.substitute(held, (marker, one)) for one in them)))

    def counted(self, count: Any, formulas: list[Any]) -> Any:
        """The formula: at least ``count``, a term, of the formulas hold; one stands for all, or there is none."""
        if not formulas:
            return z3.Not(count > 0)
        markers = self.of(formulas[0])
        if len(formulas) > 1 or len(markers) != 1:
            raise ModelError(f"at_least({count}, ...) is of one formula for each member of one unbounded universe")
        marker, universe = self._universes[markers[0].get_id()]
        within = self._within(marker)
        formula = z3.And(*within, formulas[0]) if within else formulas[0]
        return self.quorums.at_least(count, formula, marker, universe)

    def refuse(self, what: str, *terms: Any) -> None:
        """Raises ModelError if one of the terms is open."""
        for term in terms:
            if isinstance(term, z3.ExprRef) and self.of(term):
                raise ModelError(
                    f"{what} of a formula that is meant for each member of a universe: join these with all_of or any_of first"
                )

    def _markers_in(self, term: Any) -> frozenset[int]:
        known = self._mentioned.get(term.get_id())
        if known is not None:
            return known
        if term.get_id() in self._universes:
            markers = frozenset([term.get_id()])
        else:
            below = [term.body()] if z3.is_quantifier(term) else term.children()
            markers = frozenset().union(*map(self._markers_in, below))
        self._references.append(term)
        self._mentioned[term.get_id()] = markers
        return markers


_CURRENT: ContextVar[Markers | None] = ContextVar("markers", default=None)


def current() -> Markers | None:
    """The markers in force; None where every universe is finite."""
    return _CURRENT.get()


def closed(formulas: tuple[Any, ...], *, universal: bool) -> tuple[Any, ...]:
    """The formulas, or lists of such, with none left open."""
    markers = _CURRENT.get()
    if markers is None:
        return formulas
    flat = (part for one in formulas for part in (one if isinstance(one, (list, tuple)) else [one]))
    return tuple(markers.close(f, universal=universal) if isinstance(f, z3.ExprRef) else f for f in flat)


def counted(count: Any, formulas: list[Any]) -> Any:
    """The formula: at least so many of the formulas hold, where the number is a term."""
    settled = z3.simplify(count)
    markers = _CURRENT.get()
    if markers is None:
        raise ModelError(f"at_least({count}, ...): the number is none, and no universe here is of any size")
    if z3.is_int_value(settled) and settled.as_long() == 1:
        return z3.Or(*closed(tuple(formulas), universal=False))
    return markers.counted(settled, formulas)


def so_many(count: int, formula: Any) -> Any:
    """The formula: it holds for ``count`` members, if it is meant for each member of one universe; otherwise None."""
    markers = _CURRENT.get()
    return None if markers is None or not isinstance(formula, z3.ExprRef) else markers.so_many(count, formula)


def refuse(what: str, formulas: Iterable[Any]) -> None:
    """Raises ModelError if one of the formulas is open."""
    markers = _CURRENT.get()
    if markers is not None:
        markers.refuse(what, *formulas)
