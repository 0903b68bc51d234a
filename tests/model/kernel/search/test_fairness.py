"""The components of a part of a graph, against NetworkX."""

from __future__ import annotations

from typing import Any, cast

import networkx
import numpy as np
import pytest

from fencepost.model.kernel.search.fairness import components
from fencepost.model.kernel.search.graph import Graph

ANY = cast("Any", None)
"""Of the graph what its components have nothing to do with."""


def graph(states: int, transitions: list[tuple[int, int]]) -> Graph:
    rows = np.zeros(states + 1, dtype=np.int64)
    np.add.at(rows, [source + 1 for source, _ in transitions], 1)
    targets = np.array([target for _, target in sorted(transitions)], dtype=np.int32)
    return Graph(ANY, np.arange(states), ANY, np.cumsum(rows), targets, np.zeros(len(targets), dtype=np.uint16), ANY)


def parted(of: np.ndarray[Any, Any]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(of == number).tolist()) for number in range(of.max(initial=-1) + 1)}


@pytest.mark.parametrize("seed", range(30))
def test_the_components_are_those_of_networkx(seed: int) -> None:
    dice = np.random.default_rng(seed)
    states = int(dice.integers(1, 60))
    # sparse and dense, with transitions to the state itself and several between two states
    count = int(states * dice.choice([0.5, 1.2, 2.0, 4.0]))
    transitions = [(int(a), int(b)) for a, b in dice.integers(0, states, (count, 2))]
    allowed = dice.random(states) < dice.choice([0.5, 0.9, 1.0])
    sources = dice.random(states) < dice.choice([0.1, 0.5, 1.0])
    parts = components(graph(states, transitions).moves, sources, allowed, np.zeros(1, dtype=np.bool_))
    known = networkx.MultiDiGraph(transitions)
    known.add_nodes_from(range(states))
    inside = known.subgraph(np.flatnonzero(allowed).tolist())
    starts = np.flatnonzero(sources & allowed).tolist()
    part = {after for start in starts for after in (start, *networkx.descendants(inside, start))}
    inside = known.subgraph(part)
    assert parted(parts.of) == set(map(frozenset, networkx.strongly_connected_components(inside)))
    assert set(np.flatnonzero(parts.of >= 0).tolist()) == part
    assert parts.count == networkx.number_strongly_connected_components(inside)


def test_a_long_way_and_a_long_loop_take_no_stack() -> None:
    way = [(state, state + 1) for state in range(199_999)]
    every = np.ones(200_000, dtype=np.bool_)
    none = np.zeros(1, dtype=np.bool_)
    assert components(graph(200_000, way).moves, every, every, none).count == 200_000
    assert components(graph(200_000, [*way, (199_999, 0)]).moves, every, every, none).count == 1
