"""The states of a search: an array of them and the table that finds them, in memory within a budget.

The states lie in one array. A slot of the table is a word: 24 bits of the state's hash (its tag) and, in 40 bits, the
state's place in the array plus one; zero is an empty slot. A thread writes a state to a place of its own and then
publishes the slot, so whoever sees the slot sees the state. The tag only spares comparisons: a state counts as known
when all its words are equal. Eight slots share a cache line, which fills from its first slot on; a probe compares all
eight tags at once and goes on to the next line only if this one is full. Nothing is ever removed.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import (
    SLOTS,
    Integer,
    Word,
    alike,
    fetch_add,
    load,
    load_published,
    lowest_bit,
    native,
    native_inline,
    prefetch,
    publish,
)
from fencepost.model.kernel.compiler.packing import Integers, Words
from fencepost.model.kernel.compiler.program import copy, same

LINE = SLOTS
"""Slots in a cache line."""

MAX_STATES = (1 << 40) - 2
_TAG = np.uint64(0xFFFF_FF00_0000_0000)
_PLACE = np.uint64((1 << 40) - 1)
_LOW = np.uint64(0xFFFF_FFFF)
_EMPTY, _ALL = np.uint64(0), ~np.uint64(0)
AHEAD = 64
"""States whose lines are asked for before the first is looked up."""


class Space(NamedTuple):
    """The array of states and the table, as the loops see them: addresses, words per state, lines of the table, how many
    states the array may hold, and beyond how many the table is to grow."""

    states: int
    table: int
    words: int
    lines: int
    capacity: int
    grow_at: int


class Frontier(NamedTuple):
    """States to go through: segments of the array. Segment i starts at place ``starts[i]`` and holds the states numbered
    from ``ordinals[i]`` up to ``ordinals[i + 1]``."""

    starts: Integers
    ordinals: Integers


@native_inline
def hash_state(state: Integer, words: Integer) -> Word:
    """64 bits of hash of the state at an address."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        value = (value ^ load(state + 8 * word)) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@native
def _line(space: Space, value: Word) -> Integer:
    """The line in which the search for a hash begins."""
    return np.int64(((value & _LOW) * np.uint64(space.lines)) >> np.uint64(32))


@native_inline
def fetch_line(space: Space, value: Word) -> None:
    """Asks for the line in which the search for a hash begins."""
    prefetch(space.table + 8 * LINE * _line(space, value))


@native_inline
def fetch_match(space: Space, value: Word) -> Integer:
    """The place of the state that the search for a hash will be compared with first, which is asked for; -1 if the line in
    which that search begins, already here, names none: then the next line is asked for, in case this one is full."""
    line = space.table + 8 * LINE * _line(space, value)
    slot = lowest_bit(alike(line, value, _TAG)) & (LINE - 1)  # without a match any slot will do
    there = load(line + 8 * slot)
    place = np.int64(there & _PLACE) - 1
    known = (there ^ value) & _TAG == _EMPTY
    prefetch(space.states + 8 * space.words * place if known else line + 8 * LINE)
    return place if known else -1


@native_inline
def insert(space: Space, value: Word, state: Integer, place: Integer) -> Integer:
    """Adds the state at an address, whose hash is ``value``, at a place of the array that is the caller's own; returns the
    place where it is. If that is another one, it was there already, and the caller's is still free."""
    mine = (value & _TAG) | np.uint64(place + 1)
    number = _line(space, value)
    while True:
        line = space.table + 8 * LINE * number
        free = alike(line, _EMPTY, _ALL)
        candidates = alike(line, value, _TAG) & ~free
        while candidates != _EMPTY:
            there = np.int64(load_published(line + 8 * lowest_bit(candidates)) & _PLACE) - 1
            if same(space.states + 8 * space.words * there, state, space.words):
                return there
            candidates &= candidates - np.uint64(1)
        if free == _EMPTY:
            number = number + 1 if number + 1 < space.lines else 0
            continue
        copy(state, space.states + 8 * space.words * place, space.words)
        if publish(line + 8 * lowest_bit(free), mine) == _EMPTY:
            return np.int64(place)
        # Another thread was faster with that slot, perhaps with this state: look at the line again.


@native
def find(space: Space, value: Word, state: Integer) -> Integer:
    """The place of the state at an address, whose hash is ``value``; -1 if it is not there. Nothing may be added meanwhile."""
    number = _line(space, value)
    while True:
        line = space.table + 8 * LINE * number
        free = alike(line, _EMPTY, _ALL)
        candidates = alike(line, value, _TAG) & ~free
        while candidates != _EMPTY:
            place = np.int64(load(line + 8 * lowest_bit(candidates)) & _PLACE) - 1
            if same(space.states + 8 * space.words * place, state, space.words):
                return place
            candidates &= candidates - np.uint64(1)
        if free != _EMPTY:
            return -1
        number = number + 1 if number + 1 < space.lines else 0


@native
def look_up(space: Space, states: Integer, count: Integer, places: Integers) -> None:
    """Writes the places of the states at an address; -1 of one that is not there. Nothing may be added meanwhile."""
    for number in range(count):
        state = states + 8 * space.words * number
        places[number] = find(space, hash_state(state, space.words), state)


@native
def _place(space: Space, value: Word, place: Integer) -> None:
    """Adds the state at a place of the array, which is known to be new."""
    mine = (value & _TAG) | np.uint64(place + 1)
    number = _line(space, value)
    while True:
        line = space.table + 8 * LINE * number
        free = alike(line, _EMPTY, _ALL)
        if free == _EMPTY:
            number = number + 1 if number + 1 < space.lines else 0
        elif publish(line + 8 * lowest_bit(free), mine) == _EMPTY:
            return


@native
def segment_of(ordinals: Integers, ordinal: Integer) -> Integer:
    """The segment of a frontier that the state of a number is in. NumPy's search takes Numba a second to compile."""
    first, last = np.int64(0), np.int64(len(ordinals))
    while last - first > 1:
        middle = first + last >> 1
        if ordinals[middle] <= ordinal:
            first = middle
        else:
            last = middle
    return first


@native
def fill(space: Space, frontier: Frontier, cursor: Integer, hashes: Words) -> None:
    """Adds states that are distinct and in the array already to an empty table; several threads share the work by the
    counter at the address ``cursor``. ``hashes`` is room for a batch of them (AHEAD)."""
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        first = fetch_add(cursor, AHEAD)
        if first >= total:
            return
        last = min(first + AHEAD, total)
        begin = segment = segment_of(ordinals, first)
        for ordinal in range(first, last):
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            place = starts[segment] + ordinal - ordinals[segment]
            hashes[ordinal - first] = hash_state(space.states + 8 * space.words * place, space.words)
            fetch_line(space, hashes[ordinal - first])
        segment = begin
        for ordinal in range(first, last):
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            place = starts[segment] + ordinal - ordinals[segment]
            _place(space, hashes[ordinal - first], place)


_LOAD = 0.8
_FIRST_LINES = 1 << 13
_MANY_LINES = 1 << 17
"""Lines of a table from which it grows twofold, and below which fourfold, so that fewer states are put in again: 8 MiB."""
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # mmap.MAP_NORESERVE is in Python's own module only from 3.13

Segment = tuple[int, int]
"""States of the array: the first, and the one after the last."""


def zeros(words: int, *, large_pages: bool = True) -> Words:
    """Zeroed memory that takes none of the machine's until it is touched; MemoryError if the system refuses it. Large pages are
    for what is read at random."""
    try:
        memory = mmap.mmap(-1, max(8 * words, 8), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except OSError as error:
        raise MemoryError(f"the system refuses {8 * words / 2**30:.2f} GiB of memory: {error.strerror}") from error
    if large_pages and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=np.uint64)


def give_back(words: Words, first: int, last: int) -> None:
    """The machine may have the memory of these words of ``zeros``, which nobody reads again; whole pages of it."""
    page = mmap.PAGESIZE // 8
    start, end = -(-first // page) * page, last // page * page
    if start < end and hasattr(mmap, "MADV_DONTNEED"):
        assert isinstance(words.base, memoryview)
        memory = words.base.obj
        assert isinstance(memory, mmap.mmap)
        memory.madvise(mmap.MADV_DONTNEED, 8 * start, 8 * (end - start))


def frontier(segments: Sequence[Segment]) -> Frontier:
    """The states of some segments, in order."""
    starts = np.array([start for start, _ in segments], dtype=np.int64)
    return Frontier(starts, np.cumsum([0, *(end - start for start, end in segments)], dtype=np.int64))


def sizes(levels: Sequence[Sequence[Segment]]) -> tuple[int, ...]:
    """How many states each level has."""
    return tuple(sum(end - start for start, end in level) for level in levels)


def joined(segments: Iterable[Segment]) -> list[Segment]:
    """The same states in as few segments as possible, in order."""
    runs: list[Segment] = []
    for start, end in sorted(segments):
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def least_budget(words: int, inserts_in_flight: int) -> int:
    """The bytes that a store takes to begin with."""
    return int(_first_lines(inserts_in_flight) * 8 * LINE * (1 + _LOAD * words)) + 1


def _first_lines(inserts_in_flight: int) -> int:
    return max(_FIRST_LINES, 8 * inserts_in_flight // LINE)


class BudgetError(MemoryError):
    """A budget of memory with which a search cannot begin."""


class Store:
    """The states of a search and the table that finds them.

    ``budget`` is in bytes and covers both; ``inserts_in_flight`` is how many states the workers together may add between
    two looks at the table's load. Raises BudgetError if the budget is too small to begin with.
    """

    def __init__(self, words: int, budget: int, inserts_in_flight: int) -> None:
        self.words = words
        self.budget = budget
        self._most_lines = int(budget / (8 * LINE * (1 + _LOAD * words)))
        self._lines = _first_lines(inserts_in_flight)
        if self._lines > self._most_lines:
            least = least_budget(words, inserts_in_flight)
            given, needed = (f"{count / (1 << 20):.2f} MiB" for count in (budget, least))
            raise BudgetError(f"{given} of memory is too little: this search takes {needed} to begin with")
        self._states = zeros(budget // 8)
        self._table = zeros(LINE * self._lines)
        self.space = self._space()

    def _space(self) -> Space:
        capacity = min((self.budget - 8 * LINE * self._lines) // (8 * self.words), MAX_STATES)
        grow_at = int(_LOAD * LINE * self._lines)
        return Space(self._states.ctypes.data, self._table.ctypes.data, self.words, self._lines, capacity, grow_at)

    def fits(self, count: int) -> bool:
        """Whether the budget allows that many states."""
        return count <= _LOAD * LINE * self._most_lines

    def rebuild(self, segments: Sequence[Segment], least: int, run: Callable[[Callable[[], None]], None]) -> bool:
        """Makes the table again from the states of these segments, with room for more than ``least`` states; false if the
        budget does not allow it. ``run`` runs a function on every worker."""
        lines = self._lines
        while lines * LINE * _LOAD <= least and lines < self._most_lines:
            lines = min((4 if lines < _MANY_LINES else 2) * lines, self._most_lines)
        if lines * LINE * _LOAD <= least:
            return False
        self._lines = lines
        del self._table  # given back before the new one is taken
        self._table = zeros(LINE * lines)
        self.space = self._space()
        if segments:
            states, cursor = frontier(segments), np.zeros(1, dtype=np.int64)
            run(lambda: fill(self.space, states, cursor.ctypes.data, np.empty(AHEAD, dtype=np.uint64)))
        return True

    def clear(self) -> None:
        """Empties the table, whose memory is used again."""
        self._table.fill(0)

    def rows(self, segment: Segment) -> Words:
        """The states of a segment, one in each row: a view."""
        start, end = segment
        return self._states[start * self.words : end * self.words].reshape(-1, self.words)

    def bytes_in_use(self, top: int) -> int:
        """What the table and the first ``top`` places of the array take."""
        return 8 * LINE * self._lines + 8 * self.words * min(top, self.space.capacity)
