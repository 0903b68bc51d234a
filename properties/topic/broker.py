"""What a broker holds of a topic, and what it must have done before it goes on: its queue, its fence and its ledgers."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Implies, Not, Or, all_of, any_of
from fencepost.model.pulsar.topic.state import NONE, NOTHING
from fencepost.properties.topic.terms import Log
from fencepost.properties.vocabulary import Suite


def topic_broker(suite: Suite, log: Log) -> None:
    """Declares what holds of each broker."""
    _queue(suite, log)
    _fence(suite, log)
    _ledgers(suite, log)
    if log.settings["subscription"]:
        _subscription(suite, log)


def _queue(suite: Suite, log: Log) -> None:
    s, n, broker = log.state, suite.protocol.next, log.broker

    @suite.always
    def queue_is_counted() -> Any:
        """A queue has as many messages as its broker counts; no more of them have arrived, and no more of these are sent."""
        room = suite.protocol.universes["place_in_queue"]
        counted = [(s.queue[b, q] != NOTHING, s.length[b] > q) for b in broker for q in room]
        both = [And(Implies(there, in_it), Implies(in_it, there)) for there, in_it in counted]
        return And(*both, *(And(s.sent[b] <= s.arrived[b], s.arrived[b] <= s.length[b]) for b in broker))

    @suite.step
    def confirmed_is_the_first_sent() -> Any:
        """The entry that is confirmed to a broker is that of the first message in its queue, which it has sent."""
        places = [(b, k, e) for b in broker for k, e in log.places]
        here = {(b, k, e): And(s.current[b] == k, log.confirmed[k] == e, log.next_confirmed[k] > e) for b, k, e in places}
        same = {(b, k, e): any_of(And(s.queue[b, 0] == m, s.content[k, e] == m) for m in log.message) for b, k, e in places}
        return all_of(Implies(here[b, k, e], And(s.sent[b] > 0, same[b, k, e])) for b, k, e in places)

    @suite.step
    def failed_writes_fence() -> Any:
        """A write that leaves the queue and is not stored fences its topic, or closes it."""
        rises = any_of(log.next_confirmed[k] > log.confirmed[k] for k in log.ledger)
        stored = {b: Or(rises, s.filled[b] if hasattr(s, "filled") else False) for b in broker}
        lost = {b: And(n.length[b] < s.length[b], Not(stored[b]), n.state[b] != "none") for b in broker}
        return all_of(Implies(lost[b], n.topic[b] != "serving") for b in broker)


def _fence(suite: Suite, log: Log) -> None:
    s, broker, settings = log.state, log.broker, log.settings
    if settings["failures"]:

        @suite.always
        def write_failed_is_fenced() -> Any:
            """A managed ledger in state WriteFailed is one of a topic that is fenced or being closed."""
            return all_of(Implies(s.state[b] == "write_failed", s.topic[b] != "serving") for b in broker)

    if settings["failures"] + settings["terminations"]:

        @suite.always
        def fenced_has_no_producer() -> Any:
            """The producer of a fenced topic is going to be disconnected."""
            stays = {b: And(s.connected == b, s.link == "attached") for b in broker}
            return all_of(Not(And(s.topic[b] == "fenced", stays[b])) for b in broker)


def _ledgers(suite: Suite, log: Log) -> None:
    s, broker, ledger = log.state, log.broker, log.ledger
    n, left = suite.protocol.next, ("creating", "closed_ledger", "write_failed", "terminated", "closed")

    @suite.always
    def left_ledgers_are_closed() -> Any:
        """A broker that does not write its current ledger any more has had it closed, and has sent nothing to the next one."""
        gone = {b: s.state[b].among(*left) for b in broker}
        idle = all_of(Implies(gone[b], s.sent[b] == 0) for b in broker)
        over = {k: log.status[k].among("closed", "deleted") for k in ledger}
        return And(idle, *(Implies(And(gone[b], s.current[b] == k), over[k]) for b in broker for k in ledger))

    @suite.always
    def new_ledgers_are_under_way() -> Any:
        """A broker that has created a ledger and not listed it is opening the topic or rolling over, or was stopped in that."""
        under_way = ("recovered", "creating", "terminated", "closed")
        return all_of(Or(s.fresh[b] == NONE, s.state[b].among(*under_way)) for b in broker)

    @suite.always
    def unlisted_has_no_entries() -> Any:
        """The list says nothing of a ledger that it does not have."""
        return all_of(Or(s.listed.has(k), s.entries[k] == 0) for k in ledger)

    @suite.always
    def former_ledgers_have_entries() -> Any:
        """Every ledger of the list but the last one has entries."""
        return all_of(Not(And(s.listed.has(k), log.has_a_ledger_after(k), s.entries[k] == 0)) for k in ledger)

    if log.settings["trims"] and not log.settings["deletions"]:

        @suite.always
        def deleted_is_done() -> Any:
            """A ledger that is deleted is none that a broker has still to delete."""
            due = {k: any_of(s.deleting[b].has(k) for b in broker) for k in ledger}
            return all_of(Not(And(due[k], log.status[k] == "deleted")) for k in ledger)

    if log.settings["deletions"]:

        @suite.step
        def deletion_takes_all_ledgers() -> Any:
            """A topic that is deleted by a broker which knows its list leaves no ledger of it behind."""
            left_behind = any_of(And(s.listed.has(k), n.ledger.status[k] != "deleted") for k in ledger)
            return Implies(And(n.discarded, Not(s.discarded)), Not(left_behind))


def _subscription(suite: Suite, log: Log) -> None:
    s, n = log.state, suite.protocol.next

    @suite.step
    def subscription_skips_nothing() -> Any:
        """The subscription acknowledges entries of the log, one after the other."""
        numbers = {x: log.number(*x) for x in log.places}
        skipped = [And(log.is_stored(*x), s.consumed <= numbers[x], n.consumed > numbers[x] + 1) for x in log.places]
        absent = [And(s.consumed <= numbers[x], n.consumed == numbers[x] + 1, Not(log.is_stored(*x))) for x in log.places]
        return Not(Or(*skipped, *absent))
