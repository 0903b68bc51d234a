"""Known states as words of two halves: the filter against Python's sets, with several threads, and where its room ends."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search import collapsed
from fencepost.model.kernel.search.collapsed import Collapsed

MEMORY = 1 << 26
WORD = st.one_of(st.integers(0, 3), st.sampled_from([1 << 63, (1 << 64) - 1]))


def states_of(rows: Words) -> list[tuple[int, ...]]:
    return [tuple(row) for row in rows.tolist()]


@settings(max_examples=25)
@given(st.data(), st.integers(2, 4))
def test_each_state_is_unknown_once(data: st.DataObject, words: int) -> None:
    pieces = data.draw(st.lists(st.lists(st.tuples(*[WORD] * words), min_size=1, max_size=40), min_size=1, max_size=4))
    rows = [np.array(piece, dtype=np.uint64) for piece in pieces]
    seen = set[tuple[int, ...]]()
    with Crew(1) as crew:
        known = Collapsed(rows[0], MEMORY, 1)
        for piece in rows:
            assert known.make_room(len(piece), crew)
            new, every = known.unknown(piece, 0)
            assert every
            assert sorted(states_of(new)) == sorted(set(states_of(piece)) - seen)
            seen |= set(states_of(piece))


def many(seed: int) -> Words:
    """200,000 states of three words, many of them several times."""
    return np.random.default_rng(seed).integers(0, 40, (200_000, 3), dtype=np.uint64)


def test_threads_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each state is unknown to one thread, also after the tables have grown."""
    monkeypatch.setattr(collapsed, "_FIRST_LINES", 64)
    pieces = [many(seed)[:50_000] for seed in range(4)]
    with Crew(2) as crew:
        known = Collapsed(pieces[0], MEMORY, crew.size)
        unknown = list[Words]()
        for pair in (pieces[:2], pieces[2:], pieces[1:3]):
            assert known.make_room(sum(map(len, pair)), crew)
            for new, every in crew.run(lambda number: known.unknown(pair[number], number)):  # noqa: B023
                assert every
                unknown.append(new)
    each = np.unique(np.concatenate(pieces), axis=0)
    assert sum(map(len, unknown)) == len(each)
    assert np.array_equal(np.unique(np.concatenate(unknown), axis=0), each)


def test_states_whose_numbers_have_many_bits_are_told_apart() -> None:
    """More halves of each kind than the lower bits of their numbers tell apart: a slot leaves out what its place says, also
    once it has moved, and no state is taken for another."""
    pieces = [np.random.default_rng(seed).integers(0, 90_000, (300_000, 2), dtype=np.uint64) for seed in range(2)]
    with Crew(2) as crew:
        known, unknown = Collapsed(pieces[0], MEMORY, crew.size), list[Words]()
        for piece in (*pieces, pieces[0]):
            assert known.make_room(len(piece), crew)
            new, every = known.unknown(piece, 0)
            assert every
            unknown.append(new)
    assert min(known._counts[:2]) > 1 << 16
    assert sum(map(len, unknown)) == len(np.unique(np.concatenate(pieces), axis=0))
    assert not len(unknown[-1])


def test_a_state_that_would_be_too_far_from_its_line_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A larger table has room for it, which there is memory for or not."""
    monkeypatch.setattr(collapsed, "_FARTHEST", 0)
    monkeypatch.setattr(collapsed, "_SLACK", 0)
    piece = np.unique(many(1), axis=0)
    with Crew(1) as crew:
        known = Collapsed(piece, MEMORY, 1)
        assert known.make_room(len(piece), crew)
        new, every = known.unknown(piece, 0)
        assert (len(new), every) == (len(piece), False)
        lines = known._table.lines
        assert known.make_room(0, crew)
        assert known._table.lines > lines
        new, every = known.unknown(piece, 0)
        left = len(piece) - len(new)
        assert left > 0, "what was looked up is known, and is not forgotten"
        assert states_of(new) == states_of(piece[left:])
        if not every:
            known._memory = known.bytes_in_use
            assert not known.make_room(0, crew)


def test_what_there_is_no_room_for_is_passed_on() -> None:
    piece = np.unique(many(1), axis=0)
    with Crew(1) as crew:
        known = Collapsed(piece, MEMORY, 1)
        new, every = known.unknown(piece, 0)
        assert (len(new), every) == (len(piece), False)
        assert not Collapsed(piece, 2 << 20, 1).make_room(10 * len(piece), crew)
        assert known.make_room(len(piece), crew)
        again, every = known.unknown(piece, 0)
    assert every
    first = len(piece) - len(again)
    assert 50_000 < first < 60_000, "a table of 65,536 slots at a load of 0.8"
    assert states_of(again) == states_of(piece[first:])


def test_room_is_taken_for_the_halves_that_more_states_bring(monkeypatch: pytest.MonkeyPatch) -> None:
    """For as many as the known states brought for each, not for as many again."""
    monkeypatch.setattr(collapsed, "_FIRST_LINES", 1 << 10)
    monkeypatch.setattr(collapsed, "_SLACK", 0)
    first, last = np.meshgrid(np.arange(30_000, dtype=np.uint64), np.arange(4, dtype=np.uint64))
    piece = np.stack([first.ravel(), last.ravel()], 1)
    with Crew(1) as crew:
        known = Collapsed(piece, MEMORY, 1)
        assert known.make_room(len(piece), crew)
        assert known.unknown(piece, 0)[1]
        lines = known._halves[0].space.lines
        assert 30_000 < known._halves[0].space.grow_at < 60_000
        assert known.make_room(30_000, crew)
        assert known._halves[0].space.lines == lines
        assert known.make_room(len(piece), crew)
        assert known._halves[0].space.lines > lines


def test_it_is_cut_where_there_are_few_halves() -> None:
    numbers = np.arange(1000, dtype=np.uint64)
    first, last = np.stack([numbers, numbers % 7, numbers % 5], 1), np.stack([numbers % 5, numbers % 7, numbers], 1)
    assert [Collapsed(rows, MEMORY, 1).split for rows in (first, last)] == [2, 1]


def test_what_has_moved_gives_its_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both tables together take no more than the new one: what is given back reads as zero."""
    if sys.platform != "linux":
        pytest.skip("elsewhere the system may keep it until it needs it")
    monkeypatch.setattr(collapsed, "_STRETCH", 1 << 9)
    piece = np.unique(many(1), axis=0)
    with Crew(2) as crew:
        known = Collapsed(piece, MEMORY, crew.size)
        known.unknown(piece, 0)
        before = known._slots
        assert before.any()
        assert known.make_room(10 * len(piece), crew)
        assert not before.any()
        assert not len(known.unknown(piece[:50_000], 0)[0]), "and nothing is forgotten"
