"""Several mutants in one protocol: a switch that never changes says which one a run is of.

To compile a protocol takes longer than to search it. So the mutants share one compilation: what each has of its own is chosen
by the switch, and the initial state sets it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fencepost.checks.teeth.mutation import Spoiled
from fencepost.model.language import Action, And, If, Not, OneOf, Or, Protocol
from fencepost.model.terms import values as terms
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition, conditional, distinct
from fencepost.properties.observed import Observed
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Property, Suite

SWITCH = "mutant"


class Batch:
    """The mutants of one instance, compiled together with those of its claims whose names are given (None: all)."""

    def __init__(
        self, entry: Entry, instance: Instance, mutants: Sequence[Spoiled], properties: Iterable[str] | None = None
    ) -> None:
        self.protocol = entry.build(instance.parameters)
        numbers = range(len(mutants))
        switch = self.protocol.number(SWITCH, 0, len(mutants), init=OneOf(tuple(numbers)))
        self.protocol.actions[:] = [
            _switched(switch, self.protocol, action, [(n, mutants[n][place]) for n in numbers if place in mutants[n]])
            for place, action in enumerate(self.protocol.actions)
        ]
        suite = entry.suite(self.protocol)
        wanted = None if properties is None else set(properties)
        self.observed = Observed.of(suite, [p for p in claims(suite) if wanted is None or p.name in wanted])

    def choose(self, mutant: int) -> None:
        """From here on what begins with an initial state is of that mutant, by its place in the batch."""
        self.protocol.variables[-1] = replace(self.protocol.variables[-1], initial=(mutant,))


def _switched(switch: terms.Number, protocol: Protocol, action: Action, mutants: Sequence[tuple[int, Action]]) -> Action:
    """The action that is, for each of these numbers, as that mutant has it."""
    guard, updates = action.guard, {v.name: term for v, term in action.updates.items()}
    for number, mutant in mutants:
        guard = If(switch == number, mutant.guard, guard)
        its = {v.name: term for v, term in mutant.updates.items()}
        for name in {**updates, **its}:
            still = protocol.variable(name).term
            one, other = its.get(name, still), updates.get(name, still)
            updates[name] = other if one is other else conditional(switch == number, one, other)
    return replace(action, guard=guard, updates={protocol.variable(name): term for name, term in updates.items()})


def claims(suite: Suite) -> list[Property]:
    """All that a suite says of what can be reached: its properties and, as such, the lemmas of its proof."""
    return suite.properties + [replace(lemma, kind="always") for lemma in suite.lemmas]


def alone(entry: Entry, instance: Instance, mutant: Spoiled) -> Suite:
    """The suite of a mutant by itself."""
    protocol = entry.build(instance.parameters)
    protocol.actions[:] = [
        replace(mutant[place], updates={protocol.variable(v.name): term for v, term in mutant[place].updates.items()})
        if place in mutant
        else action
        for place, action in enumerate(protocol.actions)
    ]
    return entry.suite(protocol)


def differences(protocol: Protocol, mutant: Spoiled) -> Condition:
    """The formula: in this state the mutant does something else than the protocol, can do something that the protocol cannot,
    cannot do something that it can, or need not do it in the end. That it can do what changes nothing is no difference: no
    property is about that, not even one of steps."""
    parts = []
    for place, spoiled in mutant.items():
        action = protocol.actions[place]
        if spoiled.fair != action.fair:
            parts.append(action.guard)
        if spoiled.guard is not action.guard:
            parts.append(And(action.guard, Not(spoiled.guard)))
            parts.append(And(spoiled.guard, Not(action.guard), _unequal((v.term, t) for v, t in spoiled.updates.items())))
        parts.append(And(action.guard, spoiled.guard, _unequal(_effects(action, spoiled))))
    return Or(parts)


def rearranged(protocol: Protocol, mutant: Spoiled) -> Condition:
    """The formula: in this state the mutant can take a step that no action of the protocol takes, or the other way round, or
    need not take one in the end."""
    every = {place: mutant.get(place, action) for place, action in enumerate(protocol.actions)}
    parts = []
    for place, spoiled in mutant.items():
        action = protocol.actions[place]
        if spoiled.fair != action.fair:
            parts.append(action.guard)
        parts.append(_beyond(spoiled, protocol.actions))
        parts.append(_beyond(action, every.values()))
    return Or(parts)


def _beyond(action: Action, others: Iterable[Action]) -> Condition:
    """The formula: the action leads to another state, and none of the others leads there."""
    same = [And(other.guard, Not(_unequal(_effects(action, other)))) for other in others]
    return And(action.guard, _unequal((v.term, term) for v, term in action.updates.items()), Not(Or(same)))


def _effects(one: Action, other: Action) -> Iterator[tuple[Term, Term]]:
    return ((one.updates.get(v, v.term), other.updates.get(v, v.term)) for v in {**one.updates, **other.updates})


def _unequal(pairs: Iterable[tuple[Term, Term]]) -> Condition:
    return Or([distinct(one, other) for one, other in pairs if one is not other])
