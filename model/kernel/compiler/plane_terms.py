"""Terms to LLVM IR: the value of a term in 64 states at once.

A plane is a word with a bit for each of 64 states. A truth is a plane; a vector of N bits is N of them, the lowest first; a
number is one for each bit that it takes, and what these count from. So one instruction does for 64 states what it does, on
whole words, for one: formulas are mostly truths, and most numbers take two or three bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import zip_longest

from fencepost.model.kernel.compiler.instructions import ONES, Function, Value, constant
from fencepost.model.kernel.compiler.terms import Emission
from fencepost.model.terms.nodes import Term

NEVER: Value = constant(64, 0)
ALWAYS: Value = constant(64, ONES)
"""The planes of what holds in no state, and in all."""

Vector = tuple[Value, ...]


@dataclass(frozen=True)
class Numeral:
    """In each state ``low`` plus the number that the bits make, the lowest first."""

    low: int
    bits: Vector


Planes = Value | Vector | Numeral


class InPlanes(Emission[Planes]):
    """Emits the terms into a function; ``leaf`` gives the planes of a constant by its name."""

    false, true = NEVER, ALWAYS

    def __init__(
        self, function: Function, leaf: Callable[[str], Planes], certain: Callable[[Term], Planes | None] | None = None
    ) -> None:
        super().__init__(certain)
        self._rules, self._leaf = _Rules(function), leaf

    def truth(self, term: Term) -> Value:
        """The plane of a formula."""
        plane = self.emit(term)
        assert isinstance(plane, Value)
        return plane

    def _term(self, term: Term, arguments: list[Planes]) -> Planes:
        if term.op == "literal":
            return literal(term, term.detail)
        if term.op == "constant":
            return self._leaf(term.detail)
        if term.op == "extract":
            (vector,), (high, low) = arguments, term.detail
            assert isinstance(vector, tuple)
            return vector[low : high + 1]
        return RULES[term.op](self._rules, *arguments)


def literal(term: Term, value: int) -> Planes:
    """The planes of a value of a term's sort."""
    if term.sort.bits:
        return _bits(value, term.sort.bits)
    return Numeral(value, ()) if term.sort.kind == "Int" else ALWAYS if value else NEVER


def _bits(value: int, count: int) -> Vector:
    return tuple(ALWAYS if value >> bit & 1 else NEVER for bit in range(count))


class _Rules:
    """What the operators become in a function."""

    def __init__(self, function: Function) -> None:
        self._function = function

    # --- planes

    def both(self, *planes: Value) -> Value:
        return self._all("and", planes, ALWAYS, NEVER)

    def any(self, *planes: Value) -> Value:
        return self._all("or", planes, NEVER, ALWAYS)

    def _all(self, join: str, planes: Sequence[Value], neutral: Value, decisive: Value) -> Value:
        whole = neutral
        for plane in planes:
            if plane is decisive:
                return decisive
            if whole is neutral:
                whole = plane
            elif plane is not neutral and plane is not whole:
                whole = self._function.join(join, whole, plane)
        return whole

    def differ(self, one: Value, other: Value) -> Value:
        for known, plane in ((one, other), (other, one)):
            if known is NEVER:
                return plane
            if known is ALWAYS:
                return self.opposite(plane)
        return NEVER if one is other else self._function.join("xor", one, other)

    def opposite(self, plane: Value) -> Value:
        if plane is NEVER or plane is ALWAYS:
            return ALWAYS if plane is NEVER else NEVER
        return plane.operands[0] if plane.operation == "not" else self._function.inverse(plane)

    def implies(self, premise: Value, conclusion: Value) -> Value:
        return self.any(self.opposite(premise), conclusion)

    def select(self, condition: Value, one: Value, other: Value) -> Value:
        if one is other:
            return one
        return self.any(self.both(condition, one), self.both(self.opposite(condition), other))

    # --- vectors

    def each(self, rule: Callable[..., Value]) -> Callable[..., Vector]:
        """The rule on the bits of vectors, one place after the other."""
        return lambda *vectors: tuple(rule(*bits) for bits in zip_longest(*vectors, fillvalue=NEVER))

    # --- numbers

    def added(self, one: Vector, other: Vector) -> Vector:
        """The sum of two numbers that count from zero."""
        if not one or not other:
            return one or other
        carry, bits = NEVER, list[Value]()
        for x, y in zip_longest(one, other, fillvalue=NEVER):
            half = self.differ(x, y)
            bits.append(self.differ(half, carry))
            carry = self.any(self.both(x, y), self.both(half, carry))
        return (*bits, carry) if carry is not NEVER else tuple(bits)

    def plus(self, one: Numeral, other: Numeral) -> Numeral:
        return Numeral(one.low + other.low, self.added(one.bits, other.bits))

    def minus(self, number: Numeral) -> Numeral:
        """The number below zero: all bits the other way count down from what they counted up to."""
        return Numeral(-number.low - (1 << len(number.bits)) + 1, tuple(self.opposite(bit) for bit in number.bits))

    def less(self, one: Numeral, *others: Numeral) -> Numeral:
        return reduce(self.plus, (self.minus(other) for other in others), one)

    def scaled(self, number: Numeral, factor: int) -> Numeral:
        if factor < 0:
            return self.minus(self.scaled(number, -factor))
        shifts = [(NEVER,) * place + number.bits for place in range(factor.bit_length()) if factor >> place & 1]
        return Numeral(number.low * factor, reduce(self.added, shifts, ()))

    def times(self, one: Numeral, other: Numeral) -> Numeral:
        product = self.scaled(one, other.low)
        for place, bit in enumerate(other.bits):
            product = self.plus(product, self.chosen_number(bit, self.scaled(one, 1 << place), Numeral(0, ())))
        return product

    def at_least(self, number: Numeral, bound: int) -> Value:
        """Whether the number is no less than a constant."""
        above = bound - number.low
        if above <= 0:
            return ALWAYS
        if above >> len(number.bits):
            return NEVER
        reached = ALWAYS
        for place, bit in enumerate(number.bits):
            reached = (self.both if above >> place & 1 else self.any)(bit, reached)
        return reached

    def no_more(self, one: Numeral, other: Numeral) -> Value:
        """Whether the one is at most the other."""
        return self.at_least(self.less(other, one), 0)

    def counted_alike(self, one: Numeral, other: Numeral) -> tuple[int, Vector, Vector]:
        """What both can count from, and their bits as they do."""
        low = min(one.low, other.low)
        above = ((number, number.low - low) for number in (one, other))
        first, second = (self.added(number.bits, _bits(more, more.bit_length())) for number, more in above)
        return low, first, second

    def chosen_number(self, condition: Value, one: Numeral, other: Numeral) -> Numeral:
        low, first, second = self.counted_alike(one, other)
        return Numeral(low, self.each(partial(self.select, condition))(first, second))

    # --- whatever the sort

    def chosen(self, condition: Value, one: Planes, other: Planes) -> Planes:
        if isinstance(one, Numeral) and isinstance(other, Numeral):
            return self.chosen_number(condition, one, other)
        choose = partial(self.select, condition)
        if isinstance(one, Value) and isinstance(other, Value):
            return choose(one, other)
        return self.each(choose)(one, other)

    def equal(self, one: Planes, other: Planes) -> Value:
        if isinstance(one, Numeral) and isinstance(other, Numeral):
            one, other = self.counted_alike(one, other)[1:]
        if isinstance(one, Value) and isinstance(other, Value):
            return self.opposite(self.differ(one, other))
        return self.opposite(self.any(*self.each(self.differ)(one, other)))

    def distinct(self, *values: Planes) -> Value:
        pairs = ((x, y) for place, x in enumerate(values) for y in values[place + 1 :])
        return self.both(*(self.opposite(self.equal(x, y)) for x, y in pairs))


RULES: dict[str, Callable[..., Planes]] = {
    "true": lambda r: ALWAYS,
    "false": lambda r: NEVER,
    "and": _Rules.both,
    "or": _Rules.any,
    "not": _Rules.opposite,
    "=>": _Rules.implies,
    "xor": lambda r, *planes: reduce(r.differ, planes),
    "=": _Rules.equal,
    "distinct": _Rules.distinct,
    "ite": _Rules.chosen,
    "+": lambda r, *numbers: reduce(r.plus, numbers),
    "-": _Rules.less,
    "unary -": _Rules.minus,
    "*": lambda r, *numbers: reduce(r.times, numbers),
    "<=": _Rules.no_more,
    "<": lambda r, one, other: r.opposite(r.no_more(other, one)),
    ">=": lambda r, one, other: r.no_more(other, one),
    ">": lambda r, one, other: r.opposite(r.no_more(one, other)),
    "bvand": lambda r, *vectors: reduce(r.each(r.both), vectors),
    "bvor": lambda r, *vectors: reduce(r.each(r.any), vectors),
    "bvxor": lambda r, *vectors: reduce(r.each(r.differ), vectors),
    "bvnot": lambda r, vector: r.each(r.opposite)(vector),
    "concat": lambda r, *vectors: tuple(bit for vector in reversed(vectors) for bit in vector),
}
