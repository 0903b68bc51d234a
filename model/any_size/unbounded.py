"""What a protocol of any size is made of: universes without an end, functions for variables, actions for any members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar, cast

from fencepost.model.any_size.markers import Markers
from fencepost.model.any_size.memberships import Element, Holds, Membership, subset_of
from fencepost.model.any_size.sizes import Size
from fencepost.model.language.domains import Conditional, Domain, Number, Subset, Universe
from fencepost.model.language.mistakes import Location
from fencepost.model.terms import values as terms
from fencepost.model.terms.nodes import Function, Term, constant, number
from fencepost.model.terms.sorts import INT, Sort, one_or_none_sort, things_sort
from fencepost.model.terms.traversal import substituted
from fencepost.model.terms.values import (
    TRUE,
    Condition,
    Numeric,
    Truth,
    chosen,
    conjunction,
    equation,
    for_all,
    implication,
    negation,
    within,
)

_NUMBERS = count()

T = TypeVar("T")


@dataclass(frozen=True)
class Enumerated(Universe):
    """A finite universe of a protocol of which others are unbounded."""

    is_unbounded = False

    def is_member(self, member: object) -> bool:
        """Whether that is a member, and no term of which it is open."""
        return type(member) is int

    def within(self, member: Element) -> Condition:
        """The formula: the term is a member."""
        assert isinstance(member, Term)
        return within(member, 0, self.size)

    def where(self, holds: Callable[[int], Truth]) -> Membership:  # type: ignore[override]  # which has the words of a subset
        """The subset of the members of which the formula holds."""
        return Membership(self, cast(Holds, holds))  # the text is written for numbers, in whose place a term may stand


@dataclass(frozen=True, eq=False)
class Unbounded(Universe):
    """A universe of the numbers from 0 to ``size`` - 1, of any size; a loop over it runs once, for a marker of all members."""

    size: Size  # type: ignore[assignment]  # of which only the least is known
    markers: Markers = field(default_factory=Markers)
    members: set[Term] = field(default_factory=set)
    is_unbounded = True

    def __iter__(self) -> Iterator[Term]:  # type: ignore[override]  # a term stands for all members
        return self.markers.each(self)

    @property
    def sort(self) -> Sort[Term]:
        """The sort of its members."""
        return INT

    def __len__(self) -> int:
        raise TypeError(f"there are any number of {self.name}, so none can be asked for: a loop, all_of or any_of is meant")

    def fresh(self, name: str = "") -> Term:
        """A constant for a member, of a name that nothing else has."""
        member = constant(f"{name or self.prefix}!{next(_NUMBERS)}", self.sort)
        self.members.add(member)
        return member

    def is_member(self, member: object) -> bool:
        """Whether that is a member, and no term of which it is open."""
        if type(member) is int:
            return bool(0 <= member < self.size.least)
        return member in self.members

    def within(self, member: Element) -> Condition:
        """The formula: the term is a member."""
        assert isinstance(member, terms.Number)
        return conjunction((member >= 0, member < self.size.term))

    def narrows(self, member: Term) -> Condition:
        """The formula: a member is one of those that are gone through, which are all."""
        return TRUE

    def but(self, member: Term) -> Others:  # type: ignore[override]
        """The members other than that one."""
        return Others(self, member)

    def where(self, holds: Callable[[int], Truth]) -> Membership:  # type: ignore[override]  # which has the words of a subset
        """The subset of the members of which the formula holds."""
        return Membership(self, cast(Holds, holds))  # the text is written for numbers, in whose place a term may stand

    def first(self, count: int | Size) -> Membership:  # type: ignore[override]
        """The subset of the first so many members."""
        return self.where(lambda member: count > member)

    def each(self, make: Callable[[int], T]) -> PerMember[T]:  # type: ignore[override]
        """What the function makes of each member, to be indexed by it or gone through."""
        return PerMember(self, make)

    def label(self, member: object) -> str:
        """One of them."""
        return self.prefix


@dataclass(frozen=True, eq=False)
class Others:
    """The members of an unbounded universe but one, to be gone through."""

    universe: Unbounded
    member: Term

    def __iter__(self) -> Iterator[Term]:
        return self.universe.markers.each(self)

    def fresh(self) -> Term:
        """A constant for a member of the universe."""
        return self.universe.fresh()

    def within(self, member: Element) -> Condition:
        """The formula: the term is a member of the universe."""
        return self.universe.within(member)

    def narrows(self, member: Term) -> Condition:
        """The formula: a member is another one."""
        return negation(equation(member, self.member))


@dataclass(frozen=True, eq=False)
class PerMember(Generic[T]):
    """Something for each member of an unbounded universe, made when it is asked for."""

    universe: Unbounded
    make: Callable[[int], T]

    def __getitem__(self, member: int) -> T:
        return self.make(member)

    def __iter__(self) -> Iterator[T]:
        return (self.make(cast(int, member)) for member in self.universe)


@dataclass(frozen=True, eq=False)
class Alike(Unbounded):
    """An unbounded universe of things without an order: they are a sort of their own."""

    @property
    def sort(self) -> Sort[Term]:
        """The sort of its members."""
        return things_sort(self.name)

    def is_member(self, member: object) -> bool:
        """Whether that is a member: every term of the sort is."""
        return isinstance(member, Term) and member.sort is self.sort

    def within(self, member: Element) -> Condition:
        """The formula: the term is a member."""
        return TRUE

    def first(self, count: int | Size) -> Membership:  # type: ignore[override]
        """A subset of so many members: which these are is not known, as there is no order among them."""
        if type(count) is int and count == 0:
            return subset_of(self, ())
        term = count.term if isinstance(count, Size) else number(count)
        if term is self.size.term:
            return self.where(lambda member: TRUE)
        return Membership(self, cast(Holds, self.markers.quorums.first(term, self)))


@dataclass(frozen=True)
class AnyNumber(Domain):
    """The integers from ``lowest`` to ``highest``, one of which is a term; that nothing leaves them is part of the proof."""

    lowest: Numeric
    highest: Numeric

    @property
    def sort(self) -> Sort[Term]:
        return INT

    def raw(self, value: object) -> int:
        if type(value) is not int:
            raise ValueError(f"{value!r} is not a number")
        return value

    def within(self, term: Term) -> Condition:
        assert isinstance(term, terms.Number)
        return conjunction((term >= self.lowest, term <= self.highest))


@dataclass(frozen=True)
class OneOrNone(Domain):
    """A member of the universe of that name, whose members are a sort of their own, or none of them, which has a name."""

    universe: str
    member: Sort[Term]
    none: str

    @property
    def sort(self) -> Sort[Term]:
        """The sort of its values."""
        return one_or_none_sort(self.universe, self.member, self.none)

    def coerce(self, value: object) -> Term:
        return super().coerce(value if isinstance(value, Conditional) else chosen(self.sort, value))


@dataclass(frozen=True, eq=False)
class Symbol:
    """A variable, or all those of a family that differ in members of unbounded universes: a function of these.

    ``index`` is the place in the family, with None for what is an argument of the function. Of a subset there is one for each
    element, or the element is the last argument. ``initial`` makes the value of it for given arguments.
    """

    name: str
    family: str
    index: tuple[int | None, ...]
    universes: tuple[Unbounded, ...]
    domain: Domain | None
    function: Function[Term]
    primed: Function[Term]
    initial: Callable[..., Term]

    def within(self) -> Condition:
        """The formula: its values are those of its domain."""
        if not isinstance(self.domain, Domain) or self.domain.within(self.function(*self._formal())) is TRUE:
            return TRUE
        formal = self._formal()
        return _for_all(formal, self.universes, self.domain.within(self.function(*formal)))

    def begins(self) -> Condition:
        """The formula: its values are the initial ones."""
        formal = self._formal()
        return _for_all(formal, self.universes, equation(self.function(*formal), self.initial(*formal)))

    def _formal(self) -> list[Term]:
        return [universe.fresh() for universe in self.universes]


def _for_all(formal: list[Term], universes: tuple[Unbounded, ...], formula: Condition) -> Condition:
    if not formal:
        return formula
    within = [universe.within(one) for one, universe in zip(formal, universes, strict=True)]
    within = [one for one in within if one is not TRUE]
    return for_all(formal, implication(conjunction(tuple(within)), formula) if within else formula)


@dataclass(frozen=True, eq=False)
class Update:
    """The new values of a symbol: ``value`` for the arguments ``formal``."""

    formal: tuple[Term, ...]
    value: Term

    def of(self, *arguments: Term) -> Term:
        """The new value for these arguments."""
        return substituted(self.value, zip(self.formal, arguments, strict=True))


@dataclass(frozen=True, eq=False)
class Scheme:
    """An action for any members: those of unbounded universes are constants that guard and updates mention.

    ``arguments`` has each parameter with its value, a number or such a constant, and ``universes`` the universe that it is of.
    """

    name: str
    arguments: Mapping[str, Term | int]
    universes: Mapping[str, Iterable[int | Term]]
    guard: Condition
    updates: Mapping[Symbol, Update]
    doc: str
    location: Location

    @property
    def label(self) -> str:
        """As it is shown, e.g. ``add(b0, e)``: what is a number is a certain member, what is a name is any."""
        shown = [name if isinstance(value, Term) else self._label(name, value) for name, value in self.arguments.items()]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    def _label(self, name: str, value: int) -> str:
        universe = self.universes[name]
        return universe.label(value) if isinstance(universe, Universe) else str(value)


def members_of(subset: Domain) -> Enumerated | Unbounded:
    """The universe whose subsets these are, in a protocol of any size."""
    assert isinstance(subset, Subset) and isinstance(subset.universe, (Enumerated, Unbounded))  # noqa: PT018
    return subset.universe


def any_number(low: Numeric, high: Numeric) -> Domain:
    """The integers between bounds that may be terms."""
    if type(low) is int and type(high) is int:
        return Number(low, high)
    return AnyNumber(low, high)
