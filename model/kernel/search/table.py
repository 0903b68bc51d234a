"""The set of visited states: a hash table without locks over one array of states, exact, built for memory latency.

The states lie in one array. A slot of the table is a word: 24 bits of the state's hash (its tag) and, in 40 bits, the
state's place in the array plus one; zero is an empty slot. A thread writes a state to a place of its own and then
publishes the slot, so whoever sees the slot sees the state. The tag only spares comparisons: a state counts as known
when all its words are equal. Eight slots share a cache line, which fills from its first slot on; a probe compares all
eight tags at once and goes on to the next line only if this one is full. Nothing is ever removed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import (
    SLOTS,
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

    starts: Any
    ordinals: Any


@native_inline
def hash_state(state: Any, words: Any) -> Any:
    """64 bits of hash of the state at an address."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        value = (value ^ load(state + 8 * word)) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@native
def _line(space: Any, value: Any) -> Any:
    """The line in which the search for a hash begins."""
    return np.int64(((value & _LOW) * np.uint64(space.lines)) >> np.uint64(32))


@native_inline
def fetch_line(space: Any, value: Any) -> None:
    """Asks for the line in which the search for a hash begins."""
    prefetch(space.table + 8 * LINE * _line(space, value))


@native_inline
def fetch_match(space: Any, value: Any) -> Any:
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
def insert(space: Any, value: Any, state: Any, place: Any) -> Any:
    """Adds the state at an address, whose hash is ``value``, at a place of the array that is the caller's own; returns
    whether it was new. The place is still free if it was not."""
    mine = (value & _TAG) | np.uint64(place + 1)
    number = _line(space, value)
    while True:
        line = space.table + 8 * LINE * number
        free = alike(line, _EMPTY, _ALL)
        candidates = alike(line, value, _TAG) & ~free
        while candidates != _EMPTY:
            there = load_published(line + 8 * lowest_bit(candidates))
            if same(space.states + 8 * space.words * (np.int64(there & _PLACE) - 1), state, space.words):
                return False
            candidates &= candidates - np.uint64(1)
        if free == _EMPTY:
            number = number + 1 if number + 1 < space.lines else 0
            continue
        copy(state, space.states + 8 * space.words * place, space.words)
        if publish(line + 8 * lowest_bit(free), mine) == _EMPTY:
            return True
        # Another thread was faster with that slot, perhaps with this state: look at the line again.


@native
def find(space: Any, value: Any, state: Any) -> Any:
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
def _place(space: Any, value: Any, place: Any) -> None:
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
def fill(space: Any, frontier: Any, cursor: Any, hashes: Any) -> None:
    """Adds states that are distinct and in the array already to an empty table; several threads share the work by the
    counter at the address ``cursor``. ``hashes`` is room for a batch of them (AHEAD)."""
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        first = fetch_add(cursor, AHEAD)
        if first >= total:
            return
        last = min(first + AHEAD, total)
        begin = segment = np.searchsorted(ordinals, first, side="right") - 1
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
