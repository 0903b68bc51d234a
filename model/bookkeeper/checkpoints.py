"""The checkpoints of a bookie: what is saved, and where the log mark goes.

Mirrors SyncThread, Journal.checkpointComplete, and what SingleDirectoryDbLedgerStorage, SortedLedgerStorage and
InterleavedLedgerStorage save, of bookkeeper-server 4.17.3 and 4.18.0.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.bookkeeper.entry_logs import EntryLogs, are_modelled
from fencepost.model.bookkeeper.journal import Journal, Saved
from fencepost.model.language import (
    And,
    Condition,
    If,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Subset,
    Truth,
    Updates,
    maximum,
)

SYNC = 0
"""The flusher that is SyncThread."""


def positions_taken(p: Protocol, f: int) -> list[Number]:
    """How far each journal was when a flusher took its checkpoint."""
    taken = p.state.taken
    return [taken[f, j] for j in p.universes["journal"]] if p.parameters["journals"] > 1 else [taken[f]]


def checkpoints(
    p: Protocol, journal: Journal, saved: Saved, is_known: Callable[[int], Condition]
) -> tuple[Callable[[int], list[Number]], Callable[[], Updates]]:
    """Declares the steps of checkpoints in a protocol with the variables of ``bookie``, and a storage that knows ledgers.

    Returns where each leaves the mark of every journal, and what a storage that shuts down saves after the last of them.
    """
    s = BookieVariables.now(p)
    ledger, directory, flusher = (p.universes[name] for name in ("ledger", "directory", "flusher"))
    stored, fenced, explicit_lac, dirty = s.stored, s.fenced, s.explicit_lac, s.dirty
    checkpoint, several = s.checkpoint, journal.number > 1
    taken = {f: positions_taken(p, f) for f in flusher}
    storage: str = p.parameters["storage"]
    on_db = storage == "db"
    up = s.stage == "up"

    @p.rule
    def saves_index(d: int) -> bool:
        """Saving a directory saves its ledger index too: master keys, fences, explicit last adds confirmed."""
        return True

    @p.rule
    def saves_header(of: int) -> bool:
        """Saving the index saves what it has of this ledger."""
        return True

    @p.rule
    def mark_moves() -> bool:
        """What one directory saved because its cache was full moves the mark: it is the only one."""
        return directory.size == 1

    @p.rule
    def mark_after(f: int) -> list[Number]:
        """The log marks once a checkpoint is done: none goes back, whichever of several checkpoints is done last."""
        return [maximum(mark, position) for mark, position in zip(journal.mark, taken[f], strict=True)]

    @p.rule
    def is_covered(f: int) -> bool:
        """What the checkpoint is to save, a later one has saved: that is left open, and it saves all there is."""
        return False

    @p.rule
    def lac_saved(of: int) -> Number:
        """What saving the ledger index makes of the explicit last add confirmed."""
        return explicit_lac[of]

    if on_db:
        saves_index.instead("idle_checkpoint_skips_index", lambda d: dirty[d])
    else:
        saves_index.instead("idle_flush_skips_headers", lambda d: Or(up, dirty[d]))
        saves_header.instead("headers_without_pages_not_saved", lambda of: s.paged[of])
    forgets_updates = p.has("index_update_forgotten") and p.parameters["failed_index_saves"] > 0
    if forgets_updates:
        saves_header.instead("index_update_forgotten", lambda of: Not(s.unqueued[of]))
    mark_moves.instead("one_directory_marks_for_all", lambda: True)
    mark_after.instead("mark_goes_back", lambda f: taken[f])

    by_first = several and p.has("checkpoints_compared_by_first_journal")
    if by_first:
        # CheckpointSourceList.CheckpointList.compareTo: lexicographic, as if one of two checkpoints always had all of the other
        (first, second), last = (0, 1), s.latest
        is_covered.instead(
            "checkpoints_compared_by_first_journal",
            lambda f: Or(last[first] > taken[f][first], And(last[first] == taken[f][first], last[second] > taken[f][second])),
        )

    lac_saved.instead("explicit_lac_in_memory", lambda of: saved.lac[of])
    lac_saved.instead("explicit_lac_not_indexed", lambda of: saved.lac[of])

    @p.rule
    def entries_saved(of: int) -> Subset:
        """The entries that a save writes: all that are in memory."""
        return stored[of]

    @p.rule
    def cache_after(d: int) -> Updates:
        """What is in the write cache of a directory once it is saved: nothing.

        Sorted and interleaved storages forget that something was written only when the process starts or ends.
        """
        return {dirty[d]: False if on_db else And(dirty[d], up)}

    @p.rule
    def cache_after_failure(d: int) -> Updates:
        """What is in the write cache of a directory whose save has failed: all that was, to be saved by the next."""
        return {}

    if on_db and p.has("failed_save_forgotten"):
        left, spare = s.left, s.spare

        def swaps(d: int) -> Truth:
            """A save swaps the caches, but not where it returns at once because the active one is empty (4.15.1 and later)."""
            return dirty[d] if p.has("idle_checkpoint_skips_index") else True

        def swapped_again(d: int) -> Updates:
            """The next swap makes the cache that was left the active one."""
            kept = {left[of]: If(swaps(d), (), left[of]) for of in ledger}
            return {dirty[d]: And(swaps(d), spare[d]), spare[d]: And(spare[d], Not(swaps(d))), **kept}

        def left_behind(d: int) -> Updates:
            """The caches have been swapped: what was to be saved is in the one being flushed, which nobody looks at."""
            unsaved = {left[of]: stored[of] & ~saved.entries[of] & ~left[of] for of in ledger}
            return {dirty[d]: spare[d], spare[d]: dirty[d], **unsaved}

        entries_saved.instead("failed_save_forgotten", lambda of: saved.entries[of] | (stored[of] & ~left[of]))
        cache_after.instead("failed_save_forgotten", swapped_again)
        cache_after_failure.instead("failed_save_forgotten", left_behind)

    logs = EntryLogs(p) if are_modelled(p.parameters) else None
    collects = on_db and p.parameters["collections"] > 0

    @p.rule
    def returned(of: int) -> Subset:
        """What is stored, once a save has deleted a collected ledger: all that has come back since."""
        return stored[of]

    @p.rule
    def written(of: int) -> Subset:
        """What a save writes of a ledger to the current entry log: what the write cache has of it."""
        return s.cached[of]

    @p.rule
    def undeleted_after(of: int) -> Condition | bool:
        """Whether a save leaves a collected ledger to the next one."""
        return False

    def none_of(of: int) -> Subset:
        return p.universes["entry"].where(lambda _: False)

    # WriteCache.deletedLedgers is cleared with the cache that has it, so not by a save that returns because that one is empty.
    returned.instead("returned_entries_deleted", none_of)
    written.instead(
        "returned_entries_deleted", lambda of: If(s.undeleted[of], none_of(of), s.cached[of]) if collects else s.cached[of]
    )
    if p.has("idle_checkpoint_skips_index"):
        undeleted_after.instead("returned_entries_deleted", lambda of: Not(dirty[of % directory.size]))

    def deletes(of: int, header: Condition) -> Updates:
        """A save deletes a collected ledger, unless the index knows it again; what is written then replaces what was there."""
        known = is_known(of)
        return {
            s.undeleted[of]: undeleted_after(of),
            stored[of]: returned(of),
            saved.entries[of]: returned(of),
            saved.key[of]: And(known, Or(saved.key[of], header)),
            saved.fence[of]: And(known, If(header, fenced[of], saved.fence[of])),
            saved.lac[of]: If(known, If(header, lac_saved(of), saved.lac[of]), 0),
        }

    def saves(d: int) -> Updates:
        """What the storage has in memory of a directory's ledgers goes to its disk."""
        updates: Updates = dict(cache_after(d))
        for of in ledger:
            if of % directory.size == d:
                header = And(saves_index(d), saves_header(of))
                saving: Updates = {
                    saved.entries[of]: entries_saved(of),
                    saved.key[of]: Or(saved.key[of], And(header, is_known(of))),
                    saved.fence[of]: Or(saved.fence[of], And(header, fenced[of])),
                    saved.lac[of]: If(header, lac_saved(of), saved.lac[of]),
                }
                if collects:
                    deleting = deletes(of, header).items()
                    saving = {each: If(s.undeleted[of], value, saving.get(each, each)) for each, value in deleting}
                if logs is not None:
                    saving |= {**logs.writes(of, written(of)), s.cached[of]: ()}
                updates |= saving
        return updates

    @p.rule
    def saved_at_the_end() -> Updates:
        """What DbLedgerStorage saves as it shuts down, after the save of SyncThread: nothing, since that has saved all."""
        return {}

    # What the failed save has left is active again after the save of SyncThread, and is not lost (SingleDirectoryDb-
    # LedgerStorage.shutdown).
    saved_at_the_end.instead("failed_save_forgotten", lambda: saves(0) if on_db else {})

    def begun(f: int) -> Updates:
        return {checkpoint[f]: "begun" if several else "taken", taken[f][0]: journal.synced[0]}

    @p.step(by="sync", mirrors="SyncThread.doCheckpoint, Journal.newCheckpoint")
    def take_checkpoint() -> Outcome:
        """A checkpoint begins, and remembers how far the journal is synced: all that has been in memory before.

        DbLedgerStorage has one from time to time; the others have one when an entry log or a memtable is full.
        """
        due = True if on_db else dirty[0]
        return And(up, due, checkpoint[SYNC] == "none"), begun(SYNC)

    @p.step(
        by="f",
        spends="full_caches",
        mirrors="SingleDirectoryDbLedgerStorage.triggerFlushAndAddEntry, SingleDirectoryDbLedgerStorage.flush",
        f=flusher,
        only_if=lambda f: f != SYNC,
    )
    def fill_cache(f: int) -> Outcome:
        """The write cache of a directory is full: the directory saves itself."""
        return And(up, dirty[f - 1], checkpoint[f] == "none"), begun(f)

    @p.step(by="f", mirrors="CheckpointSourceList.newCheckpoint", fair=True, f=flusher, only_if=several)
    def read_second_journal(f: int) -> Outcome:
        """A checkpoint reads how far the second journal is, some time after the first."""
        return And(up, checkpoint[f] == "begun"), {checkpoint[f]: "taken", taken[f][-1]: journal.synced[-1]}

    saved_by = {
        "db": "SingleDirectoryDbLedgerStorage.checkpoint, SingleDirectoryDbLedgerStorage.flush",
        "sorted": "SortedLedgerStorage.checkpoint, SortedLedgerStorage.flush",
        "interleaved": "InterleavedLedgerStorage.checkpoint, InterleavedLedgerStorage.flush",
    }

    @p.step(
        by="f",
        mirrors=saved_by[storage],
        fair=True,
        f=flusher,
    )
    def save(f: int) -> Outcome:
        """The storage's memory is saved: of all directories, or of the one whose write cache is full."""
        done = {} if not by_first else {s.latest[j]: If(dirty[0], journal.synced[j], s.latest[j]) for j in (0, 1)}
        for d in directory:
            if f in (0, d + 1):
                done |= saves(d)
        skipped = is_covered(f)
        return checkpoint[f] == "taken", {
            checkpoint[f]: "saved",
            **{target: value if skipped is False else If(skipped, target, value) for target, value in done.items()},
        }

    @p.fault(
        by="f",
        mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint",
        spends="failed_saves",
        f=flusher,
    )
    def fail_to_save(f: int) -> Outcome:
        """Writing the entries or their index fails, as on a full disk: IOException. The checkpoint ends, the mark stays."""
        return And(up, checkpoint[f] == "taken", dirty[0]), {
            checkpoint[f]: "none",
            **dict.fromkeys(taken[f], 0),
            **cache_after_failure(0),
        }

    def has_an_update(of: int) -> Condition:
        """The index has one update of the ledger to write that is not written yet: its key, then a fence or a last add."""
        fence, lac = And(fenced[of], Not(saved.fence[of])), explicit_lac[of] == saved.lac[of] + 1
        others = And(Not(fence), explicit_lac[of] == saved.lac[of])
        either = Or(And(fence, explicit_lac[of] == saved.lac[of]), And(Not(fence), lac))
        return And(is_known(of), saves_header(of), If(saved.key[of], either, others))

    @p.rule
    def kept_for_the_next(of: int) -> Updates:
        """What becomes of the update that could not be written: it is written by the next save."""
        return {}

    if forgets_updates:
        kept_for_the_next.instead("index_update_forgotten", lambda of: {s.unqueued[of]: True})

    @p.fault(
        by="f",
        mirrors="LedgerMetadataIndex.flush, SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint",
        spends="failed_index_saves",
        f=flusher,
        of=ledger,
    )
    def fail_to_save_index(f: int, of: int) -> Outcome:
        """The entries are written, and an update of the index of ledgers is not: IOException. The checkpoint ends, the mark
        stays."""
        return And(up, checkpoint[f] == "taken", dirty[0], has_an_update(of)), {
            checkpoint[f]: "none",
            **dict.fromkeys(taken[f], 0),
            **{saved.entries[x]: entries_saved(x) for x in ledger},
            **cache_after_failure(0),
            **kept_for_the_next(of),
        }

    @p.step(by="f", mirrors="Journal.checkpointComplete", fair=True, f=flusher)
    def save_mark(f: int) -> Outcome:
        """The checkpoint is done: the log mark moves to where it was taken, and the journal before the mark is deleted."""
        done: Updates = {checkpoint[f]: "none", **dict.fromkeys(taken[f], 0)}
        if f == SYNC or mark_moves():
            for mark, moved, deleted in zip(journal.mark, mark_after(f), journal.compacted, strict=True):
                done |= {mark: moved, deleted: maximum(deleted, moved)}
        return And(up, checkpoint[f] == "saved"), done

    return mark_after, saved_at_the_end
