"""Which message of a topic is lost: what odds count, message by message."""

from __future__ import annotations

from fencepost.model.language import And, Not, Protocol, Truth
from fencepost.properties.topic.terms import Log
from fencepost.properties.topic.variables import TopicVariables


def message_is_lost(p: Protocol, m: int) -> Truth:
    """The formula: message m is acknowledged, and no reader gets it."""
    return And(TopicVariables.now(p).acked > m, Not(Log(p).gets(m)))
