"""Clauses hold where plain Python says that they do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.clause_tables.clauses import WIDTH, Ground, Judge
from fencepost.model.kernel.clause_tables.truths import followers, truths, unique
from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.search.search import search
from fencepost.properties.protocols import PROTOCOLS

STATES = 70
CHOICES = [(b, e) for b in range(2) for e in range(3)]
SCOPES = [0, 1, 2, 3, 3]  # of no member, of a b, of an e, of both


@pytest.fixture
def atoms() -> np.ndarray:
    """Whether each atom holds for each choice of members in each state; mostly so, that clauses do."""
    chance = np.random.default_rng(3)
    drawn = chance.random((len(SCOPES), 2, 3, STATES)) < 0.9
    for atom, scope in enumerate(SCOPES):
        drawn[atom] = drawn[atom][[0, 1] if scope & 1 else [0, 0]][:, [0, 1, 2] if scope & 2 else [0, 0, 0]]
    return drawn


def _planes(atoms: np.ndarray) -> tuple[np.ndarray, Ground]:
    flat = atoms.reshape(-1, STATES)
    padded = np.concatenate([flat, np.repeat(flat[:, :1], -STATES % 64, axis=1)], axis=1)
    words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    rows = [[6 * atom + place for place in range(6)] for atom in range(len(SCOPES))]
    return np.ascontiguousarray(words), Ground.of(rows, SCOPES, CHOICES)


def _holds(atoms: np.ndarray, clause: tuple[int, ...]) -> bool:
    each = [~atoms[literal >> 1] if literal & 1 else atoms[literal >> 1] for literal in clause]
    return bool(np.logical_or.reduce(each).all())


def _least(atoms: np.ndarray, size: int) -> set[tuple[int, ...]]:
    literals = range(2 * len(SCOPES))
    clauses = [c for c in itertools.combinations(literals, size) if len({n >> 1 for n in c}) == size]
    shorter = [part for length in range(1, size) for part in _least(atoms, length)]
    return {c for c in clauses if _holds(atoms, c) and not any(set(part) <= set(c) for part in shorter)}


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 2])
def test_the_clauses_that_hold_are_found(atoms: np.ndarray, workers: int) -> None:
    words, ground = _planes(atoms)
    every = np.arange(2 * len(SCOPES))
    with Crew(workers) as crew:
        judge = Judge(ground, crew)
        rows = np.full((len(every), WIDTH), -1)
        rows[:, 0] = every
        alone = judge.holding(words, rows)
        assert {(int(n),) for n in every[alone]} == _least(atoms, 1)
        usable = every[~alone]
        pairs = judge.pairs(words, usable, lambda done, of: None)
        assert {(int(a), int(b)) for a, b in np.argwhere(np.triu(pairs))} == _least(atoms, 2)
        none = np.zeros(0, dtype=np.int64)
        three = judge.triples(words, pairs, usable, none, lambda done, of: None)
        assert [tuple(c) for c in three[:, :3].tolist()] == sorted(_least(atoms, 3))
        satisfying = judge.satisfying(words, three)[:STATES]
    assert satisfying.all()
    assert len(three)


def test_the_states_in_which_clauses_hold_are_found(atoms: np.ndarray) -> None:
    words, ground = _planes(atoms)
    clauses = np.array([[0, 4, -1, -1], [1, 6, 9, -1], [2, 5, 8, 7]])
    with Crew(2) as crew:
        flags = Judge(ground, crew).satisfying(words, clauses)[:STATES]
    each = [[~atoms[n >> 1] if n & 1 else atoms[n >> 1] for n in clause if n >= 0] for clause in clauses.tolist()]
    expected = np.logical_and.reduce([np.logical_or.reduce(parts).all(axis=(0, 1)) for parts in each])
    assert flags.tolist() == expected.tolist()
    assert 0 < flags.sum() < STATES


def test_truths_are_what_the_kernel_observes_and_followers_what_it_does() -> None:
    protocol = PROTOCOLS["ownership"].build({"releases": 1})
    kernel = Kernel(protocol, [action.guard for action in protocol.actions])
    states = unique(np.concatenate(list(search(kernel).states())))
    bits = np.unpackbits(truths(kernel, states).view(np.uint8), axis=1, bitorder="little")
    for place, state in enumerate(states):
        assert np.flatnonzero(bits[:, place]).tolist() == kernel.observe(state)
    after = unique(np.stack([kernel.apply(s, a) for s in states for a in kernel.enabled(s)]))
    assert followers(kernel, states).tolist() == after.tolist()
