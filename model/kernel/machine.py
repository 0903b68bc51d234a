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
import numpy.typing as npt
import z3

from model.kernel.compiler import Compiler, Group
from model.kernel.packing import Packing, Words
from model.language import Protocol, Variable

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


class Kernel:
    """The compiled form of a protocol.

    ``observed`` are formulas over one state and ``observed_steps`` over two (values and next values); their truth is what
    ``observe`` and ``observe_step`` report, as bit sets. States are packed: arrays of ``words`` uint64. ``address`` maps the
    name of each compiled function to its address for the loops of this package; ``mask_words`` gives the length of its
    bit set and ``formulas`` how many formulas each way of observing has. ``watched_actions`` marks the actions whose steps
    need to be observed. ``fingerprint`` is a hash of the compiled text: kernels that have it in common do the same. Raises
    ModelError for a term that cannot be compiled.
    """

    def __init__(self, protocol: Protocol, observed: Sequence[Any] = (), observed_steps: Sequence[Any] = ()) -> None:
        self.protocol = protocol
        self.packing = Packing(protocol.variables)
        self.words = self.packing.words
        self.actions = tuple(protocol.actions)
        compiler = Compiler(protocol.variables, self.packing)
        compiler.enabled(self.actions)
        compiler.apply(self.actions)
        compiler.observe(observed)
        compiler.observe_step(observed_steps)
        text = str(compiler.module)
        self.fingerprint = hashlib.sha256(text.encode()).hexdigest()
        self._engine = _engine(text)
        self._observed = tuple(observed)
        self.watched_actions = self._watched(observed_steps)
        names = ("enabled", "apply", "observe", "observe_step")
        self.address = {name: self._engine.get_function_address(name) for name in names}
        self.formulas = {"observe": len(observed), "observe_step": len(observed_steps)}
        self.mask_words = {
            "enabled": _words(len(self.actions)),
            "observe": _words(len(observed)),
            "observe_step": _words(len(observed_steps)),
        }

    def _watched(self, formulas: Sequence[Any]) -> npt.NDArray[np.int64]:
        """For each action 1, or 0 if no formula over two states can hold of it: it changes nothing that they mention."""
        if not all(z3.is_false(z3.simplify(self.protocol.still(formula))) for formula in formulas):
            return np.ones(len(self.actions), dtype=np.int64)
        mentioned = set[Variable]().union(*(self.protocol.next_variables_of(formula) for formula in formulas))
        return np.array([not mentioned.isdisjoint(action.updates) for action in self.actions], dtype=np.int64)

    @cached_property
    def advance(self) -> int:
        """The address of the function that takes a step and keeps the bit sets of what is enabled and observed up to date;
        compiled when it is first asked for."""
        together = defaultdict[tuple[str, str], dict[int, Any]](dict)
        for number, action in enumerate(self.actions):
            together[action.name, action.actor][number] = action.guard
        groups = [self._group(guards, observed=False) for guards in together.values()]
        groups += [self._group({number: formula}, observed=True) for number, formula in enumerate(self._observed)]
        compiler = Compiler(self.protocol.variables, self.packing)
        compiler.advance(self.actions, groups)
        self._engine_of_advance = _engine(str(compiler.module))
        return int(self._engine_of_advance.get_function_address("advance"))

    def _group(self, formulas: Mapping[int, Any], *, observed: bool) -> Group:
        variables = frozenset[Variable]().union(*(self.protocol.variables_of(formula) for formula in formulas.values()))
        return Group(formulas, variables, observed)

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
        return self._mask("observe_step", state, after)

    def apply(self, state: Words, action: int) -> Words:
        """The state after an action, whose guard is taken to hold."""
        after = np.zeros(self.words, dtype=np.uint64)
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(self.address["apply"])
        call(np.ascontiguousarray(state).ctypes.data, action, after.ctypes.data)
        return after

    def _mask(self, name: str, *states: Words) -> list[int]:
        mask = np.zeros(self.mask_words[name], dtype=np.uint64)
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(states) + 1))(self.address[name])
        held = [np.ascontiguousarray(s) for s in states]
        call(*(s.ctypes.data for s in held), mask.ctypes.data)
        return [bit for bit in range(64 * len(mask)) if int(mask[bit // 64]) >> bit % 64 & 1]


def _words(bits: int) -> int:
    return max(1, -(-bits // 64))


def _engine(text: str) -> Any:
    """The LLVM execution engine that holds the compiled module."""
    module = llvm.parse_assembly(text)
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    # The code is straight lines between few branches: all of -O2 takes three times as long and makes it no faster.
    passes = llvm.create_new_function_pass_manager()
    passes.add_instruction_combine_pass()
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options())
    for function in module.functions:
        passes.run(function, builder)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine
