"""Native loops are compiled once, stored as object code that needs nothing of Numba's, and loaded by later processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fencepost.model.kernel.compiler import loops, store
from fencepost.model.kernel.compiler.loops import Instruction, load, native, prepare
from fencepost.model.kernel.compiler.program import compare, has, same
from fencepost.model.kernel.compiler.store import VARIABLE, turn_at
from fencepost.model.kernel.search.store import hash_state

SAID = "import sys, tests.model.kernel.compiler.test_loops as t; print(t.sum_of_first(4), 'numba' in sys.modules)"
ROOT = Path(__file__).resolve().parents[4]


@native
def _sum(words: Any, count: Any) -> Any:
    total = np.uint64(0)
    for word in range(count):
        total += load(words + 8 * word)
    return total


def sum_of_first(count: int) -> int:
    words = np.arange(count, dtype=np.uint64)
    return int(_sum(words.ctypes.data, count))


def test_loops_take_and_return_words() -> None:
    states = np.array([[1, 2], [1, 2], [1, 3], [(1 << 64) - 1, 0]], dtype=np.uint64)
    at = [row.ctypes.data for row in states]
    assert (same(at[0], at[1], 2), same(at[0], at[2], 2)) == (True, False)
    assert (compare(at[0], at[2], 2), compare(at[3], at[0], 2), compare(at[0], at[1], 2)) == (-1, 1, 0)
    assert has(at[3], 63)
    assert hash_state(at[3], 2) == hash_state(np.int64(at[3]), 2) >= 0


def test_each_instruction_is_there() -> None:
    from fencepost.model.kernel.compiler import loop_compiler  # loads Numba

    named = {value.name: name for name, value in vars(loops).items() if isinstance(value, Instruction)}
    assert named == {name: name for name in named}
    defined = {name for name, value in vars(loop_compiler).items() if type(value).__name__ == "_Intrinsic"}
    assert set(named) == defined


def test_an_instruction_is_for_loops_alone() -> None:
    with pytest.raises(TypeError, match="load is an instruction of the machine"):
        load(0)


def test_what_no_loop_takes_is_refused() -> None:
    with pytest.raises(TypeError, match="a native loop takes no str"):
        _sum("words", 1)


@pytest.mark.long
def test_a_loop_that_allocates_is_refused() -> None:
    @native
    def sum_of_new(count: Any) -> Any:
        return np.zeros(count).sum()

    with pytest.raises(Exception, match="Failed in loops mode pipeline"):
        sum_of_new(3)


@pytest.mark.long
def test_a_later_process_loads_the_object_code(tmp_path: Path) -> None:
    assert [_in_a_process(tmp_path) for _ in range(2)] == ["6 True", "6 False"]


@pytest.mark.long
@pytest.mark.parametrize("damage", [b"", b"no header\n", None])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    _in_a_process(tmp_path)
    (file,) = tmp_path.rglob("*.o")
    whole = file.read_bytes()
    middle = len(whole) // 2
    file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :] if damage is None else damage)
    assert _in_a_process(tmp_path) == "6 True"
    assert (file.read_bytes(), _in_a_process(tmp_path)) == (whole, "6 False")


def test_loops_of_another_processor_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = set()
    for name in ("one", "another"):
        monkeypatch.setattr(store, "host", lambda name=name: (name, ""))
        store.folder_of_loops.cache_clear()
        folders.add(store.folder_of_loops())
    store.folder_of_loops.cache_clear()
    assert len(folders) == 2


@pytest.fixture
def empty_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    store._base.cache_clear()
    yield tmp_path
    store._base.cache_clear()


def test_a_loop_is_one_process_s_at_a_time(empty_store: Path) -> None:
    for _ in range(2):
        with turn_at("one", 0.0) as first, turn_at("one", 0.01) as second, turn_at("another", 0.0) as other:
            assert (first, second, other) == (True, False, True)
    assert not [path for path in empty_store.rglob("*") if path.is_file()]


@pytest.mark.long
def test_the_turn_of_a_process_that_is_killed_ends(empty_store: Path) -> None:
    text = (
        f"import time; from {store.__name__} import turn_at\nwith turn_at('one', 0): print('mine', flush=True); time.sleep(600)"
    )
    with _process(empty_store, text) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "mine\n"
        with turn_at("one", 0.0) as is_mine:
            assert not is_mine
        other.kill()
    with turn_at("one", 60.0) as is_mine:
        assert is_mine


@pytest.mark.long
def test_of_processes_that_begin_together_one_compiles(tmp_path: Path) -> None:
    processes = [_process(tmp_path, SAID) for _ in range(2)]
    assert sorted(process.communicate()[0].strip() for process in processes) == ["6 False", "6 True"]


@pytest.mark.long
def test_what_another_process_compiles_comes_last(monkeypatch: pytest.MonkeyPatch, empty_store: Path) -> None:
    turns = list[tuple[str, bool]]()

    @contextmanager
    def of_another_at_first(loop: str, seconds: float) -> Iterator[bool]:
        turns.append((loop.partition("-")[0].rpartition(".")[2], seconds > 0))
        yield len(turns) > 1

    monkeypatch.setattr(loops, "turn_at", of_another_at_first)

    @native
    def plus(one: Any, other: Any) -> Any:
        return one + other

    @native
    def minus(one: Any, other: Any) -> Any:
        return one - other

    prepare((plus, (0, 0)), (minus, (0, 0)))
    assert turns == [("plus", False), ("minus", False), ("plus", True)]
    assert (plus(5, 3), minus(5, 3), len(turns)) == (8, 2, 3)


def _in_a_process(folder: Path) -> str:
    """What a process says that keeps its loops in the folder."""
    with _process(folder, SAID) as process:
        return process.communicate()[0].strip()


def _process(folder: Path, text: str) -> subprocess.Popen[str]:
    around = {VARIABLE: str(folder), "PATH": "/usr/bin"}
    return subprocess.Popen([sys.executable, "-c", text], cwd=ROOT, env=around, stdout=subprocess.PIPE, text=True)
