"""What some of the actions reach from a set of states, beside plain Python on the same kernel."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.paths import Reach, Reached, TooManyError, holding

LIMIT = 1_000_000


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel(ledger(entries=1))


def rows(reached: Reached) -> set[tuple[int, ...]]:
    return {tuple(map(int, row)) for row in reached.states}


def by_hand(kernel: Kernel, states: set[tuple[int, ...]], step: set[int], silent: set[int], stay: bool) -> set[tuple[int, ...]]:
    def onward(state: tuple[int, ...], allowed: set[int]) -> set[tuple[int, ...]]:
        packed = np.array(state, dtype=np.uint64)
        return {tuple(map(int, kernel.apply(packed, n))) for n in kernel.enabled(packed) if n in allowed}

    closure = set().union(*(onward(state, step) for state in states)) | (states if stay else set())
    todo = list(closure)
    while todo:
        new = onward(todo.pop(), silent) - closure
        closure |= new
        todo += new
    return closure


def test_everything_is_reached_by_all_actions(kernel: Kernel) -> None:
    reach = Reach(kernel, LIMIT)
    reached = reach.onward(kernel.initial(), reach.allowing(()), reach.allowing(range(len(kernel.actions))), stay=True)
    assert len(reached.states) == len(rows(reached)) == 4790
    assert reached.origins.roots == 1


@pytest.mark.parametrize("seed", range(6))
def test_a_step_and_what_follows_it(kernel: Kernel, seed: int) -> None:
    choose = random.Random(seed)
    reach, everything = Reach(kernel, LIMIT), range(len(kernel.actions))
    states = kernel.initial()
    for _ in range(3):
        step, silent = (set(choose.sample(everything, choose.randint(1, 12))) for _ in range(2))
        stay = choose.random() < 0.7
        reached = reach.onward(states, reach.allowing(step), reach.allowing(silent), stay=stay)
        before = {tuple(map(int, row)) for row in states}
        assert rows(reached) == by_hand(kernel, before, step, silent, stay)
        for place in range(0, len(reached.states), 7):
            parent, action = reached.origins.of(place)
            source = states[parent] if place < reached.origins.roots else reached.states[parent]
            after = source if action is None else kernel.apply(source, action)
            assert (after == reached.states[place]).all()
            assert action is None or action in (step if place < reached.origins.roots else silent)
        if len(reached.states):
            states = reached.states


def test_the_table_grows() -> None:
    """Nothing is lost when the set outgrows its first table, and the limit is kept to."""
    kernel = Kernel(ledger(entries=1, recoverers=2))
    reach = Reach(kernel, LIMIT)
    everything = reach.allowing(range(len(kernel.actions)))
    reached = reach.onward(kernel.initial(), reach.allowing(()), everything, stay=True)
    again = reach.onward(reached.states, reach.allowing(()), everything, stay=True)
    assert len(reached.states) == len(again.states) == 91_030
    assert again.origins.roots == len(again.states)
    small = Reach(kernel, 5000)
    with pytest.raises(TooManyError, match="more than 5,000 states"):
        small.onward(kernel.initial(), small.allowing(()), everything, stay=True)


def test_a_request_to_stop_is_heard(kernel: Kernel) -> None:
    reach = Reach(kernel, LIMIT, lambda: True)
    with pytest.raises(KeyboardInterrupt):
        reach.onward(kernel.initial(), reach.allowing((0,)), reach.allowing(()))


def test_states_that_hold_what_is_wanted() -> None:
    states = np.array([[0b0101, 7], [0b0110, 7], [0b0101, 8]], dtype=np.uint64)
    assert list(holding(states, [(0, 0b0011, 0b0001)])) == [0, 2]
    assert list(holding(states, [(0, 0b0011, 0b0001), (1, 0xFF, 8)])) == [2]
    assert list(holding(states, [])) == [0, 1, 2]
