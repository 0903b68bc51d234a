"""The ownership of bundles: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

import pytest

from fencepost.model.pulsar.ownership import RELEASES
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from tests.properties.searching import (
    controls,
    counts,
    firm,
    proved,
    searched,
    unexpected,
)

OWNERSHIP = PROTOCOLS["ownership"]

COUNTS = {
    "cut off": (18168, 80212, 19),
    "crash": (109191, 671694, 25),
    "disabled": (9116, 33776, 18),
    "two bundles, fixed": (133040, 702932, 24),
    "all faults, fixed": (124762, 701838, 24),
}

CONTROLS = {
    "cut off": {
        "owner_holds_the_node": 11,
        "holder_is_responsible": 9,
        "single_server": 5,
        "single_owner": 7,
        "single_owner_up_to_date": 14,
        "releases_end": 10,
        "lookups_are_answered": 10,
    },
    "crash": {"single_server": 12, "single_owner": 12},
    "disabled": {"single_server": 5, "single_owner": 7, "releases_end": 10, "lookups_are_answered": 10},
    "two bundles, fixed": {"single_server": 5, "single_owner": 7},
    "all faults, fixed": {"single_server": 5, "single_owner": 7},
}

CAUGHT = {
    "released_without_version": ({"is_the_owner_that_a_topic_has", "node_of_another_is_kept"}, 9),
    "not_revalidated": ({"owner_holds_the_node", "valid_locks_are_looked_after"}, 5),
    "deletion_ignored": ({"owner_holds_the_node"}, 12),
    "reconnection_flag_never_set": ({"locks_go_forward"}, 7),
    "concurrent_revalidations": ({"holder_is_responsible"}, 8),
    "busy_lock_kept": ({"locks_go_forward", "owner_holds_the_node"}, 8),
    "both_contenders_lose": ({"is_the_owner_that_a_topic_has", "node_of_another_is_kept"}, 4),
    "lost_lock_served": ({"valid_locks_are_served"}, 8),
    "endless_revalidation": ({"locks_go_forward"}, 7),
    "failed_creation_left": ({"holder_is_responsible", "locks_go_forward"}, 2),
    "version_goes_back": ({"owner_knows_the_version"}, 8),
    "recreated_behind_release": ({"locks_create_nodes"}, 7),
    "deletion_sent_again": ({"is_the_owner_that_a_topic_has", "node_of_another_is_kept"}, 8),
    "lone_release_fails": ({"lookups_are_answered", "owned_in_the_end", "releases_end"}, 5),
    "event_lost": ({"owner_holds_the_node", "valid_locks_are_looked_after"}, 5),
    "found_lock_unattended": ({"owner_holds_the_node", "valid_locks_are_looked_after"}, 8),
    "cache_kept_on_disconnect": ({"caches_agree_with_the_store"}, 6),
    "answers_disabled": ({"disabled_owners_are_not_named"}, 4),
    "stale_unload": ({"locks_go_forward"}, 13),
    "recreates_of_others": ({"nodes_go_with_their_brokers"}, 10),
    "release_refused": ({"owned_in_the_end", "releases_end"}, 11),
    "goes_on_unprepared": ({"migrations_keep_owners"}, 4),
    "start_missed": ({"migrations_end"}, 13),
    "completion_missed": ({"migrations_end"}, 11),
}

MANY: dict[str, Value] = {"brokers": 3, "disconnects": 2, "expiries": 2, "crashes": 2, "releases": 2, "disables": 2}


MIGRATED: dict[str, Value] = {"migration": True, "crashes": 1}


@pytest.mark.long
def test_a_migration_keeps_owners_and_ends() -> None:
    findings = searched(OWNERSHIP, MIGRATED | {"releases": 1})
    assert counts(findings) == (40739, 176443, 35)
    assert not unexpected(findings) | controls(findings)


def test_without_a_migration_nothing_of_it_exists() -> None:
    """What wraps the store passes everything on: the variables and the actions are those of a release without it."""
    plain, moved = OWNERSHIP.build({}), OWNERSHIP.build({"migration": True})
    added = {"migration", "read_only", "prepared", "target_owner", "target_session"}
    assert {v.name.split("[")[0] for v in moved.variables} - {v.name.split("[")[0] for v in plain.variables} == added
    steps = {"start_migration", "hear_of_preparation", "prepare", "complete", "hear_of_completion"}
    assert {a.name for a in moved.actions} - {a.name for a in plain.actions} == steps


@pytest.mark.deep
@pytest.mark.parametrize("instance", [i for i in OWNERSHIP.sizes["standard"] if i.by], ids=lambda i: i.name)
def test_induction_proves_five_brokers_and_eight_bundles(instance: Instance) -> None:
    assert proved(OWNERSHIP, instance.parameters)


@pytest.mark.long
@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_induction_proves_what_exhaustion_cannot_reach(fixed: bool) -> None:
    """Whatever is not a negative control, for all runs of an instance far too large to be searched."""
    parameters = MANY | {"fixed": fixed}
    assert proved(OWNERSHIP, parameters) == firm(OWNERSHIP, parameters)


@pytest.mark.long
def test_induction_proves_that_nothing_is_created_again_where_no_node_goes() -> None:
    parameters: dict[str, Value] = {"disconnects": 1, "releases": 0}
    assert {"owner_holds_the_node", "no_deadlock"} <= proved(OWNERSHIP, parameters)


@pytest.mark.long
def test_what_upstream_leaves_open_is_closed_by_the_remedies() -> None:
    """docs/findings-control-plane.md: with the remedies only what every lease has is left, a zombie that serves on."""
    faults: dict[str, Value] = {"disconnects": 1, "expiries": 1, "crashes": 1, "releases": 1}
    upstream, fixed = searched(OWNERSHIP, faults), searched(OWNERSHIP, faults | {"fixed": True})
    assert unexpected(upstream) == unexpected(fixed) == {}
    assert set(controls(fixed)) == {"single_server", "single_owner"}
    assert set(controls(upstream)) - set(controls(fixed)) == {
        "owner_holds_the_node",
        "holder_is_responsible",
        "single_owner_up_to_date",
        "releases_end",
        "lookups_are_answered",
    }


@pytest.mark.parametrize(
    ("bug", "faults", "shown"),
    [
        ("deletion_sent_again", {"disconnects": 1, "releases": 1}, {"single_owner": 10}),
        ("deletion_sent_again", {"disconnects": 2, "releases": 1}, {"single_owner_up_to_date": 13}),
        ("recreated_behind_release", {"brokers": 1, "expiries": 1, "releases": 1}, {"holder_is_responsible": 8}),
        ("found_lock_unattended", {"disconnects": 1, "expiries": 1}, {"single_owner_up_to_date": 11}),
    ],
    ids=["two owners for a moment", "two owners", "orphan node", "two owners for good"],
)
def test_what_a_bug_comes_to(bug: str, faults: dict[str, Value], shown: dict[str, int]) -> None:
    """Without the bug none of it happens, with these faults."""
    assert unexpected(searched(OWNERSHIP, faults, [bug], list(shown))) == shown
    assert not set(shown) & set(controls(searched(OWNERSHIP, faults, only=list(shown))))


def test_a_deletion_that_names_the_creation_may_be_sent_again() -> None:
    faults: dict[str, Value] = {"disconnects": 2, "releases": 1, "fixed": True}
    assert unexpected(searched(OWNERSHIP, faults, ["deletion_sent_again"])) == {}


@pytest.mark.parametrize(("release", "stopped"), [("3.0.7", {"owned_in_the_end": 10}), ("4.0.8", {})])
def test_a_lookup_at_the_owner_heals_what_is_owned_and_not_served(release: str, stopped: dict[str, int]) -> None:
    faults: dict[str, Value] = {"disconnects": 1, "expiries": 1, **RELEASES[release]}
    findings = searched(OWNERSHIP, faults)
    assert unexpected(findings) == {}
    assert {name: steps for name, steps in controls(findings).items() if name == "owned_in_the_end"} == stopped
    assert controls(findings)["holder_is_responsible"] == 9
    assert counts(findings) == ((2652, 9238, 14) if stopped else (2692, 9426, 16))


def test_what_a_broker_gives_up_it_owns_again_with_its_next_session_and_serves_at_the_next_lookup() -> None:
    faults: dict[str, Value] = {"disconnects": 1, "expiries": 1}
    findings = searched(OWNERSHIP, {**faults, **RELEASES["5.0.1"]})
    assert unexpected(findings) == {}
    assert {v.note for v in findings.verdicts if v.property.name == "owner_has_given_up"} == {"reached"}
    assert "owned_in_the_end" not in controls(findings)
    without = searched(OWNERSHIP, {**faults, **RELEASES["5.0.1"], "reacquires": False})
    assert "owned_in_the_end" in controls(without)
