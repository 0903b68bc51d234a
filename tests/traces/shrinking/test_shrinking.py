"""Shrinking: a walk becomes a shortest run, or one without a step to spare, that violates the very same property."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.language import And, If, Not, Or, Protocol, any_of
from fencepost.properties.vocabulary import Suite
from fencepost.traces.lassos import loop_from
from fencepost.traces.replay import replay_on
from fencepost.traces.shrinking.shrinking import Shrunk, shrink
from fencepost.traces.trace import Trace, trace_of
from tests.traces import doors

LITTLE = 1 << 20


def desk(*, sheets: int = 4, draughts: int = 0) -> Suite:
    """Two clerks who take sheets and file them, by a lamp that can be switched while there is work, in draughts that blow."""
    p = Protocol("desk")
    clerk, draught = p.universe("clerk", 2), p.universe("draught", draughts)
    filed, busy = p.number("filed", 0, sheets, per=clerk), p.flag("busy", per=clerk)
    lamp, blows = p.flag("lamp"), p.flag("blows", per=draught)
    calm = any_of(Not(b) for b in blows) if draughts else True  # so that draughts matter to what is filed

    @p.step(by="c", c=clerk)
    def take(c: int) -> Any:
        """Takes a sheet."""
        return Not(busy[c]) & (filed[c] < sheets), {busy[c]: True}

    @p.step(by="c", c=clerk)
    def file(c: int) -> Any:
        """Files it."""
        return And(busy[c], filed[c] < sheets, calm), {busy[c]: False, filed[c]: filed[c] + 1}

    @p.step(by="lamp")
    def switch() -> Any:
        """Goes on or off."""
        return Or(filed[0] < sheets, filed[1] < sheets), {lamp: Not(lamp)}

    @p.step(by="d", d=draught)
    def blow(d: int) -> Any:
        """Begins to blow or stops."""
        return True, {blows[d]: Not(blows[d])}

    suite, n = Suite(p), p.next

    @suite.always
    def little_work() -> Any:
        """Less is filed than one clerk could file."""
        return filed[0] + filed[1] < sheets

    @suite.always
    def one_at_a_time() -> Any:
        """The clerks take turns."""
        return Not(busy[0] & busy[1])

    @suite.step
    def light_stays() -> Any:
        """When two sheets are filed the lamp is left alone."""
        return Or(filed[0] + filed[1] < 2, n.lamp == lamp)

    @suite.sometimes
    def both_done() -> Any:
        """Both have filed all they can."""
        return (filed[0] == sheets) & (filed[1] == sheets)

    @suite.ends
    def by_light() -> Any:
        """Work ends by the light of the lamp."""
        return lamp

    return suite


def walk(suite: Suite, prop: str, seed: int, until: Callable[[list[int], bool], bool]) -> Trace:
    """A random run, until a state (as raw values, and whether anything is enabled there) is as it is to be."""
    kernel, rng = Kernel(suite.protocol), random.Random(seed)
    states, actions = [kernel.initial()[0]], list[int]()
    while not until(list(kernel.packing.unpack(states[-1])), bool(enabled := kernel.enabled(states[-1]))):
        if not enabled:
            states, actions = states[:1], []
            continue
        actions.append(rng.choice(enabled))
        states.append(kernel.apply(states[-1], actions[-1]))
    return trace_of(kernel, states, actions, violated=prop, found_by=f"walk {seed}")


def replays(shrunk: Shrunk, suite: Suite) -> bool:
    return replay_on(shrunk.trace, suite.protocol, suite).replays


def actions(trace: Trace) -> list[str]:
    return [step.action for step in trace.steps]


def full(sheets: int) -> Callable[[list[int], bool], bool]:
    return lambda state, goes_on: state[0] + state[1] >= sheets


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_becomes_a_shortest_run(seed: int) -> None:
    suite = desk()
    trace = walk(suite, "little_work", seed, full(4))
    shrunk = shrink(trace, suite)
    assert len(shrunk.trace.steps) == 8
    assert (shrunk.steps, shrunk.searched) == (len(trace.steps), 7)
    assert shrunk.changes_left <= 1
    assert str(shrunk).endswith(f"shrunk to 8 and {shrunk.changes_left}; no run is shorter")
    assert shrunk.trace.found_by == f"walk {seed}, shrunk from {len(trace.steps)} steps"
    assert replays(shrunk, suite)


@pytest.mark.long
def test_a_long_walk_is_shrunk_where_not_all_runs_can_be_searched() -> None:
    suite = desk(sheets=16, draughts=24)
    trace = walk(suite, "little_work", 1, full(16))
    assert len(trace.steps) > 300
    shrunk = shrink(trace, suite, memory=LITTLE)
    assert len(shrunk.trace.steps) == 32
    assert not any("blow" in action or "switch" in action for action in actions(shrunk.trace))
    assert shrunk.searched is not None
    assert 0 < shrunk.searched < 31
    assert str(shrunk).endswith(f"; no step can be left out, and no run of up to {shrunk.searched} steps will do")
    assert replays(shrunk, suite)


def test_steps_of_one_actor_are_brought_together() -> None:
    suite = desk(sheets=4, draughts=24)
    kernel = Kernel(suite.protocol)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    labels = ["take(c0)", "take(c1)", "file(c0)", "file(c1)", "take(c0)", "take(c1)", "file(c0)", "file(c1)"]
    states = [kernel.initial()[0]]
    for label in labels:
        states.append(kernel.apply(states[-1], numbers[label]))
    alternating = trace_of(kernel, states, [numbers[label] for label in labels], violated="little_work")
    shrunk = shrink(alternating, suite, memory=LITTLE)
    assert (shrunk.changes, shrunk.changes_left) == (7, 1)
    assert actions(shrunk.trace) in (
        ["take(c0)", "file(c0)"] * 2 + ["take(c1)", "file(c1)"] * 2,
        ["take(c1)", "file(c1)"] * 2 + ["take(c0)", "file(c0)"] * 2,
    )
    assert shrunk.trace.found_by == alternating.found_by
    assert replays(shrunk, suite)


@pytest.mark.parametrize(
    ("prop", "shortest", "until"),
    [
        ("one_at_a_time", 2, lambda state, goes_on: state[2] and state[3]),
        ("both_done", 16, lambda state, goes_on: state[0] == state[1] == 4),
        ("by_light", 16, lambda state, goes_on: not goes_on and not state[4]),
    ],
)
def test_each_kind_of_property_keeps_being_violated(prop: str, shortest: int, until: Any) -> None:
    suite = desk()
    shrunk = shrink(walk(suite, prop, 5, until), suite)
    assert len(shrunk.trace.steps) == shortest
    assert shrunk.trace.violated == prop
    assert shrunk.searched == shortest - 1
    assert replays(shrunk, suite)


@pytest.mark.parametrize("memory", [LITTLE, 64 << 20])
def test_the_last_step_of_a_step_property_stays(memory: int) -> None:
    suite = desk(draughts=20)
    trace = walk(suite, "light_stays", 2, lambda state, goes_on: bool(state[0] + state[1] >= 2 and state[4]))
    shrunk = shrink(trace, suite, memory=memory)
    assert len(shrunk.trace.steps) == 5
    assert actions(shrunk.trace)[-1] == "switch"
    assert replays(shrunk, suite)


def test_what_violates_something_else_on_the_way_is_kept_for_what_it_is() -> None:
    suite = desk()
    trace = walk(suite, "both_done", 3, lambda state, goes_on: state[0] == state[1] == 4)
    assert {p.name for p in suite.properties if replay_on(replace(trace, violated=p.name), suite.protocol, suite).replays}
    shrunk = shrink(trace, suite)
    assert shrunk.trace.violated == "both_done"
    assert replays(shrunk, suite)


def test_shrinking_what_is_shrunk_changes_nothing() -> None:
    suite = desk()
    once = shrink(walk(suite, "both_done", 7, lambda state, goes_on: state[0] == state[1] == 4), suite).trace
    assert shrink(once, suite).trace == once


def test_a_shrinking_that_is_stopped_keeps_a_run_that_replays() -> None:
    suite = desk(draughts=4)
    trace = walk(suite, "little_work", 1, full(4))
    asked = itertools.count()
    shrunk = shrink(trace, suite, should_stop=lambda: next(asked) > 20)
    assert 8 <= len(shrunk.trace.steps) < len(trace.steps)
    assert replays(shrunk, suite)
    assert str(shrunk).endswith("interrupted, so perhaps not the shortest")


def test_a_trace_that_shows_nothing_is_refused() -> None:
    suite = desk()
    trace = walk(suite, "little_work", 1, full(4))
    with pytest.raises(ValueError, match="no property"):
        shrink(replace(trace, violated=None), suite)
    with pytest.raises(ValueError, match="do not lead"):
        shrink(replace(trace, steps=trace.steps[:-1]), suite)


def lasso(suite: Suite, stem: list[str], around: list[str]) -> Trace:
    prop = suite.named("guests_get_in")
    kernel = Kernel(suite.protocol, [formula for lead in prop.leads for formula in lead])
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    taken, states = [numbers[label] for label in stem + around], [kernel.initial()[0]]
    for action in taken:
        states.append(kernel.apply(states[-1], action))
    loop = loop_from(kernel, prop, states, taken, len(stem))
    return trace_of(kernel, states, taken, violated=prop.name, found_by="liveness", loop=loop)


@pytest.mark.parametrize("stem", ["ring", "play swing swing ring play play", "swing ring play swing"])
@pytest.mark.parametrize("around", ["swing swing", "play swing play swing swing swing"])
def test_a_lasso_is_shrunk_and_stays_one(stem: str, around: str) -> None:
    suite = doors.suite(doors.door(radio=True))
    trace = lasso(suite, stem.split(), around.split())
    assert replay_on(trace, suite.protocol, suite).replays
    shrunk = shrink(trace, suite)
    assert actions(shrunk.trace) in (["ring", "swing", "swing"], ["swing", "ring", "swing", "swing"])
    assert shrunk.trace.loop is not None
    assert len(shrunk.trace.steps) - shrunk.trace.loop.start == 2
    assert shrunk.trace.loop.starved == ("let_in",)
    assert str(shrunk).endswith("no step can be left out, and no way around any that was searched is shorter")
    assert replays(shrunk, suite)


def round_trip(*, draughts: int = 30) -> Suite:
    """A guard on a ring of sixteen posts who calls at the twelfth and then at the first; draughts blow meanwhile."""
    p = Protocol("ring")
    draught = p.universe("draught", draughts)
    post, calls, blows = p.number("post", 0, 15), p.number("calls", 0, 2), p.flag("blows", per=draught)
    calm = any_of(Not(b) for b in blows) if draughts else True

    @p.step(by="guard", fair=True)
    def on() -> Any:
        """Goes on to the next post."""
        return True, {post: If(post == 15, 0, post + 1)}

    @p.step(by="guard")
    def back() -> Any:
        """Goes back to the post before."""
        return True, {post: If(post == 0, 15, post - 1)}

    @p.step(by="guard")
    def call() -> Any:
        """Calls."""
        return And(calm, Or((calls == 0) & (post == 12), (calls == 1) & (post == 0))), {calls: calls + 1}

    @p.step(by="d", d=draught)
    def blow(d: int) -> Any:
        """Begins to blow or stops."""
        return True, {blows[d]: Not(blows[d])}

    suite = Suite(p)

    @suite.always
    def one_call() -> Any:
        """He does not call twice."""
        return calls < 2

    @suite.leads_to
    def who_calls_calls_again() -> Any:
        """After the first call comes the second."""
        return calls == 1, calls == 2

    return suite


def played(suite: Suite, prop: str, labels: list[str], stem: int | None = None) -> Trace:
    """The trace of a run that takes these actions, and repeats them from place ``stem`` on."""
    named = suite.named(prop)
    kernel = Kernel(suite.protocol, [formula for lead in named.leads for formula in lead])
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    taken, states = [numbers[label] for label in labels], [kernel.initial()[0]]
    for action in taken:
        states.append(kernel.apply(states[-1], action))
    loop = None if stem is None else loop_from(kernel, named, states, taken, stem)
    return trace_of(kernel, states, taken, violated=prop, found_by="by hand", loop=loop)


def test_what_goes_a_long_way_round_is_led_the_short_way() -> None:
    suite = round_trip()
    trace = played(suite, "one_call", ["on"] * 12 + ["call"] + ["back"] * 12 + ["call"])
    shrunk = shrink(trace, suite, memory=LITTLE)
    assert shrunk.searched is not None
    assert shrunk.searched < 9
    assert actions(shrunk.trace) == ["back"] * 4 + ["call"] + ["on"] * 4 + ["call"]
    assert replays(shrunk, suite)


@pytest.mark.parametrize(
    ("labels", "stem"),
    [
        (["on"] * 12 + ["call"] + ["on"] * 16, 13),
        (["back"] * 4 + ["call"] + ["on"] * 16, 5),
        (["on"] * 12 + ["call"] + ["back"] * 3 + ["on", "back"] * 2, 16),
        (["on"] * 12 + ["call"] + ["blow(d0)", "on"] * 32, 13),
    ],
)
def test_a_lasso_takes_the_short_way_to_its_loop_and_around_it(labels: list[str], stem: int) -> None:
    suite = round_trip(draughts=2)
    trace = played(suite, "who_calls_calls_again", labels, stem)
    assert replay_on(trace, suite.protocol, suite).replays
    shrunk = shrink(trace, suite)
    assert sorted(actions(shrunk.trace)[:4]) == ["back"] * 4
    assert shrunk.trace.loop is not None
    assert (shrunk.trace.loop.start, len(shrunk.trace.steps)) == (5, 7)
    assert set(actions(shrunk.trace)[5:]) == {"on", "back"}
    assert replays(shrunk, suite)


def test_in_a_loop_too_the_steps_of_one_actor_are_brought_together() -> None:
    p = Protocol("clocks")
    clock = p.universe("clock", 2)
    up, struck = p.flag("up", per=clock), p.flag("struck")

    @p.step(by="c", c=clock, fair=True)
    def swing(c: int) -> Any:
        """The pendulum swings over."""
        return True, {up[c]: Not(up[c])}

    suite = Suite(p)

    @suite.leads_to
    def strikes() -> Any:
        """The clock strikes in the end."""
        return True, struck

    trace = played(suite, "strikes", ["swing(c0)", "swing(c1)", "swing(c0)", "swing(c1)"], 0)
    shrunk = shrink(trace, suite)
    assert (shrunk.changes, shrunk.changes_left) == (3, 1)
    assert actions(shrunk.trace) in (["swing(c0)"] * 2 + ["swing(c1)"] * 2, ["swing(c1)"] * 2 + ["swing(c0)"] * 2)
    assert replays(shrunk, suite)
