"""``fencepost trace html`` and ``fencepost check --html``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.command import fencepost, in_a_process

LOST = ["ledger", "--bug", "closes_at_lac", "--property", "no_truncation", "--quiet"]


def names(page: Path) -> list[str]:
    (data,) = re.findall(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return [trace["name"] for trace in json.loads(data)["traces"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace file, and the page that the same run wrote beside it."""
    folder = tmp_path_factory.mktemp("found")
    run = fencepost("check", *LOST, "--trace-dir", folder, "--html")
    assert run.returncode == 12, run.stderr
    assert f"\ntrace: {folder / NAME}.itf.json\npage: {folder / 'fencepost.html'}\n1 violated" in run.stdout
    return folder


NAME = "ledger-bug-closes_at_lac-no_truncation"


@pytest.mark.long
def test_check_writes_a_page_of_what_it_finds(folder: Path) -> None:
    assert names(folder / "fencepost.html") == ["no_truncation (ledger, bug, closes_at_lac)"]


@pytest.mark.long
def test_a_page_of_files(folder: Path) -> None:
    file = folder / f"{NAME}.itf.json"
    run = fencepost("trace", "html", file)
    assert (run.returncode, run.stdout) == (0, f"page: {folder / NAME}.html\n")
    assert names(folder / f"{NAME}.html") == [NAME]


@pytest.mark.long
def test_a_page_is_the_same_in_every_process(folder: Path, tmp_path: Path) -> None:
    asked = ("trace", "html", folder / f"{NAME}.itf.json", "--out")
    run = in_a_process(*asked, "page.html", folder=tmp_path, PYTHONHASHSEED="1")
    assert (run.returncode, run.stdout) == (0, "page: page.html\n"), run.stderr
    assert fencepost(*asked, tmp_path / "here.html").returncode == 0
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "here.html").read_bytes()


@pytest.mark.long
def test_files_of_one_name_are_told_apart(folder: Path, tmp_path: Path) -> None:
    file = folder / f"{NAME}.itf.json"
    other = tmp_path / file.name
    other.write_bytes(file.read_bytes())
    assert fencepost("trace", "html", file, other, "--out", tmp_path / "two.html").returncode == 0
    assert names(tmp_path / "two.html") == [str(file), str(other)]


def test_a_trace_that_does_not_replay_has_no_page(folder: Path, tmp_path: Path) -> None:
    spoiled = tmp_path / "spoiled.itf.json"
    spoiled.write_text((folder / f"{NAME}.itf.json").read_text().replace('"send"', '"confirm"', 1))
    run = fencepost("trace", "html", spoiled)
    assert (run.returncode, run.stdout) == (75, "")
    assert run.stderr == f"fencepost: {spoiled}: does not replay: step 1: confirm(e0) is not enabled there\n"
    assert list(tmp_path.iterdir()) == [spoiled]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    run = fencepost("trace", "html", tmp_path / "none.itf.json")
    assert (run.returncode, run.stdout) == (150, "")
    assert "No such file" in run.stderr


def test_a_forgotten_name_is_not_the_next_argument() -> None:
    run = fencepost("check", "--html", "ledger")
    assert run.returncode == 2
    assert "'ledger' is not the name of a page, which ends in .html" in run.stderr


def test_where_nothing_is_violated_there_is_no_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run = fencepost("check", "election", "--set", "brokers=2", "--quiet", "--html", page)
    assert run.returncode == 0, run.stdout
    assert "\npage: none, since nothing is violated\n" in run.stdout
    assert not page.exists()


@pytest.mark.long
def test_programs_are_told_on_standard_error(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run = fencepost("check", *LOST, "--json", "-", "--html", page)
    assert json.loads(run.stdout)["status"] == 12
    assert run.stderr == f"page: {page}\n"
