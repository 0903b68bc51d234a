"""Which step a run takes next: at random, steered to what earlier runs have not taken; and what has been taken so far."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.checks.conformance.running.branches import Branch, Branches
from fencepost.model.kernel import Kernel
from fencepost.model.language import Action
from fencepost.traces.trace import State

NEW = 4.0
"""How much likelier a step is that no run has taken from this state."""

FREE = 4
"""Runs of an instance that are random from the start; of the later ones every other begins with a way to a branch."""

UNTAKEN = 20.0
"""How much likelier a step is that takes a branch of its action which no run has taken."""

TELLING = 100.0
"""How much likelier a step is that shows a bug in the model."""

WINDOW = 8
"""A run knows of those that are so many before it, and begins when they are through: so many may be under way at once."""


@dataclass
class Coverage:
    """What the runs have taken together: each grounded action with how often, and how many transitions (state and action).

    ``passed_over`` counts the enabled steps that were not tried, by the allowance that says why; ``seen`` are the names of the
    actions that were enabled at all. ``branches`` are those that the steps took, ``open_branches`` those that some enabled step
    would have taken.
    """

    taken: Counter[str] = field(default_factory=Counter)
    transitions: set[tuple[int, State, str]] = field(default_factory=set)
    passed_over: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)
    branches: set[Branch] = field(default_factory=set)
    open_branches: set[Branch] = field(default_factory=set)

    def names(self) -> Counter[str]:
        """The actions without their parameters, with how often each was taken."""
        counted: Counter[str] = Counter()
        for label, count in self.taken.items():
            counted[label.partition("(")[0]] += count
        return counted

    def add(self, other: Coverage) -> None:
        """Counts what another has, too."""
        self.taken.update(other.taken)
        self.transitions |= other.transitions
        self.passed_over.update(other.passed_over)
        self.seen |= other.seen
        self.branches |= other.branches
        self.open_branches |= other.open_branches


class Experience:
    """What the runs have taken, as each later one may know it: those that are at least ``WINDOW`` before it, however many of
    the others are through. So it is the same whatever is taken at once."""

    def __init__(self) -> None:
        self.runs = 0
        self._first: dict[tuple[int, State, str], int] = {}
        self._names = [Counter[str]()]
        self._branches = [Counter[Branch]()]

    def add(self, coverage: Coverage) -> None:
        """Counts the next run."""
        for transition in coverage.transitions:
            self._first.setdefault(transition, self.runs)
        self._names.append(self._names[-1] + coverage.names())
        self._branches.append(self._branches[-1] + Counter(coverage.branches))
        self.runs += 1
        if self.runs >= WINDOW:  # no run asks for these any more
            self._names[self.runs - WINDOW].clear()
            self._branches[self.runs - WINDOW].clear()

    def names(self, run: int) -> Counter[str]:
        """How often the actions were taken, as that run knows it, which may begin now."""
        return Counter(self._names[max(0, run - WINDOW + 1)])

    def branches(self, run: int) -> Counter[Branch]:
        """How many runs took each branch, as that run knows it, which may begin now."""
        return Counter(self._branches[max(0, run - WINDOW + 1)])

    def knows(self, run: int, transition: tuple[int, State, str]) -> bool:
        """Whether the transition was taken, as that run knows it."""
        return self._first.get(transition, run) <= run - WINDOW


class Contrast:
    """Where a step with a bug in the model is not a step without it: there the code should differ.

    ``with_it`` and ``without`` are kernels of the same instances. A bug may add variables; what they have in common counts.
    """

    def __init__(self, with_it: Sequence[Kernel], without: Sequence[Kernel]) -> None:
        self._pairs = list(zip(with_it, without, strict=True))
        self._numbers = [
            tuple({action.label: n for n, action in enumerate(kernel.actions)} for kernel in pair) for pair in self._pairs
        ]
        self._common = [_places(mistaken, sound) for mistaken, sound in self._pairs]

    def __call__(self, instance: int, state: State, action: Action) -> bool:
        """Whether the bug is what allows the step, or what makes it lead where it does."""
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
    """Chooses the steps of one run at random among enabled actions, the likelier the more seldom they were taken; ``weights``
    are by action name. ``coverage`` is what the run itself takes; ``branches`` are those of each instance.

    A run is a pure function of the seed, its number and the runs that it knows of. One that seeks a branch begins with a way
    there. A step that takes a branch which was never
    taken is likelier than the others; with a ``contrast`` instead the one that it tells of is, by far.
    """

    def __init__(
        self,
        seed: int,
        run: int,
        experience: Experience,
        weights: Mapping[str, float],
        branches: Sequence[Branches],
        contrast: Contrast | None = None,
    ) -> None:
        self.run, self.experience, self.weights, self.contrast = run, experience, weights, contrast
        self._branches, self._known = branches, experience.branches(run)
        self._way: list[str] = []
        self._sought: Branch | None = None
        self.coverage = Coverage()
        self._random = random.Random(f"{seed}, {run}")
        self._names = experience.names(run)

    def seek(self, instance: int) -> None:
        """Has the run begin with a shortest way to a branch of the instance, one that few runs took."""
        ways = self._branches[instance].ways
        if ways:
            fewest = min(self._known[branch] for branch in ways)
            self._sought = self._random.choice([branch for branch in ways if self._known[branch] == fewest])
            self._way = list(reversed(ways[self._sought]))

    def __call__(self, instance: int, state: State, actions: Sequence[Action]) -> Action:
        """One of the actions; ``instance`` tells apart states of several instances."""
        labels = {action.label: action for action in actions}
        takes = self._branches[instance].at_each(state, labels)
        self.coverage.open_branches.update(*takes.values())
        while self._way:  # what is not possible there, the code has taken by itself, or it is passed over
            if (label := self._way.pop()) in labels:
                return labels[label]
        if self._sought is not None:
            sought, self._sought = self._sought, None
            if there := [action for action in actions if sought in takes[action.label]]:
                return self._random.choice(there)
        weights = [self._weight(instance, state, action, takes[action.label]) for action in actions]
        return self._random.choices(actions, weights)[0]

    def took(self, instance: int, state: State, action: Action) -> None:
        """Counts a step."""
        self.coverage.taken[action.label] += 1
        self.coverage.transitions.add((instance, state, action.label))
        self.coverage.branches |= self._branches[instance].at(state, action.label)
        self._names[action.name] += 1

    def _weight(self, instance: int, state: State, action: Action, branches: Iterable[Branch]) -> float:
        usual = self.weights.get(action.name, 1.0)
        seldom = 1.0 / math.sqrt(math.sqrt(1 + self._names[action.name]))
        transition = (instance, state, action.label)
        fresh = transition not in self.coverage.transitions and not self.experience.knows(self.run, transition)
        if self.contrast is not None:
            leads = TELLING if self.contrast(instance, state, action) else 1.0
        else:
            untaken = any(one not in self.coverage.branches and not self._known[one] for one in branches)
            leads = UNTAKEN if untaken else 1.0
        return usual * seldom * (NEW if fresh else 1.0) * leads
