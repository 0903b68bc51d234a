"""What a ledger comes to in the end, however long it takes: nothing stays open, half recovered or unconfirmed forever.

The rest of a protocol says that nothing bad happens, and a system that stands still satisfies all of that. Here nobody may
stand still who is needed: which parties those are, each property says by what it leaves ``unfair``. A client that has died is
one of which nothing is obliged. A bookie that is down comes back, unless its ``restart`` is left unfair too.
"""

from __future__ import annotations

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.language import And, Condition, Not, Or, Protocol, any_of, at_least, how_many
from fencepost.properties.ledger.variables import LedgerVariables, gone, losses, most_losses
from fencepost.properties.vocabulary import Leads, Suite

WRITERS = ("writer", "publish_change", "add", "collect")
"""The writer, the store that carries out its wishes, and what bookies do for it or after the ledger's end."""


def ledger_liveness(suite: Suite) -> None:
    """Adds to a suite what must come about."""
    p: Protocol = suite.protocol
    s, settings = LedgerVariables.now(p), p.parameters
    bookie, entry, recoverer = p.universes["bookie"], p.universes["entry"], p.universes["recoverer"]
    ack_quorum, write_quorum = settings["ack_quorum"], settings["write_quorum"]
    writers = Ensembles(p, "writer", Striping(settings["ensemble"], write_quorum, settings["entries"]))
    destroyed = losses(s) + s.rots
    down = [Not(s.up[b]) for b in bookie]
    is_open = s.status.among("open", "in_recovery")
    missing = at_least(write_quorum - ack_quorum + 1, gone(s, bookie, settings))

    if settings["crashes"] or settings["changes"]:

        @suite.leads_to(unfair=[*(recoverer.label(r) for r in recoverer), "close", "restart"])
        def adds_end() -> Leads:
            """What a living writer has sent is confirmed in the end, or fails, even if bookies stay down for good.

            It fails where a bookie of a pending add's write set refuses it, or is down and cannot be replaced, and where the
            change of ensemble is refused for which it waits.
            """

            def fails_at(b: int, e: int) -> Condition:
                refuses = Or(s.fenced[b], Not(s.up[b]))
                return And(s.lac < e, e <= s.sent, writers.holds(b, e), Not(s.taken_by_bookie[b].has(e)), refuses)

            change_is_refused = And(s.writer.among("changing", "changed"), s.status != "open")
            over = Or(s.writer.among("closed", "failed"), change_is_refused, *(fails_at(b, e) for b in bookie for e in entry))
            return [(s.sent >= e, Or(s.confirmed.has(e), over)) for e in entry]

    @suite.leads_to(unfair=[recoverer.label(r) for r in recoverer] + ["close"])
    def adds_are_confirmed() -> Leads:
        """What a living writer has sent is confirmed in the end, unless the ledger is fenced or closed: it hears of its end."""
        given_up = Or(s.status != "open", missing, any_of(s.fenced[b] for b in bookie))
        heard = Or(s.writer.among("closed", "failed"), s.status != "closed")
        return [*((s.sent >= e, Or(s.confirmed.has(e), given_up)) for e in entry), (s.status == "closed", heard)]

    if not recoverer.size:
        return
    others = [recoverer.label(r) for r in recoverer][:-1]

    @suite.leads_to(unfair=[*WRITERS, *others])
    def open_ledgers_close() -> Leads:
        """A ledger is closed in the end, if a client recovers it, bookies come back and not too many copies are destroyed."""
        return is_open, Or(Not(is_open), destroyed >= ack_quorum, missing)

    if settings["crashes"]:

        @suite.leads_to(unfair=[*WRITERS, *others, "restart"])
        def open_ledgers_close_without_the_missing() -> Leads:
            """So it is if bookies stay down for good, as long as they are fewer than an ack quorum and leave one of each."""
            too_few = Or(destroyed + how_many(*down) >= ack_quorum, at_least(write_quorum - ack_quorum + 1, down))
            return is_open, Or(Not(is_open), too_few)

    if most_losses(settings) or settings["rots"]:

        @suite.leads_to(
            unfair=[*WRITERS, *others],
            strict="bookies that are gone, may have lost an entry, or have only a bad copy of it, never say that it was not "
            "there, and so many of them keep a recovery from ever knowing",
            when=most_losses(settings) + settings["rots"] >= ack_quorum
            or (not settings["data_integrity"] and settings["losses"] > write_quorum - ack_quorum),
        )
        def open_ledgers_close_whatever_is_lost() -> Leads:
            """A ledger is closed in the end, whatever copies are destroyed."""
            return is_open, Not(is_open)

    @suite.leads_to(unfair=WRITERS)
    def recoveries_end() -> Leads:
        """A recovery that has begun is done in the end, unless the ledger is deleted or too many copies are destroyed."""
        away = Or(s.status == "deleted", destroyed >= ack_quorum, missing)
        return [(Not(s.phase[r].among("idle", "done")), Or(s.phase[r] == "done", away)) for r in recoverer]
