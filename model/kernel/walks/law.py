"""How weighted walks go, as arrays: a law, where cycles begin, and the room of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fencepost.model.kernel.compiler.packing import Flags, Floats, Integers, Words
from fencepost.model.kernel.compiler.program import Program


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
