"""Runs that never end: what their loop leaves out, whether it is fair, and whether what was promised never comes."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.packing import Words
from fencepost.properties.vocabulary import Property
from fencepost.traces.trace import Loop


def loop_from(kernel: Kernel, prop: Property, states: Sequence[Words], actions: Sequence[int], start: int) -> Loop:
    """The loop of a run from place ``start`` to its end, with the actions that it leaves out."""
    enabled = {action for state in states[start:] for action in kernel.enabled(state)}
    left = [kernel.actions[number] for number in sorted(enabled - set(actions[start:]))]
    return Loop(
        start,
        starved=tuple(action.label for action in left if prop.obliges(action)),
        unobliged=tuple(action.label for action in left if not prop.obliges(action)),
    )


def flaw(kernel: Kernel, prop: Property, states: Sequence[Words], actions: Sequence[int], loop: Loop) -> str:
    """What keeps a run from violating a ``leads_to``; empty if it does.

    The kernel observes the property's premises and conclusions, in turn. The run must have been taken already: only that it
    goes on forever, fairly, and without the conclusion that a premise calls for, is looked at here.
    """
    if (states[loop.start] != states[-1]).any():
        return f"the loop does not close: the last state is not state {loop.start}"
    unfair = _unfair(kernel, prop, states[loop.start :], set(actions[loop.start :]))
    if unfair:
        return f"the loop is not fair: {unfair} is enabled all the time and never taken"
    whole = loop_from(kernel, prop, states, actions, loop.start)
    if whole != loop:
        return f"the loop leaves out other actions than it says: {', '.join(whole.starved + whole.unobliged) or 'none'}"
    held = [set(kernel.observe(state)) for state in states]
    if any(_unfulfilled(held, 2 * pair, loop.start) for pair in range(len(prop.leads))):
        return ""
    return f"{prop.name} is not violated: whenever a premise holds, its conclusion holds then or later"


def _unfair(kernel: Kernel, prop: Property, states: Sequence[Words], taken: set[int]) -> str:
    always = set.intersection(*(set(kernel.enabled(state)) for state in states))
    unfair = [kernel.actions[number] for number in sorted(always - taken)]
    return next((action.label for action in unfair if prop.obliges(action)), "")


def _unfulfilled(held: Sequence[set[int]], premise: int, loop: int) -> bool:
    """Whether the premise holds somewhere and the conclusion, numbered one higher, neither there nor anywhere later."""
    if any(premise + 1 in formulas for formulas in held[loop:]):
        return False
    fulfilled = max((place for place, formulas in enumerate(held) if premise + 1 in formulas), default=-1)
    return any(premise in formulas for formulas in held[fulfilled + 1 :])
