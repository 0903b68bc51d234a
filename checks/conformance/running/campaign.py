"""Many runs of a protocol on real code: what they covered, and in what the two differ, by runs as short as can be."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from fencepost.checks.conformance.java_side.session import SessionError, taking_turns
from fencepost.checks.conformance.running.adapter import Adapter, Seen
from fencepost.checks.conformance.running.branches import Branch, Branches
from fencepost.checks.conformance.running.choosing import FREE, WINDOW, Chooser, Contrast, Coverage, Experience
from fencepost.checks.conformance.running.pair import Choose, Outcome, Pair
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.paths import plain
from fencepost.model.language import Action, Protocol
from fencepost.traces.shrinking.runs import Packed, Run
from fencepost.traces.shrinking.shrinking import fewest_changes, fewest_steps
from fencepost.traces.trace import State

Taken = TypeVar("Taken")


def in_order(
    take: Callable[[int, int], Taken],
    count: Callable[[Taken], bool],
    runs: int,
    *,
    workers: int,
    ahead: int,
    should_stop: Callable[[], bool],
) -> bool:
    """Has workers take runs, each by ``take(worker, run)``, and counts these one after the other, until ``count`` says no.

    A run begins when all but the ``ahead`` before it are counted. Workers are threads that take turns: only one goes on at a
    time, while the others wait for answers of the code. Returns whether it was ``should_stop`` that ended it. Raises what a
    worker raises; the others then end with the run that they are at.
    """
    lock = threading.Lock()
    changed = threading.Condition(lock)
    taken: dict[int, Taken] = {}
    begun = counted = 0
    stopped = enough = False

    def due() -> bool:
        return not (stopped or enough) and begun < runs

    def next_one() -> bool:
        return not due() or begun < counted + ahead

    def work(worker: int) -> None:
        nonlocal begun, counted, stopped, enough
        with taking_turns(lock):
            try:
                while True:
                    changed.wait_for(next_one)
                    stopped = stopped or (due() and should_stop())
                    if not due():
                        return
                    run, begun = begun, begun + 1
                    taken[run] = take(worker, run)
                    while not enough and counted in taken:
                        enough = not count(taken.pop(counted))
                        counted += 1
                    changed.notify_all()
            except BaseException:
                enough = True
                raise
            finally:
                changed.notify_all()

    with ThreadPoolExecutor(max(1, workers - 1)) as pool:
        others = [pool.submit(work, worker) for worker in range(1, workers)]
        work(0)
    for other in others:
        other.result()
    return stopped


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


KEPT = 10
"""Finds that are shrunk and kept; of further ones only the number is told."""


@dataclass
class Result:
    """What a campaign found.

    ``differing`` are the finds, one of each kind, shrunk; ``known`` counts the runs that met a deviation that has a name;
    ``unexplained`` the runs of which a find is one. ``examples`` has the first run of each known deviation, ``not_covered`` the
    traces that could not be taken to their end. ``seconds`` is what the runs took, shrinking left out; ``first`` has the
    seconds and the steps of the first one, with which the harness starts. ``branches`` are all those of the instances' actions.
    ``failed`` says why the harness failed, if it did: the runs before that count.
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
    first: tuple[float, int] = (0.0, 0)
    branches: frozenset[Branch] = frozenset()
    interrupted: bool = False
    failed: str = ""

    def rate(self, *, started: bool = False) -> float:
        """Steps a second; with ``started`` without the first run, and so without the start of the harness."""
        seconds, steps = self.first if started and self.runs > 1 else (0.0, 0)
        return (self.steps - steps) / max(self.seconds - seconds, 1e-3)

    @property
    def agrees(self) -> bool:
        """Whether no difference is left unexplained."""
        return not self.unexplained

    def outcomes(self) -> list[Outcome]:
        """A run of each way in which the two differ, those that are known last; and any that could not be taken to its end."""
        return [*self.differing, *self.not_covered, *(self.examples[name] for name in sorted(self.examples))]

    def untaken_branches(self) -> list[Branch]:
        """The branches of actions that were taken, which no step took."""
        names = self.coverage.names()
        return sorted(branch for branch in self.branches - self.coverage.branches if names[branch[0]])

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
    besides: Sequence[Adapter] = (),
    weights: Mapping[str, float] | None = None,
    without: Sequence[Protocol] = (),
    stop_after: int = KEPT,
    shrink: bool = True,
    progress: Callable[[Result], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Takes ``runs`` random runs of up to ``steps`` chosen steps, of the instances in turn.

    It is a pure function of its arguments and of what the code does. ``besides`` are further adapters to the same code, which
    take runs at the same time; what comes out does not depend on how many there are. ``without`` are the same instances
    without the bugs that are switched on: then runs are steered to where the bugs show. After ``stop_after`` kinds of
    finds it ends; unless ``shrink`` is false they are then made as short as they can be. It also ends if a harness fails.
    """
    branches = [Branches(protocol) for protocol in instances]
    result = Result(instances, branches=frozenset[Branch]().union(*(each.every for each in branches)))
    experience = Experience()
    kernels = [Kernel(protocol) for protocol in instances]
    pairs = [[Pair(kernel, each) for kernel in kernels] for each in (adapter, *besides)]
    contrast = Contrast(kernels, [Kernel(protocol) for protocol in without]) if without else None
    kinds: set[tuple[str, ...]] = set()
    places: list[int] = []
    started = time.monotonic()

    def take(worker: int, run: int) -> tuple[int, Outcome, Coverage]:
        place = run % len(instances)
        chooser = Chooser(seed, run, experience, weights or {}, branches, contrast)
        if (number := run // len(instances)) >= FREE and number % 2:
            chooser.seek(place)
        pair = pairs[worker][place]
        outcome = pair.choose(_chosen(pair, place, chooser), steps, found_by="conformance", seed=seed)
        chooser.coverage.branches |= branches[place].of_run(outcome.trace)
        return place, outcome, chooser.coverage

    def count(taken: tuple[int, Outcome, Coverage]) -> bool:
        place, outcome, coverage = taken
        experience.add(coverage)
        result.coverage.add(coverage)
        _count(outcome, result, adapter)
        if not outcome.explained and outcome.kind not in kinds:
            kinds.add(outcome.kind)
            places.append(place)
            result.differing.append(outcome)
        result.seconds = time.monotonic() - started
        if result.runs == 1:
            result.first = result.seconds, result.steps
        if progress is not None:
            progress(result)
        return len(result.differing) < stop_after

    try:
        result.interrupted = in_order(take, count, runs, workers=len(pairs), ahead=WINDOW, should_stop=should_stop)
        if shrink:
            runs_apart = zip(places, result.differing, strict=True)
            result.differing = [shortened(pairs[0][place], outcome, should_stop) for place, outcome in runs_apart]
    except SessionError as error:
        result.failed = str(error)
    return result


def single(pair: Pair, labels: Sequence[str]) -> Result:
    """Takes one run, that of the steps with these labels. Raises SessionError if the harness fails."""
    branches = Branches(pair.protocol)
    result = Result([pair.protocol], branches=branches.every)
    started = time.monotonic()
    outcome = pair.follow(labels)
    _count(outcome, result, pair.adapter)
    for state, step in zip(outcome.trace.states, outcome.trace.steps, strict=False):
        if step.action.partition("(")[0] not in pair.adapter.eager:
            result.coverage.taken[step.action] += 1
        result.coverage.transitions.add((0, state, step.action))
    result.coverage.branches |= branches.of_run(outcome.trace)
    if not outcome.explained:
        result.differing.append(outcome)
    result.seconds = time.monotonic() - started
    return result


def _chosen(pair: Pair, place: int, chooser: Chooser) -> Choose:
    """Chooses among what the code should be able to take, and counts it."""

    def choose(state: State, actions: Sequence[Action], seen: Seen) -> Action | None:
        left = list(actions)
        chooser.coverage.seen.update(action.name for action in actions)
        while left:
            action = chooser(place, state, left)
            allowance = pair.allowed_only(action, state, seen)
            if not allowance:
                chooser.took(place, state, action)
                return action
            chooser.coverage.passed_over[allowance] += 1
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
