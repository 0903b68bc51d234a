"""What each operator of a term becomes in LLVM IR.

What is known while the text is written is not left to LLVM: constants are folded, and what stands on both sides is compared
there and then. Of a formula over a step, most disappears so when the step is that of one action.

Values have one bit for Bool, 64 for Int, N for a bit vector of N bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial, reduce

from fencepost.model.kernel.compiler.instructions import FALSE, TRUE, Constant, Function, Value, constant

Rule = Callable[[Function, list[Value]], Value]


def _distinct_of(values: Iterable[Value]) -> list[Value]:
    """The values without repetitions, in order."""
    return list({id(value): value for value in values}.values())


def _are_opposed(values: list[Value]) -> bool:
    """Whether one of the truths is the opposite of another."""
    return any(value.operation == "not" and value.operands[0] in values for value in values)


def conjunction(f: Function, args: list[Value]) -> Value:
    """All of some truths."""
    left = _distinct_of(arg for arg in args if arg is not TRUE)
    if FALSE in left or _are_opposed(left):
        return FALSE
    return reduce(partial(f.join, "and"), left) if left else TRUE


def disjunction(f: Function, args: list[Value]) -> Value:
    """Any of some truths."""
    left = _distinct_of(arg for arg in args if arg is not FALSE)
    if TRUE in left or _are_opposed(left):
        return TRUE
    return reduce(partial(f.join, "or"), left) if left else FALSE


def _opposite(f: Function, args: list[Value]) -> Value:
    """Every bit the other one."""
    (arg,) = args
    if isinstance(arg, Constant):
        return constant(arg.bits, ~arg.constant & _ones(arg.bits))
    return arg.operands[0] if arg.operation == "not" else f.inverse(arg)


def _ones(bits: int) -> int:
    return (1 << bits) - 1


def _implication(f: Function, args: list[Value]) -> Value:
    premise, conclusion = args
    return TRUE if premise is conclusion else disjunction(f, [_opposite(f, [premise]), conclusion])


def _comparison(sign: str, holds: Callable[[int, int], bool]) -> Rule:
    def rule(f: Function, args: list[Value]) -> Value:
        one, other = args
        if one is other:
            return TRUE if holds(0, 0) else FALSE
        if isinstance(one, Constant) and isinstance(other, Constant):
            return TRUE if holds(one.constant, other.constant) else FALSE
        return f.compare(sign, one, other)

    return rule


_equal = _comparison("eq", operator.eq)


def _equality(f: Function, args: list[Value]) -> Value:
    for truth, other in (args, args[::-1]):
        if truth is TRUE:
            return other
        if truth is FALSE:
            return _opposite(f, [other])
    return _equal(f, args)


def _distinction(f: Function, args: list[Value]) -> Value:
    pairs = ([x, y] for i, x in enumerate(args) for y in args[i + 1 :])
    return conjunction(f, [_opposite(f, [_equality(f, pair)]) for pair in pairs])


def _choice(f: Function, args: list[Value]) -> Value:
    condition, one, other = args
    if one is other or condition is TRUE:
        return one
    if condition is FALSE:
        return other
    return condition if one is TRUE and other is FALSE else f.choose(condition, one, other)


def _arithmetic(name: str, result: Callable[[int, int], int]) -> Rule:
    """Sums and the like; the language sees to it that no number leaves 64 bits."""

    def join(f: Function, one: Value, other: Value) -> Value:
        if isinstance(one, Constant) and isinstance(other, Constant):
            return constant(one.bits, result(one.constant, other.constant))
        return f.join(name, one, other)

    return lambda f, args: reduce(partial(join, f), args)


def _bitwise(name: str, result: Callable[[int, int], int]) -> Rule:
    """Operations on the bits of vectors, or on truths as vectors of one bit."""
    folded = _arithmetic(name, result)

    def join(f: Function, one: Value, other: Value) -> Value:
        if one is other:
            return constant(one.bits, 0) if name == "xor" else one
        for known, left in ((one, other), (other, one)):
            if isinstance(known, Constant) and known.constant in (0, _ones(known.bits)):
                return _with_same_bits(f, left, known)
        return folded(f, [one, other])

    def _with_same_bits(f: Function, left: Value, known: Constant) -> Value:
        """The result where one side is all zeros or all ones."""
        on_zeros, on_ones = (result(bit, known.constant & 1) for bit in (0, 1))
        if on_zeros == on_ones:
            return constant(left.bits, on_zeros * _ones(left.bits))
        return left if on_ones else _opposite(f, [left])

    return lambda f, args: reduce(partial(join, f), args)


def _minus(f: Function, args: list[Value]) -> Value:
    return f.join("sub", constant(64, 0), args[0])


def extract(f: Function, value: Value, high: int, low: int) -> Value:
    """The bits of a vector from number ``low`` to number ``high``. They are looked for in what the vector was made of: where an
    action adds one member to a subset, all others are found to be what they were."""
    return f.recalled(("extract", high, low, id(value)), lambda: _extracted(f, value, high, low))


def _extracted(f: Function, value: Value, high: int, low: int) -> Value:
    width = high - low + 1
    if isinstance(value, Constant):
        return constant(width, value.constant >> low & _ones(width))
    if value.operation in _BITWISE:
        return _BITWISE[value.operation](f, [extract(f, operand, high, low) for operand in value.operands])
    if value.operation == "not":
        return _opposite(f, [extract(f, value.operands[0], high, low)])
    if value.operation == "wider" and high < value.operands[0].bits:
        return extract(f, value.operands[0], high, low)
    if value.operation == "lshr" and isinstance(places := value.operands[1], Constant):
        return extract(f, value.operands[0], high + places.constant, low + places.constant)
    if value.operation == "select":
        condition, *sides = value.operands
        one, other = (extract(f, side, high, low) for side in sides)
        if one is other or (isinstance(one, Constant) and isinstance(other, Constant)):
            return _choice(f, [condition, one, other])
    return f.resized(f.shifted(value, -low), width)


def _concatenation(f: Function, args: list[Value]) -> Value:
    def join(high: Value, low: Value) -> Value:
        wide = high.bits + low.bits
        if isinstance(high, Constant) and isinstance(low, Constant):
            return constant(wide, high.constant << low.bits | low.constant)
        return f.join("or", f.shifted(f.resized(high, wide), low.bits), f.resized(low, wide))

    return reduce(join, args)


_BITWISE = {
    "and": _bitwise("and", operator.and_),
    "or": _bitwise("or", operator.or_),
    "xor": _bitwise("xor", operator.xor),
}
RULES: dict[str, Rule] = {
    "true": lambda f, args: TRUE,
    "false": lambda f, args: FALSE,
    "and": conjunction,
    "or": disjunction,
    "not": _opposite,
    "=>": _implication,
    "xor": _BITWISE["xor"],
    "=": _equality,
    "distinct": _distinction,
    "ite": _choice,
    "+": _arithmetic("add", operator.add),
    "-": _arithmetic("sub", operator.sub),
    "unary -": _minus,
    "*": _arithmetic("mul", operator.mul),
    "<=": _comparison("sle", operator.le),
    "<": _comparison("slt", operator.lt),
    ">=": _comparison("sge", operator.ge),
    ">": _comparison("sgt", operator.gt),
    "bvand": _BITWISE["and"],
    "bvor": _BITWISE["or"],
    "bvxor": _BITWISE["xor"],
    "bvnot": _opposite,
    "concat": _concatenation,
}
