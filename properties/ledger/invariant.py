"""Why a ledger is safe: the lemmas whose conjunction is its inductive invariant.

They hold for any number of entries, bookies, recoveries and changes of ensemble, as long as no disk is lost; with losses there
is no such proof here, and the search covers them. In short: an entry that recovery finds missing was denied by so many fenced
bookies of its write set that the others are no ack quorum; the copies of the ensembles that the writer, the store and the
recoveries hold agree wherever that argument needs it; and the version guards the only moments at which they change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.language import And, Implies, Not, Or, Protocol, all_of, any_of, at_least, how_many
from fencepost.properties.ledger.conduct import answers_of_the_write_set
from fencepost.properties.vocabulary import Suite


def settings_leak(settings: Mapping[str, Any]) -> bool:
    """Whether a recovery can take over, as confirmed, an entry that another wrote again to an ensemble never published."""
    return bool(settings["changes"] and settings["recoverers"] > 1 and settings["ack_quorum"] > 1 and settings["entries"] > 1)


def ledger_lemmas(suite: Suite) -> None:
    """Adds the lemmas of a ledger without losses and without defects in mind to its suite."""
    p: Protocol = suite.protocol
    s, settings = p.state, p.parameters
    bookie, entry = p.universes["bookie"], p.universes["entry"]
    fragment, recoverer, reader = p.universes["fragment"], p.universes["recoverer"], p.universes["reader"]
    ack_quorum, write_quorum = settings["ack_quorum"], settings["write_quorum"]
    striping = Striping(settings["ensemble"], write_quorum, settings["entries"])
    published, writers = Ensembles(p, "published", striping), Ensembles(p, "writer", striping)
    recovered = [Ensembles(p, "recovery", striping, r) for r in recoverer]
    at_start = [Ensembles(p, "start", striping, r, fragments="single") for r in recoverer]

    leaks = settings_leak(settings)

    is_open = Or(s.status == "open", s.status == "in_recovery")
    is_closed = s.status == "closed"
    ended = Or(is_closed, s.status == "deleted")
    lives = s.writer.among("writing", "changing", "changed")
    goes_on = s.writer.among("writing", "changed")

    def active(r: int) -> Any:
        return s.phase[r].among("fencing", "reading", "rewriting")

    def same_write_set(one: Ensembles, other: Ensembles, e: int) -> Any:
        return And(*(one.holds(b, e) == other.holds(b, e) for b in bookie))

    def quorum_has(copies: Ensembles, e: int) -> Any:
        return at_least(ack_quorum, (And(s.stored[b].has(e), copies.holds(b, e)) for b in bookie))

    def well_kept(copies: Ensembles, e: int) -> Any:
        """An ack quorum of the write set has the entry; or it was confirmed, and the write set is still the writer's.

        Where a recovery may start from what another recovery wrote again to an ensemble that was never published, all that
        is left is that the entry is readable and that only the writer's own write set can confirm it.
        """
        if not leaks:
            return Or(quorum_has(copies, e), And(e <= s.lac, same_write_set(copies, writers, e)))
        readable = any_of(And(s.stored[b].has(e), copies.holds(b, e)) for b in bookie)
        return Or(quorum_has(copies, e), And(readable, Or(same_write_set(copies, writers, e), And(Not(goes_on), s.lac < e))))

    def justified(e: int) -> Any:
        return Or(s.confirmed.has(e), any_of(s.found[r].has(e) for r in recoverer))

    # --- the writer and its bookies

    @suite.lemma
    def confirmed_is_a_run() -> Any:
        """What is confirmed is what is not beyond the last add confirmed, and that was sent."""
        return And(s.lac <= s.sent, *(s.confirmed.has(e) == (e <= s.lac) for e in entry))

    @suite.lemma
    def only_what_was_sent() -> Any:
        """What is stored, found or in the closed ledger was sent."""
        held = [Implies(s.stored[b].has(e), e <= s.sent) for b in bookie for e in entry]
        return And(s.last <= s.sent, *held, *(Implies(s.found[r].has(e), e <= s.sent) for r in recoverer for e in entry))

    @suite.lemma
    def carried_was_confirmed() -> Any:
        """An add carries a last add confirmed that was confirmed; what was not sent carries none."""
        return all_of(And(s.carried[e] <= s.lac, s.carried[e] < e, Implies(e > s.sent, s.carried[e] == -1)) for e in entry)

    @suite.lemma
    def acks_come_from_bookies() -> Any:
        """What is acknowledged was accepted and is awaited; what was accepted was requested and is stored; that was sent."""
        return all_of(
            And(
                Implies(s.acked[b].has(e), And(s.accepted[b].has(e), lives, Not(s.confirmed.has(e)))),
                Implies(And(s.acked[b].has(e), s.writer == "writing"), writers.holds(b, e)),
                Implies(s.accepted[b].has(e), And(s.requested[b].has(e), Or(s.stored[b].has(e), s.status == "deleted"))),
                Implies(s.requested[b].has(e), e <= s.sent),
            )
            for b in bookie
            for e in entry
        )

    @suite.lemma
    def confirmed_by_a_quorum() -> Any:
        """A confirmed entry was accepted by an ack quorum of its write set, as the writer knows it."""
        return all_of(
            Implies(e <= s.lac, at_least(ack_quorum, (And(s.accepted[b].has(e), writers.holds(b, e)) for b in bookie)))
            for e in entry
        )

    @suite.lemma
    def nothing_is_lost() -> Any:
        """Without losses and rot no bookie is in limbo, and no copy or recovered payload is bad."""
        return And(
            *(Not(s.limbo[b]) for b in bookie),
            *(Not(s.spoiled[r]) for r in recoverer),
            *([s.rotten[b].is_empty for b in bookie] if not settings["rots"] else []),
        )

    # --- the copies of the ensembles

    def well_formed(copies: Ensembles) -> Any:
        rises = [
            Implies(copies.count > f + 1, (copies.first[f] if f else 0) < copies.first[f + 1]) for f in range(fragment.size - 1)
        ]
        return And(copies.count >= 1, copies.first[0] == 0, *rises)

    @suite.lemma
    def ensembles_are_well_formed() -> Any:
        """Every copy has an ensemble, and the first entries of its ensembles rise."""
        return And(
            well_formed(published), well_formed(writers), *(Implies(active(r), well_formed(recovered[r])) for r in recoverer)
        )

    @suite.lemma
    def every_ensemble_is_full() -> Any:
        """Every copy has as many bookies in its ensembles as the ledger asks for."""
        return And(published.are_full(), writers.are_full(), *(copies.are_full() for copies in recovered))

    @suite.lemma
    def write_sets_are_small() -> Any:
        """No more bookies are in a write set than the write quorum."""
        if not striping.is_striped:
            return all_of(Not(at_least(write_quorum + 1, (writers.member(f, b) for b in bookie))) for f in fragment)
        members = writers.members
        return all_of(
            Or(members[f][b] != members[f][other], Not(writers.member(f, b)))
            for f in fragment
            for b in bookie
            for other in range(b)
        )

    @suite.lemma
    def starts_are_whole() -> Any:
        """A recovery remembers one ensemble, the last one when it began."""
        return all_of(Implies(active(r), at_start[r].count == 1) for r in recoverer)

    @suite.lemma
    def fragments_start_at_confirmed() -> Any:
        """A fragment starts right after a confirmed entry, or where a recovery stands."""
        return And(
            Implies(lives, writers.last_first() <= s.lac + 1),
            Implies(is_open, published.last_first() <= s.lac + 1),
            *(
                Implies(
                    active(r),
                    And(
                        Or(recovered[r].last_first() <= s.lac + 1, recovered[r].last_first() <= s.next_entry[r]),
                        Implies(s.phase[r] == "fencing", recovered[r].last_first() <= s.lac + 1),
                        Implies(s.phase[r] != "fencing", recovered[r].last_first() <= s.next_entry[r]),
                    ),
                )
                for r in recoverer
            ),
        )

    @suite.lemma
    def writer_and_store_agree() -> Any:
        """Until the ledger is closed the writer's ensembles are the published ones, but for a change not yet published."""
        return Implies(
            is_open,
            And(
                Implies(goes_on, writers.same_as(published)),
                *(Implies(e <= s.lac, same_write_set(writers, published, e)) for e in entry),
            ),
        )

    @suite.lemma
    def recovery_reads_the_writers_ensemble() -> Any:
        """Where a recovery still has to read, its ensemble is the one that the writer would need to confirm an entry."""
        return all_of(
            Implies(
                And(
                    active(r),
                    s.next_entry[r] <= e,
                    Or(s.phase[r] != "fencing", recovered[r].last_first() <= e),
                    Or(e <= s.lac, goes_on),
                ),
                same_write_set(at_start[r], writers, e),
            )
            for r in recoverer
            for e in entry
        )

    @suite.lemma
    def recovery_reads_the_published_ensemble() -> Any:
        """While the ledger is in recovery the ensemble that a recovery started with is the last one published."""
        return all_of(
            Implies(
                And(active(r), s.status == "in_recovery"),
                And(
                    *(
                        Implies(published.is_last(f), at_start[r].member(0, b) == published.member(f, b))
                        for f in fragment
                        for b in bookie
                    ),
                    Implies(s.phase[r] == "fencing", recovered[r].same_as(published)),
                    Implies(s.phase[r] != "fencing", published.last_first() <= s.next_entry[r]),
                    *(
                        Implies(published.last_first() <= e, same_write_set(at_start[r], published, e)) for e in entry
                    ),
                ),
            )
            for r in recoverer
        )

    # --- the version

    @suite.lemma
    def writer_knows_the_version() -> Any:
        """While the ledger is open the writer knows its version; after that it is behind for good."""


        def knows(its_own: Any) -> Any:
            return And(Implies(s.status == "open", s.version == its_own), Implies(s.status != "open", s.version > its_own))

        unaware = Implies(s.writer.among("writing", "changing"), knows(s.writer_version))
        return And(unaware, Implies(s.writer == "changed", knows(s.writer_version + 1)))

    @suite.lemma
    def version_is_bounded() -> Any:
        """Only changes of ensemble, the mark of recovery, the close and the deletion raise the version."""
        return And(
            s.version <= s.changes + how_many(s.status != "open", ended, s.status == "deleted"),
            Implies(And(s.status == "open", s.writer == "changing"), s.version < s.changes),
            Implies(And(s.writer == "changed", s.status == "open"), s.writer_version < s.version),
        )

    @suite.lemma
    def recovery_knows_the_version() -> Any:
        """While the ledger is in recovery each recovery knows its version; once it is closed, none does."""
        return all_of(
            Implies(
                active(r),
                And(
                    s.status != "open",
                    Implies(s.status == "in_recovery", s.version == s.recovery_version[r]),
                    Implies(ended, s.version > s.recovery_version[r]),
                ),
            )
            for r in recoverer
        )

    # --- recovery

    @suite.lemma
    def denials_are_final() -> Any:
        """A bookie that answered a recovery is fenced, and one that denied an entry has not accepted it and never will.

        So many are fenced before a recovery reads that no new add can gather an ack quorum.
        """
        answered = [Implies(s.heard[r].has(b), s.fenced[b]) for r in recoverer for b in bookie]
        reads = {r: s.phase[r].among("reading", "rewriting") for r in recoverer}
        enough = [Implies(reads[r], at_start[r].covered_by(lambda b: s.fenced[b], ack_quorum)) for r in recoverer]
        denied = [
            Implies(
                And(s.phase[r] == "reading", s.missing[r].has(b), s.next_entry[r] == e, s.status != "deleted"),
                And(s.fenced[b], Not(s.accepted[b].has(e))),
            )
            for r in recoverer
            for b in bookie
            for e in entry
        ]
        return And(*answered, *enough, *denied)

    @suite.lemma
    def phases_are_clean() -> Any:
        """Answers are kept only in the phase that asked for them, and entries found only from reading on."""
        found = all_of(
            And(
                Implies(s.phase[r].among("idle", "fencing"), s.found[r].is_empty),
                Implies(s.phase[r] == "rewriting", s.next_entry[r] < striping.entries),
            )
            for r in recoverer
        )
        return And(answers_of_the_write_set(p), found)

    @suite.lemma
    def found_entries_are_readable() -> Any:
        """An entry that a recovery found is stored in the ensemble that it read from."""
        return all_of(
            And(
                Implies(
                    s.found[r].has(e),
                    Or(s.status == "deleted", any_of(And(s.stored[b].has(e), at_start[r].holds(b, e)) for b in bookie)),
                ),
                Implies(And(s.phase[r] == "rewriting", s.next_entry[r] == e), s.found[r].has(e)),
                Implies(
                    And(s.found[r].has(e), active(r)),
                    Or(e < s.next_entry[r], And(s.phase[r] == "rewriting", s.next_entry[r] == e)),
                ),
                Implies(And(s.rewritten[r].has(b), s.next_entry[r] == e), Or(s.status == "deleted", s.stored[b].has(e))),
                Implies(And(s.found[r].has(e), s.status == "in_recovery"), published.last_first() <= e),
            )
            for r in recoverer
            for e in entry
            for b in bookie
        )

    def has_behind(r: int, e: int) -> Any:
        """The recovery goes on after the entry, or has found a later one."""
        found_later = any_of(s.found[r].has(later) for later in range(e + 1, striping.entries))
        return Or(And(active(r), e < s.next_entry[r]), found_later)

    @suite.lemma
    def recovered_entries_are_justified() -> Any:
        """Every entry that a recovery has behind it was confirmed, or found by a recovery."""
        return all_of(Implies(has_behind(r, e), justified(e)) for r in recoverer for e in entry)

    if leaks:

        @suite.lemma
        def recovered_entries_are_kept() -> Any:
            """Until the ledger is closed, what a recovery has behind it is well kept by the ensembles that it would publish."""
            return all_of(
                Implies(And(active(r), s.status == "in_recovery", e < s.next_entry[r]), well_kept(recovered[r], e))
                for r in recoverer
                for e in entry
            )

    else:

        @suite.lemma
        def recovered_entries_are_well_kept() -> Any:
            """Every entry that a recovery has behind it is well kept by the ensembles that it would publish."""
            return Or(
                s.status == "deleted",
                all_of(Implies(has_behind(r, e), well_kept(recovered[r], e)) for r in recoverer for e in entry),
            )

        @suite.lemma
        def last_adds_are_kept() -> Any:
            """A last add confirmed at a bookie was confirmed, or has an ack quorum with a recovery that is past it."""

            def past_it(r: int, e: int) -> Any:
                return And(s.phase[r] != "idle", Or(s.phase[r] == "done", e < s.next_entry[r]), quorum_has(recovered[r], e))

            return Or(
                s.status == "deleted",
                all_of(
                    Implies(e <= s.bookie_lac[b], Or(e <= s.lac, any_of(past_it(r, e) for r in recoverer)))
                    for b in bookie
                    for e in entry
                ),
            )

        @suite.lemma
        def recovery_begins_with_the_writers_ensembles() -> Any:
            """A recovery that has not read yet has the ensembles by which the writer confirmed, or still confirms."""
            return all_of(
                Implies(And(s.phase[r] == "fencing", Or(e <= s.lac, goes_on)), same_write_set(recovered[r], writers, e))
                for r in recoverer
                for e in entry
            )

    if not settings["changes"]:

        @suite.lemma
        def ensembles_never_change() -> Any:
            """Without a change of ensemble every copy is the same."""
            return And(
                writers.same_as(published),
                *(Implies(s.phase[r] != "idle", recovered[r].same_as(published)) for r in recoverer),
            )

    @suite.lemma
    def bad_copies_are_counted() -> Any:
        """There are no more bad copies than faults that made them; they are stored."""
        bad = [s.rotten[b].has(e) for b in bookie for e in entry]
        stored = [Implies(s.rotten[b].has(e), s.stored[b].has(e)) for b in bookie for e in entry]
        return And(*stored, *(Implies(s.rots == k, Not(at_least(k + 1, bad))) for k in range(settings["rots"] + 1)))

    if not settings["recoverers"] or settings["entries"] == 1:

        @suite.lemma
        def last_adds_were_confirmed() -> Any:
            """Without a recovery of several entries, what a last add confirmed says, and what was read, was confirmed."""
            known = [And(s.bookie_lac[b] <= s.lac, s.explicit_lac[b] <= s.lac) for b in bookie]
            return And(*known, *(Or(s.read_to[x] <= s.lac, And(ended, s.read_to[x] <= s.last)) for x in reader))

    @suite.lemma
    def last_adds_are_justified() -> Any:
        """A last add confirmed at a bookie, and what a reader made of it, was confirmed or found, or is the end."""
        return And(
            *(Implies(Or(e <= s.bookie_lac[b], e <= s.explicit_lac[b]), justified(e)) for b in bookie for e in entry),
            *(
                Implies(e <= s.read_to[x], Or(justified(e), And(ended, e <= s.last)))
                for x in reader
                for e in entry
            ),
        )

    # --- the closed ledger

    @suite.lemma
    def closed_ledger_is_kept() -> Any:
        """Every entry of a closed ledger is well kept by its ensembles."""
        return Implies(is_closed, all_of(Implies(e <= s.last, well_kept(published, e)) for e in entry))

    @suite.lemma
    def closed_ledger_is_out_of_reach() -> Any:
        """The entry after the end of a closed ledger can never be confirmed: too many are fenced without it."""
        denied = all_of(
            Implies(
                s.last == e - 1,
                at_least(
                    write_quorum - ack_quorum + 1,
                    (And(writers.holds(b, e), s.fenced[b], Not(s.accepted[b].has(e))) for b in bookie),
                ),
            )
            for e in entry
        )
        return Implies(ended, And(s.lac <= s.last, Implies(goes_on, denied)))

    @suite.lemma
    def ends_agree() -> Any:
        """Whoever believes the ledger closed has the end in the metadata; a writer that failed has another."""
        return And(
            Implies(s.writer == "closed", And(ended, s.last == s.lac)),
            *(Implies(s.phase[r] == "done", And(ended, s.next_entry[r] == s.last + 1)) for r in recoverer),
            Implies(s.writer == "failed", And(ended, s.last != s.lac)),
        )

    @suite.lemma
    def recovery_never_ends_below_confirmed() -> Any:
        """Where so many have denied an entry that a recovery ends before it, it is not confirmed."""
        threshold = write_quorum - ack_quorum + 1
        return all_of(
            Implies(
                And(
                    s.phase[r] == "reading",
                    s.status != "deleted",
                    at_least(threshold, (And(s.missing[r].has(b), at_start[r].holds(b, s.next_entry[r])) for b in bookie)),
                ),
                s.lac < s.next_entry[r],
            )
            for r in recoverer
        )
