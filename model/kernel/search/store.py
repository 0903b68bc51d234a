"""Memory of a search: the array of states and the table over it, within a budget."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.table import AHEAD, LINE, MAX_STATES, Frontier, Space, fill

_LOAD = 0.8
_FIRST_LINES = 1 << 13
_MANY_LINES = 1 << 17
"""Lines of a table from which it grows twofold, and below which fourfold, so that fewer states are put in again: 8 MiB."""
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # mmap.MAP_NORESERVE is in Python's own module only from 3.13

Segment = tuple[int, int]
"""States of the array: the first, and the one after the last."""


def zeros(words: int) -> Words:
    """Zeroed memory that takes none of the machine's until it is touched; MemoryError if the system refuses it."""
    try:
        memory = mmap.mmap(-1, max(8 * words, 8), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except OSError as error:
        raise MemoryError(f"the system refuses {8 * words / 2**30:.2f} GiB of memory: {error.strerror}") from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=np.uint64)


def give_back(words: Words, first: int, last: int) -> None:
    """The machine may have the memory of these words of ``zeros``, which nobody reads again; whole pages of it."""
    page = mmap.PAGESIZE // 8
    start, end = -(-first // page) * page, last // page * page
    if start < end and hasattr(mmap, "MADV_DONTNEED"):
        cast(Any, words.base).obj.madvise(mmap.MADV_DONTNEED, 8 * start, 8 * (end - start))


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

    def rows(self, segment: Segment) -> Words:
        """The states of a segment, one in each row: a view."""
        start, end = segment
        return self._states[start * self.words : end * self.words].reshape(-1, self.words)

    def bytes_in_use(self, top: int) -> int:
        """What the table and the first ``top`` places of the array take."""
        return 8 * LINE * self._lines + 8 * self.words * min(top, self.space.capacity)
