"""What the machine allows: random access to memory, and the cost of the kernel's own functions without any table."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.intrinsics import call2, call3, call4, lowest_bit
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.compiler.transposing import TOGETHER, spread

LINES = 1 << 24  # of 64 bytes: 1 GiB, far beyond any cache
CHAINS = 16  # as many loads in flight as a core keeps
ACCESSES = 1 << 22

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


def _chase(lines: Array, chains: int) -> float:
    starts = np.arange(chains, dtype=np.int64) * (LINES // chains)
    _follow(lines, starts, 16)
    started = time.perf_counter()
    _follow(lines, starts, ACCESSES // chains)
    return (time.perf_counter() - started) * 1e9 / ACCESSES


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _expand(program: Any, states: Any, planes: Any, possible: Any, observed: Any, concerned: Any, after: Any) -> Any:
    """Makes every successor of every state, and drops it; returns how many. Observes steps, but looks at nothing of that."""
    count = 0
    for first in range(0, states.shape[0], TOGETHER):
        block = states.ctypes.data + 8 * program.words * first
        spread(block, program.words, TOGETHER, planes.ctypes.data)
        call2(program.enabled_planes, planes.ctypes.data, possible.ctypes.data)
        for action in range(program.actions):
            which = possible[action]
            if which == np.uint64(0):
                continue
            if program.step_planes != 0:
                call4(program.step_planes, planes.ctypes.data, action, observed.ctypes.data, concerned.ctypes.data)
            while which != np.uint64(0):
                call3(program.apply, block + 8 * program.words * lowest_bit(which), action, after.ctypes.data)
                which &= which - np.uint64(1)
                count += 1
    return count


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _observe(program: Any, states: Any, planes: Any, observed: Any) -> None:
    """Observes every state."""
    for first in range(0, states.shape[0], TOGETHER):
        spread(states.ctypes.data + 8 * program.words * first, program.words, TOGETHER, planes.ctypes.data)
        call2(program.observe_planes, planes.ctypes.data, observed.ctypes.data)


def kernel_alone(kernel: Kernel, states: Array) -> tuple[float, float]:
    """Nanoseconds that the kernel itself takes on these states, except for the last few: for each transition, to find and make
    the successor and to observe the step; for each state, to observe it."""
    program = Program.of(kernel).in_planes(kernel).steps_in_planes(kernel)
    states = states[: len(states) // TOGETHER * TOGETHER]
    room = max(program.formulas, program.step_formulas)
    planes, possible = np.zeros(TOGETHER * program.words, np.uint64), np.zeros(program.actions, np.uint64)
    observed, concerned, after = (np.zeros(length, np.uint64) for length in (room, program.step_words, program.words))
    for some in (states[:TOGETHER], states):
        started = time.perf_counter()
        count = _expand(program, some, planes, possible, observed, concerned, after)
        between = time.perf_counter()
        if program.observe_planes:
            _observe(program, some, planes, observed)
        ended = time.perf_counter()
    return (between - started) * 1e9 / count, (ended - between) * 1e9 / len(states)
