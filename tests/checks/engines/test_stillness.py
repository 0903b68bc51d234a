"""A step that changes nothing: all engines take it for a transition, and none judges a property of steps by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fencepost.checks.engines.induction.necessity import unneeded
from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.search.sampling import Walks, sample
from fencepost.model.language import And, If, Implies, Not, Protocol
from fencepost.properties.machines import Run
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Suite
from fencepost.traces.explorer.judging import Judge
from fencepost.traces.replay import replay_on
from fencepost.traces.trace import Step, Trace


def marks(by: int = 1) -> Suite:
    """Marks are made, ``by`` at a time, up to three, and after that without an effect; sometimes somebody looks at them."""
    p = Protocol("marks", doc="Marks on a wall.")
    count, full = p.number("made", 0, 3), p.flag("full")

    @p.step(by="hand")
    def mark() -> Any:
        """A mark, or none if there is no room."""
        return True, {count: If(count + by <= 3, count + by, count), full: count + by > 2}

    @p.step(by="eye")
    def look() -> Any:
        """Looks, and changes nothing."""
        return full, {full: True}

    s, n, suite = p.state, p.next, Suite(p)

    @suite.step
    def every_step_counts() -> Any:
        """Each step makes one mark."""
        return n.made == s.made + 1

    @suite.step
    def marks_stay() -> Any:
        """Nothing is taken away: that holds of a step that changes nothing, too."""
        return n.made >= s.made

    @suite.step
    def the_first_fills_nothing() -> Any:
        """With the first mark the wall is not full."""
        return Implies(s.made == 0, Not(n.full))

    @suite.lemma
    def full_at_three() -> Any:
        """It is full with three marks, and only then."""
        return s.full == (s.made == 3)

    return suite


def exhaustive(suite: Suite) -> dict[str, str]:
    verdicts = exhaust(Observed.of(suite, suite.properties), Budget(workers=1)).verdicts
    return {v.property.name: v.verdict for v in verdicts}


def walked(suite: Suite) -> dict[str, str]:
    verdicts = sample(Observed.of(suite, suite.properties), Walks(count=50, steps=9), workers=1).verdicts
    return {v.property.name: v.verdict for v in verdicts}


def inductive(suite: Suite) -> dict[str, str]:
    return {v.property.name: v.verdict for v in prove(suite).verdicts}


def steered(suite: Suite) -> dict[str, str]:
    run = Run(Observed.of(suite, suite.properties))
    violated = set[str]()
    for label in ("mark", "mark", "mark", "look", "mark", "look"):
        if run.steered.enabled >> [a.label for a in suite.protocol.actions].index(label) & 1:
            run.take(label)
        violated |= set(run.violated)
    return {p.name: "violated" if p.name in violated else "seen" for p in suite.properties}


ENGINES = (exhaustive, walked, inductive, steered)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_judges_it(engine: Callable[[Suite], dict[str, str]]) -> None:
    """With two marks at a time the first step breaks the rule; what is open of the others then depends on the engine."""
    assert "violated" not in engine(marks()).values()
    assert len(engine(marks())) == 3
    if engine is not inductive:
        assert engine(marks(by=2))["every_step_counts"] == "violated"
    else:
        assert engine(marks(by=2))["every_step_counts"] == "inconclusive"


def test_a_search_counts_it() -> None:
    (first, *_) = exhaust(Observed.of(marks(), marks().properties[:1]), Budget(workers=1)).verdicts
    assert (first.reach["distinct"], first.reach["transitions"]) == (4, 5)


def test_only_what_may_fail_of_it_is_weakened() -> None:
    suite = marks()
    assert [p.name for p in suite.properties if p.unless is not None] == ["every_step_counts", "the_first_fills_nothing"]


def test_no_trace_of_it_is_a_violation() -> None:
    suite = marks()
    states = [(0, 0), (1, 0), (2, 0), (3, 1), (3, 1)]
    steps = tuple(Step("mark", state) for state in states[1:])
    trace = Trace("marks", states[0], steps, violated="every_step_counts")
    assert replay_on(trace, suite.protocol, suite).why == "every_step_counts is not violated: it holds of the last step"
    (course, *_) = Judge(suite).courses(trace)
    assert course.words == ("none", *["holds"] * 4)


def test_the_lemmas_of_its_proof_are_found() -> None:
    assert [lemma.name for lemma in unneeded(marks()) or ()] == []


def test_that_nothing_changes_is_no_premise() -> None:
    """A rule of steps says of its premise what it said before it was weakened."""
    p = Protocol("quiet")
    up, other = p.flag("up"), p.flag("other")

    @p.step(by="hand")
    def raise_it() -> Any:
        """It goes up."""
        return And(Not(up), Not(other)), {up: True}

    suite = Suite(p)

    @suite.step
    def falls() -> Any:
        """What is other falls at once."""
        return Implies(p.state.other, Not(p.next.other))

    assert suite.named("falls").unless is not None
    findings = exhaust(Observed.of(suite, suite.properties), Budget(workers=1))
    assert "the premise of falls was never met" in [s.text for s in findings.suspicions]
