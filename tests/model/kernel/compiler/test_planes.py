"""States as planes: held against NumPy's own bits."""

from __future__ import annotations

import numpy as np
import pytest

from fencepost.model.kernel.compiler.planes import TOGETHER, spread


@pytest.mark.parametrize(("words", "count"), [(1, 64), (3, 64), (2, 1), (2, 63), (1, 17)])
def test_planes_have_the_bits_of_states(words: int, count: int) -> None:
    states = np.random.default_rng(words * count).integers(0, 1 << 64, (count, words), dtype=np.uint64)
    planes = np.full(TOGETHER * words, 7, dtype=np.uint64)
    spread(states.ctypes.data, words, count, planes.ctypes.data)
    bits = np.unpackbits(states.view(np.uint8), axis=1, bitorder="little")
    whole = np.zeros((TOGETHER, TOGETHER * words), dtype=np.uint8)
    whole[:count] = bits
    assert (np.unpackbits(planes.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little") == whole.T).all()
