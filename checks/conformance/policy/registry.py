"""The rules that are compared, in the order in which reports have them."""

from __future__ import annotations

from fencepost.checks.conformance.policy import (
    averages,
    extensible,
    extensible_schedulers,
    in_turn,
    placements,
    preallocating,
    shedders,
    simple,
    splits,
)
from fencepost.checks.conformance.policy.cases import Rule

RULES: tuple[Rule, ...] = (
    shedders.OVERLOAD,
    shedders.THRESHOLD,
    shedders.UNIFORM,
    shedders.AVERAGE,
    shedders.DEVIATION,
    placements.LONG_TERM,
    placements.RESOURCE_USAGE,
    placements.ROUND_ROBIN,
    placements.AVERAGE,
    in_turn.IN_TURN,
    preallocating.PREALLOCATION,
    splits.PLANNED,
    splits.CUTS,
    splits.LOOKUPS,
    averages.AVERAGES,
    averages.REPORTS,
    extensible.LOADS,
    extensible.USAGE_REPORTS,
    extensible.TOP,
    extensible.SELECTS,
    extensible_schedulers.TRANSFER,
    extensible_schedulers.SPLITS,
    simple.SIMPLE,
)
