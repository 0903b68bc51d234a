"""One text, two groundings: what a protocol of any size makes of loops, subsets and questions about sizes."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from fencepost.model.any_size.first_order import AnySize, any_size
from fencepost.model.any_size.sizes import Size
from fencepost.model.language import And, If, Implies, ModelError, Not, Protocol, all_of, any_of, at_least, how_many
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.nodes import Term, constant, number
from fencepost.model.terms.simplification import truth_of
from fencepost.model.terms.sorts import INT
from fencepost.model.terms.traversal import QUANTIFIERS, substituted
from fencepost.model.terms.values import conditional, equation


def queue(things: Any) -> tuple[Protocol, Any]:
    """A queue of things that are put in, in order, and taken out in any order; one guard and one formula over all of them."""
    p = Protocol("queue")
    thing = p.universe("thing", things)
    put, taken = p.number("put", 0, things), p.subset("taken", thing)
    weight = p.number("weight", 0, 9, per=thing)

    @p.step(by="user", t=thing)
    def enter(t: int) -> Any:
        """The next thing is put in, if none was taken out of turn."""
        return And(put == t, all_of(Implies(taken.has(o), o < t) for o in thing)), {
            put: t + 1,
            taken: taken & thing.where(lambda o: o < t),
            **{weight[o]: If(put > o, weight[o], 0) for o in thing},
        }

    @p.step(by="user", t=thing, n=p.upto(things))
    def take(t: int, n: int) -> Any:
        """A thing that was put in is taken out, if ``n`` are in."""
        return And(t < put, put == n, Not(taken.has(t))), {taken: taken.plus(t)}

    return p, any_of(And(taken.has(t), taken.has(put)) for t in thing)


def test_finite_and_any_size_mean_the_same() -> None:
    with any_size():
        general, formula = queue(Size.named("things", 2))
    assert isinstance(general, AnySize)
    assert [scheme.label for scheme in general.schemes] == ["enter(t)", "take(t, n)"]
    finite, at_three = queue(3)
    size, printed, solver = constant("things", INT), InZ3(), z3.Solver()
    taken, put = general.symbols[1].function, general.symbols[0].function()
    bits, level = finite.variable("taken").term, finite.variable("put").term
    same = [equation(taken(number(i)), bits.has(i)) for i in range(3)]
    solver.add(printed.all([size == 3, put >= 0, put <= 3, *same, level == put]))
    assert solver.check() == z3.sat
    assert solver.check(printed(formula != at_three)) == z3.unsat
    enter = general.schemes[0]
    for action in finite.actions[:3]:
        member = action.grounding[0][1]
        guard = substituted(enter.guard, {enter.arguments["t"]: number(member)})
        assert solver.check(printed(guard != action.guard)) == z3.unsat


def test_an_update_for_all_members_is_one_of_a_function() -> None:
    with any_size():
        general, _ = queue(Size.named("things", 2))
    updates = {symbol.name: update for symbol, update in general.schemes[0].updates.items()}
    assert set(updates) == {"put", "taken", "weight"}
    weight = next(symbol.function for symbol in general.symbols if symbol.name == "weight")
    put, new = general.symbols[0].function(), updates["weight"].of(number(7))
    assert truth_of(equation(new, conditional(put > 7, weight(7), number(0))))


def test_what_is_said_after_a_step() -> None:
    with any_size():
        general, formula = queue(Size.named("things", 2))
    before, after = general.symbols[0].function(), general.rewriting(general.schemes[0]).of(formula)
    assert after.op in QUANTIFIERS
    assert after is not formula
    assert general.primed(before == 3) is (general.symbols[0].primed() == 3)


def test_outside_everything_is_finite_again() -> None:
    with any_size():
        pass
    assert not isinstance(queue(2)[0], AnySize)


def left_open(thing: Any, held: Any) -> Any:
    """What is said of each thing, and not yet of all or of some."""
    (formula,) = [held.has(t) for t in thing]
    return formula


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda p, thing, held: Not(And(held.has(t) for t in thing)), "joins formulas"),
        (lambda p, thing, held: Not(*[held.has(t) for t in thing]), "Not of a formula that is meant for each member"),
        (lambda p, thing, held: Implies(True, left_open(thing, held)), "Implies of a formula"),
        (lambda p, thing, held: at_least(2, [held.has(t) for t in thing] * 2), r"at_least\(2, ...\) of a formula"),
        (
            lambda p, thing, held: at_least(Size.named("few", 1), [held.has(t) for t in thing.but(thing.fresh())]),
            r"at_least\(few, ...\) is of one formula for each member of one unbounded universe",
        ),
        (lambda p, thing, held: how_many(*(held.has(t) for t in thing)), "how_many of a formula"),
    ],
)
def test_what_cannot_be_said_of_any_number_is_refused(write: Any, message: str) -> None:
    with any_size():
        p = Protocol("things")
        thing = p.universe("thing", Size.named("things", 2))
        held = p.subset("held", thing)
        with pytest.raises((ModelError, TypeError), match=message):
            write(p, thing, held)


def test_an_open_guard_is_refused() -> None:
    with any_size():
        p = Protocol("things")
        thing = p.universe("thing", Size.named("things", 2))
        held = p.subset("held", thing)
        with pytest.raises(ModelError, match="is meant for each member of a universe"):

            @p.step(by="user")
            def act() -> Any:
                """Acts."""
                return left_open(thing, held), {}


def test_a_dict_of_members_has_none_that_stands_for_all() -> None:
    with any_size():
        p = Protocol("things")
        thing = p.universe("thing", Size.named("things", 2))
        held = p.subset("held", thing)
        with pytest.raises(ModelError, match=r"action take: a dict has no entry 't.*: of any number of members a formula"):

            @p.step(by="user", t=thing)
            def take(t: int) -> Any:
                """Takes a thing."""
                free = {each: Not(held.has(each)) for each in thing}
                return free[t], {held: held.add(t)}


def test_questions_about_a_size_are_answered_only_if_every_size_has_the_same_answer() -> None:
    size = Size.named("things", 2)
    assert (size > 1, size >= 2, size != 1, size < 2, size <= 1, size == 0) == (True, True, True, False, False, False)
    for ask in (lambda: size > 2, lambda: size == 2, lambda: size < 3, lambda: size != 5):
        with pytest.raises(ModelError, match="depends on the size"):
            ask()
    assert isinstance(size > constant("n", INT), Term)
