"""The new values of the variables of one family, as one TLA+ equation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from fencepost.checks.export.tla.columns import Index, Numbering, by_shape, fresh
from fencepost.checks.export.tla.expressions import (
    TRUE,
    Expression,
    conditional,
    conjunction,
    equality,
    member,
    name,
    negation,
    of,
)
from fencepost.checks.export.tla.folding import some_of
from fencepost.model.language import Universe, Variable


@dataclass(frozen=True)
class _Entry:
    """The new value of one member of the family."""

    variable: Variable
    value: Expression

    @property
    def expression(self) -> Expression:
        index = map(member, self.variable.universes, self.variable.index)
        return of("entry", *index, self.value)


class Updates:
    """Writes updates; ``taken`` are the names that no bound variable may have."""

    def __init__(self, numbering: Numbering, taken: Collection[str], sizes: Mapping[str, int]) -> None:
        self._numbering, self._taken, self._sizes = numbering, taken, sizes

    def equation(
        self, values: Mapping[Variable, Expression], rank: Callable[[Universe, int], int] = lambda universe, index: 0
    ) -> Expression:
        """``f' = ...``, given the new values of some members of the family f; ``rank`` puts members in order that ought to come
        first whatever their numbers, because they are arguments of the action."""

        def key(entry: _Entry) -> tuple[tuple[int, ...], tuple[int, ...]]:
            pairs = zip(entry.variable.universes, entry.variable.index, strict=True)
            return tuple(rank(u, i) for u, i in pairs), entry.variable.index

        entries = sorted((_Entry(variable, value) for variable, value in values.items()), key=key)
        first = entries[0].variable
        primed = of("variable", detail=(first.family, True))
        if not first.universes:
            return of("next", primed, entries[0].value)
        return of("next", primed, self._comprehension(entries) or self._exceptions(entries))

    @staticmethod
    def _exceptions(entries: Sequence[_Entry]) -> Expression:
        family = of("variable", detail=(entries[0].variable.family, False))
        return of("except", family, *(entry.expression for entry in entries))

    def _comprehension(self, entries: Sequence[_Entry]) -> Expression | None:
        """``[x \\in S |-> ...]``, if some of the values can be written as one; None if not."""
        universes = entries[0].variable.universes
        family = entries[0].variable.family
        groups = by_shape(entry.expression for entry in entries)
        taken = {*self._taken, *(n for entry in entries for n in entry.value.names)}
        dimensions: list[str] = []
        for universe in universes:
            dimensions.append(fresh(universe, lambda candidate: candidate in taken))
            taken.add(dimensions[-1])
        pieces: list[tuple[Expression, Expression]] = []
        is_worth_it = False
        for group in groups:
            piece = self._piece([entries[position] for position in group], dimensions)
            if piece is None:
                return None
            pieces.append(piece)
            is_worth_it = is_worth_it or len(group) > 1
        if not is_worth_it:
            return None
        body = of("variable", *map(name, dimensions), detail=(family, False))
        if len(entries) == self._sizes[family]:
            body = pieces.pop()[1]
        for condition, value in reversed(pieces):
            body = conditional(condition, value, body)
        ranges = (of("universe", detail=universe) for universe in universes)
        return of("function", *ranges, body, detail=tuple(dimensions))

    def _piece(self, entries: Sequence[_Entry], dimensions: Sequence[str]) -> tuple[Expression, Expression] | None:
        """Of which members these are the values, and the value, in terms of the dimensions."""
        universes = entries[0].variable.universes
        indices = [
            Index(dimension, universe, tuple(entry.variable.index[place] for entry in entries))
            for place, (dimension, universe) in enumerate(zip(dimensions, universes, strict=True))
        ]
        spans = [set(index.values) for index in indices]
        off_diagonal = len(indices) == 2 and universes[0] == universes[1] and spans[0] == spans[1]
        if prod(map(len, spans)) == len(entries):
            condition = conjunction(map(_within, indices))
        elif off_diagonal and {e.variable.index for e in entries} == {p for p in product(*spans) if p[0] != p[1]}:
            condition = conjunction([*map(_within, indices), negation(equality(*map(name, dimensions)))])
        else:
            return None
        varying = [index for index in indices if len(set(index.values)) > 1]
        value = self._numbering.unify([entry.value for entry in entries], varying)
        return None if value is None else (condition, value)


def _within(index: Index) -> Expression:
    """The condition: the index is among its values."""
    assert index.universe is not None
    values = sorted(set(index.values))
    if len(values) == index.universe.size:
        return TRUE
    if len(values) == 1:
        return equality(name(index.name), member(index.universe, values[0]))
    missing = [m for m in index.universe if m not in values]
    if len(missing) == 1:
        return negation(equality(name(index.name), member(index.universe, missing[0])))
    chosen = some_of(index.universe, values) or of("set", *(member(index.universe, m) for m in values))
    return of("in", name(index.name), chosen)
