"""Linear systems of Markov chains, solved without a subtraction, so that the smallest answers keep their digits.

Strongly connected components are taken one after the other. Within one, states are eliminated as Grassmann, Taksar and Heyman
do it (Operations Research 33, 1985): what is eliminated hands its rates on, and every term is positive. Most components of a
protocol are single states, because faults use up budgets and messages are numbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.model.counts import count_of
from fencepost.model.kernel.compiler.loops import Integer, native
from fencepost.model.kernel.compiler.packing import Integers, Places

Floats = npt.NDArray[np.float64]
MOST = 2_048
"""States of the largest component that is eliminated: a square of them takes 32 MB."""


class StiffError(Exception):
    """A component of a chain is too large to be eliminated."""


class Sparse(NamedTuple):
    """The transitions of each state in a row: where they lead, and their rates."""

    rows: Integers
    targets: Places
    rates: Floats


class Order(NamedTuple):
    """The states by components, those that others lead to first; where each component begins; of each state its place in it."""

    states: Places
    begins: Integers
    place: Places
    component: Places


@dataclass(frozen=True)
class Chain:
    """A chain whose rates may change, and its components with it all transitions that it can have."""

    rows: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int32]
    order: Order

    @classmethod
    def of(cls, rows: npt.NDArray[np.int64], targets: npt.NDArray[np.int32]) -> Chain:
        """The chain with these transitions. StiffError if a component has more than ``MOST`` states."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        states = len(rows) - 1
        matrix = csr_matrix((np.ones(len(targets), np.int8), targets, rows), (states, states))
        count, labels = connected_components(matrix, connection="strong")
        labels = labels.astype(np.int32)
        source = np.repeat(np.arange(states, dtype=np.int32), np.diff(rows))
        if len(targets) and np.any(labels[targets] > labels[source]):
            raise AssertionError("components do not come in the order of what they lead to")
        ordered = np.argsort(labels, kind="stable").astype(np.int32)
        begins = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(labels, minlength=count), out=begins[1:])
        if (largest := int(np.diff(begins).max(initial=0))) > MOST:
            raise StiffError(f"{count_of(largest, 'state')} lead to each other, and at most {MOST:,} can be solved exactly")
        place = np.empty(states, np.int32)
        place[ordered] = (np.arange(states) - begins[labels[ordered]]).astype(np.int32)
        return cls(rows, targets, Order(ordered, begins, place, labels))

    def reaching(self, rates: Floats, fixed: Floats) -> Floats:
        """The probability, from each state, of the goal that ``fixed`` describes: where that is not negative it is given."""
        reached = np.zeros(len(self.rows) - 1)
        _reaching(Sparse(self.rows, self.targets, rates), self.order, fixed, reached, self._square())
        return reached

    def staying(self, flows: Floats, leaks: Floats, inflow: Floats) -> Floats:
        """The mean time in each state for what flows in at these rates: it flows on by ``flows``, and leaves by ``leaks``."""
        times = np.zeros(len(self.rows) - 1)
        _staying(Sparse(self.rows, self.targets, flows), self.order, leaks, inflow.copy(), times, self._square())
        return times

    def _square(self) -> Floats:
        largest = int(np.diff(self.order.begins).max(initial=0))
        return np.zeros((largest, largest + 2))


@native
def _gathered(sparse: Sparse, order: Order, component: Integer, square: Floats) -> None:
    """Writes the rates between the states of a component to the square, and what leaves each of them behind it."""
    first, last = order.begins[component], order.begins[component + 1]
    size = last - first
    for i in range(size):
        for j in range(size + 2):
            square[i, j] = 0.0
    for i in range(size):
        state = order.states[first + i]
        for edge in range(sparse.rows[state], sparse.rows[state + 1]):
            target = sparse.targets[edge]
            if order.component[target] != component:
                square[i, size] += sparse.rates[edge]
            elif target != state:
                square[i, order.place[target]] += sparse.rates[edge]


@native
def _eliminated(square: Floats, size: Integer) -> None:
    """Eliminates the states from the last on. Of each, the square then has its rates to those before it, and on the diagonal
    their sum with what leaves."""
    for n in range(size - 1, -1, -1):
        whole = square[n, size]
        for j in range(n):
            whole += square[n, j]
        square[n, n] = whole
        if whole > 0.0:
            for i in range(n):
                share = square[i, n] / whole
                if share > 0.0:
                    for j in range(n):
                        if j != i:
                            square[i, j] += share * square[n, j]
                    square[i, size] += share * square[n, size]


@native
def _reaching(sparse: Sparse, order: Order, fixed: Floats, reached: Floats, square: Floats) -> None:
    """Solves each component, from what it leads to: a state reaches the goal as its successors do, by their rates."""
    for component in range(len(order.begins) - 1):
        first, size = order.begins[component], order.begins[component + 1] - order.begins[component]
        if size == 1:
            state = order.states[first]
            whole = value = 0.0
            for edge in range(sparse.rows[state], sparse.rows[state + 1]):
                target = sparse.targets[edge]
                if target != state:
                    whole += sparse.rates[edge]
                    value += sparse.rates[edge] * reached[target]
            reached[state] = fixed[state] if fixed[state] >= 0.0 else value / whole if whole > 0.0 else 0.0
            continue
        _gathered(sparse, order, component, square)
        for i in range(size):  # the last column: what leaves, times how it reaches the goal
            state = order.states[first + i]
            if fixed[state] >= 0.0:
                for j in range(size):
                    square[i, j] = 0.0
                square[i, size], square[i, size + 1] = 1.0, fixed[state]
            else:
                for edge in range(sparse.rows[state], sparse.rows[state + 1]):
                    target = sparse.targets[edge]
                    if order.component[target] != component:
                        square[i, size + 1] += sparse.rates[edge] * reached[target]
        _eliminated(square, size)
        for n in range(size - 1, -1, -1):
            for i in range(n):
                if square[i, n] > 0.0:
                    square[i, size + 1] += square[i, n] / square[n, n] * square[n, size + 1]
        for n in range(size):
            value = square[n, size + 1]
            for j in range(n):
                value += square[n, j] * reached[order.states[first + j]]
            reached[order.states[first + n]] = value / square[n, n] if square[n, n] > 0.0 else 0.0


@native
def _staying(sparse: Sparse, order: Order, leaks: Floats, inflow: Floats, times: Floats, square: Floats) -> None:
    """Solves each component, from those that lead to it: what flows in stays as long as nothing takes it away."""
    for component in range(len(order.begins) - 2, -1, -1):
        first, size = order.begins[component], order.begins[component + 1] - order.begins[component]
        if size == 1:
            state = order.states[first]
            whole = leaks[state]
            for edge in range(sparse.rows[state], sparse.rows[state + 1]):
                if sparse.targets[edge] != state:
                    whole += sparse.rates[edge]
            times[state] = inflow[state] / whole if whole > 0.0 else 0.0
        else:
            _gathered(sparse, order, component, square)
            for i in range(size):
                state = order.states[first + i]
                square[i, size] += leaks[state]
                square[i, size + 1] = inflow[state]
            _eliminated(square, size)
            for n in range(size - 1, -1, -1):
                for j in range(n):
                    if square[n, j] > 0.0:
                        square[j, size + 1] += square[n, j] / square[n, n] * square[n, size + 1]
            for n in range(size):
                value = square[n, size + 1]
                for i in range(n):
                    value += square[i, n] * times[order.states[first + i]]
                times[order.states[first + n]] = value / square[n, n] if square[n, n] > 0.0 else 0.0
        for i in range(size):
            state = order.states[first + i]
            for edge in range(sparse.rows[state], sparse.rows[state + 1]):
                target = sparse.targets[edge]
                if order.component[target] != component:
                    inflow[target] += times[state] * sparse.rates[edge]
