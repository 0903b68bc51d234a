"""New states among many: the sieve against Python's sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.pieces import BLOCK, CodingError, buckets_of, new_states, read_states, write_states

State = tuple[int, ...]
WORD = st.one_of(st.integers(0, 3), st.sampled_from([1 << 63, (1 << 64) - 1]))


def rows(states: list[State], words: int) -> Words:
    return np.array(states, dtype=np.uint64).reshape(-1, words)


@settings(max_examples=25)
@given(st.data(), st.integers(1, 3))
def test_what_is_new_comes_once_and_in_order(data: st.DataObject, words: int) -> None:
    _is_as_sets_have_it(data, words)


@pytest.mark.long
@given(st.data(), st.integers(1, 3))
def test_what_is_new_comes_once_and_in_order_in_more_examples(data: st.DataObject, words: int) -> None:
    _is_as_sets_have_it(data, words)


def _is_as_sets_have_it(data: st.DataObject, words: int) -> None:
    lists = st.lists(st.lists(st.tuples(*[WORD] * words), max_size=40), min_size=1, max_size=4)
    pieces, known = data.draw(lists), data.draw(lists)
    new = new_states([rows(piece, words) for piece in pieces], (rows(piece, words) for piece in known))
    assert [tuple(row) for row in new.tolist()] == sorted({s for p in pieces for s in p} - {s for p in known for s in p})


def test_many_states_with_many_known() -> None:
    """More than a few lines of the table, and than are looked up ahead; every third state is known."""
    states = np.arange(300_000, dtype=np.uint64).reshape(-1, 1)
    new = new_states([states[::-1], states[:1000]], [states[::3], states[:7]])
    assert np.array_equal(new[:, 0], np.delete(states[:, 0], np.s_[::3])[4:])


def test_a_state_is_always_in_the_same_bucket_and_buckets_are_about_as_full() -> None:
    states = np.arange(80_000, dtype=np.uint64).reshape(-1, 2)
    buckets = buckets_of(states, 5)
    assert np.array_equal(buckets_of(states[::7], 5), buckets[::7])
    assert all(7_500 < count < 8_500 for count in np.bincount(buckets, minlength=5))
    assert set(buckets_of(states, 1)) == {0}


def drawn(count: int, words: int, seed: int, bits: int = 64) -> Words:
    values = np.random.default_rng(seed).integers(0, 1 << bits, (count, words), dtype=np.uint64, endpoint=False)
    return np.unique(values, axis=0)


def written(path: Path, *pieces: Words) -> Path:
    with path.open("wb") as file:
        for piece in pieces:
            write_states(file, piece)
    return path


@given(st.integers(1, 5).flatmap(lambda words: st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=words, max_size=words))))
def test_any_states_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]]) -> None:
    states = np.array(rows, dtype=np.uint64).reshape(len(rows), len(rows[0]) if rows else 1)
    file = written(tmp_path_factory.mktemp("coded") / "states", states)
    assert [row for block in read_states(file, states.shape[1]) for row in block.tolist()] == rows


def test_blocks_of_several_pieces_are_read_in_order(tmp_path: Path) -> None:
    one, other = drawn(2 * BLOCK + 7, 3, 1), drawn(5, 3, 2)
    blocks = list(read_states(written(tmp_path / "states", one, other), 3))
    assert list(map(len, blocks)) == [BLOCK, BLOCK, 7, 5]
    assert (np.concatenate(blocks) == np.concatenate([one, other])).all()


def test_states_in_order_take_few_bytes(tmp_path: Path) -> None:
    states = drawn(100_000, 1, 3, bits=20)
    assert written(tmp_path / "states", states).stat().st_size < 3 * len(states)


def test_bytes_that_are_no_states_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "states", drawn(100, 2, 4))
    good = file.read_bytes()
    for end in (*range(1, 16), 17, len(good) - 1):
        file.write_bytes(good[:end])
        with pytest.raises(CodingError, match=str(file)):
            list(read_states(file, 2))
    for place, byte in ((16, 0x99), (0, 0xFF), (8, 0x01)):  # a length of nine bytes, a count and a size that do not fit
        file.write_bytes(good[:place] + bytes([byte]) + good[place + 1 :])
        with pytest.raises(CodingError, match=str(file)):
            list(read_states(file, 2))
