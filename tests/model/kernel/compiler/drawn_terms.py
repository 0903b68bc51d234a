"""Well-typed terms drawn at random, with every operator of the language, over a protocol with a variable of every shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from fencepost.model.language import And, Implies, Not, Or, Protocol
from fencepost.model.terms.nodes import bits, made, number
from fencepost.model.terms.sorts import BOOL, INT, bits_sort
from fencepost.model.terms.values import FALSE, TRUE, concatenation, distinct, equation, extract, total

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


NUMBERS = ["small", "cold", "mixed", "fixed"]
NAMES = {"food": ["hay", "fish", "bread"], "home": ["zoo"]}
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
            name = self.one_of(["truth", "wet[a0]", "wet[a1]", "wet[a2]", *NAMES])
            variable = self.variable(name)
            return variable == self.one_of(NAMES[name]) if name in NAMES else variable
        if sort == "number":
            return self.variable(self.one_of(NUMBERS))
        if sort in SUBSETS:
            return self.variable(self.one_of(SUBSETS[sort]))
        return bits(self.integer(0, 2**sort - 1), sort)

    def compared(self, depth: int) -> tuple[Any, Any]:
        """Two numbers, at times as large as numbers can be."""
        if self.integer(0, 3) == 0:
            return self.variable("amount"), number(self.integer(-(1 << 63), (1 << 63) - 1))
        return self.number(depth), self.number(depth)

    def product(self, depth: int) -> Any:
        return self.number(min(depth, 0)) * self.number(min(depth, 0))

    def extracted(self, depth: int, width: int) -> Any:
        source = self.integer(width, 64)
        low = self.integer(0, source - width)
        return extract(low + width - 1, low, self.bits(depth, source))

    def joined(self, depth: int, width: int) -> Any:
        if width == 1:
            return self.constant(1)
        cut = self.integer(1, width - 1)
        return concatenation(self.bits(depth, cut), self.bits(depth, width - cut))

    def equal(self, depth: int) -> Any:
        """Made without the language, which refuses to compare choices of different names."""
        sort = self.sort()
        return equation(self.of(sort, depth), self.of(sort, depth))

    def chosen(self, depth: int, sort: Any) -> Any:
        """Made without the language, which refuses to choose between choices of different names."""
        of = BOOL if sort == "truth" else INT if sort == "number" else bits_sort(sort)
        return made("ite", of, (self.truth(depth), self.of(sort, depth), self.of(sort, depth)))

    def distinct(self, depth: int) -> Any:
        return distinct(*self.several(self.sort(), depth))


CASES: dict[str, Callable[[Terms, int, Any], Any]] = {
    "true": lambda t, d, s: TRUE,
    "false": lambda t, d, s: FALSE,
    "and": lambda t, d, s: And(*t.several("truth", d, 4)),
    "or": lambda t, d, s: Or(*t.several("truth", d, 4)),
    "not": lambda t, d, s: Not(t.truth(d)),
    "=>": lambda t, d, s: Implies(t.truth(d), t.truth(d)),
    "xor": lambda t, d, s: t.truth(d) ^ t.truth(d),
    "=": lambda t, d, s: t.equal(d),
    "distinct": lambda t, d, s: t.distinct(d),
    "ite": lambda t, d, s: t.chosen(d, s),
    "literal": lambda t, d, s: number(t.integer(-1000, 1000)) if s == "number" else bits(t.integer(0, 2**s - 1), s),
    "+": lambda t, d, s: total(tuple(t.several("number", d))),
    "-": lambda t, d, s: t.number(d) - t.number(d),
    "unary -": lambda t, d, s: -t.number(d),
    "*": lambda t, d, s: t.product(d),
    "<=": lambda t, d, s: made("<=", BOOL, t.compared(d)),
    "<": lambda t, d, s: made("<", BOOL, t.compared(d)),
    ">=": lambda t, d, s: made(">=", BOOL, t.compared(d)),
    ">": lambda t, d, s: made(">", BOOL, t.compared(d)),
    "bvand": lambda t, d, s: t.bits(d, s) & t.bits(d, s),
    "bvor": lambda t, d, s: t.bits(d, s) | t.bits(d, s),
    "bvxor": lambda t, d, s: t.bits(d, s) ^ t.bits(d, s),
    "bvnot": lambda t, d, s: ~t.bits(d, s),
    "extract": lambda t, d, s: t.extracted(d, s),
    "concat": lambda t, d, s: t.joined(d, s),
    "constant": lambda t, d, s: t.constant(s),
}
"""How to draw a term with a given operator at its root: from the depth of what is below it and its sort."""

LEAVES: dict[str, list[str]] = {
    "truth": ["constant", "true", "false"],
    "number": ["constant", "literal"],
    "bits": ["constant", "literal"],
}
BY_SORT: dict[str, list[str]] = {
    "truth": LEAVES["truth"] + ["and", "or", "not", "=>", "xor", "=", "distinct"] + ["ite", "<=", "<", ">=", ">"],
    "number": LEAVES["number"] + ["ite", "+", "-", "unary -", "*"],
    "bits": LEAVES["bits"] + ["ite", "bvand", "bvor", "bvxor", "bvnot", "extract", "concat"],
}
