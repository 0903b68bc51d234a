"""The step of a breadth-first search on disk where what is known is in memory: successors are struck out as they are made.

What is made of 64 states is looked up before more is made, so it is read from the nearest cache; and what is known already is
never observed or copied. A table of its own for the latest successors would save little: of 131,072 of the ledger's in a row
nine in ten are different.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fencepost.model.kernel.compiler.loops import Integer, load_byte, native, store_byte
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.planes import TOGETHER
from fencepost.model.kernel.compiler.program import Program, addresses, copy
from fencepost.model.kernel.search.collapsed import Collapsed, Filter, strike
from fencepost.model.kernel.search.expansion import CURSOR, SHARED_WORDS, Alarms, Worker, expand_together, observe
from fencepost.model.kernel.search.results import Finds
from fencepost.model.kernel.search.store import AHEAD, Space, frontier
from fencepost.model.kernel.search.transitions import NOTHING_RECORDED

_PIECE = 4096
"""States that are expanded together."""

_HELD = 1 << 16
"""New states from which on they are handed over."""


class Unknown:
    """Expands states that come in pieces, in one of the threads that share what is known. What it counts and finds is in
    ``worker``, as ``Pieces`` has it; ``every`` says whether there was room to know each of the new states."""

    def __init__(self, kernel: Kernel, finds: Finds, known: Collapsed, thread: int) -> None:
        self._finds, self._words = finds, kernel.words
        self._program = Program.of(kernel).in_planes(kernel).steps_in_planes(kernel)
        most = TOGETHER * max(1, self._program.actions)
        self.worker = Worker.of(self._program, finds.rows, most)
        self.every = True
        self._filter = known.filter(thread)
        self._hashes, self._struck = np.empty(2 * AHEAD, dtype=np.uint64), np.empty(most, dtype=np.uint8)
        self._new = np.empty((_HELD + _PIECE // TOGETHER * most, kernel.words), dtype=np.uint64)
        self._shared = np.zeros(SHARED_WORDS, dtype=np.int64)

    def successors(self, pieces: Iterable[Words]) -> Iterator[Words]:
        """The successors of the states that were not known until now, one in each row, to be used before the next are made:
        each once, unless there was no room."""
        program, alarms, worker = self._program, self._finds.alarms, Worker(*addresses(self.worker))
        hashes, struck, new = self._hashes.ctypes.data, self._struck.ctypes.data, self._new.ctypes.data
        top = 0
        for piece in map(np.ascontiguousarray, pieces):
            for start in range(0, len(piece), _PIECE):
                states = piece[start : start + _PIECE]
                at, count, more = states.ctypes.data, len(states), new + 8 * self._words * top
                added, left_out = expand_unknown(program, at, count, alarms, worker, self._filter, hashes, struck, more)
                self.every &= left_out == 0
                top += added
                if top > _HELD:
                    yield self._observed(top)
                    top = 0
        yield self._observed(top)

    def _observed(self, top: int) -> Words:
        """The new states there are, which are observed."""
        if self._program.observe_planes and top:
            self._shared[CURSOR] = 0
            space, shared = Space(self._new.ctypes.data, 0, self._words, 0, 0, 0), self._shared.ctypes.data
            alarms, worker = self._finds.alarms, Worker(*addresses(self.worker))
            observe(self._program, space, frontier([(0, top)]), shared, alarms, worker, NOTHING_RECORDED, top)
        return self._new[:top]


@native
def expand_unknown(
    program: Program,
    states: int,
    count: int,
    alarms: Alarms,
    worker: Worker[int, int],
    known: Filter,
    hashes: Integer,
    struck: Integer,
    new: Integer,
) -> tuple[int, Integer]:
    """Writes the successors that are not known of the states at an address to ``new``. Returns how many, and how many
    successors were not looked up for want of room."""
    words = program.words
    space = Space(states, 0, words, 0, 0, 0)
    top, left_out = 0, np.int64(0)
    for first in range(0, count, TOGETHER):
        its = min(TOGETHER, count - first)
        made = expand_together(
            program, space, 0, alarms, worker, NOTHING_RECORDED, first, its, 0, TOGETHER * program.actions + 1
        )
        for number in range(made):
            store_byte(struck + number, 0)
        left_out += made - strike(known, worker.successors, made, hashes, struck)
        for number in range(made):
            if load_byte(struck + number) == 0:
                copy(worker.successors + 8 * words * number, new + 8 * words * top, words)
                top += 1
    return top, left_out
