"""The states that a search knows, in ten bytes each: a filter for their successors where the states themselves are on disk.

A state is cut into two halves. Each half that occurs is kept once and has a number, and a state is the word of its two numbers
(Holzmann's collapse compression; with two halves it is the root of a tree, as Laarman's). A table has those words and nothing
else. States differ in few halves: 62 million of the ledger have 77 thousand first ones and two million second ones.

What the filter says is known is known. It does not say so of every state that is: a table that is full passes the rest on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fencepost.model.kernel.compiler.loops import (
    Crew,
    Integer,
    Word,
    alike,
    fetch_add,
    load,
    load_int,
    lowest_bit,
    native,
    native_inline,
    prefetch,
    publish,
    store,
)
from fencepost.model.kernel.compiler.packing import Flags, Words
from fencepost.model.kernel.search.pieces import new_states
from fencepost.model.kernel.search.store import (
    AHEAD,
    LINE,
    Segment,
    Space,
    Store,
    fetch_line,
    fetch_match,
    give_back,
    hash_state,
    insert,
    zeros,
)

_LOAD = 0.8
_FIRST_LINES = 1 << 13
_GROWTH = 1.5
"""How much larger the next table is, if there is memory."""
_STRETCH = 1 << 16
"""Lines of a table that move at once, 4 MiB. Then their memory is given back: words keep their order when they move, so the new
table fills from its beginning while the old one goes, and both together take no more than the new one."""
_SLACK = 1 << 16
"""Room that there is for more than is expected."""
SAMPLE = 1 << 20
"""States by which it is decided where to cut. Of few states nearly each has halves of its own, wherever they are cut."""
_LEFT, _RIGHT, _KEYS = 0, 1, 2
_HALF = np.uint64(32)
_MOST = (1 << 32) - 1
"""Halves of a kind: their numbers have 32 bits."""
_EMPTY, _ALL = np.uint64(0), ~np.uint64(0)


class Collapsed:
    """The known states of a search, within ``memory`` bytes, for so many threads at once."""

    def __init__(self, sample: Words, memory: int, threads: int) -> None:
        """``sample`` are states of the search, one in each row, of two words at least."""
        self.words = sample.shape[1]
        self.split = _cut(sample[:SAMPLE])
        self._memory, self._threads = memory, threads
        self._halves = [Store(words, memory, _FIRST_LINES) for words in (self.split, self.words - self.split)]
        self._counts = np.zeros(3, dtype=np.int64)
        self._places = np.full((threads, 2), -1, dtype=np.int64)
        self._lines = _FIRST_LINES
        self._table = zeros(LINE * self._lines)

    @property
    def bytes_in_use(self) -> int:
        """What the tables and the halves take."""
        halves = zip(self._halves, self._counts[:_KEYS], strict=True)
        return 8 * LINE * self._lines + sum(half.bytes_in_use(int(count)) for half, count in halves)

    def make_room(self, expected: int, crew: Crew) -> bool:
        """Gets ready for so many more states; false if there is too little memory. Nothing may be added meanwhile."""
        for half, count, which in zip(self._halves, self._counts[:_KEYS].tolist(), (_LEFT, _RIGHT), strict=True):
            least = count + min(count, expected) + _SLACK * self._threads
            if least > _MOST:
                return False
            if least > half.space.grow_at and not half.rebuild(self._segments(which), least, _everywhere(crew)):
                return False
        wanted = int((int(self._counts[_KEYS]) + expected + _SLACK * self._threads) / (_LOAD * LINE)) + 1
        if wanted <= self._lines:
            return self.bytes_in_use <= self._memory
        affordable = self._lines + (self._memory - self.bytes_in_use) // (8 * LINE)
        if wanted > affordable:
            return False
        lines = min(int(_GROWTH * wanted), affordable)
        table, firsts = zeros(LINE * lines), iter(range(0, self._lines, _STRETCH))

        def move(_: int) -> None:
            for first in firsts:
                last = min(first + _STRETCH, self._lines)
                _move(self._table.ctypes.data, first, last, table.ctypes.data, lines)
                give_back(self._table, LINE * first, LINE * last)

        crew.run(move)
        self._table, self._lines = table, lines
        return True

    def unknown(self, states: Words, thread: int) -> tuple[Words, bool]:
        """The states that were not known until now, each once; from now on they are. False, with those that were not looked at
        after them, if the room is not enough for all."""
        rows = np.ascontiguousarray(states)
        known, hashes = np.zeros(len(rows), dtype=np.bool_), np.empty(2 * AHEAD, dtype=np.uint64)
        left, right = (half.space for half in self._halves)
        most = int(_LOAD * LINE * self._lines) - AHEAD * self._threads
        seen = _strike(
            left,
            right,
            self._table.ctypes.data,
            self._lines,
            most,
            AHEAD * self._threads,
            self.split,
            rows.ctypes.data,
            len(rows),
            self._counts.ctypes.data,
            self._places[thread].ctypes.data,
            hashes.ctypes.data,
            known,
        )
        return rows[~known], seen == len(rows)

    def _segments(self, which: int) -> list[Segment]:
        """Where the halves are: in all places but those that a thread has taken and not used."""
        free = sorted(place for place in self._places[:, which].tolist() if place >= 0)
        starts, ends = [0, *(place + 1 for place in free)], [*free, int(self._counts[which])]
        return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _everywhere(crew: Crew) -> Callable[[Callable[[], None]], None]:
    def run(task: Callable[[], None]) -> None:
        crew.run(lambda _: task())

    return run


def _cut(sample: Words) -> int:
    """After which word a state is cut, so that there are few halves."""

    def halves(split: int) -> int:
        return sum(len(new_states([part], [])) for part in (sample[:, :split], sample[:, split:]))

    return min(range(1, sample.shape[1]), key=halves)


@native_inline
def _line(key: Word, lines: Integer) -> Integer:
    """The line in which the search for a word begins."""
    mixed = (key ^ (key >> _HALF)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(((mixed >> _HALF) * np.uint64(lines)) >> _HALF)


@native_inline
def _add(table: Integer, lines: Integer, key: Word) -> bool:
    """Adds a word that is not zero; whether it was new."""
    number = _line(key, lines)
    while True:
        line = table + 8 * LINE * number
        if alike(line, key, _ALL) != _EMPTY:
            return False
        free = alike(line, _EMPTY, _ALL)
        if free == _EMPTY:
            number = number + 1 if number + 1 < lines else 0
        elif publish(line + 8 * lowest_bit(free), key) == _EMPTY:
            return True
        # another thread was faster with that slot, perhaps with this word: look at the line again


@native_inline
def _number(space: Space, value: Word, half: Integer, which: Integer, counts: Integer, places: Integer) -> Word:
    """The number of a half, whose hash is ``value``; a new one takes the place that the thread has, or the next."""
    place = load_int(places + 8 * which)
    if place < 0:
        place = fetch_add(counts + 8 * which, 1)
    there = insert(space, value, half, place)
    store(places + 8 * which, _ALL if there == place else np.uint64(place))  # -1: none
    return np.uint64(there)


@native
def _strike(
    left: Space,
    right: Space,
    table: Integer,
    lines: Integer,
    most: Integer,
    slack: Integer,
    split: Integer,
    states: Integer,
    count: Integer,
    counts: Integer,
    places: Integer,
    hashes: Integer,
    known: Flags,
) -> Integer:
    """Marks which of the states at an address are known, and adds the others; returns how many it has looked at: all, unless
    there are more than ``most`` by then, or nearly as many halves as there is room for."""
    words = left.words + right.words
    for first in range(0, count, AHEAD):
        if (
            load_int(counts + 8 * _KEYS) > most
            or load_int(counts + 8 * _LEFT) + slack > min(left.grow_at, _MOST)
            or load_int(counts + 8 * _RIGHT) + slack > min(right.grow_at, _MOST)
        ):
            return first
        batch = min(AHEAD, count - first)
        for number in range(batch):
            state = states + 8 * words * (first + number)
            one, other = hash_state(state, left.words), hash_state(state + 8 * split, right.words)
            store(hashes + 8 * number, one)
            store(hashes + 8 * (AHEAD + number), other)
            fetch_line(left, one)
            fetch_line(right, other)
        for number in range(batch):
            fetch_match(left, load(hashes + 8 * number))
            fetch_match(right, load(hashes + 8 * (AHEAD + number)))
        for number in range(batch):
            state = states + 8 * words * (first + number)
            one = _number(left, load(hashes + 8 * number), state, _LEFT, counts, places)
            other = _number(right, load(hashes + 8 * (AHEAD + number)), state + 8 * split, _RIGHT, counts, places)
            key = (one << _HALF | other) + np.uint64(1)
            store(hashes + 8 * number, key)
            prefetch(table + 8 * LINE * _line(key, lines))
        added = 0
        for number in range(batch):
            if _add(table, lines, load(hashes + 8 * number)):
                added += 1
            else:
                known[first + number] = True
        fetch_add(counts + 8 * _KEYS, added)
    return count


@native
def _move(table: Integer, first: Integer, last: Integer, to: Integer, to_lines: Integer) -> None:
    """Adds the words of some lines of a table to another one."""
    for slot in range(LINE * first, LINE * last):
        key = load(table + 8 * slot)
        if key != _EMPTY:
            _add(to, to_lines, key)
