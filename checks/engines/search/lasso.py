"""Lassos: runs that go on forever, as a stem and a loop, found in a component that admits a fair run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fencepost.model.kernel.search.fairness import Components, Marks, Ways, nearest, ways
from fencepost.model.kernel.search.graph import Graph

Steps = list[tuple[int, int]]
"""Actions, each with the state that it leads to."""


@dataclass(frozen=True)
class Lasso:
    """A run by the numbers of its states and of the actions between them; from state ``loop`` (its place in the run) on it
    repeats forever. The last state is that of place ``loop`` again; if it is that place itself, the run stops there."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    loop: int


def shortest_lasso(graph: Graph, pending: Ways, parts: Components, obliged: Marks) -> Lasso | None:
    """A fair run on which what is pending never comes; None if there is none.

    It is the shortest that stops, or, if that is shorter, the one that is soonest in a component that it need not leave. The
    way around that is short, not the shortest: it goes from each state to the nearest that is a reason for its fairness.
    """
    if not parts.fair.any():
        return None
    inside = parts.of >= 0
    stop = _soonest(pending, parts.rest)
    entry = _soonest(pending, inside & parts.fair[parts.of])
    assert entry is not None
    if stop is not None and pending.steps[stop] == pending.steps[entry]:
        return _lasso(graph, pending, stop, [])
    around = _around(graph, parts, entry, obliged)
    if stop is not None and pending.steps[stop] <= pending.steps[entry] + len(around):
        return _lasso(graph, pending, stop, [])
    return _lasso(graph, pending, entry, around)


def _soonest(pending: Ways, among: Marks) -> int | None:
    numbers = np.flatnonzero(among)
    return int(numbers[np.argmin(pending.steps[numbers])]) if len(numbers) else None


def _lasso(graph: Graph, pending: Ways, entry: int, around: Steps) -> Lasso:
    owing = pending.to(entry)
    everywhere = np.ones(graph.states, dtype=np.bool_)
    stem = ways(graph, graph.depth == 0, everywhere).to(owing[0]) + owing[1:]
    steps = _along(graph, stem) + around
    return Lasso((stem[0], *(state for _, state in steps)), tuple(action for action, _ in steps), len(stem) - 1)


def _around(graph: Graph, parts: Components, entry: int, obliged: Marks) -> Steps:
    """A way from ``entry`` back to it, within its component, on which each obliged action is taken or disabled once."""
    steps: Steps = []
    unmet, at = obliged.copy(), entry
    while True:
        unmet &= _enabled(graph, at)
        if not unmet.any() and at == entry:
            return steps
        way = nearest(graph, parts, at, unmet, entry)
        steps += _along(graph, way)
        at = way[-1]
        unmet &= _enabled(graph, at)
        for action, after in graph.successors_of(at):
            if unmet[action] and parts.of[after] == parts.of[entry]:
                steps.append((action, after))
                unmet[action] = False
                at = after
                break


def _enabled(graph: Graph, state: int) -> Marks:
    enabled = np.zeros(len(graph.reached.kernel.actions), dtype=np.bool_)
    enabled[[action for action, _ in graph.successors_of(state)]] = True
    return enabled


def _along(graph: Graph, way: Sequence[int]) -> Steps:
    """The steps of a way, each by the first action that leads there."""
    return [(next(a for a, t in graph.successors_of(s) if t == after), after) for s, after in itertools.pairwise(way)]
