"""Who does what to whom: the steps of a trace as messages between the lanes of a sequence diagram.

There is a lane for each actor, and one for the store: what belongs to no actor and is changed by several, which is how the
protocols have the metadata of a ledger, the node of a lock, the layout of a namespace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.model.language import Action, Protocol, Variable
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import members_of

STORE = "store"


@dataclass(frozen=True)
class Message:
    """An action as a message: from whom it hears to its actor; if it hears nobody, from its actor to the first other actor that
    it names, otherwise to the store if it changes that, otherwise to itself."""

    action: Action
    sender: str
    receiver: str

    @property
    def actor(self) -> str:
        return self.action.actor

    @property
    def other(self) -> str:
        """The lane that the message goes to or comes from, seen from its actor's."""
        return self.receiver if self.sender == self.actor else self.sender


def messages(trace: Trace, protocol: Protocol) -> list[Message]:
    """The steps of a trace, each as a message; KeyError if the protocol lacks one of its actions."""
    known = {told.action.label: told for told in every_message(protocol)}
    return [known[step.action] for step in trace.steps]


def every_message(protocol: Protocol) -> list[Message]:
    """The actions of a protocol, each as a message."""
    actors = {action.actor for action in protocol.actions}
    shared = stored(protocol)
    return [_message(action, actors, shared) for action in protocol.actions]


def everyone(protocol: Protocol) -> list[str]:
    """All lanes that a run of the protocol may have: its actors, and then the store."""
    return list(dict.fromkeys([*(action.actor for action in protocol.actions), STORE]))


def lanes(told: Sequence[Message], protocol: Protocol) -> list[str]:
    """The actors that take part, in the order of the protocol, and then the store if it does."""
    among = {name for message in told for name in (message.sender, message.receiver)}
    return [name for name in everyone(protocol) if name in among]


def stored(protocol: Protocol) -> frozenset[str]:
    """The families of variables that are in the store: no actor is in their index, several actors change them, and they do not
    merely count how often something may happen."""
    actors = {action.actor for action in protocol.actions}
    changed_by = defaultdict[str, set[str]](set)
    for action in protocol.actions:
        for variable in action.updates:
            changed_by[variable.family].add(action.actor)
    owned = {v.family for v in protocol.variables if any(u.label(i) in actors for u in v.universes for i in u)}
    return frozenset(name for name, by in changed_by.items() if len(by) > 1 and name not in owned | protocol.budgets.keys())


def owners(variable: Variable, shared: frozenset[str]) -> list[str]:
    """Whose variable it is: the members of universes that index it, and the store if its family is ``shared``."""
    return members_of(variable) + ([STORE] if variable.family in shared else [])


def _message(action: Action, actors: set[str], shared: frozenset[str]) -> Message:
    if action.hears in actors:
        return Message(action, action.hears, action.actor)
    named = [name for name in action.arguments.values() if name in actors and name != action.actor]
    in_store = [STORE] if any(variable.family in shared for variable in action.updates) else []
    return Message(action, action.actor, [*named, *in_store, action.actor][0])
