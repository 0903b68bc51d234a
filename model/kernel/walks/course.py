"""How random walks go: where they start, what they look for, all of it as the native loops see it, and how much is unseen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, addresses, bit_set
from fencepost.model.kernel.walks.walking import HELD, SWARM, UNIFORM, look

_MOST = 1 << 18
"""Sampled states that are kept; with more, every other one is dropped."""


class Sample:
    """Of the states whose hash ends in ``bits`` zeros, how often each was visited, up to twice.

    The states seen exactly once, as a share of all visits, estimate the probability that the next visit is to a state not
    seen before. Every visit to a sampled state counts, so the sample loses nothing but precision. What it holds depends on
    the visits only, not on their order, as long as they come in the same rounds.
    """

    def __init__(self) -> None:
        self.bits = 6
        self.visits = 0
        self._once: Words = np.empty(0, dtype=np.uint64)
        self._often: Words = np.empty(0, dtype=np.uint64)

    @property
    def states(self) -> int:
        """How many different states were sampled."""
        return len(self._once) + len(self._often)

    @property
    def unseen(self) -> float | None:
        """The probability that the next state visited is a new one, as estimated; None if no state was sampled."""
        return min(1.0, (len(self._once) << self.bits) / self.visits) if self.states else None

    def add(self, fingerprints: Sequence[Words], visits: int) -> None:
        """Takes in a round: hashes of the visits to sampled states, and how many visits there were to any state."""
        self.visits += visits
        twice = np.repeat(self._often, 2)
        hashes, counts = np.unique(np.concatenate([self._once, twice, *fingerprints]), return_counts=True)
        self._once, self._often = hashes[counts == 1], hashes[counts > 1]
        while self.states > _MOST:
            self.bits += 1
            mask = np.uint64((1 << self.bits) - 1)
            self._once, self._often = (held[held & mask == 0] for held in (self._once, self._often))


FindKind = Literal["state", "step", "deadlock"]

Strategy = Literal["uniform", "swarm", "held"]
"""How a walk goes on, each time, from where it is.

``uniform``: with any of the enabled actions, all as likely. ``swarm``: the same, but each walk leaves out a random part of the
actions (none, a quarter, half or three quarters) wherever another is enabled. ``held``: walks of even numbers are the uniform
ones; one of odd number puts all actions in a random order, every order as likely, takes the first that is enabled, and draws
another order before one step in six. So an actor runs on for a while or is left alone for a while, as in the schedulers that
change priorities at few random points (PCT: Burckhardt and others, ASPLOS 2010); the uniform half is for what such orders
starve.
"""

_NUMBERS: dict[Strategy, int] = {"uniform": UNIFORM, "swarm": SWARM, "held": HELD}


class Course(NamedTuple):
    """How walks go: the initial states with what is enabled and observed there (addresses, and how many), the seed, the most
    steps, the number of the strategy, the bits of a hash that are zero in the states that are sampled,
    the addresses of the bit sets of formulas that are violations, of states and of steps, the rows of finds for the first of
    the latter and for deadlocks, and the formula of states in which a run may end, or -1 if it may anywhere."""

    initial: int
    initial_masks: int
    initial_observed: int
    initials: int
    seed: int
    steps: int
    strategy: int
    sample_mask: int
    alarm: int
    step_alarm: int
    step_row: int
    deadlock_row: int
    may_end: int


class Starts(NamedTuple):
    """The initial states, and what is enabled and observed in each."""

    states: Words
    masks: Words
    observed: Words

    @classmethod
    def of(cls, kernel: Kernel, program: Program) -> Starts:
        states = kernel.initial()
        masks = np.zeros((len(states), program.enabled_words), dtype=np.uint64)
        observed = np.zeros((len(states), program.observe_words), dtype=np.uint64)
        for row in range(len(states)):
            look(program, *(array[row].ctypes.data for array in (states, masks, observed)))
        return cls(states, masks, observed)


class Sought(NamedTuple):
    """What is a violation: the formulas over states and over steps, as bit sets, where a run may end (-1: anywhere); and in
    which row of a walker's finds those over steps begin and deadlocks are."""

    alarm: Words
    step_alarm: Words
    may_end: int
    step_row: int
    deadlock_row: int

    @classmethod
    def of(cls, kernel: Kernel, alarm: Iterable[int], step_alarm: Iterable[int], may_end: int | None) -> Sought:
        step_row = kernel.formulas["observe"]
        return cls(
            bit_set(alarm, kernel.mask_words["observe"]),
            bit_set(step_alarm, kernel.mask_words["observe_step"]),
            -1 if may_end is None else may_end,
            step_row,
            step_row + kernel.formulas["observe_step"],
        )

    @property
    def rows(self) -> int:
        return self.deadlock_row + 1

    def kind_of(self, row: int) -> tuple[FindKind, int]:
        if row == self.deadlock_row:
            return "deadlock", 0
        return ("state", row) if row < self.step_row else ("step", row - self.step_row)


def course_of(starts: Starts, seed: int, steps: int, strategy: Strategy, sample: Sample, finds: Sought) -> Course:
    """How the walks from these states go, which look for these violations and sample so many states."""
    initial, initial_masks, initial_observed = addresses(starts)
    return Course(
        initial=initial,
        initial_masks=initial_masks,
        initial_observed=initial_observed,
        initials=len(starts.states),
        seed=seed,
        steps=steps,
        strategy=_NUMBERS[strategy],
        sample_mask=(1 << sample.bits) - 1,
        alarm=finds.alarm.ctypes.data,
        step_alarm=finds.step_alarm.ctypes.data,
        step_row=finds.step_row,
        deadlock_row=finds.deadlock_row,
        may_end=finds.may_end,
    )
