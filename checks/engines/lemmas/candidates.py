"""Which clauses are candidates for lemmas: those that hold in the states that were reached, and say something."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fencepost.checks.engines.lemmas.atoms import Atom, Vocabulary
from fencepost.checks.engines.lemmas.table import Table, anywhere
from fencepost.model.kernel.clause_tables.clauses import WIDTH, Clauses, Judge
from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.packing import Words

FREE = 1 << 15
"""States chosen by chance, of any values. A clause that holds in all of them is taken to say nothing."""

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class _Kinds:
    """The atoms of a vocabulary as they are in certain states: literals that always hold, pairs that say that two atoms are the
    same, and atoms from which clauses are made."""

    settled: list[tuple[Atom, bool]]
    same: list[tuple[Atom, Atom, bool]]
    plain: list[Atom]
    counted: list[Atom]


class Candidates:
    """The clauses of a vocabulary's atoms that hold in all of some states, not in any states whatever, and no shorter one does.

    The property is the first atom of the ``table``; if it ``holds`` in all of the states it is the first clause. ``tried`` is
    how many clauses there were to choose from so far.
    """

    def __init__(self, vocabulary: Vocabulary, states: Words, crew: Crew, seed: int, tell: Tell) -> None:
        self._kinds, self._tell = _kinds(vocabulary, states), tell
        settled, same = [atom for atom, _ in self._kinds.settled], [twin for _, twin, _ in self._kinds.same]
        self.table = Table(vocabulary, [*settled, *self._kinds.plain, *self._kinds.counted, *same])
        self._number = {atom: place for place, atom in enumerate(self.table.atoms)}
        self._judge = Judge(self.table.ground, crew)
        self._truths, self._free = self.table.truths(states), self.table.truths(anywhere(vocabulary.protocol, FREE, seed))
        self.holds = (vocabulary.goal, True) in self._kinds.settled
        self.tried = 2 * len(self.table.atoms)
        self._by_length: list[Clauses] = []
        self._pairs = np.zeros((0, 0), dtype=np.bool_)

    def upto(self, literals: int) -> Clauses:
        """Those with up to so many literals; from three on those that count may have one more, as a premise."""
        for make in (self._single, self._double, self._triple)[len(self._by_length) : literals]:
            clauses = np.concatenate(make())
            self._by_length.append(clauses[~self._judge.holding(self._free, clauses)])
        return np.concatenate(self._by_length[:literals])

    def _single(self) -> list[Clauses]:
        return [_clauses([[2 * self._number[atom] + (not holds)] for atom, holds in self._kinds.settled])]

    def _double(self) -> list[Clauses]:
        twins = []
        for atom, twin, alike in self._kinds.same:
            one, other = 2 * self._number[atom], 2 * self._number[twin] + (not alike)
            twins += [[one, other ^ 1], [one ^ 1, other]]
        every = self._literals([*self._kinds.plain, *self._kinds.counted])
        self._pairs = self._judge.pairs(self._truths, every, partial(self._tell, "two literals"))
        self.tried += len(every) ** 2 // 2
        return [_clauses(twins), _clauses(np.argwhere(np.triu(self._pairs)).tolist())]

    def _triple(self) -> list[Clauses]:
        plain, others = self._literals(self._kinds.plain), self._literals(self._kinds.counted)
        premises = np.array([2 * self._number[atom] + 1 for atom in self._kinds.plain if atom.is_mode], dtype=np.int64)
        self.tried += len(plain) ** 3 // 6 + len(plain) ** 2 // 2 * len(others) + len(premises) ** 3 // 6 * len(others)
        truths, pairs = self._truths, self._pairs
        return [
            self._judge.triples(truths, pairs, plain, others, partial(self._tell, "three literals")),
            self._judge.quadruples(truths, pairs, premises, others, partial(self._tell, "three premises")),
        ]

    def _literals(self, atoms: list[Atom]) -> Clauses:
        return np.array([2 * self._number[atom] + sign for atom in atoms for sign in (0, 1)], dtype=np.int64)


def _kinds(vocabulary: Vocabulary, states: Words) -> _Kinds:
    """Sorts the atoms by what they are in the states. Of those that count, and are the same as others, one is enough."""
    kinds = _sorted(Table(vocabulary, vocabulary.plain), states)
    counted = _sorted(Table(vocabulary, vocabulary.counting(kinds.plain)), states)
    settled = [*kinds.settled, *((atom, holds) for atom, holds in counted.settled if atom.counts == 1)]
    return replace(kinds, settled=settled, counted=counted.plain)


def _sorted(table: Table, states: Words) -> _Kinds:
    truths, kinds = table.truths(states), _Kinds([], [], [], [])
    known: dict[bytes, tuple[Atom, bool]] = {}
    for atom, rows in zip(table.atoms, table.ground.rows, strict=True):
        mine = truths[rows]
        if not (~mine).any() or not mine.any():
            kinds.settled.append((atom, bool(mine.any())))
            continue
        twin = known.get(_digest(mine))
        if twin is None:
            known[_digest(mine)], known[_digest(~mine)] = (atom, True), (atom, False)
            kinds.plain.append(atom)
        else:
            kinds.same.append((twin[0], atom, twin[1]))
    return kinds


def _digest(truths: Words) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(truths).tobytes()).digest()


def _clauses(rows: list[list[int]]) -> Clauses:
    clauses = np.full((len(rows), WIDTH), -1, dtype=np.int64)
    for place, row in enumerate(rows):
        clauses[place, : len(row)] = row
    return clauses
