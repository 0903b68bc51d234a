"""Substitution, simplification, cases and Z3 say the same of a term as plain Python does, whatever the term."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.terms.cases import always_holds, holds_as_written
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.in_smtlib import InSmtLib
from fencepost.model.terms.in_z3 import InZ3, raw
from fencepost.model.terms.nodes import Function, constant, literal, number
from fencepost.model.terms.simplification import simplified, truth_of
from fencepost.model.terms.sorts import BOOL, INT, names_sort
from fencepost.model.terms.traversal import Rewriting, conjuncts, substituted
from fencepost.model.terms.values import (
    TRUE,
    conditional,
    conjunction,
    disjunction,
    equation,
    for_all,
    for_some,
    implication,
    negation,
)
from tests.model.kernel.compiler.drawn_terms import Terms


def answer(script: list[str]) -> Any:
    solver = z3.Solver()
    solver.from_string("\n".join(script))
    return solver.check()


EXAMPLES = settings(max_examples=60)
A, B, C = (constant(name, BOOL) for name in "abc")
X, Y = constant("x", INT), constant("y", INT)
MOOD = constant("mood", names_sort(("good", "bad", "calm")))


@EXAMPLES
@given(data=st.data())
def test_a_term_is_worth_the_same_in_every_form(data: st.DataObject) -> None:
    terms = Terms(data.draw)
    term = terms.of(terms.sort(), terms.integer(0, 3))
    values = {v.term: terms.integer(v.domain.low, v.domain.low + v.domain.size - 1) for v in terms.p.variables}
    worth = Evaluation(values)(term)
    assert Evaluation(values)(simplified(term)) == worth
    literals = {place: literal(place.sort, value) for place, value in values.items()}
    assert Evaluation({})(substituted(term, literals)) == worth
    printed = InZ3()
    in_z3 = z3.substitute(printed(term), *((printed(place), printed(value)) for place, value in literals.items()))
    assert raw(z3.simplify(in_z3)) == worth
    equations = [equation(place, value) for place, value in literals.items()]
    script = InSmtLib().script([*equations, negation(equation(term, literal(term.sort, worth)))])
    assert answer(script) == z3.unsat


@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        (conjunction((A, negation(A))), False),
        (disjunction((A, B, negation(A))), True),
        (conjunction((MOOD == "good", MOOD != "good")), False),
        (conjunction((MOOD.among("good", "bad"), MOOD == "calm")), False),
        (disjunction((X != 1, X != 2)), True),
        (disjunction((negation(conjunction((A, B))), disjunction((A, C)))), True),
        (conjunction((X > 2, X <= 2)), False),
        (X == X + 0, None),
        (X == X, True),
        (conditional(A, X, X) == X, True),
        (conditional(A, number(1), number(2)) == 3, False),
        (number(3) + 4 > 6, True),
        (conjunction((A, B)), None),
        (for_all([X], disjunction((A, negation(A)))), True),
    ],
)
def test_what_is_settled_by_what_is_written(formula: Any, truth: bool | None) -> None:
    assert truth_of(formula) is truth


def test_cases_settle_what_is_not_settled_as_it_is_written() -> None:
    values = {A: range(2), B: range(2), X: range(4), Y: range(4)}
    orders = disjunction((X < Y, X == Y, X > Y))
    assert truth_of(orders) is None
    assert always_holds(orders, values.__getitem__) is True
    assert always_holds(X < 3, values.__getitem__) is False
    assert always_holds(conjunction((A, X == 1)), values.__getitem__) is False
    assert always_holds(orders, values.__getitem__, most=2) is None


@EXAMPLES
@given(data=st.data())
def test_cases_look_at_every_state(data: st.DataObject) -> None:
    parts = [A, B, X < Y, X == 1, Y >= 2, MOOD == "bad", MOOD.among("good", "calm"), X + Y == 3, X == Y, Y != X, A == B]
    sizes = {A: 2, B: 2, X: 3, Y: 3, MOOD: 3}

    def draw(depth: int) -> Any:
        kind = data.draw(st.integers(0, 5 if depth else 0))
        if kind == 0:
            return data.draw(st.sampled_from(parts))
        if kind == 1:
            return negation(draw(depth - 1))
        if kind == 5:
            return implication(draw(depth - 1), draw(depth - 1))
        if kind == 4:
            return conditional(draw(depth - 1), draw(depth - 1), draw(depth - 1))
        return (conjunction, disjunction)[kind - 2](tuple(draw(depth - 1) for _ in range(3)))

    formula = draw(3)
    states = [dict(zip(sizes, state, strict=True)) for state in itertools.product(*map(range, sizes.values()))]
    holds = [bool(Evaluation(state)(formula)) for state in states]
    assert always_holds(formula, lambda one: range(sizes[one])) is all(holds)
    assert [bool(Evaluation(state)(simplified(formula))) for state in states] == holds
    as_if = {Y: X, B: A}
    alike = [bool(Evaluation({**state, Y: state[X], B: state[A]})(formula)) for state in states]
    assert holds_as_written(formula, lambda one: as_if.get(one, one)) in (None, all(alike) if len({*alike}) == 1 else None)


def test_a_false_premise_settles_what_changes_nothing() -> None:
    as_if, huge = {Y: X}, conjunction((X + Y == 3, A))
    assert holds_as_written(implication(X != Y, huge), lambda one: as_if.get(one, one)) is True
    assert holds_as_written(negation(implication(X == Y, X != Y)), lambda one: as_if.get(one, one)) is True
    assert holds_as_written(implication(X == Y, huge), lambda one: as_if.get(one, one)) is None


def test_what_a_quantifier_binds_is_its_own() -> None:
    larger = for_some([Y], Y > X)
    assert substituted(larger, {Y: X}) is larger
    moved = substituted(larger, {X: Y + 1})
    (bound,) = moved.detail
    assert bound is not Y
    assert moved.arguments[0] is (bound > Y + 1)
    solver, printed = z3.Solver(), InZ3()
    assert solver.check(printed(negation(moved))) == z3.unsat


def test_functions_are_given_another_meaning_under_quantifiers_too() -> None:
    f = Function("f", INT, BOOL)
    formula = for_all([X], disjunction((f(X), f(Y))))
    said = Rewriting({f: lambda place: place > 3}).of(formula)
    (bound,) = said.detail
    assert said.arguments[0] is disjunction((bound > 3, Y > 3))
    assert Rewriting({}).of(formula) is formula


def test_conjuncts_of_conjunctions() -> None:
    assert [part.detail for part in conjuncts(conjunction((A, conjunction((B, TRUE)), C)))] == ["a", "b", "c"]
