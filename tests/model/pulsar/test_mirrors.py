"""A reader who knows the Java finds his method among the actions, and no action is without one."""

from __future__ import annotations

import pytest

from fencepost.model.pulsar.election import election
from fencepost.model.pulsar.ownership import ownership
from fencepost.model.pulsar.service_unit import service_unit, service_unit_migration
from fencepost.model.pulsar.split import split
from fencepost.model.pulsar.store_clients import metadata_store
from fencepost.model.pulsar.topic import topic
from fencepost.model.pulsar.unload import unload

BUILD = {
    "metadata_store": metadata_store,
    "election": election,
    "ownership": ownership,
    "unload": unload,
    "split": split,
    "service_unit": service_unit,
    "service_unit_migration": service_unit_migration,
    "topic": topic,
}
OF_NOBODY = {
    "crash": "a process dies by no method",
    "give_up": "a client does, not a broker",
    "release_with_session": "not upstream",
    "drop": "not upstream",
    "leave_policies": "not upstream",
    "lose_connection": "a network does",
    "recover_elsewhere": "auto-recovery or a tool does, which are BookKeeper's",
    "write_early": "only a bug that no release had",
}


@pytest.mark.parametrize("protocol", BUILD)
def test_every_action_mirrors_something(protocol: str) -> None:
    assert {action for action, methods in BUILD[protocol]().mirrors.items() if not methods} <= OF_NOBODY.keys()


@pytest.mark.long
def test_what_mirrors_nothing_is_still_an_action() -> None:
    assert set().union(*(build().mirrors for build in BUILD.values())) >= OF_NOBODY.keys()


@pytest.mark.parametrize(
    ("protocol", "method", "actions"),
    [
        ("metadata_store", "ZKMetadataStore.handlePutResult", "create, write"),
        ("election", "LeaderElectionImpl.elect", "find_none, find_own, find_former, find_other"),
        ("election", "LeaderElectionImpl.tryToBecomeLeader", "propose, confirm, withdraw, creation_unheard"),
        ("election", "LeaderElectionImpl.handleSessionNotification", "reconnect, resume, reestablish, fail"),
        ("ownership", "OwnershipCache.getOwnerAsync", "read_owner"),
        ("ownership", "OwnershipCache.tryAcquiringOwnership", "try_to_own"),
        (
            "ownership",
            "ResourceLockImpl.revalidate",
            "find_missing, find_own, find_former, retake, find_other, create_concurrently",
        ),
        ("ownership", "LockManagerImpl.handleSessionEvent", "reconnect, resume, reestablish"),
        ("unload", "OwnedBundle.handleUnloadRequest", "start_unload, fail_to_close, start_release, release_unheard"),
        (
            "unload",
            "ResourceLockImpl.release",
            "release, release_fails, deletion_unheard, lone_release_unheard, start_release, stop_unload",
        ),
        ("topic", "ManagedLedgerImpl.updateLedgersIdsComplete", "list_new"),
        ("topic", "PersistentTopic.decrementPendingWriteOpsAndCheck", "unfence"),
        ("split", "NamespaceBundleFactory.splitBundles", "prepare, find_parent_missing"),
    ],
)
def test_a_method_is_found(protocol: str, method: str, actions: str) -> None:
    mirrors = BUILD[protocol]().mirrors
    assert ", ".join(action for action, methods in mirrors.items() if method in methods) == actions


def test_actions_tell_what_they_mirror() -> None:
    p = ownership(expiries=1, releases=1)
    assert all(action.mirrors == p.mirrors[action.name] for action in p.actions)
