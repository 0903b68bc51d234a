"""Runs of a protocol: the way back to predecessors, the shortest run to a state that was met; and
what is reached from a set of states by some of the actions only, with the way back to where it came from."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import (
    Crew,
    Integer,
    call2,
    call3,
    fetch_add,
    load,
    lowest_bit,
    native,
    store,
)
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.planes import TOGETHER, spread
from fencepost.model.kernel.compiler.program import Program, addresses, bit_set, canonicalise, same
from fencepost.model.kernel.search.expansion import CURSOR, SHARED_WORDS, SMALL, Worker, note
from fencepost.model.kernel.search.store import Frontier, Segment, Space, Store, frontier, hash_state, insert, segment_of


@native
def find_predecessors(
    program: Program,
    space: Space,
    frontier: Frontier,
    shared: Integer,
    worker: Worker[int, int],
    target: Integer,
    block: Integer,
) -> None:
    """Notes, in row 0, the smallest state of the frontier and its smallest action that lead to the state at ``target``."""
    words = program.words
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        first = fetch_add(shared + 8 * CURSOR, block)
        if first >= total:
            return
        segment, ordinal, last = segment_of(ordinals, first), first, min(first + block, total)
        while ordinal < last:
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            place = starts[segment] + ordinal - ordinals[segment]
            count = min(TOGETHER, last - ordinal, ordinals[segment + 1] - ordinal)
            _find_among(program, space.states + 8 * words * place, count, worker, target)
            ordinal += count


@native
def _find_among(program: Program, states: Integer, count: Integer, worker: Worker[int, int], target: Integer) -> None:
    """The same of up to 64 states that lie one after the other."""
    words, successor = program.words, worker.successors
    spread(states, words, count, worker.planes)
    call2(program.enabled_planes, worker.planes, worker.possible)
    for action in range(program.actions):
        which = load(worker.possible + 8 * action) & ~np.uint64(0) >> np.uint64(TOGETHER - count)
        while which != np.uint64(0):
            state = states + 8 * words * lowest_bit(which)
            which &= which - np.uint64(1)
            call3(program.apply, state, action, successor)
            canonicalise(program, successor, worker.scratch)
            if same(successor, target, words):
                note(worker, 0, state, action, words)


_BLOCK = 256


@dataclass(frozen=True)
class Path:
    """A run: packed states (the first is initial) and the numbers of the actions between them, one fewer."""

    states: tuple[tuple[int, ...], ...]
    actions: tuple[int, ...]


def plain(state: Words) -> tuple[int, ...]:
    """A packed state as plain numbers, which compare word by word."""
    return tuple(int(word) for word in state)


def shortest(
    kernel: Kernel, program: Program, store: Store, levels: Sequence[Sequence[Segment]], depth: int, target: Words, crew: Crew
) -> Path:
    """The run to a state of level ``depth``, going back level by level to the smallest state and the smallest action that
    lead there. Where states stand for all that are the same except for a symmetry, the run is one of real states."""
    back, way = [target], _Back(program, store, crew)
    for level in range(depth - 1, -1, -1):
        back.append(way.predecessor(levels[level], back[-1]))
    representatives = back[::-1]
    if not program.canonical:
        return through(kernel, program, representatives[0], representatives)
    start = next(s for s in sorted(kernel.initial(), key=plain) if plain(canonical(program, s)) == plain(representatives[0]))
    return through(kernel, program, start, representatives)


def through(kernel: Kernel, program: Program, start: Words, representatives: Sequence[Words]) -> Path:
    """The run from a state through those that these represent, in order, by the smallest actions that lead there."""
    state, states, actions = start, [plain(start)], []
    for goal in representatives[1:]:
        for action in kernel.enabled(state):
            after = kernel.apply(state, action)
            if plain(canonical(program, after)) == plain(goal):
                break
        else:
            raise AssertionError("no action leads to the next state of a run: the symmetry is none of this protocol")
        state = after
        states.append(plain(state))
        actions.append(action)
    return Path(tuple(states), tuple(actions))


def canonical(program: Program, state: Words) -> Words:
    """The representative of a state; the state itself if the program has no symmetry."""
    if not program.canonical:
        return state
    out = np.zeros_like(state)
    held = np.ascontiguousarray(state)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(program.canonical)
    call(held.ctypes.data, out.ctypes.data)
    return out


class _Back:
    """Goes back over the levels of a search."""

    def __init__(self, program: Program, store: Store, crew: Crew) -> None:
        self._program, self._store, self._crew = program, store, crew
        self._shared = np.zeros(SHARED_WORDS, dtype=np.int64)
        self._workers = [Worker.of(program, 1) for _ in range(crew.size)]
        self._finds = [Worker(*addresses(worker)) for worker in self._workers]

    def predecessor(self, level: Sequence[Segment], target: Words) -> Words:
        """The smallest state of a level that leads to the target."""
        states, held = frontier(level), np.ascontiguousarray(target)
        self._shared[CURSOR] = 0
        args = self._program, self._store.space, states, self._shared.ctypes.data

        def look(number: int) -> None:
            find_predecessors(*args, self._finds[number], held.ctypes.data, _BLOCK)

        if int(states.ordinals[-1]) <= SMALL:
            look(0)
        else:
            self._crew.run(look)
        nearest = [worker.found_state[0].copy() for worker in self._workers if worker.found_action[0] >= 0]
        for worker in self._workers:
            worker.found_action[0] = -1
        return min(nearest, key=plain)


_MOST_AT_ONCE = 1 << 14
"""States that are expanded between two looks at Ctrl-C and at the limit, at most."""


class TooManyError(Exception):
    """More states than there is room for."""


@native
def _add(space: Space, states: Integer, first: int, last: int, reached: int, parents: Integer) -> tuple[int, int]:
    """Adds states as they are, each with its number as its parent; returns the next to add and how many the space has then."""
    number = first
    while number < last and reached < space.grow_at:
        state = states + 8 * space.words * number
        if insert(space, hash_state(state, space.words), state, reached) == reached:
            store(parents + 8 * reached, np.uint64(number))
            reached += 1
        number += 1
    return number, reached


@native
def _grow(
    program: Program,
    space: Space,
    sources: Integer,
    first: int,
    last: int,
    reached: int,
    allowed: Integer,
    parents: Integer,
    taken: Integer,
    enabled: Integer,
    after: Integer,
) -> tuple[int, int]:
    """Adds what the allowed actions make of the sources; returns the next to expand and how many the space has then."""
    number = first
    while number < last and reached + program.actions <= space.grow_at:
        state = sources + 8 * space.words * number
        call2(program.enabled, state, enabled)
        for word in range(program.enabled_words):
            bits = load(enabled + 8 * word) & load(allowed + 8 * word)
            while bits != np.uint64(0):
                action = 64 * word + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                call3(program.apply, state, action, after)
                if insert(space, hash_state(after, space.words), after, reached) == reached:
                    store(parents + 8 * reached, np.uint64(number))
                    store(taken + 8 * reached, np.uint64(action + 1))
                    reached += 1
        number += 1
    return number, reached


class Reach:
    """Takes sets of states, one in each row, on by some of the actions of a kernel.

    At most ``limit`` states are held for one set; beyond that TooManyError is raised. ``should_stop`` is asked now and then,
    and ends what is under way with KeyboardInterrupt.
    """

    def __init__(self, kernel: Kernel, limit: int, should_stop: Callable[[], bool] = lambda: False) -> None:
        self.kernel, self.limit, self.should_stop = kernel, limit, should_stop
        self.program = Program.of(kernel).choosing(kernel)
        self.enabled = np.zeros(self.program.enabled_words, dtype=np.uint64)
        self.after = np.zeros(self.program.words, dtype=np.uint64)

    def allowing(self, actions: Iterable[int]) -> Words:
        """A set of actions, by their numbers."""
        return bit_set(actions, self.program.enabled_words)

    def onward(self, states: Words, step: Words, silent: Words, *, stay: bool = False) -> Reached:
        """What one of the actions of ``step`` makes of the states (and, with ``stay``, they themselves), followed by any
        number of the ``silent`` actions."""
        growing = _Growing(self)
        if stay:
            growing.keep(states)
        growing.grow(states, 0, len(states), step)
        roots, first = growing.count, 0
        while first < growing.count:
            last = growing.count
            growing.grow(None, first, last, silent)
            first = last
        return growing.done(roots)


@dataclass(frozen=True)
class Origins:
    """Where the states of a set came from. The first ``roots`` came from the states before, each by one step or by none; the
    others came from states of this set."""

    parents: Words
    taken: Words  # an action by its number plus one; 0: none
    roots: int

    def of(self, place: int) -> tuple[int, int | None]:
        """The place of a state's parent (of a root's among the states before), and the number of the action, None if it stayed
        as it was."""
        taken = int(self.taken[place])
        return int(self.parents[place]), taken - 1 if taken else None


@dataclass(frozen=True)
class Reached:
    """A set of states, one in each row, and where they came from."""

    states: Words
    origins: Origins


class _Growing:
    """A set of states that grows."""

    def __init__(self, reach: Reach) -> None:
        self._reach, program = reach, reach.program
        most = reach.limit + _MOST_AT_ONCE * program.actions
        self._store = Store(program.words, 16 * most * (program.words + 4), 2 * program.actions)
        self._parents, self._taken = np.zeros(most, dtype=np.uint64), np.zeros(most, dtype=np.uint64)
        self.count = 0

    def done(self, roots: int) -> Reached:
        """The set as it is now, without the room to grow."""
        origins = Origins(self._parents[: self.count].copy(), self._taken[: self.count].copy(), roots)
        return Reached(self._store.rows((0, self.count)).copy(), origins)

    def keep(self, states: Words) -> None:
        """Takes states over as they are."""
        states = np.ascontiguousarray(states)
        number, parents = 0, self._parents.ctypes.data
        while number < len(states):
            space = self._roomy()
            number, self.count = _add(space, states.ctypes.data, number, len(states), self.count, parents)

    def grow(self, states: Words | None, first: int, last: int, allowed: Words) -> None:
        """Adds what the allowed actions make of states from ``first`` to ``last``, of its own if ``states`` is None."""
        outside = None if states is None else np.ascontiguousarray(states)
        program, scratch = self._reach.program, addresses((self._reach.enabled, self._reach.after))
        parents, taken = self._parents.ctypes.data, self._taken.ctypes.data
        while first < last:
            space = self._roomy()
            sources, end = space.states if outside is None else outside.ctypes.data, min(first + _MOST_AT_ONCE, last)
            first, self.count = _grow(
                program, space, sources, first, end, self.count, allowed.ctypes.data, parents, taken, *scratch
            )

    def _roomy(self) -> Space:
        """The space, with room for the successors of a state at least."""
        if self._reach.should_stop():
            raise KeyboardInterrupt
        if self.count > self._reach.limit:
            raise TooManyError(f"more than {self._reach.limit:,} states are possible at once")
        if self.count + self._reach.program.actions > self._store.space.grow_at:
            self._store.rebuild([(0, self.count)], 4 * self.count, lambda task: task())
        return self._store.space


def holding(rows: Words, wanted: Iterable[tuple[int, int, int]]) -> npt.NDArray[np.int64]:
    """The places of the states whose words, under a mask each, are the wanted ones: ``(word, mask, value)``."""
    fits = np.ones(len(rows), dtype=bool)
    for word, mask, value in wanted:
        fits &= rows[:, word] & np.uint64(mask) == np.uint64(value)
    return np.flatnonzero(fits)
