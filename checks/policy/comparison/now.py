"""How full a snapshot's brokers are, and how far the first minute of the simulation is from that."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fencepost.model.balance.load_data import LocalBrokerData
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.snapshot_cluster import Pictured
from fencepost.traces.comparison.comparison import Comparison

A_MINUTE = 1 / 60


class Beside(Protocol):
    """What is known of a cluster beside the simulations of it, under a name of its own."""

    @property
    def name(self) -> str:
        """What its row in a table is called."""
        ...

    @property
    def measures(self) -> dict[str, float]:
        """The measures that it has."""
        ...

    @property
    def text(self) -> str:
        """How far the simulations are from it."""
        ...

    @property
    def details(self) -> dict[str, Any]:
        """The same for programs."""
        ...


@dataclass(frozen=True)
class Now:
    """The usages of brokers as fractions, by their reports and in the first minute of the first run."""

    reported: Mapping[str, float]
    simulated: Mapping[str, float]
    name: str = "now"

    @property
    def measures(self) -> dict[str, float]:
        """The measures that a moment has, by the reports."""
        return _measures(self.reported.values())

    @property
    def details(self) -> dict[str, Any]:
        """The usages, for programs."""
        return {"reported": dict(self.reported), "simulated": dict(self.simulated)}

    @property
    def text(self) -> str:
        """The distance of the first minute, in a line."""
        broker = max(self.reported, key=lambda name: abs(self.reported[name] - self.simulated[name]))
        figures = f"{broker}: {100 * self.reported[broker]:.4g} % in its report, {100 * self.simulated[broker]:.4g} % simulated"
        first = ", ".join(f"{name} {value:.4g}" for name, value in _measures(self.simulated.values()).items())
        return f"now: the snapshot; the first simulated minute has {first}, and differs most on {figures}"


def now(comparison: Comparison) -> Now | None:
    """The snapshot with which the runs begin; None if the cluster is generated, recorded, or other than the snapshot says."""
    baseline, source = comparison.contenders[0], comparison.scenario.source
    if not isinstance(source, Pictured) or baseline.what_if:
        return None
    reports = source.snapshot.load.reports
    run = simulate(baseline.manager, comparison.scenario, comparison.seed_of(0), A_MINUTE)
    first = dict(zip(run.brokers, run.usage[0].tolist(), strict=True))
    reported = {broker: _usage(report) for broker, report in reports.items() if np.isfinite(first[broker])}
    return Now(reported, {broker: first[broker] for broker in reported}) if reported else None


def _usage(report: LocalBrokerData) -> float:
    """The largest part of the CPU or the network that is used: what a run counts as the usage of a broker."""
    return max(each.percent for each in (report.cpu, report.bandwidthIn, report.bandwidthOut)) / 100


def _measures(usages: Collection[float]) -> dict[str, float]:
    values = np.array(list(usages))
    mean = float(values.mean())
    return {"imbalance": float(values.max()) / mean if mean else 1.0, "deviation": float(values.std())}
