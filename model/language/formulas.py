"""The words of the language besides operators and connectives: conditionals, counting, selecting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from fencepost.model.language.connectives import And, Or
from fencepost.model.language.markers import closed, counted, refuse, so_many
from fencepost.model.language.memberships import Membership, subset_if
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.nodes import Term, number
from fencepost.model.terms.values import (
    FALSE,
    TRUE,
    Choice,
    Condition,
    Number,
    OneOrNone,
    StandsForNumber,
    chosen,
    condition,
    conditional,
    total,
)


@dataclass(frozen=True, eq=False)
class Conditional:
    """A choice between two literals whose domain is known only where it is assigned."""

    condition: Any
    then: Any
    otherwise: Any

    def __eq__(self, other: object) -> bool:
        raise TypeError("a conditional between literals can only be assigned: compare inside its condition instead")

    __hash__ = None  # type: ignore[assignment]


def If(test: Any, then: Any, otherwise: Any) -> Any:
    """The first value where the condition holds, else the second; the values may be names, sets, numbers or terms."""
    sides = (then, otherwise)
    if any(isinstance(side, Membership) for side in sides):
        return subset_if(test, then, otherwise)
    known = next((side for side in sides if isinstance(side, Term)), None)
    if isinstance(known, OneOrNone) or isinstance(otherwise, OneOrNone):
        sort = otherwise.sort if isinstance(otherwise, OneOrNone) else then.sort
        return conditional(condition(test), chosen(sort, then), chosen(sort, otherwise))
    if known is None or not all(isinstance(side, Term) or _is_like(side, known) for side in sides):
        return Conditional(test, then, otherwise)
    one, other = (side if isinstance(side, Term) else _beside(known, side) for side in sides)
    return conditional(condition(test), one, other)


def _is_like(side: Any, known: Term) -> bool:
    """Whether what is no term is known to be a value of the sort of a term."""
    if isinstance(known, Condition):
        return isinstance(side, bool)
    return isinstance(known, Number) and (type(side) is int or isinstance(side, StandsForNumber))


def _beside(known: Term, side: Any) -> Term:
    """What is no term, as a term of the sort of another."""
    if isinstance(known, Condition):
        return condition(side)  # type: ignore[no-any-return]
    return (known == side).arguments[1]  # type: ignore[no-any-return]


def all_of(formulas: Iterable[Any]) -> Any:
    """The conjunction; true if there are none."""
    parts = closed(tuple(formulas), universal=True)
    return parts[0] if len(parts) == 1 else And(*parts)


def any_of(formulas: Iterable[Any]) -> Any:
    """The disjunction; false if there are none."""
    parts = closed(tuple(formulas), universal=False)
    return parts[0] if len(parts) == 1 else Or(*parts)


def at_least(count: Any, formulas: Iterable[Any]) -> Any:
    """The formula: at least ``count`` of the formulas hold.

    Built as a decision diagram with shared nodes (count * length of them), which both provers and the kernel handle
    better than a sum, and which every SMT-LIB solver reads.
    """
    parts = list(formulas)
    if isinstance(count, (Term, StandsForNumber)):
        return counted(count, parts)
    if count == 1:
        parts = list(closed(tuple(parts), universal=False))
    if len(parts) == 1 and count > 1 and (for_any := so_many(count, parts[0])) is not None:
        return for_any
    refuse(f"at_least({count}, ...)", parts)
    # row[c]: at least c of the formulas seen so far, which are a suffix of the list, hold
    row: list[Any] = [TRUE] + [FALSE] * max(count, 0)
    for part in reversed(parts):
        row = [TRUE] + [_unless_decided(part, row[c - 1], row[c]) for c in range(1, len(row))]
    return row[count] if count > 0 else TRUE


def _unless_decided(part: Any, fewer: Any, same: Any) -> Any:
    if same is FALSE:
        return part if fewer is TRUE else fewer if fewer is FALSE else And(part, fewer)
    return Or(same, part) if fewer is TRUE else Or(same, And(part, fewer))


def how_many(*formulas: Any) -> Any:
    """The number of the formulas that hold, as a term; to compare it with a constant, ``at_least`` is better."""
    refuse("how_many", formulas)
    return total(tuple([conditional(condition(formula), number(1), number(0)) for formula in formulas]))


def maximum(first: Any, *others: Any) -> Any:
    """The greatest of the numbers."""
    return reduce(lambda a, b: _chosen(a >= b, a, b), map(_as_number, others), _as_number(first))


def minimum(first: Any, *others: Any) -> Any:
    """The least of the numbers."""
    return reduce(lambda a, b: _chosen(a <= b, a, b), map(_as_number, others), _as_number(first))


def _as_number(value: Any) -> Any:
    """A number, a term of one or a conditional of these, as what can be compared. Raises ModelError for anything else."""
    if isinstance(value, Conditional):
        return _chosen(condition(value.condition), _as_number(value.then), _as_number(value.otherwise))
    if isinstance(value, StandsForNumber):
        return value.term
    if type(value) is not int and (not isinstance(value, Number) or isinstance(value, Choice)):
        raise ModelError(f"maximum and minimum compare numbers, and {value!r} is none")
    return value


def _chosen(test: Any, one: Any, other: Any) -> Any:
    if isinstance(test, bool):
        return one if test else other
    return conditional(test, _term(one), _term(other))


def _term(value: Any) -> Term:
    """A number, or a truth value, as a term."""
    if isinstance(value, bool):
        return condition(value)  # type: ignore[no-any-return]
    return value if isinstance(value, Term) else number(value)


def at(family: Iterable[Any], index: Any, *, none: Any = None) -> Any:
    """The member of a family, or of a list, that a choice names; ``none`` is the value where it names none of its universe.

    Raises ModelError for what may be out of range, a number or a choice that may name none, unless ``none`` is given.
    """
    values = list(family)
    if type(index) is int:
        return values[index]
    names = index.names if isinstance(index, Choice) else ()
    if len(names) != len(values) and none is None:
        which = f"may be {names[-1]!r}" if len(names) > len(values) else "may be out of range"
        raise ModelError(f"at: {' '.join(str(index).split())} {which}: say by none= what the value is then")
    value = values[-1] if none is None else If(index == len(values) - 1, values[-1], none)
    for position in reversed(range(len(values) - 1)):
        value = If(index == position, values[position], value)
    return value


def select(index: Any, values: Sequence[Any]) -> Any:
    """``values[index]`` for an index that is a term; the last value where the index is out of range."""
    value = values[-1]
    for position in reversed(range(len(values) - 1)):
        value = conditional(index == position, _term(values[position]), _term(value))
    return value
