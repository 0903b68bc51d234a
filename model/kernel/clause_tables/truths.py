"""The truth of a kernel's observed formulas in many states, as planes; and the states that come after many."""

from __future__ import annotations

import numpy as np

from fencepost.model.kernel.compiler.loops import Integer, call2, call3, load, lowest_bit, native
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.planes import TOGETHER, spread
from fencepost.model.kernel.compiler.program import Program

_BLOCK = 1 << 12
"""States whose successors are made between two looks at the room for them."""


def truths(kernel: Kernel, states: Words) -> Words:
    """A row for each observed formula, in which bit s of word w says whether it holds in state 64 * w + s.

    There must be a state at least. The bits beyond the last state repeat what holds in the first.
    """
    program = Program.of(kernel).in_planes(kernel)
    lacking = -len(states) % TOGETHER
    padded = np.ascontiguousarray(np.concatenate([states, np.repeat(states[:1], lacking, axis=0)]))
    blocks = len(padded) // TOGETHER
    table = np.zeros((blocks, program.formulas), dtype=np.uint64)
    if not program.formulas:
        return np.ascontiguousarray(table.T)
    planes = np.zeros(TOGETHER * program.words, dtype=np.uint64)
    _observe(program, padded.ctypes.data, blocks, planes.ctypes.data, table.ctypes.data)
    return np.ascontiguousarray(table.T)


@native
def _observe(program: Program, states: Integer, blocks: Integer, planes: Integer, table: Integer) -> None:
    for block in range(blocks):
        spread(states + 8 * TOGETHER * program.words * block, program.words, TOGETHER, planes)
        call2(program.observe_planes, planes, table + 8 * program.formulas * block)


def followers(kernel: Kernel, states: Words) -> Words:
    """The successors of each state, one in each row, each once."""
    program = Program.of(kernel).choosing(kernel)
    enabled = np.zeros(program.enabled_words, dtype=np.uint64)
    pieces = [np.empty((0, program.words), dtype=np.uint64)]
    for first in range(0, len(states), _BLOCK):
        block = np.ascontiguousarray(states[first : first + _BLOCK])
        buffer = np.empty((len(block) * program.actions, program.words), dtype=np.uint64)
        count = _follow(program, block.ctypes.data, len(block), enabled.ctypes.data, buffer.ctypes.data)
        pieces.append(unique(buffer[:count]))
    return unique(np.concatenate(pieces))


@native
def _follow(program: Program, states: Integer, count: Integer, enabled: Integer, buffer: Integer) -> int:
    """Writes the successors of each state; returns how many there are."""
    written = 0
    for number in range(count):
        state = states + 8 * program.words * number
        call2(program.enabled, state, enabled)
        for word in range(program.enabled_words):
            bits = load(enabled + 8 * word)
            while bits != np.uint64(0):
                action = 64 * word + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                call3(program.apply, state, action, buffer + 8 * program.words * written)
                written += 1
    return written


def unique(states: Words) -> Words:
    """The states in ascending order, each once."""
    if not len(states):
        return states
    ordered = states[np.lexsort(states.T[::-1])]
    fresh = np.ones(len(ordered), dtype=bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[fresh]
