"""The transitions of a search, recorded while it makes them: what must come about is judged by them, without another search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel.compiler.packing import Flags, Integers, Places, Words
from fencepost.model.kernel.compiler.program import Program, addresses
from fencepost.model.kernel.search.store import zeros

Actions = npt.NDArray[np.uint16]
"""The numbers of actions."""

COUNT_BITS = 16
"""Bits of a row that say how many transitions there are; those above say where the first one is."""

MOST_ACTIONS = (1 << COUNT_BITS) - 1
"""Actions of which a row can have one each."""

BYTES = 6
"""What a transition takes: four for the state that it leads to, and two for the number of the action."""


@dataclass(frozen=True)
class Moves:
    """The transitions of states that have numbers: where the row of each begins and how long it is (``rows``), and of each
    transition, by rising action, the number of the state that it leads to (``targets``) and that of its action (``actions``).

    ``observed`` has the bit set of the kernel's observed formulas that hold in a state, one state in each row. A number without
    a state has no transition, and nothing holds there.
    """

    rows: Words
    targets: Places
    actions: Actions
    observed: Words

    @property
    def first(self) -> Integers:
        """Of each state, which transition is its first."""
        return (self.rows >> np.uint64(COUNT_BITS)).astype(np.int64)

    @property
    def counts(self) -> Integers:
        """How many transitions each state has."""
        return (self.rows & np.uint64(MOST_ACTIONS)).astype(np.int64)

    def holds(self, formula: int) -> Flags:
        """For each number, whether the kernel's observed formula of that number holds in its state."""
        return holding(self.observed, formula)


def holding(observed: Words, formula: int) -> Flags:
    """Of bit sets of formulas, one in each row, which have that formula."""
    return np.asarray(observed[:, formula // 64] & np.uint64(1) << np.uint64(formula % 64) != 0)


class Record(NamedTuple):
    """Where the loops write transitions, as addresses: the rows and what is observed, by the place of a state in the array; of
    each transition the place that it leads to, and its action; for how many places and transitions there is room, and the
    shared counter of transitions. Where ``rows`` is 0, nothing is recorded."""

    rows: int
    observed: int
    targets: int
    actions: int
    places: int
    room: int
    taken: int


NOTHING_RECORDED = Record(0, 0, 0, 0, 0, 0, 0)


class Recorded:
    """The transitions that a search has recorded, whose states are numbered by their place in the array.

    There is room for so many ``places`` and transitions; none of the machine's memory is taken before it is written to.
    """

    def __init__(self, program: Program, places: int, room: int) -> None:
        self._width, self._taken = program.observe_words, np.zeros(1, dtype=np.int64)
        self._rows, self._observed, targets, actions = (
            zeros(words, large_pages=False) for words in (places, places * self._width, -(-room // 2), -(-room // 4))
        )
        self._targets, self._actions = targets.view(np.int32), actions.view(np.uint16)
        rows, observed, its_targets, its_actions = addresses((self._rows, self._observed, self._targets, self._actions))
        self.record = Record(rows, observed, its_targets, its_actions, places, room, self._taken.ctypes.data)

    def is_whole(self, places: int) -> bool:
        """Whether there was room for the transitions of all states at the first places."""
        return int(self._taken[0]) <= self.record.room and places <= self.record.places

    def give_back(self) -> None:
        """The machine may have the memory, once nobody has moves of it; the record is no longer whole."""
        nothing = np.zeros(0, dtype=np.uint64)
        self._rows, self._observed = nothing, nothing
        self._targets, self._actions = nothing.view(np.int32), nothing.view(np.uint16)
        self.record = NOTHING_RECORDED

    def moves(self, places: int) -> Moves:
        """The transitions of the states at the first places."""
        observed = self._observed[: places * self._width].reshape(places, self._width)
        count = int(self._taken[0])
        return Moves(self._rows[:places], self._targets[:count], self._actions[:count], observed)


def bytes_recorded(states: int, transitions: int, observe_words: int) -> int:
    """What the record of so many takes."""
    return 8 * states * (1 + observe_words) + BYTES * transitions
