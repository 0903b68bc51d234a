"""Folders that a later run goes on from count as they were written, or not at all."""

from __future__ import annotations

import itertools
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fencepost.traces.exploration.folder import RECORD, FolderError, check, is_kept, keep


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two folders of two files each, kept as of one run."""
    parts = [tmp_path / "round=0", tmp_path / "round=1"]
    for number, folder in enumerate(parts):
        folder.mkdir()
        for part in range(2):
            pq.write_table(pa.table({"w0": [number, part]}), folder / f"part-{part:05d}.parquet")
    keep(parts, "a run")
    return parts


def refused(folders: list[Path], file: Path, run: str = "a run") -> None:
    with pytest.raises(FolderError) as error:
        check(folders, run)
    assert str(error.value).startswith(f"{file} is damaged: "), error.value


def swapped(one: Path, other: Path) -> None:
    third = one.with_name("third")
    one.rename(third)
    other.rename(one)
    third.rename(other)


def test_a_folder_counts_when_it_is_kept(tmp_path: Path) -> None:
    assert not is_kept(tmp_path)
    keep([tmp_path], "a run")
    assert is_kept(tmp_path)
    check([tmp_path], "a run")


@pytest.mark.long
def test_any_byte_that_is_changed_is_found(folders: list[Path]) -> None:
    seed = random.Random(9)
    for file in (file for folder in folders for file in sorted(folder.iterdir())):
        good = file.read_bytes()
        for place in range(len(good)):
            file.write_bytes(good[:place] + bytes([good[place] ^ 1 << seed.randrange(8)]) + good[place + 1 :])
            refused(folders, file)
        for length in range(0, len(good), 7):
            file.write_bytes(good[:length])
            refused(folders, file)
        file.write_bytes(good)
    check(folders, "a run")


def test_files_that_have_changed_places_are_found(folders: list[Path]) -> None:
    parts = sorted(folders[0].glob("*.parquet"))
    swapped(*parts)
    refused(folders, parts[0])
    swapped(*parts)
    for one, other in itertools.pairwise(folders):
        swapped(one, other)
        refused(folders, one / RECORD)


def test_files_that_are_gone_or_were_not_there_are_found(folders: list[Path]) -> None:
    part = folders[1] / "part-00001.parquet"
    shutil.copy(part, folders[0] / "part-00002.parquet")
    refused(folders, folders[0] / "part-00002.parquet")
    (folders[0] / "part-00002.parquet").unlink()
    part.unlink()
    refused(folders, part)


def test_a_folder_of_another_run_is_refused(folders: list[Path]) -> None:
    refused(folders, folders[0] / RECORD, "another run")


def test_what_a_kill_leaves_beside_the_record_is_no_matter(folders: list[Path]) -> None:
    (folders[0] / f"{RECORD}.part").write_text("{")
    check(folders, "a run")
