"""A stretch of random walks with all there is to tell of it: counts, sampled states, and every walk that violates something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import Integer, bump, call2, load, load_int, lowest_bit, native, store
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, addresses, members
from fencepost.model.kernel.walks.course import Course, Sample, Sought, Starts, Strategy, course_of
from fencepost.model.kernel.walks.walking import DEADLOCKS, NO_TRAIL, SAMPLED, STEPS, Trail, Walker, walk_all, walk_once

Integers = npt.NDArray[np.int64]

_HASHES, _FINDS = 1 << 16, 1 << 14
_ROW, _WALK, _LENGTH = range(3)

_LOOKED_AT = 64
"""Walks of a stretch that are looked at step by step, at least, if it has so many."""


@dataclass(frozen=True)
class WalkRun:
    """A violating walk: its number and the actions up to the violation."""

    walk: int
    actions: tuple[int, ...]


@dataclass(frozen=True)
class Census:
    """What a stretch of walks saw; it depends on the walks' numbers alone.

    ``enabled`` are the actions that were possible somewhere, ``taken`` counts by action the steps that it made, ``stuck`` the
    walks that ended in a state without a successor. ``seen`` and ``seen_steps`` are the observed formulas that held somewhere.
    ``fingerprints`` are the hashes of the sampled states, ascending, and ``visits`` how often each was visited. ``violating``
    maps a row to the number of walks that ended with its violation and ``shortest`` to the shortest of them: rows are the
    observed formulas of states, then those of steps, then the deadlock.

    Some of the walks, evenly spread, are looked at step by step: ``looked_at`` is how many states they visited, ``possible``
    counts by action in how many of these it was possible, and ``values`` holds, for each variable, the raw values that it had
    there, ascending.
    """

    walks: int
    steps: int
    stuck: int
    enabled: tuple[int, ...]
    taken: Integers
    seen: tuple[int, ...]
    seen_steps: tuple[int, ...]
    fingerprints: Words
    visits: Integers
    violating: dict[int, int]
    shortest: dict[int, tuple[WalkRun, ...]]
    looked_at: int
    possible: Integers
    values: tuple[tuple[int, ...], ...]


class Walking:
    """Random walks of one kernel, ready to be made stretch by stretch; the walks are those of ``random_walks``.

    A state is sampled if its hash ends in ``bits`` zeros. ``keep`` is how many of the shortest violating walks of each row are
    kept for each stretch.
    """

    def __init__(
        self,
        kernel: Kernel,
        *,
        seed: int,
        steps: int,
        strategy: Strategy = "held",
        alarm: Iterable[int] = (),
        step_alarm: Iterable[int] = (),
        may_end: int | None = None,
        bits: int = 6,
        keep: int = 16,
    ) -> None:
        self.kernel, self.steps, self.keep = kernel, steps, keep
        self._program = Program.of(kernel).choosing(kernel).observing(kernel).stepping(kernel, thorough=True)
        self._starts = Starts.of(kernel, self._program)
        self._finds = Sought.of(kernel, alarm, step_alarm, may_end)
        sample = Sample()
        sample.bits = bits
        self._course = course_of(self._starts, seed, steps, strategy, sample, self._finds)

    def census(self, first: int, count: int) -> Census:
        """Makes the ``count`` walks from number ``first`` on."""
        rows = self._finds.rows
        walker = self._walker(_HASHES + self.steps + 1)
        finds = np.zeros((_FINDS + rows, 3), dtype=np.int64)
        sampled, batches = list[Words](), list[Integers]()
        start, end = first, first + count
        while start < end:
            start, listed = walk_and_list(
                self._program, self._course, start, end, Walker(*addresses(walker)), rows, finds.ctypes.data, _HASHES, _FINDS
            )
            batches.append(finds[:listed].copy())
            sampled.append(walker.sample[: walker.counters[SAMPLED]].copy())
            walker.counters[SAMPLED] = 0
        fingerprints, visits = np.unique(np.concatenate(sampled), return_counts=True)
        violating, shortest = self._violations(np.concatenate(batches))
        states = self._looked_at(range(first, end, max(1, count // _LOOKED_AT)))
        return Census(
            walks=count,
            steps=int(walker.counters[STEPS]),
            stuck=int(walker.counters[DEADLOCKS]),
            enabled=members(walker.enabled),
            taken=walker.taken,
            seen=members(walker.seen),
            seen_steps=members(walker.seen_steps),
            fingerprints=fingerprints,
            visits=visits,
            violating=violating,
            shortest=shortest,
            looked_at=len(states),
            possible=self._possible(states),
            values=self._values(states),
        )

    def path(self, walk: int) -> tuple[Words, tuple[int, ...]]:
        """The states of one walk, one in each row, and its actions."""
        trail, walker = Trail.of(self.kernel.words, self.steps), self._walker(self.steps + 1)
        walk_all(
            self._program, self._course, walk, walk + 1, self.steps + 1, Walker(*addresses(walker)), Trail(*addresses(trail))
        )
        length = int(trail.length[0])
        return trail.states[: length + 1], tuple(int(action) for action in trail.actions[:length])

    def _walker(self, room: int) -> Walker[Words, Integers]:
        return Walker.of(self._program, self._finds.rows, room)

    def _violations(self, finds: Integers) -> tuple[dict[int, int], dict[int, tuple[WalkRun, ...]]]:
        violating, shortest = dict[int, int](), dict[int, tuple[WalkRun, ...]]()
        for row in np.unique(finds[:, _ROW]).tolist():
            mine = finds[finds[:, _ROW] == row]
            violating[row] = len(mine)
            walks = mine[np.lexsort((mine[:, _WALK], mine[:, _LENGTH]))][: self.keep, _WALK].tolist()
            shortest[row] = tuple(WalkRun(walk, self.path(walk)[1]) for walk in walks)
        return violating, shortest

    def _looked_at(self, walks: Sequence[int]) -> Words:
        return np.concatenate([self.path(walk)[0] for walk in walks])

    def _possible(self, states: Words) -> Integers:
        counts, mask = np.zeros(self._program.actions, np.int64), np.zeros(self._program.enabled_words, np.uint64)
        count_enabled(self._program, states.ctypes.data, len(states), mask.ctypes.data, counts.ctypes.data)
        return counts

    def _values(self, states: Words) -> tuple[tuple[int, ...], ...]:
        values = []
        for field in self.kernel.packing.fields.values():
            held = states[:, field.word] >> np.uint64(field.shift) & np.uint64(field.mask)
            values.append(tuple(value + field.low for value in np.unique(held).tolist()))
        return tuple(values)


@native
def walk_and_list(
    program: Program,
    course: Course,
    first: int,
    end: int,
    walker: Walker[int, int],
    rows: Integer,
    finds: Integer,
    hashes: Integer,
    room: Integer,
) -> tuple[int, int]:
    """The walks with numbers from ``first`` up to ``end``, or until ``hashes`` are sampled or ``room`` finds are listed; writes
    each find (row, walk, length) to the address ``finds`` and returns the number of the next walk and how many finds there are.
    """
    listed, number = 0, first
    while number < end and listed < room and load_int(walker.counters + 8 * SAMPLED) < hashes:
        walk_once(program, course, number, walker, NO_TRAIL)
        for row in range(rows):
            if load_int(walker.found_walk + 8 * row) >= 0:
                store(finds + 24 * listed, np.uint64(row))
                store(finds + 24 * listed + 8, np.uint64(number))
                store(finds + 24 * listed + 16, load(walker.found_step + 8 * row))
                store(walker.found_walk + 8 * row, np.uint64(np.int64(-1)))
                listed += 1
        number += 1
    return number, listed


@native
def count_enabled(program: Program, states: Integer, count: Integer, mask: Integer, counts: Integer) -> None:
    """Counts, for each action, the states in which it is possible; ``mask`` is room for one bit set; all are addresses."""
    for place in range(count):
        call2(program.enabled, states + 8 * program.words * place, mask)
        for word in range(program.enabled_words):
            bits = load(mask + 8 * word)
            while bits != np.uint64(0):
                bump(counts + 8 * (64 * word + lowest_bit(bits)), 1)
                bits &= bits - np.uint64(1)
