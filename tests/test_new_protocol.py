"""A protocol that is added as docs/how-to/add-a-protocol.md says: the files of that page, in a copy of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT
from tests.docs.examples import blocks

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("new protocol")]

HOW_TO = ROOT / "docs" / "how-to" / "add-a-protocol.md"
NAME = "lease"


def files() -> dict[str, str]:
    """The files that the page has for the toy, by their paths."""
    noted = [block for block in blocks(HOW_TO.read_text(encoding="utf-8")) if block.note.startswith(("file: ", "page: "))]
    written = {block.note.partition(": ")[2]: block.text for block in noted}  # a page is not for the folder of examples
    return {path: text for path, text in written.items() if NAME in path}


def ran(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in the tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "120", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the files of the page and the line in the page of contents."""
    folder = tmp_path_factory.mktemp("tree")
    left = shutil.ignore_patterns("__pycache__")
    for name in ("model", "properties", "traces", "checks", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=left)
    shutil.copytree(ROOT / "fencepost", folder / "fencepost", symlinks=True, ignore=left)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder / name)
    for path, text in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    here, text = "[unload](reference/unload.md),", (ROOT / "docs" / "contents.md").read_text(encoding="utf-8")
    assert here in text
    (folder / "docs" / "contents.md").write_text(text.replace(here, f"{here} [lease](reference/lease.md),"), encoding="utf-8")
    return folder


def test_the_page_has_six_files() -> None:
    assert len(files()) == 6


def test_it_is_found_and_checked(tree: Path) -> None:
    run = ran(tree, "-m", "fencepost", "check", NAME, "--quiet")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "exhausted: all 3 states" in run.stdout
    caught = ran(tree, "-m", "fencepost", "check", NAME, "--bug", "taken_blindly", "--quiet")
    assert (caught.returncode, "one_works" in caught.stdout) == (12, True), caught.stdout + caught.stderr


def test_the_tests_over_all_protocols_hold(tree: Path) -> None:
    modules = [
        "tests/test_architecture.py",
        "tests/properties/test_registry.py",
        "tests/properties/test_pinned.py",
        "tests/properties/test_bugs.py",
        "tests/properties/test_machines.py",
        "tests/properties/test_pages.py",
        "tests/docs/test_docs.py",
        "tests/docs/test_site.py",
    ]
    chosen = f"({NAME} and not release) or architecture or follows_the_page or is_pinned"
    run = ran(tree, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-k", chosen, *modules)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr
    assert " passed" in run.stdout


def test_what_is_missing_is_one_line(tree: Path, tmp_path: Path) -> None:
    entry = tree / "properties" / NAME / "entry.py"
    text = entry.read_text(encoding="utf-8")
    try:
        entry.write_text("", encoding="utf-8")
        run = ran(tree, "-m", "fencepost", "list", NAME)
    finally:
        entry.write_text(text, encoding="utf-8")
    assert run.returncode != 0
    assert f'properties/{NAME}/entry.py: give it ENTRY = Entry(name="{NAME}", ...)' in run.stderr
