"""What topics carry, minute by minute: shapes that change the rates that a topic has at rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

MINUTES_OF_A_DAY = 24 * 60

Rates = NDArray[np.float64]
"""Rows of msgRateIn, msgRateOut (messages/s), msgThroughputIn, msgThroughputOut (bytes/s), a column for each topic."""

Course = Callable[[int, Rates], Rates]
"""The rates in a minute, from those that the topics would have without this shape."""


class Shape(Protocol):
    """Something that changes rates over time."""

    def course(self, groups: NDArray[np.intp], minutes: int, random: np.random.Generator) -> Course:
        """How it goes in one run. ``groups`` has the number of its namespace for each topic; all that is random is drawn
        here, or in the order of the minutes."""
        ...


@dataclass(frozen=True)
class Diurnal:
    """A wave: rates go down to ``lowest`` of their height once in a period, in each namespace at a time of its own.

    ``spread`` is over how much of the period the namespaces' times are spread: 0 is all at once.
    """

    lowest: float = 0.4
    period_minutes: float = MINUTES_OF_A_DAY
    spread: float = 0.25

    def course(self, groups: NDArray[np.intp], minutes: int, random: np.random.Generator) -> Course:
        """Where each namespace stands in its day is drawn."""
        count = int(groups.max(initial=-1)) + 1
        phases = 2 * math.pi * (random.random() + self.spread * random.random(count))

        def at(minute: int, rates: Rates) -> Rates:
            wave = 0.5 + 0.5 * np.cos(2 * math.pi * minute / self.period_minutes + phases)
            return rates * (self.lowest + (1 - self.lowest) * wave)[groups]

        return at


@dataclass(frozen=True)
class Bursts:
    """Now and then a part of the topics, the same for as long as it lasts, carries ``factor`` times as much."""

    per_hour: float = 2.0
    share: float = 0.05
    factor: float = 4.0
    minutes: int = 10

    def course(self, groups: NDArray[np.intp], minutes: int, random: np.random.Generator) -> Course:
        """When they come and which topics they take is drawn."""
        starts = np.flatnonzero(random.random(minutes) < self.per_hour / 60)
        taken = [random.random(len(groups)) < self.share for _ in starts]

        def at(minute: int, rates: Rates) -> Rates:
            for start, topics in zip(starts, taken, strict=True):
                if start <= minute < start + self.minutes:
                    rates = rates * np.where(topics, self.factor, 1.0)
            return rates

        return at


@dataclass(frozen=True)
class HotTopic:
    """From a minute on one topic, drawn, carries ``share`` of what all carry at rest besides its own."""

    minute: int = 30
    share: float = 0.02

    def course(self, groups: NDArray[np.intp], minutes: int, random: np.random.Generator) -> Course:
        """Which topic it is is drawn."""
        topic = int(random.integers(len(groups)))

        def at(minute: int, rates: Rates) -> Rates:
            if minute < self.minute:
                return rates
            hot = rates.copy()
            hot[:, topic] += self.share * rates.sum(axis=1)
            return hot

        return at


@dataclass(frozen=True)
class Jitter:
    """Every topic's rates vary from minute to minute, by a factor between 1 - ``spread`` and 1 + ``spread``."""

    spread: float = 0.2

    def course(self, groups: NDArray[np.intp], minutes: int, random: np.random.Generator) -> Course:
        """Drawn in the order of the minutes."""

        def at(minute: int, rates: Rates) -> Rates:
            factor = random.random(len(groups))
            factor *= 2.0
            factor -= 1.0
            factor *= self.spread
            factor += 1.0
            return rates * factor

        return at


@dataclass(frozen=True, eq=False)
class Recorded:
    """Rates that were written down: ``rates[k]`` are those of every topic from minute ``minutes[k]`` on."""

    minutes: tuple[int, ...]
    rates: NDArray[np.float64]

    def course(self, groups: NDArray[np.intp], minutes: int, random: np.random.Generator) -> Course:
        """Nothing is drawn; before the first record the topics are at rest."""

        def at(minute: int, rates: Rates) -> Rates:
            place = int(np.searchsorted(self.minutes, minute, side="right")) - 1
            return rates if place < 0 else self.rates[place]

        return at


def course_of(
    shapes: Sequence[Shape], groups: NDArray[np.intp], minutes: int, stream: Callable[[str], np.random.Generator]
) -> Course:
    """All shapes, one after the other; each draws from a stream of its own, so that one more changes nothing in the others."""
    courses = [shape.course(groups, minutes, stream(f"shape {place}")) for place, shape in enumerate(shapes)]

    def at(minute: int, rates: Rates) -> Rates:
        for course in courses:
            rates = course(minute, rates)
        return rates

    return at
