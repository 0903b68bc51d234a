"""How each party of a ledger must conduct itself, whatever comes of it: properties that a missing guard breaks first."""

from __future__ import annotations

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of, at_least
from fencepost.properties.ledger.variables import LedgerVariables, most_losses, next_entry
from fencepost.properties.vocabulary import Suite


def ledger_conduct(suite: Suite) -> None:
    """Adds the rules of conduct of bookies, writer, recoveries and readers to a suite, and what its faults must show."""
    p: Protocol = suite.protocol
    s, n = LedgerVariables.of(p)
    settings = p.parameters
    bookie, entry = p.universes["bookie"], p.universes["entry"]
    recoverer, reader = p.universes["recoverer"], p.universes["reader"]
    ack_quorum, write_quorum = settings["ack_quorum"], settings["write_quorum"]
    striping = Striping(settings["ensemble"], write_quorum, settings["entries"])
    published = Ensembles(p, "published", striping)
    new_ensembles = recoverer.each(lambda r: Ensembles(p, "new", striping, r))

    @suite.always
    def ensembles_are_full() -> Condition:
        """Every published ensemble has as many bookies as the ledger asks for."""
        return published.are_full()

    @suite.step
    def sent_one_after_the_other() -> Condition:
        """Entries are sent in order, by a writer that is writing, and carry the last add confirmed as of then."""
        carries = [Implies(And(n.sent == e, s.sent != e), n.piggybacked_lac[e] == s.lac) for e in entry]
        return Implies(n.sent != s.sent, And(s.writer == "writing", n.sent == s.sent + 1, *carries))

    @suite.always
    def bookies_accept_what_was_sent_to_them() -> Condition:
        """A bookie accepts only what it was sent, and only what it accepted is acknowledged."""
        return all_of(
            And(
                Implies(s.taken_by_bookie[b].has(e), s.sent_to[b].has(e)),
                Implies(s.acked[b].has(e), s.taken_by_bookie[b].has(e)),
            )
            for b in bookie
            for e in entry
        )

    if settings["crashes"]:

        @suite.step
        def down_bookies_do_nothing() -> Condition:
            """A bookie that is down takes nothing in and answers nobody."""

            def idle(b: int) -> Condition:
                entries = And(n.stored[b] == s.stored[b], n.taken_by_bookie[b] == s.taken_by_bookie[b])
                same = And(entries, Implies(n.fenced[b], s.fenced[b]))
                answers = [(n.coverage, s.coverage), (n.no_such_entry, s.no_such_entry), (n.recovery_acked, s.recovery_acked)]
                return And(same, *(Implies(after[r].has(b), before[r].has(b)) for after, before in answers for r in recoverer))

            return all_of(Implies(Not(s.up[b]), idle(b)) for b in bookie)

        @suite.sometimes
        def bookie_restarted() -> Condition:
            """A bookie is back after a crash."""
            return And(s.crashes > 0, *(s.up[b] for b in bookie))

    if most_losses(settings) and settings["data_integrity"]:

        @suite.always
        def limbo_is_fenced() -> Condition:
            """A bookie that may have lost something has fenced the ledger."""
            return all_of(Implies(s.limbo[b], s.fenced[b]) for b in bookie)

        @suite.step
        def limbo_lasts() -> Condition:
            """A bookie that may have lost something does not forget that by itself."""
            return all_of(Implies(s.limbo[b], n.limbo[b]) for b in bookie)

        @suite.step
        def limbo_is_silent() -> Condition:
            """A bookie that may have lost something tells no recovery what it holds, or that it does not hold an entry."""
            answers = [(n.coverage[r], s.coverage[r]) for r in recoverer]
            answers += [(n.no_such_entry[r], s.no_such_entry[r]) for r in recoverer]
            silent = {b: And(*(Implies(after.has(b), before.has(b)) for after, before in answers)) for b in bookie}
            return all_of(Implies(s.limbo[b], silent[b]) for b in bookie)

    if most_losses(settings):

        @suite.sometimes
        def disk_lost() -> Condition:
            """An entry that a bookie acknowledged is gone from it, and the ledger is open."""
            return And(s.status == "open", any_of(And(s.taken_by_bookie[b].has(0), Not(s.stored[b].has(0))) for b in bookie))

    if settings["deletions"] and not most_losses(settings):

        @suite.sometimes
        def ledger_collected() -> Condition:
            """A bookie has dropped the entries of a deleted ledger."""
            return And(s.status == "deleted", any_of(And(s.taken_by_bookie[b].has(0), Not(s.stored[b].has(0))) for b in bookie))

    if settings["explicit_lacs"] and reader.size:

        @suite.sometimes
        def explicit_lac_read() -> Condition:
            """A reader reads an entry that only an explicit last add confirmed has told it of."""
            unheard = all_of(s.bookie_lac[b] < 0 for b in bookie)
            return And(s.status == "open", unheard, any_of(s.read_to[x] >= 0 for x in reader))

    if reader.size:

        @suite.step
        def reads_are_of_copies() -> Condition:
            """A reader reads on, from a good copy on a bookie of the write set that is up, of a ledger that exists."""

            def copy(b: int, e: int) -> Condition:
                return And(s.up[b], s.stored[b].has(e), Not(s.rotten[b].has(e)), published.holds(b, e))

            def reads(x: int) -> Condition:
                there = any_of(And(n.read_to[x] == e, copy(b, e)) for b in bookie for e in entry)
                return And(s.status != "deleted", s.read_to[x] < n.read_to[x], there)

            return all_of(Implies(n.read_to[x] != s.read_to[x], reads(x)) for x in reader)

    if recoverer.size:

        @suite.always
        def answers_are_of_the_write_set() -> Condition:
            """A recovery counts only answers of the bookies that it asked, in the phase in which it asked them."""
            return answers_of_the_write_set(p)

        @suite.step
        def recovery_goes_forward() -> Condition:
            """A recovery goes from phase to phase, and on to the next entry only when an ack quorum has this one again."""

            def forward(r: int) -> Condition:
                before, after, stays = s.phase[r], n.phase[r], next_entry(n, r) == next_entry(s, r)
                again = (And(s.recovery_acked[r].has(b), new_ensembles[r].holds(b, next_entry(s, r))) for b in bookie)
                stored_again = at_least(ack_quorum, again)
                on = next_entry(n, r) == next_entry(s, r) + 1
                return Or(
                    And(after == before, Or(stays, before == "fencing")),
                    And(before == "idle", after == "fencing"),
                    And(before == "fencing", after == "reading", next_entry(s, r) <= next_entry(n, r)),
                    And(before == "reading", after == "adding", stays),
                    And(before == "adding", after == "reading", on, stored_again),
                    And(before == "reading", after == "done"),
                )

            return all_of(forward(r) for r in recoverer)

        if entry.size > 1:

            @suite.sometimes
            def recovery_skips_confirmed() -> Condition:
                """A recovery begins after entry 0, because a bookie told it the last add confirmed."""
                begun = [And(s.phase[r] == "reading", next_entry(s, r) > 0, s.found[r].is_empty) for r in recoverer]
                return And(Or(*begun), published.last_first() == 0)


def answers_of_the_write_set(p: Protocol) -> Condition:
    """The formula: recoveries have kept only answers of bookies that they asked, in the phase in which they asked them."""
    s, settings = LedgerVariables.now(p), p.parameters
    striping = Striping(settings["ensemble"], settings["write_quorum"], settings["entries"])
    parts = []
    for r in p.universes["recoverer"]:
        new_ensembles = Ensembles(p, "new", striping, r)
        for_recovery = Ensembles(p, "for_recovery", striping, r, fragments="single")
        for b in p.universes["bookie"]:
            parts += [
                Implies(s.coverage[r].has(b), And(s.phase[r] == "fencing", for_recovery.in_last(b))),
                Implies(s.no_such_entry[r].has(b), And(s.phase[r] == "reading", for_recovery.holds(b, next_entry(s, r)))),
                Implies(s.recovery_acked[r].has(b), And(s.phase[r] == "adding", new_ensembles.holds(b, next_entry(s, r)))),
            ]
    return And(*parts)
