"""The neighbourhood of a trace: just the states so near, all transitions between them, and the trace marked."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import networkx
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.graph import graph_of
from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.search import search
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry
from fencepost.properties.vocabulary import Suite
from fencepost.traces.drawings.neighbourhood import Neighbourhood, as_graphml, neighbourhood
from fencepost.traces.drawings.neighbourhood_svg import as_svg
from fencepost.traces.trace import Trace

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def suite(broken: Protocol, protocols: dict[str, Entry]) -> Suite:
    return protocols["lock"].suite(broken)


@pytest.fixture(scope="module")
def whole(broken: Protocol) -> Any:
    """All reachable states and transitions, by an exhaustive search."""
    graph = graph_of(search(Kernel(broken)))
    assert graph is not None
    whole_graph = networkx.MultiDiGraph()
    states = [plain(graph.state(number)) for number in range(graph.states)]
    for number, state in enumerate(states):
        for action, after in graph.successors_of(number):
            whole_graph.add_edge(state, states[after], broken.actions[action].label)
    return whole_graph


def on_trace(trace: Trace, broken: Protocol) -> list[tuple[int, ...]]:
    packing = Kernel(broken).packing
    return [plain(packing.pack(state)) for state in trace.states]


@pytest.mark.parametrize("radius", [0, 1, 2, 3, 50])
def test_it_has_just_what_is_so_near(trace: Trace, broken: Protocol, suite: Suite, whole: Any, radius: int) -> None:
    picture = neighbourhood(trace, suite, radius=radius, limit=10_000)
    far = networkx.multi_source_dijkstra_path_length(whole, set(on_trace(trace, broken)))
    near = [state for state, distance in far.items() if distance <= radius]
    assert sorted(about["distance"] for _, about in picture.graph.nodes(data=True)) == sorted(far[state] for state in near)
    part = whole.subgraph(near)
    labels = sorted(label for *_, label in part.edges(keys=True))
    assert sorted(label for *_, label in picture.graph.edges(keys=True)) == labels
    beyond = {after for state in near for after in whole.successors(state)} - set(near)
    assert (picture.further, picture.limited) == (len(beyond), False)
    assert str(picture).startswith(f"{len(near)} states within {radius} step")
    assert str(picture).endswith("nothing is beyond") is (radius == 50)


def test_the_trace_is_marked(trace: Trace, suite: Suite) -> None:
    picture = neighbourhood(trace, suite)
    nodes = picture.graph.nodes
    own = [node for node in nodes if nodes[node]["place"] >= 0]
    assert [nodes[node]["label"] for node in own] == ["0", "1", "2", "3", "4"]
    marked = [(source, target, label) for source, target, label, on in picture.graph.edges(keys=True, data="on_trace") if on]
    assert [label for *_, label in sorted(marked)] == ["take(c0)", "cut", "take(c0)", "take(c1)"]
    assert [node for node in nodes if nodes[node]["violates"] and nodes[node]["place"] >= 0] == [4]
    aside = next(about for _, about in nodes(data=True) if about["label"] == "0 + take(c1)")
    assert (aside["via"], aside["distance"], aside["open"]) == (0, 1, True)
    assert "holders {} -> {c1};" in aside["changes"]
    assert "colour green" in aside["state"]


def test_of_a_step_property_transitions_violate(trace: Trace, suite: Suite) -> None:
    picture = neighbourhood(replace(trace, violated="taken_by_one"), suite)
    bad = [label for *_, about in picture.graph.edges(data=True) if about["violates"] for label in [about["label"]]]
    assert "take(c1)" in bad
    assert "cut" not in bad
    assert not any(picture.graph.nodes[node]["violates"] for node in picture.graph)


def test_a_state_that_a_trace_comes_back_to_is_one(trace: Trace, suite: Suite) -> None:
    again = replace(trace, steps=(*trace.steps[:2], trace.steps[1]), violated=None)
    picture = neighbourhood(replace(again, steps=again.steps[:2]), suite, radius=0)
    assert neighbourhood(again, suite, radius=0).graph.number_of_nodes() == picture.graph.number_of_nodes() == 3


def test_a_limit_is_kept_and_said(trace: Trace, suite: Suite) -> None:
    picture = neighbourhood(trace, suite, radius=3, limit=2)
    assert picture.graph.number_of_nodes() == 7
    assert picture.limited
    assert str(picture).startswith("the first 7 states within 3 steps of the trace")
    assert "--limit" in str(picture)


def files(picture: Neighbourhood) -> Iterator[str]:
    return (draw(picture) for draw in (as_graphml, lambda it: as_svg(it, "lock")))


def test_the_same_trace_gives_the_same_files(trace: Trace, suite: Suite) -> None:
    assert list(files(neighbourhood(trace, suite, radius=2))) == list(files(neighbourhood(trace, suite, radius=2)))


def test_other_tools_read_what_is_written(trace: Trace, suite: Suite) -> None:
    picture = neighbourhood(trace, suite, radius=2)
    read = networkx.read_graphml(io.BytesIO(as_graphml(picture).encode()), node_type=int, force_multigraph=True)
    assert dict(read.nodes(data=True)) == dict(picture.graph.nodes(data=True))
    assert sorted(read.edges(keys=True)) == sorted(picture.graph.edges(keys=True))


def test_the_picture_has_a_row_for_each_state_and_a_line_for_each_transition(trace: Trace, suite: Suite) -> None:
    picture = neighbourhood(trace, suite, radius=2)
    svg = fromstring(as_svg(picture, "lock, around one_holder"))
    circles = list(svg.iter(f"{SVG}circle"))
    assert len({circle.get("cy") for circle in circles}) == len(circles) == picture.graph.number_of_nodes()
    arrows = [path for path in svg.iter(f"{SVG}path") if "arrow" in path.get("class", "")]
    assert len(arrows) == picture.graph.number_of_edges()
    lines = [text.text for text in svg.iter(f"{SVG}text")]
    assert lines[:2] == ["lock, around one_holder", str(picture)]
    assert "fault: cut" in lines
    assert max(float(circle.get("cy", "0")) for circle in circles) < float(svg.get("height", "0"))
