"""Branches of actions: which there are, which runs take, and that runs are led to those that chance does not meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fencepost.checks.conformance.running.adapter import Adapter, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.branches import Branches
from fencepost.checks.conformance.running.campaign import Result, campaign, single
from fencepost.checks.conformance.running.pair import Pair
from fencepost.checks.conformance.running.view import View
from fencepost.model.kernel import Kernel
from fencepost.model.language import And, If, Implies, Not, Or, Protocol
from fencepost.properties.protocols import PROTOCOLS

CODE = (2, 0, 3, 1, 1, 2, 0, 3)


def safe(length: int = len(CODE)) -> Protocol:
    """A safe with a combination: a wrong digit begins again. After the last right one it opens, or, if it is worn, it jams."""
    p = Protocol("safe", parameters={"length": length})
    dial = p.universe("dial", 2)
    right, opened, worn = p.number("right", 0, length), p.flag("opened", per=dial), p.flag("worn")

    @p.step(by="thief", d=p.upto(3), k=dial)
    def turn(d: int, k: int) -> Any:
        """A dial is turned to a digit."""
        is_next = Or(*(And(right == place, CODE[place] == d) for place in range(length)))
        return Or(Not(opened[k]), worn), {
            right: If(And(is_next, right < length), right + 1, 0),
            opened[k]: If(And(right == length - 1, is_next), Not(worn), opened[k]),
        }

    @p.step(by="thief")
    def rest() -> Any:
        """Nothing is turned for a while."""
        return right < 2, {worn: Or(worn, right == 1)}

    return p


class Lock(Adapter):
    """The code: the last of the digits does not open it, if it has that bug."""

    protocol = "safe"
    covered = ("turn", "rest")
    observables = (Observable("opened", ("opened",), lambda view: _opened(view), lambda seen: seen["opened"]),)
    shown_by_requests = ("right", "worn")

    def __init__(self, bug: bool = False) -> None:
        self.bug = bug

    def begin(self, instance: Protocol) -> Seen:
        self.length = int(instance.parameters["length"])
        self.right, self.worn, self.opened = 0, False, {"d0": False, "d1": False}
        return self._seen()

    def take(self, step: Taken) -> Seen:
        if step.action.name == "rest":
            self.worn = self.worn or self.right == 1
            return self._seen()
        digit, dial = int(step.arguments["d"]), step.arguments["k"]
        if self.right < self.length and CODE[self.right] == digit:
            self.right += 1
            if self.right == self.length and not (self.bug and not self.worn):
                self.opened[dial] = not self.worn
        else:
            self.right = 0
        return self._seen()

    def _seen(self) -> Seen:
        return Seen({"opened": dict(self.opened)})

    def expected(self, view: View) -> Owed:
        return Owed()

    def close(self) -> None:
        pass


def _opened(view: View) -> dict[str, bool]:
    return {dial: view[f"opened[{dial}]"] for dial in view.members("dial")}


def held(adapter: Lock, runs: int = 60) -> Result:
    return campaign([safe()], adapter, runs=runs, steps=20, seed=1, shrink=False)


def test_branches_are_alternatives_of_guards_and_ways_of_conditions() -> None:
    p = Protocol("door")
    person = p.universe("guest", 2)
    locked, wet, has_key, pushes = p.flag("locked"), p.flag("wet"), p.flag("has_key", per=person), p.number("pushes", 0, 2)

    @p.step(by="g", g=person)
    def push(g: int) -> Any:
        """Somebody pushes it."""
        may = Or(Not(locked), has_key[g])
        return And(may, pushes < 2), {pushes: If(wet, If(locked, pushes, pushes + 1), pushes + 1), wet: True, locked: False}

    branches = Branches(p)
    conditions = {"not locked", "has_key[g]", "wet", "not wet", "locked"}
    assert branches.every == {("push", condition) for condition in conditions}
    state = {"locked": 1, "wet": 0, "has_key[g0]": 0, "has_key[g1]": 1, "pushes": 0}
    there = tuple(state[variable.name] for variable in p.variables)
    assert branches.at(there, "push(g1)") == {("push", "has_key[g]"), ("push", "not wet")}
    assert branches.at(there, "push(g0)") == {("push", "not wet")}


def test_a_way_leads_to_where_its_branch_is_open() -> None:
    protocol = PROTOCOLS["election"].build({"expiries": 1})
    branches, kernel = Branches(protocol), Kernel(protocol)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    assert branches.ways
    for branch, way in branches.ways.items():
        state = kernel.initial()[0]
        for label in way:
            assert numbers[label] in kernel.enabled(state)
            state = kernel.apply(state, numbers[label])
        there = kernel.packing.unpack(state)
        enabled = {kernel.actions[number].label for number in kernel.enabled(np.asarray(state))}
        assert any(branch in branches.at(there, label) for label in enabled)


@pytest.mark.long
def test_runs_are_led_to_what_chance_does_not_meet() -> None:
    result = held(Lock())
    assert result.agrees
    assert not set(result.untaken_branches()) & Branches(safe()).ways.keys()
    mistaken = held(Lock(bug=True))
    assert mistaken.unexplained
    assert mistaken.differing[0].last.startswith("turn(")


def test_what_was_never_taken_is_said_and_steps_of_a_trace_count() -> None:
    protocol = safe()
    result = single(Pair(Kernel(protocol), Lock()), ["turn(2, d0)", "turn(1, d1)"])
    untaken = {condition for _, condition in result.untaken_branches()}
    assert "worn" in untaken
    assert "not opened[k]" not in untaken
    assert {action for action, _ in result.untaken_branches()} == {"turn"}


def test_a_premise_in_a_guard_is_no_alternative_where_it_is_always_so() -> None:
    p = Protocol("lamp")
    lit = p.flag("lit")

    @p.step(by="hand")
    def press() -> Any:
        """Presses it."""
        return Or(lit, Not(lit), Implies(lit, lit)), {lit: Not(lit)}

    assert Branches(p).every == {("press", "lit"), ("press", "not lit")}
