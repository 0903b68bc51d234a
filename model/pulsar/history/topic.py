"""When a topic and its managed ledger had each of their mistakes; read in the sources of five releases of Pulsar.

``ML`` is ManagedLedgerImpl, ``OAE`` OpAddEntry, ``MC`` ManagedCursorImpl, ``MS`` MetaStoreImpl of managed-ledger; ``PT``
PersistentTopic, ``MD`` MessageDeduplication of the broker. Lines are those of 4.2.4 unless a release is named.

Of 2.10.1 and 3.0.7 these methods were read: ML.initialize, initializeCursors, asyncTerminate, createComplete,
updateLedgersIdsComplete, ledgerClosed, checkAddTimeout, rollCurrentLedgerIfFull, maybeUpdateCursorBeforeTrimmingConsumedLedger
and internalTrimLedgers; OAE.initiate, addComplete, run (safeRun in 2.10.1), closeComplete and handleAddFailure;
MC.recoverFromLedger; MS.getCursors and removeManagedLedger; PT.addFailed and checkGC; MD.takeSnapshot; Producer.closeNow and
ServerCnx.safelyRemoveProducer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fencepost.model.history import History
from fencepost.model.pulsar.stores import store_of

_READ = "2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1"
_UP_TO_4_2_4 = "2.10.1, 3.0.7, 4.0.8, 4.2.4, not 5.0.0-M1"
_UP_TO_3_0_7 = "2.10.1, 3.0.7, not 4.0.8, 4.2.4, 5.0.0-M1"
_NONE = f"not {_READ}"


def _open(
    *upstream: str,
    costs: str,
    evidence: str,
    releases: str = _READ,
    fixed: str = "",
    harm: str = "",
    applies: Callable[[Mapping[str, Any]], bool] | None = None,
    avoided_by: str = "",
) -> History:
    """A mistake that releases which were read have."""
    return History(
        "pulsar",
        upstream,
        "before 2.10.1",
        fixed,
        releases,
        applies=applies,
        harm=harm,
        costs=costs,
        avoided_by=avoided_by,
        evidence=evidence,
    )


def _with_deduplication(parameters: Mapping[str, Any]) -> bool:
    return bool(parameters.get("dedup"))


def _past(*upstream: str, fixed: str, evidence: str) -> History:
    """A mistake that was fixed before the releases which were read."""
    return History("pulsar", upstream, "", fixed, _NONE, evidence=evidence)


def _never(evidence: str) -> History:
    """A mistake that no release which was read has: it shows what a part of the code is there for."""
    return History("pulsar", releases=_NONE, evidence=evidence)


TOPIC: dict[str, History] = {
    "terminated_reopened": _open(
        "#25858",
        "#25795",
        "#26680",
        costs="messages are acknowledged beyond the end of a terminated topic, where no reader gets them; or the topic is open "
        "again",
        harm="acked_is_in_log",
        evidence="ML.asyncTerminate (1530-1578) takes no metadataMutex, and updateLedgersIdsComplete (1878) sets LedgerOpened "
        "whatever"
        " the state is; 5.0.0-M1 looks for Closed and Fenced only",
    ),
    "closed_reopened": _open(
        "#25240",
        costs="a managed ledger that nobody serves is open",
        evidence="ML.updateLedgersIdsComplete (1878) sets LedgerOpened whatever the state is; 5.0.0-M1 looks for Closed and "
        "Fenced before",
        releases=_UP_TO_4_2_4,
        fixed="5.0.0-M1 (#25240)",
    ),
    "reopened_before_fence": _open(
        costs="with deduplication messages are acknowledged as duplicates and stored nowhere; without it their order is lost",
        harm="acked_is_in_log",
        evidence="ML.createComplete's callback operationFailed (1824) sets ClosedLedger, where a failed creation sets "
        "WriteFailed (1759)",
    ),
    "removed_producer_publishes": History(
        "pulsar",
        ("#25352",),
        "2026-03 (#25352)",
        "",
        "4.2.4, 5.0.0-M1, not 2.10.1, 3.0.7, 4.0.8",
        harm="acked_is_in_log",
        costs="with deduplication messages are acknowledged as duplicates and stored nowhere, after any failed creation of a "
        "ledger",
        avoided_by="brokerDeduplicationEnabled=false, as to the loss: then messages can come out of order",
        evidence="ServerCnx.safelyRemoveProducer (3509) removes the producer by whenCompleteAsync, and Producer.closeNow (755) "
        "leaves"
        " isClosed false, so ServerCnx.handleSend still finds it; whenComplete in 2.10.1 (2549), 3.0.7 (3144) and "
        "4.0.8 (3420); 5.0.0-M1 is as 4.2.4 (4298)",
    ),
    "resends_recovered": _open(
        "#7490",
        "#24722",
        costs="messages are stored twice, with deduplication too, and first ones of a group again behind later ones",
        evidence="ML.addEntryFailedDueToConcurrentlyModified (1918-1945) takes the recovered end, and updateLedgersIdsComplete "
        "sends"
        " everything pending again; after ML.checkAddTimeout (4759) the ledger's handle goes on writing",
    ),
    "pending_forgotten": _open(
        "#26678",
        "#25240",
        costs="a write is never answered, and its topic stays fenced until it is unloaded",
        harm="writes_are_answered",
        evidence="ML.ledgerClosed (1954-1966) returns without a word in state Terminated and, before 5.0.0-M1, in state Fenced",
    ),
    "fenced_context_kept": _open(
        costs="a connection is not read any more once as many writes as it may have under way have met a fenced managed ledger",
        harm="writes_are_answered",
        evidence="PT.addFailed (771) of a ManagedLedgerFencedException only closes the topic; 5.0.0-M1 completes the write's "
        "context",
        releases=_UP_TO_4_2_4,
        fixed="5.0.0-M1",
    ),
    "close_error_ignored": _open(
        "#26074",
        "#26263",
        costs="an acknowledged message is in no ledger, after a fence that did not hold",
        evidence="OAE.closeComplete (296-309) logs the error and completes the add",
    ),
    "snapshot_ahead": _open(
        costs="a message is stored twice with deduplication, after the topic is loaded again",
        applies=_with_deduplication,
        evidence="MD.takeSnapshot (670) marks lastConfirmedEntry, which OAE.run sets (281) before the callback, and before the "
        "close of a"
        " full ledger",
    ),
    "properties_dropped": _open(
        "#26483",
        "#26512",
        costs="a message is stored twice with deduplication",
        applies=_with_deduplication,
        evidence="MC.recoverFromLedger (621, 637, 649) begins with the node's position and no properties; the fix is merged "
        "upstream, and"
        " in none of these",
    ),
    "cursor_list_stale": _open(
        "#13489",
        "#14779",
        costs="a subscription loses its backlog",
        applies=lambda parameters: not store_of(parameters).ordered,
        evidence="MS.getCursors (203-215) lists by AbstractMetadataStore.getChildren, which is a cache. Over ZooKeeper its "
        "cause was looked"
        " for and not found: answers and notifications come by one executor, in order",
    ),
    "lazy_cursors_not_waited": _open(
        "#20814",
        costs="a subscription loses its backlog, with lazyCursorRecovery",
        applies=lambda parameters: bool(parameters.get("lazy")),
        avoided_by="lazyCursorRecovery=false",
        evidence="ML.initializeCursors (700-733) adds a cursor when it is recovered, and internalTrimLedgers counts those that "
        "are added",
    ),
    "zombie_deletes": _open(
        "#24478",
        costs="the topic that another broker owns is gone, with all acknowledged messages",
        applies=lambda parameters: bool(parameters.get("deletions")),
        avoided_by="brokerDeleteInactiveTopicsEnabled=false",
        evidence="PT.checkGC (3408-3440) asks nobody who owns the topic; MS.removeManagedLedger (309-320) deletes the node at "
        "any version",
    ),
    "trimmed_before_listed": _open(
        "#13238",
        "#13526",
        costs="a ledger that nobody lists is never deleted",
        harm="trimmed_is_deleted",
        evidence="ML.internalTrimLedgers removes ledgers from memory (doDeleteLedgers, 3307) before it writes the list, and "
        "does not put"
        " them back",
    ),
    "trim_mark_in_memory": _open(
        "#24855",
        costs="a subscription's stored position is in a ledger that is deleted, and its backlog negative",
        evidence="ML.maybeUpdateCursorBeforeTrimmingConsumedLedger of 2.10.1 (2261-2292) and 3.0.7 (2439-2470), as that of "
        "4.0.6 and 4.0.7, goes by getMarkDeletedPosition, which may be in memory only; that of 4.0.8 (2594-2625) goes by "
        "getPersistentMarkDeletedPosition. It moves the cursor past a consumed ledger in memory only; 4.2.4 and 5.0.0-M1 write "
        "that, too (#25087): no entry is between the two positions",
        releases=_UP_TO_3_0_7,
        fixed="4.0.8 (#24855)",
    ),
    "missing_last_dropped": _open(
        "#19444",
        costs="the last ledger is lost, if BookKeeper's metadata come from a server that lags behind; its old owner goes on "
        "acknowledging",
        applies=lambda parameters: bool(parameters.get("elsewhere")),
        avoided_by="an empty bookkeeperMetadataServiceUri",
        evidence="ML.initialize (490-493) drops a ledger that is not found",
    ),
    "goes_on_after_bad_version": _past(
        "#17736",
        fixed="2.10.2 (#17736)",
        evidence="ML.handleBadVersion (1834) fences at every BadVersion, as in 2.10.2, 2.10.3 and 3.0.7; in 2.9.1 and 2.10.1 "
        "only the update of a rollover does (1514): trimming, terminating and offloading go on, but with the version that they "
        "knew",
    ),
    "timeout_races_ack": _open(
        "#22221",
        costs="a message is acknowledged, and stored a second time in the next ledger",
        releases="2.10.1, not 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1",
        fixed="2.10.7, 2.11.5, 3.0.5 (#22221)",
        evidence="OAE.addComplete looks at timeoutTriggered (233), as in 3.0.7; in 2.10.1, 2.10.2 and 2.10.3 it does not; the "
        "fixed releases are those that upstream names",
    ),
    "fenced_unknown_end": _open(
        "#24722",
        costs="the list says of a ledger that it has fewer entries than it has, and a backlog is negative",
        releases=_UP_TO_3_0_7,
        fixed="4.0.7, 4.1.1 (#24722)",
        evidence="ML.addEntryFailedDueToConcurrentlyModified (1918-1945) looks the end up; 4.0.6 has no such method, and "
        "ML.ledgerClosed of 2.10.1 and 3.0.7 takes the handle's last confirmed entry",
    ),
    "rollover_during_creation": _past(
        "#14664",
        "#12221",
        fixed="2.9.2 (#14664)",
        evidence="ML.rollCurrentLedgerIfFull (2030) begins only from LedgerOpened, by compareAndSet, as in 2.10.1; in 2.9.1 it "
        "sets ClosingLedger whatever the state is",
    ),
    "payload_error_goes_on": _open(
        "#24522",
        costs="messages are stored before an earlier one, if an interceptor of the broker cannot process an entry",
        releases=_UP_TO_3_0_7,
        fixed="4.0.6 at the latest (#24522)",
        evidence="OAE.initiate looks at interceptorException (136), as in 4.0.6; in 2.10.1 and 3.0.7 the exception leaves "
        "initiate, and entries behind it are sent",
    ),
    "terminate_without_mutex": _open(
        "#25795",
        "#26680",
        costs="a termination fences the topic, which is loaded again",
        releases="3.0.7, 4.0.8, 4.2.4, 5.0.0-M1, not 2.10.1",
        evidence="ML.asyncTerminate (1530-1578) takes no metadataMutex; nor does that of 2.10.1 (1254-1301), where BadVersion "
        "fences nothing and the termination only fails. Upstream knows it from reviews of the fixes for terminated_reopened",
    ),
    "no_recovery": _never("ML.initialize opens the last ledger with recovery (469-506)"),
    "list_without_version": _never("MS.asyncUpdateLedgerIds writes at the version that was read"),
    "written_before_listed": _never("ML.updateLedgersIdsComplete sends what is pending after the list is written (1877)"),
    "listed_before_created": _never("ML.createComplete writes the list when the ledger is created (1770)"),
}
