"""Exhaustive search on disk: the same as in memory, wherever it was cut off and whatever the number of threads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fencepost.model.kernel.compiler import loops
from fencepost.model.kernel.search import collapsed
from fencepost.model.kernel.search.expansion import Tally
from fencepost.model.kernel.search.results import Limits, Progress
from fencepost.traces.exploration import on_disk
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.on_disk import DiskLevels, search_on_disk
from fencepost.traces.exploration.run import Run
from tests.traces.exploration.searches import ALL, assert_same, by_itself, with_a_bit_flipped

NOTHING = Limits(depth=0)
"""All but the initial states are found on disk."""


ENOUGH = Limits.memory
MEMORY = pytest.mark.parametrize("memory", [0, ENOUGH], ids=["what is known is read", "what is known is in memory"])


@pytest.mark.long
@MEMORY
@pytest.mark.parametrize(
    ("parameters", "bugs"),
    [
        ({"entries": 1}, ()),
        ({"entries": 1, "losses": 1}, ()),
        ({"entries": 1, "crashes": 1}, ("fence_not_durable",)),
        ({"entries": 1}, ("confirms_with_gaps", "no_such_entry_though_stored")),
    ],
)
def test_it_finds_what_the_engine_finds(tmp_path: Path, parameters: dict[str, int], bugs: tuple[str, ...], memory: int) -> None:
    run = Run("ledger", parameters, bugs)
    assert_same(search_on_disk(run, tmp_path, head=NOTHING, buckets=3, memory=memory), by_itself(run))


def written(folder: Path, workers: int, memory: int) -> dict[Path, bytes]:
    """The files of a search."""
    folder.mkdir()
    search_on_disk(ALL, folder, head=Limits(depth=6), workers=workers, buckets=5, memory=memory)
    return {file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*.states"))}


def test_the_files_are_the_same_whatever_the_number_of_threads_and_the_memory(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{workers}-{memory}", workers, memory) for memory in (0, ENOUGH) for workers in (1, 3)]
    assert all(each == files[0] for each in files)
    assert len(files[0]) == 12 * 5


def test_it_tells_how_much_of_a_level_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First, of reading back what is known."""
    monkeypatch.setattr(loops, "_GLANCE", 0.0)
    reports = list[Progress]()
    search_on_disk(ALL, tmp_path, head=Limits(depth=10), buckets=3, progress=reports.append)
    of_the_level = [at for at in reports if at.depth == 10 and at.share is not None]
    assert [at.reads_back for at in of_the_level] == sorted([at.reads_back for at in of_the_level], reverse=True)
    for reads_back in (True, False):
        shares = [at.share for at in of_the_level if at.reads_back == reads_back]
        assert len(set(shares)) > 1
        assert shares == sorted(shares)
        assert all(0 <= share <= 1 for share in shares)


def all_new(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether what is made of a level's states in some buckets was all looked up, for each thread and level from now on."""
    looked_up, expand = list[bool](), DiskLevels._expand

    def noting(levels: DiskLevels, *arguments: Any) -> tuple[Tally, bool]:
        tally, every = expand(levels, *arguments)
        looked_up.append(every)
        return tally, every

    monkeypatch.setattr(DiskLevels, "_expand", noting)
    return looked_up


def test_a_level_for_which_the_room_is_too_little_is_read_past_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of what is known fills up in the midst of levels, and is made anew after each of them."""
    enough = written(tmp_path / "enough", 2, ENOUGH)
    monkeypatch.setattr(collapsed, "_FIRST_LINES", 64)
    monkeypatch.setattr(collapsed, "_SLACK", 200)
    monkeypatch.setattr(on_disk, "_AHEAD", 0)
    looked_up = all_new(monkeypatch)
    assert written(tmp_path / "little", 2, ENOUGH) == enough
    assert not all(looked_up)
    assert any(looked_up)


def test_a_level_of_which_a_state_would_be_too_far_from_its_line_is_read_past_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enough = written(tmp_path / "enough", 2, ENOUGH)
    monkeypatch.setattr(collapsed, "_FIRST_LINES", 64)
    monkeypatch.setattr(collapsed, "_SLACK", 0)
    monkeypatch.setattr(collapsed, "_FARTHEST", 0)
    looked_up = all_new(monkeypatch)
    assert written(tmp_path / "near", 2, ENOUGH) == enough
    assert not all(looked_up)
    assert any(looked_up)


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
