"""A step of a topic at which its ledger takes a weak move is shown with a run of the ledger itself, really executed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.public_calls import explore
from fencepost.checks.questions.bugs.part_runs import PARTS, PartRun, runs_below
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases
from fencepost.model.stand_ins.ledger import stand_in
from fencepost.properties.ledger.refinement import ledger_refinement
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from fencepost.traces.files.itf import write
from fencepost.traces.replay import replay_on
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import show
from tests.command import fencepost
from tests.marking import first_at_once

TOPIC, CLUSTER = PROTOCOLS["topic"], PROTOCOLS["cluster"]
LATE = "close_error_ignored"


def test_the_run_of_a_dropped_copy_is_one_of_auto_recovery() -> None:
    bug = "target_is_a_member"
    suite = CLUSTER.suite(CLUSTER.build(CLUSTER.shown_by[bug], (bug,)))
    (verdict,) = explore(suite, properties=["acked_can_be_read"]).verdicts
    assert verdict.trace is not None
    ((number, run),) = runs_below(verdict.trace, suite.protocol).items()
    assert verdict.trace.steps[number - 1].action == "drop_copy"
    assert (run.move, run.bug, run.protocol.name) == ("dropped", bug, "replication")


@pytest.mark.parametrize(
    ("bug", "action", "move", "fault"),
    [
        ("start_missed", "migrate_without(b0)", "left_behind", "expire(b1)"),
        ("goes_on_unprepared", "migrate_past(b0)", "passed_over", "disconnect(b1, 0)"),
    ],
)
def test_how_a_broker_comes_to_go_on_with_a_former_store_is_a_run_of_ownership(
    bug: str, action: str, move: str, fault: str
) -> None:
    suite = CLUSTER.suite(CLUSTER.build(CLUSTER.shown_by[bug], (bug,)))
    (verdict,) = explore(suite, properties=["acked_is_in_log"]).verdicts
    assert verdict.trace is not None
    ((number, run),) = runs_below(verdict.trace, suite.protocol).items()
    assert verdict.trace.steps[number - 1].action == action
    assert (run.move, run.bug, run.protocol.name) == (move, bug, "ownership")
    steps = [step.action for step in run.trace.steps]
    assert steps.index(fault) < steps.index("start_migration") < steps.index("complete") == len(steps) - 1


def test_a_run_with_a_bug_of_a_bookie_is_not_explained_by_another_bug() -> None:
    """The part that a ledger is to a topic has no such bug: a run of it with another one would pass for this one's."""
    bug = "index_update_forgotten"
    suite = CLUSTER.suite(CLUSTER.build(CLUSTER.shown_by[bug], (bug,)))
    (verdict,) = explore(suite, properties=["acked_is_in_log"]).verdicts
    assert verdict.trace is not None
    assert runs_below(verdict.trace, suite.protocol) == {}


def violated(bug: str, name: str) -> tuple[Trace, Protocol]:
    suite = TOPIC.suite(TOPIC.build(TOPIC.shown_by[bug], (bug,)))
    (verdict,) = explore(suite, properties=[name]).verdicts
    assert verdict.trace is not None
    return verdict.trace, suite.protocol


def run_of(release: str) -> PartRun:
    ((number, run),) = runs_below(*violated(LATE, "acked_is_in_log"), Releases.of(bookkeeper=release)).items()
    trace, _ = violated(LATE, "acked_is_in_log")
    assert trace.steps[number - 1].action == "confirm(b0, l0, s0)"
    return run


@pytest.mark.parametrize("release", first_at_once(["4.17.3", "4.14.5"]))
def test_the_run_is_one_of_the_ledger_with_a_known_bug_of_the_release(release: str) -> None:
    run = run_of(release)
    assert (run.release, run.move) == (f"BookKeeper {release}", "confirm_late")
    assert release in PROTOCOLS["ledger"].bugs[run.bug].present
    assert "confirm_late" in (PROTOCOLS["ledger"].bugs[run.bug].allows)
    assert run.trace.bugs == (run.bug,)
    suite = Suite(run.protocol)
    ledger_refinement(suite, ["truncate"])
    outcome = replay_on(run.trace, run.protocol, suite)
    assert outcome.replays, outcome
    last = run.trace.states[-2:]
    refinement = suite.properties[0].refinement
    assert refinement is not None
    coarse = [v.name for v in stand_in(1).variables]
    before, after = (dict(zip(coarse, refinement.seen(state), strict=True)) for state in last)
    assert before["end"] <= before["confirmed"] < after["confirmed"]


def test_it_is_shown_at_its_step() -> None:
    trace, protocol = violated(LATE, "acked_is_in_log")
    lines = show(trace, protocol, below=runs_below(trace, protocol)).splitlines()
    place = next(n for n, line in enumerate(lines) if line.lstrip().startswith("9  b0"))
    assert lines[place + 1].startswith("        | an entry is confirmed beyond the end of the closed ledger; BookKeeper 4.")
    rest = lines[place + 1 :]
    ends = next(n for n, line in enumerate(rest) if not line.startswith("        | "))
    assert rest[ends].lstrip().startswith("10  b0")
    assert any("confirm(e0)" in line for line in rest[:ends])


def test_a_trace_without_a_weak_move_has_none() -> None:
    assert runs_below(*violated("terminated_reopened", "acked_is_in_log")) == {}


def test_a_release_without_such_a_bug_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    (ledger,) = PARTS["ledger"]
    bugs = {name: replace(each, allows=()) for name, each in ledger.entry.bugs.items()}
    monkeypatch.setitem(PARTS, "ledger", (replace(ledger, entry=replace(ledger.entry, bugs=bugs)),))
    assert runs_below(*violated(LATE, "acked_is_in_log")) == {}


IN_A_CLUSTER = {
    "fence_checked_apart": ("acked_is_in_log", "confirm_late", "confirm(e0)"),
    "failed_save_forgotten": ("acked_is_in_log", "confirm_late", "confirm(e0)"),
    "deletion_sent_again": ("one_takes_itself_for_the_owner", "deleted_while_owned", "release(b0, u0)"),
    "late_tombstones": ("one_takes_itself_for_the_owner", "taken_unowned", "open_topics(b0, u0)"),
}
"""Bugs of parts, what a cluster violates with each, its weak move in that run, and the last step of the part's own run."""


@pytest.mark.parametrize("bug", first_at_once(sorted(IN_A_CLUSTER, key="deletion_sent_again".__ne__)))
def test_a_step_of_a_cluster_is_explained_by_the_bug_that_it_is_about(bug: str) -> None:
    name, move, end = IN_A_CLUSTER[bug]
    suite = CLUSTER.suite(CLUSTER.build(CLUSTER.shown_by[bug], (bug,)))
    (verdict,) = explore(suite, properties=[name]).verdicts
    runs = runs_below(verdict.trace, suite.protocol).values()
    assert {run.bug for run in runs} == {bug}
    (run,) = [each for each in runs if each.move == move]
    assert run.trace.steps[-1].action == end
    assert run.trace.bugs == (bug,)


@pytest.mark.long
def test_trace_show_has_it_too(tmp_path: Path) -> None:
    trace, protocol = violated(LATE, "acked_is_in_log")
    file = tmp_path / "late.itf.json"
    write(trace, protocol, file)
    shown = fencepost("trace", "show", file)
    assert shown.returncode == 0
    assert "        | an entry is confirmed beyond the end of the closed ledger; BookKeeper 4." in shown.stdout
    assert "        | " not in fencepost("trace", "show", file, "--actor", "b0").stdout


@pytest.mark.long
def test_pages_have_it_too(tmp_path: Path) -> None:
    file, page, checked = tmp_path / "late.itf.json", tmp_path / "late.html", tmp_path / "checked.html"
    write(*violated(LATE, "acked_is_in_log"), file)
    assert fencepost("trace", "html", file).returncode == 0
    asked = ["check", "topic", "--bug", LATE, "--property", "acked_is_in_log", "--bookkeeper", "4.14.5"]
    assert fencepost(*asked, "--html", checked).returncode == 12
    for path, release in ((page, Releases.of().bookkeeper), (checked, "4.14.5")):
        (run,) = _below(path).values()
        assert run["title"].startswith(f"an entry is confirmed beyond the end of the closed ledger; BookKeeper {release}")
        assert run["steps"][-1]["label"] == "confirm(e0)"


def _below(page: Path) -> dict[str, Any]:
    """What the data of a page with one trace has below its steps."""
    match = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL)
    assert match is not None
    below: dict[str, Any] = json.loads(match[1])["traces"][0]["below"]
    return below
