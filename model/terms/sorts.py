"""Sorts of terms: conditions, numbers, choices among names, subsets; and, of any size, things and one thing or none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

Kind = Literal["Bool", "Int", "BitVec", "thing", "one or none"]


@dataclass(frozen=True, eq=False)
class Sort:
    """What values a term may have. There is one object for each sort: ``is`` tells them apart.

    A choice is a number with ``names``; a subset has a bit for each of its ``bits`` members. ``name`` is that of the universe
    whose things are a sort of their own; ``member`` is the sort of the one thing of a sort of one or none, and ``none`` the
    name of none.
    """

    kind: Kind
    bits: int = 0
    names: tuple[str, ...] = ()
    name: str = ""
    member: Sort | None = None
    none: str = ""

    def __str__(self) -> str:
        return f"BitVec({self.bits})" if self.bits else self.name or self.kind

    @property
    def universe(self) -> str:
        """Of a sort of one thing or none: the name of the universe that the thing is of."""
        return self.name.removesuffix(f" or {self.none}")

    def holds(self, other: Sort) -> bool:
        """Whether the values of the other sort are values of this one: names are numbers, too."""
        return self is other or (self.kind == other.kind == "Int")

    @property
    def written(self) -> str:
        """What tells the sort from all others, in any process."""
        member = self.member.written if self.member else ""
        return repr((self.kind, self.bits, self.names, self.name, member, self.none))


BOOL, INT = Sort("Bool"), Sort("Int")


@cache
def names_sort(names: tuple[str, ...]) -> Sort:
    """The sort of one of several names."""
    return Sort("Int", names=names)


@cache
def bits_sort(bits: int) -> Sort:
    """The sort of subsets of so many members."""
    return Sort("BitVec", bits)


@cache
def things_sort(name: str) -> Sort:
    """The sort of the things of that name, of which there are any number."""
    return Sort("thing", name=name)


@cache
def one_or_none_sort(universe: str, member: Sort, none: str) -> Sort:
    """The sort of one of the things of a universe, or none of them."""
    return Sort("one or none", name=f"{universe} or {none}", member=member, none=none)
