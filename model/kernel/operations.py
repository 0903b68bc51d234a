"""What each operator of a Z3 term becomes in LLVM IR.

What is known while the text is written is not left to LLVM: constants are folded, and what stands on both sides is compared
there and then. Of a formula over a step, most disappears so when the step is that of one action.

Values have one bit for Bool, 64 for Int, N for a bit vector of N bits. Equal constants must be one and the same value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial, reduce

import z3

from model.kernel.instructions import FALSE, TRUE, Constant, Function, Value

Rule = Callable[[Function, list[Value]], Value]


def _distinct_of(values: Iterable[Value]) -> list[Value]:
    """The values without repetitions, in order."""
    return list({id(value): value for value in values}.values())


def conjunction(f: Function, args: list[Value]) -> Value:
    """All of some truths."""
    left = _distinct_of(arg for arg in args if arg is not TRUE)
    if any(arg is FALSE for arg in left):
        return FALSE
    return reduce(partial(f.join, "and"), left) if left else TRUE


def disjunction(f: Function, args: list[Value]) -> Value:
    """Any of some truths."""
    left = _distinct_of(arg for arg in args if arg is not FALSE)
    if any(arg is TRUE for arg in left):
        return TRUE
    return reduce(partial(f.join, "or"), left) if left else FALSE


def _negation(f: Function, args: list[Value]) -> Value:
    (arg,) = args
    return FALSE if arg is TRUE else TRUE if arg is FALSE else f.inverse(arg)


def _implication(f: Function, args: list[Value]) -> Value:
    premise, conclusion = args
    return TRUE if premise is conclusion else disjunction(f, [_negation(f, [premise]), conclusion])


def _comparison(sign: str, holds: Callable[[int, int], bool]) -> Rule:
    def rule(f: Function, args: list[Value]) -> Value:
        one, other = args
        if one is other:
            return TRUE if holds(0, 0) else FALSE
        if isinstance(one, Constant) and isinstance(other, Constant):
            return TRUE if holds(one.constant, other.constant) else FALSE
        return f.compare(sign, one, other)

    return rule


_equality = _comparison("eq", operator.eq)


def _distinction(f: Function, args: list[Value]) -> Value:
    pairs = ([x, y] for i, x in enumerate(args) for y in args[i + 1 :])
    return conjunction(f, [_negation(f, [_equality(f, pair)]) for pair in pairs])


def _choice(f: Function, args: list[Value]) -> Value:
    condition, one, other = args
    if one is other or condition is TRUE:
        return one
    return other if condition is FALSE else f.choose(condition, one, other)


def _arithmetic(name: str, result: Callable[[int, int], int]) -> Rule:
    """Sums and the like; the language sees to it that no number leaves 64 bits."""

    def join(f: Function, one: Value, other: Value) -> Value:
        if isinstance(one, Constant) and isinstance(other, Constant):
            return Constant(one.bits, result(one.constant, other.constant))
        return f.join(name, one, other)

    return lambda f, args: reduce(partial(join, f), args)


def _bitwise(name: str, result: Callable[[int, int], int]) -> Rule:
    """Operations on the bits of vectors, or on truths as vectors of one bit."""
    folded = _arithmetic(name, result)

    def join(f: Function, one: Value, other: Value) -> Value:
        if one is other:
            return Constant(one.bits, 0) if name == "xor" else one
        return folded(f, [one, other])

    return lambda f, args: reduce(partial(join, f), args)


def _minus(f: Function, args: list[Value]) -> Value:
    return f.join("sub", Constant(64, 0), args[0])


def _complement(f: Function, args: list[Value]) -> Value:
    (arg,) = args
    return Constant(arg.bits, ~arg.constant & (1 << arg.bits) - 1) if isinstance(arg, Constant) else f.inverse(arg)


def extract(f: Function, value: Value, high: int, low: int) -> Value:
    """The bits of a vector from number ``low`` to number ``high``."""
    width = high - low + 1
    if isinstance(value, Constant):
        return Constant(width, value.constant >> low & (1 << width) - 1)
    return f.resized(f.shifted(value, -low), width)


def _concatenation(f: Function, args: list[Value]) -> Value:
    def join(high: Value, low: Value) -> Value:
        wide = high.bits + low.bits
        if isinstance(high, Constant) and isinstance(low, Constant):
            return Constant(wide, high.constant << low.bits | low.constant)
        return f.join("or", f.shifted(f.resized(high, wide), low.bits), f.resized(low, wide))

    return reduce(join, args)


RULES: dict[int, Rule] = {
    z3.Z3_OP_TRUE: lambda f, args: TRUE,
    z3.Z3_OP_FALSE: lambda f, args: FALSE,
    z3.Z3_OP_AND: conjunction,
    z3.Z3_OP_OR: disjunction,
    z3.Z3_OP_NOT: _negation,
    z3.Z3_OP_IMPLIES: _implication,
    z3.Z3_OP_XOR: _bitwise("xor", operator.xor),
    z3.Z3_OP_EQ: _equality,
    z3.Z3_OP_DISTINCT: _distinction,
    z3.Z3_OP_ITE: _choice,
    z3.Z3_OP_ADD: _arithmetic("add", operator.add),
    z3.Z3_OP_SUB: _arithmetic("sub", operator.sub),
    z3.Z3_OP_UMINUS: _minus,
    z3.Z3_OP_MUL: _arithmetic("mul", operator.mul),
    z3.Z3_OP_LE: _comparison("sle", operator.le),
    z3.Z3_OP_LT: _comparison("slt", operator.lt),
    z3.Z3_OP_GE: _comparison("sge", operator.ge),
    z3.Z3_OP_GT: _comparison("sgt", operator.gt),
    z3.Z3_OP_BAND: _bitwise("and", operator.and_),
    z3.Z3_OP_BOR: _bitwise("or", operator.or_),
    z3.Z3_OP_BXOR: _bitwise("xor", operator.xor),
    z3.Z3_OP_BNOT: _complement,
    z3.Z3_OP_CONCAT: _concatenation,
}
