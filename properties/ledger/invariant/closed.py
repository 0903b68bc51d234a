"""The closed ledger: what it holds, and that nothing beyond it can be confirmed."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, all_of, at_least
from fencepost.properties.ledger.invariant.words import Words
from fencepost.properties.ledger.variables import next_entry
from fencepost.properties.vocabulary import Suite


def closed_lemmas(suite: Suite, w: Words) -> None:
    """Adds these lemmas to the suite."""
    s, bookie, entry, recoverer, ack_quorum = w.s, w.bookie, w.entry, w.recoverer, w.ack_quorum
    write_quorum, published, writers, for_recovery = w.write_quorum, w.published, w.writers, w.for_recovery
    is_closed, ended, goes_on, well_kept = w.is_closed, w.ended, w.goes_on, w.well_kept

    @suite.lemma
    def closed_ledger_is_kept() -> Condition:
        """Every entry of a closed ledger is well kept by its ensembles."""
        return Implies(is_closed, all_of(Implies(e <= s.last, well_kept(published, e)) for e in entry))

    @suite.lemma
    def closed_ledger_is_out_of_reach() -> Condition:
        """The entry after the end of a closed ledger can never be confirmed: too many are fenced without it."""
        denied = all_of(
            Implies(
                s.last == e - 1,
                at_least(
                    write_quorum - ack_quorum + 1,
                    (And(writers.holds(b, e), s.fenced[b], Not(s.taken_by_bookie[b].has(e))) for b in bookie),
                ),
            )
            for e in entry
        )
        return Implies(ended, And(s.lac <= s.last, Implies(goes_on, denied)))

    @suite.lemma
    def length_is_of_the_last() -> Condition:
        """The length in the metadata is that of the entries up to the last."""
        return s.length == s.last + 1

    @suite.lemma
    def ends_agree() -> Condition:
        """Whoever believes the ledger closed has the end in the metadata; a writer that failed has another."""
        return And(
            Implies(s.writer == "closed", And(ended, s.last == s.lac)),
            *(Implies(s.phase[r] == "done", And(ended, next_entry(s, r) == s.last + 1)) for r in recoverer),
            Implies(s.writer == "failed", And(ended, s.last != s.lac)),
        )

    @suite.lemma
    def recovery_never_ends_below_confirmed() -> Condition:
        """Where so many have denied an entry that a recovery ends before it, it is not confirmed."""
        threshold = write_quorum - ack_quorum + 1

        def denied(r: int) -> Condition:
            deniers = (And(s.no_such_entry[r].has(b), for_recovery[r].holds(b, next_entry(s, r))) for b in bookie)
            return And(s.phase[r] == "reading", s.status != "deleted", at_least(threshold, deniers))

        return all_of(Implies(denied(r), s.lac < next_entry(s, r)) for r in recoverer)
