"""A trace: the actions and states of one run, with all that is needed to run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.code.packing import Words
from fencepost.properties.registry import Value

State = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One step: the label of the action that was taken, e.g. ``add(b0, e1)``, and the state after it."""

    action: str
    state: State


@dataclass(frozen=True)
class Loop:
    """How a run goes on for ever: from state ``start`` (its place among the trace's states) to the last, which is the same
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

    ``parameters`` and ``defects`` rebuild the instance from the ``protocol``'s name; ``violated`` names the property that the
    run violates (or, if it is a ``sometimes``, reaches), None for a run that is only of interest; ``found_by`` says how it was
    found, with the ``seed`` if that took one. A state has the raw values of the protocol's variables, in their order. A run
    that violates a ``leads_to`` has a ``loop``; any other is finite.
    """

    protocol: str
    initial: State
    steps: tuple[Step, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    defects: tuple[str, ...] = ()
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
    """The trace of a run of the kernel's protocol.

    ``states`` are packed, the initial one first; ``actions`` are the numbers of the actions between them, so there is one
    fewer. Raises ValueError if there is not.
    """
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
        defects=protocol.active,
        violated=violated,
        found_by=found_by,
        seed=seed,
        loop=loop,
    )
