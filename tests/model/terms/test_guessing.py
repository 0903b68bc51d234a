"""A condition that a guess refutes has values for which it does not hold; one that always holds is never refuted."""

from __future__ import annotations

from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.language import And, Implies, Not, Or, Protocol
from fencepost.model.terms.guessing import Guesses
from fencepost.model.terms.in_z3 import InZ3
from tests.model.kernel.compiler.drawn_terms import Terms


def guesses_of(p: Protocol) -> Guesses:
    return Guesses({v.term: range(v.domain.low, v.domain.low + v.domain.size) for v in p.variables})


@settings(max_examples=60)
@given(data=st.data())
def test_for_what_is_refuted_there_are_values(data: st.DataObject) -> None:
    terms = Terms(data.draw)
    condition = terms.truth(terms.integer(0, 3))
    if guesses_of(terms.p).refute(condition):
        solver, printed = z3.Solver(), InZ3()
        solver.add(printed.all([*(v.domain.within(v.term) for v in terms.p.variables), Not(condition)]))
        assert solver.check() != z3.unsat


P = Protocol("small")
COUNT: Any = P.number("count", 2, 40)
MOOD: Any = P.choice("mood", ["good", "bad", "calm"])
SEEN: Any = P.flag("seen", per=P.universe("place", 12))
ALL_SEEN = And([SEEN[place] for place in range(12)])


@pytest.mark.parametrize(
    "condition",
    [
        COUNT > 1,
        COUNT != 1,
        COUNT != 41,
        Or(MOOD == "good", MOOD == "bad", MOOD == "calm"),
        Implies(ALL_SEEN, SEEN[3]),
        Not(And(MOOD == "good", MOOD == "bad")),
    ],
    ids=str,
)
def test_what_always_holds_is_not_refuted(condition: Any) -> None:
    assert not guesses_of(P).refute(condition)


@pytest.mark.parametrize(
    "condition",
    [
        And(Implies(SEEN[0], SEEN[0]), Implies(ALL_SEEN, MOOD == "good")),
        Implies(And(ALL_SEEN, COUNT == 17), MOOD != "calm"),
        Not(And(ALL_SEEN, MOOD == "bad", COUNT == 40)),
        Or([SEEN[place] for place in range(12)]),
    ],
    ids=str,
)
def test_what_few_values_break_is_refuted(condition: Any) -> None:
    """Of values that are drawn without regard to the condition, one in thousands breaks it."""
    assert guesses_of(P).refute(condition)
