"""A protocol as machine code: compiled once, then run from Python one step at a time or by the native loops."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.analysis.slices import digest_of
from fencepost.model.kernel.compiler.instructions import Code, host, object_code
from fencepost.model.kernel.compiler.packing import Packing, Words
from fencepost.model.kernel.compiler.planes import PlaneCompiler, planes_of
from fencepost.model.kernel.compiler.store import product
from fencepost.model.kernel.compiler.wasm import webassembly
from fencepost.model.language import Protocol
from fencepost.model.terms.values import Condition

_FOR_ONE_STATE = ("enabled", "apply", "observe", "observe_step")
"""The functions that say all of one state and its steps."""


_ONE = np.uint64(1)


class Kernel:
    """The compiled form of a protocol.

    ``observed`` are formulas over one state and ``observed_steps`` over two (values and next values); their truth is what
    ``observe`` and ``observe_step`` report, as bit sets. States are packed: arrays of ``words`` uint64. ``mask_words`` gives
    the length of a bit set and ``formulas`` how many formulas each way of observing has.

    Machine code is made when it is first asked for, unless an earlier process has made and kept that of the same variables,
    actions and formulas. Raises ModelError then for a term that cannot be compiled, and for an
    action that may take a variable out of its domain: what it wrote would spill into the variable packed beside it, and every
    engine would take that for a step. Of a slice that is asked of the whole protocol.
    """

    def __init__(
        self, protocol: Protocol, observed: Sequence[Condition] = (), observed_steps: Sequence[Condition] = ()
    ) -> None:
        self.protocol = protocol
        self.packing = Packing(protocol.variables)
        self.words = self.packing.words
        self.actions = tuple(protocol.actions)
        self._texts: dict[str, str] = {}
        self._advance: dict[bool, Code] = {}
        self._observed, self._observed_steps = tuple(observed), tuple(observed_steps)
        self.formulas = {"observe": len(observed), "observe_step": len(observed_steps)}
        self.mask_words = {
            "enabled": _words(len(self.actions)),
            "observe": _words(len(observed)),
            "observe_step": _words(len(observed_steps)),
        }

    @cached_property
    def code(self) -> Code:
        """The functions ``apply`` and, for 64 states at once, ``enabled_planes``."""
        return self._compiled("apply", "enabled_planes")

    @cached_property
    def code_of_choices(self) -> Code:
        """The function ``enabled``."""
        return self._compiled("enabled")

    @cached_property
    def code_of_states(self) -> Code:
        """The function ``observe``."""
        return self._compiled("observe")

    @cached_property
    def code_of_steps(self) -> Code:
        """The function ``observe_step``."""
        return self._compiled("observe_step")

    @cached_property
    def code_of_states_in_planes(self) -> Code:
        """The function ``observe_planes``, for 64 states at once."""
        return self._compiled("observe_planes")

    @cached_property
    def code_of_steps_in_planes(self) -> Code:
        """The function ``step_planes``, for steps from 64 states at once. It is longer than all else, often by far: each action
        has its own text of what is observed."""
        return self._compiled("step_planes")

    @property
    def has_steps_in_planes(self) -> bool:
        """Whether the function ``step_planes`` is there already."""
        return "code_of_steps_in_planes" in vars(self)

    def advance(self, *, thorough: bool) -> Code:
        """The function ``advance``, which takes a step and keeps the bit sets of what is enabled and observed up to date; its
        thorough code is for long runs, and does for short ones if it is there."""
        known = self._advance.get(True) or self._advance.get(thorough)
        return known or self._advance.setdefault(thorough, self._compiled("advance", thorough=thorough))

    def _compiled(self, *names: str, thorough: bool = False) -> Code:
        """Functions as machine code. What is kept was made of a protocol whose domains were proved, and of the formulas that
        are in their texts: what is observed makes no difference to what actions do."""
        formulas = [[[formula.digest for formula in each] for each in self._formulas_in(name)] for name in names]
        what = self._digest, formulas, host(), names, thorough
        return Code(product(what, lambda: object_code(self._text(*names), thorough=thorough)), names)

    @cached_property
    def _digest(self) -> bytes:
        return digest_of(self.protocol)

    def _formulas_in(self, name: str) -> tuple[Sequence[Condition], Sequence[Condition]]:
        """The formulas over one state and those over two that a text has."""
        of_states = self._observed if name in ("observe", "observe_planes", "advance") else ()
        return of_states, self._observed_steps if name in ("observe_step", "step_planes", "advance") else ()

    def _text(self, *names: str) -> str:
        """The text of functions."""
        if not self._texts:
            prove_domains(self.protocol.whole)
        for name in names:
            if name not in self._texts:
                self._texts[name] = self._written(name)
        return "\n".join(self._texts[name] for name in names)

    def _written(self, name: str) -> str:
        compiler = PlaneCompiler(self.protocol, self.packing)
        observed, observed_steps = self._formulas_in(name)
        if name == "apply":
            compiler.apply(self.actions)
        elif name == "enabled_planes":
            compiler.enabled_planes(self.actions)
        elif name == "observe_planes":
            compiler.observe_planes(observed)
        elif name == "step_planes":
            compiler.step_planes(self.actions, observed_steps)
        elif name == "observe":
            compiler.observe(observed)
        elif name == "observe_step":
            compiler.observe_step(observed_steps)
        elif name == "advance":
            compiler.advance(self.actions, observed_steps, observed)
        else:
            compiler.enabled(self.actions)
        return str(compiler)

    @cached_property
    def webassembly(self) -> bytes:
        """A module of WebAssembly with ``enabled``, ``apply``, ``observe`` and ``observe_step``, of the text that they are
        machine code of."""
        return webassembly(self._text(*_FOR_ONE_STATE))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the compiled text: kernels that have it in common do the same."""
        return hashlib.sha256(self._text(*_FOR_ONE_STATE).encode()).hexdigest()

    def initial(self) -> Words:
        """The initial states, one in each row."""
        return np.stack([self.packing.pack(raw) for raw in self.protocol.initial_states()])

    def enabled(self, state: Words) -> list[int]:
        """The numbers of the actions that may happen in the state."""
        held = (ctypes.c_uint64 * len(self.actions))()
        self.code.function("enabled_planes", ctypes.c_void_p, ctypes.c_void_p)(planes_of(state).tobytes(), held)
        numbers: list[int] = (np.frombuffer(memoryview(held), dtype=np.uint64) & _ONE).nonzero()[0].tolist()
        return numbers

    def observe(self, state: Words) -> list[int]:
        """The numbers of the observed formulas that hold in the state."""
        return _members(self._mask(self.code_of_states, "observe", state))

    def observed_bits(self, state: Words) -> int:
        """The same as one number, which has a bit for each formula."""
        return int.from_bytes(self._mask(self.code_of_states, "observe", state), "little")

    def observe_step(self, state: Words, after: Words) -> list[int]:
        """The numbers of the observed formulas over two states that hold of this pair."""
        return _members(self._mask(self.code_of_steps, "observe_step", state, after))

    def apply(self, state: Words, action: int) -> Words:
        """The state after an action, whose guard is taken to hold."""
        after = (ctypes.c_uint64 * self.words)()
        call = self.code.function("apply", ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
        call(state.tobytes(), action, after)
        return np.array(after[:], dtype=np.uint64)

    def _mask(self, code: Code, name: str, *states: Words) -> ctypes.Array[ctypes.c_uint64]:
        mask = (ctypes.c_uint64 * self.mask_words[name])()
        call = code.function(name, *[ctypes.c_void_p] * (len(states) + 1))
        call(*(state.tobytes() for state in states), mask)
        return mask


def _members(mask: Iterable[int]) -> list[int]:
    members = []
    for place, word in enumerate(mask):
        while word:
            members.append(64 * place + (word & -word).bit_length() - 1)
            word &= word - 1
    return members


def _words(bits: int) -> int:
    return max(1, -(-bits // 64))
