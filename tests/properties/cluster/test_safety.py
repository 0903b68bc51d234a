"""A cluster: pinned counts of small instances, and which bug of which part reaches a user."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.model.language import Protocol, Universe
from fencepost.model.language.mistakes import ModelError
from fencepost.model.releases import Releases
from fencepost.model.stand_ins.ownership import Ownership, stand_in
from fencepost.properties.cluster.bugs import of_parts
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from fencepost.properties.slices import slice_for
from tests.marking import first_at_once
from tests.properties.searching import searched, unexpected, unreached

CLUSTER = PROTOCOLS["cluster"]

COUNTS = {
    "an expiry": (20895, 54650, 29),
    "an expiry, no deduplication": (28803, 71168, 28),
    "an unload": (4679, 7085, 28),
    "a crash": (4212, 6254, 28),
    "an expiry, an owner cut off": (42064, 110760, 30),
    "a crash and a lost disk": (10992, 22486, 30),
    "deleted as inactive": (28550, 64632, 25),
}

CONTROLS: dict[str, dict[str, int]] = {
    "an expiry": {"one_takes_itself_for_the_owner": 3, "every_broker_has_all": 15, "unlisted_is_deleted": 12},
    "an expiry, no deduplication": {
        "stored_once": 14,
        "one_takes_itself_for_the_owner": 3,
        "every_broker_has_all": 15,
        "unlisted_is_deleted": 12,
    },
    "an unload": {},
    "a crash": {"unlisted_is_deleted": 15},
    "a crash and a lost disk": {"unlisted_is_deleted": 15},
    "an expiry, an owner cut off": {
        "one_takes_itself_for_the_owner": 3,
        "every_broker_has_all": 15,
        "unlisted_is_deleted": 12,
    },
    "deleted as inactive": {"one_takes_itself_for_the_owner": 3, "every_broker_has_all": 15, "unlisted_is_deleted": 12},
}


CAUGHT = {
    "terminated_reopened": ({"states_follow"}, 13),
    "closed_reopened": ({"states_follow"}, 12),
    "fenced_reopened": ({"left_ledgers_are_closed"}, 9),
    "listed_after_time_out": ({"states_follow"}, 14),
    "reopened_before_fence": ({"in_producer_order"}, 16),
    "removed_producer_publishes": ({"in_producer_order"}, 17),
    "resends_recovered": ({"stored_once"}, 13),
    "pending_forgotten": ({"failed_writes_fence"}, 9),
    "fenced_context_kept": ({"writes_are_answered"}, 18),
    "transferred_context_kept": ({"producer_is_read", "writes_are_answered"}, 15),
    "close_error_ignored": ({"acked_is_in_log", "every_broker_has_all"}, 11),
    "snapshot_ahead": ({"stored_once"}, 21),
    "properties_dropped": ({"stored_once"}, 22),
    "truncation_forgets_producers": ({"stored_once"}, 22),
    "cursor_list_stale": ({"cursor_is_in_the_log", "unread_is_kept"}, 16),
    "lazy_cursors_not_waited": ({"cursor_is_in_the_log", "unread_is_kept"}, 16),
    "zombie_deletes": ({"list_is_written_by_version"}, 13),
    "trimmed_before_listed": ({"trimmed_is_deleted"}, 19),
    "trim_mark_in_memory": ({"cursor_is_in_the_log"}, 14),
    "ids_begin_again": ({"cursor_is_in_the_log", "trimmed_from_the_front", "unread_is_kept"}, 20),
    "missing_last_dropped": ({"acked_is_in_log", "every_broker_has_all"}, 16),
    "goes_on_after_bad_version": ({"acked_is_in_log", "log_never_forks"}, 23),
    "timeout_races_ack": ({"left_ledgers_are_closed"}, 9),
    "fenced_unknown_end": ({"listed_entries_are_the_end"}, 15),
    "bad_version_keeps_mutex": ({"mutex_is_given_back"}, 17),
    "current_before_listed": ({"left_ledgers_are_closed"}, 10),
    "trim_keeps_mutexes": ({"mutex_is_given_back"}, 17),
    "rollover_during_creation": ({"new_ledgers_are_under_way"}, 6),
    "payload_error_goes_on": ({"in_producer_order"}, 11),
    "terminate_without_mutex": ({"fenced_by_others_only"}, 12),
    "no_recovery": ({"acked_is_in_log", "log_never_forks", "one_open_ledger"}, 15),
    "list_without_version": ({"list_is_written_by_version"}, 12),
    "written_before_listed": ({"left_ledgers_are_closed"}, 11),
    "listed_before_created": ({"listed_is_created", "recovered_has_entries"}, 4),
    "truncate": ({"acked_is_in_log", "ledgers_do_what_a_ledger_can"}, 13),
    "confirm_late": ({"acked_is_in_log", "ledgers_do_what_a_ledger_can"}, 13),
    "dropped": ({"acked_can_be_read"}, 12),
    "taken_unowned": ({"one_takes_itself_for_the_owner"}, 2),
    "deleted_while_owned": ({"one_takes_itself_for_the_owner"}, 3),
    "left_behind": ({"known_version_was_written", "unlisted_is_given_up"}, 16),
    "passed_over": ({"one_takes_itself_for_the_owner"}, 7),
    "loss_unheard": ({"one_is_left"}, 15),
    "node_left": ({"served_in_the_end"}, 2),
}
CAUGHT |= {bug: CAUGHT[known.moves[0]] for bug, known in of_parts().items()}
CAUGHT["goes_on_unprepared"] = CAUGHT["deleted_while_owned"]  # its second move, which takes fewer steps than its first

ONE: Mapping[str, Value] = {"messages": 1}
SINCE_5_0_1 = CLUSTER.behaviour(Releases.of("5.0.1"))


def lost(bugs: tuple[str, ...], parameters: Mapping[str, Value]) -> dict[str, int]:
    """In how many steps an acknowledged message is lost with these bugs, if it is."""
    return unexpected(searched(CLUSTER, parameters, bugs, ["acked_is_in_log"]))


@pytest.mark.parametrize("weak", first_at_once(["truncate, confirm_late", "truncate", "confirm_late"]))
def test_without_a_fence_two_owners_lose_an_acknowledged_message(weak: str) -> None:
    assert lost(tuple(weak.split(", ")), ONE) == {"acked_is_in_log": 13}


def test_with_fences_two_owners_lose_nothing() -> None:
    assert lost((), ONE) == {}


def test_without_a_fence_one_owner_loses_nothing() -> None:
    assert lost(("truncate", "confirm_late"), {**ONE, "expiries": 0}) == {}


@pytest.mark.long
def test_two_owners_without_a_lost_session_lose_nothing_as_long_as_fences_hold() -> None:
    assert lost(("taken_unowned",), {"expiries": 0}) == {}
    assert lost(("taken_unowned", "confirm_late"), {**ONE, "expiries": 0}) == {"acked_is_in_log": 12}


@pytest.mark.parametrize("name", first_at_once(["an unload", "an expiry", "deleted as inactive"]))
def test_what_a_cluster_does_since_5_0_1_breaks_no_property_and_misses_no_situation(name: str) -> None:
    (instance,) = (each for each in CLUSTER.sizes["ci"] if each.name == name)
    found = searched(CLUSTER, {**instance.parameters, **SINCE_5_0_1})
    assert unexpected(found) == {}
    assert unreached(found) == []


def test_since_5_0_1_a_broker_may_create_the_node_of_a_bundle_again_that_it_has_given_up() -> None:
    gives_up = {**ONE, **SINCE_5_0_1, "unloads": 1}
    assert unreached(searched(CLUSTER, gives_up, (), ["left_when_given_up"])) == []
    assert unreached(searched(CLUSTER, {**gives_up, "openings": 2, "connections": 0}, (), ["left_when_given_up"])) != []
    assert "left_when_given_up" not in {each.name for each in CLUSTER.outline({**ONE, "unloads": 1}).properties}


def test_a_bundle_that_was_given_up_is_served_again_without_its_node_by_a_bug_only() -> None:
    asked = ["given_up_is_acquired_again"]
    assert unexpected(searched(CLUSTER, {**ONE, **SINCE_5_0_1}, (), asked)) == {}
    assert list(unexpected(searched(CLUSTER, {**ONE, **SINCE_5_0_1}, ["taken_unowned"], asked))) == asked


@pytest.mark.long
def test_a_former_owner_deletes_the_topic_of_its_successor() -> None:
    assert lost(("zombie_deletes",), CLUSTER.shown_by["zombie_deletes"]) == {"acked_is_in_log": 16}
    assert lost(("zombie_deletes",), {**CLUSTER.shown_by["zombie_deletes"], "deletions": 0}) == {}


def test_one_bundle_is_a_slice_of_two() -> None:
    """Whatever a property of one bundle sees is what it sees where there is no other: the same states, by the same steps."""
    one, two = (CLUSTER.build({**ONE, "bundles": bundles}) for bundles in (1, 2))
    seen = _slice_of_a_message(two)
    assert {name for name in seen if name.startswith("other.")} == {"other.bundle.expiries"}  # which counts the same sessions
    assert seen - {"other.bundle.expiries"} <= {variable.name for variable in one.variables}
    assert [_states(bundles) for bundles in (1, 2)] == [3838, 3838]


def _slice_of_a_message(protocol: Protocol) -> set[str]:
    prop = CLUSTER.suite(protocol).named("acked_is_in_log")
    return {variable.name for variable in slice_for(protocol, [prop]).variables}


def _states(bundles: int) -> int:
    """How many states a search visits to decide whether a message of one bundle can be lost, of so many."""
    asked = Approach(by="exhaustive", workers=1, properties=("acked_is_in_log",))
    instance = Instance("bundles", {**ONE, "bundles": bundles})
    (verdict,) = check(Task(CLUSTER, instance, (), asked)).verdicts
    assert verdict.verdict == "exhausted"
    return int(verdict.reach["distinct"])


def test_disks_are_those_of_copies() -> None:
    with pytest.raises(ModelError, match="disk_losses are those of copies"):
        CLUSTER.build({"disk_losses": 1})


def test_with_as_many_lost_disks_as_copies_no_bug_is_needed() -> None:
    shown = CLUSTER.shown_by["dropped"]
    assert unexpected(searched(CLUSTER, shown, (), ["acked_can_be_read"])) == {}
    (prop,) = (p for p in CLUSTER.suite(CLUSTER.build({**shown, "disk_losses": 2})).properties if p.name == "acked_can_be_read")
    assert prop.strict


def test_two_bundles_share_sessions_only() -> None:
    with pytest.raises(ModelError, match="there are two whose brokers do not crash"):
        CLUSTER.build({"bundles": 2, "crashes": 1})


@pytest.mark.later
@pytest.mark.parametrize("size", ["standard"])
def test_a_cluster_with_an_expiry_a_crash_and_a_rollover_is_exhausted(size: str) -> None:
    instance = CLUSTER.instances(size)[0]
    asked = [p.name for p in CLUSTER.suite(CLUSTER.build(instance.parameters)).properties if p.kind in ("always", "leads_to")]
    findings = searched(CLUSTER, instance.parameters, (), asked)
    assert unexpected(findings) == {}
    assert findings.verdicts[0].reach["distinct"] == 1_619_447


def test_a_weak_move_of_ownership_has_a_name() -> None:
    assert stand_in(allows=("taken_unowned",)).parameters["allows"] == "taken_unowned"

    def part(p: Protocol, broker: Universe) -> Ownership:
        return Ownership(p, broker, 1, allows=("nothing",))

    p = Protocol("whole")
    with pytest.raises(ModelError, match=r"ownership has no weak move 'nothing'; it has taken_unowned, deleted_while_owned"):
        p.include("bundle", part, p.universe("broker", 2))
