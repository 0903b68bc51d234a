"""A run that differs, made as short as it can be: the real code takes every shorter one, which must differ in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.model.counts import count_of
from fencepost.model.kernel.search.paths import plain
from fencepost.traces.shrinking.runs import Packed, Run
from fencepost.traces.shrinking.shrinking import fewest_changes, fewest_steps

TRIES = 200
"""Runs that the code takes at most to make one shorter: a few seconds, and the last few steps are not worth more."""


class OnCode:
    """Tries runs on the real code: what they are to show is an outcome of the same kind."""

    def __init__(self, pair: Pair, sought: Outcome) -> None:
        self.pair, self.kernel = pair, pair.kernel
        self.best = sought
        self._kind = sought.kind
        self._tried: dict[tuple[int, ...], Run | None] = {}

    def tried(self, states: Sequence[Packed], taken: Sequence[int], rest: Sequence[int], loop: int | None) -> Run | None:
        """The run of these actions, as far as they are enabled, if the code differs in the same way; otherwise None."""
        key = (*taken, *rest)
        if key not in self._tried and len(self._tried) >= TRIES:
            return None
        if key not in self._tried:
            outcome = self.pair.follow([self.kernel.actions[n].label for n in key], lenient=True)
            # a step that the code takes by itself comes back when it is left out, and then nothing is won
            same = outcome.kind == self._kind and len(outcome.trace.steps) <= len(key)
            self._tried[key] = self.run(outcome) if same else None
            if same and len(outcome.trace.steps) <= len(self.best.trace.steps):
                self.best = outcome
        return self._tried[key]

    def run(self, outcome: Outcome) -> Run:
        """The run of an outcome as shrinking has it."""
        states = tuple(plain(self.kernel.packing.pack(state)) for state in outcome.trace.states)
        return Run(states, tuple(self.pair.numbers[step.action] for step in outcome.trace.steps))


def shortened(pair: Pair, outcome: Outcome, should_stop: Callable[[], bool] = lambda: False) -> Outcome:
    """The outcome of a run with fewer steps, and then fewer changes of actor, that differs in the same way.

    It is the shortest that so many tries (``TRIES``) find. If the run does not differ again the way it did, it is the outcome
    itself: then it depended on what came before it.
    """
    trial = OnCode(pair, outcome)
    first = trial.run(outcome)
    run = trial.tried(first.states[:1], (), first.actions, None)
    if run is None:
        return outcome
    run = fewest_changes(trial, fewest_steps(trial, run, should_stop), should_stop)
    again = pair.follow([pair.kernel.actions[n].label for n in run.actions], lenient=True)
    best = again if again.kind == outcome.kind else trial.best
    steps = len(outcome.trace.steps)
    shrunk = f"{outcome.trace.found_by}, shrunk from {count_of(steps, 'step')}"
    origin = shrunk if len(best.trace.steps) < steps else outcome.trace.found_by
    return replace(best, trace=replace(best.trace, found_by=origin, seed=outcome.trace.seed))
