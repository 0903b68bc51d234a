"""The bugs of bookies that can be switched on, and the storages that some of them are of."""

from __future__ import annotations

STORAGES = ("db", "sorted", "interleaved")

BUGS = {
    "idle_checkpoint_skips_index": "bookkeeper#4843: a checkpoint whose write cache is empty does not save the ledger index, "
    "and the log mark moves past the fence (DbLedgerStorage)",
    "idle_flush_skips_headers": "a boot or a stop after which nothing was written saves no header, and the log mark moves past "
    "the fence (SortedLedgerStorage, InterleavedLedgerStorage)",
    "headers_without_pages_not_saved": "headers are saved only of ledgers with an index page in memory, and the log mark moves "
    "past the fences of the others (SortedLedgerStorage, InterleavedLedgerStorage)",
    "denies_before_fence_is_journaled": "NoSuchEntry and NoSuchLedger are answered before the fence is journaled",
    "master_key_with_entries_only": "only an entry journals the master key: replay skips the fence, or the explicit last add "
    "confirmed, of a ledger that the bookie had never seen",
    "second_fence_not_awaited": "bookkeeper#208: a second fencing read is answered while the fence is not journaled",
    "fence_not_journaled": "BOOKKEEPER-500: a fence is not journaled",
    "fence_checked_apart": "bookkeeper#4701: two descriptors of one ledger: an add finds no fence, and goes in after it",
    "key_record_after_entry": "bookkeeper#4701: two descriptors of one ledger: an entry is journaled before the master key, "
    "and replay skips it",
    "denies_what_it_has": "bookkeeper#2908: NoSuchEntry is answered for an entry whose bytes are not all in the file yet",
    "explicit_lac_in_memory": "bookkeeper#1527, #1533: an explicit last add confirmed is neither journaled nor saved",
    "explicit_lac_not_indexed": "bookkeeper#2474: DbLedgerStorage does not save the explicit last add confirmed, and the log "
    "mark moves past it",
    "failed_save_forgotten": "a checkpoint whose flush fails has swapped the write caches: a later one does not save what "
    "the first left, and moves the log mark past it (DbLedgerStorage)",
    "index_update_forgotten": "an update of the index of ledgers that cannot be written is off its queue: a later checkpoint "
    "does not write it, and moves the log mark past the fence or the master key (DbLedgerStorage)",
    "key_of_collected_ledger_kept": "bookkeeper#3522: the process takes the master key of a collected ledger for logged: "
    "replay skips what comes back of the ledger",
    "returned_entries_deleted": "the save that deletes a collected ledger deletes what has come back of it, too "
    "(DbLedgerStorage)",
    "log_header_has_remains": "bookkeeper#4607: the header of a new entry log has remains of memory: after a kill the "
    "collector reads that it has no ledgers, and deletes it (DbLedgerStorage)",
    "mark_goes_back": "bookkeeper#4740, #4105: of two checkpoints the older one is done last, and the log mark goes back to "
    "where the journal is deleted",
    "checkpoints_compared_by_first_journal": "bookkeeper#4844: of two checkpoints over two journals the one that is later "
    "in the first counts as the later one: the other's save is skipped, and the second's mark moves past what is not saved",
    "one_directory_marks_for_all": "bookkeeper#3329: a directory whose write cache is full moves the log mark past what other "
    "directories have not saved",
}
