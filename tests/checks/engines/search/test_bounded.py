"""Bounded checking finds exactly what a search finds, by a shortest run that replays, and claims no more than its depth."""

import random
from typing import Any

import numpy as np
import pytest
import z3

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.engines.search.bounded import unroll
from fencepost.model.kernel import Kernel
from fencepost.model.language import And, If, Not, OneOf, Or, Protocol
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.replay import replay_on


def counter(limit: int) -> Suite:
    """Counts to ``limit``, by steps of one or two, and ends."""
    p = Protocol("counter")
    count = p.number("count", 0, limit + 1)
    s, n = p.state, p.next

    @p.step(by="counter")
    def one() -> object:
        """Counts one."""
        return count < limit, {count: count + 1}

    @p.step(by="counter")
    def two() -> object:
        """Counts two, as if there were no limit."""
        return count < limit, {count: count + 2}

    suite = Suite(p)

    @suite.always
    def stays_below() -> object:
        """The limit is kept."""
        return s.count <= limit

    @suite.step
    def by_one() -> object:
        """It goes up by one."""
        return n.count == s.count + 1

    @suite.always
    def is_positive() -> object:
        """It holds, whatever the depth."""
        return s.count >= 0

    @suite.sometimes
    def at_the_limit() -> object:
        """The limit is reached."""
        return s.count == limit

    @suite.sometimes
    def beyond() -> object:
        """Never so."""
        return s.count > limit + 1

    return suite


def by_name(findings: Findings) -> dict[str, Verdict]:
    return {v.property.name: v for v in findings.verdicts}


def test_verdicts_of_every_kind() -> None:
    suite = counter(5)
    verdicts = by_name(unroll(suite, suite.properties, 4))
    assert {name: (v.verdict, len(v.trace.steps) if v.trace else None) for name, v in verdicts.items()} == {
        "stays_below": ("violated", 3),
        "by_one": ("violated", 1),
        "is_positive": ("bounded", None),
        "at_the_limit": ("proved", 3),
        "beyond": ("inconclusive", None),
    }
    assert verdicts["is_positive"].reach["depth"] == 4


def test_every_trace_replays() -> None:
    suite = counter(5)
    traces = [v.trace for v in unroll(suite, suite.properties, 4).verdicts if v.trace]
    assert len(traces) == 3
    for trace in traces:
        replayed = replay_on(trace, suite.protocol, suite)
        assert replayed.replays, replayed


@pytest.mark.parametrize(("depth", "reached"), [(0, 0), (2, 2), (3, 3), (9, 5)])
def test_the_depth_claimed_is_that_of_runs_that_exist(depth: int, reached: int) -> None:
    """With a limit of 5 no run has more than 5 steps; looking deeper shows nothing that a claim could rest on."""
    suite = counter(5)
    findings = unroll(suite, [suite.named("is_positive")], depth)
    assert findings.verdicts[0].verdict == "bounded"
    assert findings.verdicts[0].reach["depth"] == reached
    assert any("no run has more than 5 steps" in note for note in findings.notes) == (depth > 5)


def test_a_run_that_ends_hides_no_longer_one() -> None:
    """One action ends everything at once; the violation lies four steps down another way."""
    p = Protocol("forked")
    count, over = p.number("count", 0, 4), p.flag("over")

    @p.step(by="anyone")
    def stop() -> object:
        """Ends it."""
        return And(count == 0, Not(over)), {over: True}

    @p.step(by="anyone")
    def go() -> object:
        """Goes on."""
        return And(count < 4, Not(over)), {count: count + 1}

    suite = Suite(p)

    @suite.always
    def below_four() -> object:
        """The end is not reached."""
        return p.state.count < 4

    trace = unroll(suite, suite.properties, 9).verdicts[0].trace
    assert [step.action for step in trace.steps] == ["go"] * 4


def test_out_of_time_says_how_far_it_came() -> None:
    suite = counter(5)
    verdict = unroll(suite, [suite.named("is_positive")], 4, seconds=0.0).verdicts[0]
    assert verdict.verdict == "inconclusive"
    assert verdict.reach["depth"] == -1


def test_interrupted_after_some_depth() -> None:
    suite = counter(5)
    seen: list[int] = []
    findings = unroll(
        suite,
        [suite.named("is_positive"), suite.named("by_one")],
        4,
        progress=lambda length, depth: seen.append(length),
        should_stop=lambda: len(seen) == 3,
    )
    verdicts = by_name(findings)
    assert (verdicts["is_positive"].verdict, verdicts["is_positive"].reach["depth"]) == ("inconclusive", 2)
    assert verdicts["by_one"].verdict == "violated"  # what was found stays found


# --- against a breadth-first search


def random_suite(seed: int) -> Suite:
    """A protocol of a few small variables with random actions, and random properties of every kind."""
    chance = random.Random(seed)
    p = Protocol(f"random_{seed}")
    few = p.universe("few", 2)
    x = p.number("x", 0, 3, init=OneOf((0, 1)))
    y, f, held = p.number("y", -1, 2), p.flag("f"), p.subset("held", few)
    phase = p.choice("phase", ["early", "late", "over"])
    s, n = p.state, p.next

    def atom() -> Any:
        numbers = [x == chance.randint(0, 3), x < y + chance.randint(0, 3), y > chance.randint(-1, 1), held.has(x)]
        return chance.choice([*numbers, f, Not(f), held.has(0), phase == "late", phase != "over"])

    for number in range(4):

        def act() -> object:
            """Does something at random."""
            member = chance.randint(0, 1)
            changes = {
                x: If(x < 3, x + 1, 0),
                y: If(x > 2, 2, x - 1),
                f: Not(f),
                held: If(held.has(member), held.minus(member), held.plus(member)),
                phase: If(phase == "early", "late", "over"),
            }
            return Or(atom(), atom()), dict(chance.sample(list(changes.items()), chance.randint(1, 2)))

        act.__name__ = f"act_{number}"
        p.step(by="chance")(act)
    suite = Suite(p)

    @suite.always
    def two_at_a_time() -> object:
        """Some things do not go together."""
        return Not(And(atom(), atom(), phase != "early"))

    @suite.step
    def moves_so() -> object:
        """From there, x does not rise."""
        return Or(n.x <= s.x, Not(atom()))

    @suite.sometimes
    def together() -> object:
        """Two things go together."""
        return And(atom(), x > 1)

    return suite


def shortest(suite: Suite, depth: int) -> dict[str, int | None]:
    """By plain breadth-first search on the kernel: the fewest steps to violate or, if it is a goal, to reach each property."""
    states = [p for p in suite.properties if p.kind != "step"]
    steps = [p for p in suite.properties if p.kind == "step"]
    kernel = Kernel(
        suite.protocol,
        [p.formula if p.kind == "sometimes" else z3.Not(p.formula) for p in states],
        [z3.Not(p.formula) for p in steps],
    )
    lengths: dict[str, int | None] = {p.name: None for p in suite.properties}

    def note(hits: list[int], among: list[Property], length: int) -> None:
        for hit in hits:
            if lengths[among[hit].name] is None:
                lengths[among[hit].name] = length

    level = {state.tobytes(): state for state in kernel.initial()}
    seen = set(level)
    for length in range(depth + 1):
        following: dict[bytes, np.ndarray[Any, Any]] = {}
        for state in level.values():
            note(kernel.observe(state), states, length)
            for action in kernel.enabled(state) if length < depth else []:
                after = kernel.apply(state, action)
                note(kernel.observe_step(state, after), steps, length + 1)
                if after.tobytes() not in seen:
                    seen.add(after.tobytes())
                    following[after.tobytes()] = after
        level = following
    return lengths


@pytest.mark.long
def test_a_search_finds_the_same_by_as_few_steps() -> None:
    hits = 0
    for seed in range(30):
        suite = random_suite(seed)
        verdicts = by_name(unroll(suite, suite.properties, 6))
        lengths = {name: len(v.trace.steps) if v.trace else None for name, v in verdicts.items()}
        assert lengths == shortest(suite, 6), seed
        for verdict in verdicts.values():
            if verdict.trace:
                assert replay_on(verdict.trace, suite.protocol, suite).replays, seed
                hits += len(verdict.trace.steps) > 1
    assert hits >= 10  # else the comparison says little
