"""LLVM functions as machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


class Code:
    """The functions of a module's text as machine code, which is there as long as this object is.

    ``thorough`` code takes LLVM about ten times as long to make. Walks take nine tenths as long with it; a search, which
    waits for memory, gains nothing. The text is straight lines between few branches, without anything left to fold: LLVM's
    passes over it take longer than they save, all of -O2 many times as long, and none makes it faster; so what differs is how
    instructions are chosen and registers given out.
    """

    def __init__(self, text: str, *, thorough: bool = False) -> None:
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2 if thorough else 0
        )
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), target)
        self._engine.finalize_object()
        self._functions: dict[str, Callable[..., None]] = {}

    def address(self, name: str) -> int:
        """The address of a function."""
        return int(self._engine.get_function_address(name))

    def function(self, name: str, *types: Any) -> Callable[..., None]:
        """A function that takes arguments of these C types and returns nothing, to be called from Python."""
        known = self._functions.get(name)
        return known or self._functions.setdefault(name, ctypes.CFUNCTYPE(None, *types)(self.address(name)))


def of_object(code: bytes, name: str) -> tuple[Any, int]:
    """What keeps object code alive, and the address of a function in it."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), llvm.Target.from_default_triple().create_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, int(engine.get_function_address(name))
