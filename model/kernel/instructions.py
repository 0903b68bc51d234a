"""LLVM functions as text, written straight away.

llvmlite's own builder keeps every instruction as an object with its operands, its type and a name that it looks up; for tens of
thousands of instructions without a loop or a name among them, that is most of what the way to machine code would take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

ONES = (1 << 64) - 1


class Value:
    """A value of a function: an integer of ``bits`` bits, or an address if that is 0; ``text`` is how an operand names it."""

    __slots__ = ("bits", "text")

    def __init__(self, bits: int, text: str) -> None:
        self.bits, self.text = bits, text


class Constant(Value):
    """An integer that is known while the text is written."""

    __slots__ = ("constant",)

    def __init__(self, bits: int, constant: int) -> None:
        super().__init__(bits, str(constant))
        self.constant = constant


FALSE, TRUE = Constant(1, 0), Constant(1, 1)


class Function:
    """One function over addresses and words, under construction, block by block. What it takes are addresses that lie apart, or
    words where ``words`` has their places; it returns a word or nothing."""

    def __init__(self, name: str, takes: int, words: Sequence[int] = (), *, returns: bool = False, inner: bool = False) -> None:
        self.name = name
        self.arguments = [Value(64 if place in words else 0, f"%a{place}") for place in range(takes)]
        kinds = ("i64" if argument.bits else "ptr noalias" for argument in self.arguments)
        taken = ", ".join(f"{kind} {argument.text}" for kind, argument in zip(kinds, self.arguments, strict=True))
        result = "i64" if returns else "void"
        self._lines = [f"define {'internal ' if inner else ''}{result} @{name}({taken}) nounwind {{", "entry:"]
        self._count = 0

    def __str__(self) -> str:
        return "\n".join([*self._lines, "}", ""])

    def _is(self, bits: int, text: str) -> Value:
        self._count += 1
        made = Value(bits, f"%v{self._count}")
        self._lines.append(f"{made.text} = {text}")
        return made

    # --- arithmetic and logic

    def join(self, operation: str, one: Value, other: Value) -> Value:
        """An operation of LLVM on two integers of as many bits: and, or, xor, add, sub, mul, shl, lshr."""
        return self._is(one.bits, f"{operation} i{one.bits} {one.text}, {other.text}")

    def inverse(self, value: Value) -> Value:
        """Every bit the other one."""
        return self._is(value.bits, f"xor i{value.bits} {value.text}, -1")

    def compare(self, sign: str, one: Value, other: Value) -> Value:
        """Whether one compares so with the other: eq, ne, or slt, sle, sgt, sge as signed numbers."""
        return self._is(1, f"icmp {sign} i{one.bits} {one.text}, {other.text}")

    def choose(self, condition: Value, one: Value, other: Value) -> Value:
        """The one where the condition holds, else the other."""
        kind = f"i{one.bits}"
        return self._is(one.bits, f"select i1 {condition.text}, {kind} {one.text}, {kind} {other.text}")

    def shifted(self, value: Value, places: int) -> Value:
        """The value so many places to the left, or to the right if negative."""
        if places == 0:
            return value
        return self.join("shl" if places > 0 else "lshr", value, Constant(value.bits, abs(places)))

    def resized(self, value: Value, bits: int) -> Value:
        """The value as an integer of so many bits, cut off or with zeros before it."""
        if bits == value.bits:
            return value
        return self._is(bits, f"{'zext' if bits > value.bits else 'trunc'} i{value.bits} {value.text} to i{bits}")

    def united(self, parts: Iterable[Value], known: int = 0) -> Value:
        """The bits of all words, and those that are known: a tree, so that none has to wait for all others."""
        parts = list(parts)
        if known or not parts:
            parts.append(Constant(64, known))
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

    def _at(self, address: Value, word: int) -> str:
        return self._is(0, f"getelementptr i64, ptr {address.text}, i64 {word}").text if word else address.text

    def load(self, address: Value, word: int) -> Value:
        """A word of an array."""
        return self._is(64, f"load i64, ptr {self._at(address, word)}")

    def load_all(self, address: Value, words: int) -> list[Value]:
        """The words of an array."""
        return [self.load(address, word) for word in range(words)]

    def store(self, value: Value, address: Value, word: int) -> None:
        """Writes a word of an array."""
        self._lines.append(f"store i64 {value.text}, ptr {self._at(address, word)}")

    # --- where it goes on

    def call(self, function: Function, arguments: Sequence[Value], *, returns: bool = False, tail: bool = False) -> Value:
        """What another function returns, if anything."""
        given = ", ".join(f"{'i64' if argument.bits else 'ptr'} {argument.text}" for argument in arguments)
        call = f"{'tail ' if tail else ''}call {'i64' if returns else 'void'} @{function.name}({given})"
        if returns:
            return self._is(64, call)
        self._lines.append(call)
        return FALSE

    def switch(self, value: Value, cases: int) -> None:
        """Goes on in the block ``case_N`` of the value, in ``end`` if there is none."""
        targets = " ".join(f"i64 {case}, label %case_{case}" for case in range(cases))
        self._lines.append(f"switch i64 {value.text}, label %end [{targets}]")

    def block(self, name: str) -> None:
        """Begins the next block."""
        self._lines.append(f"{name}:")

    def branch(self, name: str) -> None:
        """Goes on in another block."""
        self._lines.append(f"br label %{name}")

    def end(self, value: Value | None = None) -> None:
        """Returns, with a word if that is what the function does."""
        self._lines.append("ret void" if value is None else f"ret i64 {value.text}")
