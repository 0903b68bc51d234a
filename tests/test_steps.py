"""The suite in two steps: what a test needs is marked, and ``.ci/run`` counts both steps in its last line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.marking import COSTLY, GROUPS, first_at_once, needed, unmarked

ROOT = Path(__file__).resolve().parent.parent


def test_a_group_or_a_fixture_is_a_marker() -> None:
    assert needed(["real pulsar"], []) == {"java"}
    assert needed(["together"], ["tmp_path"]) == set()
    assert needed(["package"], ["tmp_path", "chromium", "wheel"]) == {"package", "browser"}


def test_of_many_cases_the_first_are_in_the_first_step() -> None:
    cases = first_at_once([("a", 1), pytest.param("b", 2, id="b", marks=pytest.mark.java), ("c", 3)], 1)
    assert [case.values for case in cases] == [("a", 1), ("b", 2), ("c", 3)]
    assert [[mark.name for mark in case.marks] for case in cases] == [[], ["java", "long"], ["long"]]
    assert [case.values for case in first_at_once("ab")] == [("a",), ("b",)]


def test_every_marker_is_declared(request: pytest.FixtureRequest) -> None:
    declared = {line.split(":")[0] for line in request.config.getini("markers")}
    assert declared >= COSTLY | {"smoke", "later", "deep"}


def test_every_group_of_a_marker_is_used() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    assert [group for group in GROUPS if not any(f'xdist_group("{group}")' in text for text in texts)] == []


@pytest.mark.parametrize(
    ("program", "markers", "lacks"),
    [
        ("/usr/bin/java", set(), "java"),
        ("java", {"spark"}, None),
        ("mvn", {"spark"}, "java"),
        ("/opt/spark/bin/spark-submit", {"java"}, "spark"),
        (f"{tempfile.gettempdir()}/old/bin/java", set(), None),
        ("/usr/bin/git", set(), None),
    ],
)
def test_a_program_wants_its_marker(program: str, markers: set[str], lacks: str | None) -> None:
    assert unmarked(program, markers) == lacks


def test_a_test_that_starts_java_unmarked_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="a test that starts java is marked as java"):
        subprocess.run(["java", "-version"], check=False)


# --- .ci/run, with a make that prints what it is told to


def ran(folder: Path, **steps: tuple[str, int]) -> tuple[int, list[str]]:
    """The status of .ci/run, and its lines, where each target prints a text and ends with a status."""
    programs = folder / "programs"
    programs.mkdir()
    cases = "".join(f"{name}) echo '{text}'; exit {status};;\n" for name, (text, status) in steps.items())
    scripts = dict.fromkeys(("chromedriver", "firefox", "javac", "mvn"), "exit 1\n")
    scripts["make"] = f"case $1 in\n{cases}esac\nexit 9\n"
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
        (programs / name).chmod(0o755)
    bash = shutil.which("bash")
    assert bash is not None
    around = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run([bash, ROOT / ".ci" / "run"], env=around, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines()


FIRST = "===== 4071 passed, 2 skipped, 1482 deselected in 171.02s (0:02:51) ====="


@pytest.mark.parametrize(
    ("first", "second", "status", "counts"),
    [
        ((FIRST, 0), ("329 passed, 5224 deselected in 400.00s (0:06:40)", 0), 0, "4400 passed, 2 skipped"),
        ((FIRST, 0), ("=== 2 failed, 327 passed, 1 error in 4.00s ===", 2), 1, "2 failed, 4398 passed, 2 skipped, 1 error"),
        ((FIRST, 1), ("== 329 passed in 4.00s ==", 0), 1, "4400 passed, 2 skipped, 1 error"),
        (("make: *** no rule", 2), ("=== 329 passed, 1 xfailed in 4.00s ===", 0), 1, "329 passed, 1 xfailed, 1 error"),
    ],
    ids=["both pass", "the second fails", "types fail", "no closing line"],
)
def test_the_last_line_counts_both_steps(
    first: tuple[str, int], second: tuple[str, int], status: int, counts: str, tmp_path: Path
) -> None:
    ended, lines = ran(tmp_path, **{"test": first, "test-rest": second})
    assert ended == status
    assert re.fullmatch(rf"======== {counts} in \d+\.00s \(\d+:\d\d:\d\d\) ========", lines[-1])
    assert re.fullmatch(rf"make test: \d+ s, exit {first[1]}", lines[-3])
    assert re.fullmatch(rf"make test-rest: \d+ s, exit {second[1]}", lines[-2])
