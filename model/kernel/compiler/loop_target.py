"""Numba as far as native loops need it: it finds out the types of a loop and writes it as LLVM IR.

What it writes of a loop and of all that this calls becomes one module, which is optimised and made machine code once. By itself
Numba does so with every function, since Python might call it, and again with each that it is a part of.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, CompileResult
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUTarget
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_override, target_registry
from numba.core.types import Type
from numba.core.typing import Context

_NAME = "fencepost"
_OPTIONS = {"nopython": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
"""Nothing of Python's calls a loop: it has no wrappers."""


class _Library(CPUCodeLibrary):  # type: ignore[misc]
    """A function and all that it calls, as they were written."""

    def _optimize_functions(self, module: llvm.ModuleRef) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Left to ``object_code``."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: this process does not run it as it is."""
        self._ensure_finalized()
        return 0


class _Codegen(JITCPUCodegen):  # type: ignore[misc]
    _library_class = _Library

    def set_env(self, name: str, env: object) -> None:
        """Nothing: a loop uses no objects of Python's."""


class _Typing(Context):  # type: ignore[misc]
    def load_additional_registries(self) -> None:
        """Nothing: the operators of numbers are in Numba's own; NumPy's on arrays, which each would be compared with, have no
        use in a loop."""


class _Context(CPUContext):  # type: ignore[misc]
    def init(self) -> None:
        super().init()
        self._internal_codegen = _Codegen("loops")

    def load_additional_registries(self) -> None:
        """Those of numbers, ranges, tuples and arrays: to load what else Numba has takes longer than to compile a loop."""
        from numba.cpython import builtins, iterators, numbers, rangeobj, slicing, tupleobj  # noqa: F401
        from numba.np import arrayobj  # noqa: F401

    def post_lowering(self, module: object, library: object) -> None:
        """Nothing: a loop allocates nothing."""


class _Target(CPUTarget):  # type: ignore[misc]
    @cached_property
    def _toplevel_typing_context(self) -> _Typing:
        return _Typing()

    @cached_property
    def _toplevel_target_context(self) -> _Context:
        return _Context(self.typing_context, self._target_name)


_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
"""The passes over a loop. Numba's others look for closures, inlining, objects and expressions of whole arrays: a loop has none,
and one that had some would be refused."""


class _Compiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("loops")
        for each in _PASSES:
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


class LoopDispatcher(Dispatcher):
    """A loop, or a function of Numba's that loops call."""

    targetdescr = _Target(_NAME)

    def __init__(self, function: Callable[..., object], **options: object) -> None:
        super().__init__(function, {}, {**options, **_OPTIONS}, pipeline_class=_Compiler)

    def written(self, signature: tuple[Type, ...]) -> CompileResult:
        """The function for arguments of these types. Raises what Numba raises."""
        with target_override(_NAME):
            self.compile(signature)
        return self.overloads[signature]


class _Loops(CPU):  # type: ignore[misc]
    """The target, as Numba names it where it asks what a function may use."""


def _of_numba(function: Callable[..., object] | None = None, **options: Any) -> object:
    """Numba's ``jit`` for functions of its own."""
    return LoopDispatcher(function, **options) if function else lambda function: LoopDispatcher(function, **options)


target_registry[_NAME] = _Loops
dispatcher_registry[_Loops] = LoopDispatcher
jit_registry[_Loops] = _of_numba


def optimised(written: CompileResult) -> llvm.ModuleRef:
    """The module of a function, of which nothing else can be called any more."""
    module, codegen = written.library._final_module, written.library.codegen
    for function in module.functions:
        if not function.is_declaration and function.name != written.fndesc.llvm_func_name:
            function.linkage = llvm.Linkage.internal
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization, tuning.slp_vectorization = True, False
    passes = llvm.create_pass_builder(codegen._tm, tuning)
    passes.getModulePassManager().run(module, passes)
    return module


def object_code(written: CompileResult, module: llvm.ModuleRef) -> bytes:
    """The object code of its module."""
    return bytes(written.library.codegen._tm.emit_object(module))
