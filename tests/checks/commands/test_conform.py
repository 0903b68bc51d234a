"""``fencepost conform``, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fencepost.checks.commands.conform import request as conform_request
from fencepost.checks.conformance.registry import TARGETS
from tests.checks.conformance.real import tools
from tests.command import ROOT, Ran, command, fencepost

pytestmark = pytest.mark.xdist_group("real bookkeeper")

ONE = ["--set", "entries=1"]


def conform(*arguments: str | Path) -> Ran:
    tools()
    return fencepost("conform", "ledger", "--quiet", *arguments)


def test_runs_that_agree() -> None:
    ran = conform("--runs", "10", *ONE)
    assert ran.returncode == 0, ran
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("ledger on bookkeeper 4.18.0, db storage: 10 runs, ")
    assert lines[1] == "  10 agree at every step"
    assert any(line.startswith("  not observed: sent, piggybacked_lac,") for line in lines)


def test_a_bug_is_shown_as_a_shrunk_run_that_other_commands_open(tmp_path: Path) -> None:
    ran = conform("--bug", "closes_at_lac", "--runs", "20", "--trace-dir", tmp_path)
    assert ran.returncode == 12, ran
    assert "the code differs after close_recovered(r0)" in ran.stdout
    assert "in the code: ReadOnlyLedgerHandle.closeRecovered" in ran.stdout
    assert "  status: model closed, code in_recovery" in ran.stdout
    file = next(iter(sorted(tmp_path.glob("ledger-differs-*.itf.json"))))
    assert f"trace: {file}" in ran.stdout
    assert fencepost("trace", "replay", file).returncode == 0
    again = conform("--trace", file)
    assert again.returncode == 12
    assert "the code differs after close_recovered(r0)" in again.stdout


def test_json_has_what_was_found() -> None:
    ran = conform("--bug", "ignores_fence", "--runs", "10", "--format", "json")
    document = json.loads(ran.stdout)
    assert (ran.returncode, document["exit_status"]) == (12, 12)
    assert (document["release"], document["storage"], document["target"]) == ("4.18.0", "db", "ledger")
    difference = document["differences"][0]
    assert difference["verdict"] == "departs"
    assert "fenced off" in difference["why"]
    assert difference["steps"][-1].startswith("add(")
    assert difference["bugs"] == ["ignores_fence"]


@pytest.mark.deep
def test_junit_has_a_failure_for_each_find() -> None:
    failing = ElementTree.fromstring(conform("--bug", "ignores_fence", "--runs", "10", "--format", "junit").stdout)
    assert int(failing.get("failures", "0")) == len(failing.findall(".//failure")) > 0
    passing = ElementTree.fromstring(conform("--runs", "3", *ONE, "--format", "junit").stdout)
    assert (passing.get("failures"), passing.get("errors"), passing.get("tests")) == ("0", "0", "1")


def test_a_known_difference_is_named_and_no_failure(tmp_path: Path) -> None:
    ran = conform("--set", "entries=1", "deletions=1", "--runs", "30", "--trace-dir", tmp_path)
    assert ran.returncode == 0, ran
    assert "known as L6: the code keeps the fence of a deleted ledger" in ran.stdout
    again = conform("--trace", next(iter(tmp_path.iterdir())))
    assert again.returncode == 0
    assert "known as L6" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["ledger", "--storage", "paper"], 2, "ledger has no storage 'paper'; it has db, sorted, interleaved"),
        (["ledger", "--set", "entries=0"], 2, "entries is at least 1"),
        (["ledger", "--trace", "no-such-file"], 150, "no-such-file: No such file or directory"),
    ],
)
def test_what_cannot_be_asked(arguments: list[str], status: int, message: str) -> None:
    ran = fencepost("conform", *arguments)
    assert ran.returncode == status
    assert message in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["election", "--storage", "db"], ["ledger", "--processes"]])
def test_an_option_that_means_nothing_for_a_target_is_refused(arguments: list[str]) -> None:
    ran = fencepost("conform", *arguments)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"fencepost: {arguments[1]} is for ")


def test_the_command_line_has_the_targets_that_there_are() -> None:
    only_for = conform_request.ONLY_FOR
    assert set(conform_request.TARGETS) == set(TARGETS)
    assert set(only_for["storage"]) == {name for name, target in TARGETS.items() if target.storages}
    assert set(only_for["processes"]) == {name for name, target in TARGETS.items() if target.processes}
    ran = fencepost("conform", "legder")
    assert ran.returncode == 2
    assert "there is no TARGET 'legder' (did you mean ledger?); fencepost conform --help lists them" in ran.stderr


def test_without_java_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    ran = fencepost("conform", "ledger")
    assert ran.returncode == 153
    assert ran.stderr == (
        "fencepost: conformance needs a JDK, and there is no javac: install a JDK 17 or newer and Maven "
        "(Debian, Ubuntu: apt install openjdk-17-jdk-headless maven), or set JAVA_HOME\n"
    )


def test_a_release_that_there_is_not_is_told_of() -> None:
    ran = conform("--release", "0.0.1")
    assert ran.returncode == 153
    assert ran.stderr.startswith("fencepost: Maven cannot fetch the jars of bookkeeper 0.0.1 (is there such a release?)")
    assert len(ran.stderr.splitlines()) == 1


def test_an_interrupt_keeps_what_was_found_and_ends_java(tmp_path: Path) -> None:
    tools()
    asked = command("conform", "ledger", "--runs", "1000000", *ONE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(asked, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if " runs, " in line:
                break
        run.send_signal(signal.SIGINT)
        printed, _ = run.communicate(timeout=60)
    assert run.returncode == 20
    assert "interrupted: the results up to that point are shown" in printed
    end = time.monotonic() + 60  # Java removes it as it ends
    while list(tmp_path.glob("fencepost-*")) and time.monotonic() < end:
        time.sleep(0.05)
    assert list(tmp_path.glob("fencepost-*")) == []
