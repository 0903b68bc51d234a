"""What a run is worth: the numbers by which policies are compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.simulation.run import Run

Better = Literal["less", "neither"]
MINUTES_OF_AN_HOUR = 60
FILLED = 0.5
"""A broker that came back counts as filled from half the mean usage of the live brokers."""


@dataclass(frozen=True)
class Measure:
    """A measure: the unit that it is in, whether less of it is better, and what it says."""

    name: str
    unit: str
    better: Better
    meaning: str


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("imbalance", "ratio", "less", "usage of the fullest broker by the mean, over the minutes"),
        Measure("deviation", "fraction", "less", "standard deviation of the brokers' usages, mean over the minutes"),
        Measure("overloaded", "broker-minutes", "less", "time at which a broker is above the overload threshold"),
        Measure("unloads_per_hour", "1/h", "less", "bundles unloaded"),
        Measure("most_unloads", "unloads", "less", "unloads of the bundle that was unloaded most often"),
        Measure("returns", "unloads", "less", "bundles that come back to a broker within the grace period after they left it"),
        Measure("repeats", "assignments", "less", "assignments of all bundles that come again under constant load"),
        Measure("time_to_fill", "minutes", "less", "from the start of a broker until it carries half the mean"),
        Measure("unavailable", "bundle-seconds", "less", "nobody serves a bundle because it is unloaded or split"),
        Measure("orphaned", "bundle-seconds", "less", "nobody serves a bundle because its broker crashed or was stopped"),
        Measure("splits", "splits", "neither", "bundles that were split"),
        Measure("bundles", "bundles", "neither", "bundles at the end"),
        Measure("topics_moved", "topics", "less", "topics that had to move to another broker, or were closed for a split"),
        Measure("refused", "actions", "less", "what the policy asked for and the cluster could not do"),
    )
}
"""Every measure by its name, in the order in which they are shown."""


@dataclass(frozen=True)
class Measures:
    """The measures of one run; MEASURES says what each of them is."""

    imbalance: float
    deviation: float
    overloaded: float
    unloads_per_hour: float
    most_unloads: float
    returns: float
    repeats: float
    time_to_fill: float
    unavailable: float
    orphaned: float
    splits: float
    bundles: float
    topics_moved: float
    refused: float

    def as_dict(self) -> dict[str, float]:
        """The measures by name, in order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def measures(run: Run) -> Measures:
    """The measures of a run.

    Only brokers that are up count. A minute in which they carry nothing has imbalance 1.
    """
    moved = run.done("unload")
    changed = run.done("unload", "split")
    return Measures(
        imbalance=float(np.mean(imbalance(run))),
        deviation=float(np.mean(deviation(run))),
        overloaded=float(np.sum(run.usage > run.overload_threshold)),
        unloads_per_hour=len(moved) * MINUTES_OF_AN_HOUR / run.minutes,
        most_unloads=float(max(Counter(action.bundle for action in moved).values(), default=0)),
        returns=float(_returns(run)),
        repeats=float(_repeats(run)),
        time_to_fill=_time_to_fill(run),
        unavailable=sum(action.seconds for action in changed),
        orphaned=sum(action.seconds for action in run.done("assign")),
        splits=float(len(run.done("split"))),
        bundles=float(run.bundles[-1]),
        topics_moved=float(sum(action.topics for action in changed)),
        refused=float(len(run.refused)),
    )


def imbalance(run: Run) -> NDArray[np.float64]:
    """In each minute the usage of the fullest broker by the mean of all that are up; 1 where there is nothing to carry."""
    up = np.isfinite(run.usage)
    usage = np.where(up, run.usage, 0.0)
    mean = usage.sum(axis=1) / np.maximum(up.sum(axis=1), 1)
    ratio = np.ones(run.minutes)
    np.divide(usage.max(axis=1), mean, out=ratio, where=mean > 0)
    return ratio


def deviation(run: Run) -> NDArray[np.float64]:
    """In each minute the population standard deviation of the usages of the brokers that are up; 0 where none is."""
    up = np.isfinite(run.usage)
    count = np.maximum(up.sum(axis=1), 1)
    mean = np.where(up, run.usage, 0.0).sum(axis=1) / count
    squares = np.where(up, (run.usage - mean[:, None]) ** 2, 0.0)
    spread: NDArray[np.float64] = np.sqrt(squares.sum(axis=1) / count)
    return spread


def _returns(run: Run) -> int:
    """Unloads that bring a bundle back to a broker that it left within the grace period, or to the one that it just leaves."""
    left: dict[tuple[str, str], int] = {}
    count = 0
    for action in run.done("unload"):
        since = left.get((action.bundle, action.destination))
        stays = action.destination == action.source
        count += stays or (since is not None and action.minute - since <= run.grace_minutes)
        left[action.bundle, action.source] = action.minute
    return count


def _repeats(run: Run) -> int:
    """Changes of the assignment to one that was there before, since the rates or the brokers last changed."""
    seen: set[int] = set()
    before, count = -1, 0
    for steady, assignment in zip(run.constant.tolist(), run.assignment.tolist(), strict=True):
        if not steady:
            seen, before = set(), -1
        if assignment != before:
            count += assignment in seen
            seen.add(assignment)
            before = assignment
    return count


def _time_to_fill(run: Run) -> float:
    """Mean minutes from a broker's start until it carries half the mean usage; until the end, if it never does."""
    times = []
    for action in run.done("start"):
        usage = run.usage[action.minute :]
        own = usage[:, run.brokers.index(action.source)]
        mean = np.nansum(usage, axis=1) / np.maximum(np.isfinite(usage).sum(axis=1), 1)
        filled = np.flatnonzero(own >= FILLED * mean)
        times.append(filled[0] if len(filled) else len(usage))
    return float(np.mean(times)) if times else float("nan")
