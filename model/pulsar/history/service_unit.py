"""When the service unit channel had each of its mistakes; read in the sources of the modelled releases of Pulsar.

``SUSC`` is ServiceUnitStateChannelImpl, ``MS`` MetadataStoreTableViewImpl. The extensible load manager came with 3.0.0, its
store in the metadata store with 4.0.0.
"""

from __future__ import annotations

from typing import Any

from fencepost.model.history import History
from fencepost.model.pulsar.history.shared import DELETES, EVENT_LOST, LEFT, STAYS, past

_METADATA = {"store": ("metadata",)}
_TOPIC = {"store": ("topic",)}
_FIRST = "3.0.0 (PIP-192)"

OPENED: tuple[str, ...] = ("taken_unowned",)
"""The weak move by which a broker opens topics whose record is not its own."""


def _present(since: str, evidence: str, costs: str, *upstream: str, **others: Any) -> History:
    """A mistake that is in 4.2.4 and 5.0.0-M1."""
    return History("pulsar", upstream, since=since, evidence=evidence, costs=costs, **others)


SERVICE_UNIT: dict[str, History] = {
    "gaps_accepted": _present(
        _FIRST,
        "shouldKeepLeft returns false for a version two or more above, whatever else, and where there is no record checks no"
        " version (ServiceUnitStateCompactionStrategy 3.0.7, ServiceUnitStateDataConflictResolver 4.0.8, 4.2.4:69, 5.0.0-M1)",
        "a record that was written late, or twice, replaces the owner's: a unit may be with a broker that gave it up",
        "#19490",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        only=_TOPIC,
    ),
    "late_tombstones": _present(
        _FIRST,
        "SUSC.tombstoneAsync writes null, which shouldKeepLeft accepts always, or deletes without a version"
        " (3.0.7, 4.0.8, 4.2.4:992, MS.delete 4.2.4:431-435, 5.0.0-M1)",
        "the record of a unit that was just assigned is deleted: it is assigned again while its owner has topics open",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        allows=(*OPENED, *DELETES),
    ),
    "jumps_rejected": past(
        ("#20110",),
        since=_FIRST,
        fixed="before 3.0.7",
        evidence="shouldKeepLeft accepts versions that jump (3.0.7, 4.2.4:78-82)",
        allows=OPENED,
    ),
    "tombstones_compacted": _present(
        _FIRST,
        "StrategicTwoPhaseCompactor.doCompactMessage takes the key out of what it keeps (4.2.4); no view then sees null",
        "a broker whose reader was away during a compaction takes the records of a unit that was deleted and assigned again for"
        " old ones, until its versions have caught up, or for good",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        only=_TOPIC,
        allows=(*OPENED, *DELETES),
        unfair=LEFT,
    ),
    "copies_compared_by_version": past(
        ("#24186",),
        since="4.0.0",
        fixed="4.0.5",
        evidence="ServiceUnitStateData is a record, equal in all it has (4.0.8, 4.2.4)",
    ),
    "missed_not_read": _present(
        "4.0.0",
        "MS.handleSessionEvent acts on SessionLost and SessionReestablished only (4.0.8, 4.2.4:214, 5.0.0-M1), and ZooKeeper"
        " does not catch up persistent watches",
        "after a lost connection a broker relies on a copy that is out of date until the unit is written again",
        releases="4.0.8 to 5.0.0-M1, not 2.10.1, 3.0.7",
        only=_METADATA,
    ),
    "copy_kept": past(
        ("#24478",),
        since="4.0.0",
        fixed="4.0.6",
        evidence="MS.handleSessionEvent drops the copies, SUSC.handleInvalidate closes the topics (4.0.8, 4.2.4:787)",
    ),
    "close_waits_for_lookup": past(
        ("#21332",),
        since=_FIRST,
        fixed="3.0.2, 3.1.2",
        evidence="SUSC.getOwnerAsync answers at once where the unit goes to another (3.0.7, 4.2.4:559-568)",
    ),
    "close_overtaken": _present(
        _FIRST,
        "loadBalancerInFlightServiceUnitStateWaitingTimeInMillis is 30000, which is fixed in 3.0.7,"
        " and namespaceBundleUnloadingTimeoutMs 60000; SUSC.monitorOwnerships overrides what is in"
        " flight for longer (3.0.7, 4.0.8, 4.2.4:1771-1776, 5.0.0-M1)",
        "two brokers have the topics of a unit open while the first one is slow to close them",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        avoided_by="loadBalancerInFlightServiceUnitStateWaitingTimeInMillis above namespaceBundleUnloadingTimeoutMs",
        allows=DELETES,
    ),
    "transfer_unseen": _present(
        "4.0.0",
        "SUSC.handleOwnEvent closes for data.sourceBroker() only (4.0.8, 4.2.4:872-892, 5.0.0-M1); a late copy skips records",
        "clients stay attached to topics that are closed, and get no answer",
        releases="4.0.8 to 5.0.0-M1, not 2.10.1, 3.0.7",
        only=_METADATA,
    ),
    "transfer_back_unfinished": _present(
        "4.0.0 (PIP-307)",
        "SUSC.handleOwnEvent of the new owner calls onNamespaceBundleOwned only (4.0.8:865-870, 4.2.4:865-880, 5.0.0-M1), and"
        " PersistentTopic.close with disconnectClients=false neither disposes of the topic nor unfences it (4.2.4:1694-1860)",
        "a bundle comes back whose transfer fails as its destination dies, and its topics stay fenced until it is unloaded",
        releases="4.0.8 to 5.0.0-M1, not 2.10.1, 3.0.7",
        applies=lambda parameters: bool(parameters.get("multi_phase", True)),
        harm="what_is_owned_can_be_served",
        avoided_by="loadBalancerMultiPhaseBundleUnload=false",
        unfair=LEFT,
    ),
    "existing_ignored": History(
        "pulsar",
        ("#25379",),
        since=_FIRST,
        fixed="4.2.4 or before",
        releases="3.0.7, 4.0.8, not 2.10.1, 4.2.4, 5.0.0-M1",
        costs="a unit that was assigned to a broker as it was restarted is not served for up to 60 seconds",
        evidence="SUSC.handleExisting looks at Owned only in 3.0.7 and 4.0.8, and at Assigning in 4.2.4:767-780",
    ),
    "newer_lookup_dropped": History(
        "pulsar",
        ("#26146",),
        since=_FIRST,
        fixed="4.2.4 or before, not in 5.0.0-M1",
        releases="3.0.7, 4.0.8, 5.0.0-M1, not 2.10.1, 4.2.4",
        costs="a lookup waits for 30 seconds although the owner is known",
        evidence="SUSC.dedupeGetOwnerRequest removes by key in 3.0.7, 4.0.8:1046 and 5.0.0-M1:1060, only its own future in"
        " 4.2.4:1063-1064",
    ),
    "owned_buried": past(
        ("#21721",),
        since=_FIRST,
        fixed="before 3.0.7",
        evidence="SUSC.monitorOwnerships asks for !isActiveState (3.0.7, 4.2.4:1778)",
        allows=(*OPENED, *DELETES),
    ),
    "source_missed": past(
        ("#23064",),
        since=_FIRST,
        fixed="before 3.0.7",
        evidence="SUSC.monitorOwnerships looks at the source only in flight (3.0.7, 4.2.4:1757-1769)",
    ),
    "override_not_repeated": _present(
        _FIRST,
        "SUSC.doCleanup overrides each unit once, and ServiceUnitStateMetadataStoreTableViewImpl.flush does nothing"
        " (3.0.7, 4.0.8, 4.2.4:1638-1646, 5.0.0-M1)",
        "a unit stays with a broker that is gone until the leader's monitor finds it, up to 60 seconds",
        "#26520",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
    ),
    "assigned_while_leaving": _present(
        "3.0.0 (#20315)",
        "SUSC.publishAssignEventAsync asks for the state Started or later, which Disabled is (4.0.8:647, 4.2.4:656,"
        " 5.0.0-M1:649); 3.0.7 has no such state",
        "a unit that was looked up at a broker as it was shut down is assigned to it, and not served until it is gone and the"
        " leader finds the unit, up to 60 seconds",
        "#26520",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
    ),
    "release_cut_short": _present(
        "3.0.0 (#20315)",
        "SUSC.overrideOwnership makes Owned of Releasing, gracefully or not, also where the broker that shuts down is the one"
        " that releases (3.0.7, 4.0.8, 4.2.4:1475-1482, 5.0.0-M1)",
        "two brokers have the topics of a unit open while one of them shuts down that was unloading the unit",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        allows=DELETES,
    ),
    "handed_over_at_once": History(
        "pulsar",
        (),
        since="3.0.0 (#20315)",
        fixed="before 4.0.8",
        releases="3.0.7, not 2.10.1, 4.0.8 to 5.0.0-M1",
        costs="two brokers have the topics of a unit open while one of them shuts down",
        evidence="SUSC.cleanOwnerships overrides with Owned in 3.0.7:276, and with Releasing in 4.0.8:1447 and 4.2.4:1470",
        allows=(*OPENED, *DELETES),
    ),
    "event_lost": EVENT_LOST,
    "session_event_unseen": History(
        "pulsar",
        ("#25132",),
        since=_FIRST,
        fixed="4.2.4 or before",
        releases="3.0.7, 4.0.8, not 2.10.1, 4.2.4, 5.0.0-M1",
        costs="a leader considers the metadata store unstable for good: nobody cleans up after brokers that are gone",
        evidence="SUSC.lastMetadataSessionEvent is volatile in 4.2.4:129, and not in 3.0.7:138 and 4.0.8:130",
    ),
    "registration_lost": past(
        ("#23359", "#23382", "#24057", "#24932"),
        since=_FIRST,
        fixed="before 4.0.8",
        evidence="BrokerRegistryImpl registers again on deletion and with a new session (4.0.8, 4.2.4:264); 3.0.7 has a lock",
    ),
    "registration_persists": past(
        ("#23889", "#23984"),
        since="4.0.0",
        fixed="before 4.0.8",
        evidence="BrokerRegistryImpl.registerAsync puts with CreateOption.Ephemeral (4.0.8:144, 4.2.4)",
    ),
    "selected_late": past(
        ("#20677",),
        since=_FIRST,
        fixed="before 3.0.7",
        evidence="SUSC.publishAssignEventAsync asks dedupeGetOwnerRequest first, which answers with an owner that is registered"
        " (3.0.7:920-933, 4.0.8, 4.2.4:1030-1043, 5.0.0-M1); 3.0.7:343 also calls setSkippedMsgHandler, which none does since",
    ),
    "split_kept": _present(
        _FIRST,
        "SUSC.handleSplitEvent and handleOwnEvent do nothing where the broker is neither source nor destination (3.0.7, 4.0.8,"
        " 4.2.4:872-897, 930-935, 5.0.0-M1); SUSC.overrideOwnership gives a split that is 30 seconds old to any broker",
        "two brokers have the topics of a unit open after a split that failed, and the one that does not own it keeps them",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        unfair=STAYS,
    ),
    "split_forgotten": _present(
        _FIRST,
        "ExtensibleLoadManagerImpl.getOrSelectOwnerAsync assigns whatever has no record, without a look at the layout"
        " (3.0.7, 4.0.8, 4.2.4:523-542, 5.0.0-M1)",
        "a broker that is slow to hear of a split assigns the parent again: its new owner may open topics that the child's "
        "owner has open",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
    ),
    "deleted_lingers": past(
        ("#22743",),
        since=_FIRST,
        fixed="before 3.0.7",
        evidence="SUSC.handleDeleteEvent writes a tombstone (3.0.7:854, 4.2.4:964)",
    ),
}
