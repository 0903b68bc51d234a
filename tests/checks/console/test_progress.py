"""Progress: when a line is told, on a terminal and in a pipe."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.checks.console.progress import SILENT_SECONDS, Reporter
from fencepost.model.kernel.search.results import Progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def times(monkeypatch: pytest.MonkeyPatch, stream: StringIO, subjects: tuple[int, ...] = (), quiet: bool = False) -> list[int]:
    """The seconds of a minute at which a line is written; further subjects begin at some of them."""
    now = 100
    monkeypatch.setattr("fencepost.checks.console.progress.time", SimpleNamespace(monotonic=lambda: now))
    reporter = Reporter(quiet=quiet, stream=stream)
    seconds: list[int] = []
    for second in range(60):
        now = 100 + second
        if second in subjects:
            reporter.begin("the next")
        before = stream.tell()
        reporter.telling("on its way")
        if stream.tell() > before:
            seconds.append(second)
    return seconds


def test_in_a_pipe_the_first_line_comes_after_two_seconds_and_then_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = StringIO()
    assert times(monkeypatch, piped) == [2, 17, 32, 47]
    assert piped.getvalue() == "# : on its way\n" * 4


def test_in_a_pipe_many_subjects_have_no_more_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert times(monkeypatch, StringIO(), subjects=tuple(range(0, 60, 4))) == [2, 18, 34, 50]


def test_on_a_terminal_the_line_is_rewritten_from_two_seconds_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert times(monkeypatch, Terminal(), subjects=(30,)) == [*range(2, 30), *range(32, 60)]


def test_quiet_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert times(monkeypatch, StringIO(), quiet=True) == []


def test_counted_parts_tell_their_share_and_how_long_the_others_take(monkeypatch: pytest.MonkeyPatch) -> None:
    now, stream = 100, StringIO()
    monkeypatch.setattr("fencepost.checks.console.progress.time", SimpleNamespace(monotonic=lambda: now))
    reporter = Reporter(stream=stream)
    reporter.head("a cluster")
    reporter.expect(40, "question")
    reporter.begin("too early")
    for second, done in ((2, 1), (20, 9), (40, 10)):
        now = 100 + second
        for _ in range(done):
            reporter.passed()
        reporter.begin(f"search {done}")
    assert stream.getvalue() == (
        "# a cluster\n"
        "# 1 of 40 questions (2%); search 1: begins\n"
        "# 10 of 40 questions (25%), about 60 s left; search 9: begins\n"
        "# 20 of 40 questions (50%), about 40 s left; search 10: begins\n"
    )


def test_uneven_parts_tell_no_time_and_what_is_not_needed_counts_as_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now, stream = 100, StringIO()
    monkeypatch.setattr("fencepost.checks.console.progress.time", SimpleNamespace(monotonic=lambda: now))
    reporter = Reporter(stream=stream)
    reporter.expect(8, "question", even=False)
    reporter.passed()
    now = 102
    reporter.begin("the first")
    reporter.left(2)
    now = 140
    reporter.begin("the last but one")
    assert stream.getvalue() == (
        "# 1 of 8 questions (12%); the first: begins\n# 6 of 8 questions (75%); the last but one: begins\n"
    )


def test_a_heading_comes_at_once_unless_nobody_wants_it() -> None:
    for quiet, written in ((False, "# a cluster\n"), (True, "")):
        stream = StringIO()
        Reporter(quiet=quiet, stream=stream).head("a cluster")
        assert stream.getvalue() == written


def test_a_search_tells_how_much_of_a_level_is_done_where_it_knows() -> None:
    stream = StringIO()
    reporter = Reporter(stream=stream)
    reporter._started -= SILENT_SECONDS
    at = Progress(depth=3, distinct=1234, transitions=5678, frontier=900, rate=50.0)
    for now in (at, replace(at, share=0.25), replace(at, share=0.5, reads_back=True)):
        reporter._due = 0.0
        reporter.searching(now)
    assert stream.getvalue() == (
        "# : 1,234 states, 5,678 transitions, depth 3, 900 to expand there, 50 states/s\n"
        "# : 1,234 states, 5,678 transitions, depth 3, 900 to expand there, 25% of that done, 50 states/s\n"
        "# : 1,234 states, 5,678 transitions, depth 3, 900 to expand there, 50% of all states read back, 50 states/s\n"
    )


WRITING = """
import sys
from fencepost.checks.console.progress import interruptible
with interruptible() as interrupt:
    print("writing", flush=True)
    while not interrupt():
        sys.stderr.write("# some progress\\n")
        sys.stderr.flush()
"""


def _unread(pipe: Any) -> int:
    """How many bytes wait to be read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_an_interrupt_in_the_middle_of_a_write_is_as_any_other() -> None:
    """Nobody reads what it writes, so that it is in the middle of a write when the pipe is full."""
    asked = [sys.executable, "-c", WRITING]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(asked, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "writing\n"
        before, now = -1, 0
        while not 0 < now == before:
            time.sleep(0.1)
            before, now = now, _unread(run.stderr)
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=60)
    assert run.returncode == 0, stderr[-2000:]
    assert "# stopping; what was found is kept" in stderr
