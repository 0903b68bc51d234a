"""What an instance leaves out because it is small: variables that never change in it, and that more faults, or one member more,
would change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.model.language import And, ModelError, Or, Protocol
from fencepost.properties.registry import Entry, Value

MEMORY = 64 << 20
"""Bytes of the states of a larger instance in which a change is looked for."""


def changed_by_more(
    entry: Entry,
    protocol: Protocol,
    parameters: Mapping[str, Value],
    bugs: Sequence[str],
    families: Collection[str],
    should_stop: Callable[[], bool],
) -> set[str]:
    """The families of variables that change in a larger instance and not in this one.

    A larger instance has a fault whose budget is none here, or a member more where there is only one. Either it has an action
    that this one lacks and that changes the variable, or a short search of it, of at most MEMORY bytes, reaches a change.
    """
    ours, left = {action.label for action in protocol.actions}, set(families)
    larger = []
    for changed in _larger(entry, protocol, parameters):
        try:
            larger.append(entry.build(changed, bugs))
        except ModelError:
            continue  # one more does not fit the others
    for more in larger:
        left -= {v.family for action in more.actions if action.label not in ours for v in action.updates}
    for more in larger:
        if left:
            left -= _changed(more, left, should_stop)
    return set(families) - left


def _changed(protocol: Protocol, families: Collection[str], should_stop: Callable[[], bool]) -> set[str]:
    """Which of these families a short search of the protocol sees changed."""
    ordered = [family for family in sorted(families) if any(v.family == family for v in protocol.variables)]
    changes = [
        Or(*(And(*(v.term != v.domain.literal(raw) for raw in v.initial)) for v in protocol.variables if v.family == family))
        for family in ordered
    ]
    result = search(Kernel(protocol, changes), limits=Limits(memory=MEMORY), should_stop=should_stop, workers=1)
    return {ordered[number] for number in result.seen}


def _larger(entry: Entry, protocol: Protocol, parameters: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """The instance with each fault at once where none may happen, then with one of each size more that is 1."""
    whole = {parameter.name: parameter.default for parameter in entry.parameters} | dict(parameters)
    numbers = {name: value for name, value in whole.items() if type(value) is int}
    faults: dict[str, Value] = {name: 1 for name, value in numbers.items() if name in protocol.budgets and not value}
    yield {**parameters, **faults}
    yield from ({**parameters, name: 2} for name, value in numbers.items() if value == 1 and name not in protocol.budgets)
