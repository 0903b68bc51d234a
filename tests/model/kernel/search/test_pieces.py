"""New states among many: the sieve against Python's sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.pieces import buckets_of, new_states

State = tuple[int, ...]
WORD = st.one_of(st.integers(0, 3), st.sampled_from([1 << 63, (1 << 64) - 1]))


def rows(states: list[State], words: int) -> Words:
    return np.array(states, dtype=np.uint64).reshape(-1, words)


@settings(deadline=None, max_examples=25)
@given(st.data(), st.integers(1, 3))
def test_what_is_new_comes_once_and_in_order(data: st.DataObject, words: int) -> None:
    _is_as_sets_have_it(data, words)


@pytest.mark.long
@settings(deadline=None)
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
