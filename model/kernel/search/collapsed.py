"""The states that a search knows, in five bytes each: a filter for their successors where the states themselves are on disk.

A state is cut into two halves. Each half that occurs is kept once and has a number, and a state is its two numbers
(Holzmann's collapse compression; with two halves it is the root of a tree, as Laarman's). States differ in few halves: 62
million of the ledger have 77 thousand first ones and two million second ones.

A table has a slot of 32 bits for each state, and leaves out what its place there says (Cleary's compact hashing). The lower 16
bits of both numbers make a word of 32 bits, which is mixed so that it can be told back, by a key made of the upper bits: the
mixed word says in which line the search for a state begins. A slot has how many lines farther on it is, the upper bits of both
numbers, and as many lower ones of the mixed word as tell those of a line apart. So two states are never taken for one.

What the filter says is known is known. It does not say so of every state that is: a table that is full passes the rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import (
    Crew,
    Integer,
    Word,
    alike_halves,
    fetch_add,
    load,
    load_int,
    lowest_bit,
    native,
    native_inline,
    prefetch,
    publish_half,
    store,
    store_byte,
)
from fencepost.model.kernel.compiler.packing import Words
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
_FIRST_LINES = 1 << 12
_GROWTH = 1.5
"""How much larger the next table is, if there is memory."""
_STRETCH = 1 << 16
"""Lines of a table that move at once, 4 MiB. Then their memory is given back: slots keep their order when they move, so the new
table fills from its beginning while the old one goes, and both together take no more than the new one."""
_SLACK = 1 << 16
"""Room that there is for more than is expected."""
SAMPLE = 1 << 20
"""States by which it is decided where to cut. Of few states nearly each has halves of its own, wherever they are cut."""
_LEFT, _RIGHT, _KEYS, _CROWDED = range(4)
_SLOTS = 2 * LINE
"""Slots in a line."""
_DISTANCE_AT = 26
"""The bits of a slot below its distance."""
_FARTHEST = (1 << 32 - _DISTANCE_AT) - 2
"""Lines that a slot may be from where its search begins. The distance plus one is kept, so no slot that is taken is zero. In
tables of 10^8 lines drawn at random, four fifths full, it is at most 37. Where it would be more, a table counts as full."""
_LOWER = 16
"""The bits of a number that are mixed."""
_HALF, _LOWER_BITS = np.uint64(32), np.uint64((1 << _LOWER) - 1)
_WORD = np.uint64(0xFFFF_FFFF)
_MOST = (1 << 32) - 1
"""Halves of a kind: their numbers have 32 bits."""
_EMPTY, _ALL = np.uint64(0), ~np.uint64(0)
_NEW, _KNOWN, _TOO_FAR = 0, 1, 2


class Table(NamedTuple):
    """The table, as the loops see it: its address and lines; in how many bits a slot has the lower part of the mixed word, and
    the upper bits of each number; the distance that a slot may have at most."""

    slots: int
    lines: int
    near: int
    left: int
    right: int
    farthest: int

    def most(self, which: int) -> int:
        """How many halves of a kind the slots can tell apart."""
        return min(1 << _LOWER + (self.left, self.right)[which], _MOST)


class Filter(NamedTuple):
    """What is known, as the loops see it: the halves, the table, how many there may be of each and of states before another
    batch, and the addresses of how many there are and of the places that a thread has for halves."""

    left: Space
    right: Space
    table: Table
    most_left: int
    most_right: int
    most: int
    counts: int
    places: int


class Collapsed:
    """The known states of a search, within ``memory`` bytes, for so many threads at once."""

    def __init__(self, sample: Words, memory: int, threads: int) -> None:
        """``sample`` are states of the search, one in each row, of two words at least."""
        self.words = sample.shape[1]
        self.split = _cut(sample[:SAMPLE])
        self._memory, self._threads = memory, threads
        self._halves = [Store(words, memory, _FIRST_LINES) for words in (self.split, self.words - self.split)]
        self._counts = np.zeros(4, dtype=np.int64)
        self._places = np.full((threads, 2), -1, dtype=np.int64)
        self._take(_FIRST_LINES, [0, 0])

    def _take(self, lines: int, upper: Sequence[int]) -> None:
        """Takes an empty table, whose slots have at least so many upper bits of each number."""
        spare = _DISTANCE_AT - _near(lines) - sum(upper)
        left = upper[_LEFT] + spare // 2
        self._slots = zeros(LINE * lines)
        self._table = Table(self._slots.ctypes.data, lines, _near(lines), left, sum(upper) + spare - left, _FARTHEST)
        self._counts[_CROWDED] = 0

    @property
    def bytes_in_use(self) -> int:
        """What the tables and the halves take."""
        halves = zip(self._halves, self._counts[:_KEYS], strict=True)
        return 8 * LINE * self._table.lines + sum(half.bytes_in_use(int(count)) for half, count in halves)

    def make_room(self, expected: int, crew: Crew) -> bool:
        """Gets ready for so many more states; false if there is too little memory. Nothing may be added meanwhile."""
        upper = list[int]()
        for half, count, which in zip(self._halves, self._counts[:_KEYS].tolist(), (_LEFT, _RIGHT), strict=True):
            least = count + self._halves_of(expected, count) + _SLACK * self._threads
            if least > _MOST:
                return False
            if least > half.space.grow_at and not half.rebuild(self._segments(which), least, _everywhere(crew)):
                return False
            upper.append((least >> _LOWER).bit_length())
        table = self._table
        wanted = int((int(self._counts[_KEYS]) + expected + _SLACK * self._threads) / (_LOAD * _SLOTS)) + 1
        if self._counts[_CROWDED]:
            wanted = max(wanted, table.lines + 1)
        if sum(upper) > _DISTANCE_AT:
            return False
        wanted = max(wanted, _lines_for(_DISTANCE_AT - sum(upper)))
        if wanted <= table.lines and upper[_LEFT] <= table.left and upper[_RIGHT] <= table.right:
            return self.bytes_in_use <= self._memory
        affordable = table.lines + (self._memory - self.bytes_in_use) // (8 * LINE)
        if wanted > affordable:
            return False
        slots = self._slots
        self._take(min(int(_GROWTH * wanted), affordable), upper)
        firsts = iter(range(0, table.lines, _STRETCH))

        def move(_: int) -> None:
            for first in firsts:
                last = min(first + _STRETCH, table.lines)
                if not _move(table, first, last, self._table):
                    self._counts[_CROWDED] = 1
                give_back(slots, LINE * first, LINE * last)

        crew.run(move)
        return not self._counts[_CROWDED]

    def _halves_of(self, expected: int, count: int) -> int:
        """How many halves so many more states are taken to bring, where there are ``count`` of a kind: as many for each as the
        known ones did. The more states there are, the fewer new halves each brings."""
        known = int(self._counts[_KEYS])
        return -(-count * expected // known) if known else 0

    def unknown(self, states: Words, thread: int) -> tuple[Words, bool]:
        """The states that were not known until now, each once; from now on they are. False, with those that were not looked at
        after them, if the room is not enough for all."""
        rows = np.ascontiguousarray(states)
        known, hashes = np.zeros(len(rows), dtype=np.bool_), np.empty(2 * AHEAD, dtype=np.uint64)
        seen = strike(self.filter(thread), rows.ctypes.data, len(rows), hashes.ctypes.data, known.ctypes.data)
        return rows[~known], seen == len(rows)

    def filter(self, thread: int) -> Filter:
        """What ``strike`` takes in a thread, until there is to be more room."""
        left, right = (half.space for half in self._halves)
        return Filter(
            left,
            right,
            self._table,
            self._most(_LEFT),
            self._most(_RIGHT),
            self._most(_KEYS),
            self._counts.ctypes.data,
            self._places[thread].ctypes.data,
        )

    def _most(self, which: int) -> int:
        """How many there may be for another batch of each thread to have room, of states or of halves of a kind."""
        room = int(_LOAD * _SLOTS * self._table.lines)
        if which != _KEYS:
            room = min(self._halves[which].space.grow_at, self._table.most(which))
        return room - AHEAD * self._threads

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


def _near(lines: int) -> int:
    """How many lower bits tell apart the mixed words whose search begins in the same one of so many lines."""
    return (-(-(1 << 32) // lines) - 1).bit_length()


def _lines_for(near: int) -> int:
    """The fewest lines for which so many bits are enough."""
    return 1 << 32 - near


@native_inline
def _mixed(one: Word, other: Word) -> Word:
    """32 bits that are different for any two states whose numbers have the same upper bits."""
    upper = ((one >> np.uint64(_LOWER)) << _HALF | (other >> np.uint64(_LOWER))) * np.uint64(0x9E3779B97F4A7C15)
    value = ((one & _LOWER_BITS) << np.uint64(_LOWER) | (other & _LOWER_BITS)) ^ (upper >> _HALF)
    value = ((value ^ (value >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & _WORD
    value = ((value ^ (value >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & _WORD
    return value ^ (value >> np.uint64(16))


@native_inline
def _line(table: Table, mixed: Word) -> Integer:
    """The line in which a search begins."""
    return np.int64((mixed * np.uint64(table.lines)) >> _HALF)


@native_inline
def _kept(table: Table, mixed: Word, left: Word, right: Word) -> Word:
    """What a slot has but for its distance: of the numbers of a state the upper bits, of the mixed word the lower ones."""
    near = np.uint64(table.near)
    return ((left << np.uint64(table.right) | right) << near) | (mixed & ((np.uint64(1) << near) - np.uint64(1)))


@native_inline
def _add(table: Table, line: Integer, kept: Word) -> int:
    """Adds what a slot has, from a line on; whether it was new, or would be too far away."""
    distance = 0
    while distance <= table.farthest:
        at, slot = table.slots + 8 * LINE * line, np.uint64(distance + 1) << np.uint64(_DISTANCE_AT) | kept
        if alike_halves(at, slot) != _EMPTY:
            return _KNOWN
        free = alike_halves(at, _EMPTY)
        if free == _EMPTY:
            line = line + 1 if line + 1 < table.lines else 0
            distance += 1
        elif publish_half(at + 4 * lowest_bit(free), slot) == _EMPTY:
            return _NEW
        # another thread was faster with that slot, perhaps with this state: look at the line again
    return _TOO_FAR


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
def strike(known: Filter, states: Integer, count: Integer, hashes: Integer, struck: Integer) -> Integer:
    """Marks which of the states at an address are known, each by a byte, and adds the others; returns how many it has looked
    at: all, unless there is no room for more, or one would be too far from its line. ``hashes`` is room for two batches."""
    left, right, table, counts, places = known.left, known.right, known.table, known.counts, known.places
    words = left.words + right.words
    for first in range(0, count, AHEAD):
        if (
            load_int(counts + 8 * _KEYS) > known.most
            or load_int(counts + 8 * _LEFT) > known.most_left
            or load_int(counts + 8 * _RIGHT) > known.most_right
            or load_int(counts + 8 * _CROWDED) != 0
        ):
            return first
        batch = min(AHEAD, count - first)
        for number in range(batch):
            state = states + 8 * words * (first + number)
            one, other = hash_state(state, left.words), hash_state(state + 8 * left.words, right.words)
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
            other = _number(right, load(hashes + 8 * (AHEAD + number)), state + 8 * left.words, _RIGHT, counts, places)
            mixed = _mixed(one, other)
            line = _line(table, mixed)
            store(hashes + 8 * number, np.uint64(line))
            store(hashes + 8 * (AHEAD + number), _kept(table, mixed, one >> np.uint64(_LOWER), other >> np.uint64(_LOWER)))
            prefetch(table.slots + 8 * LINE * line)
        added, seen = 0, 0
        for number in range(batch):
            result = _add(table, load_int(hashes + 8 * number), load(hashes + 8 * (AHEAD + number)))
            if result == _TOO_FAR:
                store(counts + 8 * _CROWDED, np.uint64(1))
                break
            if result == _KNOWN:
                store_byte(struck + first + number, 1)
            else:
                added += 1
            seen += 1
        fetch_add(counts + 8 * _KEYS, added)
        if seen < batch:
            return first + seen
    return count


@native
def _move(table: Table, first: Integer, last: Integer, to: Table) -> bool:
    """Adds what is in some lines of a table to another one; false if something would be too far from its line there."""
    near, right = np.uint64(table.near), np.uint64(table.right)
    low, ones = (np.uint64(1) << near) - np.uint64(1), (np.uint64(1) << right) - np.uint64(1)
    for slot in range(_SLOTS * first, _SLOTS * last):
        its = (load(table.slots + 8 * (slot // 2)) >> np.uint64(32 * (slot % 2))) & _WORD
        if its == _EMPTY:
            continue
        line = slot // _SLOTS - (np.int64(its >> np.uint64(_DISTANCE_AT)) - 1)
        if line < 0:
            line += table.lines
        least = (np.uint64(line) << _HALF) + np.uint64(table.lines - 1)
        least = np.uint64(np.int64(least) // table.lines)  # of the mixed words whose search begins there
        mixed = least + ((its - least) & low)
        upper = (its & np.uint64((1 << _DISTANCE_AT) - 1)) >> near
        if _add(to, _line(to, mixed), _kept(to, mixed, upper >> right, upper & ones)) == _TOO_FAR:
            return False
    return True
