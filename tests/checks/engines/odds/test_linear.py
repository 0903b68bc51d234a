"""Markov chains: against exact fractions, with rates over eighteen orders of magnitude, and against SciPy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import spsolve

from fencepost.checks.engines.odds import linear
from fencepost.checks.engines.odds.linear import Chain, StiffError

Edges = dict[tuple[int, int], int]
"""Rates as powers of ten, by where a transition leads from and to."""

SIZE = 6
EDGES = st.dictionaries(st.tuples(st.integers(0, SIZE - 2), st.integers(0, SIZE - 1)), st.integers(-9, 9), max_size=18)


def chain_of(edges: Edges) -> tuple[Chain, np.ndarray]:
    """A chain, and the rates of its transitions in their order."""
    pairs = sorted(edges)
    rows = np.searchsorted([source for source, _ in pairs], np.arange(SIZE + 1)).astype(np.int64)
    return Chain.of(rows, np.array([target for _, target in pairs], np.int32)), np.array([10.0 ** edges[p] for p in pairs])


def solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """A system of linear equations by Gauss, in fractions."""
    size, rows = len(right), [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = next(j for j in range(i, size) if rows[j][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(size):
            if j != i and rows[j][i]:
                by = rows[j][i] / rows[i][i]
                rows[j] = [x - by * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def leads_to(edges: Edges, goal: int) -> set[int]:
    """The states from which the goal can be reached."""
    found = {goal}
    while new := {source for source, target in edges if target in found} - found:
        found |= new
    return found


@settings(max_examples=50)
@given(EDGES)
def test_probabilities_are_those_of_fractions(edges: Edges) -> None:
    """The last state is the goal; where it cannot be reached from, the probability is 0."""
    goal, (chain, rates) = SIZE - 1, chain_of(edges)
    able = sorted(leads_to(edges, goal) - {goal})
    exact = {s: Fraction(0) for s in range(SIZE)} | {goal: Fraction(1)}
    rate = {pair: Fraction(10) ** power for pair, power in edges.items() if pair[0] != pair[1]}
    if able:
        matrix = [[Fraction(0)] * len(able) for _ in able]
        right = [Fraction(0)] * len(able)
        for (source, target), r in rate.items():
            if source in able:
                i = able.index(source)
                matrix[i][i] += r
                if target in able:
                    matrix[i][able.index(target)] -= r
                right[i] += r if target == goal else 0
        exact |= dict(zip(able, solved(matrix, right), strict=True))
    found = chain.reaching(rates, np.array([*[-1.0] * goal, 1.0]))
    assert np.allclose(found, [float(exact[s]) for s in range(SIZE)], rtol=1e-12, atol=0)


@settings(max_examples=50)
@given(EDGES, st.lists(st.integers(-9, 9), min_size=SIZE, max_size=SIZE))
def test_mean_times_are_those_of_fractions(edges: Edges, powers: list[int]) -> None:
    """Everything leaks somewhere, and one flows in at the first state."""
    chain, rates = chain_of(edges)
    leak = [Fraction(10) ** power for power in powers]
    matrix = [[Fraction(0)] * SIZE for _ in range(SIZE)]
    for state in range(SIZE):
        matrix[state][state] += leak[state]
    for (source, target), power in edges.items():
        if source != target:
            matrix[source][source] += Fraction(10) ** power
            matrix[target][source] -= Fraction(10) ** power
    exact = solved(matrix, [Fraction(1), *[Fraction(0)] * (SIZE - 1)])
    found = chain.staying(rates, np.array([float(x) for x in leak]), np.array([1.0, *[0.0] * (SIZE - 1)]))
    assert np.allclose(found, [float(x) for x in exact], rtol=1e-12, atol=0)


def test_a_larger_chain_agrees_with_scipy() -> None:
    """Three hundred states, each with a few neighbours ahead and some behind, so that most are one component."""
    size, generator = 300, np.random.default_rng(5)
    pairs = {(s, int(t)) for s in range(size - 2) for t in generator.integers(max(0, s - 20), min(size, s + 25), 4) if t != s}
    ordered = sorted(pairs | {(s, s + 1) for s in range(size - 2)} | {(s, size - 1) for s in range(0, size - 2, 50)})
    rates = generator.uniform(0.1, 10, len(ordered))
    rows = np.searchsorted([s for s, _ in ordered], np.arange(size + 1)).astype(np.int64)
    chain = Chain.of(rows, np.array([t for _, t in ordered], np.int32))
    found = chain.reaching(rates, np.array([*[-1.0] * (size - 2), 0.0, 1.0]))
    flow = csr_matrix((rates, (np.array([s for s, _ in ordered]), np.array([t for _, t in ordered]))), (size, size))
    whole = np.maximum(np.asarray(flow.sum(axis=1)).ravel(), 1e-300)
    steps = csr_matrix(flow / whole[:, None])[: size - 2]
    dense = spsolve((identity(size - 2, format="csr") - steps[:, : size - 2]).tocsc(), steps[:, size - 1].toarray().ravel())
    assert int(np.diff(chain.order.begins).max()) > 250
    assert np.allclose(found[: size - 2], dense, rtol=1e-10)


def test_permuted_states_have_the_same_answers() -> None:
    edges: Edges = {(0, 1): 0, (1, 2): -3, (2, 1): 5, (2, 3): -7, (3, 0): 2, (1, 5): -6, (3, 4): 0}
    chain, rates = chain_of(edges)
    found = chain.reaching(rates, np.array([*[-1.0] * 5, 1.0]))
    swapped = [3, 1, 0, 2, 4, 5]
    other, others = chain_of({(swapped[s], swapped[t]): power for (s, t), power in edges.items()})
    assert np.allclose(other.reaching(others, np.array([*[-1.0] * 5, 1.0]))[swapped], found, rtol=1e-14, atol=0)


def test_a_component_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "MOST", 2)
    with pytest.raises(StiffError, match="3 states lead to each other, and at most 2 can be solved exactly"):
        chain_of({(0, 1): 0, (1, 2): 0, (2, 0): 0})
