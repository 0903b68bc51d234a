"""What an instance leaves out because it is small: variables that never change in it, and that more faults, or one member more,
would change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from fencepost.model.language import ModelError, Protocol
from fencepost.properties.registry import Entry, Value


def changed_by_more(
    entry: Entry, protocol: Protocol, parameters: Mapping[str, Value], defects: Sequence[str], families: Collection[str]
) -> set[str]:
    """The families of variables that an action changes which the instance does not have: one of a fault whose budget is none
    here, or of a member more where there is only one."""
    ours, left = {action.label for action in protocol.actions}, set(families)
    for larger in _larger(entry, protocol, parameters):
        if not left:
            break
        try:
            more = entry.build(larger, defects)
        except ModelError:
            continue  # one more does not fit the others
        left -= {v.family for action in more.actions if action.label not in ours for v in action.updates}
    return set(families) - left


def _larger(entry: Entry, protocol: Protocol, parameters: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """The instance with each fault at once where none may happen, then with one of each size more that is 1."""
    whole = {parameter.name: parameter.default for parameter in entry.parameters} | dict(parameters)
    numbers = {name: value for name, value in whole.items() if type(value) is int}
    faults: dict[str, Value] = {name: 1 for name, value in numbers.items() if name in protocol.budgets and not value}
    yield {**parameters, **faults}
    yield from ({**parameters, name: 2} for name, value in numbers.items() if value == 1 and name not in protocol.budgets)
