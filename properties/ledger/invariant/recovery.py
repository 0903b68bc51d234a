"""What recoveries have been denied, and what they have found and stored again."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of, at_least
from fencepost.properties.ledger.conduct import answers_of_the_write_set
from fencepost.properties.ledger.invariant.words import Words
from fencepost.properties.ledger.variables import next_entry
from fencepost.properties.vocabulary import Suite


def recovery_lemmas(suite: Suite, w: Words) -> None:
    """Adds these lemmas to the suite."""
    p, s, settings, bookie, entry, recoverer = suite.protocol, w.s, w.settings, w.bookie, w.entry, w.recoverer
    reader, ack_quorum, striping, published, writers = w.reader, w.ack_quorum, w.striping, w.published, w.writers
    new_ensembles, for_recovery, leaks, ended = w.new_ensembles, w.for_recovery, w.leaks, w.ended
    goes_on, active, same_write_set, quorum_has = w.goes_on, w.active, w.same_write_set, w.quorum_has
    well_kept, justified = w.well_kept, w.justified

    @suite.lemma
    def denials_are_final() -> Condition:
        """A bookie that answered a recovery is fenced, and one that denied an entry has not accepted it and never will.

        So many are fenced before a recovery reads that no new add can gather an ack quorum.
        """

        def reads(r: int) -> Condition:
            return s.phase[r].among("reading", "adding")

        answered = [Implies(s.coverage[r].has(b), s.fenced[b]) for r in recoverer for b in bookie]
        enough = [Implies(reads(r), for_recovery[r].covered_by(lambda b: s.fenced[b], ack_quorum)) for r in recoverer]
        denied = [
            Implies(
                And(s.phase[r] == "reading", s.no_such_entry[r].has(b), next_entry(s, r) == e, s.status != "deleted"),
                And(s.fenced[b], Not(s.taken_by_bookie[b].has(e))),
            )
            for r in recoverer
            for b in bookie
            for e in entry
        ]
        return And(*answered, *enough, *denied)

    @suite.lemma
    def phases_are_clean() -> Condition:
        """Answers are kept only in the phase that asked for them, and entries found only from reading on."""
        read = all_of(
            And(
                Implies(s.phase[r].among("idle", "fencing"), s.found[r].is_empty),
                Implies(s.phase[r] == "adding", next_entry(s, r) < striping.entries),
            )
            for r in recoverer
        )
        return And(answers_of_the_write_set(p), read)

    @suite.lemma
    def found_entries_are_readable() -> Condition:
        """An entry that a recovery found is stored in the ensemble that it read from."""
        return all_of(
            And(
                Implies(
                    s.found[r].has(e),
                    Or(s.status == "deleted", any_of(And(s.stored[b].has(e), for_recovery[r].holds(b, e)) for b in bookie)),
                ),
                Implies(And(s.phase[r] == "adding", next_entry(s, r) == e), s.found[r].has(e)),
                Implies(
                    And(s.found[r].has(e), active(r)),
                    Or(e < next_entry(s, r), And(s.phase[r] == "adding", next_entry(s, r) == e)),
                ),
                Implies(And(s.recovery_acked[r].has(b), next_entry(s, r) == e), Or(s.status == "deleted", s.stored[b].has(e))),
                Implies(And(s.found[r].has(e), s.status == "in_recovery"), published.last_first() <= e),
            )
            for r in recoverer
            for e in entry
            for b in bookie
        )

    def has_behind(r: int, e: int) -> Condition:
        """The recovery goes on after the entry, or has found a later one."""
        found_later = any_of(And(e < later, s.found[r].has(later)) for later in entry)
        return Or(And(active(r), e < next_entry(s, r)), found_later)

    @suite.lemma
    def recovered_entries_are_justified() -> Condition:
        """Every entry that a recovery has behind it was confirmed, or found by a recovery."""
        return all_of(Implies(has_behind(r, e), justified(e)) for r in recoverer for e in entry)

    if leaks:

        @suite.lemma
        def recovered_entries_are_kept() -> Condition:
            """Until the ledger is closed, what a recovery has behind it is well kept by the ensembles that it would publish."""
            return all_of(
                Implies(And(active(r), s.status == "in_recovery", e < next_entry(s, r)), well_kept(new_ensembles[r], e))
                for r in recoverer
                for e in entry
            )

        @suite.lemma
        def what_is_told_can_be_read() -> Condition:
            """What a bookie's last add confirmed covers, or a recovery has behind it, was confirmed.

            Or it can be read from the published ensembles, once recovery has begun; as long as the ledger is not closed.
            """

            def in_reach(e: int) -> Condition:
                readable = any_of(And(s.stored[b].has(e), published.holds(b, e)) for b in bookie)
                return Or(e <= s.lac, And(s.status == "in_recovery", readable))

            return Implies(
                w.is_open,
                And(
                    all_of(Implies(e <= s.bookie_lac[b], in_reach(e)) for b in bookie for e in entry),
                    all_of(Implies(And(active(r), e < next_entry(s, r)), in_reach(e)) for r in recoverer for e in entry),
                ),
            )

    else:

        @suite.lemma
        def recovered_entries_are_well_kept() -> Condition:
            """Every entry that a recovery has behind it is well kept by the ensembles that it would publish."""
            return Or(
                s.status == "deleted",
                all_of(Implies(has_behind(r, e), well_kept(new_ensembles[r], e)) for r in recoverer for e in entry),
            )

        @suite.lemma
        def last_adds_are_kept() -> Condition:
            """A last add confirmed at a bookie was confirmed, or has an ack quorum with a recovery that is past it."""

            def past_it(r: int, e: int) -> Condition:
                is_past = Or(s.phase[r] == "done", e < next_entry(s, r))
                return And(s.phase[r] != "idle", is_past, quorum_has(new_ensembles[r], e))

            return Or(
                s.status == "deleted",
                all_of(
                    Implies(e <= s.bookie_lac[b], Or(e <= s.lac, any_of(past_it(r, e) for r in recoverer)))
                    for b in bookie
                    for e in entry
                ),
            )

        @suite.lemma
        def recovery_begins_with_the_writers_ensembles() -> Condition:
            """A recovery that has not read yet has the ensembles by which the writer confirmed, or still confirms."""
            return all_of(
                Implies(And(s.phase[r] == "fencing", Or(e <= s.lac, goes_on)), same_write_set(new_ensembles[r], writers, e))
                for r in recoverer
                for e in entry
            )

    if not settings["changes"]:

        @suite.lemma
        def ensembles_never_change() -> Condition:
            """Without a change of ensemble every copy is the same."""
            return And(
                writers.same_as(published),
                *(Implies(s.phase[r] != "idle", new_ensembles[r].same_as(published)) for r in recoverer),
            )

    @suite.lemma
    def bad_copies_are_counted() -> Condition:
        """There are no more bad copies than faults that made them; they are stored."""
        bad = [s.rotten[b].has(e) for b in bookie for e in entry]
        stored = [Implies(s.rotten[b].has(e), s.stored[b].has(e)) for b in bookie for e in entry]
        return And(*stored, *(Implies(s.rots == k, Not(at_least(k + 1, bad))) for k in range(settings["rots"] + 1)))

    if not settings["recoverers"] or settings["entries"] == 1:

        @suite.lemma
        def last_adds_were_confirmed() -> Condition:
            """Without a recovery of several entries, what a last add confirmed says, and what was read, was confirmed."""
            known = [And(s.bookie_lac[b] <= s.lac, s.explicit_lac[b] <= s.lac) for b in bookie]
            return And(*known, *(Or(s.read_to[x] <= s.lac, And(ended, s.read_to[x] <= s.last)) for x in reader))

    @suite.lemma
    def last_adds_come_with_later_entries() -> Condition:
        """A bookie's last add confirmed is below its last entry, which carries it."""

        def has_later(b: int, e: int) -> Condition:
            return any_of(And(e < later, s.stored[b].has(later)) for later in entry)

        return all_of(Implies(e <= s.bookie_lac[b], has_later(b, e)) for b in bookie for e in entry)

    @suite.lemma
    def last_adds_are_justified() -> Condition:
        """A last add confirmed at a bookie, and what a reader made of it, was confirmed or found, or is the end."""

        def covered(e: int) -> Condition:
            return any_of(Or(e <= s.bookie_lac[b], e <= s.explicit_lac[b]) for b in bookie)

        # of some bookie, and not of each: so who found an entry has one name, whichever bookie a reader heard of it from
        return And(
            *(Implies(covered(e), justified(e)) for e in entry),
            *(Implies(e <= s.read_to[x], Or(justified(e), And(ended, e <= s.last))) for x in reader for e in entry),
        )
