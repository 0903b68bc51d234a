"""Exhaustive search level by level, each level in a folder: what is counted and found, and where a search goes on."""

from __future__ import annotations

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, TypedDict

import numpy as np

from fencepost.model import sealed
from fencepost.model.counts import count_of
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, bit_set, members
from fencepost.model.kernel.search import search as engine
from fencepost.model.kernel.search.expansion import Tally
from fencepost.model.kernel.search.paths import Path as Steps
from fencepost.model.kernel.search.paths import plain, through
from fencepost.model.kernel.search.results import (
    Established,
    Find,
    Finds,
    Kind,
    Limits,
    Outcome,
    Progress,
    Result,
    Totals,
    with_step,
)
from fencepost.properties.observed import Observed
from fencepost.traces.exploration.folder import FolderError, content_of
from fencepost.traces.exploration.run import Run

LEVELS, _STEPS = "levels", "steps"

HEAD = Limits(memory=64 << 20)
"""How far the kernel goes in memory: a level of a few thousand states takes it a millisecond, and writing its files longer."""


@dataclass(frozen=True)
class Searched(Established):
    """What a search level by level established; the states are in the folder."""

    levels: Levels = field(compare=False, repr=False)

    def path(self, find: Find, workers: int | None = None) -> Steps:
        """The shortest run to a find, the same that the engine in memory gives; on Spark while the session lasts."""
        return self.levels.path(find)


def finds_of(observed: Observed) -> Finds:
    """What an exhaustive search of these properties is to find."""
    return Finds(observed.kernel, observed.sought())


class Levels(ABC):
    """The states of a search by level: a folder for each, in it files by bucket. A state is in the same bucket wherever it
    comes from, so what is known of a bucket never moves: whoever has its new states reads it.

    ``files`` is the pattern of their names.
    """

    files: ClassVar[str]

    def __init__(self, run: Run, folder: Path, buckets: int) -> None:
        self.run, self.folder = run, folder.resolve() / LEVELS
        self.kernel = run.observed().kernel
        self.buckets = buckets  # a search that goes on keeps its own number
        self.reads_back = False  # what earlier levels have, so as to know it

    def adopt(self, depth: int) -> None:
        """Removes what a kill may have left beyond this depth."""
        if self.folder.exists():
            names = {f"depth={d}" for d in range(depth + 1)}
            for path in self.folder.iterdir():
                if path.is_dir() and path.name not in names:
                    shutil.rmtree(path)

    def at(self, depth: int) -> Path:
        """The folder of a level."""
        return self.folder / f"depth={depth}"

    def bytes(self) -> int:
        """What the levels take on disk."""
        return sum(file.stat().st_size for file in self.folder.rglob(self.files))

    @abstractmethod
    def check(self, depth: int) -> None:
        """Finds that the levels up to this depth are as they were written. Raises FolderError."""

    @abstractmethod
    def begin(self, depth: int, states: Words) -> None:
        """Writes a level that the kernel made by itself."""

    @abstractmethod
    def step(
        self, depth: int, finds: Finds, should_stop: Callable[[], bool], tell: Callable[[float], None]
    ) -> list[Tally] | None:
        """Writes the level of this depth: the states that are one step from the last level and in no level so far.

        Returns what was counted and found on the way, None if it was given up. ``tell`` is called with the share that is done,
        of reading back first, if that has to be.
        """

    @abstractmethod
    def size(self, depth: int) -> int:
        """How many states a level has, as its files say."""

    @abstractmethod
    def before(self, depth: int, state: tuple[int, ...]) -> tuple[int, ...]:
        """The smallest state of a level that this one is a successor of."""

    def path(self, find: Find) -> Steps:
        """The shortest run to a find: back level by level, each time to the smallest state that leads on."""
        back = [find.state]
        for depth in range(find.depth - (find.kind == "step") - 1, -1, -1):
            back.append(self.before(depth, back[-1]))
        states = [np.array(state, dtype=np.uint64) for state in reversed(back)]
        path = through(self.kernel, Program.of(self.kernel), states[0], states)
        return with_step(self.kernel, path, find.formula) if find.kind == "step" else path


class LevelSearch:
    """One search under way. After each level a file says what was counted and found by then, and that the level counts."""

    def __init__(
        self,
        levels: Levels,
        folder: Path,
        head: Limits,
        should_stop: Callable[[], bool],
        progress: Callable[[Progress], None],
    ) -> None:
        self.levels, self.head, self.should_stop, self.progress = levels, head, should_stop, progress
        self.observed = levels.run.observed()
        self.finds = finds_of(self.observed)
        self.notes = folder / _STEPS
        self.totals = Totals.none(Program.of(self.observed.kernel))
        self.sizes: list[int] = []
        self.violations: list[Find] = []
        self.ended: Outcome | None = None
        self.started, self.earlier = time.monotonic(), 0.0

    def result(self) -> Searched:
        """Goes on to the end, to the level of a violation, or until it is stopped. Raises FolderError."""
        self._resume()
        if not self.sizes:
            self._begin()
        while not self.violations and self.ended is None and not self.should_stop():
            self._step(len(self.sizes))
        outcome: Outcome = self.ended or "interrupted"
        if self.violations:
            outcome = "deadlock" if all(find.kind == "deadlock" for find in self.violations) else "violated"
        return Searched(
            outcome=outcome,
            distinct=sum(self.sizes),
            transitions=self.totals.transitions,
            depth=len(self.sizes) - 1,
            level_sizes=tuple(self.sizes),
            seen=members(np.array(self.totals.seen, dtype=np.uint64)),
            seen_steps=members(np.array(self.totals.seen_steps, dtype=np.uint64)),
            enabled=self.totals.enabled,
            deadlocks=self.totals.deadlocks,
            deadlock=self.finds.deadlock,
            violations=tuple(self.violations),
            watched=self.finds.watched,
            bytes_in_use=self.levels.bytes(),
            seconds=self.earlier + time.monotonic() - self.started,
            levels=self.levels,
        )

    def _begin(self) -> None:
        """Makes the first levels on the driver, as far as it may go."""
        result = self._by_itself(self.head)
        if result.outcome in ("memory", "time"):
            # once more, to the end of the last level that was complete: these counts are exact
            result = self._by_itself(Limits(memory=self.head.memory, depth=result.depth))
        if result.outcome == "interrupted":
            self.ended = "interrupted"
            return
        self.sizes, self.violations = list(result.level_sizes), list(result.violations)
        self.totals = _totals(result, self.observed.kernel.mask_words)
        self.ended = "exhausted" if result.outcome == "exhausted" else None
        noted = [*result.watched, *([result.deadlock] if result.deadlock else [])]
        self.finds.resume((f.kind, f.formula, f.depth, f.state) for f in noted)
        for depth in range(len(self.sizes)):
            self.levels.begin(depth, result.level(depth))
        self._note(len(self.sizes) - 1)

    def _by_itself(self, limits: Limits) -> Result:
        return engine.search(
            self.observed.kernel,
            self.observed.sought(),
            limits=limits,
            should_stop=self.should_stop,
            progress=self.progress,
        )

    def _step(self, depth: int) -> None:
        """Makes the level of this depth, and counts the steps that lead there."""
        tallies = self.levels.step(depth, self.finds, self.should_stop, self._tell)
        if tallies is None:
            self.ended = "interrupted"
        else:
            self._count(tallies, depth)

    def _count(self, tallies: Sequence[Tally], depth: int) -> None:
        self.violations = self.finds.take(tallies, depth)
        self.totals = self.totals.plus(tallies)
        size = self.levels.size(depth)
        if size:
            self.sizes.append(size)
        elif not self.violations:
            self.ended = "exhausted"
        self._note(depth)

    def _tell(self, share: float) -> None:
        if self.sizes:
            distinct = sum(self.sizes)
            rate = distinct / (self.earlier + time.monotonic() - self.started)
            done, transitions = (share, self.levels.reads_back), self.totals.transitions
            self.progress(Progress(len(self.sizes) - 1, distinct, transitions, self.sizes[-1], rate, *done))

    def _note(self, depth: int) -> None:
        """Writes down the search as it stands after a level: from here on the level counts."""
        content = {
            "run": self.levels.run.text,
            "depth": depth,
            "buckets": self.levels.buckets,
            "sizes": self.sizes,
            "totals": asdict(self.totals),
            "finds": self.finds.up_to(depth + 1),
            "violations": [(f.kind, f.formula, f.depth, f.state) for f in self.violations],
            "exhausted": self.ended == "exhausted",
            "seconds": self.earlier + time.monotonic() - self.started,
        }
        self.notes.mkdir(exist_ok=True)
        sealed.write(self.notes / f"{depth:05d}.json", content)

    def _resume(self) -> None:
        notes = sorted(self.notes.glob("[0-9]*.json"))
        if not notes:
            self.levels.adopt(-1)
            return
        held: _Noted = content_of(notes[-1])
        if (held.get("run"), held.get("depth")) != (self.levels.run.text, int(notes[-1].stem)):
            raise FolderError(f"{notes[-1]} is damaged: it is of another level or run")
        self.levels.buckets = held["buckets"]
        self.sizes, self.earlier = held["sizes"], held["seconds"]
        t = held["totals"]
        bits = tuple(t["enabled"]), tuple(t["seen"]), tuple(t["seen_steps"])
        self.totals = Totals(t["distinct"], t["transitions"], t["deadlocks"], *bits)
        self.finds.resume((kind, formula, depth, tuple(state)) for kind, formula, depth, state in held["finds"])
        self.violations = [Find(kind, formula, depth, tuple(state)) for kind, formula, depth, state in held["violations"]]
        self.ended = "exhausted" if held["exhausted"] else None
        self.levels.check(len(self.sizes) - 1)
        for depth, size in enumerate(self.sizes):
            there = self.levels.size(depth)
            if there != size:
                where = self.levels.at(depth)
                raise FolderError(f"{where} is damaged: it has {count_of(there, 'state')}, and {notes[-1].name} says {size}")
        self.levels.adopt(len(self.sizes) - 1)


class _Counted(TypedDict):
    distinct: int
    transitions: int
    deadlocks: int
    enabled: list[int]
    seen: list[int]
    seen_steps: list[int]


class _Noted(TypedDict):
    """What the note on a level has."""

    run: str
    depth: int
    buckets: int
    sizes: list[int]
    totals: _Counted
    finds: list[tuple[Kind, int, int, list[int]]]
    violations: list[tuple[Kind, int, int, list[int]]]
    exhausted: bool
    seconds: float


def _totals(result: Result, words: Mapping[str, int]) -> Totals:
    seen, seen_steps = bit_set(result.seen, words["observe"]), bit_set(result.seen_steps, words["observe_step"])
    return Totals(0, result.transitions, result.deadlocks, result.enabled, plain(seen), plain(seen_steps))
