"""The graph of all that an exhaustive search has reached: states by number, and the transitions of each in a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import (
    Crew,
    Integer,
    bit_count,
    bump,
    call2,
    call3,
    fetch_add,
    load,
    load_int,
    load_published,
    lowest_bit,
    native,
    store,
)
from fencepost.model.kernel.compiler.packing import Integers, Places, W, Words
from fencepost.model.kernel.compiler.planes import TOGETHER, spread
from fencepost.model.kernel.compiler.program import Program, addresses, copy, same
from fencepost.model.kernel.search.expansion import BATCH, CURSOR, ROOM, SHARED_WORDS, STOP
from fencepost.model.kernel.search.results import Reached, Result
from fencepost.model.kernel.search.store import Space, fetch_line, fetch_match, find, hash_state

_BLOCK = 256
_LARGEST = 2**31 - 1


class Room(NamedTuple, Generic[W]):
    """What one thread writes to, as arrays or their addresses: 64 states, their planes, those of their actions and of what is
    observed, the bits of each, and where its next transition goes; then successors, the places that these may have in the array
    of states, and their own in the graph."""

    states: W
    planes: W
    possible: W
    observed: W
    bits: W
    nexts: W
    successors: W
    hashes: W
    matches: W
    entries: W

    @staticmethod
    def of(program: Program) -> Room[Words]:
        """Room for the states of a program."""
        sizes = (TOGETHER * program.words, TOGETHER * program.words, program.actions, program.formulas, TOGETHER, TOGETHER)
        return Room(*(np.zeros(size, dtype=np.uint64) for size in (*sizes, ROOM * program.words, ROOM, ROOM, ROOM)))


class GraphError(Exception):
    """A graph that cannot be built; the message says why."""


@dataclass(frozen=True)
class Graph:
    """The reachable states and transitions of a protocol.

    States are numbered from 0, breadth first and within a level in the order of their words, so that the numbers are the
    same whatever the workers; or as ``graph_of`` says. The transitions of state ``s``, by rising action, are those from
    ``rows[s]`` up to ``rows[s + 1]`` of ``targets`` (the states that they lead to) and ``actions`` (the numbers of the
    kernel's actions). ``depth`` is the distance of each state from an initial one, and ``observed`` the bit set of the
    kernel's observed formulas that hold in it, one state in each row.
    """

    reached: Reached
    places: npt.NDArray[np.int64]
    depth: Places
    rows: npt.NDArray[np.int64]
    targets: Places
    actions: Places
    observed: Words

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.places)

    @property
    def transitions(self) -> int:
        """How many transitions there are."""
        return len(self.targets)

    def state(self, number: int) -> Words:
        """The packed state of that number."""
        place = int(self.places[number])
        return np.array(self.reached.store.rows((place, place + 1))[0])

    def holds(self, formula: int) -> npt.NDArray[np.bool_]:
        """For each state, whether the kernel's observed formula of that number holds in it."""
        bit = np.uint64(1) << np.uint64(formula % 64)
        return np.asarray(self.observed[:, formula // 64] & bit != 0)

    def successors_of(self, number: int) -> list[tuple[int, int]]:
        """The transitions of a state: the action and the state that it leads to."""
        row = slice(int(self.rows[number]), int(self.rows[number + 1]))
        return list(zip(self.actions[row].tolist(), self.targets[row].tolist(), strict=True))


def bytes_of_graph(result: Result) -> int:
    """The most memory that the graph of a finished search takes while it is built, besides that of the search."""
    program = result.reached.program
    places = max((end for level in result.reached.levels for _, end in level), default=0)
    sorting = max(result.level_sizes, default=0) * (16 * program.words + 16)
    return result.distinct * (20 + 8 * program.observe_words) + 4 * places + 8 * result.transitions + sorting


def graph_of(
    result: Result,
    *,
    in_order: bool = True,
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda done, count: None,
) -> Graph | None:
    """The graph of what a search has reached; None if ``should_stop`` says so. ``progress`` is told states done of all.

    Unless they are to be ``in_order``, the states of a level are numbered as they lie in memory, which depends on the workers,
    and saves nearly half of the time.

    Raises GraphError if the search did not visit all states, or merged those that are the same except for a symmetry (fairness
    tells such states apart), or if there are more than 2^31 - 1 states.
    """
    reached, program = result.reached, result.reached.program
    if result.outcome != "exhausted":
        raise GraphError("the search did not visit all states")
    if program.canonical:
        raise GraphError("the search merged states that are the same except for a symmetry")
    if result.distinct > _LARGEST:
        raise GraphError(f"{result.distinct:,} states are more than a graph can have")
    places, depth = _places(reached, in_order=in_order)
    ranks = np.full(int(places.max()) + 1, -1, dtype=np.int32)
    ranks[places] = np.arange(len(places), dtype=np.int32)
    rows = np.zeros(len(places) + 1, dtype=np.int64)
    observed = np.zeros((len(places), program.observe_words), dtype=np.uint64)
    shared = np.zeros(SHARED_WORDS, dtype=np.int64)
    at, space = shared.ctypes.data, reached.store.space

    def look() -> None:
        progress(min(int(shared[CURSOR]), len(places)), len(places))
        if should_stop():
            stop()

    def stop() -> None:
        shared[STOP] = 1

    with Crew(workers) as crew:
        rooms = [Room.of(program) for _ in range(crew.size)]
        seen = observed.ctypes.data
        crew.run(lambda w: _measure(program, space, places, rows, seen, at, Room(*addresses(rooms[w])), _BLOCK), look, stop)
        np.cumsum(rows, out=rows)
        targets, actions = (np.empty(0 if shared[STOP] else int(rows[-1]), dtype=np.int32) for _ in range(2))
        shared[CURSOR] = 0
        crew.run(
            lambda w: _fill(program, space, places, ranks, rows, targets, actions, at, Room(*addresses(rooms[w])), _BLOCK),
            look,
            stop,
        )
    if shared[STOP]:
        return None
    return Graph(reached, places, depth, rows, targets, actions, observed)


def _places(reached: Reached, *, in_order: bool) -> tuple[npt.NDArray[np.int64], Places]:
    """Of each state, in the order of the numbers, its place in the array of states and its depth."""
    places, depths = [], []
    for depth, level in enumerate(reached.levels):
        at = np.concatenate([np.arange(start, end, dtype=np.int64) for start, end in level])
        if in_order:
            words = np.concatenate([reached.store.rows(segment) for segment in level])
            at = at[np.lexsort(words.T[::-1])]
        places.append(at)
        depths.append(np.full(len(at), depth, dtype=np.int32))
    return np.concatenate(places), np.concatenate(depths)


@native
def _take(program: Program, space: Space, places: Integers, first: Integer, count: Integer, room: Room[int]) -> None:
    """Takes up to 64 states of consecutive numbers: copies them, and writes their planes and those of their actions."""
    for number in range(count):
        copy(space.states + 8 * program.words * places[first + number], room.states + 8 * program.words * number, program.words)
    spread(room.states, program.words, count, room.planes)
    call2(program.enabled_planes, room.planes, room.possible)


@native
def _measure(
    program: Program,
    space: Space,
    places: Integers,
    rows: Integers,
    observed: Integer,
    shared: Integer,
    room: Room[int],
    block: Integer,
) -> None:
    """Writes how many transitions each state has to ``rows``, one place on, and what is observed of it to that address."""
    while load_published(shared + 8 * STOP) == np.uint64(0):
        first = fetch_add(shared + 8 * CURSOR, block)
        last = min(first + block, len(places))
        for begin in range(first, last, TOGETHER):
            count = min(TOGETHER, last - begin)
            _take(program, space, places, begin, count, room)
            for word in range(program.enabled_words):
                _bits_of_each(room.possible, program.actions, word, room)
                for number in range(count):
                    rows[begin + number + 1] += np.int64(bit_count(load(room.bits + 8 * number)))
            if program.observe_planes != 0:
                call2(program.observe_planes, room.planes, room.observed)
                for word in range(program.observe_words):
                    _bits_of_each(room.observed, program.formulas, word, room)
                    for number in range(count):
                        at = observed + 8 * (program.observe_words * (begin + number) + word)
                        store(at, load(room.bits + 8 * number))
        if last == len(places):
            return


@native
def _bits_of_each(planes: Integer, count: Integer, word: Integer, room: Room[int]) -> None:
    """Writes, for each of 64 states, that word of a bit set, given by as many planes as it has bits."""
    spread(planes + 8 * TOGETHER * word, 1, min(TOGETHER, count - TOGETHER * word), room.bits)


@native
def _fill(
    program: Program,
    space: Space,
    places: Integers,
    ranks: Places,
    rows: Integers,
    targets: Places,
    actions: Places,
    shared: Integer,
    room: Room[int],
    block: Integer,
) -> None:
    """Writes the transitions of each state to its row."""
    words = program.words
    while load_published(shared + 8 * STOP) == np.uint64(0):
        first = fetch_add(shared + 8 * CURSOR, block)
        last, pending = min(first + block, len(places)), 0
        for begin in range(first, last, TOGETHER):
            count = min(TOGETHER, last - begin)
            _take(program, space, places, begin, count, room)
            for number in range(count):
                store(room.nexts + 8 * number, np.uint64(rows[begin + number]))
            for action in range(program.actions):
                which = load(room.possible + 8 * action) & ~np.uint64(0) >> np.uint64(TOGETHER - count)
                while which != np.uint64(0):
                    number, successor = lowest_bit(which), room.successors + 8 * words * pending
                    which &= which - np.uint64(1)
                    entry = load_int(room.nexts + 8 * number)
                    bump(room.nexts + 8 * number, 1)
                    actions[entry] = action
                    store(room.entries + 8 * pending, np.uint64(entry))
                    call3(program.apply, room.states + 8 * words * number, action, successor)
                    value = hash_state(successor, words)
                    store(room.hashes + 8 * pending, value)
                    fetch_line(space, value)
                    pending += 1
                if pending >= BATCH:
                    _write_targets(space, ranks, targets, room, pending)
                    pending = 0
        _write_targets(space, ranks, targets, room, pending)
        if last == len(places):
            return


@native
def _write_targets(space: Space, ranks: Places, targets: Places, room: Room[int], count: Integer) -> None:
    """Writes which states the first ``count`` successors, already hashed, are."""
    for number in range(count):
        store(room.matches + 8 * number, np.uint64(fetch_match(space, load(room.hashes + 8 * number))))
    for number in range(count):
        place: Integer = load_int(room.matches + 8 * number)
        successor = room.successors + 8 * space.words * number
        if place < 0 or not same(space.states + 8 * space.words * place, successor, space.words):
            place = find(space, load(room.hashes + 8 * number), successor)
        targets[load_int(room.entries + 8 * number)] = ranks[place]
