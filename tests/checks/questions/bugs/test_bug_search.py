"""Looking for a bug: it is found with the shortest run, or is not in these settings, or nothing is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.checks.questions.bugs.searching import KnownBug, look_for
from fencepost.checks.reports.report import text
from fencepost.model.language import Location, Protocol
from fencepost.properties.bugs import Avoidance, Bug
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.vocabulary import Suite
from fencepost.traces.replay import replay


def tank(*, height: int = 3, valve: bool = False, bugs: Iterable[str] = ()) -> Protocol:
    """A tank that is filled, with a valve or without."""
    p = Protocol("tank", parameters={"height": height, "valve": valve}, bugs={"overflows": "too much"}, active=bugs)
    level = p.number("level", 0, height + 1)

    @p.step(by="pump", fair=True)
    def fill() -> Any:
        """The pump lifts a litre."""
        return level < height + (1 if p.has("overflows") and not valve else 0), {level: level + 1}

    return p


def suite(p: Protocol) -> Suite:
    properties, level, height = Suite(p), p.state.level, p.parameters["height"]

    @properties.always
    def holds_it() -> Any:
        """There is no more in the tank than it holds."""
        return level <= height

    def never_full() -> Any:
        """The tank is never full."""
        return level < height

    properties.strict("it is full in the end", when=True)(never_full)
    return properties


VALVE = Avoidance("valve=true")
KNOWN = Bug("pulsar", ("#1",), "2.8.0", releases="4.0.8", costs="the cellar", avoided_by=VALVE, evidence="wet")
TANK = Entry(
    name="tank",
    summary="a tank",
    function=tank,
    suite=suite,
    sizes={"ci": (Instance("usual", {}),)},
    bugs={"overflows": KNOWN},
)


def looked_for(memory: int = 1 << 30, **parameters: Value) -> Checked:
    bug = KnownBug(TANK, "overflows", Instance("known bug of Pulsar 4.0.8", parameters))
    approach = Approach(by="walks", workers=1, memory=memory, strict=True)
    return look_for(bug, Means(approach))


def test_a_bug_comes_with_its_shortest_run() -> None:
    checked = looked_for()
    (verdict,) = checked.verdicts
    assert (verdict.property.name, verdict.property.kind, verdict.property.doc) == ("overflows", "known bug", "too much")
    assert (verdict.verdict, verdict.by, verdict.failure) == ("known bug", "exhaustive", ExitStatus.KNOWN_BUG)
    assert verdict.property.location == Location.of(tank)
    assert verdict.reach["steps"] == 4
    assert verdict.bug is KNOWN
    assert verdict.shows is not None
    assert verdict.shows.name == "holds_it", "the negative control is no bug, though it is violated sooner"
    assert replay(verdict.trace, {"tank": TANK}).replays


def test_what_settings_make_unreachable_is_no_doing_of_a_bug() -> None:
    """There is no run of it, and it is so without the bug."""

    def drained(p: Protocol) -> Suite:
        properties, level = suite(p), p.state.level

        @properties.sometimes
        def is_drained() -> Any:
            """The cellar is full."""
            return level > p.parameters["height"] if p.parameters["valve"] else level >= 0

        return properties

    bug = KnownBug(replace(TANK, suite=drained), "overflows", Instance("known bug of Pulsar 4.0.8", {"valve": True}))
    checked = look_for(bug, Means(Approach(workers=1)))
    (verdict,) = checked.verdicts
    assert (verdict.verdict, verdict.note) == ("exhausted", "not in these settings: no property is violated")
    assert "overflows" in text(checked)


def test_the_run_is_the_one_that_costs_it() -> None:
    """What is violated first is a rule; the harm comes later, and where it does not come about the first violation is shown."""

    def flooded(p: Protocol) -> Suite:
        properties, level, height = suite(p), p.state.level, p.parameters["height"]

        @properties.always
        def half_full() -> Any:
            """The tank is never more than half full."""
            return 2 * level <= height + 1

        @properties.always
        def cellar_is_dry() -> Any:
            """Nothing is in the cellar."""
            return level < height + 2

        return properties

    def shown(harm: str) -> tuple[str, int, tuple[str, ...]]:
        entry = replace(TANK, suite=flooded, bugs={"overflows": replace(KNOWN, harm=harm)})
        bug = KnownBug(entry, "overflows", Instance("known bug of Pulsar 4.0.8", {}))
        checked = look_for(bug, Means(Approach(workers=1)))
        (verdict,) = checked.verdicts
        return verdict.violated.name, int(verdict.reach["steps"]), checked.notes[-1:]

    assert shown("")[:2] == ("half_full", 3)
    assert shown("holds_it")[:2] == ("holds_it", 4)
    dry = ("what it costs, a violation of cellar_is_dry, was not found: holds here",)
    assert shown("cellar_is_dry") == ("half_full", 3, dry)


def test_what_there_is_to_know_of_it_is_told() -> None:
    output = text(looked_for())
    assert "\n  known bug    overflows: too much (holds_it is violated in 4 steps)\n" in output
    assert "\n               costs: the cellar\n" in output
    assert "\n               since 2.8.0; open: not fixed up to 4.0.8; pulsar#1\n" in output
    assert "\n               avoided by valve=true\n" in output
    assert "\n  4  pump  fill" in output


def test_one_that_does_not_show_is_not_in_these_settings() -> None:
    checked = looked_for(valve=True)
    (verdict,) = checked.verdicts
    assert (verdict.verdict, verdict.failure, verdict.trace) == ("exhausted", ExitStatus.HOLDS, None)
    output = text(checked)
    assert "all 4 states" in output
    assert "\n  not here     overflows: too much (not in these settings: no property is violated)\n" in output
    assert "costs" not in output


@pytest.mark.long
def test_a_search_that_a_limit_ends_says_nothing_of_it() -> None:
    checked = looked_for(memory=1 << 20, height=1 << 20, valve=True)
    (verdict,) = checked.verdicts
    assert verdict.verdict == "inconclusive"
    assert "search not exhausted" in verdict.note
    assert exit_status(checked.verdicts) is ExitStatus.INCONCLUSIVE
