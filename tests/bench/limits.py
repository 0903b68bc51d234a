"""What the machine allows: random access to memory, and the cost of the kernel's own functions without any table."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from model.kernel import Kernel
from model.kernel.loops import call2, call4, lowest_bit
from model.kernel.program import Program

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
def _expand(program: Any, states: Any, mask: Any, after: Any, held: Any) -> Any:
    """Makes every successor of every state, and drops it; returns how many."""
    count = 0
    for row in range(states.shape[0]):
        state = states.ctypes.data + 8 * program.words * row
        call2(program.enabled, state, mask.ctypes.data)
        for word in range(program.enabled_words):
            bits = mask[word]
            while bits != np.uint64(0):
                call4(program.apply, state, 64 * word + lowest_bit(bits), after.ctypes.data, held.ctypes.data)
                bits &= bits - np.uint64(1)
                count += 1
    return count


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _observe(program: Any, states: Any, observed: Any) -> None:
    """Observes every state."""
    for row in range(states.shape[0]):
        call2(program.observe, states.ctypes.data + 8 * program.words * row, observed.ctypes.data)


def kernel_alone(kernel: Kernel, states: Array) -> tuple[float, float]:
    """Nanoseconds that the kernel itself takes on these states: for each transition, to find and make the successor and to
    observe the step; for each state, to observe it."""
    program = Program.of(kernel)
    mask, after, held = (np.zeros(words, np.uint64) for words in (program.enabled_words, program.words, program.step_words))
    observed = np.zeros(program.observe_words, np.uint64)
    for some in (states[:1], states):
        started = time.perf_counter()
        count = _expand(program, some, mask, after, held)
        between = time.perf_counter()
        if program.observe:
            _observe(program, some, observed)
        ended = time.perf_counter()
    return (between - started) * 1e9 / count, (ended - between) * 1e9 / len(states)
