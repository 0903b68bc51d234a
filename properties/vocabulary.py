"""The words for what must hold of a protocol: always, on every step, sometimes; and the lemmas of its inductive invariant."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import z3

from model.language import Location, ModelError, Protocol
from model.language.building import build

Kind = Literal["always", "step", "sometimes", "deadlock", "lemma"]


@dataclass(frozen=True, eq=False)
class Property:
    """One statement about a protocol.

    ``always`` speaks of every reachable state, ``step`` of every transition (its formula also mentions ``p.next``),
    ``sometimes`` of some reachable state, ``deadlock`` of every reachable state without a successor, ``lemma`` is a conjunct
    of the inductive invariant. ``strict`` is empty, or says why a violation is expected: the property is then a negative
    control.
    """

    name: str
    kind: Kind
    formula: Any
    doc: str
    location: Location
    strict: str = ""

    @property
    def premise(self) -> Any | None:
        """What must be met for the property not to hold vacuously: the left side of an implication, or, of several, any."""
        if self.kind not in ("always", "step"):
            return None
        parts = self.formula.children() if z3.is_and(self.formula) else [self.formula]
        if not parts or not all(z3.is_implies(part) for part in parts):
            return None
        premises = [part.arg(0) for part in parts]
        return premises[0] if len(premises) == 1 else z3.Or(*premises)


class Suite:
    """The properties of one instance of a protocol, gathered by decorators on functions that return their formula."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.properties: list[Property] = []
        self.lemmas: list[Property] = []

    def always(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Declares that the formula holds in every reachable state."""
        return self._declare("always", function)

    def step(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Declares that the formula, over ``p.state`` and ``p.next``, holds of every transition between reachable states."""
        return self._declare("step", function)

    def sometimes(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Declares that the formula holds in some reachable state."""
        return self._declare("sometimes", function)

    def lemma(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Declares a conjunct of the inductive invariant."""
        return self._declare("lemma", function)

    def strict(self, why: str, *, when: bool) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        """Declares an ``always`` property that the faithful model violates ``when`` the instance allows it; ``why`` says how.

        In an instance that does not, it is a property like any other.
        """
        return lambda function: self._declare("always", function, why if when else "")

    def ends(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Declares where a run may end: a reachable state without a successor in which this does not hold is a deadlock."""
        return self._declare("deadlock", function)

    def named(self, name: str) -> Property:
        """The property of that name; KeyError if there is none."""
        for candidate in self.properties:
            if candidate.name == name:
                return candidate
        raise KeyError(name)

    def _declare(self, kind: Kind, function: Callable[[], Any], strict: str = "") -> Callable[[], Any]:
        name, doc = function.__name__, inspect.cleandoc(function.__doc__ or "")
        where = f"{self.protocol.name}: {kind} {name}"
        if any(p.name == name for p in self.properties + self.lemmas):
            raise ModelError(f"{where} is declared twice")
        if not doc:
            raise ModelError(f"{where} has no docstring; say what it means")
        formula = build(where, function)
        if isinstance(formula, bool):
            formula = z3.BoolVal(formula)
        if not isinstance(formula, z3.BoolRef):
            raise ModelError(f"{where} is not boolean: {formula}")
        self.protocol.vet(where, formula, primed=kind == "step")
        made = Property(name, kind, formula, doc, Location.of(function), strict)
        (self.lemmas if kind == "lemma" else self.properties).append(made)
        return function
