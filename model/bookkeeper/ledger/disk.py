"""What a bookie has on its disk of one ledger, and what bugs of its storage take away: fences, saves and the write cache.

Mirrors LedgerDescriptorImpl.fenceAndLogInJournal, Journal, SyncThread, BookieImpl.readJournal and the ledger storages of
bookkeeper-server, as far as the ledger sees them. The protocol ``bookie`` has the disk itself; here is what each of its bugs
comes to for one ledger.

Nothing of this is a variable of an instance without these bugs, or without the faults that show them. Of checkpoints only those
are steps that harm; others may come at any time.
"""

from __future__ import annotations

from typing import Literal, get_args

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import (
    ABSENT,
    And,
    Condition,
    Family,
    If,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Subset,
    Truth,
    Updates,
    any_of,
    maximum,
)

ON_EVERY_STORAGE = ("denies_before_fence_is_journaled", "master_key_with_entries_only")
ON_DB = ("idle_checkpoint_skips_index",)
ON_OTHERS = ("idle_flush_skips_headers",)
FenceRecord = Literal["as_it_should", "index", "lost"]
RECORDS: tuple[FenceRecord, ...] = get_args(FenceRecord)
"""What the disk has of a fence: as it should be, a record that a boot replays; the ledger index; or nothing."""
FORGETS_SAVES = "failed_save_forgotten"
LOOKS_IN_CACHE = "last_entry_of_the_write_cache"


class Fences:
    """What becomes of the record of a bookie's fence, as updates for the steps of bookies and recoveries.

    A fence is journaled before it is answered, so that a restart brings it back. One right before a checkpoint is why the next
    finds nothing to save.
    """

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        bookie, fenced, stored = s.bookie, s.fenced, s.stored
        self._fenced, self._limbo = fenced, s.limbo if p.parameters["data_integrity"] else None
        self._record = None
        in_memory = p.has("deleted_fence_in_memory") and p.budgets["crashes"]
        self._loaded: Family[Condition] = p.flag("loaded", per=bookie, init=True) if in_memory else ABSENT
        losing = [*ON_EVERY_STORAGE, *(ON_DB if p.parameters["storage"] == "db" else ON_OTHERS)]
        if not (p.budgets["crashes"] and any(map(p.has, losing))):
            return
        record = self._record = p.choice("fence_record", RECORDS, per=bookie)

        def unless_fenced(b: int, value: object) -> Updates:
            return {record[b]: If(fenced[b], record[b], value)}

        @p.rule
        def after_fencing(b: int, denies: Truth) -> Updates:
            """A fence is journaled before the request that brought it is answered, whatever the answer."""
            return {}

        @p.rule
        def after_entry(b: int) -> Updates:
            """What an entry that is written after the fence does for it: nothing is needed."""
            return {}

        @p.rule
        def after_boot(b: int) -> Updates:
            """Boot saves what it has replayed before the log mark moves on."""
            return {}

        after_fencing.instead(
            "denies_before_fence_is_journaled",
            lambda b, denies: {record[b]: If(denies, If(fenced[b], record[b], "lost"), "as_it_should")},
        )
        # Replay skips the fence of a ledger whose master key it has not met yet; only entries journal the key, and later ones
        # are replayed later.
        after_fencing.instead(
            "master_key_with_entries_only",
            lambda b, denies: unless_fenced(b, If(stored[b].is_empty, "lost", "as_it_should")),
        )
        in_journal = bookie.each(lambda b: And(fenced[b], record[b] == "as_it_should"))
        if "idle_flush_skips_headers" in losing:
            after_boot.instead(
                "idle_flush_skips_headers",
                lambda b: {record[b]: If(And(in_journal[b], Not(stored[b].is_empty)), "lost", record[b])},
            )
            after_entry.instead("idle_flush_skips_headers", lambda b: {record[b]: If(in_journal[b], "index", record[b])})

        @p.step(
            by="b",
            takes="journal",
            b=bookie,
            fair=True,
            only_if=p.has("denies_before_fence_is_journaled"),
            mirrors="Journal.ForceWriteThread.syncJournal, LedgerDescriptorImpl.logFenceEntryInJournal",
        )
        def journal_fence(b: int) -> Outcome:
            """The fence reaches the journal, after the denial that told of it."""
            return And(s.up[b], fenced[b], record[b] == "lost"), {record[b]: "as_it_should"}

        @p.step(
            by="b",
            takes="checkpoint",
            b=bookie,
            only_if="idle_checkpoint_skips_index" in losing and p.has("idle_checkpoint_skips_index"),
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint, Journal.checkpointComplete",
        )
        def idle_checkpoint(b: int) -> Outcome:
            """A checkpoint, or a stop, finds no entry to save: it leaves the index out, and the log mark passes the fence.

            What the index has of limbo is left out as well.
            """
            return And(s.up[b], in_journal[b]), {record[b]: "lost"}

        self._after_fencing, self._after_entry, self._after_boot = after_fencing, after_entry, after_boot

    def after_fencing(self, b: int, denies: Truth) -> Updates:
        """A request has fenced the ledger; ``denies``: the formula that it is answered with NoSuchEntry or NoSuchLedger."""
        return self._loads(b) | ({} if self._record is None else self._after_fencing(b, denies))

    def after_entry(self, b: int) -> Updates:
        """An entry of the ledger has been stored."""
        return self._loads(b) | ({} if self._record is None else self._after_entry(b))

    def after_deletion(self, b: int) -> Updates:
        """Of a deleted ledger only a fence in memory is remembered (HandleFactoryImpl.markIfConflictWritingOccurs)."""
        return {} if self._loaded is None else {self._fenced[b]: And(self._fenced[b], self._loaded[b])}

    def _loads(self, b: int) -> Updates:
        """A request of a client has the descriptor of the ledger in memory (HandleFactoryImpl.getHandle)."""
        return {} if self._loaded is None else {self._loaded[b]: True}

    def after_boot(self, b: int) -> Updates:
        """The bookie is back: the journal has been replayed, and the log mark has moved to its end."""
        return {} if self._record is None else self._after_boot(b)

    def after_crash(self, b: int) -> Updates:
        """The process has ended: a fence without a record is gone, and the limbo that came with it."""
        unloaded = {} if self._loaded is None else {self._loaded[b]: False}
        if self._record is None:
            return unloaded
        gone = self._record[b] == "lost"
        # Limbo is in the index only, like the fence of a boot (DataIntegrityCheckImpl.runPreBootSequence).
        silent = {} if self._limbo is None else {self._limbo[b]: And(self._limbo[b], Not(gone))}
        return {
            **silent,
            self._fenced[b]: And(self._fenced[b], Not(gone)),
            self._record[b]: If(gone, "as_it_should", self._record[b]),
            **unloaded,
        }


class Saves:
    """The entries that a failed flush has left unsaved, as updates for the steps of bookies and recoveries.

    A flush that fails leaves its entries in memory and in the journal: they are read, and a boot replays them. With the bug a
    later checkpoint saves other entries, or none, and moves the log mark past these: the next boot does not have them. A flush
    that fails has all that the bookie has stored since its boot, which saved what there was: a checkpoint before it would leave
    less to lose.
    """

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        self._s = s
        bookie = s.bookie
        forgets = p.has(FORGETS_SAVES) and p.budgets["failed_saves"]
        left: Family[Subset] = p.subset("left", s.entry, per=bookie) if forgets else ABSENT
        passed: Family[Condition] = p.flag("mark_passed_left", per=bookie) if forgets else ABSENT
        on_disk: Family[Subset] = p.subset("on_disk", s.entry, per=bookie) if forgets and p.budgets["crashes"] else ABSENT
        self._left, self._passed, self._on_disk = left, passed, on_disk

        def unsaved(b: int) -> Subset:
            return s.stored[b] if on_disk is None else s.stored[b] & ~on_disk[b]

        @p.rule
        def after_failure(b: int) -> Updates:
            """What a flush that has failed changes: nothing. The next one saves what this one had to."""
            return {}

        if forgets:
            after_failure.instead(FORGETS_SAVES, lambda b: {left[b]: If(left[b].is_empty, unsaved(b), left[b])})

        @p.fault(
            by="b",
            takes="failed_flushes",
            spends="failed_saves",
            b=bookie,
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint",
        )
        def fail_to_save(b: int) -> Outcome:
            """A flush of the bookie's storage fails, as on a full disk: IOException. The log mark stays."""
            return And(s.up[b], Not(s.stored[b].is_empty)), after_failure(b)

        @p.step(
            by="b",
            takes="checkpoint",
            b=bookie,
            only_if=forgets,
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint, Journal.checkpointComplete",
        )
        def pass_over(b: int) -> Outcome:
            """A later checkpoint, or a clean stop, does not save what was left, and the log mark passes it."""
            return And(s.up[b], Not(left[b].is_empty), Not(passed[b])), {passed[b]: True}

    def after_entry(self, b: int, e: Number | int) -> Updates:
        """An entry has been stored: it is in the cache that the next flush saves, and in the journal after the log mark."""
        return {} if self._left is None else {self._left[b]: self._left[b].minus(e)}

    def after_boot(self, b: int) -> Updates:
        """The bookie is back: what it has replayed is saved."""
        return {} if self._on_disk is None else {self._on_disk[b]: self._s.stored[b]}

    def after_crash(self, b: int) -> Updates:
        """The process has ended: what neither a file nor the journal past the log mark has is gone."""
        if self._left is None:
            return {}
        s, lost = self._s, self._passed[b]
        stored = If(lost, s.stored[b] & ~self._left[b], s.stored[b])
        return {
            s.stored[b]: stored,
            s.rotten[b]: s.rotten[b] & stored,
            s.bookie_lac[b]: If(lost, self._lac_of(stored), s.bookie_lac[b]),
            **self.after_loss(b),
        }

    def after_loss(self, b: int) -> Updates:
        """The bookie begins with other files: nothing of a failed flush is left."""
        if self._left is None:
            return {}
        return {self._left[b]: (), self._passed[b]: False, **({} if self._on_disk is None else {self._on_disk[b]: ()})}

    def _lac_of(self, stored: Subset) -> Number:
        s = self._s
        return maximum(-1, *(If(stored.has(e), s.piggybacked_lac[e], -1) for e in s.entry))


class WriteCache:
    """What entries that are stored, and a process that ends, make of a bookie's last add confirmed: updates for the steps.

    A bookie answers with that of its last entry. With the bug it looks for its last entry in its write cache first. After a
    checkpoint that has only what was written since, such as an earlier entry that a recovery writes back.
    """

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        self._s = s
        looks_there = p.has(LOOKS_IN_CACHE) and p.parameters["storage"] == "db"
        cached: Family[Subset] = p.subset("cached", s.entry, per=s.bookie) if looks_there else ABSENT
        last_lac: Family[Number] = p.number("last_lac", -1, s.entries - 1, per=s.bookie) if looks_there else ABSENT
        self._cached, self._last_lac = cached, last_lac

        @p.step(
            by="b",
            takes="checkpoint",
            b=s.bookie,
            only_if=looks_there,
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SingleDirectoryDbLedgerStorage.getLastEntry",
        )
        def empty_cache(b: int) -> Outcome:
            """A checkpoint saves what is in the write cache: now the last entry is that of the index."""
            return And(s.up[b], Not(cached[b].is_empty)), {cached[b]: (), s.bookie_lac[b]: last_lac[b]}

    def _lac_after(self, b: int, e: Number | int, piggybacked_lac: Number | int) -> Number:
        if self._cached is None:
            return self._s.lac_after(b, e, piggybacked_lac)
        has_later = any_of(And(self._cached[b].has(later), later > e) for later in self._s.entry)
        return If(has_later, self._s.bookie_lac[b], piggybacked_lac)

    def is_news(self, b: int, e: int, piggybacked_lac: int) -> Condition:
        """Something changes as the bookie stores an entry once more."""
        rises = self._s.bookie_lac[b] < self._lac_after(b, e, piggybacked_lac)
        return rises if self._cached is None else Or(rises, Not(self._cached[b].has(e)))

    def after_entry(self, b: int, e: Number | int, piggybacked_lac: Number | int) -> Updates:
        """An entry has been stored, with the last add confirmed that it carries."""
        updates: Updates = {self._s.bookie_lac[b]: self._lac_after(b, e, piggybacked_lac)}
        if self._cached is not None:
            updates[self._cached[b]] = self._cached[b].plus(e)
            updates[self._last_lac[b]] = If(self._s.has_later(b, e), self._last_lac[b], piggybacked_lac)
        return updates

    def on_disk(self, b: int, updates: Updates) -> Updates:
        """These updates, after which there is nothing in the cache: the process has ended, or has other files."""
        if self._cached is None:
            return updates
        lac = updates.get(self._s.bookie_lac[b], self._last_lac[b])
        return {**updates, self._cached[b]: (), self._s.bookie_lac[b]: lac, self._last_lac[b]: lac}
