"""The transitions of an instance, each with a code and a weight that decide its rate: other numbers need no new graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.loops import native
from fencepost.model.kernel.compiler.packing import Floats, Integers, Places
from fencepost.model.kernel.search.graph import graph_of
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.model.language import Or, Protocol
from fencepost.model.language.declarations import Action
from fencepost.model.odds.clocks import Clock, Kind, clock_of, clocked, shared
from fencepost.model.odds.laws import STAGES
from fencepost.model.odds.numbers import Numbers
from fencepost.model.terms.values import Truth, condition

Flags = npt.NDArray[np.bool_]


class InstanceError(Exception):
    """An instance of which no odds can be computed; the message says why."""


@dataclass(frozen=True)
class Transitions:
    """States and transitions of an instance.

    The transitions of state ``s`` are ``rows[s]`` up to ``rows[s + 1]`` of ``targets``, ``codes`` (the number of the action)
    and ``weights`` (by which the rate of the action is multiplied). ``first`` says of each state whether the message is lost
    that opens the cycle, ``older`` whether it is or one before it. States of one number in ``unstaged`` are stages of one
    state, in which a timer runs.
    """

    actions: Sequence[Action]
    rows: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int32]
    codes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    first: Flags
    older: Flags
    unstaged: npt.NDArray[np.int32]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.rows) - 1


Lost = Callable[[Protocol, int], Truth]
"""The formula that a message, or an entry, of that number is lost."""


def kernel_of(p: Protocol, lost: Lost, opens: int) -> Kernel:
    """The kernel of an instance without what never happens by itself, which observes whether the message that opens the cycle
    or one before it is lost, and whether that one is. Raises UnclockedError."""
    p.actions = clocked(p)
    return Kernel(p, [Or(*(lost(p, m) for m in range(opens + 1))), condition(lost(p, opens))])


def transitions(p: Protocol, numbers: Numbers, lost: Lost, opens: int, *, workers: int | None = None) -> Transitions:
    """Searches an instance to its end. Actions that never happen by themselves are left out of it.

    ``opens`` is the number of the message that opens a cycle. Raises InstanceError if the search does not end within its
    memory, UnclockedError if it is not known what some action takes.
    """
    kernel = kernel_of(p, lost, opens)
    actions = kernel.actions
    limits = Limits()
    result = search(kernel, workers=workers, limits=limits, recording=limits.memory)
    graph = graph_of(result, workers=workers) if result.outcome == "exhausted" else None
    if graph is None:
        raise InstanceError(f"{p.name}: the search ended before its end ({result.outcome})")
    codes, clocks = graph.actions.astype(np.int32), np.array(shared(actions), np.int32)
    endings = np.array([clock_of(numbers.of(a.takes), numbers).kind == Kind.ENDING for a in actions])
    clocks[endings] = -1  # an outage ends in one of these ways
    weights = np.empty(len(codes))
    _share(graph.rows, codes, clocks, weights)
    each = np.arange(len(graph.rows) - 1, dtype=np.int32)
    whole = Transitions(actions, graph.rows, graph.targets, codes, weights, graph.holds(1), graph.holds(0), each)
    timers = [clock_of(numbers.of(a.takes), numbers).law == "timer" for a in actions]
    for clock in sorted({int(c) for c, timer in zip(clocks, timers, strict=True) if timer}):
        whole = _staged(whole, clocks == clock, STAGES)
    return whole


@native
def _share(rows: Integers, codes: Places, clocks: Places, weights: Floats) -> None:
    """Writes of each transition one over the number of those of its state that have the same clock."""
    for state in range(len(rows) - 1):
        for edge in range(rows[state], rows[state + 1]):
            count = 0
            for other in range(rows[state], rows[state + 1]):
                if clocks[codes[other]] == clocks[codes[edge]]:
                    count += 1
            weights[edge] = 1.0 / count


def _staged(t: Transitions, is_timer: Flags, stages: int) -> Transitions:
    """The same with one timer in stages: where it runs a state is one for each stage, and it starts again where it did not."""
    timed = is_timer[t.codes]
    runs = np.zeros(t.states, np.bool_)
    runs[np.repeat(np.arange(t.states), np.diff(t.rows))[timed]] = True
    starts = np.zeros(t.states + 1, np.int64)
    np.cumsum(np.where(runs, stages, 1), out=starts[1:])
    rows = np.zeros(starts[-1] + 1, np.int64)
    _stage(t.rows, t.targets, t.codes, t.weights, is_timer, runs, starts, rows, t.targets, t.codes, t.weights, False)
    np.cumsum(rows, out=rows)
    targets, codes, weights = np.empty(rows[-1], np.int32), np.empty(rows[-1], np.int32), np.empty(rows[-1], np.float64)
    _stage(t.rows, t.targets, t.codes, t.weights, is_timer, runs, starts, rows, targets, codes, weights, True)
    state = np.repeat(np.arange(t.states), np.diff(starts))
    return Transitions(t.actions, rows, targets, codes, weights, t.first[state], t.older[state], t.unstaged[state])


@native
def _stage(
    rows: Integers,
    targets: Places,
    codes: Places,
    weights: Floats,
    is_timer: Flags,
    runs: Flags,
    starts: Integers,
    new_rows: Integers,
    new_targets: Places,
    new_codes: Places,
    new_weights: Floats,
    writes: bool,
) -> None:
    """Counts the transitions of each staged state to the row behind it; or, if it ``writes``, writes them to their rows."""
    for state in range(len(rows) - 1):
        stages = starts[state + 1] - starts[state]
        for stage in range(stages):
            at = starts[state] + stage
            place = new_rows[at]
            for edge in range(rows[state], rows[state + 1]):
                target, code = targets[edge], codes[edge]
                if is_timer[code]:
                    to = starts[target] if stage == stages - 1 else at + 1
                else:
                    to = starts[target] + (stage if runs[state] and runs[target] else 0)
                if writes:
                    new_targets[place], new_codes[place] = to, code
                    new_weights[place] = weights[edge] * stages if is_timer[code] else weights[edge]
                place += 1
            if not writes:
                new_rows[at + 1] = place - new_rows[at]


def rates_of(actions: Sequence[Action], numbers: Numbers) -> tuple[list[Clock], npt.NDArray[np.float64]]:
    """The clock of each action, and the rates per ms by code: of the actions, and behind them of an outage's beginning, of its
    end where nothing ends with it, and of its end beside what does."""
    clocks = [clock_of(numbers.of(action.takes), numbers) for action in actions]
    ends, fails = 1.0 / numbers["outage"], numbers["outage_fails"]
    begins = clock_of(numbers.of("outages"), numbers).rate
    of_actions = [clock.rate * ends if clock.kind == Kind.ENDING else clock.rate for clock in clocks]
    return clocks, np.array([*of_actions, begins, ends, (1.0 - fails) * ends])
