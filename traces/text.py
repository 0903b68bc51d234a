"""Traces as text that a person reads: who did what, and what it changed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from model.language import Action, Protocol, Variable
from properties.registry import written
from traces.trace import State, Trace

NARROWEST = 40
BOLD, RED, PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[0m"


def show(
    trace: Trace, protocol: Protocol, *, meaning: str = "", full: bool = False, width: int = 120, colour: bool = False
) -> str:
    """The trace of that instance of its protocol, in lines of at most ``width`` characters where its names allow.

    ``meaning`` is what its property says; ``full`` shows the whole initial state, otherwise only what could have started
    otherwise; ``colour`` marks actions and faults for a terminal.
    """
    lines = [*_header(trace, meaning, width), ""]
    lines += _initial(trace.initial, protocol, full, width)
    lines += _steps(trace, protocol, width, colour)
    lines += _for_ever(trace, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _header(trace: Trace, meaning: str, width: int) -> list[str]:
    settings = [f"{name}={written(value)}" for name, value in trace.parameters.items()]
    found = trace.found_by + (f", seed {trace.seed}" if trace.seed is not None else "")
    rows = [
        ("protocol", [trace.protocol]),
        ("instance", settings or ["no parameters"]),
        ("defects", list(trace.defects) or ["none"]),
        ("property", [trace.violated] if trace.violated else ["none"]),
        ("", meaning.split()),
        ("found by", found.split()),
    ]
    return [line for title, words in rows if words for line in _wrapped(f"{title:<10}", words, " ", width)]


def _initial(state: State, protocol: Protocol, full: bool, width: int) -> list[str]:
    chosen = [(v, raw) for v, raw in zip(protocol.variables, state, strict=True) if full or len(v.initial) > 1]
    families = [(name, list(members)) for name, members in itertools.groupby(chosen, key=lambda pair: pair[0].family)]
    indent = max((len(name) for name, _ in families), default=0)
    lines = ["initially"] if families else []
    for name, members in families:
        values = [variable.domain.show(raw) for variable, raw in members]
        labels = [variable.name.removeprefix(name) for variable, _ in members]
        if len(set(values)) == 1:
            parts = [values[0] + (" for each" if len(values) > 1 else "")]
        else:
            parts = [f"{label} {value};" for label, value in zip(labels, values, strict=True)]
            parts[-1] = parts[-1].removesuffix(";")
        lines += _wrapped(f"  {name:<{indent}}  ", parts, " ", width)
    return [*lines, ""] if lines else []


def _steps(trace: Trace, protocol: Protocol, width: int, colour: bool) -> list[str]:
    actions = {action.label: action for action in protocol.actions}
    taken = [actions.get(step.action) for step in trace.steps]
    actors = [action.actor if action else "?" for action in taken]
    labels = [_label(step.action, action) for step, action in zip(trace.steps, taken, strict=True)]
    number = len(str(len(trace.steps)))
    actor, label = (max(map(len, column), default=0) for column in (actors, labels))
    lines: list[str] = []
    for position, (before, step) in enumerate(zip(trace.states, trace.steps, strict=False)):
        shown = _coloured(labels[position], taken[position]) if colour else labels[position]
        padding = " " * (label - len(labels[position]))
        head = f"  {position + 1:>{number}}  {actors[position]:<{actor}}  {shown}{padding}  "
        hang = number + actor + label + 8
        changes = _changes(protocol.variables, before, step.state)
        lines += _wrapped(head, changes or ["changes nothing"], " ", width, hang)
    return lines or ["  no steps"]


def _for_ever(trace: Trace, width: int) -> list[str]:
    """What a run that never ends does after its last step, and which actions that leaves out."""
    loop, last = trace.loop, len(trace.steps)
    if loop is None:
        return []
    if loop.start == last:
        lines = ["", f"  the run stops after step {last}: nothing more is obliged to happen"]
    else:
        steps = f"steps {loop.start + 1} to {last} repeat" if loop.start + 1 < last else f"step {last} repeats"
        lines = ["", f"  the loop: {steps} for ever"]
    lines += _listed("  starved, enabled again and again but never for good: ", loop.starved, width)
    return lines + _listed("  enabled there, but nothing obliges it: ", loop.unobliged, width)


def _listed(head: str, labels: Sequence[str], width: int) -> list[str]:
    parts = [f"{label};" for label in labels[:-1]] + list(labels[-1:])
    return _wrapped(head, parts, " ", width, 4) if labels else []


def _label(label: str, action: Action | None) -> str:
    return f"fault: {label}" if action and action.fault else label


def _coloured(label: str, action: Action | None) -> str:
    return f"{BOLD}{RED if action and action.fault else ''}{label}{PLAIN}"


def _changes(variables: Sequence[Variable], before: State, after: State) -> list[str]:
    changed = [
        f"{variable.name} {variable.domain.show(old)} -> {variable.domain.show(new)}"
        for variable, old, new in zip(variables, before, after, strict=True)
        if old != new
    ]
    return [f"{change};" for change in changed[:-1]] + changed[-1:]


def _wrapped(head: str, parts: Sequence[str], between: str, width: int, hang: int | None = None) -> list[str]:
    """``head`` and the parts, which are never broken themselves, with a hanging indent of ``hang`` characters."""
    indent = len(head) if hang is None else hang
    room = max(width - indent, NARROWEST)
    rows = [""]
    for part in parts:
        joined = f"{rows[-1]}{between}{part}" if rows[-1] else part
        if rows[-1] and len(joined) > room:
            rows.append(part)
        else:
            rows[-1] = joined
    return [head + rows[0], *(" " * indent + row for row in rows[1:])]
