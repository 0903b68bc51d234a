"""Checks that are remembered: the same answer at once, only for the very same check, and never of what was cut off."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from fencepost.checks.commands import arguments, verdict_cache
from fencepost.checks.commands.verdict_cache import OFF, Record, folder
from fencepost.checks.engines.results.verdicts import ExitStatus
from tests.checks.test_own_protocols import PLAIN
from tests.command import Ran, command, fencepost, stable
from tests.marking import first_at_once

ASKED = ["check", "election", "--set", "brokers=2", "--quiet"]
AGAIN = "# remembered: "


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OFF)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(verdict_cache, "_code", lambda: ["the code"])  # hundreds of files


def answers() -> Path:
    base = folder()
    assert base is not None
    return base


def twice(asked: Sequence[str | Path], where: Path) -> tuple[Ran, Ran]:
    return fencepost(*asked, folder=where), fencepost(*asked, folder=where)


def test_the_same_check_is_answered_at_once_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, again = twice(ASKED, tmp_path)
    assert first.returncode == 0
    assert AGAIN not in first.stdout
    note, _, rest = again.stdout.partition("\n")
    assert note.startswith(AGAIN)
    assert note.endswith("--no-cache checks again")
    assert (rest, again.returncode) == (first.stdout, 0)
    assert AGAIN not in fencepost(*ASKED, "--no-cache", folder=tmp_path).stdout
    monkeypatch.setenv(OFF, "1")
    assert AGAIN not in fencepost(*ASKED, folder=tmp_path).stdout


@pytest.mark.long
def test_no_solver_is_loaded_for_an_answer_that_is_remembered(tmp_path: Path) -> None:
    script = "import sys; from fencepost.checks.cli import main; main(sys.argv[1:]); sys.exit('z3' in sys.modules)"
    asked = [sys.executable, "-c", script, "check", "hash_range", "--property", "every_hash_is_in_a_bundle", "--quiet"]
    ran = [subprocess.run(asked, capture_output=True, text=True, env=os.environ, check=False) for _ in range(2)]
    assert [one.returncode for one in ran] == [1, 0]
    assert stable(ran[0].stdout) == stable(ran[1].stdout)
    assert ran[1].stdout.startswith(AGAIN)


@pytest.mark.long
def test_traces_and_page_are_written_again(tmp_path: Path) -> None:
    asked = [*ASKED, "--pulsar", "4.0.8", "--property", "node_of_another_is_kept", "--trace-dir", "traces", "--html"]
    first = fencepost(*asked, "--format", "json", folder=tmp_path)
    assert first.returncode == 14
    written = {path.name: path.read_text() for path in (tmp_path / "traces").iterdir()}
    assert len(written) > 1
    for path in (tmp_path / "traces").iterdir():
        path.unlink()
    (tmp_path / "traces").rmdir()
    again = fencepost(*asked, "--format", "json", folder=tmp_path)
    assert (again.returncode, again.stdout) == (14, first.stdout)
    assert again.stderr.startswith(AGAIN), "a program reads standard output"
    assert {path.name: path.read_text() for path in (tmp_path / "traces").iterdir()} == written


def test_whatever_it_depends_on_makes_another_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("managedLedgerDefaultEnsembleSize=2\n")
    asked = ["check", "hash_range", "--conf", "broker.conf", "--property", "every_hash_is_in_a_bundle", "--quiet"]
    assert AGAIN in twice(asked, tmp_path)[1].stdout
    assert AGAIN not in fencepost(*asked, "--pulsar", "4.0.8", folder=tmp_path).stdout
    conf.write_text("managedLedgerDefaultEnsembleSize=3\n")
    assert AGAIN not in fencepost(*asked, folder=tmp_path).stdout
    conf.write_text("managedLedgerDefaultEnsembleSize=2\n")
    assert AGAIN in fencepost(*asked, folder=tmp_path).stdout
    monkeypatch.setattr(verdict_cache, "_code", lambda: ["other code"])
    assert AGAIN not in fencepost(*asked, folder=tmp_path).stdout


def test_the_key_has_the_sources_and_the_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    package = tmp_path / "fencepost"
    for floor in verdict_cache.FLOORS:
        (package / floor / "room").mkdir(parents=True)
        (package / floor / "room" / "module.py").write_text("x = 1\n")
    monkeypatch.setattr(verdict_cache, "__file__", str(package / "checks" / "commands" / "verdict_cache.py"))
    before = verdict_cache._code()
    assert verdict_cache._code() == before
    assert len(before) == 3 + len(verdict_cache.LIBRARIES)
    assert all(before)
    for floor in verdict_cache.FLOORS:
        file = package / floor / "room" / "module.py"
        file.write_text("x = 2\n")
        assert verdict_cache._code() != before
        file.write_text("x = 1\n")
        (package / floor / "room" / "page.js").write_text("")
        assert verdict_cache._code() != before
        (package / floor / "room" / "page.js").unlink()
    (package / "model" / ".#module.py").symlink_to("someone@somewhere")  # as Emacs locks a file that is edited
    assert verdict_cache._code() != before
    monkeypatch.setattr(importlib.metadata, "version", lambda package: "9.9")
    assert verdict_cache._code() != before


@pytest.mark.parametrize(
    "more",
    first_at_once(
        [
            ["--by", "bounded", "--depth", "2"],
            ["--budget", "0.0000001"],
            ["--write-baseline", "accepted.json"],
            ["--checkpoint", "kept"],
            ["--set", "brokers=none"],
            ["--property", "nothing_of_the_kind"],
        ],
        2,
    ),
)
def test_what_is_open_refused_or_goes_on_is_not_remembered(tmp_path: Path, more: list[str]) -> None:
    asked = ["check", "election", "--set", "brokers=2", "--quiet", *more]
    assert not any(AGAIN in ran.stdout + ran.stderr for ran in twice(asked, tmp_path))
    assert not answers().exists()


WEAK = b"managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\n"
OTHER = b"managedLedgerDefaultEnsembleSize=3\n"
BRIEF = ["--property", "every_hash_is_in_a_bundle", "--quiet"]


@contextmanager
def fed(path: Path, data: bytes) -> Iterator[None]:
    """Within it somebody writes to a FIFO, once."""
    writer = Thread(target=path.write_bytes, args=(data,), daemon=True)
    writer.start()
    yield
    writer.join(10)
    assert not writer.is_alive(), "nobody read it to its end"


def from_pipe(data: bytes, asked: Sequence[str], where: Path) -> Ran:
    """What a shell runs for ``<(...)``: the path names an open pipe, the same number whatever it holds."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    os.dup2(reading, 61)
    os.close(reading)
    try:
        return fencepost("check", "hash_range", "--conf", "/dev/fd/61", *asked, folder=where)
    finally:
        os.close(61)


def test_a_process_substitution_is_known_by_what_it_holds(tmp_path: Path) -> None:
    first, again, other = (from_pipe(data, BRIEF, tmp_path) for data in (WEAK, WEAK, OTHER))
    assert [AGAIN in ran.stdout for ran in (first, again, other)] == [False, True, False]
    assert again.stdout.partition("\n")[2] == first.stdout
    assert AGAIN in from_pipe(OTHER, BRIEF, tmp_path).stdout


def test_a_fifo_is_read_once_and_known_by_what_it_holds(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "broker.conf")
    ran = []
    for data in (WEAK, WEAK, OTHER):
        with fed(tmp_path / "broker.conf", data):
            ran.append(fencepost("check", "hash_range", "--conf", "broker.conf", *BRIEF, folder=tmp_path))
    assert [AGAIN in one.stdout for one in ran] == [False, True, False]
    assert {one.returncode for one in ran} == {0}


@pytest.mark.long
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_known_by_what_it_holds(tmp_path: Path, name: str) -> None:
    asked = command("check", "hash_range", "--conf", name, *BRIEF)
    ran = [subprocess.run(asked, input=data, capture_output=True, check=True, cwd=tmp_path) for data in (WEAK, WEAK, OTHER)]
    assert [AGAIN.encode() in one.stdout for one in ran] == [False, True, False]


def test_a_file_with_an_equals_sign_in_its_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "region=eu").mkdir()
    conf = tmp_path / "region=eu" / "broker.conf"
    asked = ["check", "hash_range", "--conf=region=eu/broker.conf", *BRIEF]
    conf.write_bytes(WEAK)
    assert AGAIN in twice(asked, tmp_path)[1].stdout
    conf.write_bytes(OTHER)
    assert AGAIN not in fencepost(*asked, folder=tmp_path).stdout


def test_an_option_in_one_word_with_its_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "accepted.json").write_text('{"format": 1, "accepted": []}')
    asked = ["check", "hash_range", "--baseline", "accepted.json", *BRIEF]
    first, again = twice(asked, tmp_path)
    assert (first.returncode, AGAIN in again.stdout) == (0, True), first.stderr
    (tmp_path / "accepted.json").write_text("{}")
    assert fencepost(*asked, folder=tmp_path).returncode == ExitStatus.INPUT


def test_what_changes_while_it_is_checked_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored answer is of the bytes that were checked, and of no others."""
    conf = tmp_path / "broker.conf"
    conf.write_bytes(WEAK)
    asked = ["check", "hash_range", "--conf", "broker.conf", *BRIEF]
    real = arguments.run

    def edited(words: Sequence[str], record: Record | None = None) -> int:
        status = real(words, record)
        conf.write_bytes(OTHER)
        return status

    with monkeypatch.context() as edit:
        edit.setattr(arguments, "run", edited)
        first = fencepost(*asked, folder=tmp_path)
    assert AGAIN not in fencepost(*asked, folder=tmp_path).stdout
    conf.write_bytes(WEAK)
    again = fencepost(*asked, folder=tmp_path).stdout
    assert again.startswith(AGAIN)
    assert again.partition("\n")[2] == first.stdout


@pytest.mark.long
def test_a_check_in_a_folder_that_is_gone_is_made(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); from fencepost.checks.cli import main; sys.exit(main(sys.argv[1:]))"
    ran = subprocess.run([sys.executable, "-c", script, *ASKED], cwd=gone, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.long
def test_closed_standard_input_is_named(tmp_path: Path) -> None:
    script = f"exec {' '.join(command('check', '--conf', '-', '--quiet'))} <&-"
    ran = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (ExitStatus.INPUT, "fencepost: -: cannot be read: standard input is closed\n")


def test_a_protocol_of_ones_own_is_not_remembered(tmp_path: Path) -> None:
    """It may read whatever it likes."""
    (tmp_path / "lamp.py").write_text(PLAIN.replace("from beside import PEOPLE", "PEOPLE = 2"))
    assert not any(AGAIN in ran.stdout for ran in twice(["check", "lamp.py", "--quiet"], tmp_path))


@pytest.mark.parametrize(
    "damage", first_at_once(["other", "", "{", "[]", '{"answer": 5}', '{"digest": "", "answer": "{}"}', "half"])
)
def test_a_damaged_entry_counts_for_none(tmp_path: Path, damage: str) -> None:
    fencepost(*ASKED, folder=tmp_path)
    (entry,) = answers().iterdir()
    whole = entry.read_text()
    if damage == "half":
        entry.write_text(whole[: len(whole) // 2])
    elif damage == "other":
        stored = json.loads(whole)
        stored["answer"] = stored["answer"].replace("exhausted", "refuted")
        entry.write_text(json.dumps(stored))
    else:
        entry.write_text(damage)
    assert AGAIN not in fencepost(*ASKED, folder=tmp_path).stdout
    assert entry.read_text() != damage
    assert AGAIN in fencepost(*ASKED, folder=tmp_path).stdout


@pytest.mark.long
def test_the_oldest_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_cache, "MOST_ENTRIES", 2)
    for brokers in (1, 2, 3):
        fencepost("check", "election", "--set", f"brokers={brokers}", "--property", "no_deadlock", "--quiet", folder=tmp_path)
    assert len(list(answers().iterdir())) == 2


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert [ran.returncode for ran in twice(ASKED, tmp_path)] == [0, 0]


@pytest.mark.deep  # each guarantee is a search or two
def test_guarantees_are_remembered(tmp_path: Path) -> None:
    (tmp_path / "broker.conf").write_text("managedLedgerDefaultEnsembleSize=2\n")
    first, again = twice(["check", "--conf", "broker.conf", "--guarantees", "--require", "disks>=2", "--quiet"], tmp_path)
    assert again.stdout.startswith(AGAIN)
    assert again.stdout.partition("\n")[2] == first.stdout
    assert first.returncode == again.returncode != 0
    cut = twice(["check", "--conf", "broker.conf", "--guarantees", "--budget", "0.0000001", "--quiet"], tmp_path)
    assert not any(AGAIN in ran.stdout for ran in cut)


@pytest.mark.deep  # it starts processes
def test_runs_at_the_same_time_leave_a_whole_answer(tmp_path: Path) -> None:
    running = [subprocess.Popen(command(*ASKED), cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    printed = {stable(one.communicate()[0]) for one in running}
    assert len(printed) == 1
    assert all(one.returncode == 0 for one in running)
    assert [path.suffix for path in answers().iterdir()] == [".json"]
    again = subprocess.run(command(*ASKED), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert again.stdout.startswith(AGAIN)
