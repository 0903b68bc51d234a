"""A refinement in every format: that the instance refines a coarser protocol, or the step that refuses it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.checks.reports.documents import as_annotations, as_junit, as_markdown
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.report import as_json, closing, text
from fencepost.checks.reports.sarif import as_sarif
from fencepost.model.language import Not, Protocol
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from fencepost.traces.drawings.sequence_svg import as_svg

NAME, REFUSAL = "is_a_lamp", "dim(0) is no step of lamp: there it is on yes -> no"


def lamp() -> Protocol:
    """A lamp that stays on once it is lit."""
    p = Protocol("lamp")
    on = p.flag("on")

    @p.step(by="hand")
    def light() -> Any:
        """It is lit."""
        return Not(on), {on: True}

    return p


def dimmer(*, bugs: Iterable[str] = ()) -> Protocol:
    """A dimmer, which keeps its light except with a bug."""
    p = Protocol("dimmer", bugs={"goes_out": "it goes out at the lowest level"}, active=bugs)
    level = p.number("level", 0, 2)

    @p.step(by="hand")
    def up() -> Any:
        """A level more."""
        return level < 2, {level: level + 1}

    @p.step(by="hand", n=range(1))
    def dim(n: int) -> Any:
        """A level less."""
        return level > (0 if p.has("goes_out") else 1), {level: level - 1}

    return p


def as_a_lamp(p: Protocol) -> Suite:
    suite = Suite(p)

    @suite.refines(lamp())
    def is_a_lamp() -> Any:
        """The dimmer is a lamp."""
        return {"on": p.state.level > 0}

    return suite


ENTRY = Entry(name="dimmer", summary="a dimmer", function=dimmer, suite=as_a_lamp, sizes={"ci": (Instance("small", {}),)})


def run(*bugs: str) -> list[Checked]:
    return [check(Task(ENTRY, Instance("small", {}), bugs, Approach(workers=1)))]


@pytest.fixture(scope="module")
def refining() -> list[Checked]:
    return run()


@pytest.fixture(scope="module")
def refused() -> list[Checked]:
    return run("goes_out")


def status(everything: list[Checked]) -> ExitStatus:
    return exit_status(v for checked in everything for v in checked.verdicts)


def test_text_has_the_coarser_protocol_or_the_refusal(refining: list[Checked], refused: list[Checked]) -> None:
    assert f"  refines      {NAME}: lamp (exhausted)\n" in text(refining[0])
    assert f"\n  {REFUSAL}\n    from on yes\n" in text(refused[0])
    assert closing(refining, status(refining)).startswith("1 reached, 1 refines: ")


def test_json_has_the_coarser_protocol_and_the_refusal(refining: list[Checked], refused: list[Checked]) -> None:
    for everything, refusal in ((refining, None), (refused, REFUSAL)):
        written = json.loads(as_json(FinishedRun(everything=everything)))["verdicts"]
        assert [(row["property"], row["refines"], row["refused"]) for row in written] == [
            (NAME, "lamp", refusal),
            (f"{NAME}_light", None, None),
        ]


def test_junit_says_what_is_refined_and_fails_with_the_refusal(refining: list[Checked], refused: list[Checked]) -> None:
    def case(everything: list[Checked]) -> Any:
        root = fromstring(as_junit(FinishedRun(everything=everything)).split("\n", 1)[1])
        (element,) = (c for c in root.iter("testcase") if c.get("name") == NAME)
        return element

    assert case(refining).findtext("system-out") == f"{NAME} refines lamp (exhausted) by exhaustive"
    assert case(refused).find("failure").get("message") == f"{NAME} is violated in 2 steps: {REFUSAL}"


def test_sarif_notes_what_is_refined_and_has_the_refusal_as_a_result(
    refining: list[Checked], refused: list[Checked], tmp_path: Path
) -> None:
    def sarif(everything: list[Checked]) -> Any:
        return json.loads(as_sarif(FinishedRun(notes=["a note"], everything=everything)))

    (sound,), (broken,) = sarif(refining)["runs"], sarif(refused)["runs"]
    noted = [note["message"]["text"] for note in sound["invocations"][0]["toolExecutionNotifications"]]
    assert noted == ["a note", f"{NAME} refines lamp (exhausted)"]
    assert [rule["properties"].get("refines") for rule in sound["tool"]["driver"]["rules"]] == ["lamp", None]
    assert sound["results"] == []
    (result,) = broken["results"]
    assert result["message"]["text"].startswith(f"{NAME} is violated in 2 steps: {REFUSAL}\n")
    assert [note["message"]["text"] for note in broken["invocations"][0]["toolExecutionNotifications"]] == ["a note"]


def test_markdown_and_annotations_have_the_refusal(refining: list[Checked], refused: list[Checked]) -> None:
    comment = as_markdown(FinishedRun(everything=refused))
    assert "is violated in 2 steps: dim(0) is no step of lamp: there it is on yes -&#62; no (`tests/" in comment
    assert REFUSAL.replace(":", "%3A").replace(",", "%2C") in as_annotations(FinishedRun(everything=refused))
    assert as_annotations(FinishedRun(everything=refining)) == ""


def test_the_page_of_the_run_has_the_refusal(refused: list[Checked]) -> None:
    (violated,) = (v for v in refused[0].verdicts if v.verdict == "violated")
    drawn = as_svg(violated.trace, refused[0].protocol, violated.property)
    assert REFUSAL.replace(">", "&gt;") in str(drawn)
