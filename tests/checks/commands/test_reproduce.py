"""``fencepost reproduce`` without Java: the list, the messages, and what each outcome means."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.checks.commands import reproduce
from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.java_side.toolchain import Toolchain
from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.model.releases import SYSTEMS
from fencepost.properties.protocols import PROTOCOLS
from tests.command import ROOT, fencepost

TOOLS = Toolchain(Path("java"), Path("javac"), Path("mvn"), 17)


def _toy(harmed: bool, harmed_in_control: bool) -> Reproduction:
    def take(stage: Stage, release: str, control: bool) -> Observation:
        stage.say(f"writes a file on {release}")
        (stage.folder / "file").write_text("written", encoding="utf-8")
        return Observation(harmed_in_control if control else harmed, {"written": 1})

    return Reproduction("toy", "a toy", "nothing happens", "BookKeeper", ("1.0", "0.9"), 1, "docs/findings.md", take)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Reproduction], None]:
    """Puts a reproduction in the place of all, on a machine that has a toolchain."""
    monkeypatch.setattr(reproduce, "toolchain", lambda: TOOLS)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return lambda each: monkeypatch.setattr(reproduce, "REPRODUCTIONS", {each.name: each})


def test_the_list_has_what_is_lost_where_and_how_long_it_takes() -> None:
    ran = fencepost("reproduce")
    assert ran.returncode == 0
    for each in REPRODUCTIONS.values():
        where = f"{each.system} {', '.join(each.releases)}"
        assert f"{each.name}: {where}, {each.seconds} s on two busy cores" in ran.stdout.splitlines()
        assert f"  loses    {each.harm}" in ran.stdout.splitlines()
    listed = json.loads(fencepost("reproduce", "--format", "json").stdout)
    assert [row["name"] for row in listed["reproductions"]] == list(REPRODUCTIONS)


def test_what_a_bug_is_reproduced_by_runs_on_releases_that_have_it() -> None:
    bugs = [bug for entry in PROTOCOLS.values() for bug in entry.bugs.values() if bug.reproduced_by]
    assert bugs
    for name, bug in ((bug.reproduced_by, bug) for bug in bugs):
        assert REPRODUCTIONS[name].system == SYSTEMS[bug.project]
        assert set(REPRODUCTIONS[name].releases) <= set(bug.present)


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_each_has_the_page_of_its_finding(name: str) -> None:
    page, _, heading = REPRODUCTIONS[name].page.partition("#")
    text = (ROOT / page).read_text(encoding="utf-8")
    headings = {line.strip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")}
    assert not heading or heading in headings
    assert f"fencepost reproduce {name}" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no finding is called 'nothing'; there are fence-forgotten"),
        (["fence-forgoten"], "no finding is called 'fence-forgoten' (did you mean fence-forgotten?); there are"),
        (["dedup-lose", "--odds"], "no prediction is made for 'dedup-lose' (did you mean dedup-loses?); there are"),
        (["--keep"], "--release, --jars, --classes, --odds and --keep need the NAME of a finding; without one"),
        (["--odds"], "--release, --jars, --classes, --odds and --keep need the NAME of a finding; without one"),
        (["fence-forgotten", "--odds"], "no prediction is made for 'fence-forgotten'; there are dedup-loses, slow-listing"),
        (["--release", "4.18.0"], "--release, --jars, --classes, --odds and --keep need the NAME of a finding; without one"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], message: str) -> None:
    ran = fencepost("reproduce", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"fencepost: {message}")
    assert ran.stderr.count("\n") == 1


def test_without_a_jdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    ran = fencepost("reproduce", "fence-forgotten")
    assert (ran.returncode, ran.stdout) == (153, "")
    assert ran.stderr.startswith("fencepost: conformance needs a JDK")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("harmed", "harmed_in_control", "status", "conclusion"),
    [
        (True, False, 0, "seen as the finding says, and not in the control"),
        (False, False, 12, "not as the finding says: not seen"),
        (True, True, 12, "not as the finding says: also seen in the control"),
    ],
)
def test_the_status_is_what_was_seen(
    toy: Callable[[Reproduction], None], harmed: bool, harmed_in_control: bool, status: int, conclusion: str, tmp_path: Path
) -> None:
    toy(_toy(harmed, harmed_in_control))
    ran = fencepost("reproduce", "toy")
    assert ran.returncode == status
    *lines, last, seconds = ran.stdout.splitlines()
    assert (last, seconds[0]) == (conclusion, "#")
    assert lines == [
        "toy on BookKeeper 1.0; loses a toy",
        "  writes a file on 1.0",
        "  control: nothing happens",
        "  writes a file on 1.0",
    ]
    assert list(tmp_path.iterdir()) == []


def test_the_result_as_json(toy: Callable[[Reproduction], None]) -> None:
    toy(_toy(True, False))
    ran = fencepost("reproduce", "toy", "--release", "0.9", "--format", "json")
    shown = json.loads(ran.stdout)
    assert (shown["exit_status"], shown["as_found"], shown["release"]) == (0, True, "0.9")
    assert (shown["run"], shown["control"]) == (
        {"harmed": True, "figures": {"written": 1}},
        {"harmed": False, "figures": {"written": 1}},
    )
    assert shown["account"] == ["writes a file on 0.9", "control: nothing happens", "writes a file on 0.9"]


def test_the_folders_can_be_kept(toy: Callable[[Reproduction], None], tmp_path: Path) -> None:
    toy(_toy(True, False))
    ran = fencepost("reproduce", "toy", "--keep")
    (folder,) = tmp_path.iterdir()
    assert f"# kept: {folder}" in ran.stdout.splitlines()
    assert sorted(file.relative_to(folder).as_posix() for file in folder.rglob("file")) == ["control/file", "run/file"]


def failing(*outcomes: SessionError | None) -> Reproduction:
    """A toy whose attempts end like these, one after the other; harm is done in the run and not in the control."""
    left = list(outcomes)

    def take(stage: Stage, release: str, control: bool) -> Observation:
        if error := left.pop(0):
            raise error
        return Observation(not control, {})

    return Reproduction("toy", "a toy", "nothing", "BookKeeper", ("1.0",), 1, "docs/findings.md", take)


def test_what_fails_is_tried_once_more_by_itself(toy: Callable[[Reproduction], None]) -> None:
    toy(failing(NotSetUp("only 1 of 3 messages is acknowledged"), None, SessionError("a bookie ended"), None))
    ran = fencepost("reproduce", "toy")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "  only 1 of 3 messages is acknowledged: once more" in ran.stdout.splitlines()
    assert "  a bookie ended: once more" in ran.stdout.splitlines()


@pytest.mark.parametrize("before", [(), (None,)])
def test_what_cannot_be_set_up_is_not_tried(
    toy: Callable[[Reproduction], None], before: tuple[None, ...], tmp_path: Path
) -> None:
    toy(failing(*before, NotSetUp("no checkpoint"), NotSetUp("no checkpoint within 180 s")))
    ran = fencepost("reproduce", "toy")
    assert (ran.returncode, ran.stderr) == (20, "fencepost: not tried: no checkpoint within 180 s\n")
    assert "not as the finding says" not in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_fails_is_one_line(toy: Callable[[Reproduction], None], tmp_path: Path) -> None:
    toy(failing(SessionError("a bookie ended with status 2"), SessionError("a bookie ended with status 1")))
    ran = fencepost("reproduce", "toy")
    assert (ran.returncode, ran.stderr) == (153, "fencepost: a bookie ended with status 1\n")
    assert list(tmp_path.iterdir()) == []
