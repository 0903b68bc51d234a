"""The classes of jars as their bytecode has them: which methods a class declares, and whose it inherits."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAGIC = 0xCAFEBABE
_UTF8, _CLASS = 1, 7
_LENGTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""The bytes of each kind of constant after its tag (Java Virtual Machine Specification, 4.4), except for text."""
_WIDE = (5, 6)
"""Long and double take two places in the table of constants."""


@dataclass(frozen=True)
class Class:
    """A class: its full ``name`` (``a.b.Outer$Inner``), the names of its superclass and interfaces, and its own methods, each
    with the first line of its code in the source (of several of one name the first; 0 if it has none)."""

    name: str
    parents: tuple[str, ...]
    methods: Mapping[str, int]

    @property
    def source(self) -> str:
        """The path of its source, from the root of the packages on."""
        return self.name.partition("$")[0].replace(".", "/") + ".java"


def class_of(code: bytes) -> Class:
    """The class whose bytecode this is. Raises ValueError if it is none."""
    file = io.BytesIO(code)
    if code[:4] != _MAGIC.to_bytes(4, "big"):
        raise ValueError("no class file: it does not begin with CAFEBABE")
    file.seek(8)
    texts, classes = _constants(file)

    def named(place: int) -> str:
        return texts[classes[place]].replace("/", ".")

    _, this, parent, interfaces = _read(file, ">HHHH")
    parents = [named(place) for place in (parent, *_read(file, f">{interfaces}H")) if place]
    for _ in range(*_read(file, ">H")):
        _member(file, texts)
    methods: dict[str, int] = {}
    for name, line in (_member(file, texts) for _ in range(*_read(file, ">H"))):
        methods[name] = min(methods.get(name) or line, line or methods.get(name, 0))
    return Class(named(this), tuple(parents), methods)


def _constants(file: BinaryIO) -> tuple[dict[int, str], dict[int, int]]:
    """The texts of the table of constants, and of each class the place of its name."""
    texts, classes = {}, {}
    (count,) = _read(file, ">H")
    place = 1
    while place < count:
        (tag,) = _read(file, ">B")
        if tag == _UTF8:
            (length,) = _read(file, ">H")
            texts[place] = file.read(length).decode("utf-8", errors="replace")  # Java's own UTF-8 differs beyond names
        elif tag == _CLASS:
            (classes[place],) = _read(file, ">H")
        else:
            file.seek(_LENGTHS[tag], io.SEEK_CUR)
        place += 2 if tag in _WIDE else 1
    return texts, classes


def _member(file: BinaryIO, texts: Mapping[int, str]) -> tuple[str, int]:
    """Reads a field or a method: its name, and the first line of its code or 0."""
    _, name, _, attributes = _read(file, ">HHHH")
    by_name = dict(_attributes(file, attributes, texts))
    return texts[name], _first_line(io.BytesIO(by_name["Code"]), texts) if "Code" in by_name else 0


def _attributes(file: BinaryIO, count: int, texts: Mapping[int, str]) -> Iterator[tuple[str, bytes]]:
    for _ in range(count):
        name, length = _read(file, ">HI")
        yield texts[name], file.read(length)


def _first_line(code: BinaryIO, texts: Mapping[int, str]) -> int:
    """The lowest line in a method's table of lines; 0 if it has none."""
    _, _, length = _read(code, ">HHI")
    code.seek(length, io.SEEK_CUR)
    (handlers,) = _read(code, ">H")
    code.seek(8 * handlers, io.SEEK_CUR)
    (count,) = _read(code, ">H")
    tables = [content for name, content in _attributes(code, count, texts) if name == "LineNumberTable"]
    return min((line for table in tables for _, line in struct.iter_unpack(">HH", table[2:])), default=0)


def _read(file: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, file.read(struct.calcsize(form)))


class Classes:
    """The classes of some jars, read as they are asked for."""

    def __init__(self, jars: Sequence[Path]) -> None:
        self._archives = [zipfile.ZipFile(jar) for jar in jars]
        self._places = {
            name.removesuffix(".class").replace("/", "."): archive
            for archive in self._archives
            for name in archive.namelist()
            if name.endswith(".class") and not name.startswith("META-INF/")
        }
        self._named: dict[str, list[str]] = {}
        for full in self._places:
            self._named.setdefault(full.rpartition(".")[2].replace("$", "."), []).append(full)

    def __enter__(self) -> Classes:
        return self

    def __exit__(self, *_: object) -> None:
        for archive in self._archives:
            archive.close()

    def named(self, name: str) -> list[str]:
        """The full names of the classes of this name without their package, e.g. ``Outer.Inner``."""
        return sorted(self._named.get(name, ()))

    def under(self, package: str) -> Iterator[Class]:
        """The classes whose full names begin like this, in the order of their names."""
        return (next(self._line(full)) for full in sorted(self._places) if full.startswith(package))

    def has(self, full: str, method: str) -> bool:
        """Whether a class declares the method, or inherits it from one that is in the jars."""
        return self.where(full, method) is not None

    def where(self, full: str, method: str) -> tuple[str, int] | None:
        """The source file and the line of a method, of the class that declares it; None if none does."""
        return next(((each.source, each.methods[method]) for each in self._line(full) if method in each.methods), None)

    def _line(self, full: str) -> Iterator[Class]:
        if full in self._places:
            one = class_of(self._places[full].read(full.replace(".", "/") + ".class"))
            yield one
            for parent in one.parents:
                yield from self._line(parent)
