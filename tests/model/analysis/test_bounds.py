"""The ranges of numbers where conditions hold contain every value that the numbers have there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fencepost.model.analysis.bounds import LARGEST, Bounds
from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.language import And, If, Implies, ModelError, Not, Or, Protocol
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.nodes import literal
from fencepost.model.terms.values import FALSE, TRUE, distinct, equation


def small() -> Protocol:
    p = Protocol("small")
    p.number("x", 0, 3)
    p.number("y", -2, 1)
    p.choice("mood", ["good", "bad", "calm"])
    p.flag("on")
    return p


SMALL = small()
TERMS: list[Any] = [v.term for v in SMALL.variables]
X, Y, MOOD, ON = TERMS
NAMES: list[Any] = [MOOD, *(literal(MOOD.sort, place) for place in range(3))]
ORDERS: list[Any] = [lambda a, b: a <= b, lambda a, b: a < b, lambda a, b: a >= b, lambda a, b: a > b, equation, distinct]


def conditions(numbers: st.SearchStrategy[Any], depth: int) -> st.SearchStrategy[Any]:
    compared = st.builds(lambda order, a, b: order(a, b), st.sampled_from(ORDERS), numbers, numbers)
    named = st.builds(lambda order, a, b: order(a, b), st.sampled_from([equation, distinct]), *[st.sampled_from(NAMES)] * 2)
    simple = st.one_of(compared, compared, named, st.sampled_from([ON, TRUE, FALSE]))
    if not depth:
        return simple
    below = conditions(numbers, depth - 1)
    several = st.lists(below, min_size=1, max_size=3)
    return st.one_of(
        simple,
        st.builds(lambda parts: And(*parts), several),
        st.builds(lambda parts: Or(*parts), several),
        st.builds(Not, below),
        st.builds(Implies, below, below),
    )


def numbers(depth: int) -> st.SearchStrategy[Any]:
    simple = st.one_of(st.sampled_from([X, Y]), st.integers(-3, 4).map(lambda value: literal(X.sort, value)))
    if not depth:
        return simple
    below = numbers(depth - 1)
    return st.one_of(
        simple,
        st.builds(lambda a, b: a + b, below, below),
        st.builds(lambda a, b: a - b, below, below),
        st.builds(lambda a: -a, below),
        st.builds(lambda a, b: a * b, simple, simple),
        st.builds(If, conditions(numbers(depth - 1), 1), below, below),
    )


STATES = [
    Evaluation(dict(zip(TERMS, values, strict=True)))
    for values in product(*(range(v.domain.low, v.domain.low + v.domain.size) for v in SMALL.variables))
]


@settings(max_examples=300)
@given(condition=conditions(numbers(1), 2), number=numbers(2))
@example(condition=X < 3, number=X + 1)
@example(condition=Not(FALSE), number=X)
@example(condition=Not(X > Y), number=If(X < Y, X, Y))
def test_the_range_contains_every_value(condition: Any, number: Any) -> None:
    bounds = Bounds(SMALL.range_of)
    possible = bounds.suppose(condition)
    values = [state(number) for state in STATES if state(condition)]
    assert possible or not values
    low, high = bounds.of(number)
    assert all(low <= value <= high for value in values)


@pytest.mark.parametrize(
    ("condition", "number", "expected"),
    [
        (X < 3, X + 1, (1, 3)),
        (And(ON, And(X != 3)), X + 1, (1, 3)),
        (Not(X == 0), X - 1, (0, 2)),
        (Not(Or(ON, X >= 2)), X, (0, 1)),
        (X < Y, X, (0, 0)),
        (X < Y, Y, (1, 1)),
        (X == Y, X - Y, (-1, 1)),
        (X + 1 <= 3, X + 1, (1, 3)),
        (ON, If(X >= 1, X - 1, 0), (0, 2)),
        (ON, If(X - 1 >= 0, X - 1, 0), (0, 2)),
        (MOOD == "good", If(MOOD == "bad", X + 9, X), (0, 3)),
        (X != 2, X, (0, 3)),
        (Or(X < 2, ON), X, (0, 3)),
    ],
    ids=str,
)
def test_what_a_condition_says_of_a_number(condition: Any, number: Any, expected: tuple[int, int]) -> None:
    bounds = Bounds(SMALL.range_of)
    assert bounds.suppose(condition)
    assert bounds.of(number) == expected


def test_conditions_that_exclude_each_other_are_impossible() -> None:
    assert not Bounds(SMALL.range_of).suppose(And(X > 1, X < 2))
    assert not Bounds(SMALL.range_of).suppose(And(MOOD == "good", MOOD == "bad"))


def test_a_large_number_has_the_range_that_its_domains_give() -> None:
    number: Any = X
    for _ in range(LARGEST):
        number = If(ON, number, number) + 0  # as a tree it has more parts than there is memory
    bounds = Bounds(SMALL.range_of)
    bounds.suppose(X < 3)
    assert bounds.of(number) == (0, 3)


def walker(guard: Callable[..., object], step: Callable[..., object]) -> Protocol:
    p = Protocol("walker")
    place, most = p.number("place", 0, 3), p.number("most", 0, 3)

    @p.step(by="walker")
    def walk() -> Any:
        """Walks."""
        return guard(place, most), {place: step(place, most)}

    return p


@pytest.mark.parametrize(
    ("guard", "step"),
    [
        (lambda place, most: place != 3, lambda place, most: place + 1),
        (lambda place, most: place < most, lambda place, most: place + 1),
        (lambda place, most: True, lambda place, most: If(place == 0, place, place - 1)),
        (lambda place, most: And(place > 1, place < 1), lambda place, most: place + 9),
    ],
)
def test_what_the_guard_settles_is_not_asked(
    guard: Callable[..., object], step: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.model.analysis.obligations.Asking", None)
    assert prove_domains(walker(guard, step)) == 1


@pytest.mark.parametrize(
    ("guard", "step", "becomes"),
    [
        (lambda place, most: place != 2, lambda place, most: place + 1, "4 where place = 3"),
        (lambda place, most: place <= most, lambda place, most: place + 1, "4 where place = 3, most = 3"),
        (lambda place, most: Or(place < 3, most == 2), lambda place, most: place + 1, "4 where place = 3, most = 2"),
        (lambda place, most: True, lambda place, most: If(place == 1, place, place - 1), "-1 where place = 0"),
    ],
)
def test_what_leaves_the_domain_is_refused(guard: Callable[..., object], step: Callable[..., object], becomes: str) -> None:
    with pytest.raises(ModelError, match=rf"action walk takes place out of 0\.\.3: it becomes {becomes};"):
        prove_domains(walker(guard, step))
