"""No control character of a file's name or text reaches the terminal; the program's own styles do."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from fencepost.checks.console.printing import Spelling, spelled
from fencepost.checks.console.progress import LINE_AGAIN
from fencepost.traces.wording.styles import BOLD, PLAIN
from tests.command import fencepost

CLEARS = "\x1b[2J"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (f"a{CLEARS}b", "a\\x1b[2Jb"),
        ("a\rb", "a\\rb"),
        ("title \x1b]0;x\x07", "title \\x1b]0;x\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("back\x08", "back\\x08"),
        ("\u202etxt.fnoc", "\\u202etxt.fnoc"),
        ("not UTF-8 \udcff", "not UTF-8 \\udcff"),
        ("tab\tand\nline, é, 漢", "tab\tand\nline, é, 漢"),
    ],
)
def test_control_characters_are_spelled_out(printed: str, shown: str) -> None:
    for stream in (io.StringIO(), Terminal()):
        assert Spelling(stream).write(printed) == len(printed)
        assert stream.getvalue() == shown


def test_our_own_styles_reach_a_terminal_and_nothing_else() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        Spelling(stream).write(f"{LINE_AGAIN}{BOLD}open{PLAIN} and {LINE_AGAIN}")
    assert terminal.getvalue() == f"{LINE_AGAIN}{BOLD}open{PLAIN} and \\r\\x1b[K"
    assert "\x1b" not in pipe.getvalue()


def test_a_closed_stream_stays_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with spelled():
        assert sys.stdout is None


@pytest.mark.parametrize("command", ["check --conf FILE", "trace show FILE", "check FILE.py", "check --baseline FILE election"])
def test_the_name_of_a_file_is_spelled_out(command: str, tmp_path: Path) -> None:
    name = str(tmp_path / f"a{CLEARS}b")
    ran = fencepost(*(word.replace("FILE", name) for word in command.split()))
    assert ran.returncode
    assert "a\\x1b[2Jb" in ran.stderr
    assert "\x1b" not in ran.stderr + ran.stdout


def test_the_text_of_a_file_is_spelled_out(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text(f"loadManagerClassName=no{CLEARS}such\nmanagedLedgerDefaultAckQuorum=2{CLEARS}\n")
    ran = fencepost("check", "--conf", conf, "--guarantees")
    assert "\\x1b[2J" in ran.stderr + ran.stdout
    assert "\x1b" not in ran.stderr + ran.stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("explore ledger --out s3a://bucket/run", "s3a://bucket/run is a URL, which Spark reaches: add --master"),
        ("explore ledger --exhaustive --out hdfs://host/run", "hdfs://host/run is a URL"),
        ("explore report s3a://bucket/run", "s3a://bucket/run is a URL"),
        ("check election --html https://host/page.html", "https://host/page.html is a URL"),
        ("trace show file:///tmp/x.itf.json", "file:///tmp/x.itf.json is a URL"),
        ("check --conf a\udcffb", "the name a\\udcffb is not UTF-8: rename it"),
    ],
)
def test_what_is_no_place_on_this_machine_is_refused_in_a_line(command: str, message: str, tmp_path: Path) -> None:
    ran = fencepost(*command.split(), folder=tmp_path)
    assert ran.returncode == 2
    assert message in ran.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
