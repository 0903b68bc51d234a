"""A protocol as machine code: compiled once, then run from Python one step at a time or by the native loops."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from model.kernel.code import Code
from model.kernel.compiler import Compiler
from model.kernel.packing import Packing, Words
from model.language import Protocol


class Kernel:
    """The compiled form of a protocol.

    ``observed`` are formulas over one state and ``observed_steps`` over two (values and next values); their truth is what
    ``observe`` and ``observe_step`` report, as bit sets. States are packed: arrays of ``words`` uint64. ``mask_words`` gives
    the length of a bit set and ``formulas`` how many formulas each way of observing has. ``fingerprint`` is a hash of the
    compiled text: kernels that have it in common do the same. Raises ModelError for a term that cannot be compiled.

    Machine code is made when it is first asked for: quickly for single steps, thoroughly for the loops of this package.
    """

    def __init__(self, protocol: Protocol, observed: Sequence[Any] = (), observed_steps: Sequence[Any] = ()) -> None:
        self.protocol = protocol
        self.packing = Packing(protocol.variables)
        self.words = self.packing.words
        self.actions = tuple(protocol.actions)
        compiler = Compiler(protocol, self.packing)
        compiler.enabled(self.actions)
        compiler.apply(self.actions, observed_steps)
        compiler.observe(observed)
        self._text = str(compiler)
        self.fingerprint = hashlib.sha256(self._text.encode()).hexdigest()
        self._codes: dict[tuple[str, bool], Code] = {}
        self._observed, self._observed_steps = tuple(observed), tuple(observed_steps)
        self.formulas = {"observe": len(observed), "observe_step": len(observed_steps)}
        self.mask_words = {
            "enabled": _words(len(self.actions)),
            "observe": _words(len(observed)),
            "observe_step": _words(len(observed_steps)),
        }

    def code(self, *, thorough: bool) -> Code:
        """The functions ``enabled``, ``apply`` and ``observe``."""
        return self._made("code", thorough, lambda: self._text)

    def advance(self, *, thorough: bool) -> Code:
        """The function ``advance``, which takes a step and keeps the bit sets of what is enabled and observed up to date; its
        thorough code, of which there is much, is for long runs."""
        return self._made("advance", thorough, lambda: self._advance_text)

    def _made(self, name: str, thorough: bool, text: Callable[[], str]) -> Code:
        """Machine code, made once; the thorough one does for both."""
        known = self._codes.get((name, True)) or self._codes.get((name, thorough))
        return known or self._codes.setdefault((name, thorough), Code(text(), thorough=thorough))

    @cached_property
    def _advance_text(self) -> str:
        compiler = Compiler(self.protocol, self.packing)
        compiler.advance(self.actions, self._observed_steps, self._observed)
        return str(compiler)

    @cached_property
    def _observe_step_text(self) -> str:
        compiler = Compiler(self.protocol, self.packing)
        compiler.observe_step(self._observed_steps)
        return str(compiler)

    def initial(self) -> Words:
        """The initial states, one in each row."""
        return np.stack([self.packing.pack(raw) for raw in self.protocol.initial_states()])

    def enabled(self, state: Words) -> list[int]:
        """The numbers of the actions that may happen in the state."""
        return self._mask(self.code(thorough=False), "enabled", state)

    def observe(self, state: Words) -> list[int]:
        """The numbers of the observed formulas that hold in the state."""
        return self._mask(self.code(thorough=False), "observe", state)

    def observe_step(self, state: Words, after: Words) -> list[int]:
        """The numbers of the observed formulas over two states that hold of this pair."""
        code = self._made("observe_step", False, lambda: self._observe_step_text)
        return self._mask(code, "observe_step", state, after)

    def apply(self, state: Words, action: int) -> Words:
        """The state after an action, whose guard is taken to hold."""
        return self._step(state, action)[0]

    def observe_action(self, state: Words, action: int) -> list[int]:
        """The numbers of the observed formulas over two states that hold of this action's step from the state: what
        ``observe_step`` says of the two, told from the action."""
        return _members(self._step(state, action)[1])

    def _step(self, state: Words, action: int) -> tuple[Words, Words]:
        after, held = np.zeros(self.words, dtype=np.uint64), np.zeros(self.mask_words["observe_step"], dtype=np.uint64)
        address = self.code(thorough=False).address("apply")
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 2)(address)
        call(np.ascontiguousarray(state).ctypes.data, action, after.ctypes.data, held.ctypes.data)
        return after, held

    def _mask(self, code: Code, name: str, *states: Words) -> list[int]:
        mask = np.zeros(self.mask_words[name], dtype=np.uint64)
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(states) + 1))(code.address(name))
        held = [np.ascontiguousarray(s) for s in states]
        call(*(s.ctypes.data for s in held), mask.ctypes.data)
        return _members(mask)


def _members(mask: Words) -> list[int]:
    return [bit for bit in range(64 * len(mask)) if int(mask[bit // 64]) >> bit % 64 & 1]


def _words(bits: int) -> int:
    return max(1, -(-bits // 64))
