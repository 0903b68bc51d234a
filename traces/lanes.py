"""Who does what to whom: the steps of a trace as messages between the lanes of a sequence diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.language import Action, Protocol
from traces.trace import Trace


@dataclass(frozen=True)
class Message:
    """An action as a message: from its actor to the first other actor that it names, or to itself."""

    action: Action
    sender: str
    receiver: str


def messages(trace: Trace, protocol: Protocol) -> list[Message]:
    """The steps of a trace, each as a message; KeyError if the protocol lacks one of its actions."""
    actions = {action.label: action for action in protocol.actions}
    actors = {action.actor for action in protocol.actions}
    return [_message(actions[step.action], actors) for step in trace.steps]


def lanes(told: Sequence[Message], protocol: Protocol) -> list[str]:
    """The actors that take part, in the order of the protocol."""
    among = {name for message in told for name in (message.sender, message.receiver)}
    return [name for name in dict.fromkeys(action.actor for action in protocol.actions) if name in among]


def _message(action: Action, actors: set[str]) -> Message:
    others = (name for name in action.arguments.values() if name in actors and name != action.actor)
    return Message(action, action.actor, next(others, action.actor))
