"""Repetition over the members of a universe, folded: conjunctions and disjunctions into quantifiers, sums into counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from fencepost.checks.export.tla.columns import Index, Numbering, fresh, member_columns
from fencepost.checks.export.tla.expressions import (
    Expression,
    belongs,
    conjunction,
    disjunction,
    member,
    members,
    name,
    number,
    of,
)
from fencepost.model.language import Universe

FEWEST = 3
"""How many members a set that is no whole universe, nor one except for a member, must have to be worth a quantifier."""


@dataclass(frozen=True)
class Range:
    """What a bound variable ranges over."""

    name: str
    over: Expression


class Folding:
    """Folds repetition with bound variables whose names are not among those ``taken``."""

    def __init__(self, numbering: Numbering, taken: Collection[str]) -> None:
        self._numbering, self._taken = numbering, taken

    def numbers(self, universe: Universe) -> bool:
        """Makes the members of the universe numbers, if they can be."""
        return self._numbering.numbers(universe)

    def all(self, parts: Sequence[Expression]) -> Expression:
        """All of the parts."""
        once = conjunction(self._quantified("all", parts))
        return conjunction(self._quantified("all", once.operands)) if once.operator == "and" else once

    def any(self, parts: Sequence[Expression]) -> Expression:
        """Any of the parts."""
        once = disjunction(self._quantified("some", parts))
        return disjunction(self._quantified("some", once.operands)) if once.operator == "or" else once

    def count(self, parts: Sequence[Expression]) -> Expression:
        """How many of the parts hold."""
        terms: list[Expression] = []
        for _, group in groupby(parts, lambda part: part.shape):
            run = list(group)
            folded = self._folded(run) if len(run) > 1 else None
            if folded is not None and len(folded[0]) == 1:
                (its,), body = folded
                terms.append(of("count", of("filter", its.over, body, detail=its.name)))
            else:
                terms += [of("if", part, number(1), number(0)) for part in run]
        return terms[0] if len(terms) == 1 else of("+", *terms)

    def _quantified(self, quantifier: str, parts: Sequence[Expression]) -> list[Expression]:
        """The parts, with runs of neighbours of one shape as one part where they can be."""
        result: list[Expression] = []
        for _, group in groupby(parts, lambda part: part.shape):
            run = list(group)
            folded = self._folded(run) if len(run) > 1 else None
            result += run if folded is None else [self._bound(quantifier, *folded)]
        return result

    @staticmethod
    def _bound(quantifier: str, ranges: Sequence[Range], body: Expression) -> Expression:
        if quantifier == "some" and len(ranges) == 1 and ranges[0].over.operator == "universe" and body.operator == "and":
            its = name(ranges[0].name)
            test, *rest = body.operands
            if len(rest) == 1 and test.operator == "=" and test.operands[1] == its and rest[0].operator == "in":
                element, (inside, container) = test.operands[0], rest[0].operands
                if inside == its and ranges[0].name not in element.names | container.names:
                    return belongs(element, container)  # some member equals x and is in s: x is in s
        for its_range in reversed(ranges):
            body = of(quantifier, its_range.over, body, detail=its_range.name)
        return body

    def _folded(self, parts: Sequence[Expression]) -> tuple[list[Range], Expression] | None:
        """One expression that is each of the parts as bound variables take their values, and what these range over."""
        if len({part.shape for part in parts}) > 1 or len(set(parts)) < len(parts):
            return None
        columns = member_columns(parts)
        if not 1 <= len(columns) <= 2:
            return None
        indices: list[Index] = []
        for universe, values in columns:
            chosen = {index.name for index in indices}
            names = parts[0].names | chosen
            bound = fresh(universe, lambda candidate: candidate in self._taken or candidate in names)  # noqa: B023
            indices.append(Index(bound, universe, values))
        ranges = self._ranges(indices)
        body = self._numbering.unify(parts, indices) if ranges else None
        return (ranges, body) if ranges and body else None

    def _ranges(self, indices: Sequence[Index]) -> list[Range] | None:
        """What the indices range over, one within the other, if together they take each combination of values once."""
        first, *others = indices
        assert first.universe is not None
        if not others:
            whole = some_of(first.universe, set(first.values)) if len(set(first.values)) == len(first.values) else None
            return None if whole is None else [Range(first.name, whole)]
        (second,) = others
        pairs = set(zip(first.values, second.values, strict=True))
        if len(pairs) < len(first.values) or second.universe is None:
            return None
        ones, twos = set(first.values), set(second.values)
        over, within = some_of(first.universe, ones), some_of(second.universe, twos)
        if over is None or within is None:
            return None
        if len(pairs) == len(ones) * len(twos):
            return [Range(first.name, over), Range(second.name, within)]
        if ones == twos and first.universe == second.universe and pairs == {(x, y) for x in ones for y in twos if x != y}:
            return [Range(first.name, over), Range(second.name, of("minus", within, of("set", name(first.name))))]
        return None


def some_of(universe: Universe, chosen: Collection[int]) -> Expression | None:
    """The set of some members, if it is worth a name: all, all but one, or several of them."""
    left = [m for m in universe if m not in chosen]
    if not left:
        return members(universe)
    if len(left) == 1 and len(chosen) > 1:
        return of("minus", members(universe), of("set", member(universe, left[0])))
    return of("set", *(member(universe, m) for m in universe if m in chosen)) if len(chosen) >= FEWEST else None
