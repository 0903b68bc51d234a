"""The step of a breadth-first search from one level to the next where a level comes in pieces, and the rest is elsewhere; and
the states of such pieces in few bytes.

In a file each state is the bits in which it differs from the one before, without the zero bytes above them. Of each word a
nibble says how many bytes follow, so a state takes half a byte a word and what has changed. States in ascending order, as
levels of a search have them, share their high bytes: three words take five to nine bytes. Any order can be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import Integer, native, store
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Flags, Words
from fencepost.model.kernel.compiler.program import Program, addresses
from fencepost.model.kernel.search.expansion import (
    BATCH,
    CHUNK,
    CURSOR,
    END,
    LOGGED,
    NEW,
    POSITION,
    SEGMENT,
    SHARED_WORDS,
    TOP,
    Worker,
    expand,
    observe,
    take_segments,
)
from fencepost.model.kernel.search.paths import find_predecessors
from fencepost.model.kernel.search.results import Finds
from fencepost.model.kernel.search.store import AHEAD, LINE, Space, Store, fetch_line, find, frontier, hash_state, insert
from fencepost.model.kernel.search.transitions import NOTHING_RECORDED

BLOCK = 1 << 16
"""States in a block. The first of a block differs from zero, so that blocks can be read one by one."""

_HEAD = np.dtype("<u8")


class CodingError(Exception):
    """Bytes that no states were written as; the message says where."""


def write_states(file: BinaryIO, states: Words) -> None:
    """Appends the states, one in each row, to a file. Raises OSError."""
    count, words = states.shape
    room = np.empty(min(count, BLOCK) * (8 * words + (words + 1) // 2), dtype=np.uint8)
    for start in range(0, count, BLOCK):
        rows = np.ascontiguousarray(states[start : start + BLOCK])
        length = int(_encode(rows, room))
        file.write(np.array([len(rows), length], dtype=_HEAD).tobytes())
        file.write(room[:length].data)


def read_states(path: Path, words: int) -> Iterator[Words]:
    """The states of a file in order, block by block. Raises OSError, CodingError."""
    with path.open("rb") as file:
        while head := file.read(16):
            count, length = np.frombuffer(head, dtype=_HEAD).tolist() if len(head) == 16 else (0, 0)
            data = np.frombuffer(file.read(length), dtype=np.uint8)
            rows = np.empty((min(count, BLOCK), words), dtype=np.uint64)
            if not 0 < count <= BLOCK or len(data) != length or _decode(data, rows) != length:
                raise CodingError(f"{path} holds no block of states that ends at byte {file.tell()}")
            yield rows


def count_states(path: Path) -> int:
    """How many states a file has, by the heads of its blocks. Raises OSError."""
    count = 0
    with path.open("rb") as file:
        while len(head := file.read(16)) == 16:
            states, length = np.frombuffer(head, dtype=_HEAD).tolist()
            count += states
            file.seek(length, os.SEEK_CUR)
    return count


@native
def _encode(rows: Words, out: npt.NDArray[np.uint8]) -> Integer:
    """Writes the rows; returns how many bytes they take."""
    count, words = rows.shape
    header = (words + 1) // 2
    at = 0
    for row in range(count):
        mark = at
        at += header
        out[mark:at] = np.uint8(0)
        for word in range(words):
            bits = rows[row, word] ^ (rows[row - 1, word] if row else np.uint64(0))
            length = 0
            while bits != np.uint64(0):
                out[at] = np.uint8(bits & np.uint64(255))
                bits >>= np.uint64(8)
                at += 1
                length += 1
            out[mark + word // 2] |= np.uint8(length << 4 * (word & 1))
    return at


@native
def _decode(data: npt.NDArray[np.uint8], rows: Words) -> Integer:
    """Reads the rows; returns how many bytes they take, or -1 if the bytes end before or are none that are written."""
    count, words = rows.shape
    header = (words + 1) // 2
    size = len(data)
    at = 0
    for row in range(count):
        mark = at
        at += header
        if at > size:
            return -1
        for word in range(words):
            length = (np.int64(data[mark + word // 2]) >> 4 * (word & 1)) & 15
            if length > 8 or at + length > size:
                return -1
            bits = np.uint64(0)
            for byte in range(length):
                bits |= np.uint64(data[at + byte]) << np.uint64(8 * byte)
            at += length
            rows[row, word] = bits ^ (rows[row - 1, word] if row else np.uint64(0))
    return at


_LEAST_LINES = 1 << 13


def buckets_of(states: Words, buckets: int) -> npt.NDArray[np.int64]:
    """In which of so many buckets each state is, one in each row: the same for the same state, and all about as full."""
    numbers = np.empty(len(states), dtype=np.int64)
    rows = np.ascontiguousarray(states)
    _buckets(rows.ctypes.data, len(rows), rows.shape[1], buckets, numbers.ctypes.data)
    return numbers


def by_bucket(states: Words, buckets: int) -> tuple[Words, list[int]]:
    """The states by bucket, in each as they come, and where each bucket ends."""
    numbers = buckets_of(states, buckets).astype(np.min_scalar_type(buckets))  # of 16 bits or fewer, NumPy sorts by radix
    ends: list[int] = np.cumsum(np.bincount(numbers, minlength=buckets)).tolist()
    return states.take(np.argsort(numbers, kind="stable"), axis=0), ends


def new_states(pieces: Sequence[Words], known: Iterable[Words]) -> Words:
    """The states of the pieces (at least one), in ascending order and each once, that none of the known pieces has.

    What is known is only read past a table of the new, whose number alone decides how much memory this takes.
    """
    count, words = sum(map(len, pieces)), pieces[0].shape[1]
    lines = max(_LEAST_LINES, -(-2 * count // LINE))
    sieve = Store(words, 8 * LINE * lines * (1 + words), lines)
    top, hashes = 0, np.empty(AHEAD, dtype=np.uint64)
    for piece in map(np.ascontiguousarray, pieces):
        top = _gather(sieve.space, piece.ctypes.data, len(piece), top, hashes)
    struck = np.zeros(top, dtype=np.bool_)
    for piece in map(np.ascontiguousarray, known):
        _strike(sieve.space, piece.ctypes.data, len(piece), struck, hashes)
    return in_order(sieve.rows((0, top))[~struck])


def in_order(states: Words) -> Words:
    """The states, one in each row, in ascending order."""
    return states[np.lexsort(states.T[::-1])]


@native
def _buckets(states: Integer, count: Integer, words: Integer, buckets: Integer, out: Integer) -> None:
    for number in range(count):
        store(out + 8 * number, hash_state(states + 8 * words * number, words) % np.uint64(buckets))


@native
def _hash_ahead(space: Space, states: Integer, first: int, count: int, hashes: Words) -> int:
    """Hashes the next states at an address and asks for their lines of the table; returns how many."""
    length = min(AHEAD, count - first)
    for number in range(length):
        hashes[number] = hash_state(states + 8 * space.words * (first + number), space.words)
        fetch_line(space, hashes[number])
    return length


@native
def _gather(space: Space, states: Integer, count: int, top: int, hashes: Words) -> int:
    """Adds the states at an address to the table, from place ``top`` on; returns the place after the last."""
    for first in range(0, count, AHEAD):
        for number in range(_hash_ahead(space, states, first, count, hashes)):
            if insert(space, hashes[number], states + 8 * space.words * (first + number), top) == top:
                top += 1
    return top


@native
def _strike(space: Space, states: Integer, count: int, struck: Flags, hashes: Words) -> None:
    """Marks the states at an address where they are in the table."""
    for first in range(0, count, AHEAD):
        for number in range(_hash_ahead(space, states, first, count, hashes)):
            place = find(space, hashes[number], states + 8 * space.words * (first + number))
            if place >= 0:
                struck[place] = True


_PIECE = 4 * CHUNK
_HELD = 1 << 22
_BLOCK = 256


class Pieces:
    """Expands states that come in pieces. What it counts and finds is in ``worker``, as ``Totals.plus`` and ``Finds.take`` read
    it; the count of new states is no part of that, since only the whole search knows what is new."""

    def __init__(self, kernel: Kernel, finds: Finds) -> None:
        self.kernel, self._finds = kernel, finds
        self._program = Program.of(kernel).in_planes(kernel).steps_in_planes(kernel)
        self.worker = Worker.of(self._program, finds.rows)
        self._shared = np.zeros(SHARED_WORDS, dtype=np.int64)
        most = _HELD + _PIECE * max(1, self._program.actions) + BATCH + 2 * CHUNK
        lines = 2 * most // LINE
        self._store = Store(kernel.words, 8 * LINE * lines * (1 + kernel.words), lines)
        self._start()

    def successors(self, pieces: Iterable[Words]) -> Iterator[Words]:
        """The successors of the states, one in each row: each once, unless they are more than can be held at a time."""
        for piece in pieces:
            for start in range(0, len(piece), _PIECE):
                self._expand(piece[start : start + _PIECE])
                if int(self._shared[TOP]) > _HELD:
                    yield self._take()
        yield self._take()

    def _expand(self, states: Words) -> None:
        # the first places of the array are kept for the states that are expanded; their successors come after them
        self._store.rows((0, len(states)))[:] = states
        self._shared[CURSOR] = 0
        shared, space = self._shared.ctypes.data, self._store.space
        alarms, worker = self._finds.alarms, Worker(*addresses(self.worker))
        expand(self._program, space, frontier([(0, len(states))]), shared, alarms, worker, NOTHING_RECORDED, _PIECE)

    def _take(self) -> Words:
        segments = take_segments(self.worker)
        if self._program.observe_planes and segments:
            self._shared[CURSOR] = 0
            shared, alarms = self._shared.ctypes.data, self._finds.alarms
            space, worker = self._store.space, Worker(*addresses(self.worker))
            observe(self._program, space, frontier(segments), shared, alarms, worker, NOTHING_RECORDED, _PIECE)
        rows = [self._store.rows(segment) for segment in segments]
        taken = np.concatenate(rows) if rows else np.empty((0, self.kernel.words), dtype=np.uint64)
        self._store.clear()
        self._start()
        return taken

    def _start(self) -> None:
        self._shared[TOP] = _PIECE
        self.worker.counters[[POSITION, END, SEGMENT, LOGGED, NEW]] = 0


def predecessors(kernel: Kernel, pieces: Iterable[Words], target: Words) -> Words:
    """Of the states of the pieces that have ``target`` as a successor the smallest, as one row; no row if there is none."""
    program = Program.of(kernel)
    worker, shared = Worker.of(program, 1), np.zeros(SHARED_WORDS, dtype=np.int64)
    store = Store(kernel.words, 1 << 26, _PIECE)
    goal = np.ascontiguousarray(target)
    for piece in pieces:
        for start in range(0, len(piece), _PIECE):
            states = piece[start : start + _PIECE]
            store.rows((0, len(states)))[:] = states
            shared[CURSOR] = 0
            at, of = shared.ctypes.data, frontier([(0, len(states))])
            find_predecessors(program, store.space, of, at, Worker(*addresses(worker)), goal.ctypes.data, _BLOCK)
    smallest: Words = worker.found_state
    return smallest if worker.found_action[0] >= 0 else smallest[:0]
