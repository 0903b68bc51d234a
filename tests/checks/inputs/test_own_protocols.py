"""``fencepost check my_protocol.py``: a protocol of one's own is checked as Fencepost's are, and its mistakes are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from tests.checks.test_newcomers import MODEL
from tests.command import fencepost

PLAIN = '''\
"""A lamp that two people switch."""

from beside import PEOPLE
from fencepost import Not, Protocol, Suite


def lamp(people: int = PEOPLE, *, bugs: tuple[str, ...] = ()) -> Protocol:
    """A lamp and its switches."""
    p = Protocol("lamp", parameters={"people": people}, bugs={"stuck": "it stays on"}, active=bugs)
    person, on = p.universe("person", people), p.flag("on")
    switched = p.number("switched", 0, people, per=person)

    @p.step(by="who", who=person)
    def switch(who: int) -> object:
        """Somebody presses a switch, once."""
        return switched[who] == 0, {switched[who]: 1, on: True if p.has("stuck") else Not(on)}

    return p


def properties(p: Protocol) -> Suite:
    suite = Suite(p)

    @suite.step
    def changes() -> object:
        """Pressing a switch changes the lamp."""
        return p.next.on != p.state.on

    @suite.lemma
    def twice_at_most() -> object:
        """Nothing is needed for that, and this is true."""
        return p.state.switched[0] <= 1

    @suite.ends
    def all_pressed() -> object:
        """Everybody has pressed."""
        return p.state.switched[0] == 1

    return suite
'''


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("PEOPLE = 2\n")
    path = tmp_path / "lamp.py"
    path.write_text(PLAIN)
    return path


def test_a_protocol_with_the_same_options(plain: Path, tmp_path: Path) -> None:
    ran = fencepost("check", plain, "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("lamp, as written: people=2\n  exhausted: all 4 states")
    assert fencepost("check", plain, "--quiet", "--set", "people=3").stdout.startswith("lamp, as set: people=3\n")
    assert fencepost("check", plain, "--by", "induction", "--quiet", "--property", "changes").returncode == 0
    asked = ["--bug", "stuck", "--trace-dir", tmp_path / "traces", "--html", tmp_path / "page.html"]
    broken = fencepost("check", plain, "--quiet", "--sarif", "-", *asked, folder=tmp_path)
    assert broken.returncode == 12
    (result, *_) = json.loads(broken.stdout)["runs"][0]["results"]
    assert result["ruleId"] == "lamp/changes"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "lamp.py"
    assert (tmp_path / "traces" / "lamp-bug-stuck-changes.itf.json").exists()
    assert (tmp_path / "page.html").exists()


def test_entries_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "guests.py"
    path.write_text(MODEL)
    ran = fencepost("check", path, "election", "--set", "rooms=1", "--quiet")
    assert ran.returncode == 2, "election has no rooms"
    ran = fencepost("check", path, "--quiet", "--json", "-")
    assert {row["protocol"] for row in json.loads(ran.stdout)["verdicts"]} == {"guests"}
    assert json.loads(ran.stdout)["instances"][0]["instance"] == "small"


@pytest.mark.parametrize(
    ("before", "after", "status", "message"),
    [
        ("from beside import PEOPLE", "from elsewhere import PEOPLE", 150, "lamp.py:3: ModuleNotFoundError: No module named"),
        ("def lamp(", "def lamp(:", 150, "lamp.py:7: SyntaxError: invalid syntax"),
        (") -> Protocol:", "):", 150, "lamp.py: has no Protocol; write `-> Protocol` behind"),
        (") -> Suite:", "):", 150, "lamp.py: has no Suite; write"),
        ("def properties", "def more(p) -> Suite: ...\n\n\ndef properties", 150, "several functions that return a Suite"),
        ("def lamp(", "def election(", 150, "lamp.py: election is the name of a protocol of Fencepost's; rename it"),
        ("switched[who] == 0, {", "switched == 0, {", 2, "action switch(who=p0): switched is a family of variables"),
        ("people: int = PEOPLE", "people: int", 2, "lamp.py:7: lamp: parameter people: give it a default"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(
    plain: Path, tmp_path: Path, before: str, after: str, status: int, message: str
) -> None:
    plain.write_text(PLAIN.replace(before, after))
    ran = fencepost("check", "lamp.py", folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (status, "")
    assert message in ran.stderr
    assert ran.stderr.startswith("fencepost: ")
    assert ran.stderr.count("\n") == 1


def test_a_file_is_read_once(plain: Path, tmp_path: Path) -> None:
    """A pipe has nothing left for a second reader, who would wait forever."""
    source, pipe = plain.read_text(), plain
    plain.unlink()
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=(source,), daemon=True)
    writer.start()
    ran = fencepost("check", "lamp.py", "--quiet", folder=tmp_path)
    writer.join(10)
    assert ran.returncode == 0, ran
    assert "lamp, as written" in ran.stdout


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    ran = fencepost("check", "absent.py", folder=tmp_path)
    assert ran.returncode == 150
    assert ran.stderr == "fencepost: absent.py: there is no such file; give the path of a file of Python\n"


def test_a_trace_of_it_is_shown_replayed_drawn_and_shrunk(plain: Path, tmp_path: Path) -> None:
    assert fencepost("check", plain, "--bug", "stuck", "--out", tmp_path, "--quiet").returncode == 12
    (trace,) = tmp_path.glob("*.itf.json")
    for verb in (["show"], ["replay"], ["shrink", "--out", tmp_path / "short.itf.json"], ["diagram"], ["html"]):
        ran = fencepost("trace", verb[0], trace, *verb[1:], "--protocol", plain)
        assert (ran.returncode, ran.stderr) == (0, ""), verb
        assert ran.stdout
    assert "switch(" in fencepost("trace", "show", trace, "--protocol", plain).stdout
    assert fencepost("trace", "replay", tmp_path / "short.itf.json", "--protocol", plain).returncode == 0


def test_a_trace_of_it_is_pinned_and_found_from_the_folder_of_the_test(plain: Path, tmp_path: Path) -> None:
    assert fencepost("check", plain, "--bug", "stuck", "--out", tmp_path / "traces", "--quiet").returncode == 12
    (trace,) = (tmp_path / "traces").glob("*.itf.json")
    assert fencepost("trace", "pin", trace, "--protocol", plain, "--out", tmp_path / "tests").returncode == 0

    def ran() -> str:
        plugin = ("-p", "fencepost.checks.pytest_plugin", "-p", "no:cacheprovider")
        asked = [sys.executable, "-m", "pytest", "-q", *plugin, "tests"]
        alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # to load Hypothesis and others would take longer
        return subprocess.run(asked, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False).stdout

    assert "2 passed" in ran()
    plain.write_text(plain.read_text().replace('p.has("stuck")', "False"))
    assert "1 failed, 1 passed" in ran(), "the bug does nothing any more"
    plain.rename(tmp_path / "moved.py")
    assert "lamp.py: there is no such file; give the path of a file of Python" in ran()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("show",), 150, "there is no protocol 'lamp'; of one of your own name the file: --protocol FILE.py"),
        (("show", "--protocol", "none.py"), 150, "none.py: there is no such file"),
    ],
)
def test_what_a_trace_of_it_needs_is_told(
    plain: Path, tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    assert fencepost("check", plain, "--bug", "stuck", "--out", tmp_path, "--quiet").returncode == 12
    (trace,) = tmp_path.glob("*.itf.json")
    ran = fencepost("trace", arguments[0], trace, *arguments[1:], folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (status, "")
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
