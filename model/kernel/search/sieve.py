"""New states among many: each once, without those that are known already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import native, store
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.store import Store
from fencepost.model.kernel.search.table import AHEAD, LINE, fetch_line, find, hash_state, insert

_LEAST_LINES = 1 << 13


def buckets_of(states: Words, buckets: int) -> npt.NDArray[np.int64]:
    """In which of so many buckets each state is, one in each row: the same for the same state, and all about as full."""
    numbers = np.empty(len(states), dtype=np.int64)
    rows = np.ascontiguousarray(states)
    _buckets(rows.ctypes.data, len(rows), rows.shape[1], buckets, numbers.ctypes.data)
    return numbers


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
def _buckets(states: Any, count: Any, words: Any, buckets: Any, out: Any) -> None:
    for number in range(count):
        store(out + 8 * number, hash_state(states + 8 * words * number, words) % np.uint64(buckets))


@native
def _hash_ahead(space: Any, states: Any, first: Any, count: Any, hashes: Any) -> Any:
    """Hashes the next states at an address and asks for their lines of the table; returns how many."""
    length = min(AHEAD, count - first)
    for number in range(length):
        hashes[number] = hash_state(states + 8 * space.words * (first + number), space.words)
        fetch_line(space, hashes[number])
    return length


@native
def _gather(space: Any, states: Any, count: Any, top: Any, hashes: Any) -> Any:
    """Adds the states at an address to the table, from place ``top`` on; returns the place after the last."""
    for first in range(0, count, AHEAD):
        for number in range(_hash_ahead(space, states, first, count, hashes)):
            if insert(space, hashes[number], states + 8 * space.words * (first + number), top):
                top += 1
    return top


@native
def _strike(space: Any, states: Any, count: Any, struck: Any, hashes: Any) -> None:
    """Marks the states at an address where they are in the table."""
    for first in range(0, count, AHEAD):
        for number in range(_hash_ahead(space, states, first, count, hashes)):
            place = find(space, hashes[number], states + 8 * space.words * (first + number))
            if place >= 0:
                struck[place] = True
