"""Counterexamples to induction: a state, as near to the initial one as can be, from which a step breaks what was assumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from fencepost.checks.engines.solvers.solving import ask
from fencepost.model.language import Action, Or, Protocol, Variable
from fencepost.model.language.domains import Subset
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.in_z3 import InZ3, raw
from fencepost.model.terms.values import TRUE, Condition

SECONDS = 10.0
"""How long one may take unless told otherwise."""


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


def counterexample(
    protocol: Protocol,
    assumptions: Sequence[Condition],
    action: Action | None = None,
    *,
    seconds: float = SECONDS,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counterexample | None:
    """A state in which the assumptions hold, with the state after ``action``; None if Z3 finds none in time.

    As many variables as possible, tried in the order of their declaration, have an initial value, and the others the least
    that is left to them: that makes it the same on every run, whatever model Z3 comes upon. When the ``seconds`` are over, or
    ``should_stop`` says so, the variables that are left keep the values of the last model.
    """
    nearest = _Nearest(assumptions, time.monotonic() + seconds, should_stop)
    if not nearest.holds(TRUE):
        return None
    state = tuple(nearest.settle(variable) for variable in protocol.variables)
    if action is None:
        return Counterexample(protocol, state)
    value = Evaluation({v.term: raw for v, raw in zip(protocol.variables, state, strict=True)})
    after = tuple(value(action.updates.get(v, v.term)) for v in protocol.variables)
    return Counterexample(protocol, state, after)


class _Nearest:
    """Looks for the model that is nearest to the initial states, one variable after the other, by halving what is left."""

    def __init__(self, assumptions: Sequence[Condition], deadline: float, should_stop: Callable[[], bool]) -> None:
        self.deadline, self.should_stop = deadline, should_stop
        self.model: Any = None
        self.solver = z3.SimpleSolver()
        self.printed = InZ3()
        self.solver.add(*self.printed.all(assumptions))

    def holds(self, formula: Condition | z3.BoolRef) -> bool:
        """Whether a state of those that are left fulfils the formula, as far as there is time to tell; then it is the model."""
        left = self.deadline - time.monotonic()
        if left <= 0 or self.should_stop():
            return False
        self.solver.push()
        self.solver.add(formula if isinstance(formula, z3.BoolRef) else self.printed(formula))
        is_satisfiable: bool = ask(self.solver, seconds=left) == z3.sat
        if is_satisfiable:
            self.model = self.solver.model()
        self.solver.pop()
        return is_satisfiable

    def settle(self, variable: Variable) -> int:
        """Gives the variable the first of its initial values that is possible, else its least value; returns that."""
        value = self._first_of(variable) if self.holds(starts_as(variable)) else self._least(variable)
        self.solver.add(self.printed(variable.term == variable.domain.literal(value)))
        return value

    def _first_of(self, variable: Variable) -> int:
        left = variable.initial[: 1 + variable.initial.index(self._value(variable))]
        while len(left) > 1:
            half = left[: len(left) // 2]
            if self.holds(one_of(variable, half)):
                left = half[: 1 + half.index(self._value(variable))]
            elif self.deadline <= time.monotonic() or self.should_stop():
                return self._value(variable)
            else:
                left = left[len(half) :]
        return left[0]

    def _least(self, variable: Variable) -> int:
        low = variable.domain.low
        while low < (value := self._value(variable)):
            middle = (low + value) // 2
            if not self.holds(self._up_to(variable, middle)):
                low = middle + 1
        return value

    def _up_to(self, variable: Variable, most: int) -> z3.BoolRef:
        """The formula, in Z3: the raw value of the variable is at most this."""
        value = self.printed(variable.term)
        if isinstance(variable.domain, Subset):
            assert isinstance(value, z3.BitVecRef)
            return z3.ULE(value, most)
        if isinstance(value, z3.BoolRef):
            return z3.Not(value)
        assert isinstance(value, z3.ArithRef)
        return value <= most

    def _value(self, variable: Variable) -> int:
        return raw(self.model.eval(self.printed(variable.term), model_completion=True))


def starts_as(variable: Variable) -> Condition:
    """The formula: the variable has one of its initial values."""
    return one_of(variable, variable.initial)


def one_of(variable: Variable, values: Sequence[int]) -> Condition:
    """The formula: the variable has one of these raw values."""
    return Or([variable.term == variable.domain.literal(raw) for raw in values])
