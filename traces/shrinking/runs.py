"""Runs of a compiled protocol, tried out: taken as far as their actions are enabled, and judged by one property."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.results import Limits, Progress, Result, Sought
from fencepost.model.kernel.search.search import least_memory, search
from fencepost.properties.observed import Observed
from fencepost.properties.slices import slice_for
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.lassos import flaw, loop_from
from fencepost.traces.trace import Loop, Trace

Packed = tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """Packed states, the numbers of the actions between them, and the place of the state to which a lasso returns."""

    states: tuple[Packed, ...]
    actions: tuple[int, ...]
    loop: int | None = None


class Trial(Protocol):
    """What tries runs out: ``tried`` is as of ``Aim``, which judges by a property; others judge by what real code does."""

    kernel: Kernel

    def tried(self, states: Sequence[Packed], taken: Sequence[int], rest: Sequence[int], loop: int | None) -> Run | None: ...


class Aim:
    """What a run is to show: the violation of one property (or, of a ``sometimes``, that it is reached)."""

    def __init__(self, kernel: Kernel, prop: Property, observed: Observed | None) -> None:
        self.kernel, self.prop = kernel, prop
        self.alarm = _numbers(prop, observed.states | observed.goals) if observed else []
        self.step_alarm = _numbers(prop, observed.steps) if observed else []
        self.may_end = next(iter(_numbers(prop, observed.may_end)), None) if observed else None
        # a run that is shrunk comes by the same few states again and again
        self.after = cache(self._after)
        self._enabled = cache(lambda state: frozenset(kernel.enabled(self.unpacked(state))))
        self._observed = cache(lambda state: frozenset(kernel.observe(self.unpacked(state))))
        self._observed_step = cache(lambda *step: frozenset(kernel.observe_step(*map(self.unpacked, step))))

    @classmethod
    def of(cls, suite: Suite, prop: Property, observed: Observed | None = None) -> Aim:
        """The aim of violating the property, on a kernel that is compiled unless one that observes it is given."""
        if prop.kind == "leads_to":
            return cls(Kernel(suite.protocol, [formula for lead in prop.leads for formula in lead]), prop, None)
        observed = observed or Observed.of(suite, [prop])
        return cls(observed.kernel, prop, observed)

    @classmethod
    def within_slice(cls, suite: Suite, prop: Property) -> Aim:
        """The aim on what the property can see of the protocol, where that decides it. A run there is one of the whole protocol
        by the same actions."""
        return cls.of(suite, prop, Observed.of(suite, [prop], within=slice_for(suite.protocol, [prop])))

    @staticmethod
    def unpacked(state: Packed) -> Words:
        """The state as the kernel takes it."""
        return np.array(state, dtype=np.uint64)

    def _after(self, state: Packed, action: int) -> Packed | None:
        """The state after an action; None if it is not enabled."""
        return plain(self.kernel.apply(self.unpacked(state), action)) if action in self._enabled(state) else None

    def search(
        self,
        depth: int,
        memory: int,
        *,
        start: Packed | None = None,
        progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Searches all runs of up to so many steps, from the initial states or from ``start``, for one that shows it and does
        not go on forever, as far as that many bytes go; a search that takes more to begin with takes that."""
        deadlock = self.prop.kind == "deadlock"  # is noticed only as the level of the deadlock is expanded
        return search(
            self.kernel,
            Sought(self.alarm, self.step_alarm, may_end=self.may_end, stop_on_deadlock=deadlock),
            start=None if start is None else self.unpacked(start)[np.newaxis],
            workers=1,  # where memory ends depends on their number
            limits=Limits(memory=max(memory, least_memory(self.kernel, 1)), depth=depth + deadlock),
            progress=progress,
            should_stop=should_stop,
        )

    def started(self, trace: Trace) -> Run:
        """The run of a trace of the whole protocol, up to where it first shows what it is to, without the steps that a slice
        leaves out; ValueError if it never does."""
        numbers = {action.label: number for number, action in enumerate(self.kernel.actions)}
        actions = [numbers.get(step.action, -1) for step in trace.steps]
        values = dict(zip(self.kernel.protocol.whole.variables, trace.initial, strict=True))
        start = plain(self.kernel.packing.pack([values[variable] for variable in self.kernel.protocol.variables]))
        run = self.tried((start,), (), actions, trace.loop.start if trace.loop else None)
        if run is None:
            raise ValueError(f"its steps do not lead to what it says of {self.prop.name}")
        return run

    def tried(self, states: Sequence[Packed], taken: Sequence[int], rest: Sequence[int], loop: int | None) -> Run | None:
        """The run that goes on from one through those actions of ``rest`` that are enabled when their turn comes.

        It ends as soon as it shows what it is to; None if it never does. ``loop`` is the number of actions, with those already
        taken, after which a lasso is to begin; the state there must then be that at the end again.
        """
        path, actions = list(states), list(taken)
        start = None if loop is None else min(loop, len(taken))
        if loop is None and self.shown(path, actions):
            return Run(tuple(path), tuple(actions))
        for place, action in enumerate(rest, start=len(taken)):
            after = self.after(path[-1], action)
            if after is None:
                continue
            path.append(after)
            actions.append(action)
            if loop is None and self.shown(path, actions):
                return Run(tuple(path), tuple(actions))
            if loop is not None and place < loop:
                start = len(actions)
        if start is None or path[start] != path[-1]:
            return None
        run = Run(tuple(path), tuple(actions), start)
        return run if self._fair_and_unfulfilled(run) else None

    def shown(self, path: Sequence[Packed], actions: Sequence[int]) -> bool:
        """Whether a run that does not go on forever shows it at its end; only its last states and action matter."""
        if self.prop.kind == "step":
            return bool(actions) and not self._observed_step(path[-2], path[-1]).isdisjoint(self.step_alarm)
        if self.prop.kind == "deadlock":
            return not self._enabled(path[-1]) and self.may_end not in self._observed(path[-1])
        return not self._observed(path[-1]).isdisjoint(self.alarm)

    def _fair_and_unfulfilled(self, run: Run) -> bool:
        loop = self.loop(run)
        assert loop is not None
        return not flaw(self.kernel, self.prop, self._words(run), run.actions, loop)

    def loop(self, run: Run) -> Loop | None:
        """The loop of a lasso, with the actions that it leaves out; None for a run that ends."""
        return None if run.loop is None else loop_from(self.kernel, self.prop, self._words(run), run.actions, run.loop)

    def _words(self, run: Run) -> list[Words]:
        return [self.unpacked(state) for state in run.states]


def _numbers(prop: Property, observed: Mapping[int, Property]) -> list[int]:
    return [number for number, p in observed.items() if p.name == prop.name]
