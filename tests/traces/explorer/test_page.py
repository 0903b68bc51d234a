"""The explorer's page and the JSON in it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from fencepost.traces.explorer.content import Recording, content
from fencepost.traces.explorer.page import page
from fencepost.traces.trace import Loop
from tests.hostile import NAME, is_text_in
from tests.traces.explorer.recorded import explained, lamp, lost_entry, run


@pytest.fixture(scope="module")
def lost() -> Recording:
    return lost_entry()


@pytest.fixture(scope="module")
def data(lost: Recording) -> dict[str, Any]:
    (data,) = content([lost])["traces"]
    return data


def switched(*labels: str, name: str = "lamp", violated: str | None = None, loop: Loop | None = None) -> Recording:
    suite = lamp()
    return Recording(name, run(suite.protocol, labels, violated, loop), suite)


@pytest.mark.long
def test_the_states_can_be_put_together_again(lost: Recording, data: dict[str, Any]) -> None:
    state = list(data["initial"])
    for at, (_, changes, _arrows) in enumerate(data["steps"], start=1):
        for variable, word in changes:
            assert state[variable] != word
            state[variable] = word
        assert dict(zip((v["name"] for v in data["variables"]), (data["words"][w] for w in state), strict=True)) == (
            lost.side.values(at)
        )


def test_what_is_told_of_a_trace(lost: Recording, data: dict[str, Any]) -> None:
    assert data["violated"] == "no_truncation"
    assert data["lanes"] == ["writer", "b0", "b1", "b2", "r0", "store"]
    assert [data["actions"][number]["label"] for number, *_ in data["steps"]] == lost.side.labels()
    asked = next(action for action in data["actions"] if action["label"] == "read_lac(r0, b2)")
    assert (data["lanes"][asked["by"]], asked["fault"]) == ("r0", False)
    ways = [[(data["lanes"][a], data["lanes"][b], later) for a, b, later in data["arrows"][step[2]]] for step in data["steps"]]
    assert ways[:2] == [[("writer", bookie, True) for bookie in ("b0", "b1", "b2")], [("writer", "b0", False)]]
    assert ways[4:6] == [[("r0", "b2", False)], []]
    assert re.fullmatch(r"model/bookkeeper/ledger/recovery\.py:\d+", asked["place"])
    stored = next(v for v in data["variables"] if v["name"] == "stored[b1]")
    assert (stored["family"], [data["lanes"][lane] for lane in stored["of"]]) == ("stored", ["b1"])
    status = next(v for v in data["variables"] if v["name"] == "status")
    assert [data["lanes"][lane] for lane in status["of"]] == ["store"]
    first, second = data["properties"][:2]
    assert first["name"] == "no_truncation"
    assert first["spans"] == [[0, "holds"], [13, "violated"]]
    assert first["reasons"] == [[13, 0]]
    because = ["status = closed and e0 in confirmed => last >= 0", ("status closed", "last -1", "confirmed {e0}")]
    assert first["why"] == [{"conditions": 1, "false": [because]}]
    assert any(word == "violated" for _, word in second["spans"])


def test_a_run_that_explains_a_step_is_told_with_what_it_changes() -> None:
    (data,) = content([explained()])["traces"]
    (run,) = data["below"].values()
    assert list(data["below"]) == [2]
    assert run["title"] == "the fuse blows; it comes to it so:"
    assert [(step["by"], step["label"], step["fault"]) for step in run["steps"]] == [
        ("guest", "switch_on", False),
        ("fuse", "blow", True),
    ]
    assert run["steps"][1]["changes"] == [("lit", "yes", "no"), ("blown", "no", "yes")]


def test_a_reason_that_recurs_is_told_once() -> None:
    (data,) = content([switched(*["switch_on", "switch_off", "switch_on", "switch_off", "forget"] * 3)])["traces"]
    seldom = next(prop for prop in data["properties"] if prop["name"] == "seldom")
    assert seldom["reasons"] == [[3, 0], [8, 0], [13, 0]]
    assert [why["false"] for why in seldom["why"]] == [[["count <= 1", ("count 2",)]]]


def test_two_traces_are_aligned() -> None:
    one = switched("switch_on", "switch_off", "forget")
    other = switched("switch_on", "blow")
    (pair,) = content([one, other])["pairs"]
    assert pair == {"first": 0, "second": 1, "rows": [(0, 0), (1, None), (2, None), (None, 1)]}


@pytest.mark.long
def test_traces_of_different_protocols_are_not_compared(lost: Recording) -> None:
    assert content([lost, switched("blow")])["pairs"] == []


def test_a_loop_is_told() -> None:
    (data,) = content([switched("forget", "forget", violated="goes_on", loop=Loop(1, ("a",), ("b", "c")))])["traces"]
    assert data["loop"] == {"start": 1, "starved": ("a",), "unobliged": ("b", "c")}


def data_in(text: str) -> Any:
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(data)


def test_nothing_in_the_data_ends_its_element() -> None:
    evil = switched("forget", name="</script><img src=x onerror=alert(1)> & <!-- \u2028")
    text = page([evil])
    assert text.count("</script>") == 3
    assert "<img" not in text
    assert data_in(text)["traces"][0]["name"] == evil.name
    assert data_in(text)["traces"][0]["actions"][0]["doc"].endswith("</script><!--")


def test_a_title_is_escaped() -> None:
    dark = switched("blow", violated="dark")
    assert "<title>dark and 1 more, lamp: a trace in Fencepost</title>" in page([dark, dark])
    named = replace(dark, trace=replace(dark.trace, violated=None, protocol="<b>"))
    assert "<title>&lt;b&gt;, &lt;b&gt;" in page([named])
    assert is_text_in(page([replace(dark, name=NAME, trace=replace(dark.trace, violated=None, protocol=NAME))]))


def test_the_page_asks_for_nothing() -> None:
    text = page([switched("blow")])
    assert "default-src 'none'" in text
    addresses = set(re.findall(r"\b(?:https?|file|data):[^\s\"']+", text))
    assert addresses == {  # names, which nothing is asked for by
        "http://www.w3.org/2000/svg",
        "https://apalache-mc.org/docs/adr/015adr-trace.html",
    }
    assert not re.search(r"\b(src|href)=|@import|url\(|fetch\(|XMLHttpRequest", text)


def test_the_page_says_what_it_is_at() -> None:
    lamps, reports = [switched("blow"), switched("switch_on")], list[str]()
    assert page(lamps, reports.append) == page(lamps)
    assert reports == [
        *("judging trace 1 of 2", "judging trace 2 of 2"),
        *("compiling model 1 of 2", "compiling model 2 of 2"),
        "comparing traces 1 and 2 of 2",
    ]
