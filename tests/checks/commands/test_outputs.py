"""One run writes several documents, each as if it were the only one; what cannot be is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fencepost.checks.cli import main
from fencepost.checks.commands.check import jobs
from fencepost.checks.commands.check.formats import DOCUMENTS
from fencepost.checks.commands.check.outputs import shows_only_failures
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.questions import planning
from fencepost.properties.protocols import PROTOCOLS
from tests.command import fencepost, stable

ASKED = ("check", "election", "--set", "brokers=2", "--bug", "same_value", "--property", "node_of_another_is_kept", "--quiet")


def test_one_run_writes_every_document_as_a_run_for_it_alone(tmp_path: Path) -> None:
    files = {name: tmp_path / "made" / f"answer.{name}" for name in DOCUMENTS}
    run = fencepost(*ASKED, *(word for name, file in files.items() for word in (f"--{name}", file)))
    text = fencepost(*ASKED)
    assert run.returncode == text.returncode == 12
    written = [f"{name}: {file}" for name, file in files.items()]
    assert [line for line in stable(run.stdout).splitlines() if line not in written] == stable(text.stdout).splitlines()
    for name, file in files.items():
        assert file.read_text(encoding="utf-8") == fencepost(*ASKED, f"--{name}", "-").stdout


def test_a_refusal_is_in_every_document(tmp_path: Path) -> None:
    run = fencepost("check", "--conf", tmp_path / "absent", "--json", tmp_path / "a", "--markdown", tmp_path / "b")
    assert (run.returncode, run.stdout) == (150, "")
    assert json.loads((tmp_path / "a").read_text())["status"] == 150
    assert "there is no such file" in (tmp_path / "b").read_text()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert fencepost(*ASKED, "--markdown", pipe).returncode == 12
        assert os.read(reader, 1 << 16).startswith(b"### Fencepost: ")
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--json", "x", "--sarif", "x"), "--json and --sarif name the same file, x: give each a file of its own"),
        (("--json", "-", "--junit", "-"), "--json and --junit name the same file, -: give each a file of its own"),
        (("--json", "-", "--annotations"), "--annotations are lines among the text: give the document a file, not -"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], message: str) -> None:
    run = fencepost(*ASKED, *words)
    assert (run.returncode, run.stdout, run.stderr) == (2, "", f"fencepost: {message}\n")


def test_a_way_is_told_and_not_written(tmp_path: Path) -> None:
    run = fencepost("check", "--conf", "docs/examples/broker.conf", "--way", "1", "--sarif", tmp_path / "found.sarif")
    assert run.returncode == 2
    assert "--way prints one way as a story, and checks no more: leave out --sarif" in run.stderr


def test_a_folder_that_cannot_be_made_is_said_before_the_check(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = fencepost(*ASKED, "--sarif", tmp_path / "file" / "found.sarif")
    assert (run.returncode, run.stdout) == (153, "")
    assert run.stderr.startswith(f"fencepost: {tmp_path}/file")


@pytest.mark.parametrize(
    ("asked", "only"),
    [
        (CheckRequest(), True),
        (CheckRequest(all=True), False),
        (CheckRequest(protocols=("election",)), False),
        (CheckRequest(json=Path("-")), False),
        (CheckRequest(html=Path("page.html")), False),
        (CheckRequest(trace_dir=Path("traces")), False),
        (CheckRequest(conf=(Path("broker.conf"),)), False),
    ],
)
def test_a_line_for_each_protocol_shows_only_failures(asked: CheckRequest, only: bool) -> None:
    assert shows_only_failures(asked) is only


@pytest.mark.long
def test_what_is_not_shown_makes_no_difference_to_what_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(planning, "EVERYTHING", {name: PROTOCOLS[name] for name in ("election", "ownership")})
    printed = list[str]()
    for only in (True, False):
        monkeypatch.setattr(jobs, "shows_only_failures", lambda _, only=only: only)
        assert main(["check", "--quiet", "--workers", "2"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "5 refines, 17 violated as expected" in printed[0]
