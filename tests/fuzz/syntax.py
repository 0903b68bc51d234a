"""A protocol as plain data, before any term is made of it: this is drawn, written as a program, and read in plain Python.

Terms are schematic, as in a protocol that somebody writes: they speak of the members of universes by the names of an action's
parameters and of bound variables. A value is an int everywhere: 0 or 1, the number, a choice's place, a subset's bit mask.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Index = tuple[int | str, ...]
"""The place in a family: members, or the names of parameters that stand for members."""

Kind = Literal["always", "strict", "step", "sometimes", "ends", "leads_to", "lemma"]


@dataclass(frozen=True)
class Sort:
    """What values there are: "flag", "number" from low to high, "choice" of names, "subset" of a universe.

    A choice that has a ``universe`` has its members as first values and, if ``none``, one value more.
    """

    kind: Literal["flag", "number", "choice", "subset"]
    low: int = 0
    high: int = 1
    universe: str = ""
    none: bool = False

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1


@dataclass(frozen=True)
class Term:
    """A node of a term: what it is, what it is made of, and what else there is to it (a value, a variable, a bound name)."""

    op: str
    args: tuple[Term, ...] = ()
    detail: Any = None


@dataclass(frozen=True)
class Family:
    """Variables of one name, one for each tuple of members of ``per``; ``initial`` has the possible initial values of each."""

    name: str
    sort: Sort
    per: tuple[str, ...]
    initial: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Update:
    """A new value: of one variable of a family, or, if ``bound`` is there, of each, with its names for the index."""

    family: str
    index: Index
    value: Term
    bound: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Deed:
    """An action: ``parameters`` are names, each with a universe or a count of plain numbers; ``apart`` leaves out the
    groundings in which its first two parameters are the same."""

    name: str
    by: str
    parameters: tuple[tuple[str, str | int], ...]
    guard: Term
    updates: tuple[Update, ...]
    fault: bool = False
    fair: bool = False
    spends: str = ""
    apart: bool = False


@dataclass(frozen=True)
class Statement:
    """A property: its formula, or premises and conclusions in turn; ``unfair`` are the deeds that it does not oblige."""

    name: str
    kind: Kind
    formulas: tuple[Term, ...]
    unfair: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A whole protocol with its properties; ``universes`` and ``budgets`` by name, with sizes and limits."""

    universes: tuple[tuple[str, int], ...]
    families: tuple[Family, ...]
    budgets: tuple[tuple[str, int], ...]
    deeds: tuple[Deed, ...]
    statements: tuple[Statement, ...]

    def size(self, universe: str | int) -> int:
        """How many members a universe has, or how many numbers there are."""
        return universe if isinstance(universe, int) else dict(self.universes)[universe]

    def indices(self, family: Family) -> Iterator[tuple[int, ...]]:
        """The indices of a family, in the order of its variables."""
        return itertools.product(*(range(self.size(universe)) for universe in family.per))

    @property
    def variables(self) -> list[tuple[str, tuple[int, ...]]]:
        """Every variable, as family and index, in the order of declaration: budgets come last."""
        declared = [(family.name, index) for family in self.families for index in self.indices(family)]
        return declared + [(name, ()) for name, _ in self.budgets]
