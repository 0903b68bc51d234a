"""What makes success suspicious: how it is found, how each format tells it, and that ``--strict`` makes it fail."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from fencepost.checks.cli import main
from fencepost.checks.engines.induction.necessity import unneeded
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions import baseline as doubts_module
from fencepost.checks.questions.baseline import Doubt, doubts
from fencepost.checks.reports.documents import as_annotations, as_junit
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.in_short import suspicious_in_short
from fencepost.checks.reports.sarif import as_sarif
from fencepost.model.language import And, Implies, Location, Not, Or, Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.vocabulary import Suite


def clock(*, hours: int = 3, bugs: Iterable[str] = ()) -> Protocol:
    """A clock that strikes, and an alarm that nobody has set."""
    p = Protocol("clock", parameters={"hours": hours})
    hour = p.number("hour", 0, hours - 1)
    struck = p.flag("struck")
    alarm = p.flag("alarm")
    rings = p.flag("rings")
    quiet = p.flag("quiet")

    @p.step(by="clock")
    def tick() -> Any:
        """An hour passes."""
        return hour < hours - 1, {hour: hour + 1, struck: True, quiet: False}

    @p.step(by="clock")
    def ring() -> Any:
        """The alarm goes off."""
        return And(alarm, hour > 0), {rings: True}

    @p.step(by="clock")
    def chime() -> Any:
        """It chimes, and would set the alarm off at midnight."""
        return struck, {rings: hour == 0}

    return p


def clock_suite(p: Protocol) -> Suite:
    s = p.state
    suite = Suite(p)

    @suite.always
    def alarms_are_heard() -> Any:
        """When the alarm is set it is early."""
        return Implies(s.alarm, s.hour < 1)

    @suite.always
    def strikes() -> Any:
        """After the first hour it has struck."""
        return Implies(s.hour > 0, s.struck)

    @suite.ends
    def no_deadlock() -> Any:
        """The day ends in the last hour."""
        return s.hour == p.parameters["hours"] - 1

    @suite.lemma
    def strikes_first() -> Any:
        """After the first hour it has struck."""
        return Implies(s.hour > 0, s.struck)

    @suite.lemma
    def nobody_sets_it() -> Any:
        """The alarm is not set."""
        return Not(s.alarm)

    @suite.lemma
    def nobody_sleeps() -> Any:
        """It is never quiet."""
        return Not(s.quiet)

    return suite


CLOCK = Entry(
    name="clock",
    summary="a clock",
    function=clock,
    suite=clock_suite,
    sizes={"ci": (Instance("short", {}), Instance("long", {"hours": 5}))},
)
TOLD = [
    ("short", "never-enabled", "ring"),
    ("short", "never-changes", "rings"),
    ("short", "never-met", "alarms_are_heard"),
    ("long", "never-enabled", "ring"),
    ("long", "never-changes", "rings"),
    ("long", "never-met", "alarms_are_heard"),
]
RULES = ["suspicious/never-enabled", "suspicious/never-changes", "suspicious/never-met"]


def checked(entry: Entry = CLOCK, **options: Any) -> list[Checked]:
    chosen = Approach(workers=1, **options)
    return [check(Task(entry, instance, (), chosen)) for instance in entry.sizes["ci"]]


def kinds(reports: Iterable[Doubt]) -> list[tuple[str, str, str]]:
    return [(doubt.instance, doubt.suspicion.kind, doubt.suspicion.subject) for doubt in reports]


def test_actions_premises_and_variables_are_told() -> None:
    assert kinds(doubts(checked(), strict=False)) == TOLD


def with_reason(p: Protocol) -> Suite:
    suite = clock_suite(p)

    @suite.lemma
    def strikes_later() -> Any:
        """It has not struck in the first hour."""
        return Implies(p.state.struck, p.state.hour > 0)

    return suite


def test_a_lemma_may_say_why_a_variable_never_changes() -> None:
    explained = doubts(checked(replace(CLOCK, suite=with_reason)), strict=False)
    assert kinds(explained) == [row for row in TOLD if row[1] != "never-changes"]


def test_a_lemma_that_no_proof_needs_is_told_once() -> None:
    by_proof = checked(by="induction", strict=True)
    assert [[lemma.name for lemma in c.unneeded or ()] for c in by_proof] == [["nobody_sleeps"], ["nobody_sleeps"]]
    assert kinds(doubts(by_proof, strict=False))[-1] == ("", "never-needed", "nobody_sleeps")


def test_the_lemmas_of_a_proof_that_is_cut_short_are_not_told() -> None:
    assert unneeded(clock_suite(clock()), should_stop=lambda: True) is None


def test_the_lemmas_that_are_needed_prove_it_alone() -> None:
    suite = clock_suite(clock())
    suite.lemmas[:] = [lemma for lemma in suite.lemmas if lemma not in (unneeded(suite) or ())]
    assert [lemma.name for lemma in suite.lemmas] == ["strikes_first", "nobody_sets_it"]
    assert unneeded(suite) == ()


def test_a_property_that_no_mutant_violates_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts_module, "idle_properties", lambda name: {"strikes"} if name == "clock" else set())
    assert kinds(doubts(checked(), strict=False))[-1] == ("", "never-broken", "strikes")


def with_empty_words(p: Protocol) -> Suite:
    suite = clock_suite(p)
    s = p.state

    @suite.always
    def is_a_time() -> Any:
        """It is some hour: its domain says so."""
        return And(s.hour >= 0, s.hour < p.parameters["hours"])

    @suite.step
    def goes_or_stands() -> Any:
        """It goes on, or it does not."""
        return Or(p.next.hour > s.hour, p.next.hour <= s.hour)

    @suite.always
    def of_alarms_and_hours() -> Any:
        """Two rules in one: the second is about something that never happens."""
        return And(Implies(s.hour > 0, s.struck), Implies(s.alarm, s.hour < 1))

    @suite.always
    def of_alarms_and_more() -> Any:
        """A rule of what never happens, and beside it what always holds."""
        return And(Implies(s.alarm, s.hour < 1), Not(s.alarm))

    return suite


@pytest.mark.parametrize("by", ["exhaustive", "induction"])
def test_a_property_that_says_nothing_is_told(by: str) -> None:
    reports = doubts(checked(replace(CLOCK, suite=with_empty_words), by=by), strict=False)
    subjects = {subject for instance, kind, subject in kinds(reports) if kind == "says-nothing"}
    assert subjects == {"is_a_time", "goes_or_stands"}


def test_a_premise_among_several_that_is_never_met_is_told() -> None:
    lines = [str(doubt) for doubt in doubts(checked(replace(CLOCK, suite=with_empty_words)), strict=False)]
    assert "clock, short: premise 2 of 2 of of_alarms_and_hours was never met" in lines
    assert "clock, short: premise 1 of 1 of of_alarms_and_more was never met" in lines
    assert not [line for line in lines if "premise 1 of 2" in line]


def each_has_its_own(p: Protocol) -> Suite:
    suite = clock_suite(p)

    @suite.always
    def each_hour() -> Any:
        """What is said of each hour, of which the last never comes."""
        return And(*(Implies(And(p.state.hour == h, Not(p.state.quiet)), p.state.hour < 99) for h in range(9)))

    return suite


def test_premises_that_one_line_makes_are_asked_for_together() -> None:
    entry = replace(CLOCK, suite=each_has_its_own)
    assert kinds(d for d in doubts(checked(entry), strict=False) if d.suspicion.kind == "never-met") == [
        ("short", "never-met", "alarms_are_heard"),
        ("long", "never-met", "alarms_are_heard"),
    ]


def test_every_format_tells_it() -> None:
    for strict in (False, True):
        reports = doubts(checked(), strict=strict)
        run = FinishedRun(everything=checked(), suspicious=reports)
        assert run.status == (ExitStatus.ASSUMPTION if strict else ExitStatus.HOLDS)
        junit = fromstring(as_junit(run))
        cases = junit.findall(".//testsuite[@name='suspicions']/testcase")
        assert [case.get("classname") for case in cases] == [f"suspicious.{kind}" for _, kind, _ in TOLD]
        assert junit.get("failures") == ("6" if strict else "0")
        sarif = json.loads(as_sarif(run))["runs"][0]
        rules = [rule["id"] for rule in sarif["tool"]["driver"]["rules"]]
        assert [name for name in rules if name.startswith("suspicious/")] == RULES
        assert {result["level"] for result in sarif["results"]} == {"error" if strict else "warning"}
        assert [rules[result["ruleIndex"]] for result in sarif["results"]] == RULES * 2
        lines = as_annotations(run).splitlines()
        assert [line.split()[0] for line in lines] == ["::error" if strict else "::warning"] * 6


LONELY = ["check", "election", "--set", "brokers=1", "--quiet", "--workers", "1"]


def test_strict_makes_it_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(LONELY) == 0
    output = capsys.readouterr().out
    assert "\n  suspicious: action find_other was never enabled\n" in output
    doubtful = "passed, with warnings (exit 0)"
    assert output.splitlines()[-1] == f"16 exhausted, 1 reached, 4 suspicious: {doubtful}"
    assert main([*LONELY, "--strict"]) == 10
    last = "17 verdicts, 4 suspicious: an assumption of the model does not hold (exit 10)"
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LONELY, "--strict", "--json", "-"]) == 10
    assert json.loads(capsys.readouterr().out)["suspicions"][0] == {
        "protocol": "election",
        "instance": "as set",
        "kind": "never-enabled",
        "subject": "find_other",
        "text": "action find_other was never enabled",
    }


@pytest.mark.deep
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_stock_instances_have_no_suspicion(name: str) -> None:
    assert doubts(checked(PROTOCOLS[name]), strict=True) == []


def test_what_is_said_of_several_instances_is_one_line_on_the_second_screen() -> None:
    location = Location(__file__, 1)
    again = Suspicion("never-met", "shut", "premise 1 of 1 of shut was never met", location)
    other = Suspicion("never-met", "ajar", "premise 1 of 1 of ajar was never met", location)
    doubts = [Doubt("door", "small", again, strict=False), Doubt("door", "large", again, strict=False)]
    assert suspicious_in_short([*doubts, Doubt("door", "small", other, strict=False)]) == [
        "suspicious: door (2): premise 1 of 1 of shut was never met",
        "suspicious: door, small: premise 1 of 1 of ajar was never met",
    ]
