"""Which step a run takes next: at random, steered to what was not taken yet; and what has been taken so far."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.model.kernel import Kernel
from fencepost.model.language import Action
from fencepost.traces.trace import State

NEW = 4.0
"""How much likelier a step is that no run has taken from this state."""

TELLING = 100.0
"""How much likelier a step is that shows a mistake in the model."""


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


class Contrast:
    """Where a step with a mistake in the model is not a step without it: there the code should differ.

    ``with_it`` and ``without`` are kernels of the same instances. A mistake may add variables; what they have in common counts.
    """

    def __init__(self, with_it: Sequence[Kernel], without: Sequence[Kernel]) -> None:
        self._pairs = list(zip(with_it, without, strict=True))
        self._numbers = [
            tuple({action.label: n for n, action in enumerate(kernel.actions)} for kernel in pair) for pair in self._pairs
        ]
        self._common = [_places(mistaken, sound) for mistaken, sound in self._pairs]

    def __call__(self, instance: int, state: State, action: Action) -> bool:
        """Whether the mistake is what allows the step, or what makes it lead where it does."""
        (mistaken, sound), (here, there) = self._pairs[instance], self._numbers[instance]
        common = self._common[instance]
        packed = sound.packing.pack([state[place] for place in common])
        number = there.get(action.label)
        if number is None or number not in sound.enabled(packed):
            return True
        led = mistaken.packing.unpack(mistaken.apply(mistaken.packing.pack(state), here[action.label]))
        return tuple(led[place] for place in common) != tuple(sound.packing.unpack(sound.apply(packed, number)))


def _places(mistaken: Kernel, sound: Kernel) -> list[int]:
    """Where the variables of the one are among those of the other."""
    places = {variable.name: place for place, variable in enumerate(mistaken.protocol.variables)}
    return [places[variable.name] for variable in sound.protocol.variables]


class Chooser:
    """Chooses at random among enabled actions, the likelier the more seldom they were taken; ``weights`` are by action name.

    A run is a pure function of the seed, its number and the runs before it. With a ``contrast`` a step that it tells of is much
    likelier than the others.
    """

    def __init__(
        self,
        seed: int,
        coverage: Coverage,
        weights: Mapping[str, float] | None = None,
        contrast: Contrast | None = None,
    ) -> None:
        self.seed, self.coverage, self.contrast = seed, coverage, contrast
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
        telling = self.contrast is not None and self.contrast(instance, state, action)
        return usual * seldom * (NEW if fresh else 1.0) * (TELLING if telling else 1.0)
