"""Laws of durations.

An exact solution knows exponential laws, and timers as stages of such. A walk draws a duration of any law as it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fencepost.model.kernel.walks.law import CONSTANT, EXPONENTIAL, HEAVY, STAGES, TIMER

Law = Literal["exponential", "timer", "constant", "heavy"]
LAWS: Mapping[Law, int] = {"exponential": EXPONENTIAL, "timer": TIMER, "constant": CONSTANT, "heavy": HEAVY}
"""The numbers that walks have for them. The deviation over the mean is 1; 1/4 for a timer, which has 16 stages; 0; and 2.3 for
a heavy tail, of which one duration in ten is eleven times as long as the others."""

__all__ = ["LAWS", "STAGES", "Law"]
