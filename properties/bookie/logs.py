"""What must hold of the entry logs of a bookie: nothing that it has is only in a file that is deleted."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.bookkeeper.entry_logs import EntryLogs
from fencepost.model.bookkeeper.journal import Journal, Replay, Saved
from fencepost.model.language import And, Condition, If, Implies, Not, Or, Subset, all_of, any_of
from fencepost.properties.vocabulary import Suite


def bookie_logs(suite: Suite) -> None:
    """Adds the properties of entry logs to a suite."""
    p = suite.protocol
    s, n = BookieVariables.of(p)
    logs, log, ledger, entry = EntryLogs(p), p.universes["log"], p.universes["ledger"], p.universes["entry"]

    @suite.always
    def what_is_saved_is_in_a_log() -> Condition:
        """Every entry that the index names is in a log whose file is there."""
        return all_of(Implies(s.saved[of].has(e), logs.is_there(of, e)) for of in ledger for e in entry)

    settings = p.parameters
    saves = any_of(And(s.checkpoint[f] == "taken", n.checkpoint[f] == "saved") for f in p.universes["flusher"])
    boots = And(s.stage == "down", n.stage == "replayed")
    deletes = {g: And(n.deleted[g], Not(s.deleted[g])) for g in log}
    looks = n.collector_looks > s.collector_looks if settings["collector_looks"] else False
    compacts = n.compactions > s.compactions if settings["compactions"] else False
    nothing = entry.where(lambda _: False)

    def is_known(of: int) -> Condition:
        return Or(s.key_logged[of], Not(s.stored[of].is_empty), s.fenced[of], s.explicit_lac[of] > 0)

    def live(g: int, of: int) -> Subset:
        """What a compaction of the log has to keep."""
        return If(is_known(of), logs.copies[g, of], nothing)

    @suite.step
    def known_ledgers_keep_their_logs() -> Condition:
        """The collector deletes a log in which there is nothing of a ledger that the bookie knows, and what the index names
        there; a compaction copies what there is of these to the current log, and the index names it."""

        def collects(g: int, of: int) -> Condition:
            gone = logs.located(g, of)
            unknown = Or(s.copies[g, of].is_empty, Not(is_known(of)))
            index = And(n.saved[of] == s.saved[of] & ~gone, n.stored[of] == s.stored[of] & ~gone)
            return And(unknown, index, n.cached[of] == s.cached[of])

        def moves(g: int, of: int) -> Condition:
            index = And(n.saved[of] == s.saved[of] | live(g, of), n.stored[of] == s.stored[of] | live(g, of))
            copied = [Implies(s.current == to, n.copies[to, of] == s.copies[to, of] | live(g, of)) for to in log]
            return And(index, n.cached[of] == s.cached[of], *copied)

        some = {g: any_of(Not(live(g, of).is_empty) for of in ledger) for g in log}
        return And(
            *(Implies(And(looks, deletes[g]), all_of(collects(g, of) for of in ledger)) for g in log),
            *(Implies(And(compacts, deletes[g]), And(some[g], *(moves(g, of) for of in ledger))) for g in log),
            Implies(looks, any_of(deletes.values())),
            Implies(compacts, any_of(deletes.values())),
        )

    @suite.step
    def caches_are_written_whole() -> Condition:
        """The write cache has what was added since the last save, or what replay has added. A save writes all of it to the
        current log, and nothing else goes there but what a compaction copies."""
        replay = Replay(Journal(p), Saved(p), Journal(p).mark)
        collected = n.collections > s.collections if settings["collections"] else False
        ends = And(s.stage != "down", n.stage == "down")

        def comes(of: int, e: int) -> Condition:
            """The entry is accepted, of the writer or of a recovery."""
            answers = ((s.added, n.added), (s.recovered, n.recovered))
            return any_of(And(b[of, e] == "none", a[of, e].among("accepted", "acknowledged")) for b, a in answers)

        def follows(of: int) -> Condition:
            goes_on = And(*(n.cached[of].has(e) == Or(s.cached[of].has(e), comes(of, e)) for e in entry))
            empties = Or(saves, ends, And(collected, n.stored[of].is_empty))
            cache = If(boots, n.cached[of] == replay.added(of), If(empties, n.cached[of].is_empty, goes_on))
            grown = {g: s.copies[g, of] | If(saves, s.cached[of], nothing) for g in log}
            written = [Implies(s.current == g, n.copies[g, of] == grown[g]) for g in log]
            return And(cache, Or(compacts, And(*written)))

        return all_of(follows(of) for of in ledger)

    @suite.step
    def only_logs_that_are_not_written_are_deleted() -> Condition:
        """A log is deleted when another is written, by the collector or a compaction, one at a time; it never comes back."""

        def follows(g: int) -> Condition:
            others = all_of(n.deleted[other] == s.deleted[other] for other in log if other != g)
            goes = And(s.stage == "up", g < s.current, others, Or(looks, compacts))
            return And(Implies(s.deleted[g], n.deleted[g]), Implies(And(n.deleted[g], Not(s.deleted[g])), goes))

        return all_of(follows(g) for g in log)

    @suite.step
    def logs_are_written_at_their_end() -> Condition:
        """Entries go to the current log alone, and stay in a file; a log gets its map as the next one begins, while the bookie
        serves."""

        def follows(g: int) -> Condition:
            grows = any_of(n.copies[g, of] != s.copies[g, of] for of in ledger)
            kept = all_of((s.copies[g, of] & ~n.copies[g, of]).is_empty for of in ledger)
            rotates = And(s.stage == "up", n.current == s.current + 1, s.current == g)
            gets_map = And(n.mapped[g], Not(s.mapped[g]))
            is_rotation = n.rotations > s.rotations
            some = any_of(Not(s.copies[g, of].is_empty) for of in ledger)
            return And(kept, Implies(grows, s.current == g), gets_map == And(is_rotation, rotates), Implies(gets_map, some))

        begins = Or(n.rotations > s.rotations, And(s.stage == "down", n.stage == "replayed"))
        goes_on = Or(And(begins, n.current == s.current + 1), And(Not(begins), n.current == s.current))
        return And(goes_on, *(follows(g) for g in log))

    if p.parameters["collector_looks"]:

        @suite.sometimes
        def a_log_is_collected() -> Condition:
            """The collector has deleted the log before the current one, with all that it had."""

            def is_gone(g: int) -> Condition:
                return And(s.deleted[g], s.current == g + 1, any_of(Not(s.copies[g, of].is_empty) for of in ledger))

            return any_of(is_gone(g) for g in log)

    if p.parameters["compactions"]:

        @suite.sometimes
        def a_log_is_compacted() -> Condition:
            """The bookie has an entry whose first log is deleted."""
            moved = any_of(And(s.stored[of].has(e), s.copies[0, of].has(e)) for of in ledger for e in entry)
            return And(s.compactions > 0, s.deleted[0], moved)

        @suite.sometimes
        def a_log_of_a_process_before_is_compacted() -> Condition:
            """A bookie that was started again, and has had no request for a ledger, has compacted what it has of it."""
            known_from_disk = any_of(And(Not(s.key_logged[of]), s.saved[of].has(e)) for of in ledger for e in entry)
            return And(s.compactions > 0, s.rotations == 0, s.stage == "up", known_from_disk)

        @suite.sometimes
        def what_was_compacted_is_replayed() -> Condition:
            """A bookie runs again on a log to which a compaction has copied all that it has saved."""
            moved = any_of(And(logs.copies[0, of].has(e), s.saved[of].has(e)) for of in ledger for e in entry)
            return And(s.compactions > 0, s.stage == "replayed", s.deleted[0], moved)

    if p.parameters["rebuilds"]:

        @suite.step
        def a_rebuild_finds_what_was_saved() -> Condition:
            """The index that is made again of the logs names all that it named before, and all that they have of the ledgers
            that the bookie knows."""
            rebuilt = n.rebuilds > s.rebuilds
            named = {of: If(s.saved_key[of], logs.found(of), s.saved[of]) for of in ledger}
            whole = [And((s.saved[of] & ~n.saved[of]).is_empty, n.saved[of] == named[of]) for of in ledger]
            return Implies(rebuilt, And(s.stage == "down", n.stage == "down", *whole))

        @suite.sometimes
        def an_index_is_rebuilt() -> Condition:
            """A bookie serves on an index that was made again."""
            return And(s.rebuilds > 0, s.stage == "up", any_of(Not(s.saved[of].is_empty) for of in ledger))
