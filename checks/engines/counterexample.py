"""Counterexamples to induction: a state, as near to the initial one as can be, from which a step breaks what was assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import z3

from fencepost.model.language import Action, Protocol, Variable

SECONDS = 10.0


@dataclass(frozen=True)
class Counterexample:
    """A state (raw values in the order of the variables) and, after an action, the next one; the state need not be reachable.

    Prints the variables that are not as they start, and what the action changes.
    """

    protocol: Protocol
    before: tuple[int, ...]
    after: tuple[int, ...] | None = None

    def __str__(self) -> str:
        rows = list(zip(self.protocol.variables, self.before, strict=True))
        unusual = [f"    {v.name} = {v.domain.show(raw)}" for v, raw in rows if raw not in v.initial]
        lines = ["  in the state where", *unusual] if unusual else ["  in an initial state"]
        if unusual and len(unusual) < len(rows):
            lines.append("    and all else is as it starts")
        if self.after is not None:
            changes = [
                f"    {v.name}: {v.domain.show(old)} -> {v.domain.show(new)}"
                for (v, old), new in zip(rows, self.after, strict=True)
                if old != new
            ]
            lines += ["  the action changes", *changes] if changes else ["  the action changes nothing"]
        return "\n".join(lines)


def counterexample(protocol: Protocol, assumptions: Sequence[Any], action: Action | None = None) -> Counterexample | None:
    """A state in which the assumptions hold, with the state after ``action``; None if Z3 finds none in time.

    As many variables as possible, tried in the order of their declaration, have an initial value, and the others the least
    that is left to them: that makes it the same on every run, whatever model Z3 comes upon.
    """
    solver = z3.SimpleSolver()
    solver.set("timeout", int(SECONDS * 1000))
    solver.add(*assumptions)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    for variable in protocol.variables:
        found = variable.domain.read(model.eval(variable.term, model_completion=True))
        smaller = [raw for raw in range(variable.domain.low, found) if raw not in variable.initial]
        for raw in [*variable.initial, *smaller]:
            solver.push()
            solver.add(variable.term == variable.domain.literal(raw))
            if solver.check() == z3.sat:
                model = solver.model()
                break
            solver.pop()
        else:
            solver.add(variable.term == variable.domain.literal(found))
    before = [model.eval(v.term, model_completion=True) for v in protocol.variables]
    state = tuple(v.domain.read(value) for v, value in zip(protocol.variables, before, strict=True))
    if action is None:
        return Counterexample(protocol, state)
    values = [(v.term, v.domain.literal(raw)) for v, raw in zip(protocol.variables, state, strict=True)]
    after = tuple(
        v.domain.read(z3.simplify(z3.substitute(action.updates.get(v, v.term), *values))) for v in protocol.variables
    )
    return Counterexample(protocol, state, after)


def starts_as(variable: Variable) -> Any:
    """The formula: the variable has one of its initial values."""
    return z3.Or([variable.term == variable.domain.literal(raw) for raw in variable.initial])
