"""Runs of a protocol: the successors of a state, the way back to predecessors, and the shortest run to a state that was met."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import Integer, call2, call3, fetch_add, load, load_int, lowest_bit, native, store
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Integers, N, W, Words
from fencepost.model.kernel.compiler.program import Program, addresses, canonicalise, compare
from fencepost.model.kernel.search.crew import Crew
from fencepost.model.kernel.search.expansion import CURSOR, SHARED_WORDS, Worker, note
from fencepost.model.kernel.search.store import Frontier, Segment, Space, Store, frontier


class Room(NamedTuple, Generic[W, N]):
    """Room for the successors of one state, as arrays or their addresses: which actions are enabled, the states that they lead
    to, one in each row, their numbers and their hashes."""

    enabled: W
    states: W
    actions: N
    hashes: W
    scratch: W

    @staticmethod
    def of(program: Program) -> Room[Words, Integers]:
        return Room(
            enabled=np.zeros(program.enabled_words, dtype=np.uint64),
            states=np.zeros((program.actions, program.words), dtype=np.uint64),
            actions=np.zeros(program.actions, dtype=np.int64),
            hashes=np.zeros(program.actions, dtype=np.uint64),
            scratch=np.zeros(program.words, dtype=np.uint64),
        )


@native
def successors(program: Program, state: Integer, room: Room[int, int]) -> int:
    """Writes the successors of the state at an address to the room, by rising action; returns how many there are."""
    call2(program.enabled, state, room.enabled)
    count = 0
    for word in range(program.enabled_words):
        bits = load(room.enabled + 8 * word)
        while bits != np.uint64(0):
            action = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            call3(program.apply, state, action, room.states + 8 * program.words * count)
            store(room.actions + 8 * count, np.uint64(action))
            count += 1
    return count


@native
def find_predecessors(
    program: Program,
    space: Space,
    frontier: Frontier,
    shared: Integer,
    worker: Worker[int, int],
    room: Room[int, int],
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
        segment = np.searchsorted(ordinals, first, side="right") - 1
        for ordinal in range(first, min(first + block, total)):
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            state = space.states + 8 * words * (starts[segment] + ordinal - ordinals[segment])
            for number in range(successors(program, state, room)):
                successor = room.states + 8 * words * number
                canonicalise(program, successor, room.scratch)
                if compare(successor, target, words) == 0:
                    note(worker, 0, state, load_int(room.actions + 8 * number), words)


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
    back = [target]
    for level in range(depth - 1, -1, -1):
        back.append(_predecessor(program, store, levels[level], back[-1], crew))
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


def _predecessor(program: Program, store: Store, level: Sequence[Segment], target: Words, crew: Crew) -> Words:
    states = frontier(level)
    shared = np.zeros(SHARED_WORDS, dtype=np.int64)
    at = shared.ctypes.data
    workers = [Worker.of(program, 1) for _ in range(crew.size)]
    rooms = [Room.of(program) for _ in range(crew.size)]
    held = np.ascontiguousarray(target)
    goal = held.ctypes.data

    def look(number: int) -> None:
        finds, room = Worker(*addresses(workers[number])), Room(*addresses(rooms[number]))
        find_predecessors(program, store.space, states, at, finds, room, goal, _BLOCK)

    crew.run(look)
    nearest = [worker.found_state[0] for worker in workers if worker.found_action[0] >= 0]
    return min(nearest, key=plain)
