"""What the machine allows, in processor time: random access to memory, and the kernel's own functions without any table."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.loops import call2, call3, call4, load, load_int, lowest_bit, native, store
from fencepost.model.kernel.compiler.planes import TOGETHER, spread
from fencepost.model.kernel.compiler.program import Program, same
from fencepost.model.kernel.search.results import Result
from fencepost.model.kernel.search.store import fetch_line, fetch_match, hash_state

LINES = 1 << 24  # of 64 bytes: 1 GiB, far beyond any cache
CHAINS = 16  # as many loads in flight as a core keeps
ACCESSES = 1 << 22
LOOKS = 5

Array = npt.NDArray[Any]


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _follow(lines: Any, starts: Any, steps: Any) -> Any:
    """Follows chains from line to line, all of them one step at a time: as many loads in flight as there are chains."""
    places = starts.copy()
    for _ in range(steps):
        for chain in range(len(places)):
            places[chain] = lines[8 * places[chain]]
    return places.sum()


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _link(lines: Any, count: Any) -> None:
    """Links all lines into one cycle in random order (Sattolo's shuffle)."""
    for i in range(count):
        lines[8 * i] = i
    random = np.uint64(88172645463325252)
    for i in range(count - 1, 0, -1):
        random ^= random << np.uint64(13)
        random ^= random >> np.uint64(7)
        random ^= random << np.uint64(17)
        j = np.int64(random % np.uint64(i))
        lines[8 * i], lines[8 * j] = lines[8 * j], lines[8 * i]


def memory() -> tuple[float, float]:
    """Nanoseconds for one random cache line of 1 GiB: each access waiting for the last one, and 16 at once."""
    lines = np.zeros(8 * LINES, dtype=np.int64)
    _link(lines, LINES)
    return _chase(lines, 1), _chase(lines, CHAINS)


def two_to_one() -> float:
    """How much more two threads do by the clock than one, of chains that each follows in 1 GiB: what two cores, one memory and
    what else runs allow of any search. The most of several times."""
    lines = np.zeros(8 * LINES, dtype=np.int64)
    _link(lines, LINES)
    starts = np.arange(CHAINS, dtype=np.int64) * (LINES // CHAINS)

    def follow(_: int) -> None:
        _follow(lines, starts, ACCESSES // CHAINS)

    def clock(threads: int) -> float:
        began = time.perf_counter()
        list(pool.map(follow, range(threads)))
        return time.perf_counter() - began

    with ThreadPoolExecutor(2) as pool:
        clock(2)
        return max(2 * clock(1) / clock(2) for _ in range(LOOKS))


def _chase(lines: Array, chains: int) -> float:
    starts = np.arange(chains, dtype=np.int64) * (LINES // chains)
    _follow(lines, starts, 16)
    started = time.process_time()
    _follow(lines, starts, ACCESSES // chains)
    return (time.process_time() - started) * 1e9 / ACCESSES


@native
def _expand(
    program: Any, states: Any, number: Any, planes: Any, possible: Any, observed: Any, concerned: Any, after: Any
) -> Any:
    """Makes every successor of every state, and drops it; returns how many. Observes steps, but looks at nothing of that."""
    count = 0
    for first in range(0, number, TOGETHER):
        block = states + 8 * program.words * first
        spread(block, program.words, TOGETHER, planes)
        call2(program.enabled_planes, planes, possible)
        for action in range(program.actions):
            which = load(possible + 8 * action)
            if which == np.uint64(0):
                continue
            if program.step_planes != 0:
                call4(program.step_planes, planes, action, observed, concerned)
            while which != np.uint64(0):
                call3(program.apply, block + 8 * program.words * lowest_bit(which), action, after)
                which &= which - np.uint64(1)
                count += 1
    return count


@native
def _observe(program: Any, states: Any, number: Any, planes: Any, observed: Any) -> None:
    """Observes every state."""
    for first in range(0, number, TOGETHER):
        spread(states + 8 * program.words * first, program.words, TOGETHER, planes)
        call2(program.observe_planes, planes, observed)


def kernel_alone(kernel: Kernel, states: Array) -> tuple[float, float]:
    """Nanoseconds that the kernel itself takes on these states, except for the last few: for each transition, to find and make
    the successor and to observe the step; for each state, to observe it."""
    program = Program.of(kernel).in_planes(kernel).steps_in_planes(kernel)
    states = states[: len(states) // TOGETHER * TOGETHER]
    formulas = max(program.formulas, program.step_formulas)
    planes, possible = np.zeros(TOGETHER * program.words, np.uint64), np.zeros(program.actions, np.uint64)
    observed, concerned, after = (np.zeros(length, np.uint64) for length in (formulas, program.step_words, program.words))
    room = [array.ctypes.data for array in (planes, possible, observed, concerned, after)]
    for some in (states[:TOGETHER], states):
        started = time.process_time()
        count = _expand(program, some.ctypes.data, len(some), *room)
        between = time.process_time()
        if program.observe_planes:
            _observe(program, some.ctypes.data, len(some), room[0], room[2])
        ended = time.process_time()
    return (between - started) * 1e9 / count, (ended - between) * 1e9 / len(states)


BATCH = 128
"""Successors that are looked up together, as the search does."""


@native
def _look_up(
    program: Any, space: Any, states: Any, number: Any, planes: Any, possible: Any, after: Any, hashes: Any, stage: Any
) -> Any:
    """Makes every successor of every state, all of which are known, and hashes it; in stage 1 and 2 also asks for its line of
    the table and looks there, in stage 2 compares it with the state named there. Returns how many are found."""
    words, pending, count = program.words, 0, np.int64(0)
    for first in range(0, number, TOGETHER):
        block = states + 8 * words * first
        spread(block, words, TOGETHER, planes)
        call2(program.enabled_planes, planes, possible)
        for action in range(program.actions):
            which = load(possible + 8 * action)
            while which != np.uint64(0):
                successor = after + 8 * words * pending
                call3(program.apply, block + 8 * words * lowest_bit(which), action, successor)
                which &= which - np.uint64(1)
                value = hash_state(successor, words)
                store(hashes + 8 * pending, value)
                if stage > 0:
                    fetch_line(space, value)
                pending += 1
                if pending == BATCH:
                    count += _hits(space, words, after, hashes, stage)
                    pending = 0
    return count


@native
def _hits(space: Any, words: Any, after: Any, hashes: Any, stage: Any) -> Any:
    """Looks a batch up; returns how many are found."""
    count = np.int64(0)
    if stage == 1:
        for number in range(BATCH):
            count += fetch_match(space, load(hashes + 8 * number)) >= 0
    elif stage == 2:
        for number in range(BATCH):
            store(hashes + 8 * number, np.uint64(fetch_match(space, load(hashes + 8 * number))))
        for number in range(BATCH):
            match = load_int(hashes + 8 * number)
            count += match >= 0 and same(space.states + 8 * words * match, after + 8 * words * number, words)
    return count


def look_ups(kernel: Kernel, result: Result) -> list[float]:
    """Nanoseconds for each transition of a search that ended, all of whose successors are known now: made and hashed; found in
    their lines of the table; and compared with the states that these name. Each includes the ones before it."""
    program, space = Program.of(kernel).in_planes(kernel), result.reached.store.space
    states = np.ascontiguousarray(np.concatenate(list(result.states())))
    number = len(states) // TOGETHER * TOGETHER
    planes, possible = np.zeros(TOGETHER * program.words, np.uint64), np.zeros(program.actions, np.uint64)
    after, hashes = np.zeros((BATCH, program.words), np.uint64), np.zeros(BATCH, np.uint64)
    room = [array.ctypes.data for array in (planes, possible, after, hashes)]
    fastest = [float("inf")] * 3
    for _ in range(LOOKS):
        for stage in range(3):
            started = time.process_time()
            hits = _look_up(program, space, states.ctypes.data, number, *room, stage)
            fastest[stage] = min(fastest[stage], time.process_time() - started)
    if hits < 0.9 * result.transitions:
        raise AssertionError(f"only {hits:,} of {result.transitions:,} successors are found")
    return [1e9 * seconds / result.transitions for seconds in fastest]
