"""Finite domains: what values a variable may take, the sort of its terms, its width in a packed state, how a value prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms import values as terms
from fencepost.model.terms.nodes import Term, constant, literal
from fencepost.model.terms.sorts import BOOL, INT, Sort, bits_sort, names_sort
from fencepost.model.terms.values import (
    LITERALS,
    TRUE,
    Condition,
    StandsForNumber,
    Truth,
    condition,
    conditional,
    conjunction,
    mask_of,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Universe:
    """A finite set of like things (bookies, entries, ...) that index families and ground actions.

    Iterating yields the members as numbers from 0; ``label(i)`` is the name that traces show, e.g. ``b0``: the prefix and the
    number, or what ``names`` has for it.
    """

    name: str
    size: int
    prefix: str
    names: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.size))

    def __len__(self) -> int:
        return self.size

    def label(self, member: int) -> str:
        return self.names[member] if self.names else f"{self.prefix}{member}"

    def where(self, holds: Callable[[int], Truth]) -> terms.Subset:
        """The subset of the members of which the formula holds."""
        return terms.subset_where(self.size, holds)

    def first(self, count: int) -> Iterable[int]:
        """The subset of the first so many members, as the initial value of a variable."""
        return range(count)

    def each(self, make: Callable[[int], T]) -> Sequence[T]:
        """What the function makes of each member, to be indexed by it or gone through."""
        return [make(member) for member in self]

    def but(self, member: int) -> Iterable[int]:
        """The members other than that one."""
        return [other for other in self if other != member]


@dataclass(frozen=True, eq=False)
class Conditional:
    """A choice between two literals whose domain is known only where it is assigned."""

    condition: Truth
    then: object
    otherwise: object

    def __eq__(self, other: object) -> bool:
        raise TypeError("a conditional between literals can only be assigned: compare inside its condition instead")

    __hash__ = None  # type: ignore[assignment]


class Domain:
    """The values of one variable. A raw value is an int: 0 or 1, the number itself, a choice's index, a subset's bit mask."""

    @property
    def sort(self) -> Sort[Term]:
        """The sort of terms that have such values."""
        raise AssertionError

    @property
    def bits(self) -> int:
        """Width of a value in a packed state."""
        return (self.size - 1).bit_length()

    @property
    def low(self) -> int:
        """The raw value that is packed as zero."""
        return 0

    @property
    def size(self) -> int:
        """How many values there are."""
        raise AssertionError

    def raw(self, value: object) -> int:
        """The raw value of a literal; ValueError, with the reason, if the domain does not contain it."""
        raise AssertionError

    def show(self, raw: int) -> str:
        """A raw value as a person reads it."""
        raise AssertionError

    def term(self, name: str) -> Term:
        """The constant of that name with this domain's sort."""
        return constant(name, self.sort)

    def literal(self, raw: int) -> Term:
        """The term of a raw value."""
        return literal(self.sort, raw)

    def within(self, term: Term) -> Condition:
        """The formula: the term's value belongs to this domain."""
        return TRUE

    def coerce(self, value: object) -> Term:
        """A literal, a conditional of literals or a term, as a term of this domain's sort; ValueError if it is none."""
        if isinstance(value, Term):
            if value.sort is not self.sort:
                raise ValueError(f"its sort is {value.sort}, and {self.sort} is needed")
            return value
        if isinstance(value, Conditional):
            return conditional(condition(value.condition), self.coerce(value.then), self.coerce(value.otherwise))
        if not isinstance(value, LITERALS) and isinstance(value, StandsForNumber):
            return self.coerce(value.term)
        return self.literal(self.raw(value))


@dataclass(frozen=True)
class Flag(Domain):
    """True or false."""

    @property
    def sort(self) -> Sort[Condition]:
        return BOOL

    @property
    def size(self) -> int:
        return 2

    def raw(self, value: object) -> int:
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not a flag")
        return int(value)

    def show(self, raw: int) -> str:
        return "yes" if raw else "no"


@dataclass(frozen=True)
class Number(Domain):
    """The integers from ``lowest`` to ``highest``, both included."""

    lowest: int
    highest: int

    @property
    def sort(self) -> Sort[terms.Number]:
        return INT

    @property
    def low(self) -> int:
        return self.lowest

    @property
    def size(self) -> int:
        return self.highest - self.lowest + 1

    def raw(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{value!r} is not a number")
        if not self.lowest <= value <= self.highest:
            raise ValueError(f"{value} is outside {self.lowest}..{self.highest}")
        return value

    def show(self, raw: int) -> str:
        return str(raw)

    def within(self, term: Term) -> Condition:
        assert isinstance(term, terms.Number)
        return conjunction((term >= self.lowest, term <= self.highest))


@dataclass(frozen=True)
class Choice(Domain):
    """One of several names; or one member of a universe, and perhaps none of them, which is the last value.

    ``universe`` is the one whose members the first values are, if any.
    """

    names: tuple[str, ...]
    universe: Universe | None = None

    @property
    def sort(self) -> Sort[terms.Choice[int | str]]:
        return names_sort(self.names)

    @property
    def size(self) -> int:
        return len(self.names)

    def raw(self, value: object) -> int:
        if isinstance(value, str):
            if value not in self.names:
                raise ValueError(f"{value!r} is none of {', '.join(self.names)}")
            return self.names.index(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(self.names):
            raise ValueError(f"{value!r} is none of {', '.join(self.names)}")
        return value

    def coerce(self, value: object) -> Term:
        if isinstance(value, terms.Choice) and value.sort is not self.sort:
            raise ValueError(f"{value} is one of {', '.join(value.names)}, and one of {', '.join(self.names)} is needed")
        return super().coerce(value)

    def show(self, raw: int) -> str:
        return self.names[raw]

    def within(self, term: Term) -> Condition:
        return terms.within(term, 0, len(self.names))


@dataclass(frozen=True)
class Subset(Domain):
    """A subset of a universe; bit i of the raw value stands for member i."""

    universe: Universe

    @property
    def sort(self) -> Sort[terms.Subset]:
        return bits_sort(self.universe.size)

    @property
    def bits(self) -> int:
        return self.universe.size

    @property
    def size(self) -> int:
        return 1 << self.universe.size

    def raw(self, value: object) -> int:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"{value!r} is not a set of {self.universe.name} numbers")
        return mask_of(value, self.universe.size)

    def show(self, raw: int) -> str:
        return "{" + ", ".join(self.universe.label(m) for m in self.universe if raw >> m & 1) + "}"


def choice_of(names: Universe | Sequence[str], none: str = "") -> Choice:
    """The choice among names, or among the members of a universe and, if ``none`` names it, that of no member.

    Raises ModelError if a name comes twice or there is none.
    """
    universe = names if isinstance(names, Universe) else None
    labels = tuple(names.label(m) for m in names) if isinstance(names, Universe) else tuple(names)
    if none:
        labels = (*labels, none)
    if not labels or len(set(labels)) != len(labels):
        raise ModelError(f"a choice needs distinct names and at least one: {labels}")
    return Choice(labels, universe)


def subset_of(universe: Universe) -> Subset:
    """The subsets of a universe; ModelError if it is empty, because a subset of nothing has no bits to stand on."""
    if not universe.size:
        raise ModelError(f"a subset of {universe.name} has no members to choose from: the universe is empty")
    return Subset(universe)
