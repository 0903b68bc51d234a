"""A conversation with a JVM: it answers, and however it ends, nothing of it is left."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from fencepost.checks.conformance.bookkeeper.target import LEDGER, bookkeeper
from fencepost.checks.conformance.java_side.harness import Harness, harness
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.session import Session, SessionError
from fencepost.checks.conformance.java_side.toolchain import ToolchainError
from tests.checks.conformance.real import tools
from tests.command import ROOT

pytestmark = pytest.mark.xdist_group("real bookkeeper")


@pytest.fixture(scope="module")
def echo() -> Harness:
    return harness("echo", "fencepost.Echo", bookkeeper(LEDGER.releases[0]), tools=tools())


def is_gone(pid: int) -> bool:
    """Whether there is no such process, or only what a parent has not yet asked for."""
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True


def folders(tmp_path: Path) -> list[str]:
    return [path.name for path in tmp_path.iterdir() if path.name.startswith("fencepost-")]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.mark.smoke
def test_it_answers_and_leaves_nothing(echo: Harness, tmp_path: Path) -> None:
    with Session(echo, keep_log=True) as session:
        assert session.ask({"a": ["ä", 1]}) == {"echo": {"a": ["ä", 1]}}
        assert session.ask({"long": "x" * 200_000})["echo"]["long"] == "x" * 200_000
        assert len(session.log) == 2
        assert len(folders(tmp_path)) == 1
        pid = session.pid
    assert is_gone(pid)
    assert folders(tmp_path) == []


def test_a_folder_of_the_caller_stays(echo: Harness, tmp_path: Path) -> None:
    with Session(echo, folder=tmp_path / "own") as session:
        session.ask({"a": 1})
        assert folders(tmp_path) == []
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["stderr"]
    assert is_gone(session.pid)


def test_a_failure_of_the_harness_is_told_and_ends_it(echo: Harness, tmp_path: Path) -> None:
    session = Session(echo)
    with pytest.raises(SessionError, match=r"the harness failed: java\.lang\.IllegalStateException: broken"):
        session.ask({"fail": "broken"})
    assert is_gone(session.pid)
    assert folders(tmp_path) == []


def test_an_end_is_told_with_what_was_said_last(echo: Harness, tmp_path: Path) -> None:
    message = "ended with status 3; it said last: what a library prints"
    with Session(echo) as session, pytest.raises(SessionError, match=message):
        session.ask({"halt": 3})
    assert folders(tmp_path) == []


def test_who_does_not_answer_in_time_is_ended(echo: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.conformance.java_side.session.ENDING_SECONDS", 0.2)
    session = Session(echo, seconds=60)
    session.ask({})
    session.seconds = 0.2
    with pytest.raises(SessionError, match=r"does not answer within 0.2 s"):
        session.ask({"sleep": 60_000})
    assert is_gone(session.pid)
    assert folders(tmp_path) == []


def test_it_ends_when_we_are_killed(echo: Harness, tmp_path: Path) -> None:
    program = f"""
        import os
        from fencepost.checks.conformance.java_side.harness import Harness
        from fencepost.checks.conformance.java_side.session import Session
        session = Session(Harness({echo.command!r}))
        session.ask({{}})
        print(session.pid, flush=True)
        os.kill(os.getpid(), 9)
    """
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == -9, done.stderr
    end = time.monotonic() + 60
    while not is_gone(int(done.stdout)) and time.monotonic() < end:
        time.sleep(0.05)
    assert is_gone(int(done.stdout))
    assert folders(tmp_path) == []


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(SessionError, match="cannot be started"):
        Session(Harness(("no-such-java",)))


def test_a_harness_that_does_not_fit_is_told_with_the_first_complaint() -> None:
    none = Release("jsonless", "1", (Artifact("org.slf4j:slf4j-api:2.0.12"),))
    with pytest.raises(ToolchainError, match=r"the harness does not fit jsonless 1: .*error:"):
        harness("echo", "fencepost.Echo", none, tools=tools())
