"""What happens to a topic in the end."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Not, Or
from fencepost.properties.topic.terms import Log
from fencepost.properties.vocabulary import Suite


def topic_liveness(suite: Suite, log: Log) -> None:
    """Declares what holds in the end, as long as the instance has a ledger left."""
    s, settings, broker = log.state, log.settings, log.broker

    @suite.leads_to
    def writes_are_answered() -> Any:
        """A write that a topic has taken is answered, in the end."""
        owed = {b: s.owed[b] if hasattr(s, "owed") else False for b in broker}
        waits = {b: Or(s.length[b] > 0, owed[b]) for b in broker}
        return [(waits[b], Or(Not(waits[b]), log.is_used_up)) for b in broker]

    @suite.leads_to
    def producer_is_answered() -> Any:
        """A producer that has sent a message hears that it is stored, or is disconnected, in the end."""
        waits = {b: And(s.connected == b, s.next_out > s.acked) for b in broker}
        return [(waits[b], Or(Not(waits[b]), log.is_used_up)) for b in broker]

    if settings["failures"] + settings["closings"] + settings["terminations"] or settings["brokers"] > 1:

        @suite.leads_to
        def fenced_is_unfenced() -> Any:
            """A topic that fences itself takes writes again, or is closed, in the end."""
            return [(s.topic[b] != "serving", Or(s.topic[b] == "serving", log.is_used_up)) for b in broker]

    if settings["trims"]:
        forgets = settings["crashes"] + settings["closings"] > 0 or (settings["brokers"] > 1 and settings["openings"] > 1)

        @suite.leads_to(strict="a broker that trims and dies, or is fenced, leaves what it has not deleted", when=forgets)
        def trimmed_is_deleted() -> Any:
            """A ledger with entries that the list had, and has no more, is deleted in the end."""
            unlisted = {k: And(Not(s.listed.has(k)), log.status[k] == "closed", log.end[k] > 0) for k in log.ledger}
            return [(unlisted[k], log.status[k] == "deleted") for k in log.ledger]
