"""States in few bytes: each as the bits in which it differs from the one before, without the zero bytes above them.

Of each word a nibble says how many bytes follow, so a state takes half a byte a word and what has changed. States in ascending
order, as levels of a search have them, share their high bytes: three words take five to nine bytes. Any order can be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import Integer, native
from fencepost.model.kernel.compiler.packing import Words

BLOCK = 1 << 16
"""States in a block. The first of a block differs from zero, so that blocks can be read one by one."""

_HEAD = np.dtype("<u8")


class CodingError(Exception):
    """npt.NDArray[np.uint8] that no states were written as; the message says where."""


def write_states(file: BinaryIO, states: Words) -> None:
    """Appends the states, one in each row, to a file. Raises OSError."""
    count, words = states.shape
    room = np.empty(min(count, BLOCK) * (8 * words + (words + 1) // 2), dtype=np.uint8)
    for start in range(0, count, BLOCK):
        rows = np.ascontiguousarray(states[start : start + BLOCK])
        length = int(_encode(rows, room))
        file.write(np.array([len(rows), length], dtype=_HEAD).tobytes())
        file.write(room[:length].data)


def read_states(path: Path, words: int) -> Iterator[Words]:
    """The states of a file in order, block by block. Raises OSError, CodingError."""
    with path.open("rb") as file:
        while head := file.read(16):
            count, length = np.frombuffer(head, dtype=_HEAD).tolist() if len(head) == 16 else (0, 0)
            data = np.frombuffer(file.read(length), dtype=np.uint8)
            rows = np.empty((min(count, BLOCK), words), dtype=np.uint64)
            if not 0 < count <= BLOCK or len(data) != length or _decode(data, rows) != length:
                raise CodingError(f"{path} holds no block of states that ends at byte {file.tell()}")
            yield rows


def count_states(path: Path) -> int:
    """How many states a file has, by the heads of its blocks. Raises OSError."""
    count = 0
    with path.open("rb") as file:
        while len(head := file.read(16)) == 16:
            states, length = np.frombuffer(head, dtype=_HEAD).tolist()
            count += states
            file.seek(length, os.SEEK_CUR)
    return count


@native
def _encode(rows: Words, out: npt.NDArray[np.uint8]) -> Integer:
    """Writes the rows; returns how many bytes they take."""
    count, words = rows.shape
    header = (words + 1) // 2
    at = 0
    for row in range(count):
        mark = at
        at += header
        out[mark:at] = np.uint8(0)
        for word in range(words):
            bits = rows[row, word] ^ (rows[row - 1, word] if row else np.uint64(0))
            length = 0
            while bits != np.uint64(0):
                out[at] = np.uint8(bits & np.uint64(255))
                bits >>= np.uint64(8)
                at += 1
                length += 1
            out[mark + word // 2] |= np.uint8(length << 4 * (word & 1))
    return at


@native
def _decode(data: npt.NDArray[np.uint8], rows: Words) -> Integer:
    """Reads the rows; returns how many bytes they take, or -1 if the bytes end before or are none that are written."""
    count, words = rows.shape
    header = (words + 1) // 2
    size = len(data)
    at = 0
    for row in range(count):
        mark = at
        at += header
        if at > size:
            return -1
        for word in range(words):
            length = (np.int64(data[mark + word // 2]) >> 4 * (word & 1)) & 15
            if length > 8 or at + length > size:
                return -1
            bits = np.uint64(0)
            for byte in range(length):
                bits |= np.uint64(data[at + byte]) << np.uint64(8 * byte)
            at += length
            rows[row, word] = bits ^ (rows[row - 1, word] if row else np.uint64(0))
    return at
