"""What the words of the language mean: parameters, budgets, initial values, and the terms that they make."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from fencepost.model.language import (
    And,
    If,
    ModelError,
    Not,
    OneOf,
    Or,
    Protocol,
    all_of,
    any_of,
    at_least,
    how_many,
    maximum,
    minimum,
    select,
)
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.nodes import constant
from fencepost.model.terms.simplification import simplified
from fencepost.model.terms.sorts import BOOL
from fencepost.model.terms.values import FALSE, TRUE
from tests.model.language.shop import Shop, named


def test_grounding_and_labels(shop: Shop) -> None:
    def sell(t: int, n: int) -> Any:
        return And(t != 0, Not(shop.sold[t])), {shop.sold[t]: True, shop.price: n}

    shop.act(sell, t=shop.thing, n=range(2))
    assert [a.label for a in shop.p.actions] == ["act(t1, 0)", "act(t1, 1)", "act(t2, 0)", "act(t2, 1)"]
    assert {v.name for v in shop.p.actions[0].updates} == {"sold[t1]", "price"}


def test_an_action_that_can_never_happen_is_left_out(shop: Shop) -> None:
    shop.act(lambda t: (t == 1, {shop.sold[t]: True}), t=shop.thing)
    assert [a.label for a in shop.p.actions] == ["act(t1)"]


def test_a_budget_guards_and_counts(shop: Shop) -> None:
    shop.act(lambda: (shop.open, {shop.open: False}), spends="thefts")
    (action,) = shop.p.actions
    counter = shop.p.variable("thefts")
    open_ = {shop.open: 1}
    assert not Evaluation({**open_, counter.term: 1})(action.guard)
    assert Evaluation({**open_, counter.term: 0})(action.guard)
    assert Evaluation({counter.term: 0})(action.updates[counter]) == 1


def test_an_empty_budget_leaves_the_action_out() -> None:
    p = Protocol("shop")
    p.budget("thefts", 0)
    p.step(by="thief", spends="thefts")(named("steal"))
    assert not p.actions


def test_what_stays_as_it_is_is_no_update(shop: Shop) -> None:
    shop.act(lambda: (True, {shop.price: shop.price, shop.open: False}))
    assert [v.name for v in shop.p.actions[0].updates] == ["open"]


def test_several_initial_values() -> None:
    p = Protocol("coins")
    p.flag("heads", per=p.universe("coin", 2), init=OneOf((True, False)))
    p.number("throws", 2, 5, init=OneOf((3, 3)))
    assert list(p.initial_states()) == [(1, 1, 3), (1, 0, 3), (0, 1, 3), (0, 0, 3)]


def _at(shop: Shop, term: Any, **values: Any) -> int:
    """The raw value of a term where these variables have these values, also as it is simplified."""
    raw = {shop.p.variable(name).term: shop.p.variable(name).domain.raw(value) for name, value in values.items()}
    value = Evaluation(raw)
    assert value(simplified(term)) == value(term)
    return value(term)


@pytest.mark.parametrize("price", range(8))
def test_words_over_numbers(shop: Shop, price: int) -> None:
    assert _at(shop, maximum(shop.price, 3, 4), price=price) == max(price, 4)
    assert _at(shop, minimum(shop.price, 3), price=price) == min(price, 3)
    highest = maximum(If(shop.price > 4, 5, 0), If(shop.price < 2, 3, If(shop.price == 2, shop.price, 1)))
    assert _at(shop, highest, price=price) == max(5 if price > 4 else 0, 3 if price < 2 else 2 if price == 2 else 1)
    assert _at(shop, select(shop.price, [5, 6, 7]), price=price) == [5, 6, 7][min(price, 2)]


def test_the_greatest_is_one_of_numbers(shop: Shop) -> None:
    assert (maximum(3, 5, 4), minimum(3, 5, 4)) == (5, 3)
    for wrong in (If(shop.open, "alice", "bob"), shop.favourite, shop.open, "alice"):
        with pytest.raises(ModelError, match=r"maximum and minimum compare numbers, and .* is none"):
            maximum(1, wrong)


@pytest.mark.parametrize("members", [set(), {0}, {1, 2}, {0, 1, 2}])
@pytest.mark.parametrize("favourite", [0, 1, 2])
def test_words_over_subsets(shop: Shop, members: set[int], favourite: int) -> None:
    shelf, by_term = shop.shelf, {"shelf": members, "favourite": favourite}
    assert _at(shop, shelf.has(favourite), shelf=members) == (favourite in members)
    assert _at(shop, shelf.has(shop.favourite), **by_term) == (favourite in members)
    assert _at(shop, shelf.plus(favourite) == members | {favourite}, shelf=members)
    assert _at(shop, shelf.plus(shop.favourite) == members | {favourite}, **by_term)
    assert _at(shop, shelf.minus(favourite) == members - {favourite}, shelf=members)
    assert _at(shop, shelf.minus(shop.favourite) == members - {favourite}, **by_term)
    assert _at(shop, (shelf | {0}) == members | {0}, shelf=members)
    assert _at(shop, (shelf & {0, 1}) == members & {0, 1}, shelf=members)
    assert _at(shop, ~shelf == {0, 1, 2} - members, shelf=members)
    assert _at(shop, If(shop.open, shelf, ~shelf) == {0, 1, 2} - members, open=False, shelf=members)
    assert _at(shop, shelf.is_empty, shelf=members) == (not members)


@pytest.mark.parametrize("owner", ["nobody", "alice", "bob"])
def test_words_over_choices(shop: Shop, owner: str) -> None:
    assert _at(shop, shop.owner == "alice", owner=owner) == (owner == "alice")
    assert _at(shop, shop.owner != "alice", owner=owner) == (owner != "alice")
    assert _at(shop, shop.owner.among("alice", "bob"), owner=owner) == (owner != "nobody")


@pytest.mark.parametrize("size", range(5))
def test_counting_agrees_with_a_sum(size: int) -> None:
    parts = [constant(f"q{i}", BOOL) for i in range(size)]
    total = how_many(*parts)
    for count in range(-1, size + 2):
        for raw in itertools.product((0, 1), repeat=size):
            value = Evaluation(dict(zip(parts, raw, strict=True)))
            assert value(at_least(count, parts)) == (value(total) >= count) == (sum(raw) >= count)


def test_nothing_to_join() -> None:
    assert simplified(all_of([])) is TRUE
    assert simplified(any_of([])) is FALSE


def test_a_conditional_takes_names_terms_and_conditionals(shop: Shop) -> None:
    shop.act(
        lambda: (
            Or(shop.open, shop.sold[0]),
            {
                shop.owner: If(shop.open, shop.owner, If(shop.sold[0], "alice", "bob")),
                shop.shelf: If(shop.open, (), shop.shelf),
                shop.price: If(shop.open, shop.price, 3),
            },
        )
    )
    updates = {v.name: term for v, term in shop.p.actions[0].updates.items()}
    values = {"open": False, "owner": "nobody", "shelf": {1}, "price": 5}
    assert _at(shop, updates["owner"], **values, **{"sold[t0]": True}) == 1
    assert _at(shop, updates["owner"], **values, **{"sold[t0]": False}) == 2
    assert _at(shop, updates["shelf"], **values) == 0b010
    assert _at(shop, updates["price"], **values) == 3
