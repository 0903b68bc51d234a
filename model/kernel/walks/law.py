"""How weighted walks go, as arrays: a law, where cycles begin, the room of a thread, and durations that are not exponential.

A cycle goes from message to message: faults are slow and the traffic is fast, so time is cut at arrivals of messages. Phases:

- PRE: nothing of the traffic is under way.
- LEAD: the message before the one that opens the cycle has come, where that may still be under way.
- IN: the message that opens the cycle has come. ON: so has the next one.
- STIRRED: in IN something slow has happened: a fault, the beginning or the end of an outage. AFTER: so has the next message.

In ON and AFTER nothing slow happens: it belongs to a later cycle. A loss is that of the message that opened the cycle; in
stirred phases also that of an older one. The modes are no outage of the metadata store, during one, after it.

A duration is drawn as it begins, and runs while its action is enabled. While one runs, the walk has a time: the next of the
other events comes after an exponential time, at their rates; if a duration is over before that, it ends. So no duration is
biased, and the weight of a walk stays that of its choices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.loops import Integer, Real, Truth, Word, lowest_bit, native
from fencepost.model.kernel.compiler.packing import Flags, Floats, Integers, Words
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.kernel.walks.walking import GAMMA, mix

PRE, LEAD, IN, ON, STIRRED, AFTER = range(6)
PHASES, MODES = 6, 3
FIRST, ROWS = PHASES * MODES, PHASES * MODES + 1
"""The row of a phase and a mode is the one times MODES and the other; the fault with which a disturbance begins has its own."""
STEP, ARRIVAL, FAULT, ENDING = range(4)
"""What an action is to a cycle: a step of the traffic, an arrival of it, a fault, or what an outage ends with."""


class Law(NamedTuple):
    """How walks go, as arrays.

    Of each action its kind, the number of its clock, whether that has several outcomes, and whether an outage blocks it; the
    ``rates`` of all actions, and behind them of an outage's beginning, of its end, and of its end beside actions that end it;
    ``factors``, by rows, of the rates where a guide chooses, and behind them the share of the disturbances that the message
    meets at once which then comes; and the rates of traffic and of repair, the share of rare choices and that of choices
    without the guide. ``modes`` is 3 if there are outages; ``opens`` the phase to which an arrival leads.

    Durations that are not exponential have a number: ``durations`` has that of each action and of what an outage does, or -1;
    ``laws`` and ``means`` are theirs. The last one is that of an outage.
    """

    kinds: Integers
    clocks: Integers
    shares: Flags
    blocked: Flags
    rates: Floats
    factors: Floats
    numbers: Floats
    modes: int
    opens: int
    durations: Integers
    laws: Integers
    means: Floats


class Bases(NamedTuple):
    """Where cycles begin: states, what is enabled and observed there, and up to which random number each is chosen."""

    states: Words
    masks: Words
    observed: Words
    upto: Floats


class Place(NamedTuple):
    """Room of a thread: two states, what is enabled and observed, the choices that there are, with their rates; and of each
    duration that is not exponential whether it runs, and how much of it is left."""

    states: Words
    mask: Words
    observed: Words
    step_observed: Words
    choices: Integers
    rates: Floats
    rare: Integers
    weight: Floats
    runs: Flags
    left: Floats

    @classmethod
    def of(cls, program: Program, law: Law) -> Place:
        """Room for the states of a program, and for the durations of a law."""
        most = program.actions + 1
        return cls(
            np.zeros((2, program.words), np.uint64),
            np.zeros(program.enabled_words, np.uint64),
            np.zeros(max(program.observe_words, 1), np.uint64),
            np.zeros(max(program.step_words, 1), np.uint64),
            np.zeros(most, np.int64),
            np.zeros(most),
            np.zeros(most, np.int64),
            np.zeros(1),
            np.zeros(len(law.laws), np.bool_),
            np.zeros(len(law.laws)),
        )


EXPONENTIAL, TIMER, CONSTANT, HEAVY = range(4)
STAGES = 16
"""Exponential stages of a timer: one that was exponential itself would be wrong by orders of magnitude beside a short step."""
LONG_ONES, LONG, SHORT = 0.1, 5.5, 0.5
"""Of a heavy tail the share of long durations, and how long those and the others are on average, in units of the mean."""
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@native
def uniform(random: Word) -> Real:
    """A number from 0 to below 1, of 64 random bits."""
    return np.float64(random >> np.uint64(11)) * 1.1102230246251565e-16


@native
def exponential(random: Word) -> Real:
    """A number of the exponential law whose mean is 1, by comparisons alone (von Neumann, 1951): the same on any machine."""
    whole = 0.0
    while True:
        random = mix(random + GAMMA)
        first = last = uniform(random)
        falls = 1
        while True:
            random = mix(random + GAMMA)
            after = uniform(random)
            if after >= last:
                break
            last, falls = after, falls + 1
        if falls % 2 == 1:
            return whole + first
        whole += 1.0


@native
def drawn(law: Integer, mean: Real, random: Word) -> Real:
    """A duration of a law."""
    if law == CONSTANT:
        return mean
    if law == TIMER:
        whole = 0.0
        for _ in range(STAGES):
            random = mix(random ^ GAMMA)
            whole += exponential(random)
        return mean * whole / STAGES
    if law == HEAVY:
        mean *= SHORT if uniform(mix(random ^ GAMMA)) >= LONG_ONES else LONG
    return mean * exponential(random)


@native
def run(program: Program, law: Law, place: Place, away: Truth, random: Word) -> None:
    """Begins the durations that run now and did not before, and ends those that run no more. The last one is that of an outage,
    which runs while the metadata store is away."""
    outage = len(law.laws) - 1
    for each in range(outage):
        place.runs[each] = False
    place.runs[outage] = away and law.laws[outage] != EXPONENTIAL
    if outage > 0:
        for word in range(program.enabled_words):
            bits = place.mask[word]
            while bits != _ZERO:
                each = law.durations[np.int64(64 * word + lowest_bit(bits))]
                bits &= bits - _ONE
                if each >= 0 and each != outage:
                    place.runs[each] = True
    for each in range(outage + 1):
        if not place.runs[each]:
            place.left[each] = -1.0
        elif place.left[each] < 0.0:
            place.left[each] = drawn(law.laws[each], law.means[each], mix(random ^ (np.uint64(each + 1) * GAMMA)))


@native
def soonest(law: Law, place: Place, count: Integer) -> Integer:
    """The duration that is over first, of those that some of the choices wait for; -1 if none does."""
    first = np.int64(-1)
    for one in range(count):
        each = law.durations[place.choices[one]]
        if each >= 0 and (first < 0 or place.left[each] < place.left[first]):
            first = each
    return first


@native
def ended(law: Law, place: Place, count: Integer, each: Integer, random: Word) -> Integer:
    """The choice with which a duration ends, by the rates of those that wait for it."""
    whole, last = 0.0, np.int64(-1)
    for one in range(count):
        if law.durations[place.choices[one]] == each:
            whole += place.rates[one]
    level = uniform(random) * whole
    for one in range(count):
        if law.durations[place.choices[one]] == each and place.rates[one] > 0.0:
            last = np.int64(one)
            level -= place.rates[one]
            if level < 0.0:
                break
    place.left[each] = -1.0
    return last


@native
def passed(place: Place, time: Real) -> None:
    """So much time is over."""
    for each in range(len(place.left)):
        if place.runs[each] and place.left[each] >= 0.0:
            place.left[each] = max(place.left[each] - time, 0.0)
