"""A trace: the actions and states of one run, with all that is needed to run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.properties.registry import Value

if TYPE_CHECKING:
    from fencepost.model.kernel import Kernel
    from fencepost.model.kernel.compiler.packing import Words

State = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One step: the label of the action that was taken, e.g. ``add(b0, e1)``, and the state after it."""

    action: str
    state: State


@dataclass(frozen=True)
class Loop:
    """How a run goes on forever: from state ``start`` (its place among the trace's states) to the last, which is the same
    state again, and then once more. A loop without a step, whose start is the last state, is a run that stops there.

    ``starved`` are the labels of the actions that the run is fair to without taking them: enabled in the loop, but not all the
    time. ``unobliged`` are those that are enabled in it and never taken, and that nothing obliges the run to take.
    """

    start: int
    starved: tuple[str, ...] = ()
    unobliged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """One run of a protocol from an initial state.

    ``parameters`` and ``bugs`` rebuild the instance from the ``protocol``'s name; ``violated`` names the property that the
    run violates (or, if it is a ``sometimes``, reaches), None for a run that is only of interest; ``found_by`` says how it was
    found, with the ``seed`` if that took one. A state has the raw values of the protocol's variables, in their order. A run
    that violates a ``leads_to`` has a ``loop``; any other is finite.
    """

    protocol: str
    initial: State
    steps: tuple[Step, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    bugs: tuple[str, ...] = ()
    violated: str | None = None
    found_by: str = ""
    seed: int | None = None
    loop: Loop | None = None

    @property
    def states(self) -> tuple[State, ...]:
        """Every state, the initial one first."""
        return (self.initial, *(step.state for step in self.steps))


def trace_of(
    kernel: Kernel,
    states: Sequence[Words],
    actions: Sequence[int],
    *,
    violated: str | None = None,
    found_by: str = "",
    seed: int | None = None,
    loop: Loop | None = None,
) -> Trace:
    """The trace of a run of the kernel's protocol or, if that is a slice, of the run of the whole by the same actions.

    ``states`` are packed, the initial one first; ``actions`` are the numbers of the actions between them, so there is one
    fewer. Raises ValueError if there is not.
    """
    if kernel.protocol.whole is not kernel.protocol:
        kernel, states, actions = _in_the_whole(kernel, states, actions)
    raw = [kernel.packing.unpack(state) for state in states]
    return trace_of_raw(kernel, raw, actions, violated=violated, found_by=found_by, seed=seed, loop=loop)


def trace_of_raw(
    kernel: Kernel,
    raw: Sequence[State],
    actions: Sequence[int],
    *,
    violated: str | None = None,
    found_by: str = "",
    seed: int | None = None,
    loop: Loop | None = None,
) -> Trace:
    """The same of states that are not packed."""
    if len(raw) != len(actions) + 1:
        raise ValueError(f"{len(actions)} actions lead through {len(actions) + 1} states, not {len(raw)}")
    protocol = kernel.protocol
    labels = [kernel.actions[number].label for number in actions]
    return Trace(
        protocol=protocol.name,
        initial=raw[0],
        steps=tuple(Step(label, state) for label, state in zip(labels, raw[1:], strict=True)),
        parameters=dict(protocol.parameters),
        bugs=protocol.active,
        violated=violated,
        found_by=found_by,
        seed=seed,
        loop=loop,
    )


def _in_the_whole(part: Kernel, states: Sequence[Words], actions: Sequence[int]) -> tuple[Kernel, list[Words], list[int]]:
    """A slice's run in the whole protocol: from an initial state that agrees on what is kept, each action taken again there."""
    from fencepost.model.kernel import Kernel  # to read a trace takes none

    whole = Kernel(part.protocol.whole)
    numbers = {action.label: number for number, action in enumerate(whole.actions)}
    first = _values(part, states[0])
    initial = [first.get(v.name, v.initial[0]) for v in whole.protocol.variables]
    run, taken = [whole.packing.pack(initial)], [numbers[part.actions[number].label] for number in actions]
    for action, state in zip(taken, states[1:], strict=True):
        enabled = action in whole.enabled(run[-1])
        run.append(whole.apply(run[-1], action))
        if not enabled or not _values(part, state).items() <= _values(whole, run[-1]).items():
            raise AssertionError(f"{whole.actions[action].label} is not in the whole what it is in the slice")
    return whole, run, taken


def _values(kernel: Kernel, state: Words) -> dict[str, int]:
    names = (variable.name for variable in kernel.protocol.variables)
    return dict(zip(names, kernel.packing.unpack(state), strict=True))
