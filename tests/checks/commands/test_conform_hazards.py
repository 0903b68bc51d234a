"""Which hazards of releases happen on their real code: what is committed of that, and how it comes about."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.commands.conform import hazard_rows
from fencepost.checks.commands.conform.hazard_rows import Rows
from fencepost.checks.commands.conform.hazards import in_file, replayed_hazards
from fencepost.checks.commands.conform.out_of_reach import OUT_OF_REACH
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
from fencepost.checks.conformance.running.adapter import Adapter
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.checks.reports.hazards_on_code import Replayed, as_json, read_json, table, text
from fencepost.model.history import History
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.conformance.real import tools
from tests.command import ROOT, fencepost
from tests.docs.tables import REPRODUCED, marked
from tests.docs.tables import table as docs_table

SEEN = Replayed(
    "ledger",
    "h",
    "bookkeeper",
    "4.18.0",
    True,
    "reproduced",
    property="fence_is_kept",
    steps=("crash(b0)", "restart(b0)"),
    end="fenced[b0] no",
)
GONE = replace(SEEN, release="4.17.3", present=False, verdict="gone", why="at step 1, crash(b0): it says no", end="")


def committed() -> list[Replayed]:
    return read_json(REPRODUCED.read_text(encoding="utf-8"))


def test_the_page_shows_what_was_seen() -> None:
    page = (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")
    assert marked(page)["hazards"] == docs_table("reproduced", "hazards")


def test_what_is_reproduced_is_a_hazard_of_that_release() -> None:
    records = committed()
    reproduced = [each for each in records if each.verdict == "reproduced"]
    assert reproduced
    assert all(each.steps and each.end and each.property for each in reproduced)
    assert all(each.present is (each.release in _history(each).present) for each in records)
    assert all(each.why for each in records if each.verdict != "reproduced")
    verdicts = {"reproduced", "gone", "seen elsewhere", "gone elsewhere", "not tried"}
    assert {each.verdict for each in records} <= verdicts


def test_what_is_seen_elsewhere_is_there() -> None:
    """By another target its row says so; a reproduction is of that bug and those releases; a test names the bug."""
    rows = {(each.target, each.hazard, each.release): each for each in committed()}
    for (target, hazard), reach in OUT_OF_REACH.items():
        assert bool(reach.place) is bool(reach.on), hazard
        assert set(reach.on) <= set(TARGETS[target].releases), hazard
        for release in reach.on:
            row = rows[target, hazard, release]
            assert (row.verdict, row.why) == reach.outcome(release, present=row.present)
            assert row.verdict == ("seen elsewhere" if row.present else "gone elsewhere")
            kind, name = re.match(r"by (?:the )?(target|)[^`]*`(?:fencepost reproduce )?([^`]+)`", reach.place).groups()
            if kind == "target":
                other = rows[name, hazard, release]
                assert other.verdict == ("reproduced" if row.present else "gone")
            elif name in REPRODUCTIONS:
                assert REPRODUCTIONS[name].mistake == hazard
                assert release in REPRODUCTIONS[name].releases
            else:
                assert hazard in (ROOT / name).read_text(encoding="utf-8")


def _history(each: Replayed) -> History:
    return PROTOCOLS[TARGETS[each.target].protocol].history[each.hazard]


def test_reports() -> None:
    assert read_json(as_json([SEEN, GONE])) == [SEEN, GONE]
    assert text([SEEN, GONE]).splitlines() == [
        "h on bookkeeper 4.18.0: reproduced",
        "  fence_is_kept is violated after 2 steps: fenced[b0] no",
        "h on bookkeeper 4.17.3: gone",
        "  at step 1, crash(b0): it says no",
        "1 reproduced, 1 gone",
    ]
    evidence = "`fence_is_kept` after crash(b0); restart(b0): fenced[b0] no. 4.17.3: at step 1, crash(b0): it says no"
    assert table([SEEN, GONE]).splitlines() == [
        "| ledger | BookKeeper 4.18.0 | BookKeeper 4.17.3 | seen |",
        "|---|---|---|---|",
        f"| `h` | **reproduced** | gone | {evidence} |",
    ]


def test_a_file_keeps_the_rows_of_other_targets(tmp_path: Path) -> None:
    file, before = tmp_path / "rows.json", [replace(SEEN, target=name) for name in ("election", "bookie")]
    assert in_file([GONE], file) == [GONE]
    file.write_text(as_json([SEEN, *before]), encoding="utf-8")
    order = [each.target for each in in_file([GONE], file)]
    assert order == [name for name in TARGETS if name in ("ledger", "election", "bookie")]
    assert GONE in in_file([GONE], file)
    assert SEEN not in in_file([GONE], file)


def test_a_target_that_there_is_not() -> None:
    ran = fencepost("conform", "hazards", "nothing")
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
    assert "there is no target 'nothing'; there are " in ran.stderr


def test_a_replay_that_was_broken_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "reproduced.json.rows"
    rows = Rows(file)
    rows.add(SEEN)
    rows.add(GONE)
    with file.open("a", encoding="utf-8") as to:
        to.write('{"target": "cut o')  # as the power went
    again = Rows(file)
    assert [len(again), again.get("ledger", "4.18.0", "h"), again.get("ledger", "4.17.3", "h")] == [2, SEEN, GONE]
    assert again.get("ledger", "4.17.2", "h") is None
    monkeypatch.setattr(hazard_rows, "_sources", lambda: "others")
    assert len(Rows(file)) == 0
    rows.remove()
    assert not file.exists()


def test_what_there_is_a_row_of_is_not_replayed_again() -> None:
    target = replace(TARGETS["metadata-store"], start=no_java)
    rows = Rows(None)
    names = [name for name, history in PROTOCOLS["metadata_store"].history.items() if history.present]
    for name in names:
        for release in target.releases:
            rows.add(replace(SEEN, target="metadata-store", hazard=name, release=release))
    assert [each.hazard for each in replayed_hazards([target], rows=rows)] == names * len(target.releases)
    with pytest.raises(NotImplementedError):
        list(replayed_hazards([target]))


def no_java(asked: Asked) -> Adapter:
    raise NotImplementedError(asked)


def is_of(target: Target, hazard: str) -> bool:
    """Whether what the target is held against can have the hazard at all."""
    entry = PROTOCOLS[target.protocol]
    return entry.history[hazard].fits(entry.build({**entry.shown_by[hazard], **target.settings}).parameters)


@pytest.mark.deep
def test_every_hazard_is_told_of() -> None:
    targets = {each.target for each in committed()}
    assert targets == set(TARGETS)
    wanted = Counter(
        (name, hazard, release)
        for name in targets
        for hazard, history in PROTOCOLS[TARGETS[name].protocol].history.items()
        if history.present and hazard in PROTOCOLS[TARGETS[name].protocol].shown_by and is_of(TARGETS[name], hazard)
        for release in TARGETS[name].releases
    )
    assert Counter((each.target, each.hazard, each.release) for each in committed()) == wanted


@pytest.mark.deep
@pytest.mark.xdist_group("real bookkeeper")
def test_it_is_seen_again() -> None:
    tools()
    targets = list(dict.fromkeys(each.target for each in committed()))
    ran = fencepost("conform", "hazards", *targets, "--format", "json", "--quiet")
    assert ran.returncode in (0, 12), ran
    assert json.loads(ran.stdout) == json.loads(REPRODUCED.read_text(encoding="utf-8"))
