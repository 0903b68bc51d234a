"""What a search reports: how far it is, what it found, what it established."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Literal

import numpy as np

from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.search.crew import Crew
from fencepost.model.kernel.search.paths import Path, plain, shortest
from fencepost.model.kernel.search.store import Segment, Store

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
    """The states of a search, kept in memory as long as its result is."""

    kernel: Kernel
    program: Program
    store: Store
    levels: Sequence[Sequence[Segment]]

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

    def level(self, depth: int) -> Words:
        """The states of one complete level, one in each row, sorted word by word: a copy."""
        rows = np.concatenate([self.reached.store.rows(segment) for segment in self.reached.levels[depth]])
        return rows[np.lexsort(rows.T[::-1])]
