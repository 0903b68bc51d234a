"""Smaller instances: a trace is found again in the smallest in which the same property is violated, in no more steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.language import ModelError, Not, Or, Protocol
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from fencepost.traces.lassos import loop_from
from fencepost.traces.replay import replay
from fencepost.traces.shrinking.smaller import Smaller, in_smallest
from fencepost.traces.trace import Trace, trace_of


def party(*, guests: int = 3, seats: int = 2, lamps: int = 1, loud: bool = True, bugs: Iterable[str] = ()) -> Protocol:
    """Guests who sit down and get up, and more of them than there are seats if these are not counted."""
    if seats < 1:
        raise ModelError("a party has a seat")
    parameters = {"guests": guests, "seats": seats, "lamps": lamps, "loud": loud}
    p = Protocol("party", parameters=parameters, bugs={"uncounted": "seats are not counted"}, active=bugs)
    guest, lamp = p.universe("guest", guests), p.universe("lamp", lamps)
    sits, taken, lit = p.flag("sits", per=guest), p.number("taken", 0, guests), p.flag("lit", per=lamp)

    @p.step(by="g", g=guest)
    def sit(g: int) -> Any:
        """Sits down."""
        return Not(sits[g]) & (taken < guests) & Or(p.has("uncounted"), taken < seats), {sits[g]: True, taken: taken + 1}

    @p.step(by="g", g=guest)
    def rise(g: int) -> Any:
        """Gets up."""
        return sits[g] & (taken > 0), {sits[g]: False, taken: taken - 1}

    @p.step(by="l", l=lamp, fair=True)
    def switch(l: int) -> Any:  # noqa: E741
        """Goes on or off."""
        return True, {lit[l]: Not(lit[l])}

    return p


def suite(p: Protocol) -> Suite:
    properties, s = Suite(p), p.state

    @properties.always
    def all_are_seated() -> Any:
        """Nobody sits without a seat."""
        return s.taken <= p.parameters["seats"]

    @properties.strict("lamps are lit", when=p.parameters["lamps"] > 0)
    def room_is_left() -> Any:
        """There is a seat left."""
        return s.taken < p.parameters["seats"]

    if p.parameters["lamps"]:

        @properties.always
        def dark() -> Any:
            """The first lamp is off."""
            return Not(s.lit[0])

    @properties.leads_to
    def somebody_sits() -> Any:
        """A guest sits down in the end."""
        return True, s.taken > 0

    return properties


ENTRY = Entry(name="party", summary="guests and seats", function=party, suite=suite, sizes={"ci": (Instance("small", {}),)})


def played(prop: str, labels: str, stem: int | None = None, **parameters: Any) -> Trace:
    """The trace of a run that takes these actions, and repeats them from place ``stem`` on."""
    protocol = ENTRY.build(parameters, ["uncounted"])
    named = suite(protocol).named(prop)
    kernel = Kernel(protocol, [formula for lead in named.leads for formula in lead])
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    taken, states = [numbers[label] for label in labels.split()], [kernel.initial()[0]]
    for action in taken:
        states.append(kernel.apply(states[-1], action))
    loop = None if stem is None else loop_from(kernel, named, states, taken, stem)
    return trace_of(kernel, states, taken, violated=prop, found_by="by hand", loop=loop)


def smallest(trace: Trace) -> Smaller:
    smaller = in_smallest(trace, ENTRY)
    assert replay(smaller.trace, {"party": ENTRY}).replays
    assert (smaller.trace.violated, smaller.trace.bugs) == (trace.violated, trace.bugs)
    return smaller


def test_every_number_is_as_small_as_the_violation_allows() -> None:
    smaller = smallest(played("all_are_seated", "sit(g0) sit(g3) sit(g4) sit(g1)", guests=9, seats=3, lamps=2))
    assert smaller.trace.parameters == {"guests": 2, "seats": 1, "lamps": 0, "loud": True}
    assert [step.action for step in smaller.trace.steps] == ["sit(g0)", "sit(g1)"]
    text = "in a smaller instance 2 steps: guests 9 -> 2, seats 3 -> 1, lamps 2 -> 0; "
    assert str(smaller) == f"{text}{smaller.tried} instances were tried"
    assert smaller.trace.found_by == "by hand, found again in a smaller instance"


def test_what_is_smallest_stays_as_it_is() -> None:
    trace = played("all_are_seated", "sit(g0) sit(g1)", guests=2, seats=1, lamps=0)
    smaller = smallest(trace)
    assert smaller.trace == trace
    assert str(smaller).startswith("in no smaller instance; ")


def test_a_property_is_not_looked_for_where_there_is_none() -> None:
    assert smallest(played("dark", "switch(l0)", guests=3, seats=2, lamps=3)).trace.parameters["lamps"] == 1


def test_what_is_expected_stays_expected() -> None:
    smaller = smallest(played("room_is_left", "sit(g0) sit(g1)", guests=3, seats=2, lamps=2))
    assert smaller.trace.parameters == {"guests": 1, "seats": 1, "lamps": 1, "loud": True}
    assert smaller.suite.named("room_is_left").strict


def test_a_lasso_is_found_again_by_its_own_actions() -> None:
    trace = played("somebody_sits", "switch(l0) switch(l1) switch(l0) switch(l1)", 0, guests=2, seats=2, lamps=2)
    smaller = smallest(trace)
    assert smaller.trace.parameters["guests"] == 0
    assert smaller.trace.loop is not None
    assert len(smaller.trace.steps) <= 2


def test_an_interrupted_one_keeps_what_it_has() -> None:
    trace = played("all_are_seated", "sit(g0) sit(g3) sit(g4) sit(g1)", guests=9, seats=3, lamps=2)
    asked = itertools.count()
    smaller = in_smallest(trace, ENTRY, should_stop=lambda: next(asked) > 6)
    assert replay(smaller.trace, {"party": ENTRY}).replays
    assert "; interrupted after " in str(smaller)


def test_what_is_tried_is_told() -> None:
    reports: list[str] = []
    smaller = in_smallest(played("dark", "switch(l0)", guests=1, seats=1, lamps=2), ENTRY, telling=reports.append)
    assert len(reports) == smaller.tried
    assert reports[0] == "guests=0 seats=1 lamps=2 loud=yes"


def test_a_trace_that_shows_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="do not lead"):
        in_smallest(played("all_are_seated", "sit(g0)"), ENTRY)
