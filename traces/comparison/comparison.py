"""A comparison: which policies, in which world, how many runs; what a worker rebuilds it from and its folder remembers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import numpy as np

from fencepost.model.balance.load_manager import LoadManager
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.run import Run
from fencepost.model.balance.simulation.scenario import Scenario
from fencepost.model.balance.simulation.what_if import NOTHING_ELSE, WhatIf
from fencepost.model.balance.strategies import strategy_name
from fencepost.traces.exploration.folder import held

FORMAT = 3

_FILE = "comparison.json"
_FIRST_ROUND, _LONGEST_ROUND = 8, 64


@dataclass(frozen=True)
class Contender:
    """A policy under a name of its own, and what is supposed besides."""

    name: str
    manager: LoadManager
    what_if: WhatIf = NOTHING_ELSE


@dataclass(frozen=True)
class Comparison:
    """Policies, the first of which is the baseline, in one scenario: ``runs`` runs of ``hours`` hours under each."""

    contenders: tuple[Contender, ...]
    scenario: Scenario
    runs: int
    hours: float
    seed: int

    def seed_of(self, run: int) -> int:
        """The seed of a run, the same under every policy."""
        drawn = np.random.SeedSequence(self.seed, spawn_key=(run,)).generate_state(1, np.uint64)
        return int(drawn[0] >> np.uint64(1))

    def simulated(self, run: int, contender: Contender) -> Run:
        """A run under one of the policies. Raises PolicyFault where a user's own fails."""
        return simulate(contender.manager, self.scenario, self.seed_of(run), self.hours, what_if=contender.what_if)

    def rounds(self, start: int = 0) -> list[range]:
        """The runs from one on, by rounds: a round is what is kept together, and what a kill can lose. They get longer."""
        rounds, length = list[range](), _FIRST_ROUND
        while start < self.runs:
            rounds.append(range(start, min(start + length, self.runs)))
            start, length = start + length, min(2 * length, _LONGEST_ROUND)
        return rounds

    @property
    def described(self) -> dict[str, object]:
        """What a folder remembers of it: all but how many runs there are to be. What is long is there as a hash."""
        return {
            "format": FORMAT,
            "baseline": self.contenders[0].name,
            "policies": {
                contender.name: {
                    "shedder": strategy_name(contender.manager.shedder),
                    "placement": strategy_name(contender.manager.placement),
                    "hash": _hash(contender.manager),
                    **({"what_if": _hash(contender.what_if)} if contender.what_if else {}),
                }
                for contender in self.contenders
            },
            "scenario": {"name": self.scenario.name, "hash": _hash(self.scenario)},
            "hours": self.hours,
            "seed": self.seed,
        }

    @property
    def text(self) -> str:
        """What the folder remembers, in a line."""
        return json.dumps(self.described)

    @contextmanager
    def held(self, folder: Path) -> Iterator[None]:
        """Makes the folder this comparison's, or finds that it is, and keeps others from working in it meanwhile.

        Raises FolderError if it is another's or in use, OSError if it cannot be written.
        """
        with held(folder, _FILE, self.described, lambda theirs: _difference(theirs, self.described)):
            yield


def _difference(theirs: dict[str, object], ours: dict[str, object]) -> str:
    """In what the comparison of a file differs from ours; empty if it does not."""
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    return "; ".join(_change(name, theirs.get(name), ours.get(name)) for name in names)


def _change(name: str, theirs: object, ours: object) -> str:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if theirs.keys() == ours.keys():
            return f"{name}: {', '.join(key for key in ours if theirs[key] != ours[key])} changed"
        return f"{name} is {', '.join(theirs)} there, {', '.join(ours)} here"
    return f"{name} is {theirs} there, {ours} here"


def _hash(value: object) -> str:
    """The same for the same value, in every process."""
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {"": type(value).__name__, **{field.name: _plain(getattr(value, field.name)) for field in fields(value)}}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | int | float | bool | None):
        return value
    raise TypeError(f"a {type(value).__name__} has no form that lasts")
