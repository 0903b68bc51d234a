"""And, Or, Not and Implies of whatever they are given: formulas, lists of these, Python's truth values."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.model.language import And, Implies, Not, Or
from fencepost.model.terms.nodes import constant
from fencepost.model.terms.sorts import BOOL, INT
from fencepost.model.terms.values import FALSE, TRUE

A, B = constant("a", BOOL), constant("b", BOOL)
N = constant("n", INT)


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ((A, B), (A, B)),
        ((A,), (A,)),
        ((), ()),
        (([A, B],), (A, B)),
        (([],), ()),
        ((A, True), (A, TRUE)),
        ((False, [B]), (FALSE, B)),
        ((A, B, A == B), (A, B, A == B)),
    ],
)
def test_several_formulas(given: tuple[Any, ...], parts: tuple[Any, ...]) -> None:
    for join, op in ((And, "and"), (Or, "or")):
        joined = join(*given)
        assert joined.op == op
        assert len(joined.arguments) == len(parts)
        assert all(map(lambda one, other: one is other, joined.arguments, parts))


def test_a_term_exists_once() -> None:
    assert And(A, N < 3) is And(A, N < 3)
    assert And(A, N < 3) is not And(N < 3, A)
    assert Implies(A, True) is Implies(A, TRUE)
    assert Not(False) is Not(FALSE)


@pytest.mark.parametrize("make", [And, Or, Implies])
def test_what_is_no_formula_is_refused(make: Any) -> None:
    with pytest.raises(TypeError, match="joins formulas, and n is of sort Int"):
        make(A, N)
    with pytest.raises(TypeError, match="joins formulas, and 3 is none"):
        make(A, 3)


def test_a_term_never_changes() -> None:
    with pytest.raises(AttributeError, match="a term never changes"):
        A.op = "not"
