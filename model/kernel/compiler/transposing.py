"""States as planes: what the functions for 64 states at once take."""

from __future__ import annotations

from typing import Any

import numpy as np

from fencepost.model.kernel.compiler.loops import load, native, store

TOGETHER = 64
"""States that are looked at together: one for each bit of a word."""

_ZERO = np.uint64(0)


@native
def spread(states: Any, words: Any, count: Any, planes: Any) -> None:
    """Writes the planes of up to 64 states that lie one after the other: bit s of plane 64 * w + b is bit b of word w of state
    s. Planes of fewer states have zeros above."""
    for word in range(words):
        block = planes + 8 * TOGETHER * word
        for number in range(TOGETHER):
            store(block + 8 * number, load(states + 8 * (words * number + word)) if number < count else _ZERO)
        _transpose(block)


@native
def _transpose(block: Any) -> None:
    """Exchanges rows and columns of 64 words of 64 bits: halves, then quarters, and so on (Hacker's Delight, 7-3)."""
    width, mask = 32, np.uint64(0xFFFF_FFFF)
    while width > 0:
        for start in range(0, TOGETHER, 2 * width):
            for row in range(start, start + width):
                upper, lower = block + 8 * row, block + 8 * (row + width)
                one, other = load(upper), load(lower)
                differing = ((one >> np.uint64(width)) ^ other) & mask
                store(upper, one ^ (differing << np.uint64(width)))
                store(lower, other ^ differing)
        width >>= 1
        mask ^= mask << np.uint64(width)
