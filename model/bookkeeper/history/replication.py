"""When auto-recovery had each of its mistakes; read in the sources of the modelled releases of BookKeeper.

``URM`` is ZkLedgerUnderreplicationManager; numbers of lines are those of 4.17.3. Auto-recovery came with 4.2.0. Where no number
is given, a search of the reports upstream found none.
"""

from __future__ import annotations

from fencepost.model.history import History

_EVERY = "4.14.5 to 4.18.0"
_SINCE_4_15 = "4.16.6 to 4.18.0, not 4.14.5"
_NEVER = "not 4.14.5 to 4.18.0"
_DROPPED = ("dropped",)
"""Copies that a cluster loses without a fault (stand_ins/copies.py)."""

REPLICATION: dict[str, History] = {
    "target_is_a_member": History(
        "bookkeeper",
        since="4.2.0",
        releases=_EVERY,
        applies=lambda parameters: bool(parameters.get("commands") or parameters.get("expiries", 0)),
        harm="members_are_distinct",
        costs="a closed ledger has one copy fewer than its write quorum, which no check finds; the loss of that bookie makes "
        "acknowledged entries unreadable",
        avoided_by="bookkeeper shell autorecovery -disable, and a wait for the tasks under way, before recover; or "
        "decommissionbookie instead",
        allows=_DROPPED,
        evidence="LedgerFragmentReplicator.updateEnsembleInfo (605-616) replaces by name wherever an old bookie still is, and "
        "does not look whether the new one is there already; neither does that of 4.2.0 (e2487b794e), nor of 4.4.0 and 4.5.0",
    ),
    "target_not_asked_again": History(
        "bookkeeper",
        since="4.2.0",
        releases=_EVERY,
        costs="the metadata name a bookie that has no copy, or is away, instead of one that has a copy; after recover nothing "
        "looks at it before the next audit of all bookies, a day later",
        allows=_DROPPED,
        evidence="LedgerFragmentReplicator.SingleFragmentCallback.processResult (583-591) goes on to the compare-and-set; a "
        "worker checks again after it, BookKeeperAdmin.recoverLedger does not; so in 4.2.0",
    ),
    "collector_trusts_the_lock": History(
        "bookkeeper",
        upstream=("#4668",),
        since="4.4.0",
        releases=_EVERY,
        applies=lambda parameters: bool(parameters.get("commands") or parameters.get("expiries", 0)),
        harm="copies_are_not_fewer",
        costs="a copy that the metadata are about to name is deleted: the ledger has one copy fewer than before, and the "
        "command ends with success",
        avoided_by="bookkeeper shell decommissionbookie instead of recover: workers have the lock, unless a session expires",
        allows=_DROPPED,
        evidence="ScanAndCompareGarbageCollector.removeOverReplicatedledgers (261-280) asks for the lock of the ledger only; "
        "BookKeeperAdmin.recoverLedger (809-1010) takes none. The collector of surplus copies came with dd575a16de "
        "(BOOKKEEPER-895). The report is of a recover that fails, on 4.16.7: releases with the fix of #4462 refuse copies of a "
        "fenced ledger after its deletion; those that were acknowledged before it are lost",
    ),
    "collected_is_refused": History(
        "bookkeeper",
        upstream=("#4668", "#4462"),
        since="4.16.7, 4.17.2",
        releases="4.17.2 to 4.18.0, not 4.14.5, 4.16.6",
        harm="becomes_whole",
        costs="a ledger stays without a copy where no other bookie is left, and recover fails with BKLedgerFencedException",
        avoided_by="a restart of the bookie that refuses: what it remembers is in memory",
        evidence="HandleFactoryImpl.markIfConflictWritingOccurs is to remember ledgers that were fenced. deleteLedger of "
        "SingleDirectoryDbLedgerStorage and of InterleavedLedgerStorage calls it when the index has forgotten the ledger: "
        "isFenced throws NoLedgerException, which counts as limbo, so every ledger whose descriptor is loaded is remembered. "
        "HandleFactoryImpl.getHandle then refuses adds of recovery, too, for seven days since the last of them",
    ),
    "deletes_lock_of_successor": History(
        "bookkeeper",
        since="4.2.0",
        releases=_EVERY,
        applies=lambda parameters: bool(parameters.get("expiries", 1)),
        costs="two workers, or a worker and a collector, work on one ledger at once",
        evidence="URM.releaseUnderreplicatedLedger (638) and URM.close (659) delete by path with version -1; "
        "AutoRecoveryMain.shutdown calls close after an expiry; so since 74e097e0b1",
    ),
    "listed_replica_is_no_news": History(
        "bookkeeper",
        since="4.2.0",
        releases=_EVERY,
        costs="a ledger stays without a copy until the next audit of all bookies, a day later",
        evidence="URM.handleLedgerUnderreplicatedAlreadyMarked (354-366) writes nothing if the task lists the bookie already, "
        "so URM.markLedgerReplicated (391-436) deletes the task by the version that the worker saw before; so in 4.2.0, whose "
        'markLedgerUnderreplicated has "nothing to add"',
    ),
    "task_deleted_without_lock": History(
        "bookkeeper",
        since="4.2.0",
        releases=_EVERY,
        applies=lambda parameters: bool(parameters.get("expiries", 1)),
        harm="becomes_whole",
        costs="a ledger stays without a copy until the next audit of all bookies, a day later",
        evidence="URM.markLedgerReplicated (391-436) deletes by the version in its own map, also if the lock is gone; "
        "ZooKeeper counts the versions of a node that is created again from 0; so in 4.2.0",
    ),
    "checker_reads_ends_only": History(
        "bookkeeper",
        since="4.2.0",
        releases=_EVERY,
        applies=lambda parameters: bool(parameters.get("gaps", 1)),
        costs="a gap within a fragment is never found, and no copy is made for it",
        avoided_by="auditorLedgerVerificationPercentage=100",
        evidence="LedgerChecker.verifyLedgerFragment (267-297): the percentage is 0 by default, which leaves the first and the "
        "last entry; 4.2.0 reads these two only, and the setting came with 4.7.0 (25f4243232)",
    ),
    "checker_ignores_digest": History(
        "bookkeeper",
        since="4.2.0",
        releases=_EVERY,
        applies=lambda parameters: bool(parameters.get("rots", 1)),
        costs="a rotten copy counts as a good one, and no copy is made for it",
        evidence="LedgerChecker.ReadManyEntriesCallback.readEntryComplete (81-94) looks at the return code, and at no digest; "
        "so in 4.2.0",
    ),
    "refill_ignores_digest": History(
        "bookkeeper",
        since="4.15.0",
        releases=_SINCE_4_15,
        applies=lambda parameters: bool(parameters.get("integrity", True) and parameters.get("rots", 1)),
        costs="a rotten copy spreads to the bookie whose disk was replaced",
        evidence="EntryCopierImpl (135-150, 184-213) stores what it has read; there is no DigestManager in datainteg",
    ),
    "refill_by_boot_metadata": History(
        "bookkeeper",
        since="4.15.0",
        releases=_SINCE_4_15,
        applies=lambda parameters: bool(parameters.get("integrity", True)),
        harm="integrity_checks_end",
        costs="the integrity check of a bookie fails every few seconds until the bookie is restarted",
        evidence="DataIntegrityCheckImpl.runFullCheck (169-171) puts back the metadata that LedgerResult.error has, and "
        "checkAndRecoverLedgers (360-363) gives it those of the boot",
    ),
    "open_fragment_replicated": History(
        "bookkeeper",
        releases=_NEVER,
        evidence="LedgerFragment (60-62) and LedgerFragmentReplicator.replicateFragmentInternal refuse an open fragment",
    ),
    "replaced_before_copy": History(
        "bookkeeper",
        releases=_NEVER,
        allows=_DROPPED,
        evidence="LedgerFragmentReplicator.SingleFragmentCallback.processResult (583-591) is called after all entries",
    ),
    "collector_takes_no_lock": History(
        "bookkeeper",
        releases=_NEVER,
        allows=_DROPPED,
        evidence="ScanAndCompareGarbageCollector.removeOverReplicatedledgers calls URM.acquireUnderreplicatedLedger",
    ),
    "task_deleted_blindly": History(
        "bookkeeper",
        releases=_NEVER,
        evidence="URM.markLedgerReplicated (399) deletes by the version of the lock",
    ),
}
