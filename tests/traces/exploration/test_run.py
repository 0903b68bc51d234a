"""Runs: how their walks are cut, and whose folder is whose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.model.sealed import sealed
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.run import Run, VersionError, read

RUN = Run("ledger", {"entries": 1}, (), walks=1_000_000, steps=100, seed=3)


@pytest.mark.parametrize(("walks", "steps"), [(1, 1), (63, 7), (64, 1), (1000, 100), (10**6, 100), (10**9, 1000), (7, 10**9)])
def test_slices_and_rounds_cover_every_walk_once(walks: int, steps: int) -> None:
    run = replace(RUN, walks=walks, steps=steps)
    assert (run.slices - 1) * run.walks_per_slice < walks <= run.slices * run.walks_per_slice
    assert [number for slices in run.rounds() for number in slices] == list(range(run.slices))


def test_a_long_run_has_rows_and_rounds_of_bounded_size() -> None:
    long = replace(RUN, walks=10**10)
    assert long.walks_per_slice * long.steps <= 1 << 23
    assert max(map(len, long.rounds())) <= long.slices / 32
    assert 10**10 * 100 / 2**long.bits <= 1 << 20
    assert replace(RUN, walks=1000).bits == 0


def test_a_run_is_what_its_file_says(tmp_path: Path) -> None:
    with RUN.held(tmp_path / "new"):
        assert read(tmp_path / "new") == RUN
    with RUN.held(tmp_path / "new"):
        pass


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    with RUN.held(tmp_path):
        pass
    for other, message in [
        (replace(RUN, seed=4), "seed is 3 there, 4 here"),
        (replace(RUN, strategy="swarm"), "strategy is held there, swarm here"),
        (replace(RUN, parameters={"entries": 2}), "entries is 1 there, 2 here"),
        (replace(RUN, fingerprint="f"), "another version of the model"),
    ]:
        with pytest.raises(FolderError, match=f"{message}.*name another folder"), other.held(tmp_path):
            pass


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with RUN.held(tmp_path), pytest.raises(FolderError, match="in use"), RUN.held(tmp_path):
        pass


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(FolderError, match="not empty"), RUN.held(tmp_path):
        pass


@pytest.mark.long
def test_a_file_in_which_any_byte_is_changed_is_refused(tmp_path: Path) -> None:
    with RUN.held(tmp_path):
        pass
    file = tmp_path / "run.json"
    good = file.read_bytes()
    for place, byte in enumerate(good):
        for other in {byte ^ 1, byte ^ 8, *(b"0123456789" if chr(byte).isdigit() else b"")} - {byte}:
            file.write_bytes(good[:place] + bytes([other]) + good[place + 1 :])
            with pytest.raises(FolderError, match=r"run\.json is damaged"):
                read(tmp_path)
            with pytest.raises(FolderError, match=r"run\.json is damaged"), RUN.held(tmp_path):
                pass
    file.write_bytes(good)
    assert read(tmp_path) == RUN


OTHERS = [{"protocol": "legder"}, {"strategy": "hold"}, {"format": 2}]


@pytest.mark.parametrize("other", OTHERS)
def test_a_file_that_another_version_wrote_is_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    (tmp_path / "run.json").write_bytes(sealed({**json.loads(RUN.text), **other}))
    with pytest.raises(FolderError, match=r"run\.json is damaged"):
        read(tmp_path)


@pytest.mark.parametrize("text", ["", "{}", "[]", RUN.text])
def test_a_damaged_file_is_said_to_be(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(FolderError, match=r"run\.json is damaged"):
        read(tmp_path)


def test_a_run_that_was_killed_while_it_wrote_its_file_begins_again(tmp_path: Path) -> None:
    (tmp_path / "run.json.part").write_text("{")
    with RUN.held(tmp_path):
        assert read(tmp_path) == RUN


def test_a_folder_without_a_run_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="holds no run"):
        read(tmp_path)


def test_another_version_of_the_model_is_refused() -> None:
    fingerprint = RUN.observed().kernel.fingerprint
    assert replace(RUN, fingerprint=fingerprint).observed().kernel.fingerprint == fingerprint
    with pytest.raises(VersionError, match="not the one that this run began with"):
        replace(RUN, fingerprint="another").observed()
