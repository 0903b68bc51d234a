"""A ledger refines its stand-in: each of its steps is, for a topic, a step of the stand-in or nothing.

So a protocol of topics is made of stand-ins, and what always holds there holds with ledgers on bookies. A mistake of BookKeeper
enters it by the weak moves that its history names (``allows``).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fencepost.model.language import If
from fencepost.model.stand_ins.ledger import stand_in
from fencepost.properties.vocabulary import Suite

NAME = "is_a_ledger_of_a_topic"
"""The property that says so."""


def ledger_refinement(suite: Suite, weak: Collection[str] = ()) -> None:
    """Adds to a suite that each step of the ledger is one of its stand-in with these weak moves, or changes nothing there."""
    p = suite.protocol
    s, settings = p.state, p.parameters
    deletions = bool(settings["deletions"])

    @suite.refines(stand_in(settings["entries"], deletions=deletions, allows=weak))
    def is_a_ledger_of_a_topic() -> Any:
        """A topic sees a ledger of which entries are sent and confirmed, and that is closed with all that is confirmed."""
        status = If(s.status == "closed", "closed", "open")
        ended = s.status == "closed"
        if deletions:
            status, ended = If(s.status == "deleted", "deleted", status), s.status.among("closed", "deleted")
        return {"status": status, "sent": s.sent + 1, "confirmed": s.lac + 1, "end": If(ended, s.last + 1, 0)}
