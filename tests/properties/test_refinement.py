"""Refinement of protocols: what is a step of the coarse one, mistakes in the mapping, and what is carried."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.public_calls import check, explore
from fencepost.checks.reports.report import text
from fencepost.model.language import If, ModelError, Not, Protocol
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from fencepost.traces.wording.text import show


class Lamp:
    """A lamp that is on or off."""

    def __init__(self, p: Protocol) -> None:
        self.on = on = p.flag("on")

        @p.move(by="hand")
        def light() -> Any:
            """It is lit."""
            return Not(on), {on: True}

        @p.move(by="hand")
        def dim() -> Any:
            """It is put out."""
            return on, {on: False}

        self.light, self.dim = light, dim


def lamp() -> Suite:
    p = Protocol("lamp")
    Lamp(p)
    suite, s, n = Suite(p), p.state, p.next

    @suite.always
    def on_or_off() -> Any:
        """It is one of the two."""
        return s.on == s.on

    @suite.step
    def changes() -> Any:
        """What happens changes it."""
        return s.on != n.on

    @suite.leads_to
    def lit_in_the_end() -> Any:
        """It is lit at last."""
        return Not(s.on), s.on

    return suite


def dimmer(most: int = 2, *, bugs: tuple[str, ...] = ()) -> Protocol:
    """A dimmer: the lamp is on from the first level on. With a bug it jumps."""
    p = Protocol("dimmer", bugs={"starts_lit": "it begins lit", "never_off": "it is never put out"}, active=bugs)
    level = p.number("level", 0, most, init=1 if p.has("starts_lit") else 0)

    @p.step(by="hand")
    def up() -> Any:
        """A level more."""
        return level < most, {level: level + 1}

    @p.step(by="hand")
    def down() -> Any:
        """A level less."""
        return level > (1 if p.has("never_off") else 0), {level: level - 1}

    return p


def refined(p: Protocol, coarse: Protocol | Suite | None = None, **named: Any) -> Suite:
    suite = Suite(p)

    @suite.lemma
    def within_its_levels() -> Any:
        """No level is below none."""
        return p.state.level >= 0

    @suite.refines(lamp().protocol if coarse is None else coarse, **named)
    def is_a_lamp() -> Any:
        """The dimmer is a lamp."""
        return {"on": p.state.level > 0}

    return suite


def verdicts(suite: Suite) -> list[tuple[str, str]]:
    return [(v.property.name, v.verdict) for v in explore(suite).verdicts]


def test_steps_are_those_of_the_coarse_protocol_or_change_nothing_there() -> None:
    expected = [("is_a_lamp", "exhausted"), ("is_a_lamp_light", "proved"), ("is_a_lamp_dim", "proved")]
    assert verdicts(refined(dimmer())) == expected
    assert [v.verdict for v in prove(refined(dimmer())).verdicts if v.property.kind == "step"] == ["proved"]


def test_what_never_happens_refines_nothing_of_note() -> None:
    assert ("is_a_lamp_dim", "violated") in verdicts(refined(dimmer(bugs=("never_off",))))


def test_what_is_refused_says_what_the_coarse_protocol_sees() -> None:
    p = dimmer()
    suite, toggle = Suite(p), Protocol("fuse")
    burnt = toggle.flag("burnt")
    heat = toggle.number("heat", 0, 2)

    @toggle.step(by="current")
    def burn() -> Any:
        """It burns."""
        return Not(burnt), {burnt: True}

    @suite.refines(toggle)
    def is_a_fuse() -> Any:
        """The dimmer is a fuse."""
        return {"burnt": p.state.level == 2, "heat": 0}

    assert heat is not None
    refused = explore(suite).verdicts[0]
    assert (refused.verdict, refused.reach["steps"]) == ("violated", 3)
    output = show(refused.trace, p, violated=refused.property)
    assert "  down is no step of fuse: there it is burnt yes -> no\n    from burnt yes; heat 0\n" in output


MAPPINGS: dict[str, tuple[Callable[[Protocol], Any], str]] = {
    "a variable is left out": (lambda p: {}, "it leaves out on of lamp"),
    "there is no such variable": (lambda p: {"on": False, "onn": 1}, "lamp has no variable onn (did you mean on?)"),
    "another sort": (lambda p: {"on": p.state.level}, "on: its sort is Int, and Bool is needed"),
    "no mapping": (lambda p: p.state.level > 0, "it returns the variables of lamp by name, not level > 0"),
    "another beginning": (lambda p: {"on": p.state.level == 0}, "on does not begin as in lamp"),
    "next values": (lambda p: {"on": p.next.level > 0}, "on mentions level', which is not a variable of the protocol"),
}


@pytest.mark.parametrize(("build", "message"), MAPPINGS.values(), ids=MAPPINGS)
def test_mistakes_in_a_mapping(build: Callable[[Protocol], Any], message: str) -> None:
    p = dimmer()
    suite = Suite(p)
    with pytest.raises(ModelError, match=re.escape(f"dimmer: refinement is_a_lamp: {message}")) as caught:

        @suite.refines(lamp().protocol)
        def is_a_lamp() -> Any:
            """The dimmer is a lamp."""
            return build(p)

    assert caught.value.location is not None


def test_a_mapping_does_not_take_the_number_of_a_choice_among_other_names() -> None:
    """Also where a condition chooses it: what is called red there would be called open here."""
    door, light = Protocol("door"), Protocol("light")
    door.choice("door", ["open", "shut"])
    shown, lit = (light.choice(name, ["red", "green"]) for name in ("shown", "lit"))
    is_on = light.flag("is_on")
    suite = Suite(light)
    message = "If(is_on, shown, lit) is one of red, green, and one of open, shut is needed"
    with pytest.raises(ModelError, match=re.escape(f"light: refinement is_a_door: door: {message}")):

        @suite.refines(door)
        def is_a_door() -> Any:
            """The light shows whether the door is open."""
            return {"door": If(is_on, shown, lit)}


def test_a_beginning_that_is_none_of_the_coarse_protocol_is_refused_at_once() -> None:
    with pytest.raises(ModelError, match="on does not begin as in lamp"):
        refined(dimmer(bugs=("starts_lit",)))


def test_what_always_holds_is_carried() -> None:
    suite = refined(dimmer(), lamp(), carries=("on_or_off", "changes"))
    carried = [(p.name, p.kind) for p in suite.properties[3:]]
    assert carried == [("is_a_lamp_on_or_off", "always"), ("is_a_lamp_changes", "step")]
    assert set(dict(verdicts(suite)).values()) == {"exhausted", "proved"}


def test_liveness_is_not_carried() -> None:
    message = "refinement carries what always holds, not a leads_to property"
    with pytest.raises(ModelError, match=f"refinement is_a_lamp carries lit_in_the_end: {message}"):
        refined(dimmer(), lamp(), carries=("lit_in_the_end",))
    with pytest.raises(ModelError, match=r"carries on_of_off, which the coarse .* not have \(did you mean on_or_off\?\)"):
        refined(dimmer(), lamp(), carries=("on_of_off",))
    with pytest.raises(ModelError, match="give refines a suite, not a protocol"):
        refined(dimmer(), lamp().protocol, carries=("on_or_off",))


def test_a_whole_refines_each_of_its_parts() -> None:
    p = Protocol("room")
    place = p.universe("place", 2)
    lamps = p.include("lamp", Lamp, per=place)

    @p.step(by="hand", one=place, other=place)
    def swap(one: int, other: int) -> Any:
        """One is lit, and the other put out."""
        return one != other, lamps[one].light(), lamps[other].dim()

    @p.step(by="hand", one=place)
    def light(one: int) -> Any:
        """One is lit."""
        return lamps[one].light()

    suite = Suite(p)
    for i in place:

        def is_a_lamp(i: int = i) -> Any:
            """It is a lamp."""
            return {"on": p.state.lamp.on[i]}

        is_a_lamp.__name__ = f"is_lamp_{i}"
        suite.refines(lamp())(is_a_lamp)
    assert set(dict(verdicts(suite)).values()) == {"exhausted", "proved"}


def test_the_verdict_says_refines_and_how_that_was_established() -> None:
    entry = Entry(name="dimmer", summary="a dimmer", function=dimmer, suite=refined, sizes={"ci": (Instance("small", {}),)})
    assert re.search(r"^  refines +is_a_lamp: lamp \(exhausted\)$", text(check(entry)[0]), re.MULTILINE)
    assert re.search(r"^  refines +is_a_lamp: lamp \(proved\)$", text(check(entry, by="induction")[0]), re.MULTILINE)
    assert re.search(r"^  refines +is_a_lamp: lamp \(sampled\)$", text(check(entry, by="walks")[0]), re.MULTILINE)
    assert [p.name for p in entry.outline({}).properties] == [p.name for p in refined(dimmer()).properties]
