"""What ``make`` does without being told more: it answers, and ends with 0 where a known bug is the answer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command import ROOT


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A fencepost that prints its arguments and ends with a status."""
    program = tmp_path / "fencepost"
    program.write_text('#!/bin/sh\necho "$@"\nexit ${STATUS:-0}\n')
    program.chmod(0o755)
    return tmp_path


def made(programs: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    command = ["make", "check", f"BIN={programs}", "--old-file=.venv/installed", *words]
    environment = {"STATUS": str(status), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_without_arguments_it_checks_a_configuration_that_is_here(programs: Path) -> None:
    printed = made(programs).stdout.split()
    assert printed[:2] == ["check", "--conf"]
    assert (ROOT / printed[2]).is_file()
    assert made(programs, "ARGS=ledger --quiet").stdout == "check ledger --quiet\n"


@pytest.mark.parametrize(("status", "ends"), [(0, 0), (14, 0), (12, 2), (150, 2)])
def test_a_known_bug_is_an_answer_and_no_failure(programs: Path, status: int, ends: int) -> None:
    ran = made(programs, status=status)
    assert ran.returncode == ends
    assert (f"Error {status}" in ran.stderr) == (ends != 0)
