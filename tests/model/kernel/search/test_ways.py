"""Shortest runs to where something holds."""

from __future__ import annotations

from typing import Any

from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import shortest_ways
from fencepost.model.language import Protocol


def test_ways_are_the_shortest_and_end_where_their_goal_holds() -> None:
    p = Protocol("stairs")
    step = p.number("step", 0, 9)

    @p.step(by="child")
    def climb() -> Any:
        """One step up."""
        return step < 8, {step: step + 1}

    @p.step(by="child")
    def jump() -> Any:
        """Three steps up."""
        return step < 6, {step: step + 3}

    ways = shortest_ways(p, [step == 0, step == 9, step == 7, step > 6], Limits(memory=16 << 20))
    assert {goal: len(path.actions) for goal, path in ways.items()} == {0: 0, 2: 3, 3: 3}
    assert ways[2].states[-1] == (7,)
