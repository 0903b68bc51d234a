"""Why no run explains the next event of a log: what the states are that were possible, and which conditions fail in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.checks.conformance.logs.explanation import Explanation, values
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.language import Action
from fencepost.traces.trace import State
from fencepost.traces.wording.explaining import explained
from fencepost.traces.wording.reasons import why_false

TRIED = 40
"""Possible states in which a guard is looked into, at most: the nearest of them is told."""

TOLD = 4
"""Actions, and values of a variable, that are told at most."""


def possible(kernel: Kernel, states: Words) -> dict[str, tuple[str, ...]]:
    """The variables that may have another value than at first in some of the states, with all that they may have."""
    first = {v.name: {v.domain.show(raw) for raw in v.initial} for v in kernel.packing.variables}
    return {name: shown for name, shown in values(kernel, states).items() if set(shown) != first[name]}


def why_not(kernel: Kernel, explanation: Explanation, width: int) -> list[str]:
    """Why no step of the model fits the next event, as lines of text."""
    event = explanation.next
    assert event is not None
    if explanation.after is not None:
        lines = ["a step fits, and what was seen does not:" if event.steps else "what was seen does not fit:"]
        can = values(kernel, explanation.after)
        for place, raw in event.seen:
            variable = kernel.packing.variables[place]
            seen, may = variable.domain.show(raw), can[variable.name]
            if may != (seen,):
                lines.append(f"  {variable.name} is {seen} in the log, and in the model {alternatives(may)}")
        return lines
    if not event.steps:
        return ["the instance has no such step"]
    lines = [] if len(event.steps) <= TOLD else [f"{count_of(len(event.steps), 'step')} would do; of the first {TOLD}:"]
    sample = [kernel.packing.unpack(state) for state in explanation.possible[:TRIED]]
    for number in event.steps[:TOLD]:
        lines += _nearest(kernel, kernel.actions[number], sample, width)
    return lines


def _nearest(kernel: Kernel, action: Action, states: Sequence[State], width: int) -> Iterator[str]:
    """Why the action cannot happen in the state in which the fewest of its conditions fail."""
    nearest = min(states, key=lambda state: len(why_false(kernel.protocol, action.guard, state).reasons))
    yield from explained(kernel.protocol, nearest, action, width).splitlines()


def alternatives(shown: Sequence[str]) -> str:
    """Values that a variable may have."""
    more = f" or one of {len(shown) - TOLD} more" if len(shown) > TOLD else ""
    return " or ".join(shown[:TOLD]) + more
