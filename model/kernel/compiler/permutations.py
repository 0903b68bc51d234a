"""The permutations of a symmetry as machine code: one function that goes through all of them on one packed state.

Each permutation is made from the one before by exchanging two members, and an exchange is a few operations on the bits of the
state, for all members of families, subsets and choices that it concerns.

The orbit of a state is what the permutations make of it, and the least of these states, word by word, stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import cycle
from math import factorial

from llvmlite import ir

from fencepost.model.analysis.exchange import Transposition
from fencepost.model.analysis.symmetry import Symmetry
from fencepost.model.kernel.compiler.instructions import Code, host, object_code
from fencepost.model.kernel.compiler.packing import Packing
from fencepost.model.kernel.compiler.store import product

I8, I64 = ir.IntType(8), ir.IntType(64)
POINTER = ir.PointerType()

Words = list[ir.Value]


@dataclass(frozen=True)
class BitSwap:
    """Bits ``mask`` of word ``first`` change places with the bits of word ``second`` that lie ``distance`` higher."""

    first: int
    second: int
    distance: int
    mask: int


@dataclass(frozen=True)
class ValueSwap:
    """The value in the bits of a word from bit ``shift`` on, as many as ``mask`` has, becomes ``other`` if it is ``one``, and
    ``one`` if it is ``other``."""

    word: int
    shift: int
    mask: int
    one: int
    other: int


def bit_swaps(packing: Packing, exchange: Transposition) -> list[BitSwap]:
    """What an exchange of two members does to packed states, except for choices: first members of families change places, then
    those of subsets. Swaps over the same distance are one."""
    places = {(v.family, v.index): packing.fields[v.name] for v in packing.variables}
    families: dict[tuple[int, int, int], int] = {}
    subsets: dict[tuple[int, int, int], int] = {}
    for v in packing.variables:
        here, there = packing.fields[v.name], places[exchange.place(v)]
        if (here.word, here.shift) < (there.word, there.shift):
            way = here.word, there.word, there.shift - here.shift
            families[way] = families.get(way, 0) | here.mask << here.shift
        bits = exchange.bits(v.domain)
        if bits:
            way = here.word, here.word, bits[1] - bits[0]
            subsets[way] = subsets.get(way, 0) | 1 << here.shift + bits[0]
    return [BitSwap(*way, mask) for ways in (families, subsets) for way, mask in ways.items()]


def value_swaps(packing: Packing, exchange: Transposition) -> list[ValueSwap]:
    """What an exchange of two members does to choices of them."""
    swaps = []
    for v in packing.variables:
        choices, field = exchange.choices(v.domain), packing.fields[v.name]
        if choices:
            swaps.append(ValueSwap(field.word, field.shift, field.mask, *choices))
    return swaps


def tour(symmetry: Symmetry) -> list[Transposition]:
    """Exchanges that, done one after the other, lead from the identity through every other permutation once."""
    way: list[Transposition] = []
    for members in symmetry.classes:
        stretches = cycle((way[::-1], way))  # through all permutations of the classes before, back and forth
        exchanges = [members.transpositions[change] for change in plain_changes(len(members.members))]
        way = way + [step for exchange in exchanges for step in (exchange, *next(stretches))]
    return way


def plain_changes(count: int) -> list[int]:
    """The permutations of ``count`` things by exchanges of neighbours: the place of the first of each two, as bell ringers
    and Steinhaus, Johnson and Trotter have it. The last thing sweeps to and fro between the changes of the others."""
    if count < 2:
        return []
    inner = plain_changes(count - 1)
    changes: list[int] = []
    for sweep in range(factorial(count - 1)):
        down = sweep % 2 == 0
        changes += reversed(range(count - 1)) if down else range(count - 1)
        changes += [change + down for change in inner[sweep : sweep + 1]]
    return changes


class Permutations:
    """Builds the LLVM module with the functions that go through the permutations of a state."""

    def __init__(self, packing: Packing, way: Sequence[Transposition]) -> None:
        self.module = ir.Module("orbits")
        self._packing = packing
        self._exchanges = list(dict.fromkeys(way))
        numbers = [I8(self._exchanges.index(exchange)) for exchange in way]
        self._length = len(way)
        self._way = ir.GlobalVariable(self.module, ir.ArrayType(I8, self._length), "way")
        self._way.initializer = ir.Constant(self._way.value_type, numbers)
        self._way.global_constant = True
        self._way.linkage = "internal"

    def canonical(self) -> None:
        """The least state on the way."""

        def least(b: ir.IRBuilder, best: Words, state: Words, start: Words) -> Words:
            is_less = b.icmp_unsigned("<", state[-1], best[-1])
            for one, other in reversed(list(zip(state[:-1], best[:-1], strict=True))):
                is_less = b.select(b.icmp_unsigned("==", one, other), is_less, b.icmp_unsigned("<", one, other))
            return [b.select(is_less, one, other) for one, other in zip(state, best, strict=True)]

        self._walk("canonical", lambda start: start, least)

    def stabiliser(self) -> None:
        """How often the way, its beginning included, comes by the state itself."""

        def count(b: ir.IRBuilder, counted: Words, state: Words, start: Words) -> Words:
            same = reduce(b.and_, (b.icmp_unsigned("==", one, other) for one, other in zip(state, start, strict=True)))
            return [b.add(counted[0], b.zext(same, I64))]

        self._walk("stabiliser", lambda start: [I64(1)], count)

    def _walk(
        self,
        name: str,
        initial: Callable[[Words], Words],
        fold: Callable[[ir.IRBuilder, Words, Words, Words], Words],
    ) -> None:
        """A function that goes through all permutations of a state and writes what ``fold`` makes of them, one by one."""
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [POINTER, POINTER]), name)
        function.attributes.add("nounwind")
        entry, step, joined, end = (function.append_basic_block(label) for label in ("entry", "step", "joined", "end"))
        state, out = function.args
        b = ir.IRBuilder(entry)
        start = [b.load(_at(b, state, word), typ=I64) for word in range(self._packing.words)]
        first = initial(start)
        b.branch(step)

        b.position_at_end(step)
        number = b.phi(I64)
        words, best = [b.phi(I64) for _ in start], [b.phi(I64) for _ in first]
        exchange = b.load(b.gep(self._way, [number], source_etype=I8), typ=I8)
        unreached = function.append_basic_block("unreached")
        switch = b.switch(exchange, unreached)
        ways: list[tuple[ir.Block, Words]] = []
        for place, each in enumerate(self._exchanges):
            block = function.append_basic_block(f"exchange_{place}")
            switch.add_case(I8(place), block)
            b.position_at_end(block)
            ways.append((block, self._exchanged(b, each, words)))
            b.branch(joined)
        b.position_at_end(unreached)
        b.unreachable()

        b.position_at_end(joined)
        exchanged = [b.phi(I64) for _ in start]
        for block, values in ways:
            for phi, value in zip(exchanged, values, strict=True):
                phi.add_incoming(value, block)
        folded = fold(b, best, exchanged, start)
        following = b.add(number, I64(1))
        for phi, value in zip([number, *words, *best], [I64(0), *start, *first], strict=True):
            phi.add_incoming(value, entry)
        for phi, value in zip([number, *words, *best], [following, *exchanged, *folded], strict=True):
            phi.add_incoming(value, joined)
        b.cbranch(b.icmp_unsigned("<", following, I64(self._length)), step, end)

        b.position_at_end(end)
        for word, value in enumerate(folded):
            b.store(value, _at(b, out, word))
        b.ret_void()

    def _exchanged(self, b: ir.IRBuilder, exchange: Transposition, words: Words) -> Words:
        after = list(words)
        for swap in bit_swaps(self._packing, exchange):
            higher = _shifted(b, after[swap.second], -swap.distance)
            differ = b.and_(b.xor(after[swap.first], higher), I64(swap.mask))
            after[swap.first] = b.xor(after[swap.first], differ)
            after[swap.second] = b.xor(after[swap.second], _shifted(b, differ, swap.distance))
        for choice in value_swaps(self._packing, exchange):
            value = b.and_(b.lshr(after[choice.word], I64(choice.shift)), I64(choice.mask))
            concerned = b.or_(*(b.icmp_unsigned("==", value, I64(one)) for one in (choice.one, choice.other)))
            change = b.select(concerned, I64((choice.one ^ choice.other) << choice.shift), I64(0))
            after[choice.word] = b.xor(after[choice.word], change)
        return after


def _shifted(b: ir.IRBuilder, word: ir.Value, distance: int) -> ir.Value:
    """The word with its bits that much higher; lower if that is negative."""
    return b.shl(word, I64(distance)) if distance >= 0 else b.lshr(word, I64(-distance))


def _at(b: ir.IRBuilder, pointer: ir.Value, word: int) -> ir.Value:
    return b.gep(pointer, [I64(word)], source_etype=I64)


MOST = 5040
"""Permutations beyond which only a part of a symmetry is used: each of them is tried on each state that is met."""


def _what(packing: Packing, way: Sequence[Transposition]) -> object:
    """All that decides what the functions do on the way, and for which processor."""
    exchanges = list(dict.fromkeys(way))
    swaps = [(bit_swaps(packing, exchange), value_swaps(packing, exchange)) for exchange in exchanges]
    return "orbits", packing.words, swaps, [exchanges.index(exchange) for exchange in way], host()


def _object_code(packing: Packing, way: Sequence[Transposition]) -> bytes:
    functions = Permutations(packing, way)
    functions.canonical()
    functions.stabiliser()
    return object_code(str(functions.module), thorough=True)


class Orbits:
    """The compiled symmetry of a kernel's protocol.

    ``canonical`` is the address of a function ``(state, out)`` that writes the state that stands for the orbit of this one;
    ``stabiliser`` of one that writes how many permutations leave the state as it is, so that its orbit has ``order`` divided
    by that many states.
    """

    def __init__(self, packing: Packing, symmetry: Symmetry) -> None:
        self.symmetry, self.order = symmetry, symmetry.order
        way = tour(symmetry)
        self._code = Code(product(_what(packing, way), lambda: _object_code(packing, way)), ("canonical", "stabiliser"))
        self.canonical = self._code.address("canonical")
        self.stabiliser = self._code.address("stabiliser")
