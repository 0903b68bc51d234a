"""The arithmetic of shedding, once: on Python's floats, and on terms of real numbers, for all loads at a time.

What is proved of real numbers (``properties/balance/arithmetic.py``) holds of Pulsar's doubles except for rounding. A
comparison is a bool for numbers and a formula for terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MARGIN = 0.05
"""How far below its bound a broker is brought."""

DELTA = 1000
"""How much larger than what remains a bundle could be for UniformLoadShedder before 4.2."""

BUGS: dict[str, str] = {
    "value_counts_whole": "A new value is added to the history, instead of the part of it that the history leaves.",
    "mean_is_enough": "ThresholdShedder sheds from any broker at or above the mean.",
    "delta": "Upstream before 4.2: a bundle is accepted that is up to 1000 above what remains to be shed.",
    "whole_difference": "TransferShedder hands the whole difference of two loads over, instead of half of it.",
    "margin_forgotten": "What is to be shed leaves a broker exactly at its threshold, where it sheds again.",
}
"""The known bugs: switches of Amounts."""


@dataclass(frozen=True)
class Amounts:
    """How much is compared and shed, with the given ``bugs`` switched on. Usages are fractions."""

    bugs: frozenset[str] = frozenset()

    def averaged(self, history: Any, value: Any, weight: Any) -> Any:
        """A usage averaged over time: of the new value counts what the weight of the history leaves."""
        if "value_counts_whole" in self.bugs:
            return history * weight + value
        return history * weight + (1 - weight) * value

    def is_overloaded(self, usage: Any, threshold: Any) -> Any:
        """OverloadShedder sheds from a broker with this usage."""
        return usage >= threshold

    def beyond_the_threshold(self, carried: Any, usage: Any, threshold: Any) -> Any:
        """What OverloadShedder takes from a broker that carries so much."""
        return carried * (usage - threshold + self._margin)

    def is_below(self, average: Any, mean: Any, threshold: Any) -> Any:
        """ThresholdShedder does not shed from a broker with this average; with one that is NaN it does."""
        return average < (mean if "mean_is_enough" in self.bugs else mean + threshold)

    def beyond_the_mean(self, carried: Any, average: Any, mean: Any, threshold: Any) -> Any:
        """What ThresholdShedder takes from a broker that carries so much."""
        return carried * (average - mean - threshold + self._margin)

    def of_the_difference(self, most: Any, least: Any, share: Any) -> Any:
        """What UniformLoadShedder and AvgShedder take from the fuller of two brokers."""
        return (most - least) * share

    def fits(self, amount: Any, remaining: Any) -> Any:
        """A bundle that carries so much is not too large for what remains to be shed."""
        return amount <= (remaining + DELTA if "delta" in self.bugs else remaining)

    def half(self, most: Any, least: Any) -> Any:
        """The load that TransferShedder hands from the fuller of two brokers to the emptier."""
        return most - least if "whole_difference" in self.bugs else (most - least) / 2

    @property
    def _margin(self) -> float:
        return 0.0 if "margin_forgotten" in self.bugs else MARGIN


RIGHT = Amounts()
"""Pulsar as it is."""

WITH_DELTA = Amounts(frozenset({"delta"}))
"""UniformLoadShedder before 4.2; in 2.10 only where rates are shed."""
