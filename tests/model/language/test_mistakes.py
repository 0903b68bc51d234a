"""Every mistake in a protocol is caught while it is being built, with a message that names the action and the variable."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from fencepost.model.language import (
    And,
    If,
    ModelError,
    OneOf,
    Protocol,
    select,
)
from fencepost.model.language.mistakes import Location
from fencepost.model.terms.nodes import Function, bits, constant
from fencepost.model.terms.sorts import BOOL, INT
from fencepost.model.terms.values import concatenation, condition, for_all
from tests.model.language.shop import Shop, named

NUMBER = constant("i", INT)


def refused(message: str) -> Any:
    return pytest.raises(ModelError, match=re.escape(message))


# --- updates

WRONG_VALUES: dict[str, tuple[Callable[[Shop], Any], str]] = {
    "number out of bounds": (lambda s: {s.price: 8}, "new value of price: 8 is outside 0..7"),
    "truth value for a number": (lambda s: {s.price: True}, "new value of price: True is not a number"),
    "text for a number": (lambda s: {s.price: "much"}, "new value of price: 'much' is not a number"),
    "formula for a number": (lambda s: {s.price: s.open}, "new value of price: its sort is Bool, and Int is needed"),
    "number for a flag": (lambda s: {s.open: 1}, "new value of open: 1 is not a flag"),
    "term for a flag": (lambda s: {s.open: s.price}, "new value of open: its sort is Int, and Bool is needed"),
    "unknown name": (lambda s: {s.owner: "carol"}, "new value of owner: 'carol' is none of nobody, alice, bob"),
    "choice beyond": (lambda s: {s.owner: 3}, "new value of owner: 3 is none of"),
    "negative choice": (lambda s: {s.owner: -1}, "new value of owner: -1 is none of"),
    "truth value for a choice": (lambda s: {s.owner: True}, "new value of owner: True is none of"),
    "choice of other names": (lambda s: {s.owner: s.mood}, "new value of owner: mood is one of good, bad"),
    "choice of other names in a conditional": (
        lambda s: {s.owner: If(s.open, s.mood, s.owner)},
        "mood is one of good, bad, and owner one of nobody, alice, bob",
    ),
    "choice of other names in a selection": (
        lambda s: {s.owner: select(s.price, [s.owner, s.mood])},
        "owner is one of nobody, alice, bob, and mood one of good, bad",
    ),
    "number for a choice": (
        lambda s: {s.owner: s.price},
        "new value of owner: its sort is Int, and one of nobody, alice, bob is needed",
    ),
    "mask for a subset": (lambda s: {s.shelf: 3}, "new value of shelf: 3 is not a set of thing numbers"),
    "stranger in a subset": (lambda s: {s.shelf: {3}}, "new value of shelf: 3 is not a member"),
    "truth value in a subset": (lambda s: {s.shelf: {True}}, "new value of shelf: True is not a member"),
    "wider bit vector": (lambda s: {s.shelf: bits(1, 4)}, "its sort is BitVec(4), and BitVec(3) is needed"),
    "literal of a conditional": (lambda s: {s.price: If(s.open, 3, 9)}, "new value of price: 9 is outside 0..7"),
    "literal deep in conditionals": (
        lambda s: {s.owner: If(s.open, "bob", If(s.sold[0], "alice", "carol"))},
        "new value of owner: 'carol' is none of",
    ),
    "condition that is none": (lambda s: {s.owner: If(s.price, "bob", "alice")}, "new value of owner: "),
    "member of a family": (lambda s: {s.sold[1]: "yes"}, "new value of sold[t1]: 'yes' is not a flag"),
    "nothing": (lambda s: {s.price: None}, "new value of price: None is not a number"),
    "expression as key": (lambda s: {s.price + 1: 2}, "it updates price + 1, which is not a variable"),
    "next value as key": (lambda s: {s.p.next.price: 2}, "it updates price', which is not a variable"),
    "stranger as key": (lambda s: {constant("weight", INT): 2}, "it updates weight, which is not a variable"),
    "namesake of another sort as key": (lambda s: {constant("price", BOOL): True}, "it updates price, which is not a variable"),
    "name as key": (lambda s: {"price": 2}, "it updates price, which is not a variable"),
    "stranger in a value": (lambda s: {s.price: constant("weight", INT)}, "the new value of price mentions weight, which"),
    "next value in a value": (lambda s: {s.price: s.p.next.price}, "may not speak of the state after the step"),
}


@pytest.mark.parametrize(("updates", "message"), WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_wrong_update(shop: Shop, updates: Callable[[Shop], Any], message: str) -> None:
    with refused(message) as caught:
        shop.act(lambda: (True, updates(shop)))
    assert caught.value.args[0].startswith("shop: action act()")


# --- guards and terms

WRONG_GUARDS: dict[str, tuple[Callable[[Shop], Any], str]] = {
    "a number": (lambda s: s.price, "its guard is not boolean: price"),
    "a Python number": (lambda s: 1, "its guard is not boolean: 1"),
    "nothing": (lambda s: None, "its guard is not boolean: None"),
    "conditional of literals": (lambda s: If(s.open, "alice", "bob"), "its guard is not boolean"),
    "next value": (lambda s: s.p.next.open, "its guard mentions open', which is not a variable of the protocol; it may"),
    "stranger": (lambda s: constant("weather", BOOL), "its guard mentions weather, which is not a variable"),
    "namesake of another sort": (lambda s: constant("price", BOOL), "its guard mentions price, which is not a variable"),
    "name that a choice never has": (lambda s: s.owner == "carol", "owner is never 'carol': it is one of nobody, alice, bob"),
    "name among that a choice never has": (lambda s: s.owner.among("bob", "carol"), "owner is never 'carol'"),
    "number that a choice never is": (lambda s: s.owner == 3, "owner is never 3"),
    "truth value that a choice never is": (lambda s: s.owner == True, "owner is never True"),  # noqa: E712
    "None that a choice never is": (lambda s: s.owner != None, "owner is never None"),  # noqa: E711
    "choices of other names": (lambda s: s.owner == s.mood, "owner is one of nobody, alice, bob, and mood one of good, bad"),
    "conditional choice keeps its names": (lambda s: If(s.open, s.owner, 1) == "carol", "is never 'carol'"),
    "comparison of a conditional of literals": (lambda s: If(s.open, "bob", "alice") == "bob", "can only be assigned"),
    "name for a number": (lambda s: s.price == "much", "price is a number, and 'much' is none"),
    "number as condition": (lambda s: And(s.open, s.price), "And joins formulas, and price is of sort Int"),
    "member beyond a subset": (lambda s: s.shelf.has(3), "3 cannot be in shelf, a subset of 3 members"),
    "negative member of a subset": (lambda s: s.shelf.has(-1), "-1 cannot be in shelf"),
    "truth value as member": (lambda s: s.shelf.has(True), "True cannot be in shelf"),
    "choice of other size as member": (lambda s: s.shelf.has(s.mood), "mood is one of good, bad, and shelf a subset of 3"),
    "adding beyond a subset": (lambda s: s.shelf.plus(3) == s.shelf, "3 cannot be in shelf"),
    "taking beyond a subset": (lambda s: s.shelf.minus(5) == s.shelf, "5 cannot be in shelf"),
    "mask beside a subset": (lambda s: s.shelf == 1, "1 is not a set of members"),
    "mask in a union": (lambda s: (s.shelf | 1) == s.shelf, "1 is not a set of members"),
    "stranger beside a subset": (lambda s: s.shelf != {4}, "4 is not a member"),
    "member beyond a family": (lambda s: s.sold[3], "sold has no member 3"),
    "negative member of a family": (lambda s: s.sold[-1], "sold has no member -1"),
    "truth value as index": (lambda s: s.sold[True], "sold has no member True"),
    "two indices for one": (lambda s: s.sold[0, 1], "sold has no member 0, 1"),
    "term as index": (lambda s: s.sold[s.favourite], "sold has no member favourite"),
    "variable that does not exist": (lambda s: s.p.state.weather, "protocol shop has no variable 'weather'"),
    "Python's and": (lambda s: s.owner == "bob" and s.open, "write And, Or, Not, If"),
    "Python's or": (lambda s: s.price + 1 == 2 or s.open, "write And, Or, Not, If"),
    "Python's not": (lambda s: not s.mood == "bad", "write And, Or, Not, If"),  # noqa: SIM201
    "Python's if": (lambda s: s.open if s.shelf == {1} else s.sold[1], "write And, Or, Not, If"),
    "Python's in": (lambda s: s.owner in ("alice", "bob"), "write And, Or, Not, If"),
    "chained comparison": (lambda s: 1 < s.price < 3, "write And, Or, Not, If"),
    "division": (lambda s: s.price / 2 == 1, "there is no quotient, remainder or power, which the kernel cannot compile"),
    "remainder": (lambda s: s.price % 2 == 1, "there is no quotient, remainder or power, which the kernel cannot compile"),
    "power": (lambda s: s.price**2 == 4, "which the kernel cannot compile"),
    "fraction": (lambda s: s.price + 0.5 == 1, "price is a number, and 0.5 is none"),
    "quantifier": (lambda s: for_all([NUMBER], s.price > NUMBER), "its guard uses a quantifier"),
    "function": (lambda s: Function("f", INT, BOOL)(s.price), "its guard uses f(price), which"),
    "sum of subsets": (lambda s: s.shelf + s.shelf == s.shelf, "unsupported operand type(s) for +"),
    "order of subsets": (lambda s: s.shelf < s.shelf, "'<' not supported between instances of 'Subset'"),
    "number beside a flag": (lambda s: s.open == 1, "1 is no formula"),
    "flag beside a number": (lambda s: s.price == s.open, "price is a number, and open is none"),
    "truth value beside a number": (lambda s: s.price == True, "price is a number, and True is none"),  # noqa: E712
    "subsets of other universes": (lambda s: s.shelf == bits(1, 4), "shelf is a subset of 3 members, and {0} one of 4"),
    "choice between names of others": (lambda s: If(s.open, s.owner, s.mood) == 1, "and mood one of good, bad"),
    "condition of a conditional": (lambda s: If(s.price, s.open, s.sold[0]), "price is no formula"),
    "wide bit vector": (
        lambda s: concatenation(*[s.shelf] * 22) == bits(0, 66),
        "its guard uses a bit vector of 66 bits, which the kernel cannot compile",
    ),
    "sum beyond 64 bits": (lambda s: s.price + (1 << 63) > 0, "may be too large for the kernel's 64-bit numbers"),
    "product beyond 64 bits": (lambda s: s.price * (1 << 61) < 0, "may be too large for the kernel's 64-bit numbers"),
}


@pytest.mark.parametrize(("guard", "message"), WRONG_GUARDS.values(), ids=WRONG_GUARDS)
def test_wrong_guard(shop: Shop, guard: Callable[[Shop], Any], message: str) -> None:
    with refused(message) as caught:
        shop.act(lambda: (guard(shop), {shop.price: 1}))
    assert caught.value.args[0].startswith("shop: action act()")


def test_python_sees_the_value_of_what_is_settled(shop: Shop) -> None:
    assert bool(shop.price == shop.price)
    assert not bool(condition(False))
    with pytest.raises(TypeError, match="write And"):
        bool(shop.price == 1)


# --- actions


def test_an_action_returns_guard_and_updates(shop: Shop) -> None:
    with refused("shop: action act(): an action returns (guard, updates), not open"):
        shop.act(lambda: shop.open)


def test_a_pair_of_guard_and_list_is_no_action(shop: Shop) -> None:
    with refused("an action returns (guard, updates)"):
        shop.act(lambda: (True, [shop.price]))


def test_a_missing_docstring(shop: Shop) -> None:
    def steal() -> Any:
        return True, {}

    with refused("action steal has no docstring; say what the real system does there"):
        shop.p.step(by="thief")(steal)


def test_the_message_names_the_grounded_action(shop: Shop) -> None:
    with refused("shop: action act(t=t1, n=5): new value of price: 9 is outside 0..7"):
        shop.act(lambda t, n: (True, {shop.price: 9 if t == 1 else n}), t=shop.thing, n=range(5, 6))


def test_parameters_that_the_function_does_not_take(shop: Shop) -> None:
    def sell(t: int) -> Any:
        """Sells a thing."""
        return True, {shop.sold[t]: True}

    with refused("action sell(thing=t0): "):
        shop.p.step(by="shop", thing=shop.thing)(sell)


def test_an_unknown_budget(shop: Shop) -> None:
    with refused("action act spends nerves, which is not a budget"):
        shop.act(lambda: (True, {}), spends="nerves")


def test_a_budget_is_not_also_updated_by_hand(shop: Shop) -> None:
    with refused("it updates thefts, the budget that it spends"):
        shop.act(lambda: (True, {shop.p.state.thefts: 0}), spends="thefts")


def test_a_negative_budget(shop: Shop) -> None:
    with refused("number bribes has no values: 0..-1"):
        shop.p.budget("bribes", -1)


def test_an_unlisted_bug_in_an_action(shop: Shop) -> None:
    with refused("action act(): shop uses bug 'sold_out', which it does not list"):
        shop.act(lambda: (shop.p.has("sold_out"), {}))


def test_an_unknown_bug() -> None:
    with refused("shop has no bug 'sold_out' (did you mean sold_twice?); it has: sold_twice"):
        Protocol("shop", bugs={"sold_twice": "a thing is sold twice"}, active=["sold_out"])


# --- names


@pytest.mark.parametrize("kind", ["flag", "number", "choice", "subset", "budget", "universe", "action"])
@pytest.mark.parametrize("taken", ["open", "thing", "act", "thefts"])
def test_a_name_used_twice(shop: Shop, kind: str, taken: str) -> None:
    shop.act(lambda: (True, {}))
    declare: dict[str, Callable[[], Any]] = {
        "flag": lambda: shop.p.flag(taken),
        "number": lambda: shop.p.number(taken, 0, 1),
        "choice": lambda: shop.p.choice(taken, ["x"]),
        "subset": lambda: shop.p.subset(taken, shop.thing),
        "budget": lambda: shop.p.budget(taken, 1),
        "universe": lambda: shop.p.universe(taken, 1),
        "action": lambda: shop.p.step(by="shop")(named(taken)),
    }
    with refused(f"{taken}: the name is taken by a"):
        declare[kind]()


@pytest.mark.parametrize("name", ["", "x'", "sold[t0]", "2nd", "_owner", "a b"])
def test_a_name_that_is_none(shop: Shop, name: str) -> None:
    with refused("a name is letters, digits and _"):
        shop.p.flag(name)


# --- domains


def test_a_number_without_values(shop: Shop) -> None:
    with refused("shop: number weight has no values: 3..2"):
        shop.p.number("weight", 3, 2)


def test_a_number_with_a_fraction_as_bound(shop: Shop) -> None:
    with refused("shop: number weight has no values: 0..2.5"):
        shop.p.number("weight", 0, 2.5)  # type: ignore[arg-type]


def test_a_number_wider_than_a_word(shop: Shop) -> None:
    with refused("variable weight needs 65 bits"):
        shop.p.number("weight", 0, 1 << 64)


def test_a_subset_wider_than_a_word(shop: Shop) -> None:
    with refused("variable crowd needs 65 bits"):
        shop.p.subset("crowd", shop.p.universe("person", 65))


def test_a_subset_of_nothing(shop: Shop) -> None:
    with refused("the universe is empty"):
        shop.p.subset("crowd", shop.p.universe("person", 0))


@pytest.mark.parametrize("names", [[], ["a", "a"]])
def test_a_choice_among_nothing_or_twins(shop: Shop, names: list[str]) -> None:
    with refused("a choice needs distinct names"):
        shop.p.choice("colour", names)


@pytest.mark.parametrize("size", [-1, 1.5, True])
def test_a_universe_of_no_size(shop: Shop, size: Any) -> None:
    with refused("universe person has size"):
        shop.p.universe("person", size)


def test_a_universe_that_no_engine_could_search(shop: Shop) -> None:
    with refused("universe person has 1,000,000,000 members, and at most 4,096 can be searched"):
        shop.p.universe("person", 10**9)


def test_members_of_a_universe_with_names(shop: Shop) -> None:
    person = shop.p.universe("person", 2, names=("ann", "bob"))
    assert [person.label(m) for m in person] == ["ann", "bob"]


@pytest.mark.parametrize("names", [["ann"], ["ann", "ann"]])
def test_names_that_do_not_tell_members_apart(shop: Shop, names: list[str]) -> None:
    with refused("universe person has 2 members and needs as many distinct names"):
        shop.p.universe("person", 2, names=names)


def test_an_initial_value_outside_the_domain(shop: Shop) -> None:
    with refused("shop: initial value of weight[t1]: 4 is outside 0..3"):
        shop.p.number("weight", 0, 3, per=shop.thing, init=lambda t: 4 if t == 1 else 0)


def test_no_initial_value(shop: Shop) -> None:
    with refused("shop: weight has no initial value"):
        shop.p.number("weight", 0, 3, init=OneOf(()))


# --- what next values may appear in


def test_next_values_vetted_for_a_step_stay_unknown_elsewhere(shop: Shop) -> None:
    formula = shop.p.next.open
    shop.p.vet("a property of steps", formula, primed=True)
    with refused("a property of states mentions open'"):
        shop.p.vet("a property of states", formula)


# --- messages


def spoken(p: Protocol, **roles: Any) -> Protocol:
    """A protocol of a shop that sells to visitors, one of whose actions speaks with whom it is told."""
    visitor = p.universe("visitor", 2)

    @p.step(by="v", v=visitor)
    def enter(v: int) -> Any:
        """A visitor comes in."""
        return True, {}

    @p.step(by="shop", v=visitor, **roles)
    def answer(v: int) -> Any:
        """The shop answers."""
        return True, {}

    p.actors.check()
    return p


@pytest.mark.parametrize("role", ["hears", "to"])
@pytest.mark.parametrize("who", ["v", "store", "shop"])
def test_a_message_is_of_an_actor_or_of_the_store(role: str, who: str) -> None:
    protocol = spoken(Protocol("fair"), **{role: who})
    assert getattr(protocol.actions[-1], role) == {"v": "v1"}.get(who, who)


@pytest.mark.parametrize("role", ["hears", "to"])
def test_a_message_of_nobody_is_refused(role: str) -> None:
    with refused(f"fair: action answer: {role}='shp' is neither an actor nor the store (did you mean shop?)"):
        spoken(Protocol("fair"), **{role: "shp"})
    with refused(f"fair: action answer: {role}='w' is neither an actor nor the store"):
        p = Protocol("fair")

        @p.step(by="w", w=p.universe("waiter", 2))
        def wait(w: int) -> Any:
            """A waiter waits."""
            return True, {}

        spoken(p, **{role: "w"})  # the parameter of another action
    with refused(f"fair: action answer: {role} names an actor or a parameter that is one, and 3 is no name"):
        spoken(Protocol("fair"), **{role: 3})


def test_what_is_posted_is_kept_for_each_receiver() -> None:
    p = Protocol("post")
    thing, visitor, room = p.universe("thing", 2), p.universe("guest", 2), p.universe("room", 2)
    due, mark = p.subset("due", thing, per=visitor), p.flag("kept", per=room)

    @p.step(by="g", g=visitor)
    def take(g: int) -> Any:
        """A guest takes what is due."""
        return True, {due[g]: ()}

    @p.step(by="shop", e=thing, posts=due)
    def send(e: int) -> Any:
        """The shop sends a thing to all guests."""
        return True, {due[g]: due[g].plus(e) for g in visitor}

    p.actors.check()
    action = next(one for one in p.actions if one.label == "send(t1)")
    assert {who: (held.name, action.posted(held)) for who, held in action.posts.items()} == {
        "g0": ("due[g0]", 1),
        "g1": ("due[g1]", 1),
    }

    with refused("post: action lose: posts is a family of variables, one for each receiver, not 'due'"):

        @p.step(by="shop", posts="due")
        def lose() -> Any:
            """A name is no family."""
            return True, {}

    @p.step(by="shop", posts=mark)
    def store_away() -> Any:
        """To rooms nothing is sent: they do nothing."""
        return True, {mark[0]: True}

    with refused("post: action store_away: posts='room' is neither an actor nor the store"):
        p.actors.check()


def test_the_same_text_in_two_files_has_a_place_in_each() -> None:
    """Python takes two code objects for equal that differ in their file alone."""
    places = list[str]()
    for file in ("one.py", "other.py"):
        there: dict[str, Any] = {}
        exec(compile("def rent():\n    pass\n", file, "exec"), there)
        places.append(str(Location.of(there["rent"])))
    assert places == ["one.py:1", "other.py:1"]
