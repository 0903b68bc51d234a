"""The writer and its bookies: what is sent, accepted, acknowledged and confirmed."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, at_least
from fencepost.properties.ledger.invariant.words import Words
from fencepost.properties.vocabulary import Suite


def writer_lemmas(suite: Suite, w: Words) -> None:
    """Adds these lemmas to the suite."""
    s, settings, bookie, entry, recoverer = w.s, w.settings, w.bookie, w.entry, w.recoverer
    ack_quorum, writers, lives = w.ack_quorum, w.writers, w.lives

    @suite.lemma
    def confirmed_is_a_run() -> Condition:
        """What is confirmed is what is not beyond the last add confirmed, and that was sent."""
        return And(s.lac <= s.sent, *(s.confirmed.has(e) == (e <= s.lac) for e in entry))

    @suite.lemma
    def only_what_was_sent() -> Condition:
        """What is stored, found or in the closed ledger was sent."""
        held = [Implies(s.stored[b].has(e), e <= s.sent) for b in bookie for e in entry]
        return And(s.last <= s.sent, *held, *(Implies(s.found[r].has(e), e <= s.sent) for r in recoverer for e in entry))

    @suite.lemma
    def carried_was_confirmed() -> Condition:
        """An add carries a last add confirmed that was confirmed; what was not sent carries none."""
        return all_of(
            And(lac <= s.lac, lac < e, Implies(e > s.sent, lac == -1)) for e in entry for lac in (s.piggybacked_lac[e],)
        )

    @suite.lemma
    def acks_come_from_bookies() -> Condition:
        """What is acknowledged was accepted and is awaited; what was accepted was requested and is stored; that was sent."""
        return all_of(
            And(
                Implies(s.acked[b].has(e), And(s.taken_by_bookie[b].has(e), lives, Not(s.confirmed.has(e)))),
                Implies(And(s.acked[b].has(e), s.writer == "writing"), writers.holds(b, e)),
                Implies(s.taken_by_bookie[b].has(e), And(s.sent_to[b].has(e), Or(s.stored[b].has(e), s.status == "deleted"))),
                Implies(s.sent_to[b].has(e), e <= s.sent),
            )
            for b in bookie
            for e in entry
        )

    @suite.lemma
    def confirmed_by_a_quorum() -> Condition:
        """A confirmed entry was accepted by an ack quorum of its write set, as the writer knows it."""
        return all_of(
            Implies(e <= s.lac, at_least(ack_quorum, (And(s.taken_by_bookie[b].has(e), writers.holds(b, e)) for b in bookie)))
            for e in entry
        )

    @suite.lemma
    def nothing_is_lost() -> Condition:
        """Without losses and rot no bookie is in limbo, and no copy or recovered payload is bad."""
        return And(
            *(Not(s.limbo[b]) for b in bookie),
            *(Not(s.spoiled[r]) for r in recoverer),
            *([s.rotten[b].is_empty for b in bookie] if not settings["rots"] else []),
        )
