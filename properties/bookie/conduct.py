"""How a bookie must conduct itself, whatever comes of it: rules that a missing guard breaks first."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie_variables import Added, BookieVariables
from fencepost.model.bookkeeper.checkpoints import positions_taken
from fencepost.model.bookkeeper.journal import Journal, Replay, Saved
from fencepost.model.language import (
    And,
    Choice,
    Condition,
    Family,
    If,
    Implies,
    Not,
    Number,
    Or,
    Truth,
    all_of,
    any_of,
    how_many,
    maximum,
    minimum,
)
from fencepost.properties.vocabulary import Suite


def bookie_conduct(suite: Suite) -> None:
    """Adds the rules of conduct of a bookie to a suite."""
    _requests(suite)
    _checkpoints(suite)
    _process(suite)


def _requests(suite: Suite) -> None:
    """Adds how requests must be treated."""
    p = suite.protocol
    s, n = BookieVariables.of(p)
    settings = p.parameters
    ledger, entry, place = (p.universes[name] for name in ("ledger", "entry", "place"))
    journal = Journal(p)
    pairs = [(of, e) for of in ledger for e in entry]
    safe = journal.synced if settings["journal_sync_data"] else journal.written
    journals, on_db = settings["journal_write_data"], settings["storage"] == "db"
    goes_on = And(s.stage == "up", n.stage == "up")
    collected = n.collections > s.collections
    adds = {"e": (s.added, n.added)} | ({"r": (s.recovered, n.recovered)} if settings["recovery"] else {})

    def is_past_safe(of: int, *kinds: str) -> Condition:
        return journal.is_past(safe[journal.of(of)], of, *kinds)

    def grows(of: int, e: int) -> Condition:
        return And(Not(s.stored[of].has(e)), n.stored[of].has(e))

    @suite.step
    def only_a_bookie_that_serves_answers() -> Condition:
        """Requests are taken and answered by a bookie that serves."""
        answers = [
            *(
                n.added[of, e].among("accepted", "acknowledged", "refused") & (n.added[of, e] != s.added[of, e])
                for of, e in pairs
            ),
            *(
                n.recovered[of, e].among("accepted", "acknowledged") & (n.recovered[of, e] != s.recovered[of, e])
                for of, e in pairs
            ),
            *(Or(n.denied[of] != s.denied[of], n.fence_told[of] != s.fence_told[of]) for of in ledger),
            *(Or(n.shown[of] != s.shown[of], n.lac_told[of] != s.lac_told[of]) for of in ledger),
        ]
        return Implies(Or(*answers), goes_on)

    @suite.step
    def adds_are_answered_once() -> Condition:
        """An add is accepted once, and then acknowledged; refused only where the ledger is fenced, and never accepted after."""

        def follows(before: Choice[Added], after: Choice[Added]) -> Condition:
            first = after.among("accepted") if journals else after == "acknowledged"
            return Or(
                after == before,
                And(before == "none", first),
                And(before == "accepted", after == "acknowledged"),
                And(before == "accepted", after == "none", n.stage == "down"),
                And(collected, before != "accepted", after == "none"),
            )

        refused = {pair: And(s.added[pair] == "none", n.added[pair] == "refused", s.fenced[pair[0]]) for pair in pairs}
        return And(
            *(Or(refused[pair], follows(s.added[pair], n.added[pair])) for pair in pairs),
            *(follows(s.recovered[pair], n.recovered[pair]) for pair in pairs),
        )

    @suite.step
    def accepted_adds_are_stored_and_logged() -> Condition:
        """What a bookie accepts is in its memory, to be saved, and in the journal, the key with it unless that is there."""

        def taken(who: str, before: Family[Choice[Added]], after: Family[Choice[Added]], of: int, e: int) -> Condition:
            accepts = And(before[of, e] == "none", after[of, e].among("accepted", "acknowledged"))
            ends = [And(s.logged <= x, p.primed(journal.is_at(x, of, f"{who}{e}"))) for x in place]
            behind = Or(*ends) if journals else True
            keyed = n.logged == s.logged + how_many(Not(s.key_logged[of])) + (1 if journals else 0)
            in_memory = And(n.stored[of].has(e), n.dirty[of % settings["directories"]], n.key_logged[of])
            pages = True if settings["storage"] == "db" else n.paged[of]
            return Implies(accepts, And(in_memory, pages, behind, keyed))

        return all_of(taken(who, *x, of, e) for who, x in adds.items() for of, e in pairs)

    @suite.step
    def memory_grows_by_requests() -> Condition:
        """While a bookie serves, an entry comes by an add, or with a compaction of a log that has it; and nothing goes."""

        def found_again(of: int, e: int) -> Condition:
            """The ledger's entries are saved, and its master key, which was not, comes with a request."""
            unknown = Not(Or(s.key_logged[of], s.saved_key[of]))
            return And(unknown, s.saved[of].has(e), settings["failed_index_saves"] > 0)

        def compacted(of: int, e: int) -> Truth:
            """The entry is in a log that is compacted, whether or not the index named it there."""
            if not settings["compactions"]:
                return False
            return And(n.compactions > s.compactions, any_of(s.copies[g, of].has(e) for g in p.universes["log"]))

        by_adds = [
            Implies(
                grows(of, e),
                Or(
                    found_again(of, e),
                    compacted(of, e),
                    any_of(And(b[of, e] == "none", a[of, e] != "none") for b, a in adds.values()),
                ),
            )
            for of, e in pairs
        ]
        nothing_goes = [
            And(
                (s.stored[of] & ~n.stored[of]).is_empty,
                Implies(s.fenced[of], n.fenced[of]),
                Implies(s.key_logged[of], n.key_logged[of]),
                n.explicit_lac[of] >= s.explicit_lac[of],
                n.explicit_lac[of] <= s.explicit_lac[of] + 1,
            )
            for of in ledger
        ]
        return Implies(goes_on, And(*by_adds, Or(collected, And(*nothing_goes))))

    if settings["collections"]:

        @suite.step
        def collections_forget_one_ledger() -> Condition:
            """A collection forgets a ledger, its master key too, and owes nothing of it; it touches no other."""

            def forgets(of: int) -> Condition:
                blank = And(n.stored[of].is_empty, Not(n.fenced[of]), Not(n.key_logged[of]), n.explicit_lac[of] == 0)
                unasked = And(Not(n.fence_told[of]), n.denied[of].is_empty, n.shown[of].is_empty, n.lac_told[of] == 0)
                adds_anew = [And(s.added[of, e] != "accepted", n.added[of, e] == "none") for e in entry]
                return And(n.owed_from[of] == s.logged, blank, unasked, *adds_anew)

            def keeps(of: int) -> Condition:
                memory = And(n.stored[of] == s.stored[of], n.fenced[of] == s.fenced[of], n.key_logged[of] == s.key_logged[of])
                told = And(n.fence_told[of] == s.fence_told[of], *(n.added[of, e] == s.added[of, e] for e in entry))
                disk = And(
                    n.saved[of] == s.saved[of], n.saved_key[of] == s.saved_key[of], n.saved_fence[of] == s.saved_fence[of]
                )
                later = n.undeleted[of] == s.undeleted[of] if on_db else True
                return And(n.owed_from[of] == s.owed_from[of], memory, told, disk, later)

            def leaves_the_disk(of: int) -> Condition:
                """With db all is there until the next save; else nothing is left."""
                saved = And(
                    n.saved[of] == s.saved[of], n.saved_key[of] == s.saved_key[of], n.saved_fence[of] == s.saved_fence[of]
                )
                if on_db:
                    return And(n.undeleted[of], saved)
                return And(n.saved[of].is_empty, Not(n.saved_key[of]), Not(n.saved_fence[of]), Not(n.paged[of]))

            def knew(of: int) -> Condition:
                known = Or(s.key_logged[of], Not(s.stored[of].is_empty), s.fenced[of])
                waits = Or(s.lac_asked[of], *(x[of, e] == "accepted" for x in (s.added, s.recovered) for e in entry))
                return And(known, Not(waits))

            ways = [
                And(knew(of), forgets(of), leaves_the_disk(of), *(keeps(other) for other in ledger if other != of))
                for of in ledger
            ]
            return Implies(collected, And(goes_on, Or(*ways)))

        if on_db:

            @suite.step
            def collected_ledgers_leave_the_disk() -> Condition:
                """The next save takes a collected ledger off the disk, except what has come back of it, which it writes.

                Nothing else does; a process that ends before leaves the disk as it is."""

                def follows(of: int) -> Condition:
                    back = And(
                        n.saved_key[of]
                        == Or(s.key_logged[of], Not(s.stored[of].is_empty), s.fenced[of], s.explicit_lac[of] > 0),
                        n.saved_fence[of] == s.fenced[of],
                        n.saved_lac[of] == s.explicit_lac[of],
                    )
                    saves = any_of(
                        And(s.checkpoint[f] == "taken", n.checkpoint[f] == "saved")
                        for f in p.universes["flusher"]
                        if f in (0, 1 + of % settings["directories"])
                    )
                    stays = Or(n.undeleted[of], n.stage == "down")
                    return Implies(s.undeleted[of], If(saves, And(Not(n.undeleted[of]), back), stays))

                return all_of(follows(of) for of in ledger)

    @suite.step
    def keys_and_fences_are_logged_once() -> Condition:
        """A process logs a master key that it has not logged yet, a fence that is new, and a higher last add confirmed."""

        def logs(of: int, kind: str) -> Condition:
            return any_of(And(s.logged <= x, x < n.logged, p.primed(journal.is_at(x, of, kind))) for x in place)

        keys = [Implies(logs(of, "key"), And(Not(s.key_logged[of]), n.key_logged[of])) for of in ledger]
        lacs = [Implies(logs(of, f"lac{x}"), s.explicit_lac[of] < x) for of in ledger for x in journal.explicit_lacs]
        return Implies(goes_on, And(*keys, *lacs, *(Implies(logs(of, "fence"), Not(s.fenced[of])) for of in ledger)))

    @suite.step
    def fences_are_confirmed_with_an_entry() -> Condition:
        """A fencing read is answered with an entry that is there, or with NoSuchEntry."""
        confirmations = {of: And(n.fence_told[of], Not(s.fence_told[of]), n.denied[of] == s.denied[of]) for of in ledger}
        return all_of(Implies(confirmations[of], Not(s.stored[of].is_empty)) for of in ledger)

    @suite.sometimes
    def fence_is_confirmed() -> Condition:
        """A recovery has an answer from a fenced ledger, and nothing was denied."""
        return any_of(And(s.fence_told[of], s.denied[of].is_empty) for of in ledger)

    @suite.step
    def answers_wait_for_the_journal() -> Condition:
        """No answer leaves before the journal is safe past what it answers for."""
        lacs = [f"lac{x}" for x in journal.explicit_lacs]
        acknowledged = [
            Implies(And(b[of, e] == "accepted", a[of, e] == "acknowledged"), Not(is_past_safe(of, f"{who}{e}")))
            for who, (b, a) in adds.items()
            for of, e in pairs
        ]
        answers = {of: And(n.fence_told[of], Not(s.fence_told[of])) for of in ledger}
        without_denial = {of: And(answers[of], n.denied[of] == s.denied[of]) for of in ledger}
        waits = [Implies(without_denial[of], Not(is_past_safe(of, "fence"))) for of in ledger]
        confirmations = [*waits, *(Implies(answers[of], s.fenced[of]) for of in ledger)]
        rises = {of: And(s.lac_asked[of], Not(n.lac_asked[of]), n.stage != "down") for of in ledger}
        lac = [Implies(rises[of], And(Not(is_past_safe(of, *lacs)), n.lac_told[of] >= s.explicit_lac[of])) for of in ledger]
        only = [
            Implies(n.lac_told[of] != s.lac_told[of], Or(collected, And(rises[of], n.lac_told[of] == s.explicit_lac[of])))
            for of in ledger
        ]
        return And(*acknowledged, *confirmations, *lac, *only)

    @suite.step
    def readers_see_what_is_stored() -> Condition:
        """A reader is given what is in memory."""
        return all_of(Implies(And(n.shown[of].has(e), Not(s.shown[of].has(e))), s.stored[of].has(e)) for of, e in pairs)

    @suite.step
    def journal_is_only_appended_to() -> Condition:
        """The journal grows at its end, is written and synced as a whole, and loses its end with the process only."""
        asleep = And(s.stage == "down", n.stage == "down")
        prefix = [Implies(x < s.logged, n.record[x] == s.record[x]) for x in place]

        def moves(j: int) -> Condition:
            written, synced = journal.written[j], journal.synced[j]
            is_written = Or(p.primed(written) == written, p.primed(written) == journal.end(j))
            is_synced = Or(p.primed(synced) == synced, p.primed(synced) == written)
            still = And(p.primed(written) == written, Or(p.primed(synced) == synced, s.stage == "down"))
            goes = And(is_written, Or(is_synced, n.stage == "replayed"), Or(still, s.stage.among("up", "stopping")))
            unmoved = And(p.primed(written) == written, p.primed(synced) == synced)
            return And(Implies(n.stage != "down", goes), Implies(asleep, unmoved))

        grows = And(n.logged >= s.logged, *prefix)
        return And(Implies(n.stage != "down", grows), *(moves(j) for j in range(journal.number)))


def _checkpoints(suite: Suite) -> None:
    """Adds how checkpoints must go."""
    p = suite.protocol
    s, n = BookieVariables.of(p)
    settings = p.parameters
    ledger, directory, flusher = (p.universes[name] for name in ("ledger", "directory", "flusher"))
    on_db = settings["storage"] == "db"
    journal, saved = Journal(p), Saved(p)
    ends = [journal.end(j) for j in range(journal.number)]

    def whose(f: int) -> list[int]:
        """The ledgers that a flusher saves."""
        return [of for of in ledger if f in (0, 1 + of % directory.size)]

    of_logs = [
        getattr(n, event) > getattr(s, event) for event in ("collector_looks", "compactions", "rebuilds") if settings[event]
    ]
    deletes = Or(And(n.collections > s.collections, not on_db), *of_logs)

    index_fails = n.failed_index_saves > s.failed_index_saves

    @suite.step
    def checkpoints_go_in_order() -> Condition:
        """A checkpoint is taken at the journal's synced end, of two journals at that of the first and then of the second; it is
        saved, and then its mark is; only a process's end or a failed save stops it."""
        fails = Or(n.failed_saves > s.failed_saves, index_fails)

        def follows(f: int) -> Condition:
            before, after, taken = s.checkpoint[f], n.checkpoint[f], positions_taken(p, f)
            due = And(s.stage == "up", s.dirty[f - 1]) if f else Or(on_db, n.stage != "up", s.dirty[0])
            at_end = [p.primed(x) == If(s.stage == "down", *at) for x, *at in zip(taken, ends, journal.synced, strict=True)]
            stays, ends_at_zero = And(*(p.primed(x) == x for x in taken)), And(*(p.primed(x) == 0 for x in taken))
            ways = [
                And(after == before, stays),
                And(before == "none", after == "taken", *at_end, due),
                And(before == "taken", after == "saved", stays),
                And(before == "saved", after == "none", ends_at_zero),
                And(fails, s.dirty[0], before == "taken", after == "none", ends_at_zero),
                And(n.stage == "down", after == "none", ends_at_zero),
            ]
            if journal.number > 1:
                (first, second), (first_end, second_end) = taken, journal.synced
                ways[1] = And(ways[1], n.stage != "up")
                first_read = And(p.primed(first) == first_end, p.primed(second) == second)
                second_read = And(p.primed(first) == first, p.primed(second) == second_end)
                ways += [
                    And(before == "none", after == "begun", first_read, due, n.stage == "up"),
                    And(before == "begun", after == "taken", second_read),
                ]
            return Or(*ways)

        return all_of(follows(f) for f in flusher)

    @suite.step
    def saves_are_whole() -> Condition:
        """Of the ledgers concerned all entries are saved that are in memory; what is saved changes by a save only, or by what
        happens to an entry log. One that fails to write the index has written the entries."""
        done = {f: And(s.checkpoint[f] == "taken", n.checkpoint[f] == "saved") for f in flusher}

        def is_kept(of: int) -> Condition:
            return And(
                n.saved[of] == If(index_fails, s.stored[of], saved.entries[of]),
                n.saved_fence[of] == saved.fence[of],
                n.saved_key[of] == saved.key[of],
                n.saved_lac[of] == saved.lac[of],
            )

        by = {of: any_of(done[f] for f in flusher if of in whose(f)) for of in ledger}
        known = {of: Or(s.key_logged[of], Not(s.stored[of].is_empty), s.fenced[of], s.explicit_lac[of] > 0) for of in ledger}
        keys = [Implies(And(n.saved_key[of], Not(s.saved_key[of])), known[of]) for of in ledger]
        return And(*keys, *(If(by[of], n.saved[of] == s.stored[of], Or(deletes, is_kept(of))) for of in ledger))

    if settings["failed_index_saves"]:

        @suite.step
        def an_update_cannot_be_written() -> Condition:
            """The index fails to write the only update that it has of a ledger: its master key, its fence, or its last add."""

            def has_one(of: int) -> Condition:
                known = Or(s.key_logged[of], Not(s.stored[of].is_empty), s.fenced[of], s.explicit_lac[of] > 0)
                fence, lac = And(s.fenced[of], Not(s.saved_fence[of])), s.explicit_lac[of] > s.saved_lac[of]
                only_key = And(Not(s.saved_key[of]), Not(fence), Not(lac))
                return And(known, Or(only_key, And(s.saved_key[of], fence, Not(lac)), And(s.saved_key[of], Not(fence), lac)))

            return Implies(index_fails, any_of(has_one(of) for of in ledger))

    @suite.step
    def dirt_goes_with_a_save() -> Condition:
        """What was written stays marked as such until it is saved; in sorted and interleaved storages until a boot or stop."""

        def follows(d: int) -> Condition:
            saves = any_of(And(s.checkpoint[f] == "taken", n.checkpoint[f] == "saved") for f in flusher if f in (0, d + 1))
            cleaned = saves if on_db else And(saves, s.stage != "up")
            return And(
                Implies(And(s.stage != "down", s.dirty[d], Not(n.dirty[d])), Or(cleaned, n.stage == "down")),
                Implies(And(cleaned, n.stage != "down"), Not(n.dirty[d])),
            )

        return all_of(follows(d) for d in directory)

    @suite.step
    def mark_moves_with_a_checkpoint() -> Condition:
        """The log mark moves where a saved checkpoint was taken, and at the end of a stop of a bookie with one db directory to
        what is synced; never back. Files before it go while the bookie serves."""
        done = {f: And(s.checkpoint[f] == "saved", n.checkpoint[f] == "none") for f in flusher}
        marks = [(mark, p.primed(mark)) for mark in journal.mark]

        def reached(f: int, j: int) -> Number | int:
            at = maximum(journal.mark[j], positions_taken(p, f)[j])
            flushed_again = f == 0 and on_db and directory.size == 1
            return If(s.stage == "stopping", journal.synced[j], at) if flushed_again else at

        by = {f: And(done[f], *(after == reached(f, j) for j, (_, after) in enumerate(marks))) for f in flusher}
        ended = Or(s.stage != "up", n.stage == "down")
        moving = [f for f in flusher if f == 0 or directory.size == 1]
        moved = all_of(Implies(done[f], Or(by[f], n.stage == "down")) for f in moving)
        deletes = And(Not(ended), any_of(done[f] for f in moving))
        files = [(x, p.primed(x), after) for x, (_, after) in zip(journal.compacted, marks, strict=True)]
        to_mark = And(*(after == maximum(before, mark) for before, after, mark in files))
        unchanged = And(*(after == before for before, after, _ in files))
        deleted = Or(And(Not(deletes), unchanged), And(Not(ended), to_mark, Or(*done.values())))
        return And(moved, Or(And(*(after == before for before, after in marks)), *by.values()), deleted)


def _process(suite: Suite) -> None:
    """Adds how a process must begin and end."""
    p = suite.protocol
    s, n = BookieVariables.of(p)
    settings = p.parameters
    ledger, entry, directory = (p.universes[name] for name in ("ledger", "entry", "directory"))
    journal, saved = Journal(p), Saved(p)
    replay = Replay(journal, saved, journal.mark)
    on_db = settings["storage"] == "db"

    @suite.step
    def processes_go_through_their_stages() -> Condition:
        """A boot replays, saves, serves; a stop saves, and ends; only then is the mark at what was saved; a fault ends all."""
        fails = n.kills + n.power_losses > s.kills + s.power_losses
        reached = zip(journal.mark, positions_taken(p, 0), strict=True)
        marked = And(s.checkpoint[0] == "saved", *(p.primed(mark) >= position for mark, position in reached))
        return Or(
            n.stage == s.stage,
            And(s.stage == "down", n.stage == "replayed", n.checkpoint[0] == "taken"),
            And(s.stage == "replayed", n.stage == "up", marked, n.checkpoint[0] == "none"),
            And(s.stage == "up", n.stage == "stopping", s.checkpoint[0] == "none", n.checkpoint[0] == "taken"),
            And(s.stage == "stopping", n.stage == "down", marked),
            And(n.stage == "down", fails),
        )

    @suite.step
    def faults_end_a_process() -> Condition:
        """A kill and a loss of power end a process that was there."""
        fails = n.kills + n.power_losses > s.kills + s.power_losses
        return Implies(fails, And(s.stage != "down", n.stage == "down"))

    @suite.step
    def memory_ends_with_the_process() -> Condition:
        """A process that ends leaves nothing in memory, and of the journal what was written, or synced if power is lost."""
        ends = And(s.stage != "down", n.stage == "down")
        gone = [And(n.stored[of].is_empty, Not(n.fenced[of]), Not(n.key_logged[of]), n.explicit_lac[of] == 0) for of in ledger]
        pages = [] if on_db else [Not(n.paged[of]) for of in ledger]
        asked = [And(Not(n.lac_asked[of]), *(n.added[of, e] != "accepted" for e in entry)) for of in ledger]
        again = [n.recovered[of, e] != "accepted" for of in ledger for e in entry]
        clean = [Not(n.dirty[d]) for d in directory]
        stays = [If(n.power_losses > s.power_losses, *at) for at in zip(journal.synced, journal.written, strict=True)]
        left = [p.primed(written) == at for written, at in zip(journal.written, stays, strict=True)]
        collected = [Not(n.undeleted[of]) for of in ledger] if settings["collections"] and on_db else []
        if settings["collections"]:
            collected += [n.owed_from[of] == minimum(s.owed_from[of], maximum(*stays)) for of in ledger]
        return Implies(ends, And(*gone, *pages, *asked, *again, *clean, *left, *collected, n.logged == maximum(*stays)))

    if settings["kills"] or settings["power_losses"] or settings["stops"]:

        @suite.step
        def boots_rebuild_the_memory() -> Condition:
            """After replay the memory is what is saved and what the journal has from the mark on, in its order."""
            boots = And(s.stage == "down", n.stage == "replayed")
            memory = [
                And(
                    *(n.stored[of].has(e) == replay.has(of, e) for e in entry),
                    n.fenced[of] == replay.fence(of),
                    n.key_logged[of] == replay.key(of),
                    n.explicit_lac[of] == replay.explicit_lac(of),
                )
                for of in ledger
            ]
            pages = [] if on_db else [n.paged[of] == replay.adds(of) for of in ledger]
            written = {d: any_of(replay.adds(of) for of in ledger if of % directory.size == d) for d in directory}
            dirt = [n.dirty[d] == written[d] for d in directory]
            synced = [p.primed(x) == journal.end(j) for j, x in enumerate(journal.synced)]
            return Implies(boots, And(*memory, *pages, *dirt, *synced))
