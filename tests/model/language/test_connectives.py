"""And, Or, Not, Implies and equations are the very terms that Z3's own make, whatever they are given."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from fencepost.model.language import And, Implies, Not, Or
from fencepost.model.language.formulas import ChoiceRef, SubsetRef

A, B = z3.Bool("a"), z3.Bool("b")
COLOURS = ChoiceRef.constant("colour", ("red", "green"))
MEMBERS = SubsetRef.constant("members", 3)


@pytest.mark.parametrize("given", [(A, B), (A,), (), ([A, B],), ([],), (A, True), (False, B), (True, True), (A, B, A == B)])
def test_several_formulas(given: tuple[Any, ...]) -> None:
    assert And(*given).eq(z3.And(*given))
    assert Or(*given).eq(z3.Or(*given))


@pytest.mark.parametrize("one", [A, z3.Int("n") < 3, z3.ForAll([z3.Int("n")], z3.Int("n") < 3), True])
def test_one_formula_or_two(one: Any) -> None:
    assert Not(one).eq(z3.Not(one))
    assert Implies(one, B).eq(z3.Implies(one, B))
    assert Implies(B, one).eq(z3.Implies(B, one))


@pytest.mark.parametrize("make", [And, Or, Implies])
def test_what_is_no_formula_is_refused(make: Any) -> None:
    with pytest.raises(TypeError, match="joins formulas"):
        make(A, z3.Int("n"))


def test_formulas_of_another_context_stay_there() -> None:
    elsewhere = z3.Context()
    one, other = (formula.translate(elsewhere) for formula in (A, B))
    for formula in (And(one, other), Or(one, other), Not(one), Implies(one, other)):
        assert formula.ctx is elsewhere
    with pytest.raises(z3.Z3Exception):
        And(A, other)


def test_equations() -> None:
    assert (COLOURS == "green").eq(z3.Int("colour") == 1)
    assert (COLOURS == 0).eq(z3.Int("colour") == 0)
    plain = z3.BitVec("members", 3)
    assert MEMBERS.has(2).eq(z3.Extract(2, 2, plain) == z3.BitVecVal(1, 1))
    assert [part.sexpr() for part in MEMBERS.is_empty.children()] == ["members", "#b000"]
