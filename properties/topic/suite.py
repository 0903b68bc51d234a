"""What must hold of a topic, all of it."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Protocol, any_of, at_least
from fencepost.properties.topic.broker import topic_broker
from fencepost.properties.topic.conduct import topic_conduct
from fencepost.properties.topic.liveness import topic_liveness
from fencepost.properties.topic.safety import topic_safety
from fencepost.properties.topic.terms import Log
from fencepost.properties.vocabulary import Suite


def topic(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.topic`` built."""
    suite, log = Suite(p), Log(p)
    topic_safety(suite, log)
    topic_conduct(suite, log)
    topic_broker(suite, log)
    topic_liveness(suite, log)
    _sometimes(suite, log)
    return suite


def _sometimes(suite: Suite, log: Log) -> None:
    s, settings, broker = log.state, log.settings, log.broker

    @suite.sometimes
    def all_acknowledged() -> Any:
        """Every message is acknowledged."""
        return s.acked == len(log.message)

    several = settings["openings"] > 1 or settings["rolls"] or settings["add_failures"] or log.capacity < len(log.message)
    if len(log.message) > 1 and several and not settings["deletions"]:

        @suite.sometimes
        def in_two_ledgers() -> Any:
            """The log has entries in two ledgers."""
            return at_least(2, [log.is_stored(k, 0) for k in log.ledger])

    if settings["brokers"] > 1 and settings["openings"] > 1:

        @suite.sometimes
        def two_serve() -> Any:
            """Two brokers take themselves for the one that writes the topic."""
            return at_least(2, [s.state[b] == "opened" for b in broker])

    if settings["trims"]:

        @suite.sometimes
        def trimmed() -> Any:
            """A ledger with entries is trimmed and deleted."""
            return any_of(And(s.trimmed.has(k), log.status[k] == "deleted", log.end[k] > 0) for k in log.ledger)

    if settings["trims"] and settings["subscription"]:

        @suite.sometimes
        def trimmed_when_read() -> Any:
            """A ledger is trimmed as soon as the subscription has acknowledged its last entry."""
            read = {k: s.consumed == log.number(k, 0) + log.end[k] for k in log.ledger}
            return any_of(And(s.trimmed.has(k), log.end[k] > 0, read[k]) for k in log.ledger)
