"""When ownership and its locks had each of their mistakes; read in the sources of the modelled releases of Pulsar.

``RL`` is ResourceLockImpl and ``LM`` LockManagerImpl of pulsar-metadata, ``OC`` OwnershipCache of the broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.model.history import History
from fencepost.model.pulsar.history.shared import (
    CACHE_KEPT_ON_DISCONNECT,
    DELETES,
    DELETION_SENT_AGAIN,
    EVENT_LOST,
    FOUND_LOCK_UNATTENDED,
    LEFT,
    LONE_RELEASE_FAILS,
    NONE,
    RECREATED_BEHIND_RELEASE,
    STALE_UNLOAD,
    STAYS,
    never,
    of_2_10_1,
    past,
)


def migrates(parameters: Mapping[str, Any]) -> bool:
    """Whether the metadata are moved to another store in an instance with these parameters."""
    return bool(parameters.get("migration"))


OWNERSHIP: dict[str, History] = {
    "released_without_version": past(
        (),
        fixed="before 2.10.1",
        allows=DELETES,
        evidence="RL.release deletes by version (2.10.1:85, 4.2.4:112); what was before was not read",
    ),
    "not_revalidated": past(
        ("#10351",),
        since="before 2.8.0",
        fixed="2021-04 (#10351)",
        evidence="LM.handleSessionEvent 2.10.1:125-129, 4.2.4:123-127",
    ),
    "deletion_ignored": past(
        ("#10351",), since="before 2.8.0", fixed="2021-04 (#10351)", evidence="LM.handleDataNotification 4.2.4:143-150"
    ),
    "reconnection_flag_never_set": of_2_10_1(
        ("#17664",),
        since="2021-09 (#11886)",
        fixed="3.0.0",
        costs="a lock whose revalidation was cut off is not looked after: another broker may own the bundle, too, unnoticed",
        unfair=STAYS,
        evidence="RL 2.10.1:45, 208-209 never sets revalidateAfterReconnection; 4.2.4:248 does",
    ),
    "concurrent_revalidations": past(
        ("#13004", "#13006"),
        since="2021-04 (#10351)",
        fixed="2.9.1, 2.10.0",
        evidence="RL 2.10.1:217-236 chains revalidations; since 3.0.0 a sequencer (4.2.4:231)",
    ),
    "busy_lock_kept": of_2_10_1(
        ("#17700",),
        since="2021-04 (#10351)",
        fixed="3.0.0",
        costs="a broker goes on serving a bundle that another broker owns, until it is restarted",
        unfair=STAYS,
        evidence="RL 2.10.1:191 looks for BadVersionException, and revalidate answers LockBusyException; 4.2.4:239 for both",
    ),
    "both_contenders_lose": never(
        "RL.acquire never deletes a node of another value (4.2.4:323-326); #11690 is a flaky test", allows=DELETES
    ),
    "lost_lock_served": past(
        ("#12194",),
        since="2021-04 (#10351)",
        fixed="2021-09 (#12194)",
        evidence="OC unloads the bundle when a lock is lost: 2.10.1:104-107, 4.2.4:99-106",
    ),
    "endless_revalidation": History(
        "pulsar",
        upstream=("#14736", "#17759"),
        releases=NONE,
        allows=DELETES,
        evidence="never in ownership: needs a value without equals, as that of bookies is (bookkeeper#4686); a broker's has it",
    ),
    "failed_creation_left": History(
        "pulsar",
        since="2.10.0 or before",
        releases="2.10.1 to 5.0.0-M1",
        costs="a bundle is owned by a broker that does not serve it: lookups elsewhere fail; since 4.0.8 one that reaches that"
        " broker heals it (#23515)",
        evidence="ZKMetadataStore sends a creation no second time that is executed alone, its parent missing or another"
        " operation of its batch failed (2.10.1:207-214, 4.2.4:291-301, 437-459)",
    ),
    "version_goes_back": past(
        ("#19817", "#19844"),
        since="#12190",
        fixed="2.11.1, 3.0.0",
        evidence="RL.updateValue 2.10.1:72-74 runs beside revalidations; of a bundle's lock nothing in a broker calls it",
    ),
    "recreated_behind_release": RECREATED_BEHIND_RELEASE,
    "deletion_sent_again": DELETION_SENT_AGAIN,
    "lone_release_fails": LONE_RELEASE_FAILS,
    "event_lost": EVENT_LOST,
    "found_lock_unattended": FOUND_LOCK_UNATTENDED,
    "cache_kept_on_disconnect": CACHE_KEPT_ON_DISCONNECT,
    "answers_disabled": never("NamespaceService.findBrokerServiceUrl fails where the owner is disabled (4.2.4:509)"),
    "stale_unload": STALE_UNLOAD,
    "recreates_of_others": History(
        "pulsar",
        since="4.2.0",
        releases="4.2.4 to 5.0.0-M1, not 2.10.1 to 4.0.8",
        applies=migrates,
        costs="after a migration of the metadata a bundle belongs to a dead broker for as long as the broker lives that has"
        " created its node: lookups name the dead one",
        avoided_by="no migration; or no broker stops while one is under way",
        evidence="DualMetadataStore.put remembers a path before it puts, whatever comes of that (4.2.4:335-350, 5.0.0-M1:361);"
        " recreateEphemeralNodesInTarget puts what it reads there, at any version (4.2.4:246-260, 5.0.0-M1:267)",
    ),
    "release_refused": History(
        "pulsar",
        since="4.2.0",
        releases="4.2.4 to 5.0.0-M1, not 2.10.1 to 4.0.8",
        applies=migrates,
        costs="a bundle that is unloaded while the metadata are migrated stays inactive at its broker until that is restarted:"
        " lookups there fail",
        avoided_by="no migration; or no unloads meanwhile: loadBalancerEnabled=false",
        unfair=LEFT,
        evidence="DualMetadataStore.delete fails while it is PREPARATION or COPYING (4.2.4:364-383, 5.0.0-M1:383); RL.release"
        " stays Releasing then (4.2.4:111-131)",
    ),
    "goes_on_unprepared": History(
        "pulsar",
        since="4.2.0",
        fixed="5.0.0-M1",
        releases="4.2.4, not 2.10.1 to 4.0.8, 5.0.0-M1",
        applies=migrates,
        costs="a broker that is slow, or has started meanwhile, has no nodes in the target: others acquire its bundles",
        avoided_by="no migration; or no broker starts while one is under way",
        unfair=STAYS,
        evidence="MigrationCoordinator.waitForPreparation logs an error after 60 seconds and returns (4.2.4:123-143); 5.0.0-M1"
        " throws. A DualMetadataStore of 4.2.4 that starts meanwhile never prepares itself; in 5.0.0-M1 its constructor does",
    ),
}
