"""States that are the same except for a symmetry: which of them stands for all, and how many they are.

The orbit of a state is what the permutations of a symmetry make of it, and the least of these states, word by word, stands for
all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fencepost.model.analysis.symmetry import Symmetry
from fencepost.model.kernel.compiler.instructions import Code, object_code
from fencepost.model.kernel.compiler.loops import Integer, bit_count, bump, call2, fetch_add, load, load_int, native
from fencepost.model.kernel.compiler.packing import Packing
from fencepost.model.kernel.compiler.permutations import Permutations, tour
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.search.crew import Crew
from fencepost.model.kernel.search.results import Result
from fencepost.model.kernel.search.store import Frontier, Space, frontier

MOST = 5040
"""Permutations beyond which only a part of a symmetry is used: each of them is tried on each state that is met."""

_BLOCK = 1024


class Orbits:
    """The compiled symmetry of a kernel's protocol.

    ``canonical`` is the address of a function ``(state, out)`` that writes the state that stands for the orbit of this one;
    ``stabiliser`` of one that writes how many permutations leave the state as it is, so that its orbit has ``order`` divided
    by that many states.
    """

    def __init__(self, packing: Packing, symmetry: Symmetry) -> None:
        self.symmetry, self.order = symmetry, symmetry.order
        functions = Permutations(packing, tour(symmetry))
        functions.canonical()
        functions.stabiliser()
        self._code = Code(object_code(str(functions.module), thorough=True))
        self.canonical = self._code.address("canonical")
        self.stabiliser = self._code.address("stabiliser")

    def represented(
        self, result: Result, workers: int | None = None, progress: Callable[[int, int], None] = lambda done, count: None
    ) -> Represented:
        """What the states of a search with this symmetry stand for; ``progress`` is told how many are counted, of how many."""
        reached, done, levels = result.reached, 0, []
        program = Program.of(reached.kernel)
        with Crew(workers) as crew:
            room = np.zeros((crew.size, program.enabled_words), dtype=np.uint64)
            for segments in reached.levels:
                states, cursor = frontier(segments), np.zeros(1, dtype=np.int64)
                size, counts = int(states.ordinals[-1]), np.zeros((crew.size, 2), dtype=np.int64)
                args = program, self.stabiliser, self.order, reached.store.space, states, cursor.ctypes.data

                def work(number: int) -> None:
                    count_orbits(*args, counts[number].ctypes.data, room[number].ctypes.data)  # noqa: B023

                def tell() -> None:
                    progress(done + min(int(cursor[0]), size), sum(result.level_sizes))  # noqa: B023

                crew.run(work, tell, lambda: cursor.fill(size))  # noqa: B023
                done += size
                levels.append(counts.sum(axis=0))
        sizes = tuple(int(states) for states, _ in levels)
        return Represented(sum(sizes), sum(int(transitions) for _, transitions in levels), sizes)


@dataclass(frozen=True)
class Represented:
    """How many states there are without symmetry, and at each depth, and how many transitions they have, as the states that a
    search with symmetry visited predict it."""

    states: int
    transitions: int
    level_sizes: tuple[int, ...]


@native
def count_orbits(
    program: Program,
    stabiliser: Integer,
    order: Integer,
    space: Space,
    frontier: Frontier,
    cursor: Integer,
    counts: Integer,
    room: Integer,
) -> None:
    """Adds to the two counters at ``counts`` how many states and transitions those of the frontier stand for."""
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        first = fetch_add(cursor, _BLOCK)
        if first >= total:
            return
        segment = np.searchsorted(ordinals, first, side="right") - 1
        for ordinal in range(first, min(first + _BLOCK, total)):
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            state = space.states + 8 * program.words * (starts[segment] + ordinal - ordinals[segment])
            call2(stabiliser, state, room)
            size = order // load_int(room)
            call2(program.enabled, state, room)
            enabled = 0
            for word in range(program.enabled_words):
                enabled += bit_count(load(room + 8 * word))
            bump(counts, size)
            bump(counts + 8, size * enabled)
