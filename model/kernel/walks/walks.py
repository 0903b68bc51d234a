"""Random walks of a protocol on all cores: the same finds and counts with any number of workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Literal

import numpy as np

from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Integers, Words
from fencepost.model.kernel.compiler.program import Program, addresses, members
from fencepost.model.kernel.search.paths import Path, plain
from fencepost.model.kernel.walks.course import FindKind, Sample, Sought, Starts, Strategy, course_of
from fencepost.model.kernel.walks.walking import DEADLOCKS, NO_TRAIL, SAMPLED, STEPS, Trail, Walker, walk_all

WalkOutcome = Literal["sampled", "violated", "time", "interrupted"]

_CHUNK_STEPS = 1 << 16
"""Steps of the walks that a thread takes for itself at a time, about."""

_HASHES = 1 << 12
"""Hashes of sampled states that a thread gathers before it hands them over."""

_LONG = 10.0
"""Seconds after which a run is worth the thorough machine code."""

_FIRST_ROUND, _LONGEST_ROUND = 4, 64
"""Chunks in the first round, and in a long run's."""


@dataclass(frozen=True)
class WalkFind:
    """A violation: the number of the observed formula (0 for a deadlock), the smallest walk that violated it, and after how
    many steps."""

    kind: FindKind
    formula: int
    walk: int
    steps: int


@dataclass(frozen=True)
class WalkProgress:
    """How far the walks are: walks and steps so far, steps per second since the last report."""

    walks: int
    steps: int
    rate: float


@dataclass(frozen=True)
class WalkResult:
    """What random walks saw. Two results of the same walks are equal whatever the number of workers.

    ``enabled`` are the actions that were possible somewhere; ``taken`` counts, by action, the steps that it made. ``seen`` and
    ``seen_steps`` are the observed formulas that held somewhere. ``unseen`` estimates the probability that the next state
    visited is new if the walks go on by the same strategy, from ``sampled`` states; None if there are none.
    """

    outcome: WalkOutcome
    walks: int
    steps: int
    deadlocks: int
    enabled: tuple[int, ...]
    taken: tuple[int, ...]
    seen: tuple[int, ...]
    seen_steps: tuple[int, ...]
    violations: tuple[WalkFind, ...]
    unseen: float | None
    sampled: int
    seconds: float = field(compare=False)


def random_walks(
    kernel: Kernel,
    *,
    seed: int,
    count: int,
    steps: int,
    first: int = 0,
    strategy: Strategy = "held",
    alarm: Iterable[int] = (),
    step_alarm: Iterable[int] = (),
    may_end: int | None = None,
    stop_on_violation: bool = True,
    workers: int | None = None,
    seconds: float | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[WalkProgress], None] | None = None,
) -> WalkResult:
    """Makes the ``count`` walks from number ``first`` on, of up to ``steps`` steps each.

    A walk starts in any of the initial states, all as likely, and takes, each time, an enabled action that the strategy
    picks; it ends early with a violation (a formula of ``alarm`` or ``step_alarm`` that holds) or a deadlock, which is a
    violation too if ``may_end`` is the formula that holds where a run may end and does not hold there. Walks come in rounds
    whose size does not depend on the workers; after a round with a violation there is no other, if that is to stop them.
    ``seconds`` and ``should_stop`` are looked at, and ``progress`` told about once a second, between rounds. Raises
    ValueError for counts out of range.
    """
    _check(seed, first, count, steps)
    program, sample = Program.of(kernel).choosing(kernel).observing(kernel).stepping(kernel, thorough=False), Sample()
    starts, finds = Starts.of(kernel, program), Sought.of(kernel, alarm, step_alarm, may_end)
    started = reported = time.monotonic()
    outcome: WalkOutcome = "sampled"
    done, total, last_total, length = first, 0, 0, _FIRST_ROUND
    with Crew(workers) as crew:
        walkers = [Walker.of(program, finds.rows, _HASHES + steps + 1) for _ in range(crew.size)]
        while done < first + count:
            chunk = max(1, _CHUNK_STEPS // (steps if done == first else 1 + total // (done - first)))
            end = min(done + length * chunk, first + count)
            course = course_of(starts, seed, steps, strategy, sample, finds)
            chunks: SimpleQueue[int] = SimpleQueue()
            for start in range(done, end, chunk):
                chunks.put(start)

            def work(number: int) -> list[Words]:
                walker, hashes = walkers[number], list[Words]()
                while True:
                    try:
                        start = chunks.get_nowait()  # noqa: B023
                    except Empty:
                        return hashes
                    stop = min(start + chunk, end)  # noqa: B023
                    while start < stop:
                        start = walk_all(program, course, start, stop, _HASHES, Walker(*addresses(walker)), NO_TRAIL)  # noqa: B023
                        hashes.append(walker.sample[: walker.counters[SAMPLED]].copy())
                        walker.counters[SAMPLED] = 0

            hashes = [part for parts in crew.run(work) for part in parts]
            total = sum(int(walker.counters[STEPS]) for walker in walkers)
            sample.add(hashes, total + end - first - sample.visits)
            done, length = end, min(2 * length, _LONGEST_ROUND)
            now = time.monotonic()
            if progress is not None and now - reported >= 1.0:
                progress(WalkProgress(done - first, total, (total - last_total) / (now - reported)))
                reported, last_total = now, total
            if now - started > _LONG:
                program = program.stepping(kernel, thorough=True)
            if stop_on_violation and any((walker.found_walk >= 0).any() for walker in walkers):
                break
            if should_stop():
                outcome = "interrupted"
                break
            if seconds is not None and now - started > seconds and done < first + count:
                outcome = "time"
                break
    return _result(outcome, walkers, finds, done - first, sample, time.monotonic() - started)


def walk_path(
    kernel: Kernel,
    *,
    seed: int,
    walk: int,
    steps: int,
    strategy: Strategy = "held",
    alarm: Iterable[int] = (),
    step_alarm: Iterable[int] = (),
) -> Path:
    """The run that one walk makes, given what ``random_walks`` was given."""
    _check(seed, walk, 1, steps)
    program = Program.of(kernel).choosing(kernel).observing(kernel).observing_steps(kernel)
    finds = Sought.of(kernel, alarm, step_alarm, None)
    walker, trail = Walker.of(program, finds.rows, steps + 1), Trail.of(kernel.words, steps)
    starts = Starts.of(kernel, program)
    course = course_of(starts, seed, steps, strategy, Sample(), finds)
    walk_all(program, course, walk, walk + 1, 1, Walker(*addresses(walker)), Trail(*addresses(trail)))
    length = int(trail.length[0])
    return Path(tuple(plain(s) for s in trail.states[: length + 1]), tuple(int(a) for a in trail.actions[:length]))


def _check(seed: int, first: int, count: int, steps: int) -> None:
    for name, value, least in (("seed", seed, 0), ("first walk", first, 0), ("count of walks", count, 1), ("steps", steps, 1)):
        if not least <= value < 1 << 62:
            raise ValueError(f"the {name} is {value}, and it must be at least {least} and below 2^62")


def _result(
    outcome: WalkOutcome,
    walkers: list[Walker[Words, Integers]],
    finds: Sought,
    walks: int,
    sample: Sample,
    seconds: float,
) -> WalkResult:
    violations = []
    for row in range(finds.rows):
        places = [(int(w.found_walk[row]), int(w.found_step[row])) for w in walkers if w.found_walk[row] >= 0]
        if places:
            violations.append(WalkFind(*finds.kind_of(row), *min(places)))
    return WalkResult(
        outcome="violated" if violations else outcome,
        walks=walks,
        steps=sum(int(w.counters[STEPS]) for w in walkers),
        deadlocks=sum(int(w.counters[DEADLOCKS]) for w in walkers),
        enabled=members(np.bitwise_or.reduce([w.enabled for w in walkers])),
        taken=tuple(np.sum([w.taken for w in walkers], axis=0).tolist()),
        seen=members(np.bitwise_or.reduce([w.seen for w in walkers])),
        seen_steps=members(np.bitwise_or.reduce([w.seen_steps for w in walkers])),
        violations=tuple(sorted(violations, key=lambda find: (find.walk, find.steps, find.kind, find.formula))),
        unseen=sample.unseen,
        sampled=sample.states,
        seconds=seconds,
    )
