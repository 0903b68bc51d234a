"""Expressions of one shape side by side: what differs between them, and whether names can say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fencepost.checks.export.tla.expressions import Expression, name, of
from fencepost.model.language import Protocol, Universe
from fencepost.model.language.domains import Choice

Column = tuple[Expression, ...]


@dataclass(frozen=True)
class Index:
    """A name for a member of a universe (or, without one, for a number); ``values`` has what it is in each expression."""

    name: str
    universe: Universe | None
    values: tuple[int, ...]


class Numbering:
    """Which universes have numbers for members in TLA+ because the protocol reckons with them, as it does with entries.

    The members of all others are strings; so are those of a universe that a choice is made of, whose values are strings.
    """

    def __init__(self, protocol: Protocol) -> None:
        domains = (variable.domain for variable in protocol.variables)
        self._named = {domain.universe for domain in domains if isinstance(domain, Choice) and domain.universe is not None}
        self.numbered: set[Universe] = set()

    def numbers(self, universe: Universe) -> bool:
        """Makes the members of the universe numbers, if they can be."""
        if universe in self._named:
            return False
        self.numbered.add(universe)
        return True

    def describe(self, column: Column, indices: Sequence[Index]) -> Expression | None:
        """One expression for what differs, in terms of the indices; what does not differ stays, unless an index of its universe
        takes the same values. None if there is no such expression."""
        leaf = column[0]
        if leaf.operator == "member":
            universe, _ = _member(leaf)
            values = tuple(_member(other)[1] for other in column)
            same = next((i for i in indices if i.universe == universe and i.values == values), None)
            if same is not None:
                return name(same.name)
            if len(set(values)) == 1:
                return leaf
            other_of_two = next((i for i in indices if i.universe == universe and _are_opposite(i, values)), None)
            if other_of_two is not None:
                return of("other", name(other_of_two.name), detail=universe)
            return self._reckoned(universe, values, indices)
        values = tuple(_number(other) for other in column)
        return leaf if len(set(values)) == 1 else self._reckoned(None, values, indices)

    def _reckoned(self, universe: Universe | None, values: tuple[int, ...], indices: Sequence[Index]) -> Expression | None:
        """The values as an index plus a constant, where members are numbers."""
        for index in indices:
            offsets = {value - its for value, its in zip(values, index.values, strict=True)}
            if len(offsets) == 1 and all(self.numbers(u) for u in (universe, index.universe) if u is not None):
                return name(index.name, offsets.pop())
        return None

    def unify(self, expressions: Sequence[Expression], indices: Sequence[Index]) -> Expression | None:
        """One expression that is each of these as the indices take their values, or None. They have one shape."""
        before = set(self.numbered)
        described: dict[Column, Expression | None] = {}
        columns = list(zip(*(expression.leaves for expression in expressions), strict=True))
        for column in columns:
            if column not in described:
                described[column] = self.describe(column, indices)
            if described[column] is None:
                self.numbered = before
                return None
        leaves = (leaf for column in columns if (leaf := described[column]) is not None)
        return expressions[0].with_leaves(leaves)


def by_shape(expressions: Iterable[Expression]) -> list[list[int]]:
    """The places of the expressions of each shape, in the order in which the shapes are first met."""
    groups: dict[object, list[int]] = {}
    for position, expression in enumerate(expressions):
        groups.setdefault(expression.shape, []).append(position)
    return list(groups.values())


def member_columns(expressions: Sequence[Expression]) -> list[tuple[Universe, tuple[int, ...]]]:
    """The members that differ between the expressions, as columns without repetition."""
    columns = zip(*(expression.leaves for expression in expressions), strict=True)
    of_members = (column for column in columns if column[0].operator == "member")
    members = dict.fromkeys((_member(column[0])[0], tuple(_member(leaf)[1] for leaf in column)) for column in of_members)
    return [(universe, values) for universe, values in members if len(set(values)) > 1]


def fresh(universe: Universe, taken: Callable[[str], bool]) -> str:
    """A name for a member of the universe that is not taken."""
    wanted = universe.prefix if universe.prefix.isidentifier() else universe.name[0]
    candidates = [wanted, *(letter for letter in "xyzw" if letter != wanted), *(f"{wanted}_{i}" for i in range(2, 100))]
    return next(candidate for candidate in candidates if not taken(candidate))


def _member(leaf: Expression) -> tuple[Universe, int]:
    assert isinstance(leaf.detail, tuple)
    universe, index = leaf.detail
    return universe, index


def _number(leaf: Expression) -> int:
    assert isinstance(leaf.detail, int)
    return leaf.detail


def _are_opposite(index: Index, values: tuple[int, ...]) -> bool:
    of_two = index.universe is not None and index.universe.size == 2
    return of_two and all(value == 1 - its for value, its in zip(values, index.values, strict=True))
