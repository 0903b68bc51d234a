"""What paired runs say of two policies: for each measure the mean difference, how certain it is, and a verdict.

Every run is made under both policies in the same world, so that what the world does to both cancels out of the difference.
The interval is that of the paired t-test: it asks only that the mean of the differences be about normal, which it is for
differences of any shape once there are some dozens. All intervals of a comparison hold together with the confidence that is
asked for (Bonferroni): one that is said to be worse is so by more than chance among many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.simulation.measures import Measure

Verdict = Literal["better", "worse", "no difference", "differs", "too few runs"]

FEWEST = 10
"""Pairs below which nothing is said: even if all of them went one way, chance does so too often among many measures."""
SHARE = 0.05
"""The tolerance of a measure of which none is named, as a share of the baseline's mean."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Tolerance:
    """How much worse a measure may get: an amount in its unit, or a share of the baseline's mean."""

    amount: float
    is_share: bool

    def allows(self, mean: float) -> float:
        """The amount, for a baseline with that mean."""
        return self.amount * abs(mean) if self.is_share else self.amount


@dataclass(frozen=True)
class Tolerances:
    """The tolerance of every measure."""

    general: Tolerance = field(default_factory=lambda: Tolerance(SHARE, is_share=True))
    named: Mapping[str, Tolerance] = field(default_factory=dict)

    def of(self, measure: str) -> Tolerance:
        """That of one measure."""
        return self.named.get(measure, self.general)


@dataclass(frozen=True)
class Difference:
    """One measure of one proposed policy against the baseline.

    ``low`` and ``high`` are the ends of the interval for the mean of proposed minus baseline, which does not go where the
    measure would be below 0; NaN with fewer than two pairs.
    ``pairs`` are the runs in which both have the measure; in ``lower`` of them the proposed policy has less, in ``higher``
    more. ``worst`` is the run in which it is worse by the most, None if there is none.
    """

    measure: Measure
    policy: str
    pairs: int
    baseline: float
    proposed: float
    difference: float
    low: float
    high: float
    lower: int
    higher: int
    tolerance: float
    verdict: Verdict
    worst: int | None

    @property
    def may_be_worse(self) -> bool:
        """Whether it may yet be worse than tolerated though no difference is shown."""
        return self.verdict == "no difference" and self.measure.better == "less" and self.high > self.tolerance

    @property
    def is_tolerated(self) -> bool:
        """Whether chance does not explain it, and it is no larger than what is tolerated."""
        return self.verdict == "no difference" and not self.low <= 0 <= self.high


def differences(
    measures: Sequence[Measure],
    baseline: Mapping[str, Values],
    proposed: Mapping[str, Mapping[str, Values]],
    tolerances: Tolerances,
    confidence: float = 0.95,
) -> list[Difference]:
    """Every measure of every proposed policy, by policy; a measure that no pair has is left out.

    ``baseline`` has for each measure a value for each run, NaN where the run has none; ``proposed`` the same by policy.
    """
    asked = [(policy, m) for policy in proposed for m in measures if _pairs(baseline[m.name], proposed[policy][m.name]).any()]
    error = (1 - confidence) / max(len(asked), 1)
    return [_difference(m, policy, baseline[m.name], proposed[policy][m.name], tolerances, error) for policy, m in asked]


def _pairs(baseline: Values, proposed: Values) -> NDArray[np.bool_]:
    return np.isfinite(baseline) & np.isfinite(proposed)


def _difference(
    measure: Measure, policy: str, baseline: Values, proposed: Values, tolerances: Tolerances, error: float
) -> Difference:
    runs = np.flatnonzero(_pairs(baseline, proposed))
    one, other = baseline[runs], proposed[runs]
    apart = other - one
    low, high = interval(apart, error)
    low = max(low, -float(one.mean()))  # no measure is below 0, and so no mean of the proposed policy
    allowed = tolerances.of(measure.name).allows(float(one.mean()))
    most = int(np.argmax(apart))
    return Difference(
        measure=measure,
        policy=policy,
        pairs=len(runs),
        baseline=float(one.mean()),
        proposed=float(other.mean()),
        difference=float(apart.mean()),
        low=low,
        high=high,
        lower=int(np.sum(apart < 0)),
        higher=int(np.sum(apart > 0)),
        tolerance=allowed,
        verdict=_verdict(measure, len(runs), float(apart.mean()), (low, high), allowed),
        worst=int(runs[most]) if measure.better == "less" and apart[most] > 0 else None,
    )


def interval(apart: Values, error: float) -> tuple[float, float]:
    """Where the mean of the differences lies, except for this probability of error; NaN with fewer than two."""
    if len(apart) < 2:
        return math.nan, math.nan
    half = students(len(apart) - 1, error) * float(apart.std(ddof=1)) / math.sqrt(len(apart))
    return float(apart.mean()) - half, float(apart.mean()) + half


def students(freedom: int, error: float) -> float:
    """The bound that Student's t of so many degrees of freedom exceeds, to either side, with this probability."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # halves the interval down to the last bit
        angle = (low + high) / 2
        low, high = (angle, high) if _within(freedom, angle) < 1 - error else (low, angle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(freedom: int, angle: float) -> float:
    """The probability that t is at most sqrt(freedom) * tan(angle) to either side: for whole degrees of freedom a finite sum
    (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= square * (k - 1) / k
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _verdict(measure: Measure, pairs: int, difference: float, within: tuple[float, float], allowed: float) -> Verdict:
    """A difference counts if chance does not explain it and it is larger than what is tolerated."""
    low, high = within
    if pairs < FEWEST:
        return "too few runs"
    if low <= 0 <= high or abs(difference) <= allowed:
        return "no difference"
    if measure.better == "neither":
        return "differs"
    return "worse" if difference > 0 else "better"
