"""Atoms with their formulas for each choice of members, and their truth in many states: reached ones, and others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fencepost.checks.engines.lemmas.atoms import Atom, Vocabulary
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.clause_tables.clauses import Clauses, Ground
from fencepost.model.kernel.clause_tables.truths import truths
from fencepost.model.kernel.compiler.packing import Packing, Words
from fencepost.model.language import Protocol
from fencepost.model.terms.values import Condition


class Table:
    """Some atoms of a vocabulary, by their numbers in it: ``formulas`` are all that they say, ``ground`` says what is where."""

    def __init__(self, vocabulary: Vocabulary, atoms: Sequence[Atom]) -> None:
        self.vocabulary, self.atoms = vocabulary, list(atoms)
        self.formulas: list[Condition] = []
        rows = [self._rows(atom) for atom in self.atoms]
        scopes = [vocabulary.scope(atom) for atom in self.atoms]
        self.ground = Ground.of(rows, scopes, vocabulary.places)

    def _rows(self, atom: Atom) -> list[int]:
        formulas = self.vocabulary.formulas(atom)
        number = {members: len(self.formulas) + place for place, members in enumerate(formulas)}
        self.formulas += formulas.values()
        mine = [self.vocabulary.indices.index(index) for index in atom.scope]
        return [number[tuple(members[i] for i in mine)] for members in self.vocabulary.places]

    @cached_property
    def kernel(self) -> Kernel:
        """The protocol as machine code, which observes the formulas."""
        return Kernel(self.vocabulary.protocol, self.formulas)

    def truths(self, states: Words) -> Words:
        """The truth of each formula in each state."""
        return truths(self.kernel, states)

    def ground_clauses(self, clauses: Clauses) -> list[list[tuple[int, ...]]]:
        """What each clause says of certain members: literals as numbers of formulas, doubled, with one more if negated."""
        rows, starts, places = self.ground.rows.tolist(), self.ground.starts.tolist(), self.ground.places.tolist()
        scopes = self.ground.scopes.tolist()
        ground = []
        for clause in clauses.tolist():
            literals = [literal for literal in clause if literal >= 0]
            scope = 0
            for literal in literals:
                scope |= scopes[literal >> 1]
            chosen = places[starts[scope] : starts[scope + 1]]
            ground.append([tuple(2 * rows[n >> 1][place] + (n & 1) for n in literals) for place in chosen])
        return ground


def anywhere(protocol: Protocol, count: int, seed: int) -> Words:
    """States whose variables have any values of their domains, by chance."""
    nothing = np.zeros((count, Packing(protocol.variables).words), dtype=np.uint64)
    return strays(protocol, nothing, np.random.default_rng(seed))


def strays(protocol: Protocol, states: Words, chance: np.random.Generator, changes: int | None = None) -> Words:
    """The states with so many variables set to values of their domains, by chance; all of them, if None."""
    packing, states_after = Packing(protocol.variables), states.copy()
    chosen = None if changes is None else chance.integers(0, len(protocol.variables), (changes, len(states)))
    for place, variable in enumerate(protocol.variables):
        field = packing.fields[variable.name]
        rows = np.arange(len(states_after)) if chosen is None else np.flatnonzero((chosen == place).any(axis=0))
        values = chance.integers(0, variable.domain.size, len(rows), dtype=np.uint64)
        others = states_after[rows, field.word] & ~np.uint64(field.mask << field.shift)
        states_after[rows, field.word] = others | values << np.uint64(field.shift)
    return states_after
