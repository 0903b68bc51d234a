"""The copies of the ensembles agree wherever the argument needs it, and the version guards the moments at which they change."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, at_least, how_many
from fencepost.properties.ledger.invariant.words import Words
from fencepost.properties.ledger.variables import next_entry
from fencepost.properties.vocabulary import Suite


def ensembles_lemmas(suite: Suite, w: Words) -> None:
    """Adds these lemmas to the suite."""
    s, bookie, entry, fragment, recoverer = w.s, w.bookie, w.entry, w.fragment, w.recoverer
    write_quorum, striping, published, writers = w.write_quorum, w.striping, w.published, w.writers
    new_ensembles, for_recovery, is_open, lives = w.new_ensembles, w.for_recovery, w.is_open, w.lives
    goes_on, active, same_write_set, well_formed = w.goes_on, w.active, w.same_write_set, w.well_formed

    @suite.lemma
    def ensembles_are_well_formed() -> Condition:
        """Every copy has an ensemble, and the first entries of its ensembles rise."""
        return And(
            well_formed(published),
            well_formed(writers),
            *(Implies(active(r), well_formed(new_ensembles[r])) for r in recoverer),
        )

    @suite.lemma
    def every_ensemble_is_full() -> Condition:
        """Every copy has as many bookies in its ensembles as the ledger asks for."""
        return And(published.are_full(), writers.are_full(), *(copies.are_full() for copies in new_ensembles))

    @suite.lemma
    def write_sets_are_small() -> Condition:
        """No more bookies are in a write set than the write quorum."""
        if not striping.is_striped:
            return all_of(Not(at_least(write_quorum + 1, (writers.member(f, b) for b in bookie))) for f in fragment)
        places = writers.places
        return all_of(
            Or(places[f][b] != places[f][other], Not(writers.member(f, b)))
            for f in fragment
            for b in bookie
            for other in range(b)
        )

    @suite.lemma
    def starts_are_whole() -> Condition:
        """A recovery remembers one ensemble, the last one when it began."""
        return all_of(Implies(active(r), for_recovery[r].count == 1) for r in recoverer)

    @suite.lemma
    def fragments_start_at_confirmed() -> Condition:
        """A fragment starts right after a confirmed entry, or where a recovery stands."""
        return And(
            Implies(lives, writers.last_first() <= s.lac + 1),
            Implies(is_open, published.last_first() <= s.lac + 1),
            *(
                Implies(
                    active(r),
                    And(
                        Or(new_ensembles[r].last_first() <= s.lac + 1, new_ensembles[r].last_first() <= next_entry(s, r)),
                        Implies(s.phase[r] == "fencing", new_ensembles[r].last_first() <= s.lac + 1),
                        Implies(s.phase[r] != "fencing", new_ensembles[r].last_first() <= next_entry(s, r)),
                    ),
                )
                for r in recoverer
            ),
        )

    @suite.lemma
    def writer_and_store_agree() -> Condition:
        """Until the ledger is closed the writer's ensembles are the published ones, except for a change not yet published."""
        return Implies(
            is_open,
            And(
                Implies(goes_on, writers.same_as(published)),
                *(Implies(e <= s.lac, same_write_set(writers, published, e)) for e in entry),
            ),
        )

    @suite.lemma
    def only_last_ensembles_are_changed() -> Condition:
        """Whoever may still change the published ensembles has those before the last as they are."""
        changing = And(s.status == "open", s.writer == "changing")
        recovering = s.status == "in_recovery"
        begun = (Implies(And(active(r), recovering), new_ensembles[r].begins_as(published)) for r in recoverer)
        return And(Implies(changing, writers.begins_as(published)), *begun)

    @suite.lemma
    def recovery_reads_the_writers_ensemble() -> Condition:
        """Where a recovery still has to read, its ensemble is the one that the writer would need to confirm an entry."""
        return all_of(
            Implies(
                And(
                    active(r),
                    next_entry(s, r) <= e,
                    Or(s.phase[r] != "fencing", new_ensembles[r].last_first() <= e),
                    Or(e <= s.lac, goes_on),
                ),
                same_write_set(for_recovery[r], writers, e),
            )
            for r in recoverer
            for e in entry
        )

    @suite.lemma
    def recovery_reads_the_published_ensemble() -> Condition:
        """While the ledger is in recovery the ensemble that a recovery started with is the last one published."""
        return all_of(
            Implies(
                And(active(r), s.status == "in_recovery"),
                And(
                    *(
                        Implies(published.is_last(f), for_recovery[r].member(0, b) == published.member(f, b))
                        for f in fragment
                        for b in bookie
                    ),
                    Implies(s.phase[r] == "fencing", new_ensembles[r].same_as(published)),
                    published.last_first() <= new_ensembles[r].last_first(),
                    Implies(s.phase[r] != "fencing", published.last_first() <= next_entry(s, r)),
                    *(Implies(published.last_first() <= e, same_write_set(for_recovery[r], published, e)) for e in entry),
                ),
            )
            for r in recoverer
        )

    @suite.lemma
    def version_is_bounded() -> Condition:
        """Only changes of ensemble, the mark of recovery, the close and the deletion raise the version."""
        return And(
            s.version <= s.changes + how_many(s.status != "open", w.ended, s.status == "deleted"),
            Implies(And(s.status == "open", s.writer == "changing"), s.version < s.changes),
        )

    @suite.lemma
    def recovery_has_marked() -> Condition:
        """While a recovery goes on the ledger is not open any more."""
        return all_of(Implies(active(r), s.status != "open") for r in recoverer)
