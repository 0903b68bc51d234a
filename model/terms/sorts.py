"""Sorts of terms: conditions, numbers, choices among names, subsets; what is proved alone has real numbers and things, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from fencepost.model.terms.nodes import Term
    from fencepost.model.terms.values import Choice, Condition, Number, OneOrNone, Real, Subset, Thing

S_co = TypeVar("S_co", bound="Term", covariant=True)

Kind = Literal["Bool", "Int", "Real", "BitVec", "thing", "one or none"]


@dataclass(frozen=True, eq=False)
class Sort(Generic[S_co]):
    """What values a term may have, and of which class it is. There is one object for each sort: ``is`` tells them apart.

    A choice is a number with ``names``; a subset has a bit for each of its ``bits`` members. ``name`` is that of the universe
    whose things are a sort of their own; ``member`` is the sort of the one thing of a sort of one or none, and ``none`` the
    name of none.
    """

    kind: Kind
    bits: int = 0
    names: tuple[str, ...] = ()
    name: str = ""
    member: Sort[Thing] | None = None
    none: str = ""

    def __str__(self) -> str:
        if self.names:
            return f"one of {', '.join(self.names)}"
        return f"BitVec({self.bits})" if self.bits else self.name or self.kind

    @property
    def universe(self) -> str:
        """Of a sort of one thing or none: the name of the universe that the thing is of."""
        return self.name.removesuffix(f" or {self.none}")

    @property
    def written(self) -> str:
        """What tells the sort from all others, in any process."""
        member = self.member.written if self.member else ""
        return repr((self.kind, self.bits, self.names, self.name, member, self.none))


BOOL: Sort[Condition] = Sort("Bool")
INT: Sort[Number] = Sort("Int")
REAL: Sort[Real] = Sort("Real")


@cache
def names_sort(names: tuple[str, ...]) -> Sort[Choice[Any]]:
    """The sort of one of several names."""
    return Sort("Int", names=names)


@cache
def bits_sort(bits: int) -> Sort[Subset]:
    """The sort of subsets of so many members."""
    return Sort("BitVec", bits)


@cache
def things_sort(name: str) -> Sort[Thing]:
    """The sort of the things of that name, of which there are any number."""
    return Sort("thing", name=name)


@cache
def one_or_none_sort(universe: str, member: Sort[Thing], none: str) -> Sort[OneOrNone]:
    """The sort of one of the things of a universe, or none of them."""
    return Sort("one or none", name=f"{universe} or {none}", member=member, none=none)
