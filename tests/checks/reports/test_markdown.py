"""A check in Markdown: what a comment on a pull request says, and that it says nothing where nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.questions.guarantees.ledgers import ledger_guarantees
from fencepost.checks.reports.documents import as_markdown, plain
from fencepost.checks.reports.finished import FinishedRun
from tests.checks.reports.test_ci_formats import run
from tests.command import fencepost

SAFE = "managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\nmanagedLedgerDefaultAckQuorum=2\n"


def test_what_failed_is_a_line_with_its_place() -> None:
    text = as_markdown(FinishedRun(everything=run("fast")))
    heading, _, failure = text.splitlines()[:3]
    assert heading == "### Fencepost: 3 verdicts, 1 inconclusive, 1 violated: a safety property is violated (exit 12)"
    assert failure.startswith("- in&#95;time is violated in 2 steps (`tests/checks/reports/test_ci_formats.py:")


def test_a_run_without_a_failure_is_one_line() -> None:
    only = "### Fencepost: 2 exhausted, 1 violated as expected: everything holds (exit 0)\n"
    assert as_markdown(FinishedRun(everything=run())) == only


def test_nothing_of_a_text_is_interpreted() -> None:
    assert plain("a|b <i> `c` [d]") == "a&#124;b &#60;i&#62; &#96;c&#96; &#91;d&#93;"


@pytest.mark.long
def test_a_comparison_shows_the_rows_that_changed_and_nothing_where_none_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = "fencepost.checks.questions.answers.answering."
    monkeypatch.setattr(f"{asking}ledger_guarantees", lambda *args: [g for g in ledger_guarantees(*args) if g.name == "disks"])
    monkeypatch.setattr(f"{asking}bundle_guarantees", lambda *_: [])
    base, head = tmp_path / "base.conf", tmp_path / "head.conf"
    base.write_text(SAFE)
    head.write_text(SAFE.replace("AckQuorum=2", "AckQuorum=1"))
    changed = fencepost("check", "--quiet", "--conf", head, "--against", base, "--markdown", "-")
    assert changed.returncode == 15
    (row,) = [line for line in changed.stdout.splitlines() if line.startswith("| `")]
    assert row.startswith("| `disks` | 1 | 0 | an acknowledged entry can be lost with one disk; **weaker**, ")
    assert row.endswith("raise it with managedLedgerDefaultAckQuorum=2 |")
    same = fencepost("check", "--quiet", "--conf", base, "--against", base, "--markdown", "-")
    assert (same.returncode, same.stdout) == (0, "")
