"""One name: the package is ``fencepost`` and nothing else, and lives beside a project that uses the names of its floors."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.package.environment import FLOORS, ROOT, Environment, built, environment, without_paths

pytestmark = pytest.mark.xdist_group("package")


def files(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return sorted(opened.namelist())


@pytest.mark.smoke
def test_the_wheel_has_one_name_at_its_top(wheel: Path) -> None:
    name, version, *_ = wheel.name.split("-")
    assert {file.split("/")[0] for file in files(wheel)} == {"fencepost", f"{name}-{version}.dist-info"}


def test_the_wheel_has_every_file_of_the_floors(wheel: Path, sources: Path) -> None:
    paths = [path for floor in FLOORS for path in (sources / floor).rglob("*") if path.is_file()]
    inside = {f"fencepost/{path.relative_to(sources).as_posix()}" for path in paths}
    assert {f"fencepost/{name}" for name in ("checks/teeth/pinned.json", "traces/explorer/page.html")} < inside
    own = {"fencepost/__init__.py", "fencepost/__main__.py", "fencepost/py.typed"}
    assert {file for file in files(wheel) if file.startswith("fencepost/")} == inside | own


def test_the_source_distribution_has_no_links_and_makes_the_same_wheel(unpacked: Path, wheel: Path, tmp_path: Path) -> None:
    assert [path for path in unpacked.rglob("*") if path.is_symlink()] == []
    again = built("wheel", unpacked, tmp_path)
    with zipfile.ZipFile(again) as one, zipfile.ZipFile(wheel) as other:
        assert {file: one.read(file) for file in one.namelist()} == {file: other.read(file) for file in other.namelist()}


def test_the_environment_does_not_see_the_clone(clean: Environment, tmp_path: Path) -> None:
    script = "import fencepost.checks.cli as cli, sys; print(cli.__file__, *sys.path, sep='\\n')"
    home, *paths = clean.run("-c", script, folder=tmp_path).stdout.split("\n")
    assert Path(home).is_relative_to(clean.python.parents[1])
    assert [path for path in paths if Path(path or tmp_path).resolve().is_relative_to(ROOT)] == []


def test_their_tests_pass_with_the_plug_in(clean: Environment, theirs: Path) -> None:
    ran = clean.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", folder=theirs)
    assert (ran.returncode, ran.stdout.splitlines()[-1].split(" in ")[0]) == (0, "3 passed"), ran.stdout + ran.stderr


def test_our_tests_pass_there(clean: Environment, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__", "package"))
    (tmp_path / "tests" / "conftest.py").unlink()  # it is for tests that need more than pytest
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "--import-mode=importlib"]
    ran = clean.run("-m", "pytest", *options, *OURS, folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


OURS = ["tests/model/language/test_words.py", "tests/checks/inputs/test_properties_file.py"]
"""A few of the floors that need no package but pytest and take no time."""


def test_a_check_in_their_project(clean: Environment, theirs: Path) -> None:
    ran = clean.run("-m", "fencepost", "check", "election", "--set", "brokers=2", "--quiet", folder=theirs)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed, with warnings (exit 0)" in ran.stdout


def test_the_command_is_installed(clean: Environment, theirs: Path) -> None:
    command = clean.python.with_name("fencepost")
    ran = clean.run(command, "--version", folder=theirs)
    assert (ran.returncode, ran.stdout.split()[0]) == (0, "fencepost")


def test_it_installs_without_a_network_as_the_page_says(wheel: Path, tmp_path: Path) -> None:
    """The command of the page, on a folder with the wheel; what that requires is there already."""
    page = (ROOT / "docs" / "how-to" / "install-without-a-network.md").read_text(encoding="utf-8")
    shown = re.findall(r"^fencepost/bin/python -m (pip install --no-index .*)$", page, re.MULTILINE)
    assert len(shown) == 1
    (tmp_path / "wheels").mkdir()
    shutil.copy(wheel, tmp_path / "wheels")
    made = environment(tmp_path / "fencepost", wheel)

    def pip(*arguments: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", made.python, *arguments]
        subprocess.run(command, cwd=tmp_path, env=without_paths(), check=True, capture_output=True)

    pip("uninstall", "--yes", "fencepost")
    assert made.run("-m", "fencepost", "--version", folder=tmp_path).returncode != 0
    pip(*shlex.split(shown[0])[1:])
    assert made.run("-m", "fencepost", "--version", folder=tmp_path).returncode == 0
