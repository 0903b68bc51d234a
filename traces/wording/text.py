"""Traces as text that a person reads: who did what, and what it changed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Protocol as Typed

from fencepost.model.analysis.refinement import Refinement
from fencepost.model.language import Action, Protocol, Variable
from fencepost.properties.registry import written
from fencepost.properties.vocabulary import Property
from fencepost.traces.trace import State, Trace
from fencepost.traces.wording.reasons import Why, true_sentences, why_false
from fencepost.traces.wording.styles import BOLD, PLAIN, RED

NARROWEST = 40
BELOW = "        | "
"""Stands before a run of a part."""


class Below(Typed):
    """A run of a part of the protocol, which explains a step of the whole."""

    @property
    def title(self) -> str:
        """What the run is."""

    @property
    def trace(self) -> Trace:
        """The run."""

    @property
    def protocol(self) -> Protocol:
        """The instance that it is of."""


def show(
    trace: Trace,
    protocol: Protocol,
    *,
    violated: Property | None = None,
    actor: str | None = None,
    full: bool = False,
    width: int = 120,
    colour: bool = False,
    below: Mapping[int, Below] | None = None,
) -> str:
    """The trace of that instance of its protocol, in lines of at most ``width`` characters where its names allow.

    ``violated`` is the property that the trace violates: then what it says is shown, and what of it does not hold at the end.
    ``actor`` leaves only the steps of one actor, and those that change its variables, of whose changes only these are shown.
    ``full`` shows the whole initial state, otherwise only what could have started otherwise; ``colour`` marks actions and
    faults for a terminal. ``below`` has runs of a part by the step, from 1 on, that each of them explains; they are shown
    there.
    """
    lines = [*_header(trace, violated.doc if violated else "", width), ""]
    lines += _initial(trace.initial, protocol, full, width)
    lines += _steps(trace, protocol, actor, width, colour, below or {})
    lines += _for_ever(trace, width)
    lines += reasons(trace, protocol, violated, width)
    lines += _in_the_code(trace, protocol)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def actors(protocol: Protocol) -> list[str]:
    """Who takes steps in the protocol, in the order of its actions."""
    return list(dict.fromkeys(action.actor for action in protocol.actions))


def because(why: Why, indent: str, width: int) -> list[str]:
    """The lines that tell each false conjunct and, below it, the values that make it so."""
    lines: list[str] = []
    for reason in why.reasons:
        lines += _wrapped(indent, reason.conjunct.split(), " ", width)
        lines += _wrapped(f"{indent}  ", _separated(reason.values), " ", width) if reason.values else []
    return lines


def _header(trace: Trace, meaning: str, width: int) -> list[str]:
    settings = [f"{name}={written(value)}" for name, value in trace.parameters.items()]
    origin = trace.found_by + (f", seed {trace.seed}" if trace.seed is not None else "")
    rows = [
        ("protocol", [trace.protocol]),
        ("instance", settings or ["no parameters"]),
        ("bugs", list(trace.bugs) or ["none"]),
        ("property", [trace.violated] if trace.violated else ["none"]),
        ("", meaning.split()),
        ("found by", origin.split()),
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


def _steps(
    trace: Trace, protocol: Protocol, only: str | None, width: int, colour: bool, below: Mapping[int, Below]
) -> list[str]:
    actions = {action.label: action for action in protocol.actions}
    taken = [actions.get(step.action) for step in trace.steps]
    who = [action.actor if action else "?" for action in taken]
    labels = [_label(step.action, action) for step, action in zip(trace.steps, taken, strict=True)]
    number = len(str(len(trace.steps)))
    actor, label = (max(map(len, column), default=0) for column in (who, labels))
    lines: list[str] = []
    for position, (before, step) in enumerate(zip(trace.states, trace.steps, strict=False)):
        foreign = only is not None and who[position] != only
        changed = changes(protocol.variables, before, step.state, only if foreign else None)
        if foreign and not changed:
            continue
        shown = _coloured(labels[position], taken[position]) if colour else labels[position]
        padding = " " * (label - len(labels[position]))
        head = f"  {position + 1:>{number}}  {who[position]:<{actor}}  {shown}{padding}  "
        hang = number + actor + label + 8
        lines += _wrapped(head, changed or ["changes nothing"], " ", width, hang)
        if (run := below.get(position + 1)) is not None:
            lines += _run_below(run, width, colour)
    return lines or ["  no steps"]


def _run_below(run: Below, width: int, colour: bool) -> list[str]:
    """The steps of a run of a part, behind a line, and what it is."""
    title = _wrapped("", run.title.split(), " ", width - len(BELOW), 2)
    steps = _steps(run.trace, run.protocol, None, width - len(BELOW), colour, {})
    return [f"{BELOW}{line}" for line in (*title, *steps)]


def reasons(trace: Trace, protocol: Protocol, violated: Property | None, width: int) -> list[str]:
    """What of the property does not hold, if it speaks of a state or of a step: it is the last that violates it."""
    if violated is None or violated.kind not in ("always", "step", "deadlock"):
        return []
    if violated.refinement is not None:
        return _no_step_of(trace, violated.refinement, width)
    last = trace.states[-2:] if violated.kind == "step" else trace.states[-1:]
    why = why_false(protocol, violated.formula, *last)
    if not why.reasons:
        return []
    sentences = () if violated.sentences is None else true_sentences(protocol, violated.sentences(), trace.states[-1])
    lines = [part for sentence in sentences for part in _wrapped("  ", sentence.split(), " ", width, 4)]
    place = "of the last step" if violated.kind == "step" else "in the last state"
    return ["", *lines, f"  {why.of(violated.name)} {place}", *because(why, "    ", width)]


def refusal(trace: Trace, refinement: Refinement) -> str:
    """Why a trace refuses a refinement, in one line: its last step is none of the coarse protocol, and changes this there."""
    head, words = _refused(trace, refinement)
    return head + " ".join(words)


def _refused(trace: Trace, refinement: Refinement) -> tuple[str, list[str]]:
    coarse = refinement.coarse
    before, after = map(refinement.seen, trace.states[-2:])
    return f"{trace.steps[-1].action} is no step of {coarse.name}: there it is ", changes(coarse.variables, before, after)


def _no_step_of(trace: Trace, refinement: Refinement, width: int) -> list[str]:
    """The refusal, and from which state of the coarse protocol the step is taken."""
    coarse, (head, words) = refinement.coarse, _refused(trace, refinement)
    values = zip(coarse.variables, refinement.seen(trace.states[-2]), strict=True)
    from_ = [f"{v.name} {v.domain.show(raw)};" for v, raw in values]
    lines = _wrapped(f"  {head}", words, " ", width, 4)
    return ["", *lines, *_wrapped("    from ", [*from_[:-1], from_[-1].removesuffix(";")], " ", width)]


def _for_ever(trace: Trace, width: int) -> list[str]:
    """What a run that never ends does after its last step, and which actions that leaves out."""
    loop, last = trace.loop, len(trace.steps)
    if loop is None:
        return []
    if loop.start == last:
        lines = ["", f"  the run stops after step {last}: nothing more is obliged to happen"]
    else:
        steps = f"steps {loop.start + 1} to {last} repeat" if loop.start + 1 < last else f"step {last} repeats"
        lines = ["", f"  the loop: {steps} forever"]
    lines += _listed("  starved, enabled again and again but never for good: ", loop.starved, width)
    return lines + _listed("  enabled there, but nothing obliges it: ", loop.unobliged, width)


def _in_the_code(trace: Trace, protocol: Protocol) -> list[str]:
    """The main method that each action of the trace mirrors in the real system, in the order in which they are taken."""
    actions = {action.label: action for action in protocol.actions}
    taken = dict.fromkeys(actions[step.action].name for step in trace.steps if step.action in actions)
    mirrored = {name: protocol.mirrors[name][0] for name in taken if protocol.mirrors[name]}
    width = max(map(len, mirrored), default=0)
    lines = [f"    {name:<{width}}  {method}" for name, method in mirrored.items()]
    return ["", "  in the code", *lines] if lines else []


def _listed(head: str, labels: Sequence[str], width: int) -> list[str]:
    return _wrapped(head, _separated(labels), " ", width, 4) if labels else []


def _separated(parts: Sequence[str]) -> list[str]:
    return [f"{part};" for part in parts[:-1]] + list(parts[-1:])


def _label(label: str, action: Action | None) -> str:
    return f"fault: {label}" if action and action.fault else label


def _coloured(label: str, action: Action | None) -> str:
    return f"{BOLD}{RED if action and action.fault else ''}{label}{PLAIN}"


def changes(variables: Sequence[Variable], before: State, after: State, of: str | None = None) -> list[str]:
    """What changed, each change but the last with a semicolon; ``of`` leaves only the variables of the member of that name."""
    return _separated(
        [
            f"{variable.name} {variable.domain.show(old)} -> {variable.domain.show(new)}"
            for variable, old, new in zip(variables, before, after, strict=True)
            if old != new and (of is None or of in members_of(variable))
        ]
    )


def members_of(variable: Variable) -> list[str]:
    """Whose variable it is: the members of universes that it is indexed by, e.g. b0 of ``stored[b0]``."""
    return [universe.label(member) for universe, member in zip(variable.universes, variable.index, strict=True)]


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
