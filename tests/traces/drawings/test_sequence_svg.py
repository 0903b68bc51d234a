"""Traces as pictures: everything that happened is in them, in order, and nothing is drawn outside of them."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest

from fencepost.model.language import Not, Protocol
from fencepost.properties.registry import Entry
from fencepost.properties.vocabulary import Suite
from fencepost.traces.drawings.drawing import SIZE, SMALL, width_of
from fencepost.traces.drawings.sequence_svg import as_svg
from fencepost.traces.trace import Loop, Trace

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def picture(trace: Trace, broken: Protocol, protocols: dict[str, Entry]) -> Element:
    return fromstring(as_svg(trace, broken, protocols["lock"].suite(broken).named("one_holder")))


def texts(svg: Element) -> list[str]:
    return [(text.text or "").replace("\u00a0", " ").strip() for text in svg.iter(f"{SVG}text")]


def test_each_step_is_told_with_what_it_changed(picture: Element) -> None:
    lines = texts(picture)
    assert lines[0] == "one_holder is violated in 4 steps"
    assert [name for name in lines if name in ("c0", "c1", "net", "store")] == ["c0", "c1", "net", "store"]
    assert [label for label in lines if label.endswith(("take(c0)", "take(c1)", "cut"))] == [
        "take(c0)",
        "fault: cut",
        "take(c0)",
        "take(c1)",
    ]
    assert "holders {c0} -> {c0, c1};" in " ".join(lines)
    assert lines[-3:] == [
        "one_holder does not hold in the last state",
        "not (c0 in holders and c1 in holders)",
        "holders {c0, c1}",
    ]
    titles = [title.text for title in picture.iter(f"{SVG}title")]
    assert titles[1:3] == ["The client takes the lock.", "The net cuts everybody off."]


def test_arrows_lead_from_lane_to_lane(picture: Element) -> None:
    lines = [path.get("d", "") for path in picture.iter(f"{SVG}path") if path.get("class") == "line"]
    lanes = [line.split()[0].removeprefix("M") for line in lines]
    arrows = [path for path in picture.iter(f"{SVG}path") if "arrow" in path.get("class", "")]
    assert len(lanes) == 4
    assert lanes == sorted(lanes, key=float)
    assert [arrow.get("d", "").split("H")[1] for arrow in arrows] == [lanes[3]] * 4
    assert [arrow.get("marker-end") for arrow in arrows] == ["url(#tip)", "url(#cross)", "url(#tip)", "url(#tip)"]


def overflowing(svg: Element) -> list[str]:
    """The texts that are drawn outside of the picture."""
    wide, tall = float(svg.get("width", "0")), float(svg.get("height", "0"))
    outside = []
    for text in svg.iter(f"{SVG}text"):
        size = SMALL if "small" in text.get("class", "") else SIZE
        long = width_of(text.text or "", size)
        start = float(text.get("x", "0")) - {"start": 0, "middle": long / 2, "end": long}[text.get("text-anchor", "start")]
        if start < 0 or start + long > wide or not 0 < float(text.get("y", "0")) < tall:
            outside.append(text.text or "")
    return outside


def test_nothing_is_drawn_outside(picture: Element) -> None:
    assert overflowing(picture) == []
    picture.set("width", "300")
    assert overflowing(picture)


def test_what_repeats_is_framed_and_what_stops_is_said(trace: Trace, broken: Protocol) -> None:
    framed = fromstring(as_svg(replace(trace, loop=Loop(2)), broken))
    assert [box.get("class") for box in framed.iter(f"{SVG}rect")].count("loop") == 1
    assert "again and again, forever" in texts(framed)
    stopped = texts(fromstring(as_svg(replace(trace, loop=Loop(4)), broken)))
    assert stopped[-1] == "the run stops after step 4: nothing more is obliged to happen"
    assert "again and again, forever" not in stopped


def test_a_run_without_steps_or_property(trace: Trace, broken: Protocol) -> None:
    svg = fromstring(as_svg(replace(trace, steps=(), violated=None), broken))
    assert texts(svg)[0] == "lock: a run of 0 steps"
    assert overflowing(svg) == []


def test_of_a_run_that_never_ends_the_title_says_what_never_comes(trace: Trace, broken: Protocol) -> None:
    properties = Suite(broken)

    @properties.leads_to
    def given_back() -> object:
        """A lock that is held is given back."""
        return Not(broken.state.holders.is_empty), broken.state.holders.is_empty

    svg = fromstring(as_svg(replace(trace, loop=Loop(2)), broken, properties.named("given_back")))
    assert texts(svg)[:2] == ["given_back is never fulfilled", "A lock that is held is given back."]
