"""Which message of a topic is lost: what odds count, message by message."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Not, Protocol
from fencepost.properties.topic.terms import Log


def message_is_lost(p: Protocol, m: int) -> Any:
    """The formula: message m is acknowledged, and no reader gets it."""
    return And(p.state.acked > m, Not(Log(p).gets(m)))
