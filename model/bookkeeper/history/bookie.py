"""When bookies had each of their mistakes; read in the sources of the modelled releases of BookKeeper."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.history import History

_DB: Mapping[str, tuple[str, ...]] = {"storage": ("db",)}
_OTHERS: Mapping[str, tuple[str, ...]] = {"storage": ("sorted", "interleaved")}

CLOSED_TOO_EARLY = ("confirm_late", "truncate")
"""Weak moves of a ledger that may be closed without a confirmed entry: the close and the confirmation come in either order."""

BOOKIE: dict[str, History] = {
    "idle_checkpoint_skips_index": History(
        "bookkeeper",
        upstream=("#4843",),
        since="4.15.1, 4.16.0 (#3341)",
        releases="4.16.6 to 4.18.0, not 4.14.5",
        only=_DB,
        harm="no_truncation",
        costs="after a restart, even a clean one, the bookie takes adds to a fenced ledger: a confirmed entry may be missing "
        "from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="SingleDirectoryDbLedgerStorage.checkpoint returns on writeCache.isEmpty(), before ledgerIndex.flush() "
        "(#3341, 6e268800c5), and SyncThread.checkpoint persists the log mark all the same: in 4.15.1 to 4.18.0, not in 4.14.x "
        "and 4.15.0",
    ),
    "idle_flush_skips_headers": History(
        "bookkeeper",
        since="4.2.0",
        releases="4.14.5 to 4.18.0",
        only=_OTHERS,
        harm="no_truncation",
        costs="after restarts the bookie takes adds to a fenced ledger: a confirmed entry may be missing from the closed "
        "ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="InterleavedLedgerStorage.flush of 4.17.3 and 4.18.0 returns unless something was written since the last "
        "flush, and the log mark advances all the same; there since 4.1.0",
    ),
    "headers_without_pages_not_saved": History(
        "bookkeeper",
        since="4.2.0",
        releases="4.14.5 to 4.18.0",
        only=_OTHERS,
        costs="after a restart the bookie takes adds to a fenced ledger: an entry may be confirmed that the closed "
        "ledger does not have",
        allows=CLOSED_TOO_EARLY,
        evidence="IndexInMemPageMgr.flushOneOrMoreLedgers goes over pageMapAndList.getActiveLedgers() only",
    ),
    "denies_before_fence_is_journaled": History(
        "bookkeeper",
        since="4.2.0",
        releases="4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="a kill takes back a fence that a recovery relies on: a confirmed entry may be missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="ReadEntryProcessorV3.getReadResponse and ReadEntryProcessor.processPacket wait for the journaled fence "
        "(fenceResult) only where the entry was read, and not in the catch blocks that answer ENOENTRY and ENOLEDGER; read in "
        "4.4.0, 4.14.4, 4.14.5, 4.17.3 and 4.18.0",
    ),
    "master_key_with_entries_only": History(
        "bookkeeper",
        since="4.2.0",
        releases="4.14.5 to 4.18.0",
        harm="no_truncation",
        costs="after a restart the bookie takes adds to a ledger that was fenced there before its first entry: a confirmed "
        "entry may be missing from the closed ledger once the bookies were restarted, as in an upgrade",
        allows=CLOSED_TOO_EARLY,
        evidence="BookieImpl.fenceLedger journals no master key, BookieImpl.addEntryInternal alone does; "
        "BookieImpl.readJournal swallows the NoLedgerException of a fence, or of an explicit last add confirmed, without one "
        "(4.17.3, 4.18.0)",
    ),
    "second_fence_not_awaited": History(
        "bookkeeper",
        upstream=("#208",),
        since="4.2.0",
        fixed="4.5.0",
        releases="not 4.14.5 to 4.18.0",
        costs="a kill takes back a fence that a recovery relies on",
        evidence="4.4.0 Bookie.fenceLedger returns SUCCESS_FUTURE when the fence was set before; c49621baca is first in 4.5.0",
    ),
    "fence_not_journaled": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-500",),
        since="4.0.0",
        fixed="4.2.0",
        releases="not 4.14.5 to 4.18.0",
        costs="a restart takes back a fence that a recovery relies on",
        evidence="METAENTRY_ID_FENCE_KEY is in Bookie from 4.2.0 on (d69986c4df), not in 4.0.0 and 4.1.0",
    ),
    "fence_checked_apart": History(
        "bookkeeper",
        upstream=("#4701",),
        since="4.5.0",
        fixed="4.17.4, 4.18.0",
        releases="4.14.5 to 4.17.3, not 4.18.0",
        harm="no_truncation",
        costs="while a ledger's first descriptor is made, the bookie takes an add after it has told a recovery that it would "
        "not: a confirmed entry may be missing from the closed ledger",
        allows=CLOSED_TOO_EARLY,
        evidence="HandleFactoryImpl.getHandle of 4.5.0 to 4.17.3 ignores what putIfAbsent returns, so that an add and a fence "
        "may hold different monitors; 4.4.0 does not, nor do 4.17.4 (c16be136f3) and 4.18.0 (44607a0e31)",
    ),
    "key_record_after_entry": History(
        "bookkeeper",
        upstream=("#4701",),
        since="4.5.0",
        fixed="4.17.4, 4.18.0",
        releases="4.14.5 to 4.17.3, not 4.18.0",
        costs="a kill loses the first entries of a ledger at the bookie, although they were acknowledged",
        allows=CLOSED_TOO_EARLY,
        evidence="with two monitors addEntryInternal may log the second entry before the first one's key",
    ),
    "denies_what_it_has": History(
        "bookkeeper",
        upstream=("#2908",),
        since="4.2.0",
        fixed="4.14.6, 4.15.1, 4.16.0",
        releases="4.14.5, not 4.16.6 to 4.18.0",
        costs="a recovery takes an entry for one that was never confirmed, and closes the ledger before it",
        allows=CLOSED_TOO_EARLY,
        evidence="EntryLogger throws NoEntryException on a short read in 4.14.4, 4.14.5 and 4.15.0; 966b865973 is "
        "first in 4.16.0",
    ),
    "explicit_lac_in_memory": History(
        "bookkeeper",
        upstream=(
            "#1527",
            "#1533",
        ),
        since="4.5.0",
        fixed="4.8.0 with journalFormatVersionToWrite=6, 4.9.0 by default",
        releases="not 4.14.5 to 4.18.0",
        costs="a restart loses an explicit last add confirmed: readers that follow see less than before",
        evidence="METAENTRY_ID_LEDGER_EXPLICITLAC is in Bookie from 4.8.0 on (21f125d768)",
    ),
    "explicit_lac_not_indexed": History(
        "bookkeeper",
        upstream=("#2474",),
        since="4.8.0",
        fixed="4.12.0",
        releases="not 4.14.5 to 4.18.0",
        only=_DB,
        costs="a restart loses an explicit last add confirmed: readers that follow see less than before",
        evidence="LedgerMetadataIndex.setExplicitLac is there from 4.12.0 on",
    ),
    "failed_save_forgotten": History(
        "bookkeeper",
        since="4.7.0 or before",
        releases="4.14.5 to 4.18.0",
        only=_DB,
        costs="after a restart the bookie denies entries that it has acknowledged: a recovery can close the ledger before them",
        allows=CLOSED_TOO_EARLY,
        evidence="SingleDirectoryDbLedgerStorage.checkpoint calls swapWriteCache before entryLogger.flush and batch.flush, and "
        "undoes it nowhere; SyncThread.checkpoint and flush log the IOException and return; read in 4.7.0, 4.14.5, 4.16.6, "
        "4.17.3 and 4.18.0. In the first two the checkpoint after the next saves what was left, also of an idle bookie",
    ),
    "mark_goes_back": History(
        "bookkeeper",
        upstream=(
            "#4740",
            "#4105",
        ),
        since="4.7.0 on db",
        fixed="4.18.0",
        releases="4.14.5 to 4.17.3, not 4.18.0",
        only=_DB,
        costs="after a kill the bookie does not start: Recovery log is missing",
        evidence="Journal.checkpointComplete compares with lastPersistedMark in 4.18.0 only (not in 4.17.4); the "
        "flush of a full write cache completes checkpoints beside SyncThread from 4.7.0 on",
    ),
    "checkpoints_compared_by_first_journal": History(
        "bookkeeper",
        upstream=("#4844",),
        since="4.7.0 or before",
        releases="4.14.5 to 4.18.0",
        only={**_DB, "journals": (2,)},
        costs="a kill loses acknowledged entries of ledgers of another journal than the first",
        avoided_by="journalDirectories with one directory",
        allows=CLOSED_TOO_EARLY,
        evidence="CheckpointSourceList.CheckpointList takes the positions of its journals one after the other, and compareTo "
        "compares two of them lexicographically; SingleDirectoryDbLedgerStorage.checkpoint returns if the last one compares "
        "greater, and SyncThread.checkpoint completes the checkpoint all the same; read in 4.17.3 and 4.18.0",
    ),
    "one_directory_marks_for_all": History(
        "bookkeeper",
        upstream=("#3329",),
        since="4.7.0",
        fixed="4.14.8, 4.15.5, 4.16.2, 4.17.0",
        releases="4.14.5, not 4.16.6 to 4.18.0",
        only=_DB,
        costs="a kill loses acknowledged entries of the other directories",
        avoided_by="ledgerDirectories with one directory",
        allows=CLOSED_TOO_EARLY,
        evidence="SingleDirectoryDbLedgerStorage.flush completes its checkpoint whether or not singleLedgerDirs: test"
        " absent in 4.14.7, 4.15.4 and 4.16.1, present in 4.14.8, 4.15.5 and 4.16.2",
    ),
}
"""The history of each of its mistakes. Of what is open without a number upstream, no report was found."""
