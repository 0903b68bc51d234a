"""How likely a further walk is to visit a state that none has visited: a bound that holds with stated confidence.

The first four fifths of the walks are looked at state by state, and so is each of the others. Whether one of these visits a
state that none of the first did is a trial of its own, independent of the others, so their count is binomial. The bound is that
of Clopper and Pearson (1934), which holds for any number of trials. With more walks behind it a further walk is less likely to
visit a new state, so what holds beyond some of the walks holds beyond all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, addresses
from fencepost.model.kernel.walks.course import Sample, Sought, Starts, Strategy, course_of
from fencepost.model.kernel.walks.walking import NO_TRAIL, SAMPLED, Walker, walk_all

CONFIDENCE = 0.99
"""The share of runs, at least, whose bound holds."""

VISITS = 1 << 21
"""Visits of states that are looked at, at most: they take 16 MiB, and half a second."""

_TRIALS = 5
"""One walk in so many is a trial."""


@dataclass(frozen=True)
class Beyond:
    """What the last of some walks visited beyond the first: how many ``trials`` they were, how many of these visited something
    ``new``, and how many states the first had visited (``known``)."""

    trials: int
    new: int
    known: int

    @property
    def at_most(self) -> float:
        """The probability, at most, that a further walk visits a state that none has visited."""
        return upper_bound(self.new, self.trials, CONFIDENCE)


class Visits:
    """The states that some walks visit, by hashes of 64 bits."""

    def __init__(self, kernel: Kernel, *, seed: int, steps: int, strategy: Strategy) -> None:
        self._program, sample = Program.of(kernel).choosing(kernel).observing(kernel), Sample()
        sample.bits = 0
        self._finds, self._starts, self._steps = Sought.of(kernel, (), (), None), Starts.of(kernel, self._program), steps
        self._course = course_of(self._starts, seed, steps, strategy, sample, self._finds)

    def of(self, first: int, end: int) -> Words:
        """One hash for each visit of the walks with numbers from ``first`` up to ``end``."""
        room = (end - first) * (self._steps + 1)
        walker = Walker.of(self._program, self._finds.rows, room)
        walk_all(self._program, self._course, first, end, room, Walker(*addresses(walker)), NO_TRAIL)
        hashes: Words = walker.sample[: walker.counters[SAMPLED]]
        return hashes


def beyond(kernel: Kernel, *, seed: int, count: int, steps: int, strategy: Strategy) -> Beyond | None:
    """Holds the last of the walks against those before. None for fewer than five walks, or walks of more than VISITS steps."""
    walks = min(count, VISITS // (steps + 1))
    trials = walks // _TRIALS
    if not trials:
        return None
    visits = Visits(kernel, seed=seed, steps=steps, strategy=strategy)
    known = np.unique(visits.of(0, walks - trials))
    new = sum(has_others(visits.of(walk, walk + 1), known) for walk in range(walks - trials, walks))
    return Beyond(trials, new, len(known))


def has_others(visits: Words, known: Words) -> bool:
    """Whether some of the visits are to states that are not among those known, which are in order."""
    places = np.minimum(np.searchsorted(known, visits), len(known) - 1)
    return bool((known[places] != visits).any())


def upper_bound(successes: int, trials: int, confidence: float) -> float:
    """The largest probability with which that few successes, or fewer, are not rarer than the confidence leaves room for."""
    if successes == trials:
        return 1.0
    low, high = successes / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(successes, trials, middle) > 1 - confidence else (low, middle)
    return high


def _at_most(successes: int, trials: int, chance: float) -> float:
    """The probability of so many successes or fewer."""
    if not 0 < chance < 1:
        return float(chance <= 0)
    yes, no, every = math.log(chance), math.log1p(-chance), math.lgamma(trials + 1)

    def exactly(count: int) -> float:
        orders = every - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
        return math.exp(orders + count * yes + (trials - count) * no)

    return min(1.0, math.fsum(map(exactly, range(successes + 1))))
