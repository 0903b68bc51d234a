"""What a cluster did, beside what its present policy would have done by the simulation, and what a proposed one would have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fencepost.checks.policy.comparison.paired import Difference, Tolerances, Values, differences
from fencepost.model.balance.simulation.measures import MEASURES

REPORTED = (
    "imbalance",
    "deviation",
    "overloaded",
    "unloads_per_hour",
    "most_unloads",
    "returns",
    "splits",
    "bundles",
    "topics_moved",
)
"""The measures that reports and decisions show. What nobody served, and what was refused, they do not."""

ROUNDING = 1e-6
"""The part of a measure that is no departure: percentages in reports are floats of 32 bits."""


@dataclass(frozen=True)
class Happened:
    """The measures of what happened, with a value for each window, and those of each policy in the same windows, the present
    policy first."""

    values: Mapping[str, Values]
    simulated: Mapping[str, Mapping[str, Values]]
    confidence: float
    name: str = "happened"

    @property
    def measures(self) -> dict[str, float]:
        """The mean of each measure over the windows."""
        return {name: float(np.nanmean(self.values[name])) for name in REPORTED if np.isfinite(self.values[name]).any()}

    @property
    def departures(self) -> list[Difference]:
        """For each measure how far each policy's simulation is from what happened, window by window."""
        measures = [MEASURES[name] for name in self.measures]
        return differences(
            measures,
            dict(self.values),
            {name: dict(own) for name, own in self.simulated.items()},
            Tolerances(),
            self.confidence,
        )

    @property
    def text(self) -> str:
        """How far the simulation of the present policy departs from what happened: the trust in the rest."""
        present, *proposed = self.simulated
        lines = [f"happened: what the cluster did; the simulation of {present} departs from it by"]
        lines += [f"  {line}" for line in self._lines(present)]
        for name in proposed:
            own = [d for d in self.departures if d.policy == name]
            parts = [f"{verdict} in {', '.join(names)}" for verdict in ("worse", "better") if (names := _named(own, verdict))]
            lines.append(f"{name} against what happened: {'; '.join(parts) or 'no difference shown'}")
        return "\n".join(lines)

    @property
    def details(self) -> dict[str, object]:
        """The departures, for programs."""
        departures = [
            {
                "policy": d.policy,
                "measure": d.measure.name,
                "happened": d.baseline,
                "simulated": d.proposed,
                "difference": d.difference,
                "interval": None if np.isnan(d.low) else [d.low, d.high],
            }
            for d in self.departures
        ]
        return {"name": self.name, "departures": departures}

    def _lines(self, policy: str) -> list[str]:
        own = [d for d in self.departures if d.policy == policy]
        none = ", ".join(d.measure.name for d in own if _is_nothing(d))
        return [*(_line(d) for d in own if not _is_nothing(d)), *([f"nothing in {none}"] if none else [])]


def _named(own: Sequence[Difference], verdict: str) -> list[str]:
    return [d.measure.name for d in own if d.verdict == verdict]


def _is_nothing(d: Difference) -> bool:
    """Whether no window departs by more than rounding does."""
    least = ROUNDING * max(abs(d.baseline), abs(d.proposed), 1.0)
    return abs(d.difference) <= least and not (max(abs(d.low), abs(d.high)) > 10 * least)


def _line(d: Difference) -> str:
    interval = "" if np.isnan(d.low) else f", within {d.low:+.3g} to {d.high:+.3g}"
    both = f"{d.proposed:.4g} simulated, {d.baseline:.4g} happened"
    return f"{d.measure.name} {d.difference:+.3g} {d.measure.unit}: {both}{interval}"
