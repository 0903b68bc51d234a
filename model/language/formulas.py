"""Z3 terms with the words of the language: comparing a choice with a name, membership in a subset, counting, selecting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import z3


class ChoiceRef(z3.ArithRef):  # type: ignore[misc]
    """A Z3 Int that stands for one of several names; ``==`` and ``!=`` also take a name."""

    names: tuple[str, ...] = ()

    @classmethod
    def constant(cls, name: str, names: tuple[str, ...]) -> ChoiceRef:
        ref = cls(z3.Int(name).as_ast())
        ref.names = names
        return ref

    def _resolve(self, other: Any) -> Any:
        if not isinstance(other, str):
            return other
        if other not in self.names:
            raise ValueError(f"{self} is never {other!r}: it is one of {', '.join(self.names)}")
        return self.names.index(other)

    def __eq__(self, other: object) -> Any:
        return super().__eq__(self._resolve(other))

    def __ne__(self, other: object) -> Any:
        return super().__ne__(self._resolve(other))

    def __hash__(self) -> int:
        return int(super().__hash__())

    def among(self, *names: str) -> Any:
        """The formula: the value is one of these names."""
        return any_of(self == name for name in names)


class SubsetRef(z3.BitVecRef):  # type: ignore[misc]
    """A Z3 bit vector that stands for a subset; ``|``, ``&`` and ``~`` are union, intersection and complement."""

    @classmethod
    def constant(cls, name: str, size: int) -> SubsetRef:
        return cls(z3.BitVec(name, size).as_ast())

    def has(self, member: Any) -> Any:
        """The formula: the subset contains the member, given as a number or as a term."""
        if isinstance(member, int):
            return z3.Extract(member, member, self) == z3.BitVecVal(1, 1)
        return any_of(z3.And(member == m, self.has(m)) for m in range(self.size()))

    def plus(self, member: Any) -> SubsetRef:
        """The subset with a member (a number or a term) added."""
        return self | self._mask(member)

    def minus(self, member: Any) -> SubsetRef:
        """The subset with a member (a number or a term) taken out."""
        return self & ~self._mask(member)

    def _mask(self, member: Any) -> Any:
        size = self.size()
        if isinstance(member, int):
            return z3.BitVecVal(1 << member, size)
        return reduce(
            lambda rest, m: z3.If(member == m, z3.BitVecVal(1 << m, size), rest), range(size), z3.BitVecVal(0, size)
        )

    def __or__(self, other: Any) -> SubsetRef:
        return SubsetRef(super().__or__(other).as_ast())

    def __and__(self, other: Any) -> SubsetRef:
        return SubsetRef(super().__and__(other).as_ast())

    def __invert__(self) -> SubsetRef:
        return SubsetRef(super().__invert__().as_ast())

    @property
    def is_empty(self) -> Any:
        return self == z3.BitVecVal(0, self.size())


@dataclass(frozen=True)
class Conditional:
    """A choice between two literals whose domain is known only where it is assigned."""

    condition: Any
    then: Any
    otherwise: Any


def If(condition: Any, then: Any, otherwise: Any) -> Any:
    """The first value where the condition holds, else the second; the values may be names, sets, numbers or terms."""
    if isinstance(then, z3.ExprRef) or isinstance(otherwise, z3.ExprRef):
        if not isinstance(then, (str, Conditional)) and not isinstance(otherwise, (str, Conditional)):
            chosen = z3.If(condition, then, otherwise)
            return SubsetRef(chosen.as_ast()) if isinstance(chosen, z3.BitVecRef) else chosen
    return Conditional(condition, then, otherwise)


def all_of(formulas: Iterable[Any]) -> Any:
    """The conjunction; true if there are none."""
    parts = list(formulas)
    return parts[0] if len(parts) == 1 else z3.And(*parts)


def any_of(formulas: Iterable[Any]) -> Any:
    """The disjunction; false if there are none."""
    parts = list(formulas)
    return parts[0] if len(parts) == 1 else z3.Or(*parts)


def at_least(count: int, formulas: Iterable[Any]) -> Any:
    """The formula: at least ``count`` of the formulas hold.

    Built as a decision diagram with shared nodes (count * length of them), which both provers and the kernel handle
    better than a sum, and which every SMT-LIB solver reads.
    """
    parts = list(formulas)
    true, false = z3.BoolVal(True), z3.BoolVal(False)
    # row[c]: at least c of the formulas seen so far, which are a suffix of the list, hold
    row: list[Any] = [true] + [false] * max(count, 0)
    for part in reversed(parts):
        row = [true] + [_unless_decided(part, row[c - 1], row[c]) for c in range(1, len(row))]
    return row[count] if count > 0 else true


def _unless_decided(part: Any, fewer: Any, same: Any) -> Any:
    if z3.is_false(same):
        return part if z3.is_true(fewer) else fewer if z3.is_false(fewer) else z3.And(part, fewer)
    return z3.Or(same, part) if z3.is_true(fewer) else z3.Or(same, z3.And(part, fewer))


def maximum(first: Any, *others: Any) -> Any:
    """The greatest of the numbers, of which one at least is a term, unless there is only one."""
    return reduce(lambda a, b: z3.If(a >= b, a, b), others, first)


def minimum(first: Any, *others: Any) -> Any:
    """The least of the numbers."""
    return reduce(lambda a, b: z3.If(a <= b, a, b), others, first)


def select(index: Any, values: Sequence[Any]) -> Any:
    """``values[index]`` for an index that is a term; the last value where the index is out of range."""
    chosen = values[-1]
    for position in reversed(range(len(values) - 1)):
        chosen = z3.If(index == position, values[position], chosen)
    return chosen
