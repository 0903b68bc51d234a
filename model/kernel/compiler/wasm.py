"""The functions of a protocol as WebAssembly: the text that is machine code here, as a module that a browser instantiates.

LLVM writes an object file. Nothing in it is left for a linker, since the functions call only each other and have no data: a
module of it is the same sections, with one that exports the functions by their names, and without what only a linker reads.
"""

from __future__ import annotations

from collections.abc import Iterator

import llvmlite.binding as llvm

from fencepost.model.language import ModelError

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()

TRIPLE = "wasm32-unknown-unknown"
_CUSTOM, _IMPORT, _GLOBAL, _EXPORT, _START, _CODE, _DATA = 0, 2, 6, 7, 8, 10, 11
_FUNCTION, _SYMBOL_TABLE = 0, 8
_UNDEFINED = 0x10
"""The flag of a symbol that the object only refers to."""


def webassembly(text: str) -> bytes:
    """LLVM functions as a module of WebAssembly that exports each that is not internal. It imports its memory,
    ``env.__linear_memory``; addresses are of 32 bits, and words are as they are natively.

    Raises ModelError for what a linker would be needed for.
    """
    # LLVM's quick way, as natively: otherwise the module is half as large, and the largest instance takes minutes, not seconds
    target = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = TRIPLE, str(target.target_data)
    exported = [function.name for function in module.functions if function.linkage != llvm.Linkage.internal]
    return _linked(target.emit_object(module), exported)


def _linked(module: bytes, exported: list[str]) -> bytes:
    sections = list(_sections(module))
    if any(number == _DATA for number, _ in sections):
        raise ModelError("the functions have data, which WebAssembly without a linker has no place for")
    places = _functions(sections)
    if strangers := [name for name in exported if name not in places]:
        raise ModelError(f"the object file lacks {', '.join(strangers)}")
    exports = _vector([_name(name) + bytes([_FUNCTION]) + _number(places[name]) for name in exported])
    named = [(number, body) for number, body in sections if number != _CUSTOM]
    after = sum(number < _EXPORT for number, _ in named)  # sections stand in the order of their numbers
    named.insert(after, (_EXPORT, exports))
    return module[:8] + b"".join(bytes([number]) + _number(len(body)) + body for number, body in named)


def _sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a module, each its number and what is in it."""
    reader = _Reader(module, 8)
    while not reader.at_end:
        yield reader.byte(), reader.bytes(reader.number())


def _functions(sections: list[tuple[int, bytes]]) -> dict[str, int]:
    """The indices of the functions that an object file defines, by name, as its symbol table has them."""
    numbers: dict[str, int] = {}
    for number, body in sections:
        reader = _Reader(body)
        if number == _CUSTOM and reader.name() == "linking":
            reader.number()  # the version of the table
            while not reader.at_end:
                kind, part = reader.byte(), reader.bytes(reader.number())
                if kind == _SYMBOL_TABLE:
                    numbers.update(_defined(_Reader(part)))
    return numbers


def _defined(symbols: _Reader) -> Iterator[tuple[str, int]]:
    for _ in range(symbols.number()):
        kind, flags, index = symbols.byte(), symbols.number(), symbols.number()
        if kind != _FUNCTION or flags & _UNDEFINED:
            raise ModelError("the functions refer to something that they do not have")
        yield symbols.name(), index


class _Reader:
    """What WebAssembly is made of, one after the other."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data, self._place = data, place

    @property
    def at_end(self) -> bool:
        return self._place >= len(self._data)

    def byte(self) -> int:
        self._place += 1
        return self._data[self._place - 1]

    def number(self) -> int:
        """A number in LEB128, without a sign."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def bytes(self, count: int) -> bytes:
        self._place += count
        return self._data[self._place - count : self._place]

    def name(self) -> str:
        return self.bytes(self.number()).decode()


def _number(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def _name(text: str) -> bytes:
    return _number(len(text.encode())) + text.encode()


def _vector(parts: list[bytes]) -> bytes:
    return _number(len(parts)) + b"".join(parts)
