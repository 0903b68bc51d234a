"""The bugs of auto-recovery that can be switched on."""

from __future__ import annotations

BUGS = {
    "target_is_a_member": "the compare-and-set of an ensemble does not look whether the new bookie is there already: one "
    "bookie has two places",
    "target_not_asked_again": "between its acknowledgement and the compare-and-set nobody looks whether a new bookie is still "
    "there",
    "collector_trusts_the_lock": "the collector of over-replicated ledgers takes a free lock for a sign that nobody copies: "
    "recover takes none, and a worker may have lost its own",
    "collected_is_refused": "bookkeeper#4668: a bookie that has deleted a surplus copy refuses to store the ledger again "
    "until it is restarted",
    "deletes_lock_of_successor": "a worker whose session is gone deletes the lock by its path, whoever has it now",
    "audit_not_repeated": "an audit that fails is over: the auditor takes a lost bookie off those that it knows before it has "
    "published its ledgers",
    "return_unseen": "a bookie that returns, and goes again before the auditor has heard of the return, counts as audited",
    "lost_before_the_auditor": "bookkeeper#4419: a new auditor knows the bookies that are up; if its first check is skipped, "
    "nobody has heard of those that are away",
    "listed_replica_is_no_news": "a bookie that the task lists already is marked again without a new version of the task: the "
    "worker that checked before deletes the task",
    "task_deleted_without_lock": "a worker whose session is gone deletes a task that was created again since: its version "
    "begins at 0 again",
    "checker_reads_ends_only": "the checker reads the first and the last entry of a fragment only, and misses a gap between "
    "them",
    "checker_ignores_digest": "the checker takes a copy for good whose digest is wrong",
    "refill_ignores_digest": "a bookie that gets its entries back stores a copy whose digest is wrong",
    "refill_by_boot_metadata": "a bookie that gets its entries back asks whom the metadata named as it booted, until it is "
    "restarted",
    "handle_keeps_its_ensemble": "bookkeeper#4613: a handle of a closed ledger does not hear that its bookies were replaced: "
    "in the end all that it knows are gone",
    "open_fragment_replicated": "a fragment that the writer still adds to is replicated: the compare-and-set does not look at "
    "the state",
    "replaced_before_copy": "a bookie is replaced in the metadata before every entry is copied",
    "collector_takes_no_lock": "the collector of over-replicated ledgers does not take the ledger's lock",
    "task_deleted_blindly": "a worker deletes the task whatever its version",
}
