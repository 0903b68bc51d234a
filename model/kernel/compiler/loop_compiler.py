"""Native loops as object code, made by Numba."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numba
import numpy as np

from fencepost.model.kernel.compiler import intrinsics
from fencepost.model.kernel.compiler.loop_store import Stored
from fencepost.model.kernel.compiler.loops import Instruction, Loop

_FROM_THE_SYSTEM = ("memcpy", "memset", "memmove")
"""What object code may call that is not in it."""

_DISPATCHERS: dict[Loop, Any] = {}


def compiled(loop: Loop, arguments: Sequence[Any]) -> Stored:
    """The loop for arguments of these types. Raises what Numba raises, and TypeError for a loop whose code needs something of
    Numba's: it may not allocate."""
    dispatcher = _dispatcher(loop)
    types = tuple(numba.typeof(_plain(each)) for each in arguments)
    dispatcher.compile(types)
    done = dispatcher.overloads[types]
    missing = [f.name for f in done.library._final_module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    if needed := sorted(set(missing) - set(_FROM_THE_SYSTEM)):
        raise TypeError(f"{loop.function.__qualname__}: a native loop can have no use for {', '.join(needed)}")
    return Stored(done.library._get_compiled_object(), done.fndesc.llvm_func_name, str(done.signature.return_type))


def _dispatcher(loop: Loop) -> Any:
    """A loop as Numba has it: the loops and the instructions that it calls are in its globals as Numba's."""
    if loop not in _DISPATCHERS:
        function = loop.function
        named = set(function.__code__.co_names)
        around = {name: _meant(value) if name in named else value for name, value in function.__globals__.items()}
        copy = FunctionType(function.__code__, around, function.__name__, function.__defaults__)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        # nothing of Python's calls it: no wrappers
        options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False, "forceinline": loop.inline}
        _DISPATCHERS[loop] = numba.njit(nogil=True, error_model="numpy", **options)(copy)
    return _DISPATCHERS[loop]


def _meant(value: Any) -> Any:
    if isinstance(value, Loop):
        return _dispatcher(value)
    return getattr(intrinsics, value.name) if isinstance(value, Instruction) else value


def _plain(argument: Any) -> Any:
    """An argument of the type that it is passed as: 64 bits for each number."""
    if isinstance(argument, tuple):
        return type(argument)(*map(_plain, argument))
    is_a_word = isinstance(argument, (np.ndarray, np.uint64))
    return argument if is_a_word else int(argument)
