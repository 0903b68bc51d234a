"""The record of a simulated run: what every broker carried in each minute, and what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["assign", "unload", "split", "crash", "stop", "start"]


@dataclass(frozen=True)
class Action:
    """One thing that was done to a bundle or that befell a broker, ``minute`` minutes after the beginning.

    assign: a lookup gives a bundle that nobody owns to ``destination``. unload: ``source`` gives the bundle up, and
    ``destination`` takes it. split: ``source`` cuts the bundle at ``boundaries``. crash, stop, start: of the broker
    ``source``. ``seconds`` is how long nobody serves the bundle, ``topics`` how many topics that concerns, ``reason`` what
    made the policy do it. ``refused`` says why the cluster did not do what the policy asked for; empty if it did.
    """

    minute: int
    kind: Kind
    bundle: str = ""
    source: str = ""
    destination: str = ""
    reason: str = ""
    seconds: float = 0.0
    topics: int = 0
    boundaries: tuple[int, ...] = ()
    refused: str = ""


@dataclass(frozen=True, eq=False)
class Run:
    """What happened under one policy in one world.

    Arrays have one row for each minute and, where they speak of brokers, one column for each of ``brokers``. ``usage`` is the
    largest part of a broker's CPU or network that its load takes (a fraction, above 1 where it takes more than there is) and
    ``rate`` and ``throughput`` what it carries (messages and bytes per second, in and out); NaN while the broker is down.
    ``offered`` and ``carried`` are the messages per second of all topics, and of those that somebody served. ``bundles`` is
    how many bundles there are; ``constant`` whether rates and brokers were those of the minute before; ``assignment`` a number
    for who owns what, the same only for the same assignment. ``owners`` is who owned each bundle at the beginning.
    """

    policy: str
    scenario: str
    seed: int
    brokers: tuple[str, ...]
    owners: Mapping[str, str]
    usage: NDArray[np.float64]
    rate: NDArray[np.float64]
    throughput: NDArray[np.float64]
    offered: NDArray[np.float64]
    carried: NDArray[np.float64]
    bundles: NDArray[np.int64]
    constant: NDArray[np.bool_]
    assignment: NDArray[np.uint64]
    actions: tuple[Action, ...]
    grace_minutes: int
    overload_threshold: float

    @property
    def minutes(self) -> int:
        """How long the run is."""
        return len(self.usage)

    @property
    def refused(self) -> tuple[Action, ...]:
        """What the policy asked for and the cluster did not do."""
        return tuple(action for action in self.actions if action.refused)

    def done(self, *kinds: Kind) -> tuple[Action, ...]:
        """What was done of these kinds, in order."""
        return tuple(action for action in self.actions if action.kind in kinds and not action.refused)
