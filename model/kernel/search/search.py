"""Exhaustive breadth-first search of a protocol on all cores: the same counts and the same finds with any number of workers."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from fencepost.model.kernel.compiler.loops import Crew, prepare
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.planes import TOGETHER
from fencepost.model.kernel.compiler.program import Program, addresses, members
from fencepost.model.kernel.search.checkpoint import Checkpoint, CheckpointError, Saved
from fencepost.model.kernel.search.expansion import (
    BATCH,
    CHUNK,
    CURSOR,
    FULL,
    NEW,
    SHARED_WORDS,
    SMALL,
    STOP,
    TOP,
    TRANSITIONS,
    Worker,
    expand,
    observe,
    seed,
    take_segments,
)
from fencepost.model.kernel.search.paths import Path, plain
from fencepost.model.kernel.search.results import Find, Finds, Kept, Limits, Outcome, Progress, Reached, Result, Sought, Totals
from fencepost.model.kernel.search.store import LINE, Frontier, Segment, Store, frontier, joined, least_budget, sizes
from fencepost.model.kernel.search.transitions import NOTHING_RECORDED, Record, Recorded, bytes_recorded
from fencepost.model.language import Protocol
from fencepost.model.terms.values import Condition

NOTHING = Sought()
"""A search that goes through all states."""

MANY_STEPS = 15_000
"""Transitions for each action beyond which it pays to look at steps from 64 states at once. What that saves of a transition and
what its code takes to write both grow with what is observed, the code with the number of actions besides; by so many, looking
at each step has taken between a tenth of what writing the code will (service units) and all of it (the ledger)."""

_SMALLEST_BLOCK, _LARGEST_BLOCK = TOGETHER, 256
"""States that a worker takes at a time. At the end of a level the others wait for the last block, half of one on average."""


def search(
    kernel: Kernel,
    sought: Sought = NOTHING,
    *,
    start: Words | None = None,
    canonical: int = 0,
    workers: int | None = None,
    limits: Limits | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Progress], None] | None = None,
    kept: Kept | None = None,
    recording: int = 0,
) -> Result:
    """Visits the reachable states of a protocol, level by level, until there is none left or something that is sought ends it.

    ``start`` has the states to begin with, one in each row, instead of the protocol's initial ones (not with a symmetry).
    ``canonical`` is the address of a symmetry's function (see Program.of). ``should_stop`` is asked and ``progress`` told,
    about once a second, from this thread. The transitions are recorded, for a graph, as long as states and transitions take no
    more than ``recording`` bytes; those of a search that is ``kept`` are not. Raises ValueError for a memory budget that is too
    small to begin with, MemoryError if the system refuses it, and CheckpointError for what is ``kept`` and is none of this
    search's.
    """
    with Crew(workers) as crew:
        finds = Finds(kernel, sought)
        program = Program.of(kernel, canonical).in_planes(kernel).observing_steps(kernel)
        initial = kernel.initial() if start is None else start
        new_search = _Search(kernel, program, initial, finds, crew, limits or Limits(), should_stop, progress)
        new_search.record(0 if kept else recording)
        if kept is not None:
            new_search.keep(Checkpoint(kept.folder, new_search.fingerprint()), kept)
        return new_search.run()


def least_memory(kernel: Kernel, workers: int) -> int:
    """The bytes that a search takes to begin with."""
    return least_budget(kernel.words, _inserts(kernel, workers))


def _inserts(kernel: Kernel, workers: int) -> int:
    """How many states the workers may add before they look at the table's load again."""
    return workers * (_SMALLEST_BLOCK * len(kernel.actions) + BATCH + CHUNK)


class _Search:
    """One search under way."""

    def __init__(
        self,
        kernel: Kernel,
        program: Program,
        initial: Words,
        finds: Finds,
        crew: Crew,
        limits: Limits,
        should_stop: Callable[[], bool],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.kernel, self.program, self.initial, self.crew, self.limits = kernel, program, initial, crew, limits
        self.finds, self.should_stop, self.progress = finds, should_stop, progress
        self.workers = [Worker.of(program, finds.rows) for _ in range(crew.size)]
        self.written = [Worker(*addresses(worker)) for worker in self.workers]
        self.shared = np.zeros(SHARED_WORDS, dtype=np.int64)
        self.store = Store(kernel.words, limits.memory, _inserts(kernel, crew.size))
        self.levels: list[list[Segment]] = []
        self.fresh: list[Segment] = []
        self.base = Totals.none(program)
        self.checkpoint: Checkpoint | None = None
        self.ended: Outcome | None = None
        self.boundary = 0, self.base
        self.started = self.reported = self.saved = time.monotonic()
        self.reported_states, self.earlier = 0, 0.0
        self.recorded: Recorded | None = None
        self.recording = 0
        self._level: list[Segment] = []
        self._its_states = frontier(self._level)

    def fingerprint(self) -> str:
        """A hash of all that decides the course of the search, except for the limits."""
        initial = sorted(plain(state) for state in self.initial)
        parts = [self.kernel.fingerprint, initial, self.finds.sought, self.program.canonical != 0]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def record(self, memory: int) -> None:
        """Records the transitions, as long as these and the states together take no more bytes."""
        self.recording = memory
        if not memory:
            return
        of_a_state = 8 * self.kernel.words + bytes_recorded(1, 0, self.program.observe_words)
        places = min(self.store.space.capacity, memory // of_a_state)
        with suppress(MemoryError):  # without a record all is expanded once more for a graph, if there is memory then
            self.recorded = Recorded(self.program, places, memory // bytes_recorded(0, 1, 0))

    def keep(self, checkpoint: Checkpoint, kept: Kept) -> None:
        self.checkpoint, self.every = checkpoint, kept.every
        if not kept.resume or checkpoint.is_blank:
            checkpoint.start()
            return
        saved = checkpoint.summary()
        count = sum(saved.sizes)
        if not self.store.fits(count + CHUNK * self.crew.size):
            budget = f"a memory budget of {self.limits.memory} bytes"
            raise CheckpointError(f"{checkpoint.folder} has {count} states, too many for {budget}")
        checkpoint.load(self.store)
        ends = list(itertools.accumulate(saved.sizes, initial=0))
        self.levels = [[segment] for segment in itertools.pairwise(ends)]
        self.shared[TOP] = count
        self.store.rebuild(self._segments(), count, self._everywhere)
        self.base, self.earlier = saved.totals, saved.seconds
        self.finds.resume(saved.finds)

    def run(self) -> Result:
        violations: list[Find] = []
        if not expand.is_ready:
            self._prepare()
        if not self.levels:
            self._seed()
            self._observe()
            violations = self.finds.take(self.workers, 0)
            if self.ended is None:
                self.levels.append(self.fresh)
                self.fresh = []
        while not violations and self.ended is None:
            if self.checkpoint is not None:
                self.boundary = len(self.levels), self._totals()
            self._poll()
            if self.ended is None and len(self.levels) - 1 == self.limits.depth:
                self.ended = "depth"
            if self.ended is None and self.limits.states is not None and self._distinct() > self.limits.states:
                self.ended = "states"
            if self.ended is None:
                self._expand()
                self._observe()
                violations = self.finds.take(self.workers, len(self.levels))
            if self.ended is None and self.fresh:
                self.levels.append(self.fresh)
                self.fresh = []
            elif self.ended is None and not violations:
                self.ended = "exhausted"
            if self.checkpoint is not None and time.monotonic() - self.saved > self.every:
                self._save()
        if self.checkpoint is not None:
            self._save()
        return self._result(violations)

    # --- one level

    def _prepare(self) -> None:
        """Makes the loops ready, the one that takes longest to compile first."""
        program, space, shared, worker = self.program, self.store.space, self.shared.ctypes.data, self.written[0]
        args = program, space, frontier([]), shared, self.finds.alarms, worker, NOTHING_RECORDED, _LARGEST_BLOCK
        prepare((expand, args), (observe, args), (seed, (program, space, shared, worker, 0)))

    def _seed(self) -> None:
        initial, worker = self.initial, self.workers[0]
        for start in range(0, len(initial), BATCH):
            if not self._has_room():
                self.ended = "memory"
                return
            rows = initial[start : start + BATCH]
            worker.successors[: len(rows)] = rows
            shared = self.shared.ctypes.data
            if not seed(self.program, self.store.space, shared, self.written[0], len(rows)):
                self.ended = "memory"
                return
            self._drain()

    def _expand(self) -> None:
        """Expands the last level; the new states are ``fresh``."""
        enough = self.kernel.has_steps_in_planes or self._transitions() > MANY_STEPS * self.program.actions
        if self.program.observe_step and enough:
            self.program = self.program.steps_in_planes(self.kernel)
        states = self._frontier(self.levels[-1])
        total = int(states.ordinals[-1])
        record = self._record()
        self.shared[CURSOR] = 0
        while True:
            spread = min(_LARGEST_BLOCK, total // (4 * self.crew.size), self._largest_block())
            block = max(_SMALLEST_BLOCK, spread // TOGETHER * TOGETHER)
            args = (self.program, self.store.space, states, self.shared.ctypes.data, self.finds.alarms)

            def work(number: int) -> int:
                return int(expand(*args, self.written[number], record, block))  # noqa: B023

            codes = [work(0)] if total <= SMALL else self.crew.run(work, self._poll, self._stop)
            self._drain()
            left = int(self.shared[CURSOR]) < total
            if self.ended is None and (FULL in codes or (left and not self._has_room())):
                self.ended = "memory"
            if self.ended is not None or not left:
                return

    def _observe(self) -> None:
        """Takes in what is observed of the new states."""
        if not self.program.observe_planes or not self.fresh:
            return
        states = self._frontier(self.fresh)
        record = self._record()
        self.shared[CURSOR] = 0
        args = (self.program, self.store.space, states, self.shared.ctypes.data, self.finds.alarms)

        def look(number: int) -> None:
            observe(*args, self.written[number], record, _LARGEST_BLOCK)

        if int(states.ordinals[-1]) <= SMALL:
            look(0)
        else:
            self.crew.run(look)

    def _frontier(self, level: list[Segment]) -> Frontier:
        """The states of a level, which are observed and then expanded."""
        if level is not self._level:
            self._level, self._its_states = level, frontier(level)
        return self._its_states

    def _record(self) -> Record:
        """Where transitions are recorded: nowhere from the moment on that there is no room for all."""
        if self.recorded is not None:
            taken = bytes_recorded(int(self.shared[TOP]), self._transitions(), self.program.observe_words)
            if (
                not self.recorded.is_whole(int(self.shared[TOP]))
                or taken + self.store.bytes_in_use(int(self.shared[TOP])) > self.recording
            ):
                self.recorded = None
        return NOTHING_RECORDED if self.recorded is None else self.recorded.record

    def _drain(self) -> None:
        """Takes the segments that the workers have filled."""
        for worker in self.workers:
            self.fresh += take_segments(worker)
        self.fresh = joined(self.fresh)

    def _has_room(self) -> bool:
        top = int(self.shared[TOP])
        return top <= self.store.space.grow_at or self.store.rebuild(self._segments(), top, self._everywhere)

    def _segments(self) -> list[Segment]:
        return [segment for level in self.levels for segment in level] + self.fresh

    def _everywhere(self, task: Callable[[], None]) -> None:
        self.crew.run(lambda _: task())

    def _largest_block(self) -> int:
        slack = LINE * self.store.space.lines // 8 - self.crew.size * (BATCH + CHUNK)
        return slack // (self.crew.size * max(self.program.actions, 1))

    # --- what happens meanwhile

    def _stop(self) -> None:
        self.shared[STOP] = 1

    def _poll(self) -> None:
        now = time.monotonic()
        if self.ended is None and self.should_stop():
            self.ended = "interrupted"
        if self.ended is None and self.limits.seconds is not None and now - self.started > self.limits.seconds:
            self.ended = "time"
        if self.ended is not None:
            self._stop()
        if self.progress is not None and now - self.reported >= 1.0:
            totals = self._totals()
            rate = (totals.distinct - self.reported_states) / (now - self.reported)
            size = sizes(self.levels[-1:])[0]
            self.progress(Progress(len(self.levels) - 1, totals.distinct, totals.transitions, size, rate))
            self.reported, self.reported_states = now, totals.distinct

    def _save(self) -> None:
        """Writes the search as it stood before its last level was expanded, if it came so far."""
        count, totals = self.boundary
        if self.checkpoint is None or not count:
            return
        levels = self.levels[:count]
        seconds = self.earlier + time.monotonic() - self.started
        self.checkpoint.write(self.store, levels, Saved(sizes(levels), totals, self.finds.up_to(count), seconds))
        self.saved = time.monotonic()

    # --- what came of it

    def _transitions(self) -> int:
        return self.base.transitions + sum(int(worker.counters[TRANSITIONS]) for worker in self.workers)

    def _distinct(self) -> int:
        return self.base.distinct + sum(int(worker.counters[NEW]) for worker in self.workers)

    def _totals(self) -> Totals:
        return self.base.plus(self.workers)

    def _result(self, violations: list[Find]) -> Result:
        outcome = self.ended or "exhausted"
        if violations:
            outcome = "deadlock" if all(find.kind == "deadlock" for find in violations) else "violated"
        totals = self._totals()
        return Result(
            outcome=outcome,
            distinct=totals.distinct,
            transitions=totals.transitions,
            depth=len(self.levels) - 1,
            level_sizes=sizes(self.levels),
            seen=members(np.array(totals.seen, dtype=np.uint64)),
            seen_steps=members(np.array(totals.seen_steps, dtype=np.uint64)),
            enabled=totals.enabled,
            deadlocks=totals.deadlocks,
            deadlock=self.finds.deadlock,
            violations=tuple(violations),
            watched=self.finds.watched,
            bytes_in_use=self.store.bytes_in_use(int(self.shared[TOP])),
            seconds=self.earlier + time.monotonic() - self.started,
            reached=Reached(self.kernel, self.program, self.store, tuple(tuple(level) for level in self.levels), self.recorded),
        )


def shortest_ways(protocol: Protocol, goals: Sequence[Condition], limits: Limits) -> dict[int, Path]:
    """For each goal that holds in a state which a search within the limits meets, by rising number, a shortest run there.

    Raises BudgetError if the memory does not suffice to begin.
    """
    result = search(Kernel(protocol, goals), Sought(watch=range(len(goals))), workers=1, limits=limits)
    found = sorted(result.watched, key=lambda find: find.formula)
    paths = {find.state: result.path(find, 1) for find in {find.state: find for find in found}.values()}
    return {find.formula: paths[find.state] for find in found}
