"""Where a bookie keeps a fence, and how it comes to lose one that it has answered for.

Mirrors LedgerDescriptorImpl.fenceAndLogInJournal, Journal, SyncThread and the ledger storages of bookkeeper-server, as far as
the ledger sees them: a fence is journaled before it is answered, so that a restart brings it back. Here is what each bug
of a bookie and its disk comes to for one ledger.

Nothing of this is a variable of an instance without these bugs, or without crashes. Of checkpoints only those are steps
that harm; others may come at any time, and one right before a fence is why the next finds nothing to save.
"""

from __future__ import annotations

from typing import Any

from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.language import And, If, Not, Protocol

ON_EVERY_STORAGE = ("denies_before_fence_is_journaled", "master_key_with_entries_only")
ON_DB = ("idle_checkpoint_skips_index",)
ON_OTHERS = ("idle_flush_skips_headers",)
RECORDS = ("as_it_should", "index", "lost")
"""What the disk has of a fence: as it should be, a record that a boot replays; the ledger index; or nothing."""


class Fences:
    """What becomes of the record of a bookie's fence, as updates for the steps of bookies and recoveries."""

    def __init__(self, p: Protocol, s: LedgerState) -> None:
        bookie, fenced, stored = s.bookie, s.fenced, s.stored
        self._fenced, self._limbo = fenced, s.limbo if p.parameters["data_integrity"] else None
        self._record = None
        in_memory = p.has("deleted_fence_in_memory") and p.budgets["crashes"]
        self._loaded: Any = p.flag("loaded", per=bookie, init=True) if in_memory else None
        losing = [*ON_EVERY_STORAGE, *(ON_DB if p.parameters["storage"] == "db" else ON_OTHERS)]
        if not (p.budgets["crashes"] and any(map(p.has, losing))):
            return
        record = self._record = p.choice("fence_record", RECORDS, per=bookie)

        def unless_fenced(b: int, value: Any) -> dict[Any, Any]:
            return {record[b]: If(fenced[b], record[b], value)}

        @p.rule
        def after_fencing(b: int, denies: Any) -> dict[Any, Any]:
            """A fence is journaled before the request that brought it is answered, whatever the answer."""
            return {}

        @p.rule
        def after_entry(b: int) -> dict[Any, Any]:
            """What an entry that is written after the fence does for it: nothing is needed."""
            return {}

        @p.rule
        def after_boot(b: int) -> dict[Any, Any]:
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
        def journal_fence(b: int) -> Any:
            """The fence reaches the journal, after the denial that told of it."""
            return And(s.up[b], fenced[b], record[b] == "lost"), {record[b]: "as_it_should"}

        @p.step(
            by="b",
            takes="checkpoint",
            b=bookie,
            only_if="idle_checkpoint_skips_index" in losing and p.has("idle_checkpoint_skips_index"),
            mirrors="SingleDirectoryDbLedgerStorage.checkpoint, SyncThread.checkpoint, Journal.checkpointComplete",
        )
        def idle_checkpoint(b: int) -> Any:
            """A checkpoint, or a stop, finds no entry to save: it leaves the index out, and the log mark passes the fence.

            What the index has of limbo is left out as well.
            """
            return And(s.up[b], in_journal[b]), {record[b]: "lost"}

        self._after_fencing, self._after_entry, self._after_boot = after_fencing, after_entry, after_boot

    def after_fencing(self, b: int, denies: Any) -> dict[Any, Any]:
        """A request has fenced the ledger; ``denies``: the formula that it is answered with NoSuchEntry or NoSuchLedger."""
        return self._loads(b) | ({} if self._record is None else self._after_fencing(b, denies))

    def after_entry(self, b: int) -> dict[Any, Any]:
        """An entry of the ledger has been stored."""
        return self._loads(b) | ({} if self._record is None else self._after_entry(b))

    def after_deletion(self, b: int) -> dict[Any, Any]:
        """Of a deleted ledger only a fence in memory is remembered (HandleFactoryImpl.markIfConflictWritingOccurs)."""
        return {} if self._loaded is None else {self._fenced[b]: And(self._fenced[b], self._loaded[b])}

    def _loads(self, b: int) -> dict[Any, Any]:
        """A request of a client has the descriptor of the ledger in memory (HandleFactoryImpl.getHandle)."""
        return {} if self._loaded is None else {self._loaded[b]: True}

    def after_boot(self, b: int) -> dict[Any, Any]:
        """The bookie is back: the journal has been replayed, and the log mark has moved to its end."""
        return {} if self._record is None else self._after_boot(b)

    def after_crash(self, b: int) -> dict[Any, Any]:
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
