"""The collection of a ledger by a bookie that no metadata name for it: it was deleted, or its copies are on other bookies.

Mirrors ScanAndCompareGarbageCollector and deleteLedger of the storages of bookkeeper-server 4.17.3 and 4.18.0.
"""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.bookkeeper.entry_logs import are_modelled
from fencepost.model.bookkeeper.journal import Journal, Saved
from fencepost.model.language import And, Condition, Not, Or, Outcome, Protocol, Updates


def declare_collections(p: Protocol, journal: Journal, saved: Saved) -> None:
    """The step by which a bookie forgets a ledger, in a protocol with the variables of ``bookie``."""
    s, settings = BookieVariables.now(p), p.parameters
    ledger, entry = p.universes["ledger"], p.universes["entry"]
    on_db = settings["storage"] == "db"

    @p.rule
    def key_after_collection(of: int) -> Condition | bool:
        """Whether the process takes the master key of a collected ledger for logged: its next add logs the key again."""
        return False

    key_after_collection.instead("key_of_collected_ledger_kept", lambda of: s.key_logged[of])

    def deleted_from_disk(of: int) -> Updates:
        """What the disk has of a collected ledger: all that it had until the next save with db, else nothing."""
        if on_db:
            return {s.undeleted[of]: True}
        return {saved.entries[of]: (), saved.key[of]: False, saved.fence[of]: False, saved.lac[of]: 0, s.paged[of]: False}

    @p.step(
        by="bookie",
        spends="collections",
        mirrors="ScanAndCompareGarbageCollector.gc, HandleFactoryImpl.ledgerDeleted, "
        + ("SingleDirectoryDbLedgerStorage" if on_db else "InterleavedLedgerStorage")
        + ".deleteLedger",
        of=ledger,
    )
    def collect(of: int) -> Outcome:
        """No metadata name the bookie for the ledger, of which nothing is under way: it is forgotten."""
        known = Or(s.key_logged[of], Not(s.stored[of].is_empty), s.fenced[of])
        idle = [x[of, e] != "accepted" for x in (s.added, s.recovered) for e in entry]
        memory: Updates = {s.stored[of]: (), s.fenced[of]: False, s.explicit_lac[of]: 0}
        memory |= {s.key_logged[of]: key_after_collection(of)}
        answers: Updates = {s.fence_told[of]: False, s.denied[of]: (), s.lac_told[of]: 0, s.shown[of]: ()}
        answers |= {x[of, e]: "none" for x in (s.added, s.recovered) for e in entry}
        if p.has("fence_checked_apart"):
            answers |= {s.checked[of, e]: False for e in entry}
        owed: Updates = {s.owed_from[of]: journal.logged, **({s.cached[of]: ()} if are_modelled(settings) else {})}
        return And(s.stage == "up", known, *idle, Not(s.lac_asked[of])), {**memory, **answers, **owed, **deleted_from_disk(of)}
