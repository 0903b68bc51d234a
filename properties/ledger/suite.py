"""What must hold of a ledger, and the inductive invariant that proves it.

The properties are those that an engineer would ask for; the lemmas are how the protocol achieves them. Read the lemmas as an
explanation: who can still change what, once a bookie is fenced or a recovery has begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.bookkeeper.ledger.state import STATUSES, Status
from fencepost.model.language import (
    And,
    Condition,
    Implies,
    Not,
    Or,
    Protocol,
    all_of,
    any_of,
    at_least,
)
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import equation
from fencepost.properties.ledger.causes import ledger_causes
from fencepost.properties.ledger.conduct import ledger_conduct
from fencepost.properties.ledger.invariant import ledger_lemmas, settings_leak
from fencepost.properties.ledger.liveness import ledger_liveness
from fencepost.properties.ledger.refinement import ledger_refinement, written_refinement
from fencepost.properties.ledger.variables import LedgerVariables, losses, most_losses, next_entry
from fencepost.properties.vocabulary import Suite


def ledger(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.bookkeeper.ledger.ledger`` built."""
    s, n = LedgerVariables.of(p)
    settings = p.parameters
    suite = Suite(p)
    bookie, entry, fragment = p.universes["bookie"], p.universes["entry"], p.universes["fragment"]
    recoverer, reader = p.universes["recoverer"], p.universes["reader"]
    ack_quorum = settings["ack_quorum"]
    striping = Striping(settings["ensemble"], settings["write_quorum"], settings["entries"])
    published = Ensembles(p, "published", striping)

    def is_closed() -> Condition:
        return s.status == "closed"

    def in_ledger(e: int) -> Condition:
        return And(Or(is_closed(), s.status == "deleted"), e <= s.last)

    def copies_held(copies: Ensembles, e: int, quorum: int = ack_quorum) -> Condition:
        """A quorum of the write set holds the entry, less the copies that faults have destroyed."""
        holders = [And(s.stored[b].has(e), Not(s.rotten[b].has(e)), copies.holds(b, e)) for b in bookie]
        return all_of(
            Implies(And(losses(s) == lost, s.rots == rotten), at_least(quorum - lost - rotten, holders))
            for lost in range(most_losses(settings) + 1)
            for rotten in range(settings["rots"] + 1)
        )

    def recovery_ended(r: int) -> Condition:
        threshold = settings["write_quorum"] - ack_quorum + 1
        for_recovery = Ensembles(p, "for_recovery", striping, r, fragments="single")
        denied = at_least(threshold, (And(s.no_such_entry[r].has(b), for_recovery.holds(b, next_entry(s, r))) for b in bookie))
        return And(s.phase[r] == "reading", Or(denied, next_entry(s, r) == striping.entries))

    # --- what must always hold

    @suite.always
    def no_truncation() -> Condition:
        """A closed ledger ends at or after every entry confirmed to the application."""
        return Implies(is_closed(), all_of(Implies(s.confirmed.has(e), e <= s.last) for e in entry))

    @suite.always
    def no_divergence() -> Condition:
        """The writer never believes in an end of the ledger other than the one in the metadata."""
        return Implies(And(s.writer == "closed", s.status != "deleted"), And(is_closed(), s.last == s.lac))

    @suite.always
    def ends_and_lengths_agree() -> Condition:
        """The length in the metadata is that of the entries up to the last."""
        return s.length == s.last + 1

    @suite.always
    def only_another_end_fails_the_writer() -> Condition:
        """A writer whose close fails has had another last add confirmed than the closed ledger's last entry."""
        return Implies(s.writer == "failed", s.last != s.lac)

    @suite.always
    def nothing_is_invented() -> Condition:
        """The ledger ends, and a bookie stores, nothing beyond what the application has added."""
        return And(s.last <= s.sent, *(Implies(s.stored[b].has(e), e <= s.sent) for b in bookie for e in entry))

    @suite.always
    def recoveries_agree() -> Condition:
        """No two recoveries close a ledger at different ends: whoever is done has the end in the metadata."""
        return all_of(
            Implies(And(s.phase[r] == "done", s.status != "deleted"), And(is_closed(), next_entry(s, r) == s.last + 1))
            for r in recoverer
        )

    @suite.always
    def confirmed_entries_are_stored() -> Condition:
        """Every confirmed entry is held by an ack quorum of its write set: any ack quorum - 1 lost disks leave it readable."""
        return Implies(s.status != "deleted", all_of(Implies(s.confirmed.has(e), copies_held(published, e)) for e in entry))

    @suite.always
    def closed_entries_are_readable() -> Condition:
        """Every entry of a closed ledger, confirmed or recovered, has a copy in its write set."""
        return Implies(is_closed(), all_of(Implies(e <= s.last, copies_held(published, e, 1)) for e in entry))

    @suite.strict(
        "a recovery starts after the last add confirmed that it hears, and another recovery that has since died may have "
        "written that entry to an ensemble that was never published",
        when=settings_leak(settings),
    )
    def closed_entries_are_stored() -> Condition:
        """Every entry of a closed ledger, confirmed or recovered, is held by an ack quorum of its write set."""
        return Implies(is_closed(), all_of(Implies(e <= s.last, copies_held(published, e)) for e in entry))

    @suite.always
    def confirmed_without_gaps() -> Condition:
        """The last add confirmed is the end of the unbroken run of confirmed entries."""
        return all_of(s.confirmed.has(e) == (e <= s.lac) for e in entry)

    @suite.always
    def nothing_confirmed_beyond_recovery() -> Condition:
        """Once a recovery has found the end of the ledger, no entry at or beyond it is confirmed, then or later."""
        return Implies(s.status != "deleted", all_of(Implies(recovery_ended(r), s.lac < next_entry(s, r)) for r in recoverer))

    @suite.always
    def no_such_entry_stays_true() -> Condition:
        """A bookie that has denied an entry to a recovery does not have it from the writer, and never will."""
        denied = [
            Implies(
                And(s.phase[r] == "reading", s.no_such_entry[r].has(b), next_entry(s, r) == e),
                Not(s.taken_by_bookie[b].has(e)),
            )
            for r in recoverer
            for b in bookie
            for e in entry
        ]
        return Implies(s.status != "deleted", all_of(denied))

    if entry.size > 1 or settings["explicit_lacs"]:

        @suite.always
        def lac_is_justified() -> Condition:
            """A last add confirmed at a bookie never exceeds what was confirmed, or found and written again by a recovery."""
            return all_of(
                Implies(
                    Or(e <= s.bookie_lac[b], e <= s.explicit_lac[b]),
                    Or(s.confirmed.has(e), any_of(s.found[r].has(e) for r in recoverer)),
                )
                for b in bookie
                for e in entry
            )

    several_entries_recovered = bool(recoverer.size and entry.size > 1)

    if reader.size:

        @suite.always
        def reads_are_justified() -> Condition:
            """A reader returns only what was confirmed, is in the closed ledger, or was written again by a recovery."""
            return all_of(
                Implies(
                    e <= s.read_to[x],
                    Or(s.confirmed.has(e), in_ledger(e), any_of(s.found[r].has(e) for r in recoverer)),
                )
                for x in reader
                for e in entry
            )

        @suite.always
        def confirmed_reads_stay() -> Condition:
            """What a reader has read and the application has had confirmed is in the closed ledger."""
            return Implies(
                is_closed(),
                all_of(Implies(And(e <= s.read_to[x], s.confirmed.has(e)), e <= s.last) for x in reader for e in entry),
            )

        @suite.strict(
            "an entry that a recovery writes again can be read before the ledger is closed, and the writer, or another "
            "recovery, may then close before it",
            when=several_entries_recovered,
        )
        def reads_stay() -> Condition:
            """What a reader has read is in the closed ledger."""
            return Implies(is_closed(), all_of(s.read_to[x] <= s.last for x in reader))

    @suite.strict(
        "a recovery's writes carry the last add that it recovered, which the writer may never have confirmed",
        when=several_entries_recovered,
    )
    def lac_is_confirmed() -> Condition:
        """A last add confirmed at a bookie never exceeds what was confirmed to the application."""
        return all_of(Implies(s.status != "closed", s.bookie_lac[b] <= s.lac) for b in bookie)

    if settings["changes"] and entry.size > 1:

        @suite.always
        def first_entries_rise() -> Condition:
            """The first entries of the ensembles rise strictly."""
            return all_of(
                Implies(published.count > f + 1, (published.first[f] if f else 0) < published.first[f + 1])
                for f in range(fragment.size - 1)
            )

    @suite.always
    def payloads_agree() -> Condition:
        """Equal entries have equal payloads everywhere: no copy is bad but those that faults made bad.

        One writer gives an entry one payload by construction; what can go wrong is that a bad copy is passed on.
        """
        bad = [s.rotten[b].has(e) for b in bookie for e in entry]
        return all_of(Implies(s.rots == k, Not(at_least(k + 1, bad))) for k in range(settings["rots"] + 1))

    # --- what every step must respect

    @suite.step
    def closed_is_final() -> Condition:
        """A closed ledger keeps its end and its ensembles; all that can still happen to it is deletion."""
        same = [equation(a, b) for a, b in _pairs([s.last, s.length, *published.values()], p)]
        return Implies(is_closed(), And(Or(n.status == "closed", n.status == "deleted"), *same))

    @suite.step
    def status_never_goes_back() -> Condition:
        """The status only goes forward: OPEN, IN_RECOVERY, CLOSED, deleted."""
        order: Sequence[Status] = STATUSES
        return any_of(And(s.status == one, n.status.among(*order[place:])) for place, one in enumerate(order))

    @suite.step
    def version_counts_updates() -> Condition:
        """Every update of the metadata raises their version by one, and nothing else does."""
        same = [equation(a, b) for a, b in _pairs([s.status, s.last, s.length, *published.values()], p)]
        return Or(n.version == s.version + 1, And(n.version == s.version, *same))

    @suite.step
    def fence_is_kept() -> Condition:
        """A bookie never takes a fence back."""
        return all_of(Implies(s.fenced[b], n.fenced[b]) for b in bookie)

    @suite.step
    def fenced_bookies_take_no_adds() -> Condition:
        """A fenced bookie takes no add from the writer."""
        return all_of(Implies(s.fenced[b], n.taken_by_bookie[b] == s.taken_by_bookie[b]) for b in bookie)

    @suite.step
    def ensembles_fixed_in_recovery() -> Condition:
        """While the ledger is in recovery its published ensembles do not change."""
        both = And(s.status == "in_recovery", n.status == "in_recovery")
        return Implies(both, And(*(equation(a, b) for a, b in _pairs(published.values(), p))))

    if settings["changes"] and recoverer.size:

        @suite.always
        def recoveries_can_publish() -> Condition:
            """No ensemble with which a recovery would close the ledger begins before the last one that is published.

            ReadOnlyLedgerHandle.closeRecovered checks that, and fails otherwise.
            """
            new = recoverer.each(lambda r: Ensembles(p, "new", striping, r))

            def goes_on(r: int) -> Condition:
                return And(s.status == "in_recovery", s.phase[r].among("fencing", "reading", "adding"))

            return all_of(Implies(goes_on(r), published.last_first() <= new[r].last_first()) for r in recoverer)

    @suite.step
    def lac_never_goes_back() -> Condition:
        """An explicit last add confirmed only rises, unless the disk is lost; others fall with their entries only."""
        is_unchanged = {b: And(n.stored[b] == s.stored[b], n.taken_by_bookie[b] == s.taken_by_bookie[b]) for b in bookie}
        falls = {b: And(n.bookie_lac[b] < s.bookie_lac[b], is_unchanged[b]) for b in bookie}
        return Implies(
            losses(n) == losses(s), all_of(And(Not(falls[b]), s.explicit_lac[b] <= n.explicit_lac[b]) for b in bookie)
        )

    @suite.step
    def closed_by_who_is_done() -> Condition:
        """Whoever closes the ledger knows that it has: the writer, or a recovery that is done with this."""
        recoveries = (And(s.phase[r] != "done", n.phase[r] == "done") for r in recoverer)
        by = Or(And(s.writer != "closed", n.writer == "closed"), *recoveries)
        return Implies(And(Not(is_closed()), n.status == "closed"), by)

    @suite.step
    def recoveries_read_no_further() -> Condition:
        """A recovery that has found the end of the ledger asks for no more: it closes."""
        stays = {r: And(n.phase[r] == s.phase[r], n.no_such_entry[r] == s.no_such_entry[r]) for r in recoverer}
        return all_of(Implies(recovery_ended(r), Or(stays[r], n.phase[r] == "done")) for r in recoverer)

    @suite.ends
    def no_deadlock() -> Condition:
        """Nothing comes to a standstill before the ledger is closed."""
        return Or(is_closed(), s.status == "deleted")

    # --- what must be possible

    @suite.sometimes
    def writer_closes_all() -> Condition:
        """The writer confirms every entry and closes."""
        return And(s.writer == "closed", s.lac == striping.entries - 1)

    if settings["ack_quorum"] < settings["write_quorum"]:

        @suite.sometimes
        def confirmed_by_an_ack_quorum() -> Condition:
            """An entry is confirmed that not all bookies of its write set have accepted."""
            places = [(b, e) for b in bookie for e in entry]
            return any_of(And(s.confirmed.has(e), published.holds(b, e), Not(s.taken_by_bookie[b].has(e))) for b, e in places)

    if recoverer.size:

        @suite.sometimes
        def recovery_goes_beyond_lac() -> Condition:
            """A recovery closes the ledger with an entry that the application never had confirmed."""
            return And(is_closed(), s.lac < s.last, any_of(s.phase[r] == "done" for r in recoverer))

        @suite.sometimes
        def writer_fails() -> Condition:
            """The writer finds the ledger closed at an end that is not its own."""
            return s.writer == "failed"

        @suite.sometimes
        def writer_overtaken() -> Condition:
            """A recovery closes the ledger under a writer that still writes."""
            return And(is_closed(), s.writer == "writing", any_of(s.phase[r] == "done" for r in recoverer))

        @suite.sometimes
        def writer_closes_over_recovery() -> Condition:
            """The writer closes while a recovery is reading."""
            return And(s.writer == "closed", any_of(s.phase[r] == "reading" for r in recoverer))

    if settings["changes"]:

        @suite.sometimes
        def ensemble_changed() -> Condition:
            """The writer confirms an entry that a bookie has which joined in a change of ensemble."""
            newcomers = list(bookie)[striping.ensemble :]
            counted = [
                And(published.holds(b, e), s.taken_by_bookie[b].has(e), s.confirmed.has(e)) for b in newcomers for e in entry
            ]
            return And(s.status == "open", s.writer == "writing", published.last_first() <= s.lac, Or(*counted))

    ledger_conduct(suite)
    ledger_causes(suite)
    ledger_liveness(suite)
    if not settings["readers"] and p.formulates("sometimes"):  # to a topic readers change nothing
        ledger_refinement(suite)
        written_refinement(suite)
    if not most_losses(settings):
        suite.lemmas_by(lambda: ledger_lemmas(suite))
    return suite


def _pairs(terms: Iterable[Term], p: Protocol) -> list[tuple[Term, Term]]:
    return [(p.primed(term), term) for term in terms]
