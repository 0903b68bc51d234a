"""What becomes of acknowledged messages and of a backlog when something fails: questions that an operator asks of a topic."""

from __future__ import annotations

from fencepost.model.language import And, Protocol, Truth, any_of, at_least
from fencepost.properties.topic.variables import Log, TopicVariables
from fencepost.properties.vocabulary import Suite


def _surviving(p: Protocol) -> tuple[Suite, Log]:
    """A suite that has acknowledged messages survive."""
    suite, log = Suite(p), Log(p)

    @suite.always
    def acknowledged_messages_survive() -> Truth:
        """An acknowledged message is in the log: every reader that comes after gets it."""
        return log.keeps_acknowledged

    return suite, log


def survive_sessions(p: Protocol) -> Suite:
    """That acknowledged messages survive lost sessions: another broker opens the topic, and the former owner goes on."""
    suite, log = _surviving(p)
    several = len(log.broker) > 1

    @suite.sometimes
    def a_session_is_lost_after_all() -> Truth:
        """A session is lost, so that another broker has the topic or an update of the list fails; and all is acknowledged."""
        twice = at_least(2, [TopicVariables.now(p).state[b] == "opened" for b in log.broker])
        return And(TopicVariables.now(p).acked == len(log.message), twice if several else log.is_spent("failures"))

    return suite


def survive_updates(p: Protocol) -> Suite:
    """That acknowledged messages survive updates of the list, and creations of ledgers, that fail."""
    suite, log = _surviving(p)

    @suite.sometimes
    def an_update_fails_after_all() -> Truth:
        """As many updates have failed as may, and all is acknowledged."""
        return And(TopicVariables.now(p).acked == len(log.message), log.is_spent("failures"))

    return suite


def survive_crashes(p: Protocol) -> Suite:
    """That acknowledged messages survive brokers that die."""
    suite, log = _surviving(p)

    @suite.sometimes
    def a_broker_dies_after_all() -> Truth:
        """As many brokers have died as may, and all is acknowledged."""
        return And(TopicVariables.now(p).acked == len(log.message), log.is_spent("crashes"))

    return suite


def keep_backlog(p: Protocol) -> Suite:
    """That a subscription gets what it has not acknowledged, whatever is trimmed and whichever broker dies."""
    suite, log = Suite(p), Log(p)
    s = TopicVariables.now(p)

    @suite.always
    def a_backlog_is_kept() -> Truth:
        """What the subscription has not acknowledged is not trimmed."""
        return log.keeps_unread

    @suite.sometimes
    def there_is_a_backlog_after_all() -> Truth:
        """As many brokers have died as may, and there is an entry that the subscription has not acknowledged."""
        unread = any_of(And(log.is_stored(*x), s.consumed <= log.number(*x)) for x in log.places)
        return And(unread, log.is_spent("crashes"))

    if log.settings["trims"]:

        @suite.sometimes
        def read_ledgers_are_trimmed() -> Truth:
            """As many brokers have died as may, and a ledger with entries is trimmed."""
            trimmed = any_of(And(log.is_trimmed(k), log.end[k] > 0) for k in log.ledger)
            return And(trimmed, log.is_spent("crashes"))

    return suite
