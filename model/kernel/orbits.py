"""States that are the same but for a symmetry, natively: which of them stands for all, and how many they are.

The orbit of a state is what the permutations of a symmetry make of it, and the least of these states, word by word, stands for
all. One walk through the permutations finds it: each is made from the one before by exchanging two members, and an exchange
is a few operations on the bits of the packed state, for all members of families, subsets and choices that it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import cycle
from math import factorial
from typing import Any

import numpy as np
from llvmlite import ir

from model.kernel.crew import Crew
from model.kernel.loops import bit_count, bump, call2, fetch_add, load, load_int, native
from model.kernel.machine import Kernel, _engine
from model.kernel.packing import Packing
from model.kernel.program import Program
from model.kernel.results import Result
from model.kernel.store import frontier
from model.language.symmetry import Symmetry
from model.language.transposition import Transposition

MOST = 1000
"""Permutations beyond which a part of a symmetry pays better than all of it, since each of them is tried on each state."""

I8, I64 = ir.IntType(8), ir.IntType(64)
POINTER = ir.PointerType()

Words = list[ir.Value]
_BLOCK = 1024


@dataclass(frozen=True)
class BitSwap:
    """Bits ``mask`` of word ``first`` change places with the bits of word ``second`` that lie ``distance`` higher."""

    first: int
    second: int
    distance: int
    mask: int


@dataclass(frozen=True)
class ValueSwap:
    """The value ``one``, in the bits ``mask`` (before the shift) of a word from bit ``shift`` on, becomes ``other``, and back."""

    word: int
    shift: int
    mask: int
    one: int
    other: int


def bit_swaps(packing: Packing, exchange: Transposition) -> list[BitSwap]:
    """What an exchange of two members does to packed states, but for choices: first members of families change places, then
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
        changes, stretches = plain_changes(len(members.members)), cycle((way[::-1], way))
        exchanges = [members.transpositions[change] for change in changes]
        way = way + [step for exchange, stretch in zip(exchanges, stretches) for step in (exchange, *stretch)]
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


class Orbits:
    """The compiled symmetry of a kernel's protocol.

    ``canonical`` is the address of a function ``(state, out)`` that writes the state that stands for the orbit of this one;
    ``stabiliser`` of one that writes how many permutations leave the state as it is, so that its orbit has ``order`` divided
    by that many states.
    """

    def __init__(self, packing: Packing, symmetry: Symmetry) -> None:
        self.symmetry, self.order = symmetry, symmetry.order
        emitter = _Emitter(packing, tour(symmetry))
        emitter.canonical()
        emitter.stabiliser()
        self._engine = _engine(str(emitter.module))
        self.canonical = int(self._engine.get_function_address("canonical"))
        self.stabiliser = int(self._engine.get_function_address("stabiliser"))

    def represented(self, kernel: Kernel, result: Result, workers: int | None = None) -> Represented:
        """What the states of a search with this symmetry stand for, level by level."""
        program, levels = Program.of(kernel), []
        transitions = 0
        with Crew(workers) as crew:
            for segments in result.reached.levels:
                counts = np.zeros((crew.size, 2), dtype=np.int64)
                scratch = np.zeros((crew.size, max(program.enabled_words, 1)), dtype=np.uint64)
                states, cursor = frontier(segments), np.zeros(1, dtype=np.int64)
                space, at = result.reached.store.space, cursor.ctypes.data

                def work(number: int) -> None:
                    counted, room = counts[number].ctypes.data, scratch[number].ctypes.data  # noqa: B023
                    count_orbits(program, self.stabiliser, self.order, space, states, at, counted, room)  # noqa: B023

                crew.run(work)
                levels.append(int(counts[:, 0].sum()))
                transitions += int(counts[:, 1].sum())
        return Represented(sum(levels), transitions, tuple(levels))


@dataclass(frozen=True)
class Represented:
    """How many states and transitions there are without symmetry, and how many states at each depth, as the states that a
    search with symmetry visited predict it."""

    states: int
    transitions: int
    level_sizes: tuple[int, ...]


@native
def count_orbits(program: Any, stabiliser: Any, order: Any, space: Any, frontier: Any, cursor: Any, counts: Any, room: Any) -> None:
    """Adds, to the two counters at ``counts``, the sizes of the orbits of the frontier's states and of those of their
    transitions."""
    starts, ordinals = frontier.starts, frontier.ordinals
    total = ordinals[-1]
    while True:
        first = fetch_add(cursor, _BLOCK)
        if first >= total:
            return
        segment = np.searchsorted(ordinals, first, side="right") - 1
        for ordinal in range(first, min(first + _BLOCK, total)):
            while ordinal >= ordinals[segment + 1]:
                segment += 1
            state = space.states + 8 * program.words * (starts[segment] + ordinal - ordinals[segment])
            call2(stabiliser, state, room)
            size = order // load_int(room)
            call2(program.enabled, state, room)
            enabled = 0
            for word in range(program.enabled_words):
                enabled += bit_count(load(room + 8 * word))
            bump(counts, size)
            bump(counts + 8, size * enabled)


class _Emitter:
    """Emits the walks through the permutations of a state."""

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
        words, kept = [b.phi(I64) for _ in start], [b.phi(I64) for _ in first]
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
        made = [b.phi(I64) for _ in start]
        for block, values in ways:
            for phi, value in zip(made, values, strict=True):
                phi.add_incoming(value, block)
        folded = fold(b, kept, made, start)
        following = b.add(number, I64(1))
        for phi, before, after in zip([number, *words, *kept], [I64(0), *start, *first], [following, *made, *folded], strict=True):
            phi.add_incoming(before, entry)
            phi.add_incoming(after, joined)
        b.cbranch(b.icmp_unsigned("<", following, I64(self._length)), step, end)

        b.position_at_end(end)
        for word, value in enumerate(folded):
            b.store(value, _at(b, out, word))
        b.ret_void()

    def _exchanged(self, b: ir.IRBuilder, exchange: Transposition, words: Words) -> Words:
        made = list(words)
        for swap in bit_swaps(self._packing, exchange):
            higher = _shifted(b, made[swap.second], -swap.distance)
            differ = b.and_(b.xor(made[swap.first], higher), I64(swap.mask))
            made[swap.first] = b.xor(made[swap.first], differ)
            made[swap.second] = b.xor(made[swap.second], _shifted(b, differ, swap.distance))
        for choice in value_swaps(self._packing, exchange):
            value = b.and_(b.lshr(made[choice.word], I64(choice.shift)), I64(choice.mask))
            concerned = b.or_(*(b.icmp_unsigned("==", value, I64(one)) for one in (choice.one, choice.other)))
            change = b.select(concerned, I64((choice.one ^ choice.other) << choice.shift), I64(0))
            made[choice.word] = b.xor(made[choice.word], change)
        return made


def _shifted(b: ir.IRBuilder, word: ir.Value, distance: int) -> ir.Value:
    """The word with its bits that much higher; lower if that is negative."""
    return b.shl(word, I64(distance)) if distance >= 0 else b.lshr(word, I64(-distance))


def _at(b: ir.IRBuilder, pointer: ir.Value, word: int) -> ir.Value:
    return b.gep(pointer, [I64(word)], source_etype=I64)
