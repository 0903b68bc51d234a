"""When lemmas are written out."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.language import Not, Protocol
from fencepost.model.language.circumstances import wanting
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Suite


def test_lemmas_left_to_a_function_are_declared_once_and_only_when_asked_for() -> None:
    p = Protocol("switch")
    p.flag("on")
    suite, calls = Suite(p), list[str]()

    def declare() -> None:
        calls.append("declared")

        @suite.lemma
        def is_on_or_off() -> Any:
            """It is on, or it is not."""
            return p.state.on == p.state.on

    assert not suite.has_lemmas
    suite.lemmas_by(declare)
    assert suite.has_lemmas
    assert calls == []
    assert [lemma.name for lemma in suite.lemmas] == ["is_on_or_off"]
    assert len(suite.lemmas) == 1
    assert suite.has_lemmas
    assert calls == ["declared"]


def lamp(calls: list[str]) -> Suite:
    p = Protocol("lamp")
    p.flag("on")
    suite = Suite(p)

    @suite.always
    def either() -> Any:
        """It is one of the two."""
        calls.append("either")
        return p.state.on == p.state.on

    @suite.sometimes
    def is_dark() -> Any:
        """It is off."""
        calls.append("is_dark")
        return Not(p.state.on)

    @suite.lemma
    def is_on_or_off() -> Any:
        """It is on, or it is not."""
        return p.state.on == p.state.on

    return suite


@pytest.mark.parametrize(("names", "expected"), [((), ["either", "is_dark"]), (("is_dark",), ["is_dark"])])
def test_only_wanted_properties_and_lemmas_have_formulas(names: tuple[str, ...], expected: list[str]) -> None:
    calls = list[str]()
    with wanting(names):
        suite = lamp(calls)
    assert calls == expected
    assert [p.name for p in suite.properties] == ["either", "is_dark"]
    assert [p.name for p in suite.properties if p.formula is not None] == expected
    assert suite.lemmas[0].formula is not None


@pytest.mark.parametrize("name", ["is_a_lamp", "is_a_lamp_light", "is_a_lamp_either"])
def test_what_a_refinement_declares_has_the_formula_that_is_wanted(name: str) -> None:
    p = Protocol("dimmer")
    level = p.number("level", 0, 2, init=0)
    coarse = Protocol("lamp")
    on = coarse.flag("on")

    @coarse.step(by="hand")
    def light() -> Any:
        """It is lit."""
        return Not(on), {on: True}

    @p.step(by="hand")
    def up() -> Any:
        """A level more."""
        return level < 2, {level: level + 1}

    with wanting([name]):
        of_lamp, suite = Suite(coarse), Suite(p)

        @of_lamp.always
        def either() -> Any:
            """It is one of the two."""
            return on == on

        @suite.refines(of_lamp, carries=["either"])
        def is_a_lamp() -> Any:
            """A dimmer is a lamp."""
            return {"on": level > 0}

    assert [each.name for each in suite.properties if each.formula is not None] == [name]


@pytest.mark.parametrize("varies", [True, False])
def test_a_rule_of_steps_does_not_speak_of_those_that_change_nothing(varies: bool) -> None:
    """Nor in a protocol without any variable, where all steps are such."""
    p = Protocol("still")
    people = p.universe("person", 1 if varies else 0)
    p.flag("awake", per=people)

    @p.step(by="somebody")
    def wait() -> Any:
        """Waits."""
        return True, {}

    suite = Suite(p)

    @suite.step
    def impossible() -> Any:
        """It is false of every step."""
        return False

    assert [
        (v.property.name, v.verdict) for v in exhaust(Observed.of(suite, suite.properties), Budget(workers=1)).verdicts
    ] == [("impossible", "exhausted")]
