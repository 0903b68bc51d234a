"""LLVM functions as machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import llvmlite.binding as llvm

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


def host() -> tuple[str, str]:
    """The processor that code is made for: its name and what it can do. Object code of one runs on no other."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def object_code(text: str, *, thorough: bool = False) -> bytes:
    """The functions of a module's text as object code.

    ``thorough`` code takes LLVM about ten times as long to make. Walks take nine tenths as long with it; a search, which
    waits for memory, gains nothing. The text is straight lines between few branches, without anything left to fold: LLVM's
    passes over it take longer than they save, all of -O2 many times as long, and none makes it faster; so what differs is how
    instructions are chosen and registers given out.
    """
    name, features = host()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=2 if thorough else 0)
    return bytes(machine.emit_object(llvm.parse_assembly(text)))


class Code:
    """The functions of object code as machine code, which is there as long as this object is."""

    def __init__(self, code: bytes) -> None:
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._functions: dict[str, Callable[..., None]] = {}

    def address(self, name: str) -> int:
        """The address of a function."""
        return int(self._engine.get_function_address(name))

    def function(self, name: str, *types: type[ctypes.c_uint64 | ctypes.c_int64 | ctypes.c_void_p]) -> Callable[..., None]:
        """A function that takes arguments of these C types and returns nothing, to be called from Python."""
        known = self._functions.get(name)
        return known or self._functions.setdefault(name, ctypes.CFUNCTYPE(None, *types)(self.address(name)))
