"""Where each variable lies in a packed state: 64-bit words, no field across a word's edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.model.language import Variable

Words = npt.NDArray[np.uint64]


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
        self._places = tuple((f.word, f.shift, f.mask, f.low) for f in self.fields.values())

    def pack(self, raw: Sequence[int]) -> Words:
        """Raw values, in the order of the variables, as words."""
        words = [0] * self.words
        for variable, value in zip(self.variables, raw, strict=True):
            field = self.fields[variable.name]
            words[field.word] |= (value - field.low) << field.shift
        return np.array(words, dtype=np.uint64)

    def unpack(self, words: Sequence[int] | Words) -> tuple[int, ...]:
        """Words as raw values, in the order of the variables."""
        plain = words.tolist() if isinstance(words, np.ndarray) else [int(w) for w in words]
        return tuple([(plain[word] >> shift & mask) + low for word, shift, mask, low in self._places])
