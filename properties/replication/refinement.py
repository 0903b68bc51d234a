"""Auto-recovery refines its stand-in: to a cluster each of its steps takes copies by a fault, restores some, or is nothing.

A bug of auto-recovery enters a cluster by the weak move that its history names (``allows``).
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.language import If, Number, how_many, minimum
from fencepost.model.stand_ins.copies import copies
from fencepost.properties.replication.variables import ReplicationVariables, Terms
from fencepost.properties.vocabulary import Suite

NAME = "keeps_copies_of_a_ledger"
"""The property that says so."""
FAULTS = ("losses", "gaps", "rots")


def replication_refinement(suite: Suite, t: Terms, weak: Collection[str] = ()) -> None:
    """Adds to a suite that each step of auto-recovery is one of its stand-in with these weak moves, or nothing there."""
    p = suite.protocol
    s, settings, most = ReplicationVariables.now(p), p.parameters, t.place.size
    faults = sum(settings[fault] for fault in FAULTS)
    coarse = copies(most, faults, written=settings["opened"], allows=weak)

    @suite.refines(coarse, reached=())
    def keeps_copies_of_a_ledger() -> dict[str, object]:
        """A cluster sees how many copies the entry has that has the fewest."""
        fewest = minimum(most, *(If(s.confirmed.has(e), how_many(*t.holders(s, e)), most) for e in t.entry))
        taken: Number | int = 0
        for fault in FAULTS:
            taken = p.counter(fault) + taken
        return {"copies": fewest, "losses": taken}
