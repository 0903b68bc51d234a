"""Which clauses hold in all of many states, a million clauses a second.

An atom is a formula about some members of universes; it is given by its truths for each choice of these members, a *place*. A
literal is an atom or its negation: number 2 * atom, or 2 * atom + 1. A clause, a row of literals filled up with -1, says that
one of them holds, whatever the members that it speaks of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.loops import Crew, Integer, native
from fencepost.model.kernel.compiler.packing import Words

WIDTH = 4
"""Literals of a clause, at most."""

Clauses = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_FEW = 64

_ALL = ~np.uint64(0)
_ZERO = np.uint64(0)


class Ground(NamedTuple):
    """Where the truths of atoms are found: ``rows`` has for each atom and each place the row of truths, ``scopes`` for each
    atom the members that it speaks of, as a bit set. ``places`` from ``starts[scope]`` to ``starts[scope + 1]`` are those that
    differ in the members of a scope."""

    rows: Clauses
    scopes: Clauses
    starts: Clauses
    places: Clauses

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], scopes: Sequence[int], choices: Sequence[Sequence[int]]) -> Ground:
        """``choices`` has for each place the member that it has of each universe."""
        starts, places = [0], list[int]()
        for scope in range(1 << len(choices[0])):
            seen = set()
            for place, members in enumerate(choices):
                key = tuple(member for number, member in enumerate(members) if scope >> number & 1)
                if key not in seen:
                    seen.add(key)
                    places.append(place)
            starts.append(len(places))
        arrays = (np.asarray(part, dtype=np.int64) for part in (rows, scopes, starts, places))
        return cls(*arrays)


@native
def _holds(truths: Words, ground: Ground, clause: Clauses) -> bool:
    """Whether the clause holds in all states."""
    scope = 0
    for literal in clause:
        if literal >= 0:
            scope |= ground.scopes[literal >> 1]
    for number in range(ground.starts[scope], ground.starts[scope + 1]):
        place = ground.places[number]
        for word in range(truths.shape[1]):
            held = _ZERO
            for literal in clause:
                if literal >= 0:
                    plane = truths[ground.rows[literal >> 1, place], word]
                    held |= ~plane if literal & 1 else plane
            if held != _ALL:
                return False
    return True


@native
def _each(truths: Words, ground: Ground, clauses: Clauses, first: Integer, last: Integer, held: Flags) -> None:
    for number in range(first, last):
        held[number] = _holds(truths, ground, clauses[number])


@native
def _satisfying(truths: Words, ground: Ground, clauses: Clauses, words: Words, first: Integer, last: Integer) -> None:
    """Leaves in the words from ``first`` to ``last`` the states in which all clauses hold."""
    for number in range(len(clauses)):
        scope = 0
        for literal in clauses[number]:
            if literal >= 0:
                scope |= ground.scopes[literal >> 1]
        for at in range(ground.starts[scope], ground.starts[scope + 1]):
            place = ground.places[at]
            for word in range(first, last):
                if words[word] != _ZERO:
                    held = _ZERO
                    for literal in clauses[number]:
                        if literal >= 0:
                            plane = truths[ground.rows[literal >> 1, place], word]
                            held |= ~plane if literal & 1 else plane
                    words[word] &= held


@native
def _copy(clause: Clauses, target: Clauses) -> None:
    for place in range(WIDTH):
        target[place] = clause[place]


@native
def _pairs(truths: Words, few: Words, ground: Ground, literals: Clauses, place: Integer, pairs: Flags, clause: Clauses) -> None:
    clause[0] = first = literals[place]
    for other in range(place + 1, len(literals)):
        clause[1] = second = literals[other]
        if first // 2 != second // 2 and _holds(few, ground, clause) and _holds(truths, ground, clause):
            pairs[first, second] = pairs[second, first] = True


@native
def _triples(
    truths: Words,
    few: Words,
    ground: Ground,
    pairs: Flags,
    literals: Clauses,
    plain: Integer,
    place: Integer,
    buffer: Clauses,
    clause: Clauses,
) -> int:
    """Writes the clauses of three literals, the first at a place and only the last not plain, that hold and no shorter does."""
    count = 0
    clause[0] = first = literals[place]
    for middle in range(place + 1, plain):
        clause[1] = second = literals[middle]
        if second // 2 == first // 2 or pairs[first, second]:
            continue
        for last in range(middle + 1, len(literals)):
            clause[2] = third = literals[last]
            if third // 2 == second // 2 or pairs[first, third] or pairs[second, third]:
                continue
            if _holds(few, ground, clause) and _holds(truths, ground, clause):
                if count < len(buffer):
                    _copy(clause, buffer[count])
                count += 1
    return count


@native
def _quadruples(
    truths: Words,
    few: Words,
    ground: Ground,
    pairs: Flags,
    premises: Clauses,
    conclusion: Integer,
    buffer: Clauses,
    clause: Clauses,
    part: Clauses,
) -> int:
    """Writes the clauses of a conclusion and three premises that hold and no shorter one does."""
    count = 0
    for one in range(len(premises)):
        if pairs[conclusion, premises[one]] or premises[one] // 2 == conclusion // 2:
            continue
        for two in range(one + 1, len(premises)):
            if pairs[premises[one], premises[two]] or pairs[conclusion, premises[two]]:
                continue
            if premises[two] // 2 == conclusion // 2 or premises[two] // 2 == premises[one] // 2:
                continue
            for three in range(two + 1, len(premises)):
                if pairs[premises[one], premises[three]] or pairs[premises[two], premises[three]]:
                    continue
                if pairs[conclusion, premises[three]] or premises[three] // 2 == conclusion // 2:
                    continue
                clause[0], clause[1], clause[2], clause[3] = premises[one], premises[two], premises[three], conclusion
                if premises[three] // 2 == premises[two] // 2 or not _holds(few, ground, clause):
                    continue
                if not _holds(truths, ground, clause):
                    continue
                is_least = True
                for left_out in range(4):
                    _copy(clause, part)
                    part[left_out] = -1
                    is_least = is_least and not _holds(truths, ground, part)
                if is_least:
                    if count < len(buffer):
                        _copy(clause, buffer[count])
                    count += 1
    return count


class Judge:
    """Judges clauses of the atoms of a ``Ground`` on all cores, with the same answers whatever their number."""

    def __init__(self, ground: Ground, crew: Crew) -> None:
        self.ground, self._crew = ground, crew

    def holding(self, truths: Words, clauses: Clauses) -> Flags:
        """Which of the clauses hold in all states."""
        held = np.zeros(len(clauses), dtype=np.bool_)
        self._shared(len(clauses), lambda first, last: _each(truths, self.ground, clauses, first, last, held))
        return held

    def satisfying(self, truths: Words, clauses: Clauses) -> Flags:
        """In which of the states all clauses hold, those that fill up the last word included."""
        words = np.full(truths.shape[1], _ALL)
        self._shared(len(words), lambda first, last: _satisfying(truths, self.ground, clauses, words, first, last))
        return np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.bool_)

    def pairs(self, truths: Words, literals: Clauses, tell: Callable[[int, int], None]) -> Flags:
        """Of each two of the literals, none of which holds in all states, whether one of them does; both ways round."""
        count, few = 2 * len(self.ground.scopes), _few(truths)
        pairs = np.zeros((count, count), dtype=np.bool_)
        self._each_of(len(literals), lambda place: _pairs(truths, few, self.ground, literals, place, pairs, _blank()), tell)
        return pairs

    def triples(
        self, truths: Words, pairs: Flags, plain: Clauses, others: Clauses, tell: Callable[[int, int], None]
    ) -> Clauses:
        """The clauses of three plain literals, or of two and another one, that hold and of which no two literals do."""
        literals, few = np.concatenate([plain, others]), _few(truths)
        return self._gathered(
            len(plain),
            lambda place, buffer: _triples(truths, few, self.ground, pairs, literals, len(plain), place, buffer, _blank()),
            tell,
        )

    def quadruples(
        self, truths: Words, pairs: Flags, premises: Clauses, conclusions: Clauses, tell: Callable[[int, int], None]
    ) -> Clauses:
        """The clauses of three premises and a conclusion that hold and of which no three literals do."""
        few = _few(truths)
        return self._gathered(
            len(conclusions),
            lambda place, buffer: _quadruples(
                truths, few, self.ground, pairs, premises, conclusions[place], buffer, _blank(), _blank()
            ),
            tell,
        )

    def _gathered(self, count: int, write: Callable[[int, Clauses], int], tell: Callable[[int, int], None]) -> Clauses:
        clauses: dict[int, Clauses] = {}

        def find(place: int) -> None:
            buffer = np.empty((1 << 12, WIDTH), dtype=np.int64)
            while (written := write(place, buffer)) > len(buffer):
                buffer = np.empty((written, WIDTH), dtype=np.int64)
            clauses[place] = buffer[:written].copy()

        self._each_of(count, find, tell)
        return np.concatenate([np.empty((0, WIDTH), dtype=np.int64), *(clauses[place] for place in sorted(clauses))])

    def _each_of(self, count: int, do: Callable[[int], None], tell: Callable[[int, int], None]) -> None:
        """Does something for each number below ``count``; what a worker does next is no matter for the result."""
        todo, done = deque(range(count)), list[int]()

        def work(_: int) -> None:
            with suppress(IndexError):
                while True:
                    do(todo.popleft())
                    done.append(0)

        self._crew.run(work, lambda: tell(len(done), count), todo.clear)

    def _shared(self, count: int, do: Callable[[int, int], None]) -> None:
        edges = [count * part // self._crew.size for part in range(self._crew.size + 1)]
        self._crew.run(lambda worker: do(edges[worker], edges[worker + 1]))


def _blank() -> Clauses:
    """A clause of no literals, as room for a loop."""
    return np.full(WIDTH, -1, dtype=np.int64)


def _few(truths: Words) -> Words:
    """The truths in some of the states, which the caches of a processor can hold: most clauses fail in one of them."""
    return np.ascontiguousarray(truths[:, :_FEW])
