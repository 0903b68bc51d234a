"""cvc5 gets the same problem that Z3 has: every operator means the same there, and no number overflows."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import z3

from fencepost.checks.engines.solvers.second_solver import Terms, cvc5_solver
from fencepost.model.language import And, If, Implies, Not, Or, Protocol
from fencepost.model.terms.in_z3 import InZ3, raw
from fencepost.model.terms.nodes import bits, literal, number
from fencepost.model.terms.traversal import substituted
from fencepost.model.terms.values import concatenation, distinct, extract, total

FEW = range(-2, 3)
SETS = range(8)


def read(value: Any, like: Any) -> Any:
    """A value that Z3 computed, as a term of the sort of another."""
    return literal(like.sort, raw(value))


def three_kinds() -> Protocol:
    p = Protocol("kinds")
    few = p.universe("few", 3)
    p.number("x", FEW[0], FEW[-1])
    p.number("y", FEW[0], FEW[-1])
    p.flag("f")
    p.flag("g")
    p.subset("a", few)
    p.subset("b", few)
    return p


NUMBERS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x + y + x + 7,
    lambda x, y: x - y,
    lambda x, y: total((x, y)) - x - 5,
    lambda x, y: -x,
    lambda x, y: x * y * x,
    lambda x, y: If(x < y, x, y + 100),
    lambda x, y: x <= y,
    lambda x, y: x < y,
    lambda x, y: x >= y,
    lambda x, y: x > y,
    lambda x, y: x == y,
    lambda x, y: x != y,
    lambda x, y: distinct(x, y, number(1)),
]

FLAGS: list[Callable[[Any, Any], Any]] = [
    lambda f, g: And(f, g),
    lambda f, g: And(f, g, f, True),
    lambda f, g: And(f),
    lambda f, g: And([]),
    lambda f, g: Or(f, g),
    lambda f, g: Or(g),
    lambda f, g: Or([]),
    lambda f, g: Not(f),
    lambda f, g: Implies(f, g),
    lambda f, g: f ^ g,
    lambda f, g: f == g,
    lambda f, g: If(f, g, False),
    lambda f, g: distinct(f, g),
]

SUBSETS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a | b,
    lambda a, b: a & b,
    lambda a, b: a ^ b,
    lambda a, b: ~a,
    lambda a, b: extract(1, 0, a),
    lambda a, b: concatenation(extract(0, 0, a), b),
    lambda a, b: a == b,
    lambda a, b: If(a == b, a, bits(5, 3)),
]

CASES = (
    [("x", "y", FEW, term) for term in NUMBERS]
    + [("f", "g", range(2), term) for term in FLAGS]
    + [("a", "b", SETS, term) for term in SUBSETS]
)


@pytest.mark.parametrize(("first", "second", "values", "term"), CASES)
def test_every_operator_has_the_value_that_z3_computes(
    first: str, second: str, values: range, term: Callable[[Any, Any], Any]
) -> None:
    p = three_kinds()
    one, other = p.variable(first), p.variable(second)
    formula = term(one.term, other.term)
    wrong, right = [], []
    for raws in itertools.product(values, repeat=2):
        literals = [v.domain.literal(raw) for v, raw in zip((one, other), raws, strict=True)]
        value = read(z3.simplify(InZ3()(substituted(formula, {one.term: literals[0], other.term: literals[1]}))), formula)
        here = [one.term == literals[0], other.term == literals[1]]
        wrong.append(And(*here, formula != value))
        right.append(Implies(And(*here), formula == value))
    solve = cvc5_solver(p, [v.domain.within(v.term) for v in p.variables])
    assert solve([Or(*wrong)], 10.0) == "unsat"
    assert solve(right, 10.0) == "sat"


def test_the_assumptions_are_assumed_in_every_question() -> None:
    p = three_kinds()
    x, y = p.variable("x").term, p.variable("y").term
    solve = cvc5_solver(p, [*(v.domain.within(v.term) for v in p.variables), x < y])
    assert solve([x == 2], 10.0) == "unsat"
    assert solve([x == 1], 10.0) == "sat"
    assert solve([x == 2], 10.0) == "unsat"


def test_the_bits_grow_with_what_must_be_computed() -> None:
    p = three_kinds()
    x = p.variable("x").term
    terms = Terms(p)
    terms.widen([x == 1])
    assert terms.bits == 3  # -2 to 2
    terms.widen([x * x * x * x < 0])
    assert terms.bits == 6  # 16 is in -32..31
    solve = cvc5_solver(p, [v.domain.within(v.term) for v in p.variables])
    assert solve([x == 2], 10.0) == "sat"
    assert solve([x * x * x * x < 0], 10.0) == "unsat"


def test_out_of_time_is_unknown() -> None:
    """A multiplication table that no solver sees through in a millisecond."""
    p = Protocol("hard")
    left, right = p.number("left", 2, 1 << 20), p.number("right", 2, 1 << 20)
    solve = cvc5_solver(p, [v.domain.within(v.term) for v in p.variables])
    assert solve([left * right == (1 << 39) - 7, left < right], 0.001) == "unknown"
