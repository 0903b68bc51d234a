"""Where each variable lies in a packed state: 64-bit words, no field across a word's edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from fencepost.model.language import Variable

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

W = TypeVar("W")
"""Words, or the address of some."""

N = TypeVar("N")
"""Integers, or the address of some."""


@dataclass(frozen=True)
class Field:
    """The bits of one variable: ``bits`` of them from bit ``shift`` of word ``word``, holding raw value - ``low``."""

    word: int
    shift: int
    bits: int
    low: int

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1


class Packing:
    """The layout of a protocol's variables, in the order in which they are declared."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = tuple(variables)
        self.fields: dict[str, Field] = {}
        word = shift = 0
        for variable in variables:
            bits = variable.domain.bits
            if shift + bits > 64:
                word, shift = word + 1, 0
            self.fields[variable.name] = Field(word, shift, bits, variable.domain.low)
            shift += bits
        self.words = word + 1
        fields = tuple(self.fields.values())
        self._word = np.array([field.word for field in fields], dtype=np.intp)
        self._shift = np.array([field.shift for field in fields], dtype=np.uint64)
        self._mask = np.array([field.mask for field in fields], dtype=np.uint64)
        self._places = tuple((field.word, field.shift, field.low) for field in fields)
        self._lows = tuple((place, field.low) for place, field in enumerate(fields) if field.low)

    def pack(self, raw: Sequence[int]) -> Words:
        """Raw values, in the order of the variables, as words."""
        words = [0] * self.words
        for (word, shift, low), value in zip(self._places, raw, strict=True):
            words[word] |= (value - low) << shift
        return np.array(words, dtype=np.uint64)

    def unpack(self, words: Sequence[int] | Words) -> tuple[int, ...]:
        """Words as raw values, in the order of the variables."""
        raw = (np.asarray(words, dtype=np.uint64)[self._word] >> self._shift & self._mask).tolist()
        for place, low in self._lows:
            raw[place] += low
        return tuple(raw)
