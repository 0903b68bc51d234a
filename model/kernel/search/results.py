"""What a search takes from its workers and reports: how far it is, counts, finds, what it established."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Literal, cast

import numpy as np

from fencepost.model.kernel.compiler.loops import Crew, Integer, bit_count, bump, call2, fetch_add, load, load_int, native
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, bit_set
from fencepost.model.kernel.search.expansion import DEADLOCK_ROW, DEADLOCKS, NEW, TRANSITIONS, Alarms, Tally
from fencepost.model.kernel.search.paths import Path, plain, shortest
from fencepost.model.kernel.search.store import Frontier, Segment, Space, Store, frontier, look_up, segment_of
from fencepost.model.kernel.search.transitions import Recorded

Outcome = Literal["exhausted", "violated", "deadlock", "memory", "states", "time", "depth", "interrupted"]
Kind = Literal["state", "step", "deadlock"]


@dataclass(frozen=True)
class Find:
    """A violation or deadlock: the shortest there is and, of these, the one with the smallest state, then action.

    ``formula`` is the number of the observed formula (0 for a deadlock); ``state`` the packed state that violates it, or, for
    a step, the one before it; ``depth`` the number of steps from an initial state to the violation.
    """

    kind: Kind
    formula: int
    depth: int
    state: tuple[int, ...]


@dataclass(frozen=True)
class Progress:
    """How far a search is: complete levels, states and transitions so far, states of the level being expanded, new states
    per second since the last report. Which part of that level's work is done, if that is known; of reading back what earlier
    levels have, if that comes first."""

    depth: int
    distinct: int
    transitions: int
    frontier: int
    rate: float
    share: float | None = None
    reads_back: bool = False


@dataclass(frozen=True)
class Limits:
    """When a search gives up: bytes for states and table together, seconds, depth in steps, and the states with more than which
    it does not begin another level; None is no limit."""

    memory: int = 4 << 30
    seconds: float | None = None
    depth: int | None = None
    states: int | None = None


@dataclass(frozen=True)
class Sought:
    """What a search looks for, by the numbers of the kernel's observed formulas.

    ``alarm`` and ``step_alarm`` are violations where they hold, of a state and of a step. A level with a violation (or a
    deadlock, if that is to stop the search) is finished and is the last. ``watch`` are formulas whose first find is reported
    without that. ``may_end`` is the formula that holds where a run may end: a state without a successor in which it does not is
    a deadlock; without it each one is.
    """

    alarm: Iterable[int] = ()
    step_alarm: Iterable[int] = ()
    watch: Iterable[int] = ()
    stop_on_deadlock: bool = False
    may_end: int | None = None


@dataclass(frozen=True)
class Kept:
    """A folder that keeps the complete levels of a search, written every so many seconds and at the end; with ``resume`` the
    search goes on from what it holds."""

    folder: FilePath
    every: float = 600.0
    resume: bool = False


@dataclass(frozen=True)
class Reached:
    """The states of a search, and what it ``recorded`` of its transitions, kept in memory as long as its result is."""

    kernel: Kernel
    program: Program
    store: Store
    levels: Sequence[Sequence[Segment]]
    recorded: Recorded | None = None

    def path(self, find: Find, workers: int | None) -> Path:
        before = find.depth - (find.kind == "step")
        target = np.array(find.state, dtype=np.uint64)
        with Crew(workers) as crew:
            path = shortest(self.kernel, self.program, self.store, self.levels, before, target, crew)
        return with_step(self.kernel, path, find.formula) if find.kind == "step" else path


def with_step(kernel: Kernel, path: Path, formula: int) -> Path:
    """The run with one more step, by the smallest action of which an observed formula over steps holds."""
    last = np.array(path.states[-1], dtype=np.uint64)
    for action in kernel.enabled(last):
        after = kernel.apply(last, action)
        if formula in kernel.observe_step(last, after):
            return Path((*path.states, plain(after)), (*path.actions, action))
    raise AssertionError("no action of this state violates the formula: the symmetry is none of it")


@dataclass(frozen=True)
class Established:
    """What a search established, wherever it ran. Two results of one search are equal whatever the number of workers, unless a
    limit or an interrupt cut them short; then ``distinct`` and the counts include the part of a level that was reached.

    ``depth`` is that of the deepest complete level and ``level_sizes`` has the states of each complete level. ``seen`` and
    ``seen_steps`` are the observed formulas that held somewhere; ``enabled`` how many transitions each action has. ``deadlock``
    is the first one, whether or not it was to stop the search, and ``deadlocks`` how many there are; ``watched`` has the first
    find of each formula that was watched.
    """

    outcome: Outcome
    distinct: int
    transitions: int
    depth: int
    level_sizes: tuple[int, ...]
    seen: tuple[int, ...]
    seen_steps: tuple[int, ...]
    enabled: tuple[int, ...]
    deadlocks: int
    deadlock: Find | None
    violations: tuple[Find, ...]
    watched: tuple[Find, ...]
    bytes_in_use: int = field(compare=False)
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class Result(Established):
    """What a search on this machine established, with the states."""

    reached: Reached = field(compare=False, repr=False)

    @property
    def bytes_per_state(self) -> float:
        """Memory for states and table, for each state."""
        return self.bytes_in_use / max(self.distinct, 1)

    def path(self, find: Find, workers: int | None = None) -> Path:
        """The shortest run to a find; for a violation over a step, its last action is the violating one."""
        return self.reached.path(find, workers)

    def states(self) -> Iterator[Words]:
        """All states of the complete levels in breadth-first order, as views of many rows; within a level the order depends
        on the workers."""
        for level in self.reached.levels:
            for segment in level:
                yield self.reached.store.rows(segment)

    def constant(self) -> frozenset[str]:
        """The names of the variables that have the same value in all states of the complete levels."""
        some = np.zeros(self.reached.kernel.words, dtype=np.uint64)
        all_ = ~some
        for rows in self.states():
            some |= np.bitwise_or.reduce(rows, axis=0)
            all_ &= np.bitwise_and.reduce(rows, axis=0)
        changing = [int(word) for word in some ^ all_]
        fields = self.reached.kernel.packing.fields.items()
        return frozenset(name for name, field in fields if not changing[field.word] >> field.shift & field.mask)

    def depths(self, states: Sequence[tuple[int, ...]]) -> list[int]:
        """The complete level of each of these packed states; -1 of one that is in none. The search had no symmetry."""
        rows, places = np.array(states, dtype=np.uint64), np.empty(len(states), dtype=np.int64)
        look_up(self.reached.store.space, rows.ctypes.data, len(rows), places)
        held = sorted((start, end, depth) for depth, level in enumerate(self.reached.levels) for start, end in level)
        starts, ends, depths = np.array(held, dtype=np.int64).T
        segment = np.searchsorted(starts, places, side="right") - 1
        return list(np.where((places >= 0) & (places < ends[segment]), depths[segment], -1).tolist())

    def level(self, depth: int) -> Words:
        """The states of one complete level, one in each row, sorted word by word: a copy."""
        rows = np.concatenate([self.reached.store.rows(segment) for segment in self.reached.levels[depth]])
        return rows[np.lexsort(rows.T[::-1])]


@dataclass(frozen=True)
class Represented:
    """How many states there are without symmetry, and at each depth, and how many transitions they have, as the states that a
    search with symmetry visited predict it."""

    states: int
    transitions: int
    level_sizes: tuple[int, ...]


def represented(
    result: Result,
    stabiliser: int,
    order: int,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, count: None,
) -> Represented:
    """What the states of a search with a symmetry of that order stand for (see Orbits.stabiliser); ``progress`` is told how
    many are counted, of how many."""
    reached, done, levels = result.reached, 0, []
    program = Program.of(reached.kernel).choosing(reached.kernel)
    with Crew(workers) as crew:
        room = np.zeros((crew.size, program.enabled_words), dtype=np.uint64)
        for segments in reached.levels:
            states, cursor = frontier(segments), np.zeros(1, dtype=np.int64)
            size, counts = int(states.ordinals[-1]), np.zeros((crew.size, 2), dtype=np.int64)
            args = program, stabiliser, order, reached.store.space, states, cursor.ctypes.data

            def work(number: int) -> None:
                count_orbits(*args, counts[number].ctypes.data, room[number].ctypes.data)  # noqa: B023

            def tell() -> None:
                progress(done + min(int(cursor[0]), size), sum(result.level_sizes))  # noqa: B023

            crew.run(work, tell, lambda: cursor.fill(size))  # noqa: B023
            done += size
            levels.append(counts.sum(axis=0))
    sizes = tuple(int(states) for states, _ in levels)
    return Represented(sum(sizes), sum(int(transitions) for _, transitions in levels), sizes)


_BLOCK = 1024


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
        segment = segment_of(ordinals, first)
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


@dataclass(frozen=True)
class Totals:
    """Counts of a search: states, transitions, states without a successor, transitions by action; and which observed formulas
    were seen to hold, of states and of steps, as words of bits."""

    distinct: int
    transitions: int
    deadlocks: int
    enabled: tuple[int, ...]
    seen: tuple[int, ...]
    seen_steps: tuple[int, ...]

    @classmethod
    def none(cls, program: Program) -> Totals:
        """Nothing counted."""
        return cls(0, 0, 0, (0,) * program.actions, (0,) * program.observe_words, (0,) * program.step_words)

    def plus(self, workers: Iterable[Tally]) -> Totals:
        """With all that the workers have counted."""
        held = list(workers)
        counts = np.sum([np.zeros(8, dtype=np.int64), *(worker.counters for worker in held)], axis=0)
        enabled = np.sum([np.array(self.enabled, dtype=np.int64), *(worker.enabled for worker in held)], axis=0)
        return Totals(
            self.distinct + int(counts[NEW]),
            self.transitions + int(counts[TRANSITIONS]),
            self.deadlocks + int(counts[DEADLOCKS]),
            tuple(enabled.tolist()),
            _union(self.seen, [worker.seen for worker in held]),
            _union(self.seen_steps, [worker.seen_steps for worker in held]),
        )


def _union(known: tuple[int, ...], masks: list[Words]) -> tuple[int, ...]:
    return tuple(a | int(b) for a, b in zip(known, np.bitwise_or.reduce(masks), strict=True))


Listed = tuple[str, int, int, tuple[int, ...]]
"""A find as it is kept on disk: kind, formula, depth and state."""


class Finds:
    """What ends a search and what is only noted, as ``Sought`` has it, and the finds that did not end it.

    A worker's ``rows`` of finds are one for deadlocks, then the observed formulas, then those over steps. ``alarms`` is what
    the loops see of it, ``sought`` what of it decides a search.
    """

    def __init__(self, kernel: Kernel, sought: Sought) -> None:
        self._watch, self._stop_on_deadlock = frozenset(sought.watch), sought.stop_on_deadlock
        self._states = bit_set({*sought.alarm, *self._watch}, kernel.mask_words["observe"])
        self._steps = bit_set(sought.step_alarm, kernel.mask_words["observe_step"])
        self._first: dict[tuple[str, int], Find] = {}
        self._step_row = 1 + kernel.formulas["observe"]
        self.rows = self._step_row + kernel.formulas["observe_step"]
        ends = -1 if sought.may_end is None else sought.may_end
        self.alarms = Alarms(self._states.ctypes.data, self._steps.ctypes.data, self._step_row, ends)
        self.sought = [plain(self._states), plain(self._steps), sought.stop_on_deadlock, sorted(self._watch), ends]

    def take(self, workers: Sequence[Tally], depth: int) -> list[Find]:
        """Takes the finds of the step to level ``depth`` from the workers; returns those that end the search."""
        if all(worker.found_action.max() < 0 for worker in workers):
            return []
        ending = []
        hit = np.any([worker.found_action >= 0 for worker in workers], axis=0)
        for row in np.flatnonzero(hit).tolist():
            states = [plain(w.found_state[row]) for w in workers if w.found_action[row] >= 0]
            if row == DEADLOCK_ROW:
                first = self._keep(Find("deadlock", 0, depth - 1, min(states)))
                if self._stop_on_deadlock:
                    ending.append(first)
            elif row - 1 in self._watch:
                self._keep(Find("state", row - 1, depth, min(states)))
            elif row < self._step_row:
                ending.append(Find("state", row - 1, depth, min(states)))
            else:
                ending.append(Find("step", row - self._step_row, depth, min(states)))
        for worker in workers:
            worker.found_action[:] = -1
        return sorted(ending, key=lambda find: (find.depth, find.kind, find.formula))

    def _keep(self, find: Find) -> Find:
        """Keeps the first find of its kind. A formula that was only watched raises no alarm from the next level on."""
        if find.kind == "state":
            self._states[find.formula // 64] &= ~(1 << find.formula % 64) & (1 << 64) - 1
        return self._first.setdefault((find.kind, find.formula), find)

    def resume(self, listed: Iterable[Listed]) -> None:
        """Goes on with what ``up_to`` returned."""
        for kind, formula, depth, state in listed:
            self._keep(Find(cast(Kind, kind), formula, depth, state))

    def up_to(self, levels: int) -> tuple[Listed, ...]:
        """The finds that did not end the search and belong to its first levels."""
        within = [f for f in self._first.values() if f.depth < levels - (f.kind == "deadlock")]
        return tuple((f.kind, f.formula, f.depth, f.state) for f in within)

    @property
    def deadlock(self) -> Find | None:
        """The first deadlock."""
        return self._first.get(("deadlock", 0))

    @property
    def watched(self) -> tuple[Find, ...]:
        """The first find of each formula that was only watched."""
        return tuple(find for _, find in sorted(self._first.items()) if find.kind != "deadlock")
