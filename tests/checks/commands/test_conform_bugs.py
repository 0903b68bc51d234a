"""Which bugs of releases happen on their real code: what is committed of that, and how it comes about."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.commands.conform import bugs as command
from fencepost.checks.commands.conform.bugs import record
from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
from fencepost.checks.conformance.targets import Target
from fencepost.checks.reports.bugs_on_code import Replayed, as_json, as_row, read_row, replayed, text
from fencepost.model.language import Protocol
from fencepost.properties.bug_files import bugs_in
from fencepost.properties.bugs import Bug, OutOfReach
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from tests.checks.conformance.real import tools
from tests.checks.conformance.running import toy
from tests.command import ROOT, fencepost
from tests.docs.tables import on_code

SEEN = Replayed(
    "ledger",
    "h",
    "4.18.0",
    "reproduced",
    property="fence_is_kept",
    steps=("crash(b0)", "restart(b0)"),
    end="fenced[b0] no",
)
GONE = replace(SEEN, release="4.17.3", verdict="gone", why="at step 1, crash(b0): it says no", end="")


def committed() -> list[Replayed]:
    return [row for target in TARGETS.values() for row in replayed(target.protocol)]


def test_what_is_reproduced_is_a_bug_of_that_release() -> None:
    records = committed()
    reproduced = [each for each in records if each.verdict == "reproduced"]
    assert reproduced
    assert all(each.steps and each.end and each.property for each in reproduced)
    assert all(each.release in _bug(each).present for each in reproduced)
    assert all(each.release not in _bug(each).present for each in records if each.verdict.startswith("gone"))
    assert all(each.why for each in records if each.verdict != "reproduced")
    verdicts = {"reproduced", "gone", "seen elsewhere", "gone elsewhere", "not tried"}
    assert {each.verdict for each in records} <= verdicts


def test_what_is_seen_elsewhere_is_there() -> None:
    """By another target its row says so; a reproduction is of that bug and those releases; a test names the bug."""
    rows = {(each.target, each.bug, each.release): each for each in committed()}
    known = [(target.name, *each) for target in TARGETS.values() for each in PROTOCOLS[target.protocol].bugs.items()]
    for target, name, bug in known:
        reach = bug.out_of_reach or OutOfReach("")
        assert bool(reach.by) is bool(reach.on), name
        assert set(reach.on) <= set(TARGETS[target].releases), name
        for release in reach.on:
            row, present = rows[target, name, release], release in bug.present
            assert (row.verdict, row.why) == reach.outcome(release, present=present)
            assert row.verdict == ("seen elsewhere" if present else "gone elsewhere")
            kind, place = re.match(r"by (?:the )?(target|)[^`]*`(?:fencepost reproduce )?([^`]+)`", reach.by).groups()
            if kind == "target":
                other = rows[place, name, release]
                assert other.verdict == ("reproduced" if present else "gone")
            elif place in REPRODUCTIONS:
                assert bug.reproduced_by == place
                assert release in REPRODUCTIONS[place].releases
            else:
                assert name in (ROOT / place).read_text(encoding="utf-8")


def _bug(each: Replayed) -> Bug:
    return PROTOCOLS[TARGETS[each.target].protocol].bugs[each.bug]


def test_reports() -> None:
    assert [read_row("ledger", as_row(each, "2026-01-31")) for each in (SEEN, GONE)] == [SEEN, GONE]
    assert [each["verdict"] for each in json.loads(as_json([SEEN, GONE]))["bugs"]] == ["reproduced", "gone"]
    assert text([SEEN, GONE]).splitlines() == [
        "h on bookkeeper 4.18.0: reproduced",
        "  fence_is_kept is violated after 2 steps: fenced[b0] no",
        "h on bookkeeper 4.17.3: gone",
        "  at step 1, crash(b0): it says no",
        "1 reproduced, 1 gone",
    ]
    evidence = "`fence_is_kept` after crash(b0); restart(b0): fenced[b0] no. 4.17.3: at step 1, crash(b0): it says no"
    assert on_code([SEEN, GONE]).splitlines() == [
        "| bug | BookKeeper 4.18.0 | BookKeeper 4.17.3 | seen |",
        "|---|---|---|---|",
        f"| `h` | **reproduced** | gone | {evidence} |",
    ]


def test_a_replay_is_recorded_in_the_place_of_the_one_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, (first, second, *_) = TARGETS["ledger"], PROTOCOLS["ledger"].bugs
    file = tmp_path / "rows"
    monkeypatch.setattr(command, "rows_of", lambda protocol: file)
    for bug, release in ((second, "4.18.0"), (first, "4.18.0"), (first, "4.17.3"), ("no bug any more", "4.17.3")):
        if bug in PROTOCOLS["ledger"].bugs:
            record(target, replace(GONE, bug=bug, release=release))
        else:
            file.write_text(as_row(replace(GONE, bug=bug), "2026-01-31") + file.read_text(encoding="utf-8"), encoding="utf-8")
    record(target, replace(SEEN, bug=second))
    rows = [read_row("ledger", line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(row.bug, row.release) for row in rows] == [(first, "4.17.3"), (first, "4.18.0"), (second, "4.18.0")]
    assert rows[-1] == replace(SEEN, bug=second)


OF_BOXES = """
project = "bookkeeper"

[counts_twice]
releases = "4.17.3, not 4.18.0"
costs = "the postman comes twice"
shown_by = { boxes = 1 }
"""


def empties(p: Protocol) -> Suite:
    suite = Suite(p)

    @suite.always
    def counted_once() -> object:
        """Three letters empty a box once."""
        return p.state.emptied[0] <= 1

    return suite


def test_a_bug_that_is_added_from_outside_is_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bugs.toml").write_text(OF_BOXES, encoding="utf-8")
    bugs = bugs_in(tmp_path / "bugs.toml", toy.mailbox)
    entry = Entry(
        name="mailbox",
        summary="a toy",
        function=toy.mailbox,
        suite=empties,
        sizes={"ci": (Instance("usual", {}),)},
        bugs=bugs,
    )
    monkeypatch.setattr(command, "PROTOCOLS", {"mailbox": entry})
    wrong = {"4.17.3": "counts twice", "4.18.0": ""}
    target = Target("mailbox", "mailbox", "bookkeeper", tuple(wrong), lambda asked: toy.Boxes(wrong[asked.release]), ())
    replays = list(command.replayed_bugs([target]))
    assert [(each.release, each.verdict) for each in replays] == [("4.17.3", "reproduced"), ("4.18.0", "gone")]
    reproduced, gone = replays
    assert (reproduced.property, reproduced.steps) == ("counted_once", ("put(b0)", "put(b0)", "empty(b0)"))
    assert gone.why == "at step 3, empty(b0): emptied[b0]: model 2, code 1"
    assert "| `counts_twice` | **reproduced** | gone | `counted_once` after put(b0)" in on_code(replays)


def test_a_run_is_none_of_a_protocol_that_takes_a_step_of_its_own_meanwhile() -> None:
    """A full box is emptied by itself: a run that passes that over tells this protocol apart from one that does not."""
    run = ["put(b0)", "put(b0)", "empty(b0)"]
    seen = command._observed(toy.mailbox(boxes=1), run, toy.Boxes())
    assert seen is not None
    assert len(seen) == 2
    assert command._observed(toy.mailbox(boxes=1), run[:2], toy.Boxes()) is None


def test_a_target_that_there_is_not() -> None:
    ran = fencepost("conform", "bugs", "nothing")
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
    assert "there is no target 'nothing'; there are " in ran.stderr
    assert "there is no target 'ledgr' (did you mean ledger?)" in fencepost("conform", "bugs", "ledgr").stderr


def is_of(target: Target, bug: str) -> bool:
    """Whether what the target is held against can have the bug at all."""
    entry = PROTOCOLS[target.protocol]
    return entry.can_have(bug, {**entry.bugs[bug].shown_by, **target.settings})


@pytest.mark.deep
def test_every_bug_is_told_of() -> None:
    targets = {each.target for each in committed()}
    assert targets == set(TARGETS)
    wanted = Counter(
        (target.name, name, release)
        for target in TARGETS.values()
        for name, bug in PROTOCOLS[target.protocol].bugs.items()
        if bug.present and is_of(target, name)
        for release in target.releases
    )
    rows = Counter((each.target, each.bug, each.release) for each in committed())
    beyond = {row: number for row, number in (rows - wanted).items() if row[2] not in TARGETS[row[0]].releases}
    assert rows - Counter(beyond) == wanted, "of the releases that a target is tried with each bug has one row"
    assert set(beyond.values()) <= {1}, "another release was replayed once"


@pytest.mark.deep
@pytest.mark.xdist_group("real bookkeeper")
def test_it_is_seen_again() -> None:
    tools()
    targets = list(dict.fromkeys(each.target for each in committed()))
    ran = fencepost("conform", "bugs", *targets, "--format", "json", "--quiet")
    assert ran.returncode in (0, 12), ran
    rows = json.loads(ran.stdout)["bugs"]
    usual = [each for each in committed() if each.release in TARGETS[each.target].releases]
    assert sorted(map(str, rows)) == sorted(str(json.loads(as_json([each]))["bugs"][0]) for each in usual)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ledger --bug fence_checked_aprt", "no target has a bug 'fence_checked_aprt' (did you mean fence_checked_apart?)"),
        ("election --bug fence_checked_apart", "no target has a bug 'fence_checked_apart'"),
        ("--bug fence_checked_apart --release 4.2.4", "4.2.4 is no modelled release of bookkeeper; there are 4.14.5, "),
        ("ledger --record --classes build", "--record keeps what releases do: leave --jars and --classes out"),
    ],
)
def test_a_bug_or_a_release_that_there_is_not_is_wrong_usage(arguments: str, message: str) -> None:
    ran = fencepost("conform", "bugs", *arguments.split())
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.java
def test_one_bug_on_one_release() -> None:
    tools()
    ran = fencepost("conform", "bugs", "ledger", "--bug", "fence_checked_apart", "--release", "4.17.3", "--quiet")
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (0, "fence_checked_apart on bookkeeper 4.17.3: reproduced")
    assert ran.stdout.splitlines()[-1] == "1 reproduced"


def test_replays_before_the_harness_failed_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def replays(*_: object) -> Iterator[Replayed]:
        yield SEEN
        raise SessionError("the harness ended with status 137")

    monkeypatch.setattr(command, "toolchain", lambda: None)
    monkeypatch.setattr(command, "replayed_bugs", replays)
    ran = fencepost("conform", "bugs", "ledger", "--quiet")
    assert (ran.returncode, ran.stderr) == (153, "fencepost: the harness ended with status 137\n")
    assert "1 reproduced" in ran.stdout
