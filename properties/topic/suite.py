"""What must hold of a topic, all of it."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Protocol, any_of, at_least
from fencepost.properties.topic.broker import topic_broker
from fencepost.properties.topic.conduct import topic_conduct
from fencepost.properties.topic.liveness import topic_liveness
from fencepost.properties.topic.safety import topic_safety
from fencepost.properties.topic.variables import Log
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
    def all_acknowledged() -> Condition:
        """Every message is acknowledged."""
        return s.acked == len(log.message)

    several = settings["openings"] > 1 or settings["rolls"] or settings["add_failures"] or log.capacity < len(log.message)
    if len(log.message) > 1 and several and not settings["deletions"]:

        @suite.sometimes
        def in_two_ledgers() -> Condition:
            """The log has entries in two ledgers."""
            return at_least(2, [log.is_stored(k, 0) for k in log.ledger])

    if settings["rolls"] and log.capacity > 1:

        @suite.sometimes
        def rolled_over_when_all_is_stored() -> Condition:
            """A ledger is rolled over that is not full, and all of whose entries are confirmed."""
            partly = {k: And(log.sent[k] > 0, log.sent[k] < log.capacity) for k in log.ledger}
            whole = {k: And(partly[k], log.confirmed[k] == log.sent[k]) for k in log.ledger}
            return any_of(And(s.state[b] == "creating", s.current[b] == k, whole[k]) for b in broker for k in log.ledger)

    if settings["closings"] + settings.get("transfers", 0):
        _unloaded(suite, log)

    if settings["terminations"]:

        @suite.sometimes
        def terminated_when_all_is_stored() -> Condition:
            """A topic is terminated in its first ledger, all of whose entries are confirmed, as it is written."""
            first = And(log.end[0] > 0, log.end[0] == log.sent[0], log.status[1] == "absent") if len(log.ledger) > 1 else True
            return And(s.ended, first, *(log.is_unspent(each) for each in ("rolls", "recoveries", "add_failures")))

    if settings["recoveries"]:

        @suite.sometimes
        def recovered_by_others() -> Condition:
            """A ledger that is being written is recovered by somebody else, with no more than what is confirmed."""
            closed = {k: And(log.status[k] == "closed", log.end[k] == log.confirmed[k]) for k in log.ledger}
            return And(any_of(And(closed[k], log.sent[k] > log.end[k]) for k in log.ledger), log.is_unspent("add_failures"))

        @suite.sometimes
        def recovered_with_all_entries() -> Condition:
            """The same, with all that was sent."""
            closed = {k: And(log.status[k] == "closed", log.end[k] > log.confirmed[k]) for k in log.ledger}
            return And(any_of(And(closed[k], log.sent[k] == log.end[k]) for k in log.ledger), log.is_unspent("add_failures"))

        if settings["rolls"] and log.capacity > 1:

            @suite.sometimes
            def recovered_and_rolled_over() -> Condition:
                """The first ledger, which somebody else has recovered, is rolled over with no write under way."""
                rolls = [And(s.state[b] == "creating", s.current[b] == 0, s.length[b] == 0) for b in broker]
                return And(any_of(rolls), log.status[1] == "absent", log.is_spent("recoveries"))

    if settings["add_failures"] and settings["timeouts"] and not settings.get("closes_timed_out", False):

        @suite.sometimes
        def timed_out_is_stored() -> Condition:
            """The only add of a ledger is not answered in time, and the ledger is closed with its entry."""
            only = {k: And(log.sent[k] == 1, log.confirmed[k] == 0, log.end[k] == 1) for k in log.ledger}
            writes = {b: s.state[b].among("opened", "closing_ledger") for b in broker}
            waits = {k: any_of(And(writes[b], s.current[b] == k) for b in broker) for k in log.ledger}
            stores = any_of(And(log.status[k] == "closed", only[k], waits[k]) for k in log.ledger)
            return And(stores, log.is_unspent("recoveries"))

    if settings["deletions"] and settings["openings"] > 1 and log.capacity > 1:

        @suite.sometimes
        def deleted_with_a_former_ledger() -> Condition:
            """A topic is deleted that has had a ledger with an entry, and has another one."""
            return And(s.discarded, any_of(And(log.status[k] == "deleted", log.end[k] == 1) for k in log.ledger))

    if settings["snapshots"] + settings.get("truncations", 0) and settings["dedup"]:

        @suite.sometimes
        def snapshot_of_the_first() -> Condition:
            """A snapshot is marked behind the first entry."""
            return s.snapshot_at == 1

    if settings["brokers"] > 1 and settings["openings"] > 1:

        @suite.sometimes
        def two_serve() -> Condition:
            """Two brokers take themselves for the one that writes the topic."""
            return at_least(2, [s.state[b] == "opened" for b in broker])

    if settings["trims"]:

        @suite.sometimes
        def trimmed() -> Condition:
            """A ledger with entries is trimmed and deleted."""
            return any_of(And(s.trimmed.has(k), log.status[k] == "deleted", log.end[k] > 0) for k in log.ledger)

        @suite.sometimes
        def trimmed_below_an_empty_ledger() -> Condition:
            """A ledger is trimmed as soon as the next one is open, which is empty."""
            writes = {k: any_of(And(s.current[b] == k, s.state[b] == "opened") for b in broker) for k in log.ledger}
            return any_of(And(writes[k], log.sent[k] == 0, s.trimmed.has(k - 1)) for k in log.ledger if k > 0)

        if log.capacity == 1 and min(len(log.ledger) - 1, len(log.message)) > 1:

            @suite.sometimes
            def trimmed_at_once() -> Condition:
                """Two ledgers are trimmed at once."""
                return And(at_least(2, [s.trimmed.has(k) for k in log.ledger]), s.trims == 1)

    if settings["trims"] and settings["subscription"]:

        @suite.sometimes
        def trimmed_when_read() -> Condition:
            """A ledger is trimmed as soon as the subscription has acknowledged its last entry."""
            read = {k: s.consumed == log.number(k, 0) + log.end[k] for k in log.ledger}
            return any_of(And(s.trimmed.has(k), log.end[k] > 0, read[k]) for k in log.ledger)

    if settings["subscription"]:

        @suite.sometimes
        def read_while_written() -> Condition:
            """The subscription has acknowledged an entry of a ledger that is open."""
            return any_of(And(log.status[k] == "open", s.consumed > log.number(k, 0)) for k in log.ledger)


def _unloaded(suite: Suite, log: Log) -> None:
    s = log.state
    ended = [(b, k, And(s.state[b] == "closed", s.current[b] == k, log.end[k] > 0)) for b in log.broker for k in log.ledger]

    @suite.sometimes
    def unloaded_when_all_is_stored() -> Condition:
        """A topic is unloaded whose ledger is open, with all its entries confirmed."""
        return any_of(And(here, s.known_entries[b, k] == 0, log.end[k] == log.sent[k]) for b, k, here in ended)

    if log.settings["rolls"] or log.settings["add_failures"]:

        @suite.sometimes
        def unloaded_in_a_rollover() -> Condition:
            """A topic is unloaded that has closed its ledger, and has no other one yet."""
            return any_of(And(here, s.known_entries[b, k] == log.end[k]) for b, k, here in ended)
