"""Runs of a protocol from an initial state, and the shortest run to a state that a breadth-first search has met."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, addresses
from fencepost.model.kernel.search.crew import Crew
from fencepost.model.kernel.search.expansion import SHARED_WORDS, Worker
from fencepost.model.kernel.search.store import Segment, Store, frontier
from fencepost.model.kernel.search.successors import Room, find_predecessors

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
        finds, room = addresses(workers[number]), addresses(rooms[number])
        find_predecessors(program, store.space, states, at, finds, room, goal, _BLOCK)

    crew.run(look)
    nearest = [worker.found_state[0] for worker in workers if worker.found_action[0] >= 0]
    return min(nearest, key=plain)
