"""The words in which formulas are written besides operators: connectives, conditionals, counting, selecting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from fencepost.model.language.circumstances import now
from fencepost.model.language.domains import Conditional
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.nodes import S, Term, number
from fencepost.model.terms.values import (
    FALSE,
    LITERALS,
    TRUE,
    Choice,
    Condition,
    E,
    Number,
    Numeric,
    OneOrNone,
    StandsForNumber,
    Subset,
    Truth,
    chosen,
    condition,
    conditional,
    conjunction,
    disjunction,
    implication,
    negation,
    total,
)

F = TypeVar("F")

Formulas: TypeAlias = "Truth | Sequence[Truth]"


class Joining(Protocol):
    """What formulas are joined by where one may stand for as many as a universe without an end has members."""

    def close(self, formula: Condition, *, universal: bool) -> Condition:
        """The formula for all the members that it stands for, or else for some of them."""

    def counted(self, count: Numeric, formulas: Sequence[Truth]) -> Condition | None:
        """The formula: at least so many of the formulas hold; None if they stand for no others and the number is known."""

    def refuse(self, what: str, *formulas: object) -> None:
        """Raises ModelError if a formula stands for several."""


class StandsForSubset(ABC):
    """What is no term and stands for a subset, such as one of a universe without an end."""

    @abstractmethod
    def between(self, test: Truth, then: object, otherwise: object) -> object:
        """The first subset where the condition holds, else the second; one of them is this."""


def And(*formulas: Formulas) -> Condition:
    """The conjunction of formulas, or of a list of them, in which Python's truth values may be."""
    return conjunction(_vetted("And", closed(formulas, universal=True)))


def Or(*formulas: Formulas) -> Condition:
    """The disjunction of formulas, or of a list of them, in which Python's truth values may be."""
    return disjunction(_vetted("Or", closed(formulas, universal=False)))


def Not(formula: Truth) -> Condition:
    """The negation of a formula."""
    _refuse("Not", formula)
    return negation(*_vetted("Not", (formula,)))


def Implies(premise: Truth, conclusion: Truth) -> Condition:
    """That the conclusion holds where the premise does."""
    _refuse("Implies", premise, conclusion)
    return implication(*_vetted("Implies", (premise, conclusion)))


def _vetted(name: str, given: tuple[Formulas, ...]) -> tuple[Condition, ...]:
    """What is given as terms. Raises TypeError for what is neither a formula nor a list of formulas."""
    terms = tuple([one for one in given if isinstance(one, Condition)])
    if len(terms) == len(given):
        return terms
    parts = [part for one in given for part in (one if isinstance(one, (list, tuple)) else [one])]
    for part in parts:
        if not isinstance(part, (bool, Condition)):
            if isinstance(part, Iterator):
                raise TypeError(f"{name} joins formulas; those of a comprehension are joined by all_of or any_of")
            kind = f"of sort {part.sort}" if isinstance(part, Term) else "none"
            raise TypeError(f"{name} joins formulas, and {part!r} is {kind}")
    return tuple([condition(part) for part in parts])


def closed(formulas: tuple[F, ...], *, universal: bool) -> tuple[F | Condition, ...]:
    """The formulas, or lists of such, of which none stands for several."""
    joining = now().joining
    if joining is None:
        return formulas
    flat = (part for one in formulas for part in (one if isinstance(one, (list, tuple)) else [one]))
    return tuple(joining.close(f, universal=universal) if isinstance(f, Condition) else f for f in flat)


def _refuse(what: str, *formulas: object) -> None:
    joining = now().joining
    if joining is not None:
        joining.refuse(what, *formulas)


Literals: TypeAlias = "bool | int | str | Iterable[int] | Conditional"


@overload
def If(test: Truth, then: Condition, otherwise: Truth) -> Condition: ...
@overload
def If(test: Truth, then: bool, otherwise: Condition) -> Condition: ...
@overload
def If(test: Truth, then: Number, otherwise: Numeric) -> Number: ...
@overload
def If(test: Truth, then: int | StandsForNumber, otherwise: Number) -> Number: ...
@overload
def If(test: Truth, then: Choice[E], otherwise: Choice[E] | E) -> Choice[E]: ...
@overload
def If(test: Truth, then: E, otherwise: Choice[E]) -> Choice[E]: ...
@overload
def If(test: Truth, then: Subset, otherwise: Subset | Iterable[int]) -> Subset: ...
@overload
def If(test: Truth, then: Iterable[int], otherwise: Subset) -> Subset: ...
@overload
def If(test: Truth, then: Literals, otherwise: Literals) -> Conditional: ...
@overload
def If(test: Truth, then: Term, otherwise: Conditional) -> Conditional: ...
@overload
def If(test: Truth, then: Conditional, otherwise: Term) -> Conditional: ...
def If(test: Truth, then: object, otherwise: object) -> object:
    """The first value where the condition holds, else the second; the values may be names, sets, numbers or terms.

    A name beside a choice, and a set beside a subset, are of its sort. Of two that are no terms, the sort is that of the
    variable to which they are assigned.
    """
    return if_any(test, then, otherwise)


def if_any(test: Truth, then: object, otherwise: object) -> object:
    """What ``If`` is of two values of which no type says what they are."""
    if isinstance(then, Term) and isinstance(otherwise, Term) and then.sort is otherwise.sort:
        return conditional(condition(test), then, otherwise)
    for side in (then, otherwise):
        if not isinstance(side, LITERALS) and isinstance(side, StandsForSubset):
            return side.between(test, then, otherwise)
    for side in (otherwise, then):
        if isinstance(side, OneOrNone):
            return conditional(condition(test), chosen(side.sort, then), chosen(side.sort, otherwise))
    one = then if isinstance(then, Term) else _beside(otherwise, then)
    other = otherwise if isinstance(otherwise, Term) else _beside(then, otherwise)
    return Conditional(test, then, otherwise) if one is None or other is None else conditional(condition(test), one, other)


def _beside(known: object, side: object) -> Term | None:
    """What is no term, as a term of the sort of another; None if it is not known to be a value of that sort."""
    if isinstance(known, Condition):
        return condition(side) if isinstance(side, bool) else None
    if isinstance(known, (Number, Choice)) and not isinstance(side, str):
        return known.beside(side) if type(side) is int or isinstance(side, StandsForNumber) else None
    return None


def all_of(formulas: Iterable[Truth]) -> Condition:
    """The conjunction; true if there are none."""
    parts = closed(tuple(formulas), universal=True)
    return condition(parts[0]) if len(parts) == 1 else And(*parts)


def any_of(formulas: Iterable[Truth]) -> Condition:
    """The disjunction; false if there are none."""
    parts = closed(tuple(formulas), universal=False)
    return condition(parts[0]) if len(parts) == 1 else Or(*parts)


def at_least(count: Numeric, formulas: Iterable[Truth]) -> Condition:
    """The formula: at least ``count`` of the formulas hold.

    Built as a decision diagram with shared nodes (count * length of them), which both provers and the kernel handle
    better than a sum, and which every SMT-LIB solver reads.
    """
    parts = list(formulas)
    if type(count) is int and count == 1:
        parts = list(closed(tuple(parts), universal=False))
    joining = now().joining
    whole = None if joining is None else joining.counted(count, parts)
    if whole is not None:
        return whole
    if isinstance(count, (Term, StandsForNumber)):
        raise ModelError(f"at_least({count}, ...): the number is none, and no universe here is of any size")
    _refuse(f"at_least({count}, ...)", *parts)
    # row[c]: at least c of the formulas seen so far, which are a suffix of the list, hold
    row: list[Condition] = [TRUE] + [FALSE] * max(count, 0)
    for part in reversed(parts):
        row = [TRUE] + [_unless_decided(part, row[c - 1], row[c]) for c in range(1, len(row))]
    return row[count] if count > 0 else TRUE


def _unless_decided(part: Truth, fewer: Condition, same: Condition) -> Condition:
    if same is FALSE:
        return condition(part) if fewer is TRUE else fewer if fewer is FALSE else And(part, fewer)
    return Or(same, part) if fewer is TRUE else Or(same, And(part, fewer))


def how_many(*formulas: Truth) -> Number:
    """The number of the formulas that hold, as a term; to compare it with a constant, ``at_least`` is better."""
    _refuse("how_many", *formulas)
    return total(tuple([conditional(condition(formula), number(1), number(0)) for formula in formulas]))


def same(one: object, other: object) -> Condition:
    """The formula: two values of one sort, whichever it is, are equal. Raises TypeError or ValueError if they do not fit."""
    return condition(one == other)


@overload
def maximum(first: int, *others: int) -> int: ...  # type: ignore[overload-overlap]  # of terms it is a term
@overload
def maximum(first: Numeric | Conditional, *others: Numeric | Conditional) -> Number: ...
def maximum(first: Numeric | Conditional, *others: Numeric | Conditional) -> Number | int:
    """The greatest of the numbers."""
    return reduce(lambda a, b: _chosen(a >= b, a, b), map(_as_number, others), _as_number(first))


@overload
def minimum(first: int, *others: int) -> int: ...  # type: ignore[overload-overlap]
@overload
def minimum(first: Numeric | Conditional, *others: Numeric | Conditional) -> Number: ...
def minimum(first: Numeric | Conditional, *others: Numeric | Conditional) -> Number | int:
    """The least of the numbers."""
    return reduce(lambda a, b: _chosen(a <= b, a, b), map(_as_number, others), _as_number(first))


def _chosen(test: Truth, one: Number | int, other: Number | int) -> Number | int:
    if isinstance(test, bool):
        return one if test else other
    return conditional(test, _number(one), _number(other))


def _number(value: Number | int) -> Number:
    return number(value) if isinstance(value, int) else value


def _as_number(value: object) -> Number | int:
    """A number, a term of one or a conditional of these, as what can be compared. Raises ModelError for anything else."""
    if isinstance(value, Conditional):
        return _chosen(condition(value.condition), _as_number(value.then), _as_number(value.otherwise))
    if isinstance(value, StandsForNumber):
        return value.term
    if type(value) is int or isinstance(value, Number):
        return value
    raise ModelError(f"maximum and minimum compare numbers, and {value!r} is none")


def _term(value: object) -> Term:
    """A number, or a truth value, as a term."""
    if isinstance(value, Term):
        return value
    return number(value) if type(value) is int else condition(value)


def at(family: Iterable[S], index: int | Number | Choice[Any], *, none: object = None) -> S:
    """The member of a family, or of a list, that a choice names; ``none`` is the value where it names none of its universe.

    Raises ModelError for what may be out of range, a number or a choice that may name none, unless ``none`` is given.
    """
    values: list[Any] = list(family)
    if not isinstance(index, (Number, Choice)):
        return values[index]  # type: ignore[no-any-return]
    names = index.names if isinstance(index, Choice) else ()
    if len(names) != len(values) and none is None:
        which = f"may be {names[-1]!r}" if len(names) > len(values) else "may be out of range"
        raise ModelError(f"at: {' '.join(str(index).split())} {which}: say by none= what the value is then")
    value: Any = values[-1] if none is None else If(index == len(values) - 1, values[-1], none)
    for position in reversed(range(len(values) - 1)):
        value = If(index == position, values[position], value)
    return value  # type: ignore[no-any-return]


@overload
def select(index: Number | Choice[Any], values: Sequence[Number | int]) -> Number: ...
@overload
def select(index: Number | Choice[Any], values: Sequence[Condition]) -> Condition: ...
@overload
def select(index: Number | Choice[Any], values: Sequence[Choice[E]]) -> Choice[E]: ...
@overload
def select(index: Number | Choice[Any], values: Sequence[Subset]) -> Subset: ...
def select(index: Number | Choice[Any], values: Sequence[Any]) -> object:
    """``values[index]`` for an index that is a term; the last value where the index is out of range."""
    value = values[-1]
    for position in reversed(range(len(values) - 1)):
        value = conditional(index == position, _term(values[position]), _term(value))
    return value
