"""``fencepost lemmas``: what it prints and writes, and with which status it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.command import ROOT, fencepost

OWNERSHIP = ("lemmas", "ownership", "--property", "single_owner", "--quiet", "--workers", "1")


@pytest.mark.long
def test_what_is_found_is_printed_and_written(tmp_path: Path) -> None:
    out = tmp_path / "found.py"
    ran = fencepost(*OWNERSHIP, "--out", out)
    assert ran.returncode == 0, ran.stderr
    assert "1 lemma proves single_owner" in ran.stdout
    assert "def found_lemmas(suite: Suite) -> None:" in ran.stdout
    compile(out.read_text(encoding="utf-8"), str(out), "exec")
    assert "# 1 lemma proves single_owner" in out.read_text(encoding="utf-8")


@pytest.mark.deep
def test_a_document_has_the_same() -> None:
    document = json.loads(fencepost(*OWNERSHIP, "--format", "json").stdout)
    (instance,) = document["instances"]
    assert document["format"] == 1
    assert (instance["proved"], instance["reached"], instance["lemmas"], instance["all_states"]) == (True, False, 1, True)
    assert instance["python"] in fencepost(*OWNERSHIP).stdout
    assert set(instance) | {stage for one in instance["stages"] for stage in one} == _documented()


def _documented() -> set[str]:
    """The fields that the reference has of such an object, and of its stages."""
    (section,) = re.findall(r"^## Lemmas\n(.*?)(?=^## |\Z)", (ROOT / "docs/reference/json.md").read_text("utf-8"), re.M | re.S)
    cells = re.findall(r"^\| (`[^|]*) \|", section, re.M)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.long
def test_what_can_fail_ends_as_check_does() -> None:
    ran = fencepost(*OWNERSHIP, "--bug", "lost_lock_served", "--set", "releases=1")
    assert ran.returncode == 12
    assert "it fails in a state that can be reached; `fencepost check" in ran.stdout


@pytest.mark.long
def test_what_is_not_found_is_inconclusive() -> None:
    ran = fencepost(*OWNERSHIP, "--literals", "1")
    assert ran.returncode == 20
    assert "single_owner is not proved" in ran.stdout
    ran = fencepost(*OWNERSHIP, "--budget", "0.001")
    assert ran.returncode == 20
    assert "single_owner is not proved: stopped" in ran.stdout


def test_mistakes_are_one_line() -> None:
    ran = fencepost("lemmas", "ownership", "--property", "single_ower")
    assert ran.returncode == 2
    assert ran.stderr.startswith("fencepost: ownership: single_ower is none of its properties; lemmas can be looked for of")
    ran = fencepost("lemmas", "ring", "--property", "any")
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
