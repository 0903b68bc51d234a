"""The mistakes of bookies: what each is, since when, and which releases of BookKeeper have it."""

from __future__ import annotations

from typing import TypedDict

from fencepost.model import releases

STORAGES = ("db", "sorted", "interleaved")

DEFECTS = {
    "idle_checkpoint_skips_index": "bookkeeper#4843: a checkpoint whose write cache is empty does not save the ledger "
    "index, and "
    "the log mark moves past the fence (DbLedgerStorage)",
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
    "key_record_after_entry": "bookkeeper#4701: two descriptors of one ledger: an entry is journaled before the master "
    "key, and "
    "replay skips it",
    "denies_what_it_has": "bookkeeper#2908: NoSuchEntry is answered for an entry whose bytes are not all in the file yet",
    "explicit_lac_in_memory": "bookkeeper#1527, #1533: an explicit last add confirmed is neither journaled nor saved",
    "explicit_lac_not_indexed": "bookkeeper#2474: DbLedgerStorage does not save the explicit last add confirmed, and the log "
    "mark moves past it",
    "mark_goes_back": "bookkeeper#4740, #4105: of two checkpoints the older one is done last, and the log mark goes "
    "back to where "
    "the journal is deleted",
    "one_directory_marks_for_all": "bookkeeper#3329: a directory whose write cache is full moves the log mark past what other "
    "directories have not saved",
}

RELEASES = ("4.14.4", "4.14.5", "4.16.1", "4.16.6", "4.17.2", "4.17.3", "4.18.0")
"""The releases of BookKeeper whose sources were read for the histories."""

_TO_4_17_3 = RELEASES[:-1]
_SINCE_4_16 = RELEASES[2:]
_DB, _OTHERS = ("db",), ("sorted", "interleaved")


class History(TypedDict):
    """When bookies had a mistake: the number upstream, the first release with it and those without it again (all others if
    ``fixed`` is empty), those of RELEASES that have it, on which storages, and what says so."""

    upstream: str
    since: str
    fixed: str
    open: bool
    releases: tuple[str, ...]
    storages: tuple[str, ...]
    evidence: str


HISTORY: dict[str, History] = {
    "idle_checkpoint_skips_index": {
        "upstream": "#4843",
        "since": "4.15.1, 4.16.0 (#3341)",
        "fixed": "",
        "open": True,
        "releases": _SINCE_4_16,
        "storages": _DB,
        "evidence": "SingleDirectoryDbLedgerStorage.checkpoint returns on writeCache.isEmpty(), before "
        "ledgerIndex.flush(): not in "
        "4.14.x and 4.15.0, in 4.15.1 to 4.18.0; run on 4.17.3 and 4.18.0, and 4.14.5 keeps the fence",
    },
    "idle_flush_skips_headers": {
        "upstream": "",
        "since": "4.2.0",
        "fixed": "",
        "open": True,
        "releases": RELEASES,
        "storages": _OTHERS,
        "evidence": "InterleavedLedgerStorage.flush returns unless something was written since the last flush; run on "
        "sorted of "
        "4.14.5, 4.17.3 and 4.18.0, and on interleaved of 4.17.3 and 4.18.0; no report found upstream",
    },
    "headers_without_pages_not_saved": {
        "upstream": "",
        "since": "4.2.0",
        "fixed": "",
        "open": True,
        "releases": RELEASES,
        "storages": _OTHERS,
        "evidence": "IndexInMemPageMgr.flushOneOrMoreLedgers goes over pageMapAndList.getActiveLedgers() only; run on "
        "sorted and "
        "interleaved of 4.17.3 and 4.18.0 (another ledger's entry, checkpoint, kill); no report found upstream",
    },
    "denies_before_fence_is_journaled": {
        "upstream": "",
        "since": "4.2.0",
        "fixed": "",
        "open": True,
        "releases": RELEASES,
        "storages": STORAGES,
        "evidence": "ReadEntryProcessorV3.getReadResponse answers ENOENTRY and ENOLEDGER in its catch blocks without a look at "
        "fenceResult; read in 4.4.0, 4.14.4, 4.17.3 and 4.18.0, not run; no report found upstream",
    },
    "master_key_with_entries_only": {
        "upstream": "",
        "since": "4.2.0",
        "fixed": "",
        "open": True,
        "releases": RELEASES,
        "storages": STORAGES,
        "evidence": "BookieImpl.addEntryInternal alone logs the master key; readJournal swallows NoLedgerException at a "
        "fence and at "
        "an explicit last add confirmed; the fence was run on 4.14.5, 4.17.3 and 4.18.0; no report found upstream",
    },
    "second_fence_not_awaited": {
        "upstream": "#208",
        "since": "4.2.0",
        "fixed": "4.5.0",
        "open": False,
        "releases": (),
        "storages": STORAGES,
        "evidence": "4.4.0 Bookie.fenceLedger returns SUCCESS_FUTURE when the fence was set before; c49621baca is first "
        "in 4.5.0",
    },
    "fence_not_journaled": {
        "upstream": "BOOKKEEPER-500",
        "since": "4.0.0",
        "fixed": "4.2.0",
        "open": False,
        "releases": (),
        "storages": STORAGES,
        "evidence": "METAENTRY_ID_FENCE_KEY is in Bookie from 4.2.0 on (d69986c4df), not in 4.0.0 and 4.1.0",
    },
    "fence_checked_apart": {
        "upstream": "#4701",
        "since": "4.5.0",
        "fixed": "4.17.4, 4.18.0",
        "open": False,
        "releases": _TO_4_17_3,
        "storages": STORAGES,
        "evidence": "HandleFactoryImpl.getHandle does not look at what putIfAbsent returns from 4.5.0 to 4.17.3; 4.4.0 "
        "and 4.17.4 do",
    },
    "key_record_after_entry": {
        "upstream": "#4701",
        "since": "4.5.0",
        "fixed": "4.17.4, 4.18.0",
        "open": False,
        "releases": _TO_4_17_3,
        "storages": STORAGES,
        "evidence": "as fence_checked_apart: with two monitors addEntryInternal may log the second entry before the "
        "first one's key",
    },
    "denies_what_it_has": {
        "upstream": "#2908",
        "since": "4.2.0",
        "fixed": "4.14.6, 4.15.1, 4.16.0",
        "open": False,
        "releases": RELEASES[:2],
        "storages": STORAGES,
        "evidence": "EntryLogger throws NoEntryException on a short read in 4.14.4, 4.14.5 and 4.15.0; 966b865973 is "
        "first in 4.16.0",
    },
    "explicit_lac_in_memory": {
        "upstream": "#1527, #1533",
        "since": "4.5.0",
        "fixed": "4.8.0 with journalFormatVersionToWrite=6, 4.9.0 by default",
        "open": False,
        "releases": (),
        "storages": STORAGES,
        "evidence": "METAENTRY_ID_LEDGER_EXPLICITLAC is in Bookie from 4.8.0 on (21f125d768)",
    },
    "explicit_lac_not_indexed": {
        "upstream": "#2474",
        "since": "4.8.0",
        "fixed": "4.12.0",
        "open": False,
        "releases": (),
        "storages": _DB,
        "evidence": "LedgerMetadataIndex.setExplicitLac is there from 4.12.0 on",
    },
    "mark_goes_back": {
        "upstream": "#4740, #4105",
        "since": "4.7.0 on db",
        "fixed": "4.18.0",
        "open": False,
        "releases": _TO_4_17_3,
        "storages": _DB,
        "evidence": "Journal.checkpointComplete compares with lastPersistedMark in 4.18.0 only (not in 4.17.4); the "
        "flush of a full "
        "write cache completes checkpoints beside SyncThread from 4.7.0 on",
    },
    "one_directory_marks_for_all": {
        "upstream": "#3329",
        "since": "4.7.0",
        "fixed": "4.14.8, 4.15.5, 4.16.2, 4.17.0",
        "open": False,
        "releases": RELEASES[:3],
        "storages": _DB,
        "evidence": "SingleDirectoryDbLedgerStorage.flush completes its checkpoint whether or not singleLedgerDirs: "
        "test absent in "
        "4.14.7, 4.15.4 and 4.16.1, present in 4.14.8, 4.15.5 and 4.16.2",
    },
}
"""The history of each of DEFECTS. Where there is no number upstream, no report was found."""


def _known(told: History) -> releases.History:
    return releases.History(
        "bookkeeper",
        tuple(number for number in told["upstream"].split(", ") if number),
        told["since"],
        told["fixed"],
        tuple(release for release in releases.BOOKKEEPER if release in told["releases"]),
        None if told["storages"] == STORAGES else {"storage": told["storages"]},
        evidence=told["evidence"],
    )


KNOWN = {name: _known(told) for name, told in HISTORY.items()}
"""The same of the releases that are modelled, as the other protocols have it."""
