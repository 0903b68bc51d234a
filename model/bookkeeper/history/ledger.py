"""The mistakes of the ledger protocol in the releases of BookKeeper: which had them, since when, and what says so."""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.bookkeeper.history.bookie import BOOKIE, CLOSED_TOO_EARLY
from fencepost.model.history import History


def _never(evidence: str, *, allows: tuple[str, ...] | None = ()) -> History:
    """A mistake that no release had."""
    return History("bookkeeper", releases="not 4.14.5 to 4.18.0", allows=allows, evidence=evidence)


LEDGER: dict[str, History] = {
    "recovery_reads_do_not_fence": History(
        "bookkeeper",
        upstream=("#2614",),
        since="4.0.0",
        fixed="4.14.0",
        releases="not 4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="PendingReadOp sends recovery reads without FLAG_DO_FENCING up to 4.13.0, with it from 4.14.0 on (017307bc67)",
    ),
    "fence_not_durable": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-500", "#208"),
        since="4.0.0",
        fixed="4.2.0; 4.5.0 for the second of two requests at once",
        releases="not 4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="the fence record came with BOOKKEEPER-500 (d69986c4df); Bookie.fenceLedger of 4.4.0 answers a second request "
        "at once (#208, fixed by pull request #205)",
    ),
    "recovery_starts_below_last_ensemble": History(
        "bookkeeper",
        upstream=("#2615",),
        since="4.0.0",
        fixed="4.14.0",
        releases="not 4.14.5 to 4.18.0",
        costs="a recovery that changes the ensemble fails, and fails again",
        evidence="LedgerRecoveryOp.initiate raises the last add confirmed to the last ensemble's first entry - 1 from 4.14.0 "
        "on (79768fee1c); before that checkState in ReadOnlyLedgerHandle.closeRecovered failed",
    ),
    "recovery_ensemble_starts_early": _never(
        "a change begins at getLastAddConfirmed() + 1 (ReadOnlyLedgerHandle.handleBookieFailure of 4.18.0, and of 4.2.0)"
    ),
    "confirms_while_changing": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-208",),
        since="4.0.0",
        fixed="4.2.0",
        releases="not 4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="LedgerHandle.sendAddSuccessCallbacks has no test in 4.0.0 and 4.1.0; blockAddCompletions came with "
        "e353a8f93a",
    ),
    "no_such_entry_though_stored": History(
        "bookkeeper",
        upstream=("#2908", "#2909"),
        since="4.2.0",
        fixed="4.14.6, 4.15.1, 4.16.0",
        releases="4.14.5, not 4.16.6 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="EntryLogger throws NoEntryException on a short read in 4.14.5 and 4.15.0, not in 4.14.6 and 4.15.1 "
        "(966b865973)",
    ),
    "cookie_deleted_after_wipe": History(
        "bookkeeper",
        upstream=("#2612", "#4812"),
        since="4.0.0",
        releases="4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger after a bookie's disk was wiped and the operator deleted "
        "the bookie's cookie",
        avoided_by="leaving the cookie: with it LegacyCookieValidation.checkCookies refuses to start on empty directories",
        allows=CLOSED_TOO_EARLY,
        evidence="dataIntegrityChecking is no remedy in 4.16.6 to 4.18.0: where no cookie is left in the metadata store or on "
        "the disk, DataIntegrityCookieValidation.checkCookies takes the bookie for a new one and checks nothing. Where the "
        "cookie is left, and dataIntegrityStampMissingCookies is set, DataIntegrityCheckImpl.runPreBootSequence ends with a "
        "flush that does nothing on an empty write cache (#4843), so a clean stop of an idle bookie loses limbo, fence and "
        "ledger",
    ),
    "fence_forgotten_on_delete": History(
        "bookkeeper",
        upstream=("#4462",),
        since="4.0.0",
        fixed="4.16.7, 4.17.2, 4.18.0",
        releases="4.14.5, 4.16.6, not 4.17.2 to 4.18.0",
        costs="a late add to a deleted ledger is accepted and acknowledged",
        evidence="HandleFactoryImpl.recentlyFencedAndDeletedLedgers is in 4.16.7, 4.17.2 and 4.18.0, not in 4.17.1; in memory, "
        "for seven days",
    ),
    "explicit_lac_lost": History(
        "bookkeeper",
        upstream=("#1527", "#1533", "#4843"),
        since="4.5.0",
        releases="4.14.5 to 4.18.0",
        costs="a reader of the tail has to wait for the writer's next add",
        evidence="journaled and kept since 4.9.0 (21f125d768), on DbLedgerStorage since 4.12.0 (#2474); what loses a fence "
        "loses it, too: idle_checkpoint_skips_index (#4843), idle_flush_skips_headers, master_key_with_entries_only",
    ),
    "ignores_fence": _never(
        "LedgerDescriptorImpl.addEntry tests isFenced since 4.0.0; #4701 is a race in it, with a switch of its own",
        allows=CLOSED_TOO_EARLY,
    ),
    "no_fence_on_unknown_ledger": _never(
        "HandleFactoryImpl.getHandle makes the ledger that is to be fenced; what a restart makes of such a fence is a switch "
        "of its own",
        allows=CLOSED_TOO_EARLY,
    ),
    "one_no_such_entry_suffices": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-365", "BOOKKEEPER-444"),
        since="4.0.0",
        fixed="4.2.0",
        releases="not 4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="PendingReadOp.sendRead of 4.0.0 and 4.1.0 lets the last replica's answer decide; firstError came with 4.2.0",
    ),
    "no_such_entry_threshold_too_low": _never(
        "the constructor of PendingReadOp, now of ReadOpBase, has WQ - AQ + 1 since 4.7.0",
        allows=CLOSED_TOO_EARLY,
    ),
    "unknown_counts_as_no_such_entry": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-365", "BOOKKEEPER-444"),
        since="4.0.0",
        fixed="4.2.0",
        releases="not 4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="as one_no_such_entry_suffices: unreachable, then NoSuchEntry, is NoSuchEntry in 4.0.0 and 4.1.0",
    ),
    "closes_at_lac": _never(
        "LedgerRecoveryOp reads on since 4.0.0; near it is BOOKKEEPER-150, fixed in 4.1.0: a recovery whose writes failed "
        "closed at its LAC",
        allows=CLOSED_TOO_EARLY,
    ),
    "closes_before_recovery_add": _never(
        "LedgerRecoveryOp closes when readCount = writeCount; to read on before the add is complete is no mistake (since 4.5.0)"
    ),
    "writer_closes_blindly": _never(
        "the metadata are written by version since 4.0.0 (LedgerHandle.writeLedgerConfig)", allows=None
    ),
    "recovery_closes_blindly": _never(
        "the metadata are written by version since 4.0.0; in a loop since 4.9.0 (c766575c7b)", allows=None
    ),
    "recovery_publishes_at_once": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-355",),
        since="4.0.0",
        fixed="4.2.0",
        releases="not 4.14.5 to 4.18.0",
        costs="two recoveries of one ledger may leave an entry with too few copies",
        evidence="ReadOnlyLedgerHandle.handleBookieFailure keeps the changes to itself from 4.2.0 on (b625fdc27a)",
    ),
    "reads_follow_current_ensemble": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-581",),
        since="4.0.0",
        fixed="4.2.2, 4.3.0",
        releases="not 4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="metadataForRecovery is in 4.2.2 and 4.3.0 (455aabfd3b), not in 4.2.1",
    ),
    "lac_search_starts_at_zero": _never(
        "maxAddConfirmed begins at -1 in LedgerRecoveryOp of 4.0.0, as INVALID_ENTRY_ID today", allows=None
    ),
    "confirms_with_gaps": _never(
        "LedgerHandle.sendAddSuccessCallbacks goes from the head of the queue since 4.0.0", allows=None
    ),
    "change_not_committed": History(
        "bookkeeper",
        upstream=("#1591",),
        since="4.0.0",
        fixed="4.2.0",
        releases="not 4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="LedgerHandle.handleBookieFailure of 4.0.0 and 4.1.0 uses the ensemble before it is written; #1591 is the "
        "same in code that was never released",
    ),
    "change_ignores_version": _never("the metadata are written by version since 4.0.0", allows=None),
    "replaced_acks_kept": _never(
        "PendingAddOp.unsetSuccessAndSendWriteRequest is there since 4.0.0; where its loop leaves a gap is a switch of its own",
        allows=CLOSED_TOO_EARLY,
    ),
    "limbo_answers_no_such_entry": _never(
        "limbo is there since 4.15.0 (a65e888b25), and a bookie that runs answers rightly", allows=CLOSED_TOO_EARLY
    ),
    "limbo_not_fenced": _never(
        "DataIntegrityCheckImpl sets limbo and fence one after the other since 4.15.0", allows=CLOSED_TOO_EARLY
    ),
    "digest_unchecked": _never("PendingReadOp verifies every digest since 4.0.0 (DigestManager.verifyDigestAndReturnData)"),
    "idle_checkpoint_skips_index": BOOKIE["idle_checkpoint_skips_index"],
    "idle_flush_skips_headers": BOOKIE["idle_flush_skips_headers"],
    "denies_before_fence_is_journaled": BOOKIE["denies_before_fence_is_journaled"],
    "master_key_with_entries_only": BOOKIE["master_key_with_entries_only"],
    "fence_checked_apart": BOOKIE["fence_checked_apart"],
    "key_record_after_entry": BOOKIE["key_record_after_entry"],
    "one_directory_marks_for_all": BOOKIE["one_directory_marks_for_all"],
    "failed_save_forgotten": replace(BOOKIE["failed_save_forgotten"], harm="no_truncation"),
    "last_entry_of_the_write_cache": History(
        "bookkeeper",
        since="4.7.0 or before",
        releases="4.14.5 to 4.18.0",
        only={"storage": ("db",)},
        costs="a bookie answers with a lower last add confirmed than before: a recovery reads more entries, and a reader of "
        "the tail has to wait for the writer's next add",
        evidence="SingleDirectoryDbLedgerStorage.getLastEntry asks the write cache before the index; read in 4.7.0, 4.14.5, "
        "4.16.6, 4.17.3 and 4.18.0, and seen on the last two: entry 1, a flush and entry 0 are answered with that of entry 0",
    ),
    "confirms_while_unsetting": History(
        "bookkeeper",
        upstream=("#3005", "#3041", "#4097", "#4194"),
        since="4.2.0",
        releases="4.14.5 to 4.18.0",
        applies=lambda parameters: bool(parameters["ensemble"] > parameters["write_quorum"]),
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger after a change of ensemble",
        avoided_by="managedLedgerDefaultEnsembleSize = managedLedgerDefaultWriteQuorum",
        allows=CLOSED_TOO_EARLY,
        evidence="LedgerHandle.ensembleChangeLoop of 4.17.3 and 4.18.0 lifts changingEnsemble before "
        "unsetSuccessAndSendWriteRequest, which calls sendAddSuccessCallbacks (BOOKKEEPER-520); so in 4.2.0, 4.4.0 and 4.8.2",
    ),
    "captured_ensemble": History(
        "bookkeeper",
        upstream=("#4171",),
        since="4.9.0",
        releases="4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a confirmed entry is missing from the closed ledger after a change of ensemble",
        allows=CLOSED_TOO_EARLY,
        evidence="LedgerHandle.asyncAddEntry of 4.17.3 and 4.18.0 takes getCurrentEnsemble before doAsyncAddEntry queues the "
        "add; the loop over pending adds may lie in between",
    ),
    "deleted_fence_in_memory": History(
        "bookkeeper",
        upstream=("#4462",),
        since="4.16.7, 4.17.2",
        releases="4.17.2 to 4.18.0, not 4.14.5, 4.16.6",
        costs="a late add to a deleted ledger is accepted and acknowledged after a bookie's restart, before or after "
        "the deletion",
        allows=("confirm_late",),
        evidence="HandleFactoryImpl.recentlyFencedAndDeletedLedgers of 4.17.3 and 4.18.0 is a cache in memory, for seven days, "
        "and markIfConflictWritingOccurs enters only ledgers whose descriptor is loaded: seen on 4.18.0, by fence, restart, "
        "deletion and a late add",
    ),
    "length_of_the_last_entry": History(
        "bookkeeper",
        since="4.0.0",
        releases="4.14.5 to 4.18.0",
        costs="the closed ledger's length counts entries that it does not have, and the close of a writer that agrees on the "
        "last entry fails",
        evidence="LedgerRecoveryOp.initiate of 4.14.5 to 4.18.0 sets the length to that of the RecoveryData with the last add "
        "confirmed (maxLength in 4.0.0), which is of the entry that carried it; LedgerHandle.doAsyncCloseInternal compares "
        "lengths",
    ),
    "length_not_raised": History(
        "bookkeeper",
        upstream=("#2615",),
        since="4.14.0",
        releases="4.14.5 to 4.18.0",
        costs="a ledger with entries is closed with a length that leaves some or all of them out, and the close of a writer "
        "that agrees on the last entry fails",
        evidence="LedgerRecoveryOp.initiate of 4.14.5 to 4.18.0 raises lastAddConfirmed to the last ensemble's first entry - 1 "
        "(79768fee1c, the fix of #2615) and takes the length as it was heard, 0 if all answers were denials",
    ),
    "length_after_refusal": History(
        "bookkeeper",
        releases="4.14.5 to 4.18.0",
        since="4.5.0 or before",
        applies=lambda parameters: bool(parameters.get("changes", 1)),
        costs="the close of a writer fails although it agrees on the last entry and the length",
        evidence="LedgerHandle.setLedgerMetadata of 4.14.5 to 4.18.0 takes over last entry and length of closed metadata; "
        "ensembleChangeLoop then calls handleUnrecoverableErrorDuringAdd, whose drainPendingAddsAndAdjustLength subtracts the "
        "pending adds from that length: seen on 4.17.3 and 4.18.0",
    ),
    "fencing_waits_for_one": _never(
        "LedgerRecoveryOp waits for a quorum since 4.0.0 (canProceedWithRecovery, then coverage sets)"
    ),
    "fencing_waits_for_none": _never("as fencing_waits_for_one"),
    "recovery_not_marked": _never("the ledger is marked since 4.0.0 (markLedgerInRecovery)", allows=CLOSED_TOO_EARLY),
}
"""The history of each of its mistakes. What no release had has no ``since``."""
