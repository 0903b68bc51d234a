"""What must hold of the entry logs of a bookie: nothing that it has is only in a file that is deleted."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.bookkeeper.entry_logs import EntryLogs
from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of
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

    @suite.step
    def only_logs_that_are_not_written_are_deleted() -> Condition:
        """A log is deleted when another is written, by the collector or a compaction, one at a time; it never comes back."""

        def follows(g: int) -> Condition:
            others = all_of(n.deleted[other] == s.deleted[other] for other in log if other != g)
            goes = And(s.stage == "up", g < s.current, others, looks)
            return And(Implies(s.deleted[g], n.deleted[g]), Implies(And(n.deleted[g], Not(s.deleted[g])), goes))

        looks = Or(n.collector_looks > s.collector_looks, n.compactions > s.compactions)
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
            return And(kept, Implies(grows, s.current == g), gets_map == And(is_rotation, rotates))

        begins = Or(n.rotations > s.rotations, And(s.stage == "down", n.stage == "replayed"))
        goes_on = Or(And(begins, n.current == s.current + 1), And(Not(begins), n.current == s.current))
        return And(goes_on, *(follows(g) for g in log))

    if p.parameters["collector_looks"]:

        @suite.sometimes
        def a_log_is_collected() -> Condition:
            """The collector has deleted a log."""
            return s.collector_looks > 0

    if p.parameters["compactions"]:

        @suite.sometimes
        def a_log_is_compacted() -> Condition:
            """The bookie has an entry whose first log is deleted."""
            moved = any_of(And(s.stored[of].has(e), s.copies[0, of].has(e)) for of in ledger for e in entry)
            return And(s.compactions > 0, s.deleted[0], moved)

    if p.parameters["rebuilds"]:

        @suite.step
        def a_rebuild_finds_what_was_saved() -> Condition:
            """The index that is made again of the logs names all that it named before."""
            rebuilt = n.rebuilds > s.rebuilds
            return Implies(rebuilt, And(s.stage == "down", *((s.saved[of] & ~n.saved[of]).is_empty for of in ledger)))

        @suite.sometimes
        def an_index_is_rebuilt() -> Condition:
            """A bookie serves on an index that was made again."""
            return And(s.rebuilds > 0, s.stage == "up", any_of(Not(s.saved[of].is_empty) for of in ledger))
