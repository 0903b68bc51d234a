"""Why something may change in a ledger: rules that hold for each step, and which a mistake in one action breaks first."""

from __future__ import annotations

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of
from fencepost.properties.ledger.variables import LedgerVariables, losses, next_entry
from fencepost.properties.vocabulary import Suite


def ledger_causes(suite: Suite) -> None:
    """Adds to a suite what must be the reason for a change of copies, acknowledgements, fences and ensembles."""
    p: Protocol = suite.protocol
    s, n = LedgerVariables.of(p)
    settings = p.parameters
    bookie, entry, recoverer = p.universes["bookie"], p.universes["entry"], p.universes["recoverer"]
    striping = Striping(settings["ensemble"], settings["write_quorum"], settings["entries"])
    writers, published = Ensembles(p, "writer", striping), Ensembles(p, "published", striping)
    new_ensembles = recoverer.each(lambda r: Ensembles(p, "new", striping, r))
    for_recovery = recoverer.each(lambda r: Ensembles(p, "for_recovery", striping, r, fragments="single"))
    places = [(b, e) for b in bookie for e in entry]

    def is_new(family: str, of: int, element: int) -> Condition:
        return And(Not(getattr(s, family)[of].has(element)), getattr(n, family)[of].has(element))

    @suite.step
    def acks_are_kept() -> Condition:
        """An acknowledgement counts until its entry is confirmed, its bookie has left, or the writer is done."""

        def is_void(b: int, e: int) -> Condition:
            return Or(n.confirmed.has(e), n.writer.among("closed", "failed"), Not(writers.holds(b, e)))

        return all_of(Implies(And(s.acked[b].has(e), Not(n.acked[b].has(e))), is_void(b, e)) for b, e in places)

    if recoverer.size:

        @suite.step
        def recovery_adds_go_to_write_sets() -> Condition:
            """What a bookie stores without an add is what a recovery found, and carries the last add before it.

            The bookie tells of that unless it has a later entry.
            """

            def again(b: int, e: int) -> Condition:
                read = any_of(
                    And(s.found[r].has(e), Or(new_ensembles[r].holds(b, e), for_recovery[r].holds(b, e))) for r in recoverer
                )
                has_later = any_of(And(e < later, s.stored[b].has(later)) for later in entry)
                return And(s.up[b], read, Or(n.bookie_lac[b] >= e - 1, has_later))

            without_add = {(b, e): And(is_new("stored", b, e), Not(n.taken_by_bookie[b].has(e))) for b, e in places}
            return all_of(Implies(without_add[b, e], again(b, e)) for b, e in places)

        @suite.step
        def fences_are_asked_for() -> Condition:
            """A bookie fences the ledger because a recovery asks it to, or because it may have lost something."""

            def asks(r: int, b: int) -> Condition:
                reads = And(s.phase[r] == "reading", published.holds(b, next_entry(s, r)))
                return And(s.phase[r] != "idle", Or(reads, for_recovery[r].in_last(b), new_ensembles[r].in_last(b)))

            fences = {b: And(Not(s.fenced[b]), n.fenced[b], losses(n) == losses(s)) for b in bookie}
            return all_of(Implies(fences[b], any_of(asks(r, b) for r in recoverer)) for b in bookie)

    if entry.size > 1:

        @suite.step
        def lacs_come_with_entries() -> Condition:
            """A last add confirmed that an entry carries is at a bookie with that entry."""
            rises = {b: And(n.bookie_lac[b] > s.bookie_lac[b], losses(n) == losses(s)) for b in bookie}
            later = {b: any_of(And(n.stored[b].has(e), n.bookie_lac[b] < e) for e in entry) for b in bookie}
            return all_of(Implies(rises[b], later[b]) for b in bookie)

    if settings["changes"]:

        @suite.step
        def replacements_are_needed() -> Condition:
            """A bookie is replaced because the writer, or a recovery that writes again, waits for it.

            Or it has failed to store an entry that was confirmed without it, and the writer has come to its next add.
            """

            awaited = any_of(And(s.lac < e, e <= s.sent, writers.leaves(p, e)) for e in entry)
            if settings["ack_quorum"] < settings["write_quorum"]:
                left = {b: And(writers.in_last(b), Not(p.primed(writers.in_last(b)))) for b in bookie}
                failed = [And(left[b], e <= s.lac, writers.holds(b, e), s.sent_to[b].has(e)) for b, e in places]
                awaited = Or(awaited, And(s.lac < s.sent, any_of(failed)))
            again = [
                And(s.phase[r] == "adding", new_ensembles[r].leaves(p, next_entry(s, r), spared=s.recovery_acked[r]))
                for r in recoverer
            ]
            return Implies(n.changes != s.changes, Or(And(s.writer == "writing", awaited), *again))

    if settings["rots"]:

        @suite.step
        def bad_copies_come_from_faults() -> Condition:
            """A fault spoils a copy; what is written after that is good, or as it was found."""
            spoils = any_of(And(s.stored[b].has(e), is_new("rotten", b, e)) for b, e in places)
            added = [Implies(is_new("taken_by_bookie", b, e), Not(n.rotten[b].has(e))) for b, e in places]
            again = [
                Implies(And(is_new("recovery_acked", r, b), next_entry(s, r) == e), n.rotten[b].has(e) == s.spoiled[r])
                for r in recoverer
                for b, e in places
            ]
            return And(Implies(n.rots != s.rots, spoils), *added, *again)

        @suite.always
        def bad_copies_are_copies() -> Condition:
            """Only what a bookie stores can be bad."""
            return all_of(Implies(s.rotten[b].has(e), s.stored[b].has(e)) for b, e in places)

    if settings["explicit_lacs"]:

        @suite.step
        def explicit_lacs_are_news() -> Condition:
            """An explicit last add confirmed is the writer's, who writes, and news to a bookie that is up."""
            news = [And(s.up[b], s.explicit_lac[b] < s.lac, n.explicit_lac[b] == s.lac) for b in bookie]
            return Implies(n.explicit_lacs != s.explicit_lacs, And(s.writer == "writing", Or(*news)))
