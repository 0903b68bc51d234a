"""LLVM functions: written as text straight away, and made machine code.

llvmlite's own builder keeps every instruction as an object with its operands, its type and a name that it looks up; for tens of
thousands of instructions without a loop or a name among them, that is most of what the way to machine code would take.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count

import llvmlite.binding as llvm

ONES = (1 << 64) - 1


class Value:
    """A value of a function: an integer of ``bits`` bits, or an address if that is 0; ``text`` is how an operand names it.
    If it is the result of an instruction without effects, ``operation`` and ``operands`` say of which.

    An integer of two bits or more is held in a whole word, with zeros above: for integers of other sizes LLVM's quick way to
    choose instructions has none, and the way that it takes instead is four times as long."""

    __slots__ = ("bits", "kind", "operands", "operation", "text")

    def __init__(self, bits: int, text: str, operation: str = "", operands: tuple[Value, ...] = ()) -> None:
        self.bits, self.text, self.operation, self.operands = bits, text, operation, operands
        self.kind = ("ptr", "i1")[bits] if bits < 2 else "i64"


class Constant(Value):
    """An integer that is known while the text is written; made by ``constant``."""

    __slots__ = ("constant",)

    def __init__(self, bits: int, constant: int) -> None:
        super().__init__(bits, str(constant))
        self.constant = constant


@cache
def constant(bits: int, number: int) -> Constant:
    """The constant of so many bits: equal ones are one and the same."""
    return Constant(bits, number)


LONGEST_BLOCK = 256
"""Instructions in a block, about: with a hundred to four hundred of them LLVM is quickest."""

FALSE, TRUE = constant(1, 0), constant(1, 1)


def _in_short_blocks(lines: Iterable[str]) -> Iterator[str]:
    """The lines with long blocks divided. LLVM chooses instructions block by block, and its time grows faster than a block."""
    length = divisions = 0
    for line in lines:
        if length >= LONGEST_BLOCK and line.startswith("%"):
            divisions, length = divisions + 1, 0
            yield f"br label %further_{divisions}"
            yield f"further_{divisions}:"
        length = 0 if line.endswith(":") else length + 1
        yield line


class Function:
    """One function over addresses and words, under construction, block by block. What it takes are addresses that lie apart, or
    words where ``words`` has their places.

    An operation that was done on the same values before, in this block or the first one, is not done again, and what nothing
    needs in the end is not written.
    """

    def __init__(self, name: str, takes: int, words: Sequence[int] = (), *, inner: bool = False) -> None:
        self.name = name
        self.arguments = [Value(64 if place in words else 0, f"%a{place}") for place in range(takes)]
        taken = ", ".join(f"{a.kind}{'' if a.bits else ' noalias'} {a.text}" for a in self.arguments)
        self._head = f"define {'internal ' if inner else ''}void @{name}({taken}) nounwind {{"
        self._lines: list[tuple[Value | None, str | None, Sequence[Value]]] = []
        self._count = 0
        self._first: dict[tuple[Hashable, ...], Value] = {}
        self._known = self._first
        self.block("entry")

    def __str__(self) -> str:
        lines, needed = ["", "}"], set[Value]()
        for value, text, operands in reversed(self._lines):
            if value is None or value in needed:
                needed.update(operands)
                if text is not None:
                    lines.append(text if value is None else f"{value.text} = {text}")
        return "\n".join([self._head, *_in_short_blocks(reversed(lines))])

    def _does(self, text: str, *operands: Value) -> None:
        """Adds what has an effect."""
        self._lines.append((None, text, operands))

    def _is(self, bits: int, operation: str, text: str, *operands: Value) -> Value:
        """The result of what has no effect."""
        self._count += 1
        value = Value(bits, f"%v{self._count}", operation, operands)
        self._lines.append((value, text, operands))
        return value

    def recalled(self, what: tuple[Hashable, ...], make: Callable[[], Value]) -> Value:
        """What ``make`` gives, or gave when the same was asked for before, in this block or the first one."""
        known = self._known.get(what) or self._first.get(what)
        if known is None:
            known = self._known[what] = make()
        return known

    def _once(self, bits: int, operation: str, text: str, *operands: Value) -> Value:
        """The result of what gives the same for the same operands."""
        what = bits, operation, *map(id, operands)
        known = self._known.get(what) or self._first.get(what)
        if known is None:  # as in ``recalled``, for the most frequent of all calls
            known = self._known[what] = self._is(bits, operation, text, *operands)
        return known

    # --- arithmetic and logic

    def join(self, operation: str, one: Value, other: Value) -> Value:
        """An operation of LLVM on two integers of as many bits: and, or, xor, add, sub, mul, shl, lshr."""
        return self._once(one.bits, operation, f"{operation} {one.kind} {one.text}, {other.text}", one, other)

    def inverse(self, value: Value) -> Value:
        """Every bit the other one; its operation is named ``not``."""
        ones = (1 << value.bits) - 1 if 1 < value.bits < 64 else -1
        return self._once(value.bits, "not", f"xor {value.kind} {value.text}, {ones}", value)

    def compare(self, sign: str, one: Value, other: Value) -> Value:
        """Whether one compares so with the other: eq, ne, or slt, sle, sgt, sge as signed numbers."""
        return self._once(1, sign, f"icmp {sign} {one.kind} {one.text}, {other.text}", one, other)

    def choose(self, condition: Value, one: Value, other: Value) -> Value:
        """The one where the condition holds, else the other; its operation is named ``select``."""
        text = f"select i1 {condition.text}, {one.kind} {one.text}, {other.kind} {other.text}"
        return self._once(one.bits, "select", text, condition, one, other)

    def shifted(self, value: Value, places: int) -> Value:
        """The value so many places to the left, or to the right if negative."""
        if places == 0:
            return value
        return self.join("shl" if places > 0 else "lshr", value, constant(value.bits, abs(places)))

    def resized(self, value: Value, bits: int) -> Value:
        """The value as an integer of so many bits, cut off or with zeros before it."""
        if bits == value.bits:
            return value
        if isinstance(value, Constant):
            return constant(bits, value.constant & (1 << bits) - 1)
        if value.bits == 1:
            return self._once(bits, "zext", f"zext i1 {value.text} to i64", value)
        if bits == 1:
            return self._once(bits, "trunc", f"trunc i64 {value.text} to i1", value)
        if bits > value.bits:
            return self.recalled(("wider", bits, id(value)), lambda: self._wider(value, bits))
        mask = constant(bits, (1 << bits) - 1)
        return self._once(bits, "and", f"and i64 {value.text}, {mask.text}", value, mask)

    def _wider(self, value: Value, bits: int) -> Value:
        """The same with more of the zeros above it: no instruction."""
        wider = Value(bits, value.text, "wider", (value,))
        self._lines.append((wider, None, (value,)))
        return wider

    def united(self, parts: Iterable[Value], known: int = 0) -> Value:
        """The bits of all words, and those that are known: a tree, so that none has to wait for all others."""
        parts = list(parts)
        if known or not parts:
            parts.append(constant(64, known))
        while len(parts) > 1:
            pairs = [self.join("or", one, other) for one, other in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(parts) - len(parts) % 2 :]
        return parts[0]

    def bits(self, flags: Mapping[int, Value]) -> Value:
        """Flags as the bits of a word, by number."""
        known = sum(1 << bit for bit, flag in flags.items() if flag is TRUE)
        shown = ((bit, flag) for bit, flag in flags.items() if flag is not TRUE and flag is not FALSE)
        return self.united((self.shifted(self.resized(flag, 64), bit) for bit, flag in shown), known)

    # --- memory

    def _at(self, address: Value, word: int) -> Value:
        return self._is(0, "getelementptr", f"getelementptr i64, ptr {address.text}, i64 {word}", address) if word else address

    def load(self, address: Value, word: int) -> Value:
        """A word of an array."""
        place = self._at(address, word)
        return self._is(64, "load", f"load i64, ptr {place.text}", place)

    def load_all(self, address: Value, words: int) -> list[Value]:
        """The words of an array."""
        return [self.load(address, word) for word in range(words)]

    def store(self, value: Value, address: Value, word: int) -> None:
        """Writes a word of an array."""
        place = self._at(address, word)
        self._does(f"store i64 {value.text}, ptr {place.text}", value, place)

    # --- where it goes on

    def call(self, function: Function, arguments: Sequence[Value], *, tail: bool = False) -> None:
        """Calls another function."""
        given = ", ".join(f"{argument.kind} {argument.text}" for argument in arguments)
        self._does(f"{'tail ' if tail else ''}call void @{function.name}({given})", *arguments)

    def switch(self, value: Value, cases: int) -> None:
        """Goes on in the block ``case_N`` of the value, in ``end`` if there is none."""
        targets = " ".join(f"i64 {case}, label %case_{case}" for case in range(cases))
        self._does(f"switch i64 {value.text}, label %end [{targets}]", value)

    def block(self, name: str) -> None:
        """Begins the next block."""
        self._known = {} if self._lines else self._first
        self._does(f"{name}:")

    def branch(self, name: str) -> None:
        """Goes on in another block."""
        self._does(f"br label %{name}")

    def end(self) -> None:
        """Returns."""
        self._does("ret void")


llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


@cache
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
    return bytes(_machine(2 if thorough else 0).emit_object(llvm.parse_assembly(text)))


@cache
def _machine(opt: int) -> llvm.TargetMachine:
    """LLVM for this processor. One that serves all saves a millisecond for each text, as long as a short one takes."""
    name, features = host()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=opt)


class Code:
    """Functions of object code as machine code, which is there as long as this object is."""

    def __init__(self, code: bytes, functions: Iterable[str]) -> None:
        library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in functions:
            library.export_symbol(name)
        self._library = library.link(_linker(), f"code {next(_number)}")
        self._functions: dict[str, Callable[..., None]] = {}

    def address(self, name: str) -> int:
        """The address of a function."""
        return int(self._library[name])

    def function(self, name: str, *types: type[ctypes.c_uint64 | ctypes.c_int64 | ctypes.c_void_p]) -> Callable[..., None]:
        """A function that takes arguments of these C types and returns nothing, to be called from Python."""
        known = self._functions.get(name)
        return known or self._functions.setdefault(name, ctypes.CFUNCTYPE(None, *types)(self.address(name)))


_number = count()
"""Of a library: its name may not be used again, even if it is no more."""


@cache
def _linker() -> llvm.LLJIT:
    """What makes object code machine code: one that serves all takes a fifth of the time that one for each takes."""
    return llvm.create_lljit_compiler()
