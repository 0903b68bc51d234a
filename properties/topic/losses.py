"""Which message of a topic is lost: what odds count, message by message."""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.language import And, Not, Protocol, Truth
from fencepost.model.language.declarations import Action
from fencepost.properties.topic.terms import Log
from fencepost.properties.topic.variables import TopicVariables


def message_is_lost(p: Protocol, m: int) -> Truth:
    """The formula: message m is acknowledged, and no reader gets it."""
    return And(TopicVariables.now(p).acked > m, Not(Log(p).gets(m)))


def refused_messages_have_successors(p: Protocol) -> Protocol:
    """The topic where a message that comes while it is fenced is followed by another one, which waits in the socket.

    A connection that is read again has hundreds of them, an instance has few: so one that would be refused does not come.
    """

    def accepted(action: Action) -> Action:
        return replace(action, guard=And(action.guard, TopicVariables.now(p).topic[action.grounding[0][1]] == "serving"))

    p.actions = [accepted(a) if a.name == "publish" else a for a in p.actions]
    return p
