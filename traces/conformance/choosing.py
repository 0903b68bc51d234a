"""Which step a run takes next: at random, steered to what was not taken yet; and what has been taken so far."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.model.language import Action, Protocol
from fencepost.traces.trace import State

NEW = 4.0
"""How much likelier a step is that no run has taken from this state."""


@dataclass
class Coverage:
    """What the runs have taken together: each grounded action with how often, and how many transitions (state and action).

    ``passed_over`` counts the enabled steps that were not tried, by the allowance that says why; ``seen`` are the names of the
    actions that were enabled at all.
    """

    taken: Counter[str] = field(default_factory=Counter)
    transitions: set[tuple[int, State, str]] = field(default_factory=set)
    passed_over: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def names(self) -> Counter[str]:
        """The actions without their parameters, with how often each was taken."""
        counted: Counter[str] = Counter()
        for label, count in self.taken.items():
            counted[label.partition("(")[0]] += count
        return counted


class Chooser:
    """Chooses at random among enabled actions, the likelier the more seldom they were taken; ``weights`` are by action name.

    A run is a pure function of the seed, its number and the runs before it.
    """

    def __init__(self, seed: int, coverage: Coverage, weights: Mapping[str, float] | None = None) -> None:
        self.seed, self.coverage = seed, coverage
        self.weights = dict(weights or {})
        self._random = random.Random(seed)
        self._names: Counter[str] = coverage.names()

    def start(self, run: int) -> None:
        """Begins a run."""
        self._random = random.Random(f"{self.seed}, {run}")

    def __call__(self, instance: int, state: State, actions: Sequence[Action]) -> Action:
        """One of the actions; ``instance`` tells apart states of several instances."""
        weights = [self._weight(instance, state, action) for action in actions]
        return self._random.choices(actions, weights)[0]

    def took(self, instance: int, state: State, action: Action) -> None:
        """Counts a step."""
        self.coverage.taken[action.label] += 1
        self.coverage.transitions.add((instance, state, action.label))
        self._names[action.name] += 1

    def _weight(self, instance: int, state: State, action: Action) -> float:
        usual = self.weights.get(action.name, 1.0)
        seldom = 1.0 / math.sqrt(math.sqrt(1 + self._names[action.name]))
        fresh = (instance, state, action.label) not in self.coverage.transitions
        return usual * seldom * (NEW if fresh else 1.0)


def uncovered(protocol: Protocol, coverage: Coverage) -> list[str]:
    """The names of the protocol's actions that no run has taken, in their order."""
    taken = coverage.names()
    return [name for name in dict.fromkeys(action.name for action in protocol.actions) if not taken[name]]
