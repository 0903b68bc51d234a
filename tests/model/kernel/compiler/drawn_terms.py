"""Well-typed terms drawn at random, with every operator of the language, over a protocol with a variable of every shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3
from hypothesis import strategies as st

from fencepost.model.language import Protocol

Draw = Callable[[Any], Any]


def zoo() -> Protocol:
    """Several words; among them numbers with negative bounds, variables with one value only, fields that fill a word."""
    p = Protocol("zoo")
    p.flag("wet", per=p.universe("animal", 3))
    p.number("small", 0, 5)
    p.number("cold", -9, -3)
    p.number("mixed", -200, 1000)
    p.number("fixed", -7, -7)
    p.choice("food", ["hay", "fish", "bread"])
    p.choice("home", ["zoo"])
    p.subset("one", p.universe("only", 1, "o"))
    p.subset("few", p.universe("cage", 5))
    p.subset("crowd", p.universe("visitor", 63))
    p.flag("truth")
    p.number("amount", -(1 << 63), (1 << 63) - 1)
    p.subset("bits", p.universe("bit", 64, "i"))
    return p


NUMBERS = ["small", "cold", "mixed", "fixed", "food", "home"]
SUBSETS = {1: ["one"], 5: ["few"], 63: ["crowd"], 64: ["bits"]}
WIDTHS = st.sampled_from([1, 2, 5, 31, 63, 64])


class Terms:
    """Draws well-typed terms of bounded depth; ``CASES`` has one way to draw for every operator of the language."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.p = zoo()

    def variable(self, name: str) -> Any:
        return self.p.variable(name).term

    def one_of(self, options: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        return int(self._draw(st.integers(low, high)))

    def width(self) -> int:
        return int(self._draw(WIDTHS))

    def truth(self, depth: int) -> Any:
        kinds = LEAVES["truth"] if depth <= 0 else BY_SORT["truth"]
        return CASES[self.one_of(kinds)](self, depth - 1, "truth")

    def number(self, depth: int) -> Any:
        kinds = LEAVES["number"] if depth <= 0 else BY_SORT["number"]
        return CASES[self.one_of(kinds)](self, depth - 1, "number")

    def bits(self, depth: int, width: int) -> Any:
        kinds = LEAVES["bits"] if depth <= 0 else BY_SORT["bits"]
        return CASES[self.one_of(kinds)](self, depth - 1, width)

    def several(self, sort: Any, depth: int, most: int = 3) -> list[Any]:
        return [self.of(sort, depth) for _ in range(self.integer(2, most))]

    def of(self, sort: Any, depth: int) -> Any:
        """A term of a sort: "truth", "number", or bits of that width."""
        return self.truth(depth) if sort == "truth" else self.number(depth) if sort == "number" else self.bits(depth, sort)

    def sort(self) -> Any:
        return self.one_of(["truth", "number", self.width()])

    def constant(self, sort: Any) -> Any:
        if sort == "truth":
            return self.variable(self.one_of(["truth", "wet[a0]", "wet[a1]", "wet[a2]"]))
        if sort == "number":
            return self.variable(self.one_of(NUMBERS))
        if sort in SUBSETS:
            return self.variable(self.one_of(SUBSETS[sort]))
        return z3.BitVecVal(self.integer(0, 2**sort - 1), sort)

    def compared(self, depth: int) -> tuple[Any, Any]:
        """Two numbers, at times as large as numbers can be.

        Both are of the base class: Python turns a comparison round if its right side is of a class derived from the left's.
        """
        pair = [self.number(depth), self.number(depth)]
        if self.integer(0, 3) == 0:
            pair = [self.variable("amount"), z3.IntVal(self.integer(-(1 << 63), (1 << 63) - 1))]
        return z3.ArithRef(pair[0].as_ast()), z3.ArithRef(pair[1].as_ast())

    def product(self, depth: int) -> Any:
        return self.number(min(depth, 0)) * self.number(min(depth, 0))

    def extracted(self, depth: int, width: int) -> Any:
        source = self.integer(width, 64)
        low = self.integer(0, source - width)
        return z3.Extract(low + width - 1, low, self.bits(depth, source))

    def joined(self, depth: int, width: int) -> Any:
        if width == 1:
            return self.constant(1)
        cut = self.integer(1, width - 1)
        return z3.Concat(self.bits(depth, cut), self.bits(depth, width - cut))

    def equal(self, depth: int) -> Any:
        """Of numbers of the base class: the language refuses to compare choices of different names."""
        sort = self.sort()
        left, right = self.of(sort, depth), self.of(sort, depth)
        return z3.ArithRef(left.as_ast()) == z3.ArithRef(right.as_ast()) if sort == "number" else left == right

    def distinct(self, depth: int) -> Any:
        return z3.Distinct(*self.several(self.sort(), depth))


def _bitwise(join: Callable[[Any, Any], Any]) -> Callable[[Terms, int, Any], Any]:
    return lambda t, d, s: join(z3.BitVecRef(t.bits(d, s).as_ast()), t.bits(d, s))


CASES: dict[int, Callable[[Terms, int, Any], Any]] = {
    z3.Z3_OP_TRUE: lambda t, d, s: z3.BoolVal(True),
    z3.Z3_OP_FALSE: lambda t, d, s: z3.BoolVal(False),
    z3.Z3_OP_AND: lambda t, d, s: z3.And(*t.several("truth", d, 4)),
    z3.Z3_OP_OR: lambda t, d, s: z3.Or(*t.several("truth", d, 4)),
    z3.Z3_OP_NOT: lambda t, d, s: z3.Not(t.truth(d)),
    z3.Z3_OP_IMPLIES: lambda t, d, s: z3.Implies(t.truth(d), t.truth(d)),
    z3.Z3_OP_XOR: lambda t, d, s: z3.Xor(t.truth(d), t.truth(d)),
    z3.Z3_OP_EQ: lambda t, d, s: t.equal(d),
    z3.Z3_OP_DISTINCT: lambda t, d, s: t.distinct(d),
    z3.Z3_OP_ITE: lambda t, d, s: z3.If(t.truth(d), t.of(s, d), t.of(s, d)),
    z3.Z3_OP_ANUM: lambda t, d, s: z3.IntVal(t.integer(-1000, 1000)),
    z3.Z3_OP_ADD: lambda t, d, s: z3.Sum(t.several("number", d)),
    z3.Z3_OP_SUB: lambda t, d, s: t.number(d) - t.number(d),
    z3.Z3_OP_UMINUS: lambda t, d, s: -t.number(d),
    z3.Z3_OP_MUL: lambda t, d, s: t.product(d),
    z3.Z3_OP_LE: lambda t, d, s: (lambda a, b: a <= b)(*t.compared(d)),
    z3.Z3_OP_LT: lambda t, d, s: (lambda a, b: a < b)(*t.compared(d)),
    z3.Z3_OP_GE: lambda t, d, s: (lambda a, b: a >= b)(*t.compared(d)),
    z3.Z3_OP_GT: lambda t, d, s: (lambda a, b: a > b)(*t.compared(d)),
    z3.Z3_OP_BNUM: lambda t, d, s: z3.BitVecVal(t.integer(0, 2**s - 1), s),
    z3.Z3_OP_BAND: _bitwise(lambda a, b: a & b),
    z3.Z3_OP_BOR: _bitwise(lambda a, b: a | b),
    z3.Z3_OP_BXOR: _bitwise(lambda a, b: a ^ b),
    z3.Z3_OP_BNOT: lambda t, d, s: ~z3.BitVecRef(t.bits(d, s).as_ast()),
    z3.Z3_OP_EXTRACT: lambda t, d, s: t.extracted(d, s),
    z3.Z3_OP_CONCAT: lambda t, d, s: t.joined(d, s),
    z3.Z3_OP_UNINTERPRETED: lambda t, d, s: t.constant(s),
}
"""How to draw a term with a given operator at its root: from the depth of what is below it and its sort."""

LEAVES: dict[str, list[int]] = {
    "truth": [z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_TRUE, z3.Z3_OP_FALSE],
    "number": [z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_ANUM],
    "bits": [z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_BNUM],
}
BY_SORT: dict[str, list[int]] = {
    "truth": LEAVES["truth"]
    + [z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT, z3.Z3_OP_IMPLIES, z3.Z3_OP_XOR, z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT]
    + [z3.Z3_OP_ITE, z3.Z3_OP_LE, z3.Z3_OP_LT, z3.Z3_OP_GE, z3.Z3_OP_GT],
    "number": LEAVES["number"] + [z3.Z3_OP_ITE, z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS, z3.Z3_OP_MUL],
    "bits": LEAVES["bits"]
    + [z3.Z3_OP_ITE, z3.Z3_OP_BAND, z3.Z3_OP_BOR, z3.Z3_OP_BXOR, z3.Z3_OP_BNOT, z3.Z3_OP_EXTRACT, z3.Z3_OP_CONCAT],
}
