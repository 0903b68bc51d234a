"""``fencepost export``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import fencepost, in_a_process


@pytest.mark.long
def test_instances_of_a_size_get_a_folder_each_and_the_same_files_every_time(tmp_path: Path) -> None:
    contents = []
    for run, folder in ((fencepost, "once"), (in_a_process, "again")):
        done = run("export", "unload", "--size", "ci", "--format", "tla", "--out", tmp_path / folder)
        assert done.returncode == 0, done.stderr
        files = sorted(path for path in (tmp_path / folder).rglob("*") if path.is_file())
        contents.append({path.relative_to(tmp_path / folder).as_posix(): path.read_text(encoding="utf-8") for path in files})
        assert all(str(path) in done.stdout for path in files if path.suffix == ".tla")
    assert contents[0] == contents[1]
    assert "unload-late-and-failing-topics/Unload.tla" in contents[0]
    assert "unload-crash/Unload_liveness.cfg" in contents[0]


def test_a_proof_is_written_with_its_index(tmp_path: Path) -> None:
    status, printed, _ = fencepost("export", "unload", "--set", "timeouts=1", "--format", "smt2", "--out", tmp_path)
    assert status == 0
    index = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert {script["file"] for script in index["scripts"]} == {path.name for path in tmp_path.glob("*.smt2")}
    assert "000-initial.smt2" in printed
    assert f"and {len(index['scripts']) + 1 - 12} more" in printed


def test_of_one_property_nothing_else_is_written(tmp_path: Path) -> None:
    of_one = ("export", "unload", "--set", "brokers=2", "--property", "closed_before_release", "--format", "tla", "--out")
    assert fencepost(*of_one, tmp_path).returncode == 0
    assert (tmp_path / "Unload.cfg").read_text().count("INVARIANT") == 2
    assert [path.name for path in tmp_path.glob("*.cfg")] == ["Unload.cfg"]
    assert "closed_before_release ==" in (tmp_path / "Unload.tla").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["elektion", "--format", "tla", "--out", "x"], "there is no protocol 'elektion' (did you mean election?)"),
        (["hash_range", "--format", "tla", "--out", "x"], "hash_range is a theory"),
        (["election", "--set", "broker=2", "--format", "tla", "--out", "x"], "no parameter 'broker' (did you mean brokers?)"),
        (
            ["election", "--set", "brokers=2", "--property", "leader", "--format", "tla", "--out", "x"],
            "election has no property 'leader'",
        ),
        (["election", "--format", "tla"], "required: --out"),
        (["election", "--out", "x"], "required: --format"),
    ],
)
def test_wrong_usage_is_said_in_a_line(arguments: list[str], message: str) -> None:
    run = fencepost("export", *arguments)
    assert run.returncode == 2
    assert message in run.stderr
