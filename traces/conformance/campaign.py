"""Many runs of a protocol on real code: what they covered, and in what the two differ."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.model.kernel import Kernel
from fencepost.model.language import Action, Protocol
from fencepost.traces.conformance.adapter import Adapter, Seen
from fencepost.traces.conformance.choosing import Chooser, Contrast, Coverage
from fencepost.traces.conformance.running import Choose, Outcome, Pair
from fencepost.traces.conformance.shortening import shortened
from fencepost.traces.trace import State

KEPT = 10
"""Finds that are shrunk and kept; of further ones only the number is told."""


@dataclass
class Result:
    """What a campaign found.

    ``differing`` are the finds, one of each kind, shrunk; ``known`` counts the runs that met a deviation that has a name;
    ``unexplained`` the runs of which a find is one. ``examples`` has the first run of each known deviation, ``not_covered`` the
    traces that could not be taken to their end.
    """

    instances: Sequence[Protocol]
    coverage: Coverage = field(default_factory=Coverage)
    runs: int = 0
    steps: int = 0
    agreeing: int = 0
    unexplained: int = 0
    known: Counter[str] = field(default_factory=Counter)
    not_covered: list[Outcome] = field(default_factory=list)
    examples: dict[str, Outcome] = field(default_factory=dict)
    differing: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def agrees(self) -> bool:
        """Whether no difference is left unexplained."""
        return not self.unexplained

    def found(self) -> list[Outcome]:
        """A run of each way in which the two differ, those that are known last; and any that could not be taken to its end."""
        return [*self.differing, *self.not_covered, *(self.examples[name] for name in sorted(self.examples))]

    def actions(self) -> list[str]:
        """The names of all actions of the instances, in their order."""
        return list(dict.fromkeys(action.name for protocol in self.instances for action in protocol.actions))

    def grounded(self) -> int:
        """How many actions with parameters the instances have together."""
        return len({action.label for protocol in self.instances for action in protocol.actions})


def campaign(
    instances: Sequence[Protocol],
    adapter: Adapter,
    *,
    runs: int,
    steps: int,
    seed: int,
    weights: Mapping[str, float] | None = None,
    without: Sequence[Protocol] = (),
    stop_after: int = KEPT,
    shrink: bool = True,
    progress: Callable[[Result], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Takes ``runs`` random runs of up to ``steps`` chosen steps, of the instances in turn.

    It is a pure function of its arguments and of what the code does. ``without`` are the same instances without the defects
    that are switched on: then runs are steered to where the defects show. After ``stop_after`` kinds of finds it ends; unless
    ``shrink`` is false they are made as short as they can be. Raises SessionError if the harness fails.
    """
    result = Result(instances)
    pairs = [Pair(Kernel(protocol), adapter) for protocol in instances]
    contrast = Contrast([pair.kernel for pair in pairs], [Kernel(protocol) for protocol in without]) if without else None
    chooser = Chooser(seed, result.coverage, weights, contrast)
    kinds: set[tuple[str, ...]] = set()
    started = time.monotonic()
    for run in range(runs):
        if should_stop():
            result.interrupted = True
            break
        place = run % len(pairs)
        chooser.start(run)
        outcome = pairs[place].choose(_chosen(pairs[place], place, chooser, result), steps, found_by="conformance", seed=seed)
        _count(outcome, result, adapter)
        if not outcome.explained and outcome.kind not in kinds:
            kinds.add(outcome.kind)
            result.differing.append(shortened(pairs[place], outcome, should_stop) if shrink else outcome)
        result.seconds = time.monotonic() - started
        if progress is not None:
            progress(result)
        if len(result.differing) >= stop_after:
            break
    return result


def single(pair: Pair, labels: Sequence[str]) -> Result:
    """Takes one run, that of the steps with these labels. Raises SessionError if the harness fails."""
    result = Result([pair.protocol])
    started = time.monotonic()
    outcome = pair.follow(labels)
    _count(outcome, result, pair.adapter)
    for state, step in zip(outcome.trace.states, outcome.trace.steps, strict=False):
        if step.action.partition("(")[0] not in pair.adapter.eager:
            result.coverage.taken[step.action] += 1
        result.coverage.transitions.add((0, state, step.action))
    if not outcome.explained:
        result.differing.append(outcome)
    result.seconds = time.monotonic() - started
    return result


def _chosen(pair: Pair, place: int, chooser: Chooser, result: Result) -> Choose:
    """Chooses among what the code should be able to take, and counts it."""

    def choose(state: State, actions: Sequence[Action], seen: Seen) -> Action | None:
        left = list(actions)
        result.coverage.seen.update(action.name for action in actions)
        while left:
            action = chooser(place, state, left)
            allowance = pair.allowed_only(action, state, seen)
            if not allowance:
                chooser.took(place, state, action)
                return action
            result.coverage.passed_over[allowance] += 1
            left.remove(action)
        return None

    return choose


def _count(outcome: Outcome, result: Result, adapter: Adapter) -> None:
    result.runs += 1
    result.steps += len(outcome.trace.steps)
    if outcome.verdict == "agrees":
        result.agreeing += 1
    elif outcome.verdict == "not covered":
        result.not_covered.append(outcome)
    elif outcome.known:
        result.known[outcome.known] += 1
        result.examples.setdefault(outcome.known, outcome)
    else:
        result.unexplained += 1
    for step in outcome.trace.steps:
        if step.action.partition("(")[0] in adapter.eager:
            result.coverage.taken[step.action] += 1  # the others were counted as they were chosen
