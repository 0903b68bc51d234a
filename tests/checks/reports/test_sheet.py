"""The text of a check in short: a line for each protocol, what failed in full, each known bug once, and what is suspicious."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.checks.commands.check import run as check
from fencepost.checks.engines import plan
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict
from fencepost.checks.questions.answers import answering
from fencepost.checks.questions.baseline import Doubt
from fencepost.checks.questions.bugs.searching import known_bugs_of
from fencepost.checks.reports.in_short import failure_text, known_bugs
from fencepost.checks.reports.report_page import _known_bugs as page_of_known_bugs
from fencepost.model.language import Location
from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.vocabulary import Property
from tests.command import Ran, fencepost

ELECTION = PROTOCOLS["election"]
HERE = Location.of(fencepost)
BUGS = ("same_value", "closed_goes_on")
SMALL = Instance("small", {"brokers": 2, "disconnects": 0, "expiries": 1})


def _asked(monkeypatch: pytest.MonkeyPatch, instances: list[Instance], *arguments: str | Path) -> Ran:
    """A check of everything, which is these instances of the election and two known bugs of a release."""
    known = [bug for bug in known_bugs_of([ELECTION], Releases.of("4.2.4"), None, (), ()) if bug.name in BUGS]
    planned = [(ELECTION, instance) for instance in instances]
    bugs = known if "--pulsar" in arguments or "--conf" in arguments else []
    monkeypatch.setattr(check, "planned_with_bugs", lambda asked, settings, releases: (planned, bugs))
    for name in ("ledger_guarantees", "topic_guarantees", "bundle_guarantees"):
        monkeypatch.setattr(answering, name, lambda *_: [])
    return fencepost("check", "--quiet", *arguments)


def test_a_protocol_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    run = _asked(monkeypatch, [SMALL, SMALL])
    first, *_ = run.stdout.splitlines()
    assert first.startswith("election                2 instances: ")
    assert "leader_holds_the_node" not in run.stdout
    assert "leader_holds_the_node" in _asked(monkeypatch, [SMALL], "--all").stdout


def test_what_is_suspicious_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    doubt = Doubt("election", "small", Suspicion("never-changes", "node", "node never changed", HERE), strict=False)
    monkeypatch.setattr(check, "doubts", lambda everything, strict: [doubt])
    run = _asked(monkeypatch, [SMALL])
    *_, before, last = run.stdout.splitlines()
    assert last.endswith(", 1 suspicious: passed, with warnings (exit 0)")
    assert before == "suspicious: election, small: node never changed"


@pytest.mark.parametrize("option", ["--time-limit", "--budget"])
def test_what_is_not_settled_in_time_is_inconclusive_and_the_report_whole(monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    run = _asked(monkeypatch, [SMALL], "--pulsar", "4.2.4", option, "0.000001", "--json", "-")
    document = json.loads(run.stdout)
    assert run.returncode == 20
    assert {(row["verdict"], row["note"]) for row in document["verdicts"]} == {("inconclusive", "not checked: out of time")}
    names = {row["property"] for row in document["verdicts"]}
    assert names == {*BUGS, *(prop.name for prop in ELECTION.outline(SMALL.parameters).properties)}


def test_what_there_was_no_time_for_is_counted_by_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    run = _asked(monkeypatch, [SMALL], "--pulsar", "4.2.4", "--time-limit", "0.000001")
    count = len(ELECTION.outline(SMALL.parameters).properties)
    line, left, bugs, last = run.stdout.splitlines()
    assert line == f"election                1 instance: {count} inconclusive"
    assert left == "3 of 3 instances were not checked: out of time"
    assert bugs == "  not checked: out of time: same_value (election), closed_goes_on (election)"
    assert last.startswith(f"{count + 2} inconclusive: ")


def _checked(instance: Instance, *bugs: str) -> Checked:
    return plan.check(plan.Task(ELECTION, instance, bugs, plan.Approach(by="exhaustive")))


def test_what_failed_is_there_in_full_and_nothing_else() -> None:
    checked = _checked(Instance("shown", ELECTION.shown_by["same_value"]), "same_value")
    shown = failure_text(checked)
    broken = [verdict.property.name for verdict in checked.verdicts if verdict.failure != ExitStatus.HOLDS]
    held = [verdict.property.name for verdict in checked.verdicts if verdict.verdict == "exhausted"]
    assert broken
    assert all(name in shown for name in broken)
    assert not any(f" {name}," in shown or f" {name}\n" in shown for name in held)
    assert failure_text(_checked(SMALL)) == ""


@pytest.mark.long
def test_a_known_bug_is_a_row_with_what_avoids_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("managedLedgerDefaultEnsembleSize=2\n")
    run = _asked(monkeypatch, [SMALL], "--conf", conf)
    assert run.returncode == 14
    besides = f"Known bugs besides, which cause none of this: {len(BUGS)} (--all tells of each)"
    assert besides in " ".join(run.stdout.split())
    assert "in the code" not in run.stdout
    whole = _asked(monkeypatch, [SMALL], "--conf", conf, "--all").stdout
    assert whole.index("in the code") > whole.index("\nKnown bugs of Pulsar")


def test_the_page_counts_a_known_bug_once_and_says_what_is_accepted() -> None:
    checked = _checked(Instance("shown", ELECTION.shown_by["same_value"]), "same_value")

    def known(name: str, accepted: str | None = None) -> Checked:
        prop = Property(name, "known bug", None, "what it does", HERE)
        verdict = Verdict(prop, "known bug", "exhaustive", bug=ELECTION.bugs["same_value"], accepted=accepted)
        return replace(checked, verdicts=(verdict,))

    opening: Any = SimpleNamespace(met_bugs={})
    several = [known("a"), known("a"), known("b", accepted="we live with it")]
    heading = "<h2>2 known bugs of the release, 1 accepted, each in every protocol that has it</h2>"
    assert heading in page_of_known_bugs(opening, several)
    assert "<h2>1 known bug of the release</h2>" in page_of_known_bugs(opening, several[:1])


def test_a_known_bug_by_which_a_situation_cannot_come_about_has_no_run() -> None:
    checked = _checked(Instance("shown", ELECTION.shown_by["same_value"]), "same_value")
    prop = Property("same_value", "known bug", None, "two brokers propose the same value", HERE)
    verdict = Verdict(prop, "known bug", "exhaustive", bug=ELECTION.bugs["same_value"])
    lines = known_bugs([replace(checked, verdicts=(verdict,))], 120)
    assert lines[0].split() == ["known", "bug", "needs", "costs", "ends", "with"]
    assert lines[2].startswith("  same_value                nothing else ")
