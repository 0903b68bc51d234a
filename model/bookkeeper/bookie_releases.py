"""The mistakes of bookies: what each is, since when, and which releases of BookKeeper have it."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.releases import BOOKKEEPER, History

STORAGES = ("db", "sorted", "interleaved")

DEFECTS = {
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
    "mark_goes_back": "bookkeeper#4740, #4105: of two checkpoints the older one is done last, and the log mark goes back to "
    "where the journal is deleted",
    "one_directory_marks_for_all": "bookkeeper#3329: a directory whose write cache is full moves the log mark past what other "
    "directories have not saved",
}

_ALL = BOOKKEEPER
_UP_TO_4_17_3 = _ALL[: _ALL.index("4.18.0")]
_DB: Mapping[str, tuple[str, ...]] = {"storage": ("db",)}
_OTHERS: Mapping[str, tuple[str, ...]] = {"storage": ("sorted", "interleaved")}

HISTORY: dict[str, History] = {
    "idle_checkpoint_skips_index": History(
        "bookkeeper",
        upstream=("#4843",),
        since="4.15.1, 4.16.0 (#3341)",
        present=_ALL[1:],
        only=_DB,
        costs="after a restart the bookie takes adds to a fenced ledger: an entry may be confirmed that the closed "
        "ledger does not have",
        evidence="SingleDirectoryDbLedgerStorage.checkpoint returns on writeCache.isEmpty(), before "
        "ledgerIndex.flush(): not in 4.14.x and 4.15.0, in 4.15.1 to 4.18.0",
        reproduced={
            "4.17.3": "BookieImpl with DbLedgerStorage: an entry, a checkpoint, a fence, a stop: the next add is accepted",
            "4.18.0": "BookieImpl with DbLedgerStorage: an entry, a checkpoint, a fence, a stop: the next add is accepted",
        },
    ),
    "idle_flush_skips_headers": History(
        "bookkeeper",
        since="4.2.0",
        present=_ALL,
        only=_OTHERS,
        costs="after a restart the bookie takes adds to a fenced ledger: an entry may be confirmed that the closed "
        "ledger does not have",
        evidence="InterleavedLedgerStorage.flush returns unless something was written since the last flush",
        reproduced={
            "4.14.5": "BookieImpl with SortedLedgerStorage: an entry, a stop, a fence, a stop: the next add is "
            "accepted, for which headers_without_pages_not_saved suffices, too",
            "4.17.3": "BookieImpl with each of the two storages, the same",
            "4.18.0": "BookieImpl with each of the two storages, the same",
        },
    ),
    "headers_without_pages_not_saved": History(
        "bookkeeper",
        since="4.2.0",
        present=_ALL,
        only=_OTHERS,
        costs="after a restart the bookie takes adds to a fenced ledger: an entry may be confirmed that the closed "
        "ledger does not have",
        evidence="IndexInMemPageMgr.flushOneOrMoreLedgers goes over pageMapAndList.getActiveLedgers() only",
        reproduced={
            "4.17.3": "BookieImpl with each: a fence, an entry of another ledger, a checkpoint, a kill: it is forgotten",
            "4.18.0": "BookieImpl with each: a fence, an entry of another ledger, a checkpoint, a kill: it is forgotten",
        },
    ),
    "denies_before_fence_is_journaled": History(
        "bookkeeper",
        since="4.2.0",
        present=_ALL,
        costs="a kill takes back a fence that a recovery goes by: an entry may be confirmed that the closed ledger "
        "does not have",
        evidence="ReadEntryProcessorV3.getReadResponse answers ENOENTRY and ENOLEDGER in its catch blocks without a "
        "look at fenceResult; read in 4.4.0, 4.14.4, 4.17.3 and 4.18.0",
        reproduced={
            "4.18.0": "BookieRequestProcessor and BookieImpl: a fencing read of an entry that is not there is answered while "
            "the fence is queued for the journal",
        },
    ),
    "master_key_with_entries_only": History(
        "bookkeeper",
        since="4.2.0",
        present=_ALL,
        costs="after a restart the bookie takes adds to a ledger that was fenced there before its first entry",
        evidence="BookieImpl.addEntryInternal alone logs the master key; readJournal swallows NoLedgerException at a "
        "fence and at an explicit last add confirmed",
        reproduced={
            "4.14.5": "BookieImpl: a fence, a kill: the next add is accepted",
            "4.17.3": "BookieImpl: a fence, a kill: the next add is accepted",
            "4.18.0": "BookieImpl: a fence, a kill: the next add is accepted",
        },
    ),
    "second_fence_not_awaited": History(
        "bookkeeper",
        upstream=("#208",),
        since="4.2.0",
        fixed="4.5.0",
        costs="a kill takes back a fence that a recovery goes by",
        evidence="4.4.0 Bookie.fenceLedger returns SUCCESS_FUTURE when the fence was set before; c49621baca is first in 4.5.0",
    ),
    "fence_not_journaled": History(
        "bookkeeper",
        upstream=("BOOKKEEPER-500",),
        since="4.0.0",
        fixed="4.2.0",
        costs="a restart takes back a fence that a recovery goes by",
        evidence="METAENTRY_ID_FENCE_KEY is in Bookie from 4.2.0 on (d69986c4df), not in 4.0.0 and 4.1.0",
    ),
    "fence_checked_apart": History(
        "bookkeeper",
        upstream=("#4701",),
        since="4.5.0",
        fixed="4.17.4, 4.18.0",
        present=_UP_TO_4_17_3,
        costs="the bookie takes an add after a recovery was told that it would not",
        evidence="HandleFactoryImpl.getHandle does not look at what putIfAbsent returns from 4.5.0 to 4.17.3; 4.4.0 "
        "and 4.17.4 do",
    ),
    "key_record_after_entry": History(
        "bookkeeper",
        upstream=("#4701",),
        since="4.5.0",
        fixed="4.17.4, 4.18.0",
        present=_UP_TO_4_17_3,
        costs="a kill loses the first entries of a ledger at the bookie, although they were acknowledged",
        evidence="with two monitors addEntryInternal may log the second entry before the first one's key",
    ),
    "denies_what_it_has": History(
        "bookkeeper",
        upstream=("#2908",),
        since="4.2.0",
        fixed="4.14.6, 4.15.1, 4.16.0",
        present=_ALL[:1],
        costs="a recovery takes an entry for one that was never confirmed, and closes the ledger before it",
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
        costs="a restart loses an explicit last add confirmed: readers that follow see less than before",
        evidence="METAENTRY_ID_LEDGER_EXPLICITLAC is in Bookie from 4.8.0 on (21f125d768)",
    ),
    "explicit_lac_not_indexed": History(
        "bookkeeper",
        upstream=("#2474",),
        since="4.8.0",
        fixed="4.12.0",
        only=_DB,
        costs="a restart loses an explicit last add confirmed: readers that follow see less than before",
        evidence="LedgerMetadataIndex.setExplicitLac is there from 4.12.0 on",
    ),
    "mark_goes_back": History(
        "bookkeeper",
        upstream=(
            "#4740",
            "#4105",
        ),
        since="4.7.0 on db",
        fixed="4.18.0",
        present=_UP_TO_4_17_3,
        only=_DB,
        costs="after a kill the bookie does not start: Recovery log is missing",
        evidence="Journal.checkpointComplete compares with lastPersistedMark in 4.18.0 only (not in 4.17.4); the "
        "flush of a full write cache completes checkpoints beside SyncThread from 4.7.0 on",
        reproduced={
            "4.17.3": "BookieImpl with DbLedgerStorage: the flush of a write cache ends after a later checkpoint, a kill: it "
            "does not start",
        },
    ),
    "one_directory_marks_for_all": History(
        "bookkeeper",
        upstream=("#3329",),
        since="4.7.0",
        fixed="4.14.8, 4.15.5, 4.16.2, 4.17.0",
        present=_ALL[:1],
        only=_DB,
        costs="a kill loses acknowledged entries of the other directories",
        avoided_by="ledgerDirectories with one directory",
        evidence="SingleDirectoryDbLedgerStorage.flush completes its checkpoint whether or not singleLedgerDirs: test"
        " absent in 4.14.7, 4.15.4 and 4.16.1, present in 4.14.8, 4.15.5 and 4.16.2",
    ),
}
"""The history of each of DEFECTS. Of what is open without a number upstream, no report was found."""
