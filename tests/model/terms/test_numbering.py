"""Terms with the same number are worth the same; and what an exchange of members moves about does not change the number."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.language import And, If, Implies, Not, Or
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.nodes import Term, below, bits, constant, literal, made, number
from fencepost.model.terms.numbering import Numbering
from fencepost.model.terms.sorts import BOOL, INT, bits_sort, names_sort
from fencepost.model.terms.values import (
    TRUE,
    Condition,
    concatenation,
    conditional,
    distinct,
    equation,
    extract,
    for_all,
    for_some,
    negation,
)
from tests.model.kernel.compiler.drawn_terms import Terms

A, B, C = (constant(name, BOOL) for name in "abc")
X, Y = constant("x", INT), constant("y", INT)
MOOD, HUE = constant("mood", names_sort(("good", "bad", "calm"))), constant("hue", names_sort(("red", "blue")))
SET, OTHER = constant("set", bits_sort(3)), constant("other", bits_sort(3))
SMALL = {A: 2, B: 2, C: 2, X: 2, Y: 3, MOOD: 3, HUE: 2, SET: 8, OTHER: 8}
STATES = 24


def exchanged(term: Any, one: str, other: str) -> Any:
    """A choice with two names exchanged."""
    first, second = (literal(term.sort, term.names.index(name)) for name in (one, other))
    return conditional(term == one, second, conditional(term == other, first, term))


def varied(term: Term) -> Iterator[Term]:
    """The term itself; with its arguments the other way round, where they fit; and with the negation of each that has one."""
    yield term
    parts = term.arguments
    if len({part.sort for part in parts}) == 1 and term.op != "concat":
        yield made(term.op, term.sort, parts[::-1], term.detail)
    for place, part in enumerate(parts):
        if isinstance(part, Condition):
            yield made(term.op, term.sort, (*parts[:place], negation(part), *parts[place + 1 :]), term.detail)


def conditions(term: Term, worth: Any, value: int) -> Iterator[tuple[int, int]]:
    """The numbers that a term of some value has, each with its own value; a condition has the number of its positive form."""
    if term.sort.bits:
        parts = [(one, value >> place & 1) for place, one in enumerate(worth)]
    elif term.sort.names:
        parts = [(one, int(value == place)) for place, one in enumerate(worth)]
    elif term.sort.kind == "Bool":
        parts = [(worth, value)]
    else:
        yield worth, value
        return
    yield from ((abs(one), one_value if one > 0 else 1 - one_value) for one, one_value in parts)


def assert_numbers_are_right(terms: list[Term], states: list[dict[Term, int]]) -> None:
    """Each number has one value in each state, whatever term has it."""
    numbering = Numbering()
    every = [variant for term in below(terms, set()) for variant in varied(term)]
    worth = [numbering(term) for term in every]
    for state in states:
        evaluation, values = Evaluation(state), {1: 1}
        for term, its in zip(every, worth, strict=True):
            for one, value in conditions(term, its, evaluation(term)):
                assert values.setdefault(one, value) == value, f"{term} is worth {value}, and its number {values[one]}"


@settings(max_examples=100)
@given(data=st.data())
def test_terms_with_one_number_are_worth_the_same(data: st.DataObject) -> None:
    terms = Terms(data.draw)
    drawn = [terms.of(terms.sort(), terms.integer(1, 3)) for _ in range(4)]
    states = [
        {v.term: terms.integer(v.domain.low, v.domain.low + v.domain.size - 1) for v in terms.p.variables} for _ in range(4)
    ]
    assert_numbers_are_right(drawn, states)


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.long] if seed >= 10 else []) for seed in range(40)])
def test_conditions_on_few_things_with_one_number_are_worth_the_same(seed: int) -> None:
    """With few constants and many terms, many have a number in common."""
    random = Random(seed)

    def draw(kind: str, depth: int) -> Any:
        one = random.choice
        if kind == "number":
            sides = one([X, Y, number(1)]), one([X, Y, number(2)])
            return one([sides[0], sides[0] + sides[1], sides[0] - sides[1], sides[0] * sides[1], If(A, *sides)])
        if kind == "set":
            leaf = one([SET, OTHER, bits(random.randrange(8), 3)])
            other = one([SET, OTHER])
            swapped = concatenation(*(extract(place, place, leaf) for place in random.sample(range(3), 3)))
            return one([leaf, swapped, ~leaf, leaf & other, leaf | other, leaf ^ other, If(one([A, B, X < Y]), leaf, other)])
        if kind == "mood":
            names = [literal(MOOD.sort, place) for place in random.sample(range(3), 3)]
            return one([MOOD, names[0], exchanged(MOOD, *random.sample(MOOD.names, 2))])
        if depth == 0 or random.random() < 0.2:
            leaves = [A, B, C, HUE == "red", HUE == "blue", MOOD.among(one(MOOD.names)), SET.has(one(range(3)))]
            leaves += [made(one(["<", "<=", ">", ">=", "=", "distinct"]), BOOL, (draw("number", 0), draw("number", 0)))]
            leaves += [distinct(*(draw("number", 0) for _ in range(3)))]
            leaves += [equation(draw(kind, 0), draw(kind, 0)) for kind in ("set", "mood")]
            return one(leaves)
        parts = [draw("truth", depth - 1) for _ in range(3)]
        two = parts[:2]
        return one([And(*parts), Or(*parts), Not(parts[0]), Implies(*two), If(*parts), equation(*two), two[0] ^ two[1]])

    states = [{term: random.randrange(size) for term, size in SMALL.items()} for _ in range(STATES)]
    assert_numbers_are_right([draw("truth", 3) for _ in range(12)], states)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (And(A, And(B, C)), And(And(C, A), B)),
        (Or(A, Not(And(B, C))), Or(Not(C), Or(A, Not(B)))),
        (And(A, Or(Not(A), B)), And(B, A)),
        (And(A, Or(A, B)), A),
        (Implies(A, B), Or(B, Not(A))),
        (A == B, Not(B ^ A)),
        (X + Y + 1 == X * Y, Y * X == (Y + X) + 1),
        (X < Y, Not(Y <= X)),
        (SET, concatenation(*(extract(place, place, SET) for place in (2, 1, 0)))),
        (SET.plus(0), ~(~SET & {1, 2})),
        (If(A, SET, OTHER).has(1), If(Not(A), OTHER.has(1), SET.has(1))),
        (SET == OTHER, And(*(OTHER.has(place) == SET.has(place) for place in (2, 0, 1)))),
        (And(MOOD == "good", MOOD != "bad"), MOOD == "good"),
        (exchanged(MOOD, "good", "bad") == "good", MOOD == "bad"),
        (exchanged(MOOD, "good", "bad") == "calm", MOOD == "calm"),
        (exchanged(exchanged(MOOD, "good", "bad"), "good", "bad"), MOOD),
        (HUE == "red", HUE != "blue"),
    ],
    ids=str,
)
def test_what_is_seen_through(one: Any, other: Any) -> None:
    numbering = Numbering()
    assert numbering(one) == numbering(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Implies(A, B), Implies(B, A)),
        (X - Y, Y - X),
        (X < Y, Y < X),
        (X <= Y, X < Y),
        (If(A, B, C), If(A, C, B)),
        (If(A, X, Y), If(A, Y, X)),
        (SET, concatenation(*(extract(place, place, SET) for place in (0, 1, 2)))),
        (MOOD == "good", Not(MOOD == "bad")),
        (for_all([X], X == Y), for_some([X], X == Y)),
        (for_all([HUE], Or(HUE == "red", HUE == "blue")), for_all([HUE], TRUE)),
    ],
    ids=str,
)
def test_what_differs_has_different_numbers(one: Any, other: Any) -> None:
    numbering = Numbering()
    assert numbering(one) != numbering(other)
