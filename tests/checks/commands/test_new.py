"""``fencepost new``: what it writes passes, and each of its rules fails once a line is changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import fencepost


@pytest.fixture(scope="module")
def skeleton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new")
    assert fencepost("new", "lease", "--out", folder).returncode == 0
    return folder


@pytest.mark.long
def test_what_it_writes_passes_its_own_test_and_style(skeleton: Path) -> None:
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_lease.py"]
    assert "2 passed" in subprocess.run(tests, cwd=skeleton, capture_output=True, text=True).stdout
    style = [sys.executable, "-m", "ruff", "check", "--isolated", "--line-length", "120", "--no-cache", "."]
    assert subprocess.run(style, cwd=skeleton).returncode == 0


@pytest.mark.parametrize(
    ("line", "instead", "violated"),
    [
        ('else holder == "nobody"', "else Not(works[w])", "violated     one_works"),
        ("{holder: w, works[w]: True}", "{works[w]: True}", "violated     only_the_holder_begins"),
        (
            '@p.step(by="service", fair=True, w=worker)',
            '@p.step(by="service", w=worker)',
            "violated     the_lease_is_free_again",
        ),
        (
            "return works[w], {works[w]: False}",
            'return works[w], {works[w]: False, holder: "nobody"}',
            "unreached    a_crashed_worker_holds_the_lease",
        ),
    ],
)
def test_one_changed_line_breaks_it(skeleton: Path, line: str, instead: str, violated: str) -> None:
    text = (skeleton / "lease.py").read_text()
    assert text.count(line) == 1
    changed = skeleton / "changed.py"
    changed.write_text(text.replace(line, instead))
    run = fencepost("check", "--quiet", changed)
    assert violated in run.stdout
    assert run.returncode not in (0, 1, 2)


def test_nothing_is_written_over(skeleton: Path) -> None:
    before = (skeleton / "lease.py").read_bytes()
    run = fencepost("new", "lease", "--out", skeleton)
    assert (run.returncode, run.stderr.count("\n")) == (153, 1)
    assert "is there already; remove it, or choose another name or --out" in run.stderr
    assert (skeleton / "lease.py").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "remedy"), [("Lease-1", "use lower-case letters"), ("class", "use lower-case"), ("ledger", "choose another name")]
)
def test_a_name_must_be_one_of_a_protocol(tmp_path: Path, name: str, remedy: str) -> None:
    run = fencepost("new", name, "--out", tmp_path / "new")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert remedy in run.stderr
    assert not (tmp_path / "new").exists()
