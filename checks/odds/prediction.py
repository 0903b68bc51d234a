"""A probability that is predicted from durations that were logged, and one that is counted, each with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

DRAWS = 300
_TAIL = 0.05
_HALF = 0.5
"""Jeffreys' prior of a rate: half an event more than was seen."""


@dataclass(frozen=True)
class Share:
    """A probability, and the ends of its interval: of 90 % if it is predicted, of 95 % if it is counted."""

    middle: float
    low: float
    high: float

    def overlaps(self, other: Share) -> bool:
        """Whether the two intervals have a value in common."""
        return self.low <= other.high and other.low <= self.high

    def over(self, other: Share) -> tuple[float, float]:
        """The ends of an interval of the ratio of the two; its upper end is infinite if the other may be 0."""
        return self.low / other.high, self.high / other.low if other.low > 0 else float("inf")


@dataclass(frozen=True)
class Fit:
    """A duration as it was logged: it ended ``ended`` times in ``total`` ms; some may not have ended. ``spread`` is its
    deviation over its mean, which of an exponential law is 1."""

    ended: int
    total: float
    spread: float = 1.0

    @classmethod
    def of(cls, durations: list[float]) -> Fit:
        """Of durations in ms, all of which ended."""
        mean = float(np.mean(durations))
        return cls(len(durations), float(np.sum(durations)), max(float(np.std(durations)) / mean, 0.01))

    @property
    def mean(self) -> float:
        """The mean in ms; infinite if it never ended."""
        return self.total / self.ended if self.ended else float("inf")

    def drawn(self, generator: np.random.Generator) -> float:
        """A mean that what was logged allows."""
        shape = (self.ended + _HALF) / self.spread**2
        return self.total / (self.ended + _HALF) * shape / max(float(generator.gamma(shape)), 1e-12)


def predicted(fits: Mapping[str, Fit], predict: Callable[[Mapping[str, float]], float], seed: int = 0) -> Share:
    """The prediction by the means that were logged, and what the means that the log allows make of it."""
    generator = np.random.default_rng(seed)
    drawn = [predict({name: fit.drawn(generator) for name, fit in fits.items()}) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [_TAIL, 1.0 - _TAIL])
    middle = predict({name: fit.mean for name, fit in fits.items()})
    return Share(middle, min(float(low), middle), max(float(high), middle))


def counted(lost: int, faults: int) -> Share:
    """So many of so many, with the interval of Clopper and Pearson (Biometrika 26, 1934)."""
    from scipy.stats import beta

    low = float(beta.ppf(_TAIL / 2, lost, faults - lost + 1)) if lost else 0.0
    high = float(beta.ppf(1 - _TAIL / 2, lost + 1, faults - lost)) if lost < faults else 1.0
    return Share(lost / faults, low, high)
