"""How often a message is lost, by weighted walks on machine code: for instances whose graph does not fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np

from fencepost.checks.engines.odds.guide import BEGINS, COMES, ENDS
from fencepost.checks.engines.odds.transitions import InstanceError, Lost, kernel_of, rates_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.packing import Floats, Integers, Words
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.walks.law import IN, LEAD, MODES, ROWS, STEP, Bases, Law, Place
from fencepost.model.kernel.walks.weighted import HITS, SCORE, SQUARES, STEPS, walk_weighted
from fencepost.model.language import Protocol
from fencepost.model.odds.clocks import Clock, Kind, shared
from fencepost.model.odds.laws import LAWS
from fencepost.model.odds.numbers import MS_PER_YEAR, Numbers

CHUNK = 1 << 12
"""Walks whose scores are summed on their own: the sums are the same whoever makes them."""
_BIAS, _PLAIN, _EVEN = 0.3, 0.2, 0.5
_MOST_RESTING = 1 << 16
_Z = 1.959964

Factors = Mapping[tuple[int, str], float]
"""By the row of a phase and a mode and the name of an action: by how much a guide raises its rate."""


@dataclass(frozen=True)
class Estimate:
    """Incidents per year, each further message that an incident loses counted, with the half width of the interval of 95 %.

    ``hits`` walks of all had a loss. Equal for the same seed and numbers of walks, whatever the number of workers.
    """

    per_year: float
    half: float
    walks: int
    steps: int
    hits: int
    seconds: float = field(default=0.0, compare=False)

    def scaled(self, times: float) -> Estimate:
        """The same of so many things that are alike."""
        return replace(self, per_year=self.per_year * times, half=self.half * times)


class Sums(NamedTuple):
    """What some walks come to: of their scores the sum and that of the squares; steps; walks with a loss."""

    score: float
    squares: float
    steps: int
    hits: int


class Walks:
    """The weighted walks of an instance: what each number of them comes to."""

    def __init__(
        self,
        p: Protocol,
        numbers: Numbers,
        lost: Lost,
        opens: int,
        *,
        lead: bool = False,
        outages: bool = False,
        repair: float = 0.0,
        factors: Factors | None = None,
    ) -> None:
        """``repair`` is the rate, per ms, at which damage is undone; ``factors`` guide the walks. Raises InstanceError for an
        instance whose traffic does not rest, UnclockedError if it is not known what some action takes."""
        kernel = kernel_of(p, lost, opens)
        self.kernel, actions = kernel, kernel.actions
        clocks, rates = rates_of(actions, numbers)
        kinds = np.array([int(clock.kind) for clock in clocks], np.int64)
        groups = np.array(shared(actions), np.int64)
        groups[kinds == Kind.ENDING] = -1
        shares = np.array([np.count_nonzero(groups == group) > 1 for group in groups])
        weights = np.ones((ROWS, len(rates) + 1))
        weights[:, -1] = _EVEN
        if factors is not None:
            names = [*(action.name for action in actions), BEGINS, ENDS, ENDS]
            for row in range(ROWS):
                weights[row] = [*(factors.get((row, name), 0.0) for name in names), factors.get((row, COMES), _EVEN)]
        traffic = numbers["messages"] / 1000.0
        given = np.array([traffic, repair, _BIAS, 1.0 if factors is None else _PLAIN])
        blocked = np.array([clock.blocked for clock in clocks])
        modes = MODES if outages else 1
        durations = _durations(clocks, groups, numbers)
        self._law = Law(kinds, groups, shares, blocked, rates, weights, given, modes, LEAD if lead else IN, *durations)
        self._bases = _bases(kernel, kinds, groups, rates, opens - lead)
        self._program = Program.of(kernel).choosing(kernel).observing(kernel).stepping(kernel, thorough=True)

    def of(self, seed: int, first: int, end: int, place: Place | None = None) -> Sums:
        """What the walks from number ``first`` up to ``end`` come to."""
        sums = np.zeros(4)
        place = place or Place.of(self._program, self._law)
        walk_weighted(self._program, self._law, self._bases, place, seed, first, end, sums)
        return Sums(float(sums[SCORE]), float(sums[SQUARES]), int(sums[STEPS]), int(sums[HITS]))

    def all(
        self, seed: int, count: int, *, workers: int | None = None, should_stop: Callable[[], bool] = lambda: False
    ) -> list[Sums]:
        """The sums of each chunk of that many walks, on all cores; fewer chunks if it is to stop."""
        chunks: SimpleQueue[tuple[int, int]] = SimpleQueue()
        for number, first in enumerate(range(0, count, CHUNK)):
            chunks.put((number, first))
        done: dict[int, Sums] = {}

        def work(_: int) -> None:
            place = Place.of(self._program, self._law)
            while not should_stop():
                try:
                    number, first = chunks.get_nowait()
                except Empty:
                    return
                done[number] = self.of(seed, first, min(first + CHUNK, count), place)

        with Crew(workers) as crew:
            crew.run(work)
        whole = next(number for number in range(len(done) + 1) if number not in done)
        return [done[number] for number in range(whole)]


def estimate(sums: Sequence[Sums], walks: int, seconds: float = 0.0) -> Estimate:
    """What the sums of chunks come to, added up exactly, so that their order does not matter."""
    score, squares = math.fsum(each.score for each in sums), math.fsum(each.squares for each in sums)
    mean = score / walks
    half = _Z * math.sqrt(max(squares / walks - mean * mean, 0.0) / walks)
    steps, hits = sum(each.steps for each in sums), sum(each.hits for each in sums)
    return Estimate(mean * MS_PER_YEAR, half * MS_PER_YEAR, walks, steps, hits, seconds)


def _durations(clocks: Sequence[Clock], groups: Integers, numbers: Numbers) -> tuple[Integers, Integers, Floats]:
    """The durations that are not exponential, and that of an outage, as a law has them."""
    each, laws, means = np.full(len(clocks) + 3, -1, np.int64), list[int](), list[float]()
    named = {int(group): clock for group, clock in zip(groups, clocks, strict=True) if clock.law != "exponential"}
    for number, (group, clock) in enumerate(sorted(named.items())):
        each[:-3][groups == group] = number
        laws.append(LAWS[clock.law])
        means.append(1.0 / clock.rate)
    outage = numbers.of("outage")
    if outage.law != "exponential":
        each[-2:] = each[:-3][groups == -1] = len(laws)
    return each, np.array([*laws, LAWS[outage.law]], np.int64), np.array([*means, outage.value])


def _bases(kernel: Kernel, kinds: Integers, clocks: Integers, rates: Floats, messages: int) -> Bases:
    """Where the traffic rests when so many messages have come. InstanceError if none comes where the next one should."""
    at: dict[tuple[int, ...], float] = {tuple(map(int, kernel.initial()[0])): 1.0}
    for turn in range(messages + 1):
        rests = _rested(kernel, kinds, clocks, rates, at)
        if turn == messages:
            break
        at = {}
        for state, share in rests.items():
            words = np.array(state, np.uint64)
            arrivals = [action for action in kernel.enabled(words) if kinds[action] == Kind.ARRIVAL]
            if len(arrivals) != 1:
                raise InstanceError(f"no message comes after {turn}: the instance has too few, or does not rest")
            after = tuple(map(int, kernel.apply(words, arrivals[0])))
            at[after] = at.get(after, 0.0) + share
    states = np.array(sorted(rests), np.uint64)
    masks = np.stack([_bits(kernel.enabled(state), kernel.mask_words["enabled"]) for state in states])
    observed = np.stack([_bits(kernel.observe(state), kernel.mask_words["observe"]) for state in states])
    return Bases(states, masks, observed, np.cumsum([rests[tuple(map(int, state))] for state in states]))


def _rested(
    kernel: Kernel,
    kinds: Integers,
    clocks: Integers,
    rates: Floats,
    at: Mapping[tuple[int, ...], float],
) -> dict[tuple[int, ...], float]:
    """Where the steps of the traffic end, with probabilities."""
    under_way, rests, taken = dict(at), dict[tuple[int, ...], float](), 0
    while under_way:
        state = next(iter(under_way))
        share, words = under_way.pop(state), np.array(state, np.uint64)
        steps = [action for action in kernel.enabled(words) if kinds[action] == STEP]
        if not steps:
            rests[state] = rests.get(state, 0.0) + share
            continue
        if (taken := taken + 1) > _MOST_RESTING:
            raise InstanceError("the traffic does not come to rest: an instance for odds rests between messages")
        alike = [sum(clocks[other] == clocks[action] for other in steps) for action in steps]
        speeds = [rates[action] / count for action, count in zip(steps, alike, strict=True)]
        for action, speed in zip(steps, speeds, strict=True):
            after = tuple(map(int, kernel.apply(words, action)))
            under_way[after] = under_way.get(after, 0.0) + share * speed / sum(speeds)
    return rests


def _bits(numbers: Sequence[int], words: int) -> Words:
    mask = np.zeros(words, np.uint64)
    for number in numbers:
        mask[number // 64] |= np.uint64(1) << np.uint64(number % 64)
    return mask
