"""What happens to a topic in the end."""

from __future__ import annotations

from fencepost.model.language import And, Not, Or, any_of
from fencepost.model.nobody import NOBODY
from fencepost.properties.topic.variables import Log
from fencepost.properties.vocabulary import Leads, Suite


def topic_liveness(suite: Suite, log: Log) -> None:
    """Declares what holds in the end, of a broker that need not wait for a ledger that the instance does not have."""
    s, settings, broker = log.state, log.settings, log.broker

    @suite.leads_to
    def writes_are_answered() -> Leads:
        """A write that a topic has taken is answered, in the end, or the connection that it came by is over."""
        owed = {b: Or(s.owed[b], s.stuck[b]) if hasattr(s, "owed") else False for b in broker}
        waits = {b: Or(s.length[b] > 0, owed[b]) for b in broker}
        return [(waits[b], Or(Not(waits[b]), log.waits_in_vain(b))) for b in broker]

    @suite.leads_to
    def producer_is_answered() -> Leads:
        """A producer that has sent a message hears that it is stored, or is disconnected, in the end."""
        waits = {b: And(s.connected == b, s.next_out > s.acked) for b in broker}
        return [(waits[b], Or(Not(waits[b]), log.waits_in_vain(b))) for b in broker]

    @suite.leads_to
    def producer_is_read() -> Leads:
        """What a connected producer has to send arrives at its broker, or it is disconnected, in the end."""
        waits = [(b, m, And(s.connected == b, s.next_out == m)) for b in broker for m in log.message]
        return [(here, Or(Not(here), log.waits_in_vain(b))) for b, _, here in waits]

    @suite.leads_to
    def producer_connects() -> Leads:
        """A producer connects to a topic that takes writes, in the end."""
        serves = any_of(And(s.state[b].among("opened", "closed_ledger"), s.topic[b] == "serving") for b in broker)
        waits = And(s.connected == NOBODY, serves, Not(log.is_spent("connections")))
        return waits, Not(waits)

    @suite.leads_to
    def gets_a_ledger() -> Leads:
        """A broker that opens the topic, or changes its ledger, has one to write in the end, or has given up."""
        waits = {b: s.state[b].among("opening", "recovered", "creating") for b in broker}
        return [(waits[b], Or(Not(waits[b]), log.waits_in_vain(b))) for b in broker]

    ends = ("failures", "closings", "terminations", "slow_updates", "transfers")
    if any(settings.get(name, 0) for name in ends) or settings["brokers"] > 1:

        @suite.leads_to
        def fenced_is_unfenced() -> Leads:
            """A topic that fences itself takes writes again, or is closed, in the end."""
            return [(s.topic[b] != "serving", Or(s.topic[b] == "serving", log.waits_in_vain(b))) for b in broker]

    if settings["terminations"]:

        @suite.leads_to
        def termination_is_listed() -> Leads:
            """The list says in the end that the topic is terminated, unless another broker has written it."""
            return [(s.state[b] == "terminated", Or(s.ended, s.state[b] != "terminated")) for b in broker]

    if settings.get("property_updates", 0):

        @suite.leads_to
        def property_update_is_answered() -> Leads:
            """Whoever sets properties of a topic is answered, in the end."""
            return [(s.asked[b] != "nothing", s.asked[b] == "nothing") for b in broker]

    if settings["subscription"]:

        @suite.leads_to
        def position_is_written() -> Leads:
            """The position of a subscription is written, in the end, unless the topic leaves its broker."""
            is_behind = {b: And(s.has_cursor[b], s.mark[b] != s.cursor) for b in broker}
            return [(is_behind[b], Not(is_behind[b])) for b in broker]

    several = settings["brokers"] > 1 and settings["openings"] > 1
    stops = settings["crashes"] + settings["closings"] + settings.get("transfers", 0) > 0
    if several or stops:

        @suite.leads_to(strict="a broker whose opening fails, or that stops in between, leaves its new ledger behind")
        def unlisted_is_deleted() -> Leads:
            """A ledger that was created, and is open and in no list, is deleted in the end."""
            new = (s.fresh, s.slow) if hasattr(s, "slow") else (s.fresh,)
            pending = {k: any_of(each[b] == k for each in new for b in broker) for k in log.ledger}
            orphans = {k: And(log.status[k] == "open", Not(s.listed.has(k)), Not(pending[k])) for k in log.ledger}
            return [(orphans[k], log.status[k] == "deleted") for k in log.ledger]

    if settings["trims"]:
        fences_itself = settings["failures"] > 0 and settings["recoveries"] + settings["add_failures"] > 0

        @suite.leads_to(
            strict="a broker that trims and dies, or is fenced, leaves what it has not deleted",
            when=several or stops or fences_itself,
        )
        def trimmed_is_deleted() -> Leads:
            """A ledger with entries that the list had, and has no more, is deleted in the end."""
            unlisted = {k: And(Not(s.listed.has(k)), log.status[k] == "closed", log.end[k] > 0) for k in log.ledger}
            return [(unlisted[k], log.status[k] == "deleted") for k in log.ledger]
