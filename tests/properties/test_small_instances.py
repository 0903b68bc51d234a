"""A variable that never changes is suspicious, unless the instance is too small for what would change it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.model.language import And, If, Not, Protocol, any_of
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.vocabulary import Suite


def ferry(*, cars: int = 2, storms: int = 1, bugs: Iterable[str] = ()) -> Protocol:
    """A ferry from which cars land, and that a storm turns back."""
    p = Protocol("ferry", parameters={"cars": cars, "storms": storms}, active=bugs)
    car = p.universe("car", cars)
    ashore, before, landed = p.flag("ashore", per=car), p.number("before", 0, cars, per=car), p.number("landed", 0, cars)
    turned, lit, wind, reefed = p.flag("turned"), p.flag("lit"), p.number("wind", 0, 2), p.flag("reefed")
    p.budget("storms", storms)
    is_impossible = And(landed == 0, any_of(ashore[c] for c in car))

    @p.step(by="ferry", c=car)
    def land(c: int) -> Any:
        """A car lands, and knows how many did before it."""
        return Not(ashore[c]), {ashore[c]: True, before[c]: landed, landed: If(landed < cars, landed + 1, landed)}

    @p.fault(by="sea", spends="storms")
    def turn() -> Any:
        """A storm turns the ferry back."""
        return Not(turned), {turned: True, wind: 2}

    @p.step(by="sea")
    def freshen() -> Any:
        """The wind rises."""
        return wind == 0, {wind: 1}

    @p.step(by="ferry")
    def reef() -> Any:
        """In the wind of a storm the sails are reefed."""
        return wind == 2, {reefed: True}

    @p.step(by="ferry")
    def drift() -> Any:
        """With cars ashore, none of which has landed, the ferry turns by itself, with its lights on."""
        return is_impossible, {turned: True, lit: True}

    return p


def lands(p: Protocol) -> Suite:
    suite = Suite(p)

    @suite.always
    def cars_are_counted() -> Any:
        """A car that is ashore was counted."""
        return And(*(Not(And(p.state.ashore[c], p.state.landed == 0)) for c in p.universes["car"]))

    return suite


FERRY = Entry(name="ferry", summary="a ferry", function=ferry, suite=lands, sizes={"ci": (Instance("usual", {}),)})


@pytest.mark.parametrize(
    "parameters",
    [{}, {"storms": 0}, {"cars": 1}, {"cars": 1, "storms": 0}],
    ids=["usual", "no storm", "one car", "one car and no storm"],
)
def test_a_suspicion_that_is_left_is_one(parameters: dict[str, Value]) -> None:
    checked = check(Task(FERRY, Instance("so", parameters), (), Approach(by="exhaustive", workers=1, memory=1 << 24)))
    still = [s.subject for s in checked.suspicions if s.kind == "never-changes"]
    assert still == ["lit"], "not turned nor reefed, for which there is no storm, nor before, for which there is one car"
