"""A protocol as machine code: compiled once, then run from Python one step at a time or by the native loops."""

from __future__ import annotations

import ctypes
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import z3

from model.kernel.compiler import Compiler, Formula, Group
from model.kernel.packing import Packing, Words
from model.language import Protocol, Variable

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


class Kernel:
    """The compiled form of a protocol.

    ``observed`` are formulas over one state and ``observed_steps`` over two (values and next values); their truth is what
    ``observe`` and ``observe_step`` report, as bit sets. States are packed: arrays of ``words`` uint64. ``address`` maps the
    names of compiled functions to their addresses for the loops of this package; ``mask_words`` gives the length of a bit
    set and ``formulas`` how many formulas each way of observing has. ``fingerprint`` is a hash of the compiled text: kernels
    that have it in common do the same. Raises ModelError for a term that cannot be compiled.
    """

    def __init__(self, protocol: Protocol, observed: Sequence[Any] = (), observed_steps: Sequence[Any] = ()) -> None:
        self.protocol = protocol
        self.packing = Packing(protocol.variables)
        self.words = self.packing.words
        self.actions = tuple(protocol.actions)
        compiler = Compiler(protocol.variables, self.packing)
        self._steps = [self._over_steps(formula) for formula in observed_steps]
        compiler.enabled(self.actions)
        compiler.apply(self.actions, self._steps)
        compiler.observe(observed)
        text = str(compiler.module)
        self.fingerprint = hashlib.sha256(text.encode()).hexdigest()
        self._engine = execution_engine(text)
        self._observed = tuple(observed)
        names = ("enabled", "apply", "observe")
        self.address = {name: self._engine.get_function_address(name) for name in names}
        self.formulas = {"observe": len(observed), "observe_step": len(observed_steps)}
        self.mask_words = {
            "enabled": _words(len(self.actions)),
            "observe": _words(len(observed)),
            "observe_step": _words(len(observed_steps)),
        }

    def _over_steps(self, formula: Any) -> Formula:
        """A formula over two states; if it does not hold of any step that changes nothing, then of none that leaves alone
        what it says of the state after."""
        never_still = z3.is_false(z3.simplify(self.protocol.still(formula)))
        return Formula(formula, frozenset(self.protocol.next_variables_of(formula)), always=not never_still)

    def _group(self, formulas: Mapping[int, Any], word: int, *, observed: bool) -> Group:
        variables = frozenset[Variable]().union(*(self.protocol.variables_of(formula) for formula in formulas.values()))
        return Group(formulas, word, observed, variables)

    @cached_property
    def _observe_step(self) -> int:
        """The address of ``observe_step``, which no loop needs; compiled when it is first asked for."""
        compiler = Compiler(self.protocol.variables, self.packing)
        compiler.observe_step([step.term for step in self._steps])
        self._engine_of_observe_step = execution_engine(str(compiler.module))
        return int(self._engine_of_observe_step.get_function_address("observe_step"))

    @cached_property
    def advance(self) -> int:
        """The address of the function that takes a step and keeps the bit sets of what is enabled and observed up to date;
        compiled when it is first asked for."""
        together = defaultdict[tuple[str, str, int], dict[int, Any]](dict)
        for number, action in enumerate(self.actions):
            together[action.name, action.actor, number // 64][number % 64] = action.guard
        groups = [self._group(guards, word, observed=False) for (*_, word), guards in together.items()]
        for number, formula in enumerate(self._observed):
            groups.append(self._group({number % 64: formula}, number // 64, observed=True))
        compiler = Compiler(self.protocol.variables, self.packing)
        compiler.advance(self.actions, self._steps, groups)
        self._engine_of_advance = execution_engine(str(compiler.module))
        return int(self._engine_of_advance.get_function_address("advance"))

    def initial(self) -> Words:
        """The initial states, one in each row."""
        return np.stack([self.packing.pack(raw) for raw in self.protocol.initial_states()])

    def enabled(self, state: Words) -> list[int]:
        """The numbers of the actions that may happen in the state."""
        return self._mask("enabled", state)

    def observe(self, state: Words) -> list[int]:
        """The numbers of the observed formulas that hold in the state."""
        return self._mask("observe", state)

    def observe_step(self, state: Words, after: Words) -> list[int]:
        """The numbers of the observed formulas over two states that hold of this pair."""
        return self._mask("observe_step", state, after, address=self._observe_step)

    def apply(self, state: Words, action: int) -> Words:
        """The state after an action, whose guard is taken to hold."""
        return self._step(state, action)[0]

    def observe_action(self, state: Words, action: int) -> list[int]:
        """The numbers of the observed formulas over two states that hold of this action's step from the state: what
        ``observe_step`` says of the two, told from the action."""
        return _members(self._step(state, action)[1])

    def _step(self, state: Words, action: int) -> tuple[Words, Words]:
        after, held = np.zeros(self.words, dtype=np.uint64), np.zeros(self.mask_words["observe_step"], dtype=np.uint64)
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 2)(self.address["apply"])
        call(np.ascontiguousarray(state).ctypes.data, action, after.ctypes.data, held.ctypes.data)
        return after, held

    def _mask(self, name: str, *states: Words, address: int | None = None) -> list[int]:
        mask = np.zeros(self.mask_words[name], dtype=np.uint64)
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(states) + 1))(address or self.address[name])
        held = [np.ascontiguousarray(s) for s in states]
        call(*(s.ctypes.data for s in held), mask.ctypes.data)
        return _members(mask)


def _members(mask: Words) -> list[int]:
    return [bit for bit in range(64 * len(mask)) if int(mask[bit // 64]) >> bit % 64 & 1]


def _words(bits: int) -> int:
    return max(1, -(-bits // 64))


def execution_engine(text: str) -> Any:
    """The LLVM execution engine that holds the compiled module."""
    module = llvm.parse_assembly(text)
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    # The code is straight lines between few branches, without anything left to fold: LLVM's passes over it take longer than
    # they save, all of -O2 many times as long, and none makes it faster.
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine
