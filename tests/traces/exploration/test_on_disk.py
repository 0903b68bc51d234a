"""Exhaustive search on disk: the same as in memory, wherever it was cut off and whatever the number of threads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fencepost.model.kernel.search.results import Limits
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.on_disk import search_on_disk
from fencepost.traces.exploration.run import Run
from tests.traces.exploration.searches import ALL, assert_same, by_itself, with_a_bit_flipped

NOTHING = Limits(depth=0)
"""All but the initial states are found on disk."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("parameters", "defects"),
    [
        ({"entries": 1}, ()),
        ({"entries": 1, "losses": 1}, ()),
        ({"entries": 1, "crashes": 1}, ("fence_not_durable",)),
        ({"entries": 1}, ("confirms_with_gaps", "no_such_entry_though_stored")),
    ],
)
def test_it_finds_what_the_engine_finds(tmp_path: Path, parameters: dict[str, int], defects: tuple[str, ...]) -> None:
    run = Run("ledger", parameters, defects)
    assert_same(search_on_disk(run, tmp_path, head=NOTHING, buckets=3), by_itself(run))


def test_the_files_are_the_same_whatever_the_number_of_threads(tmp_path: Path) -> None:
    folders = [tmp_path / str(workers) for workers in (1, 3)]
    written = []
    for workers, folder in zip((1, 3), folders, strict=True):
        folder.mkdir()
        search_on_disk(ALL, folder, head=Limits(depth=6), workers=workers, buckets=5)
        written.append({file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*.states"))})
    assert written[0] == written[1]
    assert len(written[0]) == 12 * 5


def test_a_search_that_is_cut_off_goes_on(tmp_path: Path) -> None:
    wanted, levels = by_itself(ALL), tmp_path / "levels"
    assert (wanted.outcome, wanted.distinct, wanted.depth) == ("violated", 3125, 11)
    cut = search_on_disk(ALL, tmp_path, head=Limits(depth=8), buckets=2, should_stop=lambda: (levels / "depth=9").exists())
    assert cut.outcome == "interrupted"
    assert 9 <= len(cut.level_sizes) <= 10
    assert cut.level_sizes == wanted.level_sizes[: len(cut.level_sizes)]
    # what a kill may leave: part of a level, and states on their way to one
    shutil.copytree(levels / "depth=3", levels / f"depth={len(cut.level_sizes)}")
    (levels / "reached=11").mkdir()
    result = search_on_disk(ALL, tmp_path)
    assert_same(result, wanted)
    assert search_on_disk(ALL, tmp_path) == result
    assert sorted(path.name for path in levels.iterdir()) == sorted(f"depth={depth}" for depth in range(12))


def test_a_search_in_whose_folder_anything_is_changed_does_not_go_on(tmp_path: Path) -> None:
    whole = search_on_disk(ALL, tmp_path, head=Limits(depth=10), buckets=2)
    note = max((tmp_path / "steps").iterdir())
    levels = [tmp_path.resolve() / "levels" / f"depth={depth}" for depth in (1, 11)]
    for file in [note, *(max(level.glob(pattern)) for level in levels for pattern in ("*.states", "_files.json"))]:
        good = file.read_bytes()
        file.write_bytes(with_a_bit_flipped(good) if good else b"x")
        with pytest.raises(FolderError, match=str(file)):
            search_on_disk(ALL, tmp_path)
        file.write_bytes(good)
    assert search_on_disk(ALL, tmp_path) == whole


def test_what_spark_began_goes_on_there(tmp_path: Path) -> None:
    level = tmp_path / "levels" / "depth=0"
    level.mkdir(parents=True)
    (level / "part-00000.parquet").touch()
    with pytest.raises(FolderError, match="Spark began"):
        search_on_disk(ALL, tmp_path)
