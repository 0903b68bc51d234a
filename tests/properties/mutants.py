"""Protocols with one action spoiled by hand, for the tests that every property can be violated.

A mutant is the protocol with one action spoiled, in all its groundings unless some are named: a conjunct of its guard dropped,
the updates of a family of variables dropped, or something else written. A property that neither a bug nor a mutant can
violate says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.teeth.pinned import pinned
from fencepost.model.language import And, Protocol
from fencepost.model.language.declarations import Action
from fencepost.properties.observed import Observed
from fencepost.properties.registry import Entry, Value

Change = Callable[[Protocol, Action], Action]


def without(start: str) -> Change:
    """Drops the one conjunct of the guard that reads so at its start."""

    def change(protocol: Protocol, action: Action) -> Action:
        conjuncts = _conjuncts(action.guard)
        rest = [c for c in conjuncts if not str(c).startswith(start)]
        assert len(rest) == len(conjuncts) - 1, f"{action.label}: {start} is not the start of one conjunct of {conjuncts}"
        return replace(action, guard=And(*rest))

    return change


def keeps(family: str) -> Change:
    """Drops the updates of a family of variables."""

    def change(protocol: Protocol, action: Action) -> Action:
        return replace(action, updates={v: term for v, term in action.updates.items() if v.family != family})

    return change


def unfair(protocol: Protocol, action: Action) -> Action:
    """Lets the action wait for good."""
    return replace(action, fair=False)


def sets(family: str, value: Value) -> Change:
    """Puts a constant in the place of what a family of variables is updated to."""

    def change(protocol: Protocol, action: Action) -> Action:
        constants = {v: v.domain.literal(v.domain.raw(value)) for v in action.updates if v.family == family}
        return replace(action, updates=dict(action.updates) | constants)

    return change


def writes(name: str, value: Value) -> Change:
    """Writes a constant to one variable, besides; its name may have the action's arguments in braces."""

    def change(protocol: Protocol, action: Action) -> Action:
        variable = protocol.variable(name.format(**action.arguments))
        return replace(action, updates=dict(action.updates) | {variable: variable.domain.literal(variable.domain.raw(value))})

    return change


def both(first: Change, second: Change) -> Change:
    """Spoils an action in two ways."""
    return lambda protocol, action: second(protocol, first(protocol, action))


def where(change: Change, **arguments: str) -> Change:
    """Spoils only the groundings with these arguments."""

    def some(protocol: Protocol, action: Action) -> Action:
        return change(protocol, action) if arguments.items() <= action.arguments.items() else action

    return some


def as_it_is(protocol: Protocol, action: Action) -> Action:
    """Leaves an action alone."""
    return action


def _conjuncts(guard: Any) -> list[Any]:
    return [part for child in guard.arguments for part in _conjuncts(child)] if guard.op == "and" else [guard]


@dataclass(frozen=True)
class Mutant:
    """An instance, an action of it and how it is spoiled, or a bug that others hide; and in how many steps that shows.

    Without steps it shows by what is never reached.
    """

    parameters: Mapping[str, Value]
    action: str = ""
    change: Change = as_it_is
    steps: int | None = None
    bug: str = ""

    def protocol(self, entry: Entry) -> Protocol:
        """The spoiled protocol. Fails if it has no such action."""
        protocol = entry.build(self.parameters, [self.bug] if self.bug else [])
        assert not self.action or any(a.name == self.action for a in protocol.actions), f"there is no {self.action}"
        protocol.actions[:] = [self.change(protocol, a) if a.name == self.action else a for a in protocol.actions]
        return protocol


def judged(entry: Entry, protocol: Protocol, name: str) -> tuple[str, float | None]:
    """What search says of one property, and in how many steps."""
    suite = entry.suite(protocol)
    prop = suite.named(name)
    assert not prop.strict, f"{name} is expected to be violated in this instance"
    (verdict,) = exhaust(Observed.of(suite, [prop]), Budget(workers=2)).verdicts
    return verdict.verdict, verdict.reach.get("steps")


def by_instance(mutants: Mapping[str, Mutant], *marks: pytest.MarkDecorator) -> list[ParameterSet]:
    """The mutants of each instance, by the properties that they violate, as the cases of one test."""
    cases: list[dict[str, Mutant]] = []
    for name, mutant in mutants.items():
        alike = next((case for case in cases if next(iter(case.values())).parameters == mutant.parameters), None)
        if alike is None:
            cases.append(alike := {})
        alike[name] = mutant
    return [pytest.param(case, id=next(iter(case)), marks=marks) for case in cases]


def assert_noticed(entry: Entry, mutants: Mapping[str, Mutant]) -> None:
    """Each mutant of an instance violates its property, in as many steps as it says, and without it the property holds."""
    found = {name: judged(entry, mutant.protocol(entry), name) for name, mutant in mutants.items()}
    assert found == {name: ("violated", mutant.steps) for name, mutant in mutants.items()}
    suite = entry.suite(entry.build(next(iter(mutants.values())).parameters))
    verdicts = exhaust(Observed.of(suite, [suite.named(name) for name in mutants]), Budget(workers=2)).verdicts
    assert {v.property.name for v in verdicts if v.verdict in ("exhausted", "proved")} == set(mutants)


def broken_properties(protocol: str) -> frozenset[str]:
    """The properties that some mutant of the protocol violates; none of a protocol that is not pinned."""
    return frozenset(pinned()[protocol]["noticed"]) if protocol in pinned() else frozenset()
