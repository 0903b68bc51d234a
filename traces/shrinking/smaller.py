"""Smaller instances: a trace found again where its protocol has fewer bookies, entries, brokers, faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fencepost.model.counts import count_of
from fencepost.model.kernel.search.paths import plain
from fencepost.model.language import ModelError
from fencepost.properties.registry import Entry, Value, written
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.shrinking.runs import Aim, Run
from fencepost.traces.shrinking.shrinking import cost, fewest_changes, fewest_steps
from fencepost.traces.trace import Trace, trace_of

AGAIN = ", found again in a smaller instance"

MEMORY = 16 << 20
"""Bytes that the search of one smaller instance may take."""


@dataclass(frozen=True)
class Smaller:
    """A trace in the smallest instance in which it was found again, with the properties there.

    ``before`` are the parameters that it had, ``tried`` counts the instances that were looked at, ``stopped`` is whether it was
    interrupted. Prints as one line.
    """

    trace: Trace
    suite: Suite
    before: Mapping[str, Value]
    tried: int
    stopped: bool

    def __str__(self) -> str:
        after = self.trace.parameters
        lowered = [f"{n} {written(old)} -> {written(after[n])}" for n, old in self.before.items() if old != after[n]]
        steps = count_of(len(self.trace.steps), "step")
        text = f"in a smaller instance {steps}: {', '.join(lowered)}" if lowered else "in no smaller instance"
        many = f"{self.tried} instance{'s were' if self.tried != 1 else ' was'} tried"
        return f"{text}; interrupted after {many}" if self.stopped else f"{text}; {many}"


def in_smallest(
    trace: Trace,
    entry: Entry,
    *,
    telling: Callable[[str], None] = lambda line: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Smaller:
    """Lowers the numbers among a trace's parameters, one by one, until none can be lowered any further.

    The trace must replay, and violate (or reach) a property. In a smaller instance the same property must be violated, as
    expected or as unexpectedly as before, with the same bugs, and in no more steps and changes of actor: by the same
    actions, as far as they exist there, or else by what a search finds. Whatever is no number stays as it is. ``telling`` is
    told what is tried.
    """
    lowering = _Lowering(trace, entry, telling, should_stop)
    lowering.lower()
    return Smaller(lowering.best.trace, lowering.best.suite, trace.parameters, len(lowering.tried), should_stop())


@dataclass(frozen=True)
class _Candidate:
    """A trace in an instance, and its steps and changes of actor."""

    trace: Trace
    suite: Suite
    cost: tuple[int, int]


class _Lowering:
    """The instances that were tried, and the smallest in which the trace was found."""

    def __init__(self, trace: Trace, entry: Entry, telling: Callable[[str], None], should_stop: Callable[[], bool]) -> None:
        self.entry, self.telling, self.should_stop = entry, telling, should_stop
        self.tried: set[tuple[Value, ...]] = set()
        suite = entry.suite(entry.build(trace.parameters, trace.bugs))
        self.prop = suite.named(trace.violated or "")
        aim = Aim.within_slice(suite, self.prop)
        self.best = _Candidate(trace, suite, cost(aim, aim.started(trace)))

    def lower(self) -> None:
        numbers = [parameter.name for parameter in self.entry.parameters if parameter.type is int]
        while any(self._lowered(name) for name in numbers):
            pass

    def _lowered(self, name: str) -> bool:
        """Gives a parameter the smallest of some smaller values with which the trace is found again, if there is one."""
        parameters = self.best.trace.parameters
        current = int(parameters[name])
        for value in sorted(v for v in {0, 1, 2, current // 2, current - 1} if 0 <= v < current):
            chosen = {**parameters, name: value}
            if tuple(chosen.values()) in self.tried or self.should_stop():
                continue
            candidate = self._candidate(chosen)
            if candidate is not None and candidate.cost <= self.best.cost:
                self.best = candidate
                return True
        return False

    def _candidate(self, parameters: Mapping[str, Value]) -> _Candidate | None:
        """The trace in another instance, if there is such an instance and the trace is found there."""
        trace = self.best.trace
        try:
            suite = self.entry.suite(self.entry.build(parameters, trace.bugs))
            prop = suite.named(self.prop.name)
        except (ModelError, KeyError):
            return None
        if (prop.kind, bool(prop.strict)) != (self.prop.kind, bool(self.prop.strict)):
            return None
        self.tried.add(tuple(parameters.values()))
        self.telling(" ".join(f"{name}={written(value)}" for name, value in parameters.items()))
        aim = Aim.within_slice(suite, prop)
        run = self._retaken(aim) or self._searched(aim, prop)
        if run is None:
            return None
        run = fewest_changes(aim, fewest_steps(aim, run, self.should_stop), self.should_stop)
        states = [aim.unpacked(state) for state in run.states]
        found_by = trace.found_by if trace.found_by.endswith(AGAIN) else f"{trace.found_by}{AGAIN}"
        smaller = trace_of(
            aim.kernel, states, run.actions, violated=prop.name, found_by=found_by, seed=trace.seed, loop=aim.loop(run)
        )
        return _Candidate(smaller, suite, cost(aim, run))

    def _retaken(self, aim: Aim) -> Run | None:
        """The run of the trace's own actions, of those that there are, in another instance."""
        trace = self.best.trace
        numbers = {action.label: number for number, action in enumerate(aim.kernel.actions)}
        actions = [numbers[step.action] for step in trace.steps if step.action in numbers]
        stem = trace.steps[: trace.loop.start] if trace.loop else ()
        loop = sum(step.action in numbers for step in stem) if trace.loop else None
        tried = (aim.tried((plain(start),), (), actions, loop) for start in aim.kernel.initial())
        return next((run for run in tried if run is not None), None)

    def _searched(self, aim: Aim, prop: Property) -> Run | None:
        """A shortest run that is no longer than the trace, if a search finds one; lassos are not searched for."""
        if prop.kind == "leads_to":
            return None
        last = len(self.best.trace.steps)
        result = aim.search(last, MEMORY, should_stop=self.should_stop)
        find = min(result.violations, key=lambda find: find.depth, default=None)
        if find is None or find.depth > last:
            return None
        path = result.path(find, 1)
        return Run(path.states, path.actions)
