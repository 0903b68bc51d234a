"""Two traces side by side: how far they are the same, where they first part, and what differs from there on."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.properties.registry import written
from fencepost.traces.trace import State, Trace

Values = Mapping[str, str]
"""The values of a state's variables as they are shown, by name."""


@dataclass(frozen=True)
class Side:
    """One of the two traces, with the instance of its protocol."""

    trace: Trace
    protocol: Protocol

    def labels(self) -> list[str]:
        return [step.action for step in self.trace.steps]

    def values(self, position: int) -> Values:
        """The state after so many steps, in words, so that instances with other variables can be compared, too."""
        state: State = self.trace.states[position]
        return {v.name: v.domain.show(raw) for v, raw in zip(self.protocol.variables, state, strict=True)}

    def settings(self) -> Values:
        trace = self.trace
        named = {name: written(value) for name, value in trace.parameters.items()}
        return {**named, "bugs": ", ".join(trace.bugs) or "none", "property": trace.violated or "none"}


def compared(first: Side, second: Side) -> str:
    """The comparison of two traces of one protocol as text.

    It has what differs in their instances, how many steps they have in common before they part and how they part, the steps
    after that, aligned (``-`` is only in the first, ``+`` only in the second), and the variables that differ at the end. Only
    variables that both instances have are compared.
    """
    lines = [f"{name:<12}  {difference}" for name, difference in _differing(first.settings(), second.settings())]
    place = parting(first, second)
    if place is None:
        return "\n".join([*lines, f"the same throughout: {_steps(len(first.trace.steps))}"]) + "\n"
    lines += [f"the same for {_steps(place)}" if place else "different from the start", *_parted(first, second, place)]
    rows = list(_alignment(first, second, place))
    if rows:
        lines += ["", *rows]
    different = _differing(first.values(-1), second.values(-1))
    lines += ["", "at the end" if different else "at the end the states are the same"]
    lines += [f"  {name}  {difference}" for name, difference in different]
    return "\n".join(lines) + "\n"


def aligned(first: Side, second: Side) -> list[tuple[int | None, int | None]]:
    """The steps of two traces, by their places from 0, side by side: those of the same action together, None beside any other.

    What the traces have in common before they part stays together.
    """
    one, other = first.labels(), second.labels()
    place = parting(first, second)
    common = len(one) if place is None else place
    rows: list[tuple[int | None, int | None]] = [(at, at) for at in range(common)]
    matcher = difflib.SequenceMatcher(None, one[common:], other[common:], autojunk=False)
    for tag, start, end, begin, stop in matcher.get_opcodes():
        left, right = range(common + start, common + end), range(common + begin, common + stop)
        if tag == "equal":
            rows += zip(left, right, strict=True)
        else:
            rows += [(at, None) for at in left]
            rows += [(None, at) for at in right]
    return rows


def _steps(count: int) -> str:
    return count_of(count, "step")


def _differing(one: Values, other: Values) -> list[tuple[str, str]]:
    return [(name, f"{one[name]} | {other[name]}") for name in one if name in other and one[name] != other[name]]


def parting(first: Side, second: Side) -> int | None:
    """How many steps the traces have in common, in action and state; None if they are the same throughout."""
    if _differing(first.values(0), second.values(0)):
        return 0
    pairs = list(zip(first.labels(), second.labels(), strict=False))
    for place, (one, other) in enumerate(pairs):
        if one != other or _differing(first.values(place + 1), second.values(place + 1)):
            return place
    return None if len(first.trace.steps) == len(second.trace.steps) else len(pairs)


def _parted(first: Side, second: Side, place: int) -> list[str]:
    """How the traces part after so many steps."""
    if place == 0 and (started := _differing(first.values(0), second.values(0))):
        return ["they start differently", *(f"  {name}  {difference}" for name, difference in started)]
    one, other = ([*side.labels(), "nothing more"][place] for side in (first, second))
    if one != other:
        return [f"step {place + 1} is {one} | {other}"]
    effects = _differing(first.values(place + 1), second.values(place + 1))
    return [f"step {place + 1}, {one}, has another effect", *(f"  {name}  {difference}" for name, difference in effects)]


def _alignment(first: Side, second: Side, place: int) -> Iterator[str]:
    """The steps from a place on, each with its number in the first and in the second trace."""
    one, other = first.labels(), second.labels()
    wide = len(str(max(len(one), len(other))))
    blank = " " * wide
    for left, right in aligned(first, second)[place:]:
        if left is not None and right is not None:
            yield f"  {left + 1:>{wide}}  {right + 1:>{wide}}  {one[left]}"
        elif left is not None:
            yield f"- {left + 1:>{wide}}  {blank}  {one[left]}"
        elif right is not None:
            yield f"+ {blank}  {right + 1:>{wide}}  {other[right]}"
