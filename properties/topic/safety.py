"""What must hold of a topic: the messages that a reader gets, the log that they are in, and the list of its ledgers."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of, at_least
from fencepost.model.pulsar.topic.state import NONE
from fencepost.properties.topic.variables import Log
from fencepost.properties.vocabulary import Suite


def topic_safety(suite: Suite, log: Log) -> None:
    """Declares what holds in every state."""
    _messages(suite, log)
    _list(suite, log)
    _subscription(suite, log)


def _messages(suite: Suite, log: Log) -> None:
    s, settings, message, places = log.state, log.settings, log.message, log.places

    @suite.always
    def acked_is_in_log() -> Condition:
        """An acknowledged message is in the log: every reader that comes after gets it."""
        return log.keeps_acknowledged

    suite.tells("acked_is_in_log", log.what_a_reader_gets)

    if len(message) > 1:

        @suite.always
        def in_producer_order() -> Condition:
            """A message in the log has the one before it somewhere before it: first occurrences are in the producer's order."""
            pairs = [(m, y) for m in message if m > 0 for y in places]
            earlier = {(m, y): any_of(log.has(*x, m - 1) for x in places if x < y) for m, y in pairs}
            return all_of(Not(And(log.has(*y, m), Not(log.is_discarded), Not(earlier[m, y]))) for m, y in pairs)

    again = not settings["dedup"] and settings["connections"] > 1

    @suite.strict("a producer that connects again sends what it has not heard of once more", when=again)
    def stored_once() -> Condition:
        """No message is twice in the log."""
        twice = [And(log.has(*x, m), log.has(*y, m)) for m in message for x in places for y in places if x < y]
        return all_of(Not(both) for both in twice)

    rivals = settings["brokers"] > 1 and settings["openings"] > 1

    @suite.strict("a broker that has lost the topic serves readers, with the ledgers that it knows", when=rivals)
    def every_broker_has_all() -> Condition:
        """A reader gets every acknowledged message from each broker that has loaded the topic."""
        loaded = {b: Not(s.state[b].among("none", "opening", "recovered")) for b in log.broker}
        has = {(b, m): any_of(And(log.has(k, e, m), log.serves(b, k)) for k, e in places) for b in log.broker for m in message}
        return all_of(Or(log.is_discarded, Not(loaded[b]), s.acked <= m, has[b, m]) for b in log.broker for m in message)

    if settings["terminations"]:

        @suite.always
        def nothing_is_past_the_end() -> Condition:
            """A terminated topic has no entry past the position at which it was terminated."""
            return all_of(Not(And(s.ended, log.is_stored(*x), Not(log.reaches(*x)))) for x in places)


def _list(suite: Suite, log: Log) -> None:
    s, ledger = log.state, log.ledger

    @suite.always
    def unloaded_is_forgotten() -> Condition:
        """A broker that has not loaded the topic remembers nothing of it."""

        def remembers(b: int) -> Condition:
            entries = [s.known_entries[b, k] > 0 for k in ledger]
            sequences = [s.pushed[b] > 0, s.persisted[b] > 0] if log.settings["dedup"] else []
            ledgers = [s.slow[b] != NONE, s.mutex[b]] if hasattr(s, "slow") else []
            ledgers += [s.known_version[b] > 0, s.current[b] != NONE, s.fresh[b] != NONE]
            writes = [s.length[b] > 0, s.arrived[b] > 0, s.sent[b] > 0, s.topic[b] != "serving"]
            writes += [s.filled[b]] if hasattr(s, "filled") else []
            writes += [s.owed[b], s.counted[b] > 0] if hasattr(s, "owed") else []
            writes += [s.has_cursor[b], s.mark[b] > 0] if log.settings["subscription"] else []
            return Or(Not(s.known[b].is_empty), *writes, *ledgers, *entries, *sequences)

        return all_of(Not(And(s.state[b] == "none", remembers(b))) for b in log.broker)

    @suite.always
    def one_open_ledger() -> Condition:
        """At most one ledger of the list is open: all others have an end."""
        return Not(at_least(2, [And(s.listed.has(k), log.status[k] == "open") for k in ledger]))

    @suite.always
    def listed_is_created() -> Condition:
        """A ledger of the list was created."""
        return all_of(Implies(s.listed.has(k), log.status[k] != "absent") for k in ledger)

    @suite.always
    def listed_is_not_deleted() -> Condition:
        """A ledger of the list that has entries is not deleted."""
        return all_of(Not(And(s.listed.has(k), log.status[k] == "deleted", s.entries[k] > 0)) for k in ledger)

    @suite.always
    def listed_entries_are_the_end() -> Condition:
        """The list says of each ledger but its last one how many entries it has: those up to its end."""
        former = {k: And(s.listed.has(k), log.has_a_ledger_after(k), log.status[k] == "closed") for k in ledger}
        return all_of(Not(And(former[k], s.entries[k] != log.end[k])) for k in ledger)


def _subscription(suite: Suite, log: Log) -> None:
    s, settings = log.state, log.settings
    if not settings["subscription"]:
        return

    @suite.always
    def cursor_is_not_ahead() -> Condition:
        """The stored position of the subscription is behind an entry of the log: it skips nothing that is yet to come."""
        behind = {x: s.cursor == log.number(*x) + 1 for x in log.places}
        return Or(log.is_discarded, all_of(Implies(behind[x], log.is_stored(*x)) for x in log.places))

    if not settings["trims"]:
        return

    @suite.always
    def unread_is_kept() -> Condition:
        """What the subscription has not acknowledged is not trimmed."""
        return log.keeps_unread

    @suite.strict("a broker that has lost the topic writes an older position", when=settings["brokers"] > 1)
    def cursor_is_in_the_log() -> Condition:
        """The stored position of the subscription is behind no entry that is trimmed."""
        passed = {k: s.cursor >= log.number(k, 0) + log.end[k] for k in log.ledger}
        return all_of(Not(And(s.trimmed.has(k), log.end[k] > 0, Not(passed[k]))) for k in log.ledger)
