"""Random walks as a check: what they violate comes with a trace, what they do not is only sampled."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict, exit_status
from fencepost.checks.engines.search.sampling import Walks, sample
from fencepost.model.language import Not, Protocol, any_of
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Suite
from tests.command import fencepost


def philosophers() -> Suite:
    """Three philosophers at a table, each of whom takes the fork on the left, then the one on the right, and keeps both."""
    p = Protocol("philosophers")
    seat = p.universe("seat", 3)
    taken = p.flag("taken", per=seat)
    eats = p.flag("eats", per=seat)
    holds = p.flag("holds", per=seat)

    @p.step(by="seat", seat=seat)
    def take_left(seat: int) -> Any:
        """Takes the fork on the left."""
        return Not(taken[seat]), {taken[seat]: True, holds[seat]: True}

    @p.step(by="seat", seat=seat)
    def take_right(seat: int) -> Any:
        """Takes the fork on the right and eats."""
        other = (seat + 1) % 3
        return holds[seat] & Not(eats[seat]) & Not(taken[other]), {taken[other]: True, eats[seat]: True}

    suite = Suite(p)

    @suite.ends
    def somebody_eats() -> Any:
        """When all forks are taken, somebody eats."""
        return any_of(eats[i] for i in seat)

    @suite.always
    def neighbours_do_not_eat_together() -> Any:
        """Two who share a fork do not eat at a time."""
        return Not(eats[0] & eats[1])

    return suite


def verdicts(suite: Suite, **walks: Any) -> list[Verdict]:
    observed = Observed.of(suite, suite.properties)
    return list(sample(observed, Walks(**walks), workers=2).verdicts)


def test_a_deadlock_is_violated_with_the_run_that_leads_there() -> None:
    suite = philosophers()
    safe, dead = sorted(verdicts(suite, count=1000), key=lambda v: v.property.kind)
    assert (dead.property.name, dead.verdict, dead.by) == ("somebody_eats", "violated", "walks")
    assert sorted(step.action for step in dead.trace.steps) == [f"take_left(s{i})" for i in range(3)]
    assert safe.verdict == "inconclusive"
    assert exit_status([dead]) == ExitStatus.DEADLOCK


def test_a_walk_is_shrunk_before_it_is_shown() -> None:
    p = Protocol("clock")
    minute, bell = p.number("minute", 0, 5), p.flag("bell")

    @p.step(by="clock")
    def tick() -> Any:
        """A minute passes."""
        return minute < 5, {minute: minute + 1}

    @p.step(by="bell")
    def ring() -> Any:
        """The bell rings, or stops."""
        return True, {bell: Not(bell)}

    suite = Suite(p)

    @suite.always
    def too_soon() -> Any:
        """The hour is not over."""
        return minute < 5

    (verdict,) = verdicts(suite, count=1, seed=2)
    assert [step.action for step in verdict.trace.steps] == ["tick"] * 5
    assert verdict.reach["steps"] == 5
    assert re.fullmatch(r"walk 0 \(held\), shrunk from \d+ steps", verdict.trace.found_by)


def test_the_steps_of_all_walks_are_not_those_of_a_run() -> None:
    few = ("--by", "walks", "--walks", "1000", "--property", "leaders_are_one_or_zombies")
    ran = fencepost("check", "election", *few, "--quiet")
    expected = ran.stdout[ran.stdout.index("expected violation") :].split("\n\n")[0]
    assert "step" not in expected
    assert "is gone (seen on some walk)" in " ".join(expected.split())


@pytest.mark.parametrize("steps", [1, 2])
def test_walks_too_short_for_the_deadlock_have_only_sampled(steps: int) -> None:
    results = verdicts(philosophers(), count=1000, steps=steps)
    assert {v.verdict for v in results} == {"sampled"}
    assert exit_status(results) == ExitStatus.HOLDS
