"""What is printed as SMT-LIB: what is shared is named once, what is bound stays bound, names are symbols."""

from __future__ import annotations

import pytest
import z3

from fencepost.model.terms.in_smtlib import InSmtLib, symbol
from fencepost.model.terms.nodes import Function, constant, made, number
from fencepost.model.terms.sorts import BOOL, INT, one_or_none_sort, things_sort
from fencepost.model.terms.values import conjunction, equation, floor, for_all, for_some, modulus, negation, real

BROKER = things_sort("broker")
ONE, OTHER = constant("b[0]", BROKER), constant("b", BROKER)
LEADS, COUNT = Function("leads", BROKER, BOOL), Function("count", INT)
X = constant("x", INT)


def answer(*formulas: object, bits: int = 0) -> str:
    solver = z3.Solver()
    solver.from_string("\n".join(InSmtLib(bits).script(formulas)))  # type: ignore[arg-type]
    return str(solver.check())


def test_what_a_formula_has_twice_is_written_once() -> None:
    term = X
    for _ in range(200):
        term = term + term
    text = InSmtLib()(term >= 1)
    assert len(text) < 200 * 30
    assert text.count("|x|") == 2
    assert (answer(term >= 1), answer(term >= 1, term == 0)) == ("sat", "unsat")


def test_what_is_bound_is_not_named_outside() -> None:
    some = for_some([OTHER], conjunction((LEADS(OTHER), LEADS(ONE))))
    every = for_all([OTHER], conjunction((LEADS(OTHER), LEADS(ONE))))
    assert answer(every, negation(some)) == "unsat"
    assert answer(some, negation(every)) == "sat"
    assert answer(some, negation(LEADS(ONE))) == "unsat"


def test_one_thing_or_none() -> None:
    sort = one_or_none_sort("broker", BROKER, "nobody")
    owner = constant("owner", sort)
    one, nobody = made("one", sort, (ONE,)), made("none", sort)
    assert answer(equation(owner, one), equation(owner, nobody)) == "unsat"
    assert answer(equation(owner, one), equation(owner, made("one", sort, (OTHER,)))) == "sat"
    assert answer(negation(equation(ONE, OTHER)), equation(one, made("one", sort, (OTHER,)))) == "unsat"


def test_numbers_are_integers_or_vectors() -> None:
    assert answer(COUNT() == number(-3), COUNT() > -3) == "unsat"
    assert answer(X > 7) == "sat"
    assert answer(X > 7, bits=4) == "unsat"
    assert answer(X + 1 < X, bits=4) == "sat"
    assert answer(True) == "sat"
    assert answer(X > 7, False) == "unsat"


def test_a_name_that_is_no_symbol_is_refused() -> None:
    with pytest.raises(ValueError, match="SMT-LIB has no symbol"):
        symbol("a|b")


def test_quotients_and_real_numbers() -> None:
    assert answer(floor(X, 3) == 2, X == 8) == "sat"
    assert answer(floor(X, 3) == -3, modulus(X, 3) == 1, X == -8) == "sat"
    assert answer(floor(X, 3) == -2, X == -8) == "unsat"
    assert answer((real(X) + 0.5) * 2 == 7) == "sat"
    assert answer(real(X) / 2 - 0.05 == 0.95, X != 2) == "unsat"
    assert answer(1 - real(X) == -1.5) == "unsat"
