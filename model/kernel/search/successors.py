"""The successors of one state after the other, and the way back to a state's predecessors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import call2, call3, fetch_add, load, load_int, lowest_bit, native, store
from fencepost.model.kernel.compiler.program import Program, canonicalise, compare
from fencepost.model.kernel.search.expansion import CURSOR, note


class Room(NamedTuple):
    """Room for the successors of one state, as arrays or their addresses: which actions are enabled, the states that they lead
    to, one in each row, their numbers and their hashes."""

    enabled: Any
    states: Any
    actions: Any
    hashes: Any
    scratch: Any

    @classmethod
    def of(cls, program: Program) -> Room:
        return cls(
            enabled=np.zeros(program.enabled_words, dtype=np.uint64),
            states=np.zeros((program.actions, program.words), dtype=np.uint64),
            actions=np.zeros(program.actions, dtype=np.int64),
            hashes=np.zeros(program.actions, dtype=np.uint64),
            scratch=np.zeros(program.words, dtype=np.uint64),
        )


@native
def successors(program: Any, state: Any, room: Any) -> Any:
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
    program: Any, space: Any, frontier: Any, shared: Any, worker: Any, room: Any, target: Any, block: Any
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
