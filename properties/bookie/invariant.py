"""Why a bookie keeps what it has answered for: the inductive invariant of an instance whose journal is written and synced.

The argument in short. What is logged is in memory. A checkpoint saves the memory after it has read how far the journal is, so
what lies before the mark is saved; and what lies behind the mark is replayed, because the master key comes first. What was
answered lies before the end of what no fault takes. So memory after a boot is at least what was answered.
"""

from __future__ import annotations

from itertools import pairwise

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.bookkeeper.checkpoints import positions_taken
from fencepost.model.bookkeeper.journal import NOTHING, Journal, Saved
from fencepost.model.language import And, Condition, Implies, Not, Number, Or, Truth, all_of, any_of
from fencepost.properties.vocabulary import Suite


def bookie_invariant(suite: Suite) -> None:
    """Adds the lemmas to a suite."""
    p = suite.protocol
    s, settings = BookieVariables.now(p), p.parameters
    ledger, entry, place, flusher = (p.universes[name] for name in ("ledger", "entry", "place", "flusher"))
    journal, saved = Journal(p), Saved(p)
    pairs = [(of, e) for of in ledger for e in entry]
    runs = s.stage != "down"
    safe = journal.synced if settings["journal_sync_data"] else journal.written
    ends, taken = [journal.end(j) for j in range(journal.number)], {f: positions_taken(p, f) for f in flusher}
    moving = [f for f in flusher if f == 0 or settings["directories"] == 1]
    """The flushers whose checkpoints move the mark."""
    whose = {"e": s.added, "r": s.recovered} if settings["recovery"] else {"e": s.added}

    def lies_before(limit: Number, of: int, kind: str) -> Condition:
        return any_of(And(x < limit, journal.is_at(x, of, kind)) for x in place)

    @suite.lemma
    def journal_grows_in_order() -> Condition:
        """Deleted, marked, checkpointed, synced, written, logged: each goes no farther than the next."""
        checkpoints = [
            And(at <= synced, (s.checkpoint[f] != "none") | (at == 0))
            for f in flusher
            for at, synced in zip(taken[f], journal.synced, strict=True)
        ]
        positions = zip(journal.compacted, journal.mark, journal.synced, journal.written, ends, strict=True)
        order = [And(*(first <= second for first, second in pairwise(each))) for each in positions]
        return And(*order, *checkpoints, *(Implies(s.logged <= x, s.record[x] == NOTHING) for x in place))

    if journal.number > 1:

        @suite.lemma
        def positions_follow_records() -> Condition:
            """Each position of one of several journals is right behind a record of it, or at the beginning."""

            def follows(position: Number, j: int) -> Condition:
                return Or(position == 0, *(And(position == x + 1, journal.is_of(x, j)) for x in place))

            of_each = (journal.mark, journal.synced, journal.written, *taken.values())
            return all_of(follows(position, j) for positions in of_each for j, position in enumerate(positions))

    @suite.lemma
    def boots_and_stops_save() -> Condition:
        """A process that starts or ends is saving what it has; one that has ended has nothing in memory or to answer."""
        idle = all_of(s.checkpoint[f] == "none" for f in flusher)
        blank = all_of(And(s.stored[of].is_empty, Not(s.fenced[of]), Not(s.key_logged[of])) for of in ledger)
        quiet = all_of(x[of, e] != "accepted" for x in whose.values() for of, e in pairs)
        stages = [] if settings["stops"] else [s.stage != "stopping"]
        if not (settings["stops"] or settings["kills"] or settings["power_losses"]):
            stages = [s.stage == "up"]
        return And(
            *stages,
            Implies(s.stage.among("replayed", "stopping"), s.checkpoint[0].among("taken", "saved")),
            Implies(
                s.stage == "down", And(idle, blank, quiet, *(at == end for at, end in zip(journal.written, ends, strict=True)))
            ),
            Implies(s.stage == "replayed", And(quiet, *(at == end for at, end in zip(journal.synced, ends, strict=True)))),
        )

    @suite.lemma
    def saved_before_the_mark() -> Condition:
        """What lies before the mark is saved, and so is what lies before the place that a saved checkpoint remembers; and all
        that is logged once a stop has saved."""
        stopped = And(s.stage == "stopping", s.checkpoint[0] == "saved")
        done: list[Truth] = [True, stopped, *(s.checkpoint[f] == "saved" for f in moving)]

        def reached(j: int) -> list[Number]:
            return [journal.mark[j], s.logged, *(taken[f][j] for f in moving)]

        return all_of(
            Implies(And(is_done, x < to), saved.covers(journal, x, of))
            for of in ledger
            for to, is_done in zip(reached(journal.of(of)), done, strict=True)
            for x in place
        )

    @suite.lemma
    def logged_is_in_memory() -> Condition:
        """What is saved, and what is in the journal, is in the memory of a bookie that runs."""

        def known(of: int) -> Condition:
            return Or(saved.key[of], s.key_logged[of], Not(s.stored[of].is_empty), s.fenced[of], s.explicit_lac[of] > 0)

        def is_there(x: int, of: int) -> Condition:
            return And(
                Implies(journal.is_at(x, of, "key"), known(of)),
                Implies(journal.is_at(x, of, "fence"), s.fenced[of]),
                *(Implies(journal.is_at(x, of, f"e{e}", f"r{e}"), s.stored[of].has(e)) for e in entry),
                *(Implies(journal.is_at(x, of, f"lac{n}"), s.explicit_lac[of] >= n) for n in journal.explicit_lacs),
            )

        def is_found(of: int) -> Condition:
            """The saved entries are in memory; those of a ledger whose master key no save has written, once it is known."""
            in_memory = (saved.entries[of] & ~s.stored[of]).is_empty
            return Implies(Or(saved.key[of], s.key_logged[of]), in_memory) if settings["failed_index_saves"] else in_memory

        from_disk = [And(is_found(of), Implies(saved.fence[of], s.fenced[of])) for of in ledger]
        return Implies(runs, And(*from_disk, *(is_there(x, of) for x in place for of in ledger)))

    @suite.lemma
    def keys_come_first() -> Condition:
        """Before each record of a ledger there is its master key, for replay to meet; or the key is saved."""

        def met(of: int, end: int) -> Condition:
            return Or(saved.key[of], *(And(journal.mark[journal.of(of)] <= x, journal.is_at(x, of, "key")) for x in range(end)))

        kinds = ["fence", *(f"lac{n}" for n in journal.explicit_lacs), *(f"{who}{e}" for who in "er" for e in entry)]
        return And(
            *(Implies(journal.is_at(x, of, *kinds), met(of, x)) for x in place for of in ledger),
            *(Implies(s.key_logged[of], met(of, place.size)) for of in ledger),
        )

    @suite.lemma
    def accepted_is_logged() -> Condition:
        """What is accepted, and the fence, is in the journal, or saved; and in memory."""
        adds = [
            Implies(x[of, e] == "accepted", And(s.stored[of].has(e), journal.is_logged(of, f"{who}{e}")))
            for who, x in whose.items()
            for of, e in pairs
        ]
        fences = [Implies(And(runs, s.fenced[of]), Or(saved.fence[of], journal.is_logged(of, "fence"))) for of in ledger]
        return And(*adds, *fences)

    @suite.lemma
    def answered_is_safe() -> Condition:
        """What was answered is in the journal where no fault takes it, or saved."""
        adds = [
            Implies(x[of, e] == "acknowledged", lies_before(safe[journal.of(of)], of, f"{who}{e}"))
            for who, x in whose.items()
            for of, e in pairs
        ]
        fences = [
            Implies(s.fence_told[of], Or(saved.fence[of], lies_before(safe[journal.of(of)], of, "fence"))) for of in ledger
        ]
        return And(*adds, *fences)

    @suite.lemma
    def denied_is_not_accepted() -> Condition:
        """What was denied was never accepted, and the ledger is known to be fenced."""
        return all_of(
            Implies(s.denied[of].has(e), And(s.fence_told[of], s.added[of, e].among("none", "refused"))) for of, e in pairs
        )

    if settings["explicit_lacs"]:

        @suite.lemma
        def explicit_lacs_rise() -> Condition:
            """Explicit last adds confirmed rise in the journal; one that awaits its answer is there, the acknowledged safe."""

            def later(of: int, n: int, x: int) -> Condition:
                return any_of(journal.is_at(y, of, *(f"lac{m}" for m in range(1, n))) for y in range(x + 1, place.size))

            lacs = [(of, n) for of in ledger for n in journal.explicit_lacs]
            rise = [Implies(journal.is_at(x, of, f"lac{n}"), Not(later(of, n, x))) for of, n in lacs for x in place]
            asked = [Implies(And(s.lac_asked[of], s.explicit_lac[of] == n), journal.is_logged(of, f"lac{n}")) for of, n in lacs]
            acknowledgements = [
                Implies(s.lac_told[of] == n, lies_before(safe[journal.of(of)], of, f"lac{n}")) for of, n in lacs
            ]
            ended = [Implies(Not(runs), And(s.explicit_lac[of] == 0, Not(s.lac_asked[of]))) for of in ledger]
            return And(*rise, *asked, *acknowledgements, *ended)
