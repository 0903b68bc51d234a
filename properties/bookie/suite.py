"""What must hold of a bookie and its disk: what it has answered for is there after every restart."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.bookkeeper.entry_logs import are_modelled
from fencepost.model.bookkeeper.journal import Journal, Replay, Saved
from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, Truth, all_of, any_of
from fencepost.properties.bookie.conduct import bookie_conduct
from fencepost.properties.bookie.invariant import bookie_invariant
from fencepost.properties.bookie.liveness import bookie_liveness
from fencepost.properties.bookie.logs import bookie_logs
from fencepost.properties.vocabulary import Suite


def bookie(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.bookkeeper.bookie.bookie`` built."""
    s, n = BookieVariables.of(p)
    settings = p.parameters
    suite = Suite(p)
    ledger, entry, place = (p.universes[name] for name in ("ledger", "entry", "place"))
    journal, saved = Journal(p), Saved(p)
    from_mark, from_start = Replay(journal, saved, journal.mark), Replay(journal, saved, [0] * journal.number)
    pairs = [(of, e) for of in ledger for e in entry]
    runs = s.stage != "down"
    loses_power = settings["power_losses"] > 0
    ends_badly = settings["kills"] > 0 or loses_power
    unsynced = loses_power and not settings["journal_sync_data"]
    unjournaled = ends_badly and not settings["journal_write_data"]
    ends = ends_badly or settings["stops"] > 0

    def is_owed(place: int, of: int) -> Truth:
        """The record at that place is none of a ledger that was collected after it."""
        return s.owed_from[of] <= place if settings["collections"] else True

    # --- what must always hold

    @suite.strict(
        "with journalWriteData=false a kill takes what is not checkpointed, with journalSyncData=false the loss of the page "
        "cache what is not synced, and both were acknowledged",
        when=unjournaled or unsynced,
    )
    def acknowledged_adds_survive() -> Condition:
        """A bookie that runs has every entry whose add it has acknowledged to the writer."""
        return all_of(Implies(And(runs, s.added[of, e] == "acknowledged"), s.stored[of].has(e)) for of, e in pairs)

    if settings["recovery"]:

        @suite.strict(
            "as of the writer's adds: without the journal, or before it is synced, an acknowledgement means little",
            when=unjournaled or unsynced,
        )
        def acknowledged_recovery_adds_survive() -> Condition:
            """A bookie that runs has every entry that it has told a recovery that it has."""
            return all_of(Implies(And(runs, s.recovered[of, e] == "acknowledged"), s.stored[of].has(e)) for of, e in pairs)

    @suite.strict(
        "with journalSyncData=false a fence is answered for before it is synced, and the loss of the page cache takes it",
        when=unsynced,
    )
    def answered_fences_survive() -> Condition:
        """A bookie that runs has every ledger fenced of which it has answered a fencing read, whatever the answer."""
        return all_of(Implies(And(runs, s.fence_told[of]), s.fenced[of]) for of in ledger)

    @suite.strict(
        "with journalSyncData=false the loss of the page cache takes the fence, and the bookie accepts what it has denied; "
        "with journalWriteData=false a kill takes an entry, and the bookie denies what it has acknowledged",
        when=unjournaled or unsynced,
    )
    def denied_adds_stay_out() -> Condition:
        """The bookie never acknowledges to the writer an entry of which it has told a fencing read that it does not have it.

        That is what a recovery goes by when it takes the entry for one that can never be confirmed.
        """
        return all_of(Implies(s.denied[of].has(e), s.added[of, e] != "acknowledged") for of, e in pairs)

    if settings["explicit_lacs"]:

        @suite.strict(
            "with journalSyncData=false the loss of the page cache takes it, as all else",
            when=unsynced,
        )
        def explicit_lacs_survive() -> Condition:
            """A bookie that runs has the explicit last add confirmed that it has acknowledged, or a higher one."""
            return all_of(Implies(runs, s.explicit_lac[of] >= s.lac_told[of]) for of in ledger)

    if settings["reads"]:

        @suite.strict(
            "an entry can be read as soon as it is in the storage's memory, before the journal has it",
            when=ends_badly,
        )
        def shown_entries_survive() -> Condition:
            """A bookie that runs has every entry that it has given to a reader."""
            return all_of(Implies(And(runs, s.shown[of].has(e)), s.stored[of].has(e)) for of, e in pairs)

    @suite.always
    def mark_covers_only_what_is_saved() -> Condition:
        """What lies before the log mark is saved: replay needs none of it."""
        marks = {of: journal.mark[journal.of(of)] for of in ledger}
        return all_of(Implies(And(x < marks[of], is_owed(x, of)), saved.covers(journal, x, of)) for x in place for of in ledger)

    @suite.always
    def replay_is_idempotent() -> Condition:
        """Replay from the journal's very beginning, if it were still there, would come to the same as replay from the mark.

        An explicit last add confirmed may come to less that way, if it is not acknowledged. A ledger that was collected may
        come to more.
        """

        def is_same(of: int) -> Condition:
            return And(
                from_start.fence(of) == from_mark.fence(of),
                *(from_start.has(of, e) == from_mark.has(of, e) for e in entry),
                Implies(from_mark.explicit_lac(of) >= s.lac_told[of], from_start.explicit_lac(of) >= s.lac_told[of]),
            )

        was_collected = {of: s.owed_from[of] > 0 if settings["collections"] else False for of in ledger}
        return all_of(Or(was_collected[of], is_same(of)) for of in ledger)

    @suite.always
    def journal_reaches_the_mark() -> Condition:
        """The journal is there from the log mark on: a bookie for which it is not does not start."""
        return journal.reaches_mark()

    # --- what every step must respect

    @suite.step
    def mark_never_goes_back() -> Condition:
        """The log mark only rises, of each journal."""
        return And(*(p.primed(mark) >= mark for mark in journal.mark))

    @suite.step
    def fenced_ledgers_take_no_adds() -> Condition:
        """No add of the writer is accepted while the ledger is fenced."""
        taken = [And(s.added[of, e] == "none", n.added[of, e].among("accepted", "acknowledged")) for of, e in pairs]
        return all_of(Implies(took, Not(s.fenced[of])) for took, (of, _) in zip(taken, pairs, strict=True))

    @suite.step
    def what_is_there_is_not_denied() -> Condition:
        """The bookie denies no entry that it has."""
        return all_of(Implies(And(n.denied[of].has(e), Not(s.denied[of].has(e))), Not(s.stored[of].has(e))) for of, e in pairs)

    @suite.ends
    def no_deadlock() -> Condition:
        """Nothing comes to a standstill but a bookie that serves, with nothing left to answer."""
        return And(s.stage == "up", all_of(s.added[of, e] != "accepted" for of, e in pairs))

    # --- what must be possible

    @suite.sometimes
    def fenced_before_its_first_entry() -> Condition:
        """A ledger of which the bookie has nothing is fenced, and a recovery knows it."""
        return any_of(And(s.fence_told[of], s.stored[of].is_empty, s.fenced[of]) for of in ledger)

    @suite.sometimes
    def add_is_refused() -> Condition:
        """An add has met the fence."""
        return any_of(s.added[of, e] == "refused" for of, e in pairs)

    @suite.sometimes
    def mark_reaches_the_end() -> Condition:
        """The log mark is at the end of a journal that has all entries of a ledger, and its fence."""
        written = {of: all_of(s.added[of, e] == "acknowledged" for e in entry) for of in ledger}
        marked = {of: journal.mark[journal.of(of)] == journal.end(journal.of(of)) for of in ledger}
        return any_of(And(marked[of], written[of], journal.is_logged(of, "fence")) for of in ledger)

    if ends:

        @suite.sometimes
        def fence_is_replayed() -> Condition:
            """A fence that a recovery knows of comes back from the journal alone."""
            back = [And(s.fenced[of], s.fence_told[of], Not(s.saved_fence[of])) for of in ledger]
            return And(s.stage == "replayed", Or(*back))

        @suite.sometimes
        def replayed_twice() -> Condition:
            """A bookie runs again on records that were saved, and whose mark was not."""
            marks = {of: journal.mark[journal.of(of)] for of in ledger}
            past = {of: any_of(And(marks[of] <= x, journal.is_at(x, of, "fence")) for x in place) for of in ledger}
            fence = any_of(And(past[of], s.saved_fence[of]) for of in ledger)
            return And(s.stage == "replayed", s.checkpoint[0] == "taken", fence)

    if ends_badly:

        @suite.sometimes
        def unanswered_add_is_lost() -> Condition:
            """An add that was never answered is gone with the process."""
            return And(s.stage == "down", s.logged == 0, s.kills + s.power_losses == 1, *(mark == 0 for mark in journal.mark))

    if settings["collections"]:

        @suite.sometimes
        def collected_ledger_is_back() -> Condition:
            """Of a ledger that was collected, entries have come back."""
            return And(s.collections > 0, any_of(And(s.owed_from[of] > 0, Not(s.stored[of].is_empty)) for of in ledger))

    if are_modelled(settings):
        bookie_logs(suite)
    bookie_liveness(suite)
    bookie_conduct(suite)
    if settings["journal_write_data"] and not (unsynced or settings["collections"] or are_modelled(settings)):
        suite.lemmas_by(lambda: bookie_invariant(suite))
    return suite
