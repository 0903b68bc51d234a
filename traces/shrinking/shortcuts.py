"""Shortcuts: from each state of a run all short ways on are searched, for one that comes sooner to a later state of it.

That is a local search: where the whole of a protocol is too large, the surroundings of a run's states are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.results import Find, Result
from fencepost.traces.shrinking.runs import Aim, Packed, Run


def with_shortcuts(aim: Aim, run: Run, memory: int, should_stop: Callable[[], bool]) -> Run:
    """The run with each way between two of its states, and from one to what it is to show, as short as a search finds it.

    Each search, from one state of the run, takes at most that many bytes. Of a lasso the stem may enter the loop elsewhere, and
    the loop may be cut short; what is left must show the same.
    """
    place = 0
    while place < len(run.actions) and not should_stop():
        result = aim.search(len(run.actions) - 1, memory, start=run.states[place], should_stop=should_stop)
        tried = (aim.tried(run.states[:1], (), actions, loop) for actions, loop in _shorter(run, place, result))
        shorter = next((r for r in tried if r is not None and len(r.actions) < len(run.actions)), None)
        if shorter is None:
            place += 1
        else:
            run = shorter
    return run


def _shorter(run: Run, place: int, result: Result) -> Iterator[tuple[tuple[int, ...], int | None]]:
    """The actions of shorter runs, the shortest first, and after how many of them a lasso begins, by the ways that were found
    from one place of a run."""
    for find in result.violations:
        if place + find.depth < len(run.actions):
            yield (*run.actions[:place], *result.path(find, 1).actions), None
    ways = _ways(run, result)
    around = run.loop is not None and run.loop < len(run.actions)
    goals = [goal for goal, state in enumerate(run.states[:-1] if around else run.states) if state in ways]
    joined = [(goal, *_joined(run, place, goal, ways[run.states[goal]].depth)) for goal in goals]
    for goal, after, loop in sorted(joined, key=lambda row: ways[run.states[row[0]]].depth + len(row[1])):
        way = ways[run.states[goal]]
        if place + way.depth + len(after) < len(run.actions):
            yield (*run.actions[:place], *result.path(way, 1).actions, *after), loop


def _joined(run: Run, place: int, goal: int, depth: int) -> tuple[tuple[int, ...], int | None]:
    """How a run goes on that has come in so many steps from its state at one place to that at another, and after how many of
    all its actions a lasso then begins."""
    actions, start = run.actions, run.loop
    if start is None:
        return actions[goal:], None
    if goal <= place:  # back along the run
        return (), goal
    if place < start < goal:  # into the loop, in the middle of it
        return (*actions[goal:], *actions[start:goal]), place + depth
    return actions[goal:], start if place >= start else place + depth + start - goal


def _ways(run: Run, result: Result) -> dict[Packed, Find]:
    """The states of the run that a search has met, with how far they are from its start."""
    wanted = np.array(run.states, dtype=np.uint64)
    met: dict[Packed, Find] = {}
    for depth in range(1, len(result.level_sizes)):
        rows = result.level(depth)
        alike = np.all([np.isin(rows[:, word], wanted[:, word]) for word in range(rows.shape[1])], axis=0)
        for row in rows[alike]:  # few: almost only the run's own
            state = plain(row)
            met[state] = Find("state", 0, depth, state)
    return met
