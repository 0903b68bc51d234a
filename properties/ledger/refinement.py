"""A ledger refines its stand-ins: each of its steps is, for a topic and for auto-recovery, a step of the stand-in or nothing.

So a protocol of topics is made of stand-ins, and what always holds there holds with ledgers on bookies. A bug of BookKeeper
enters it by the weak moves that its table names (``allows``).
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.language import If
from fencepost.model.stand_ins.ledger import stand_in
from fencepost.model.stand_ins.written_ledger import written_ledger
from fencepost.properties.ledger.variables import LedgerVariables
from fencepost.properties.vocabulary import Suite

NAME = "is_a_ledger_of_a_topic"
"""The property that says so."""


def ledger_refinement(suite: Suite, weak: Collection[str] = ()) -> None:
    """Adds to a suite that each step of the ledger is one of its stand-in with these weak moves, or changes nothing there."""
    p = suite.protocol
    s, settings = LedgerVariables.now(p), p.parameters
    deletions = bool(settings["deletions"])

    @suite.refines(stand_in(settings["entries"], deletions=deletions, allows=weak))
    def is_a_ledger_of_a_topic() -> dict[str, object]:
        """A topic sees a ledger of which entries are sent and confirmed, and that is closed with all that is confirmed."""
        status = If(s.status == "closed", "closed", "open")
        ended = s.status == "closed"
        if deletions:
            status, ended = If(s.status == "deleted", "deleted", status), s.status.among("closed", "deleted")
        return {"status": status, "sent": s.sent + 1, "confirmed": s.lac + 1, "end": If(ended, s.last + 1, 0)}


def written_refinement(suite: Suite) -> None:
    """Adds to a suite that each step of the ledger is one of the ledger that auto-recovery knows, or changes nothing there."""
    p = suite.protocol
    s, entry = LedgerVariables.now(p), p.universes["entry"]

    @suite.refines(written_ledger(p.parameters["entries"]))
    def is_a_ledger_to_replicate() -> dict[str, object]:
        """Auto-recovery sees a ledger with the entries that are confirmed and, once it is closed, with all up to its end."""
        ended = s.status.among("closed", "deleted")
        confirmed = entry.where(lambda e: If(ended, s.last >= e, s.lac >= e))
        return {"status": If(ended, "closed", "open"), "confirmed": confirmed}
