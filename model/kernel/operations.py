"""What each operator of a Z3 term becomes in LLVM IR.

What is known while the text is written is not left to LLVM: constants are folded, and what stands on both sides is compared
there and then. Of a formula over a step, most disappears so when the step is that of one action.

Values are i1 for Bool, i64 for Int, iN for a bit vector of N bits. Equal constants must be one and the same value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import z3
from llvmlite import ir

I1, I64 = ir.IntType(1), ir.IntType(64)
TRUE, FALSE = ir.Constant(I1, 1), ir.Constant(I1, 0)

Value = Any
Rule = Callable[[ir.IRBuilder, list[Value]], Value]


def _are_known(values: Iterable[Value]) -> bool:
    return all(isinstance(value, ir.Constant) for value in values)


def _distinct_of(values: Iterable[Value]) -> list[Value]:
    """The values without repetitions, in order."""
    return list({id(value): value for value in values}.values())


def conjunction(b: ir.IRBuilder, args: list[Value]) -> Value:
    """All of some truths."""
    left = _distinct_of(arg for arg in args if arg is not TRUE)
    if any(arg is FALSE for arg in left):
        return FALSE
    return reduce(b.and_, left) if left else TRUE


def disjunction(b: ir.IRBuilder, args: list[Value]) -> Value:
    """Any of some truths."""
    left = _distinct_of(arg for arg in args if arg is not FALSE)
    if any(arg is TRUE for arg in left):
        return TRUE
    return reduce(b.or_, left) if left else FALSE


def _negation(b: ir.IRBuilder, args: list[Value]) -> Value:
    (arg,) = args
    return FALSE if arg is TRUE else TRUE if arg is FALSE else b.not_(arg)


def _implication(b: ir.IRBuilder, args: list[Value]) -> Value:
    premise, conclusion = args
    return TRUE if premise is conclusion else disjunction(b, [_negation(b, [premise]), conclusion])


def _equality(b: ir.IRBuilder, args: list[Value]) -> Value:
    one, other = args
    if one is other:
        return TRUE
    return FALSE if _are_known(args) else b.icmp_unsigned("==", one, other)


def _distinction(b: ir.IRBuilder, args: list[Value]) -> Value:
    pairs = ([x, y] for i, x in enumerate(args) for y in args[i + 1 :])
    return conjunction(b, [_negation(b, [_equality(b, pair)]) for pair in pairs])


def _comparison(sign: str, holds: Callable[[int, int], bool]) -> Rule:
    def rule(b: ir.IRBuilder, args: list[Value]) -> Value:
        one, other = args
        if one is other:
            return TRUE if holds(0, 0) else FALSE
        if _are_known(args):
            return TRUE if holds(one.constant, other.constant) else FALSE
        return b.icmp_signed(sign, one, other)

    return rule


def _choice(b: ir.IRBuilder, args: list[Value]) -> Value:
    condition, one, other = args
    if one is other or condition is TRUE:
        return one
    return other if condition is FALSE else b.select(condition, one, other)


def _arithmetic(name: str, result: Callable[[int, int], int]) -> Rule:
    """Sums and the like; the language sees to it that no number leaves 64 bits."""

    def join(b: ir.IRBuilder, one: Value, other: Value) -> Value:
        if _are_known([one, other]):
            return ir.Constant(I64, result(one.constant, other.constant))
        return getattr(b, name)(one, other)

    return lambda b, args: reduce(lambda one, other: join(b, one, other), args)


def _bitwise(name: str, result: Callable[[int, int], int]) -> Rule:
    """Operations on the bits of vectors, or on truths as vectors of one bit."""

    def join(b: ir.IRBuilder, one: Value, other: Value) -> Value:
        if _are_known([one, other]):
            return ir.Constant(one.type, result(one.constant, other.constant))
        if one is other:
            return ir.Constant(one.type, 0) if name == "xor" else one
        return getattr(b, name)(one, other)

    return lambda b, args: reduce(lambda one, other: join(b, one, other), args)


def _complement(b: ir.IRBuilder, args: list[Value]) -> Value:
    (arg,) = args
    return ir.Constant(arg.type, ~arg.constant & (1 << arg.type.width) - 1) if _are_known(args) else b.not_(arg)


def extract(b: ir.IRBuilder, value: Value, high: int, low: int) -> Value:
    """The bits of a vector from number ``low`` to number ``high``."""
    width = high - low + 1
    if _are_known([value]):
        return ir.Constant(ir.IntType(width), value.constant >> low & (1 << width) - 1)
    shifted = b.lshr(value, ir.Constant(value.type, low)) if low else value
    return b.trunc(shifted, ir.IntType(width)) if width < value.type.width else shifted


def _concatenation(b: ir.IRBuilder, args: list[Value]) -> Value:
    def join(high: Value, low: Value) -> Value:
        wide = ir.IntType(high.type.width + low.type.width)
        if _are_known([high, low]):
            return ir.Constant(wide, high.constant << low.type.width | low.constant)
        return b.or_(b.shl(b.zext(high, wide), ir.Constant(wide, low.type.width)), b.zext(low, wide))

    return reduce(join, args)


RULES: dict[int, Rule] = {
    z3.Z3_OP_TRUE: lambda b, args: TRUE,
    z3.Z3_OP_FALSE: lambda b, args: FALSE,
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
    z3.Z3_OP_UMINUS: lambda b, args: b.neg(args[0]),
    z3.Z3_OP_MUL: _arithmetic("mul", operator.mul),
    z3.Z3_OP_LE: _comparison("<=", operator.le),
    z3.Z3_OP_LT: _comparison("<", operator.lt),
    z3.Z3_OP_GE: _comparison(">=", operator.ge),
    z3.Z3_OP_GT: _comparison(">", operator.gt),
    z3.Z3_OP_BAND: _bitwise("and_", operator.and_),
    z3.Z3_OP_BOR: _bitwise("or_", operator.or_),
    z3.Z3_OP_BXOR: _bitwise("xor", operator.xor),
    z3.Z3_OP_BNOT: _complement,
    z3.Z3_OP_CONCAT: _concatenation,
}
