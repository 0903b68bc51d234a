"""The table of numbers: each has a unit and a source, and an operator's value is held to them."""

from __future__ import annotations

import math

import pytest

from fencepost.model.odds.clocks import Kind, UnclockedError, clock_of, clocked, shared
from fencepost.model.odds.numbers import MS_PER_YEAR, NEVER, UNITS, NumberError, published
from fencepost.properties.protocols import PROTOCOLS


@pytest.mark.parametrize("name", published())
def test_every_number_has_a_unit_a_meaning_and_a_source_or_is_a_sum(name: str) -> None:
    number = published().of(name)
    assert number.unit in UNITS
    assert number.meaning
    assert number.factor >= 1
    assert published()[name] > 0
    assert bool(number.source) != (number.parts is not None)


def test_a_sum_follows_its_parts_and_cannot_be_set() -> None:
    numbers = published().given("metadata", 100)
    assert numbers["recovery"] == numbers["journal"] + numbers["network"] + 200
    with pytest.raises(NumberError, match=r"recovery is journal \+ network \+ metadata: set these"):
        numbers.given("recovery", 5)


@pytest.mark.parametrize(("name", "value"), [("journal", 0), ("journal", -1), ("together", 1.5), ("expiries", math.inf)])
def test_a_value_that_no_number_can_have_is_refused(name: str, value: float) -> None:
    with pytest.raises(NumberError, match=f"{name} = "):
        published().given(name, value)


def test_a_name_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(NumberError, match="no number 'jornal'; there are messages, network, task, unfencing"):
        published().given("jornal", 1)


def test_a_setting_is_a_period() -> None:
    numbers = published()
    assert numbers.of("inactive").of_period(30) == 30_000
    assert math.isclose(numbers.of("rollovers").of_period(240), MS_PER_YEAR / (240 * 60_000))
    with pytest.raises(NumberError, match="says no duration"):
        numbers.of("inactive").of_period(0)


def test_clocks_are_of_the_kind_that_the_unit_says() -> None:
    numbers = published()

    def kind(name: str) -> Kind:
        return clock_of(numbers.of(name), numbers).kind

    assert kind("journal") == Kind.STEP
    assert kind("messages") == Kind.ARRIVAL
    assert kind("expiries") == Kind.FAULT
    assert kind("outage_fails") == Kind.ENDING
    assert clock_of(numbers.of("recovery"), numbers).blocked
    assert clock_of(numbers.of("inactive"), numbers).law == "timer"
    assert math.isclose(clock_of(numbers.of("journal"), numbers).rate, 0.2)


def test_what_actions_take_is_in_the_table() -> None:
    for name in ("topic", "cluster", "ledger"):
        p = PROTOCOLS[name].build({}, ())
        assert {action.takes for action in p.actions} - {"", NEVER} <= set(published())


def test_an_action_that_takes_nothing_known_is_named() -> None:
    p = PROTOCOLS["ledger"].build({"rots": 1}, ())
    with pytest.raises(UnclockedError, match="nobody has said what rot takes"):
        clocked(p)


def test_outcomes_of_one_clock_share_it_and_members_of_a_universe_race() -> None:
    p = PROTOCOLS["topic"].build({"brokers": 2}, ())
    clocks = dict(zip((action.label for action in p.actions), shared(p.actions), strict=True))
    assert clocks["recover_last(b0, l0, 0)"] == clocks["recover_last(b0, l0, 1)"]
    assert clocks["recover_last(b0, l0, 0)"] != clocks["recover_last(b1, l0, 0)"]
