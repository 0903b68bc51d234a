"""A protocol as the native loops see it: addresses and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import Integer, Truth, call2, call3, load, native, native_inline, store
from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words


class Program(NamedTuple):
    """Addresses of a kernel's compiled functions (0: none is asked for, or nothing to observe) and its sizes: those in words,
    which is 0 for what is observed of steps if that is nothing, and the numbers of actions and of observed formulas."""

    enabled: int
    apply: int
    observe: int
    observe_step: int
    canonical: int
    advance: int
    enabled_planes: int
    observe_planes: int
    step_planes: int
    words: int
    actions: int
    enabled_words: int
    observe_words: int
    step_words: int
    formulas: int
    step_formulas: int

    @classmethod
    def of(cls, kernel: Kernel, canonical: int = 0) -> Program:
        """The program of a kernel; ``canonical`` is the address of a function ``(state, out)`` that writes the representative
        of the states that are the same except for a symmetry, or 0."""
        return cls(
            enabled=0,
            apply=kernel.code.address("apply"),
            observe=0,
            observe_step=0,
            canonical=canonical,
            advance=0,
            enabled_planes=kernel.code.address("enabled_planes"),
            observe_planes=0,
            step_planes=0,
            words=kernel.words,
            actions=len(kernel.actions),
            enabled_words=kernel.mask_words["enabled"],
            observe_words=kernel.mask_words["observe"],
            step_words=kernel.mask_words["observe_step"] if kernel.formulas["observe_step"] else 0,
            formulas=kernel.formulas["observe"],
            step_formulas=kernel.formulas["observe_step"],
        )

    def choosing(self, kernel: Kernel) -> Program:
        """The same with the function ``enabled``, for single states."""
        return self._replace(enabled=kernel.code_of_choices.address("enabled"))

    def observing(self, kernel: Kernel) -> Program:
        """The same with the function ``observe``, for single states."""
        return self._replace(observe=kernel.code_of_states.address("observe")) if self.formulas else self

    def observing_steps(self, kernel: Kernel) -> Program:
        """The same with the function ``observe_step``, for single steps."""
        return self._replace(observe_step=kernel.code_of_steps.address("observe_step")) if self.step_words else self

    def in_planes(self, kernel: Kernel) -> Program:
        """The same with the function ``observe_planes``, for 64 states at once, by which an exhaustive search goes."""
        return (
            self._replace(observe_planes=kernel.code_of_states_in_planes.address("observe_planes")) if self.formulas else self
        )

    def steps_in_planes(self, kernel: Kernel) -> Program:
        """The same with the function that looks at steps from 64 states at once, and none for single steps."""
        if not self.step_formulas:
            return self
        return self._replace(observe_step=0, step_planes=kernel.code_of_steps_in_planes.address("step_planes"))

    def stepping(self, kernel: Kernel, *, thorough: bool) -> Program:
        """The same with the function ``advance``, which random walks take their steps by."""
        return self._replace(advance=kernel.advance(thorough=thorough).address("advance"))


def addresses(arrays: Iterable[npt.NDArray[np.generic]]) -> list[int]:
    """Of each array the address, for the loops; the arrays must be kept alive."""
    return [array.ctypes.data for array in arrays]


def bit_set(numbers: Iterable[int], words: int) -> Words:
    """Numbers as the bits of that many words; ValueError if one does not fit."""
    mask = [0] * words
    for number in numbers:
        if not 0 <= number < 64 * words:
            raise ValueError(f"{number} is outside 0..{64 * words - 1}")
        mask[number // 64] |= 1 << number % 64
    return np.array(mask, dtype=np.uint64)


def members(mask: Words) -> tuple[int, ...]:
    """The numbers of the bits that are set."""
    return tuple(bit for bit in range(64 * len(mask)) if int(mask[bit // 64]) >> bit % 64 & 1)


@native_inline
def copy(source: Integer, target: Integer, words: Integer) -> None:
    """Copies a state from one address to another."""
    for word in range(words):
        store(target + 8 * word, load(source + 8 * word))


@native_inline
def same(first: Integer, second: Integer, words: Integer) -> Truth:
    """Whether the states at two addresses are equal."""
    differing = np.uint64(0)
    for word in range(words):
        differing |= load(first + 8 * word) ^ load(second + 8 * word)
    equal: Truth = differing == np.uint64(0)
    return equal


@native
def has(mask: Integer, number: Integer) -> Truth:
    """Whether a number is in the bit set at an address."""
    bit = load(mask + 8 * (number // 64)) >> np.uint64(number % 64) & np.uint64(1)
    is_set: Truth = bit != np.uint64(0)
    return is_set


@native
def compare(first: Integer, second: Integer, words: Integer) -> Integer:
    """-1, 0 or 1: how the states at two addresses compare, word by word from the first."""
    for word in range(words):
        one, other = load(first + 8 * word), load(second + 8 * word)
        if one != other:
            return -1 if one < other else 1
    return 0


@native
def take(program: Program, state: Integer, action: Integer, after: Integer, held: Integer) -> None:
    """Writes the state after an action to ``after``, and what is observed of the step to ``held``."""
    call3(program.apply, state, action, after)
    if program.observe_step != 0:
        call3(program.observe_step, state, after, held)


@native_inline
def canonicalise(program: Program, state: Integer, scratch: Integer) -> None:
    """Replaces the state at an address by its representative, if the program has a symmetry."""
    if program.canonical != 0:
        call2(program.canonical, state, scratch)
        copy(scratch, state, program.words)
