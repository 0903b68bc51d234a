"""Nothing is stored for other processes that other code than the sources on disk has had a part in."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fencepost import model
from fencepost.checks.inputs.own_protocols import own_protocols
from fencepost.model import own_sources
from fencepost.model.kernel.compiler import store
from tests.checks.inputs.test_own_protocols import PLAIN
from tests.command import fencepost

ASKED = ("check", "election", "--set", "brokers=2", "--property", "holder_leads", "--quiet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of what is stored."""
    monkeypatch.setattr(store, "FOLDER", str(tmp_path / "protocols"))
    return tmp_path / "protocols"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A protocol of a user's, whose file changes what the election of the package starts with."""
    (tmp_path / "beside.py").write_text("PEOPLE = 2\n")
    path = tmp_path / "fencepost.model.lamp.py"
    path.write_text(f"{PLAIN}\n\nimport fencepost.model.pulsar.election as theirs\n\ntheirs.election.__defaults__ = (1,)\n")
    return path


def test_a_process_that_ran_a_file_of_the_users_stores_nothing(own: Path, folder: Path) -> None:
    from fencepost.model.pulsar.election import election

    usual = election.__defaults__
    try:
        assert fencepost("check", own, "--quiet").returncode == 0
        fencepost(*ASKED)
        assert not folder.exists()
    finally:
        election.__defaults__ = usual


def test_a_process_of_the_package_alone_stores(folder: Path) -> None:
    assert fencepost(*ASKED).returncode == 0
    assert list(folder.iterdir())


def test_a_file_of_the_users_is_not_taken_for_one_of_the_package(own: Path) -> None:
    (entry,) = own_protocols(own, ())
    assert not entry.function.__module__.startswith("fencepost.")


def test_a_source_that_is_saved_after_it_was_loaded_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guard.py").write_text("")
    monkeypatch.setattr(own_sources, "FLOORS", (tmp_path,))
    monkeypatch.setattr(model, "LOADED", time.time() + 60)
    assert own_sources.are_unmixed()
    monkeypatch.setattr(model, "LOADED", time.time() - 60)
    assert not own_sources.are_unmixed()
    os.utime(tmp_path / "guard.py", (0, 0))
    assert not own_sources.are_unmixed(), "a copy can have the time of the original"


def test_a_source_that_is_new_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guard.py").write_text("")
    loaded = (tmp_path / "guard.py").stat().st_ctime + 0.001
    monkeypatch.setattr(own_sources, "FLOORS", (tmp_path,))
    monkeypatch.setattr(model, "LOADED", loaded + own_sources.MARGIN)
    assert own_sources.are_unmixed()
    new = tmp_path / "below" / "new.py"
    new.parent.mkdir()
    new.write_text("")
    while new.stat().st_ctime < loaded:
        new.write_text("")
    assert not own_sources.are_unmixed()
