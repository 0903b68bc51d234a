"""Z3 terms with the words of the language: comparing a choice with a name, membership in a subset, counting, selecting."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import z3

from fencepost.model.language.connectives import And, Or, conditional, equation
from fencepost.model.language.markers import closed, counted, refuse, so_many
from fencepost.model.language.memberships import Membership, subset_if
from fencepost.model.language.mistakes import ModelError
from fencepost.model.language.one_or_none import OneOrNoneRef, one_or_other


@cache
def _number(value: int) -> z3.IntNumRef:
    return z3.IntVal(value)


@cache
def _bits(value: int, size: int) -> z3.BitVecNumRef:
    return z3.BitVecVal(value, size)


class ChoiceRef(z3.ArithRef):  # type: ignore[misc]
    """A Z3 Int that stands for one of several names; ``==`` and ``!=`` also take a name."""

    names: tuple[str, ...] = ()

    @classmethod
    def constant(cls, name: str, names: tuple[str, ...]) -> ChoiceRef:
        return cls.of(z3.Int(name), names)

    @classmethod
    def of(cls, term: Any, names: tuple[str, ...]) -> ChoiceRef:
        ref = cls(term.as_ast())
        ref.names = names
        return ref

    def _resolve(self, other: Any) -> Any:
        if isinstance(other, ChoiceRef) and other.names != self.names:
            raise ValueError(f"{self} is one of {', '.join(self.names)}, and {other} one of {', '.join(other.names)}")
        if isinstance(other, z3.ArithRef):
            return other
        if isinstance(other, str) and other in self.names:
            return self.names.index(other)
        if type(other) is int and 0 <= other < len(self.names):
            return other
        raise ValueError(f"{self} is never {other!r}: it is one of {', '.join(self.names)}")

    def __eq__(self, other: object) -> Any:
        value = self._resolve(other)
        return equation(self, _number(value)) if type(value) is int else super().__eq__(value)

    def __ne__(self, other: object) -> Any:
        return super().__ne__(self._resolve(other))

    def __hash__(self) -> int:
        return int(super().__hash__())

    def among(self, *names: str) -> Any:
        """The formula: the value is one of these names."""
        return any_of(self == name for name in names)


class SubsetRef(z3.BitVecRef):  # type: ignore[misc]
    """A Z3 bit vector that stands for a subset; ``|``, ``&`` and ``~`` are union, intersection and complement.

    The other side of these, and of ``==`` and ``!=``, may also be a set of members.
    """

    @classmethod
    def constant(cls, name: str, size: int) -> SubsetRef:
        return cls(z3.BitVec(name, size).as_ast())

    def has(self, member: Any) -> Any:
        """The formula: the subset contains the member, a number or a term; false for a term beyond the universe."""
        if not isinstance(member, z3.ExprRef):
            place = self._place(member)
            return equation(_bits(1, 1), z3.Extract(place, place, self))
        return any_of(And(test, self.has(m)) for m, test in self._tests(member))

    def plus(self, member: Any) -> Any:
        """The subset with a member (a number or a term) added; a term beyond the universe adds nothing."""
        return self | self._mask(member)

    def minus(self, member: Any) -> Any:
        """The subset with a member (a number or a term) taken out."""
        return self & ~self._mask(member)

    def _mask(self, member: Any) -> Any:
        size = self.size()
        if not isinstance(member, z3.ExprRef):
            return _bits(1 << self._place(member), size)
        mask = _bits(0, size)
        for m, test in self._tests(member):
            mask = conditional(test, _bits(1 << m, size), mask)
        return mask

    def _place(self, member: Any) -> int:
        if type(member) is not int or not 0 <= member < self.size():
            raise ValueError(f"{member!r} cannot be in {self}, a subset of {self.size()} members from 0")
        return member

    def _tests(self, member: Any) -> list[tuple[int, Any]]:
        if isinstance(member, ChoiceRef) and len(member.names) != self.size():
            raise ValueError(f"{member} is one of {', '.join(member.names)}, and {self} a subset of {self.size()} members")
        return [(m, member == m) for m in range(self.size())]

    def _resolve(self, other: Any) -> Any:
        return other if isinstance(other, z3.BitVecRef) else _bits(mask_of(other, self.size()), self.size())

    def __eq__(self, other: object) -> Any:
        return super().__eq__(self._resolve(other))

    def __ne__(self, other: object) -> Any:
        return super().__ne__(self._resolve(other))

    def __hash__(self) -> int:
        return int(super().__hash__())

    def __or__(self, other: Any) -> SubsetRef:
        return SubsetRef(super().__or__(self._resolve(other)).as_ast())

    def __and__(self, other: Any) -> SubsetRef:
        return SubsetRef(super().__and__(self._resolve(other)).as_ast())

    def __invert__(self) -> SubsetRef:
        return SubsetRef(super().__invert__().as_ast())

    @property
    def is_empty(self) -> Any:
        return equation(self, _bits(0, self.size()))


def mask_of(members: Any, size: int) -> int:
    """The members, numbers below ``size``, as the bits of a number; ValueError if that is not what they are."""
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise ValueError(f"{members!r} is not a set of members")
    mask = 0
    for member in members:
        if type(member) is not int or not 0 <= member < size:
            raise ValueError(f"{member!r} is not a member: they are numbered from 0 to {size - 1}")
        mask |= 1 << member
    return mask


def subset_where(size: int, holds: Callable[[int], Any]) -> SubsetRef:
    """The subset of the members, numbers below ``size``, of which the formula holds."""
    bits = (conditional(holds(member), _bits(1 << member, size), _bits(0, size)) for member in range(size))
    return SubsetRef(reduce(operator.or_, bits, _bits(0, size)).as_ast())


@dataclass(frozen=True, eq=False)
class Conditional:
    """A choice between two literals whose domain is known only where it is assigned."""

    condition: Any
    then: Any
    otherwise: Any

    def __eq__(self, other: object) -> bool:
        raise TypeError("a conditional between literals can only be assigned: compare inside its condition instead")

    __hash__ = None  # type: ignore[assignment]


def If(condition: Any, then: Any, otherwise: Any) -> Any:
    """The first value where the condition holds, else the second; the values may be names, sets, numbers or terms."""
    sides = (then, otherwise)
    if any(isinstance(side, Membership) for side in sides):
        return subset_if(condition, then, otherwise)
    if any(isinstance(side, OneOrNoneRef) for side in sides):
        return one_or_other(condition, then, otherwise)
    terms = [side for side in sides if isinstance(side, z3.ExprRef)]
    numeric = not terms or not z3.is_bv(terms[0])
    if not terms or not all(isinstance(s, z3.ExprRef) or (numeric and isinstance(s, (bool, int))) for s in sides):
        return Conditional(condition, then, otherwise)
    chosen = conditional(condition, then, otherwise)
    if isinstance(chosen, z3.BitVecRef):
        return SubsetRef(chosen.as_ast())
    names = {side.names for side in terms if isinstance(side, ChoiceRef)}
    if len(names) == 1:
        return ChoiceRef.of(chosen, names.pop())
    return chosen


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
    if isinstance(count, z3.ExprRef):
        return counted(count, parts)
    if count == 1:
        parts = list(closed(tuple(parts), universal=False))
    if len(parts) == 1 and count > 1 and (for_any := so_many(count, parts[0])) is not None:
        return for_any
    refuse(f"at_least({count}, ...)", parts)
    true, false = z3.BoolVal(True), z3.BoolVal(False)
    # row[c]: at least c of the formulas seen so far, which are a suffix of the list, hold
    row: list[Any] = [true] + [false] * max(count, 0)
    for part in reversed(parts):
        row = [true] + [_unless_decided(part, row[c - 1], row[c]) for c in range(1, len(row))]
    return row[count] if count > 0 else true


def _unless_decided(part: Any, fewer: Any, same: Any) -> Any:
    if z3.is_false(same):
        return part if z3.is_true(fewer) else fewer if z3.is_false(fewer) else And(part, fewer)
    return Or(same, part) if z3.is_true(fewer) else Or(same, And(part, fewer))


def how_many(*formulas: Any) -> Any:
    """The number of the formulas that hold, as a term; to compare it with a constant, ``at_least`` is better."""
    refuse("how_many", formulas)
    return z3.Sum([z3.If(formula, z3.IntVal(1), z3.IntVal(0)) for formula in formulas])


def maximum(first: Any, *others: Any) -> Any:
    """The greatest of the numbers."""
    return reduce(lambda a, b: _chosen(a >= b, a, b), map(_as_number, others), _as_number(first))


def minimum(first: Any, *others: Any) -> Any:
    """The least of the numbers."""
    return reduce(lambda a, b: _chosen(a <= b, a, b), map(_as_number, others), _as_number(first))


def _as_number(value: Any) -> Any:
    """A number, a term of one or a conditional of these, as what can be compared. Raises ModelError for anything else."""
    if isinstance(value, Conditional):
        return z3.If(value.condition, _as_number(value.then), _as_number(value.otherwise))
    if type(value) is not int and (not isinstance(value, z3.ArithRef) or isinstance(value, ChoiceRef)):
        raise ModelError(f"maximum and minimum compare numbers, and {value!r} is none")
    return value


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    if isinstance(condition, bool):
        return one if condition else other
    return z3.If(condition, one, other)


def at(family: Iterable[Any], index: Any, *, none: Any = None) -> Any:
    """The member of a family, or of a list, that a choice names; ``none`` is the value where it names none of its universe.

    Raises ModelError for what may be out of range, a number or a choice that may name none, unless ``none`` is given.
    """
    values = list(family)
    if type(index) is int:
        return values[index]
    names = index.names if isinstance(index, ChoiceRef) else ()
    if len(names) != len(values) and none is None:
        which = f"may be {names[-1]!r}" if len(names) > len(values) else "may be out of range"
        raise ModelError(f"at: {' '.join(str(index).split())} {which}: say by none= what the value is then")
    chosen = values[-1] if none is None else If(index == len(values) - 1, values[-1], none)
    for position in reversed(range(len(values) - 1)):
        chosen = If(index == position, values[position], chosen)
    return chosen


def select(index: Any, values: Sequence[Any]) -> Any:
    """``values[index]`` for an index that is a term; the last value where the index is out of range."""
    chosen = values[-1]
    for position in reversed(range(len(values) - 1)):
        chosen = z3.If(index == position, values[position], chosen)
    return chosen
