"""Why a formula does not hold: in the words of the protocol, and by values that do decide it."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
import z3

from fencepost.model.analysis.branches import conjuncts
from fencepost.model.kernel import Kernel
from fencepost.model.language import And, If, Implies, Not, Or, Protocol, at_least
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.values import FALSE, TRUE
from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.wording.explaining import UnknownActionError, actions_named, explained
from fencepost.traces.wording.reasons import Reason, why_false
from fencepost.traces.wording.wording import Wording


def shop() -> Protocol:
    """Two clerks, what is on their shelves, and a till."""
    p = Protocol("shop")
    clerk, good = p.universe("clerk", 2), p.universe("good", 3, names=["tea", "salt", "rice"])
    shelf = p.subset("shelf", good, per=clerk)
    p.choice("mood", ["calm", "busy"], per=clerk)
    p.choice("serves", clerk, none="nobody")
    till, p_open = p.number("till", 0, 9), p.flag("open")

    @p.step(by="c", c=clerk, g=good)
    def stock(c: int, g: int) -> Any:
        """Puts a good on the shelf."""
        return And(Not(shelf[c].has(g)), p.state.mood[c] == "calm"), {shelf[c]: shelf[c].plus(g)}

    @p.fault(by="thief")
    def rob() -> Any:
        """Empties the till."""
        return And(p_open, till > 0), {till: 0}

    return p


P = shop()
S, N = P.state, P.next
T, F = TRUE, FALSE


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (S.open, "open"),
        (Not(S.open), "not open"),
        (S.shelf[0].has(2), "rice in shelf[c0]"),
        (Not(S.shelf[1].has(0)), "tea not in shelf[c1]"),
        ((S.shelf[0] | S.shelf[1]).has(1), "salt in (shelf[c0] | shelf[c1])"),
        (S.shelf[0] == {0, 2}, "shelf[c0] = {tea, rice}"),
        (S.shelf[0].plus(1) == S.shelf[1], "(shelf[c0] | {salt}) = shelf[c1]"),
        (S.shelf[0].is_empty, "shelf[c0] = {}"),
        (S.mood[0] == "busy", "mood[c0] = busy"),
        (S.mood[0] != "busy", "mood[c0] != busy"),
        (Not(S.mood[0] == "busy"), "mood[c0] != busy"),
        (S.serves == "nobody", "serves = nobody"),
        (If(S.open, S.serves, 0) == 1, "(if open then serves else c0) = c1"),
        (1 - S.till == 1, "(1 - till) = 1"),
        (If(S.open, S.mood[0], S.mood[1]) == "busy", "(if open then mood[c0] else mood[c1]) = busy"),
        (If(S.open, S.till, 5) == 1, "(if open then till else 5) = 1"),
        (S.till + 1 < 5, "(till + 1) < 5"),
        (N.till == S.till, "till' = till"),
        (And(S.open, Or(S.till > 3, S.mood[0] == "calm")), "open and (till > 3 or mood[c0] = calm)"),
        (And(And(S.open, S.till > 3), S.till < 5), "open and till > 3 and till < 5"),
        (Implies(And(S.open, S.till > 3), Not(Or(S.open, S.till < 5))), "open and till > 3 => not (open or till < 5)"),
        (Implies(S.open, Implies(S.till > 3, S.till < 5)), "open => (till > 3 => till < 5)"),
        (S.open == (S.till > 0), "open = (till > 0)"),
        (And(), "true"),
        (Or(S.open, And()), "open or true"),
        (Or(), "false"),
    ],
)
def test_formulas_are_in_words(formula: Any, text: str) -> None:
    assert Wording(P)(formula) == text


def state(**values: Any) -> tuple[int, ...]:
    """The initial state, except for these variables (raw values; ``shelf0`` is that of the first clerk)."""
    named = {v.name: v.initial[0] for v in P.variables}
    named |= {name.replace("0", "[c0]").replace("1", "[c1]"): raw for name, raw in values.items()}
    return tuple(named[v.name] for v in P.variables)


@pytest.mark.parametrize(
    ("formula", "conditions", "reasons"),
    [
        (S.open, 1, [("open", ["open no"])]),
        (T, 0, []),
        (F, 1, [("false", [])]),
        (And(S.open, S.till < 3, S.till > 0), 3, [("open", ["open no"]), ("till > 0", ["till 0"])]),
        (
            Implies(S.till == 0, And(Not(S.open), S.mood[0] == "busy")),
            2,
            [("till = 0 => mood[c0] = busy", ["mood[c0] calm", "till 0"])],
        ),
        (Not(Or(S.open, S.till == 0)), 2, [("till != 0", ["till 0"])]),
        (Or(S.open, S.till > 3), 1, [("open or till > 3", ["till 0", "open no"])]),
        (
            Not(And(S.till == 0, Or(S.open, S.mood[1] == "calm"))),
            1,
            [("not (till = 0 and (open or mood[c1] = calm))", ["mood[c1] calm", "till 0"])],
        ),
        (at_least(2, [S.open, S.till == 0, S.till > 4]), 1, None),
    ],
)
def test_false_conjuncts_are_told_with_what_decides_them(formula: Any, conditions: int, reasons: Any) -> None:
    why = why_false(P, formula, state())
    assert why.conjuncts == conditions
    if reasons is not None:
        assert why.reasons == tuple(Reason(text, tuple(values)) for text, values in reasons)
    assert bool(why.reasons) is (why_holds(formula, state()) is False)


def why_holds(formula: Any, values: tuple[int, ...]) -> bool:
    return bool(Evaluation({v.term: raw for v, raw in zip(P.variables, values, strict=True)})(formula))


def test_a_step_is_told_by_both_states() -> None:
    why = why_false(P, And(N.till == S.till, N.open), state(till=2), state(till=3))
    assert why.reasons == (Reason("till' = till", ("till 2 -> 3",)), Reason("open'", ("open' no",)))


def test_how_much_does_not_hold_is_a_sentence() -> None:
    assert why_false(P, S.open, state()).of("x") == "x does not hold"
    assert why_false(P, And(S.open, S.till == 0), state()).of("x") == "1 of the 2 conditions of x does not hold"
    assert why_false(P, And(S.open, S.till > 0), state()).of("x") == "2 of the 2 conditions of x do not hold"


def proved(formula: Any) -> bool:
    solver = z3.Solver()
    solver.add(InZ3()(Not(formula)))
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize("name", ["ledger", "election"])
def test_conjuncts_are_the_formula(name: str) -> None:
    entry = PROTOCOLS[name]
    suite = entry.suite(entry.build({}))
    for prop in suite.properties:
        assert proved(prop.formula == And(*conjuncts(prop.formula))), prop.name


@pytest.mark.long
@pytest.mark.parametrize("name", ["ledger", "election"])
def test_the_values_that_are_told_decide(name: str) -> None:
    """With these variables as they are, the conjunct is false whatever the others are; on a walk, of every guard."""
    protocol = PROTOCOLS[name].build({})
    kernel, rng = Kernel(protocol), random.Random(1)
    place, judged = kernel.initial()[0], 0
    for _ in range(8):
        values = kernel.packing.unpack(place)
        literals = {v.name: (v.term, v.domain.literal(raw)) for v, raw in zip(protocol.variables, values, strict=True)}
        enabled = kernel.enabled(place)
        for place_of, action in enumerate(kernel.actions):
            if rng.random() > 0.2:
                continue
            why = why_false(protocol, action.guard, values)
            assert (not why.reasons) is (place_of in enabled), action.label
            for reason in why.reasons:
                fixed = [literals[re.sub(r" (\{.*\}|\S+)$", "", value)] for value in reason.values]
                parts = [part for part in conjuncts(action.guard) if Wording(protocol)(part).startswith(reason.conjunct[:390])]
                assert any(proved(Implies(And(*(t == v for t, v in fixed)), Not(part))) for part in parts), reason
                judged += 1
        if not enabled:
            break
        place = kernel.apply(place, rng.choice(enabled))
    assert judged > 10


def test_an_action_is_explained() -> None:
    (stock,) = actions_named(P, "stock(c0,salt)")
    shut = state(shelf0=0b010, mood0=1)
    head, *lines = explained(P, shut, stock).splitlines()
    assert head.startswith("stock(c0, salt), tests/traces/wording/test_reasons.py:")
    assert head.endswith(" is not enabled there: 2 of the 2 conditions of its guard do not hold")
    assert lines == ["  salt not in shelf[c0]", "    shelf[c0] {salt}", "  mood[c0] = calm", "    mood[c0] busy"]
    (rob,) = actions_named(P, "rob")
    assert explained(P, state(till=1, open=1), rob).endswith("is enabled there")
    assert explained(P, state(), rob).startswith("fault rob")


def test_a_name_stands_for_all_its_actions() -> None:
    assert len(actions_named(P, "stock")) == 6
    with pytest.raises(UnknownActionError, match=r"stock\(c0, tea\)"):
        actions_named(P, "stok(c0, tea)")
