"""Replaying a trace: every step of it is taken again by the protocol, and must lead where the trace says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.model.language.domains import Domain
from fencepost.properties.registry import Entry, find
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.lassos import flaw
from fencepost.traces.trace import State, Trace


@dataclass(frozen=True)
class Replay:
    """What replaying a trace showed.

    ``replays`` is whether all of it held; otherwise ``step`` is the first step that did not (0 is the initial state) and
    ``why`` says what was wrong. Prints as one line.
    """

    replays: bool
    step: int
    why: str

    def __str__(self) -> str:
        return f"replays: {self.why}" if self.replays else f"does not replay: step {self.step}: {self.why}"


def replay(trace: Trace, protocols: Mapping[str, Entry]) -> Replay:
    """Replays a trace on the instance rebuilt from its protocol's name, its parameters and its bugs.

    Raises RegistryError or ModelError if there is no such instance.
    """
    entry = find(trace.protocol, protocols)
    protocol = entry.build(trace.parameters, trace.bugs)
    return replay_on(trace, protocol, entry.suite(protocol))


def replay_on(trace: Trace, protocol: Protocol, suite: Suite) -> Replay:
    """Replays a trace on an instance that is already built."""
    violated = None
    if trace.violated is not None:
        try:
            violated = suite.named(trace.violated)
        except KeyError:
            return Replay(False, 0, f"{protocol.name} has no property {trace.violated!r}")
    stray = _not_initial(protocol, trace.initial)
    if stray:
        return Replay(False, 0, stray)
    if violated is not None and (trace.loop is None) == (violated.kind == "leads_to"):
        speaks = "runs that never end, and this one ends" if trace.loop is None else "runs that end, and this one does not"
        return Replay(False, len(trace.steps), f"{violated.name} speaks of {speaks}")
    kernel = _kernel(protocol, violated)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    states, actions = [kernel.packing.pack(trace.initial)], list[int]()
    for position, step in enumerate(trace.steps, start=1):
        number = numbers.get(step.action)
        if number is None:
            return Replay(False, position, f"the protocol has no action {step.action}")
        if number not in kernel.enabled(states[-1]):
            return Replay(False, position, f"{step.action} is not enabled there")
        actions.append(number)
        states.append(kernel.apply(states[-1], number))
        state = kernel.packing.unpack(states[-1])
        if state != step.state:
            return Replay(False, position, f"{step.action} {_difference(protocol, state, step.state)}")
    last = len(trace.steps)
    length = count_of(last, "step")
    if violated is None:
        return Replay(True, last, length)
    if trace.loop is not None:
        why = flaw(kernel, violated, states, actions, trace.loop)
        return Replay(not why, last, why or f"{length}, {violated.name} is never fulfilled")
    if violated.kind == "step" and not trace.steps:
        return Replay(False, 0, f"{violated.name} speaks of a step, and there is none")
    if violated.kind == "deadlock" and (left := kernel.enabled(states[-1])):
        return Replay(False, last, f"it does not end there: {kernel.actions[left[0]].label} is enabled")
    observed = kernel.observe_step(*states[-2:]) if violated.kind == "step" else kernel.observe(states[-1])
    return _judged(violated, bool(observed), last, length)


def _kernel(protocol: Protocol, violated: Property | None) -> Kernel:
    """The protocol, with what there is to observe of the property."""
    if violated is None:
        return Kernel(protocol)
    if violated.kind == "leads_to":
        return Kernel(protocol, [formula for lead in violated.leads for formula in lead])
    return Kernel(protocol, [], [violated.judged]) if violated.kind == "step" else Kernel(protocol, [violated.formula])


def _judged(violated: Property, holds: bool, last: int, length: str) -> Replay:
    place = "of the last step" if violated.kind == "step" else "in the last state"
    if violated.kind == "sometimes":
        why = f"{length}, {violated.name} holds {place}" if holds else f"{violated.name} does not hold {place}"
        return Replay(holds, last, why)
    if holds:
        return Replay(False, last, f"{violated.name} is not violated: it holds {place}")
    return Replay(True, last, f"{length}, {violated.name} does not hold {place}")


def _not_initial(protocol: Protocol, state: State) -> str:
    if len(state) != len(protocol.variables):
        return f"the state has {len(state)} values, the protocol {len(protocol.variables)} variables"
    for variable, value in zip(protocol.variables, state, strict=True):
        if value not in variable.initial:
            wanted = " or ".join(variable.domain.show(raw) for raw in variable.initial)
            return f"{variable.name} starts as {wanted}, not as raw value {value}"
    return ""


def _difference(protocol: Protocol, reached: State, written: State) -> str:
    if len(written) != len(reached):
        return f"leads to {len(reached)} values, and the trace has {len(written)}"
    for variable, mine, theirs in zip(protocol.variables, reached, written, strict=True):
        if mine != theirs:
            return f"makes {variable.name} {variable.domain.show(mine)}, and the trace has {_shown(variable.domain, theirs)}"
    raise AssertionError("the states are the same")


def _shown(domain: Domain, raw: int) -> str:
    return domain.show(raw) if domain.low <= raw < domain.low + domain.size else f"raw value {raw}"
