"""The bugs of the ledger protocol that can be switched on."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie_bugs import BUGS as BOOKIE

BUGS = {
    "recovery_reads_do_not_fence": "bookkeeper#2614: only the read of the last add confirmed fences, reads of entries do not",
    "fence_not_durable": "bookkeeper#208: a fence is acknowledged, and a restart takes it back",
    "recovery_starts_below_last_ensemble": "bookkeeper#2615: recovery begins before the last ensemble, where it cannot "
    "publish a change of ensemble",
    "recovery_ensemble_starts_early": "an ensemble changed in recovery starts one entry too early",
    "confirms_while_changing": "adds are confirmed by the old ensemble while it is being replaced, so that the metadata "
    "and the bookies written differ",
    "no_such_entry_though_stored": "bookkeeper#2908, #2909: a bookie answers NoSuchEntry for an entry that it has",
    "cookie_deleted_after_wipe": "bookkeeper#2612, #4812: a bookie that is back with an empty disk under its old name, "
    "after the operator deleted its cookie, answers as if it had lost nothing",
    "fence_forgotten_on_delete": "bookkeeper#4462: deletion takes the fence along, and a late add is accepted again",
    "explicit_lac_lost": "bookkeeper#1527, #1533, #4843: a restarted bookie has lost the explicit last add confirmed",
    "ignores_fence": "a bookie accepts the writer's adds to a fenced ledger",
    "no_fence_on_unknown_ledger": "a bookie that holds nothing of the ledger yet does not fence it",
    "one_no_such_entry_suffices": "recovery takes one NoSuchEntry as the end of the ledger",
    "no_such_entry_threshold_too_low": "recovery takes write quorum - ack quorum answers of NoSuchEntry as the "
    "end, one too few",
    "unknown_counts_as_no_such_entry": "recovery counts a bookie that does not answer as one that does not have the entry",
    "closes_at_lac": "recovery closes at the last add confirmed that it heard, without reading on",
    "closes_before_recovery_add": "recovery counts an entry that it found as recovered before an ack quorum has it again",
    "writer_closes_blindly": "the writer closes without compare-and-set, over a ledger that recovery has closed",
    "recovery_closes_blindly": "recovery closes without compare-and-set",
    "recovery_publishes_at_once": "recovery publishes a change of ensemble at once instead of when it closes",
    "reads_follow_current_ensemble": "recovery reads from its changed ensemble instead of the one that it started with",
    "lac_search_starts_at_zero": "the search for the last add confirmed starts at entry 0 instead of at none",
    "confirms_with_gaps": "an entry is confirmed although one before it is not",
    "change_not_committed": "the writer uses a new ensemble without writing it to the metadata",
    "change_ignores_version": "the writer's change of ensemble overwrites the metadata whatever their version",
    "replaced_acks_kept": "acknowledgements of a bookie that has left the ensemble still count",
    "limbo_answers_no_such_entry": "a bookie without a journal answers NoSuchEntry after an unclean shutdown for what it may "
    "have lost",
    "limbo_not_fenced": "a bookie without a journal does not fence its open ledgers after an unclean shutdown",
    "digest_unchecked": "recovery takes an entry whose digest does not match for the entry",
    "idle_checkpoint_skips_index": BOOKIE["idle_checkpoint_skips_index"],
    "idle_flush_skips_headers": BOOKIE["idle_flush_skips_headers"],
    "denies_before_fence_is_journaled": BOOKIE["denies_before_fence_is_journaled"],
    "master_key_with_entries_only": BOOKIE["master_key_with_entries_only"],
    "fence_checked_apart": BOOKIE["fence_checked_apart"],
    "key_record_after_entry": BOOKIE["key_record_after_entry"],
    "one_directory_marks_for_all": BOOKIE["one_directory_marks_for_all"],
    "failed_save_forgotten": BOOKIE["failed_save_forgotten"],
    "last_entry_of_the_write_cache": "a bookie whose write cache has an earlier entry than its disk answers with the last add "
    "confirmed of that one (DbLedgerStorage)",
    "confirms_while_unsetting": "bookkeeper#3005, #4097: adds are confirmed during the loop that takes the "
    "acknowledgements of a replaced bookie back (ensemble above write quorum)",
    "captured_ensemble": "bookkeeper#4171: an add takes the ensemble before it is queued, and a change in between does not "
    "reach it",
    "deleted_fence_in_memory": "the fence of a deleted ledger is kept in memory only: a restart after the deletion forgets it, "
    "and one before it keeps it from being remembered",
    "length_of_the_last_entry": "recovery takes the length of the entry that told it the last add confirmed for the length up "
    "to that last add, and closes with it",
    "length_not_raised": "recovery raises the last add confirmed to the end of the ensembles before the last, and closes "
    "with the length that it has heard",
    "length_after_refusal": "a writer whose change of ensemble finds the ledger closed subtracts its pending adds from the "
    "closed length, and its close fails",
    "fencing_waits_for_one": "the fencing phase ends with the first answer",
    "fencing_waits_for_none": "there is no fencing phase, recovery reads at once",
    "recovery_not_marked": "recovery does not mark the ledger in the metadata before it starts",
}

COVERED = ("fencing_waits_for_one", "fencing_waits_for_none")
"""Weakenings with which no entry is lost, because another protection covers them."""
