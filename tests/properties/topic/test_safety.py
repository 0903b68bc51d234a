"""A topic: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.marking import first_at_once
from tests.properties.searching import searched, unexpected, unreached

TOPIC = PROTOCOLS["topic"]

COUNTS = {
    "two brokers": (30929, 73038, 26),
    "two brokers, no deduplication": (86305, 193710, 29),
    "failures": (1556, 2835, 24),
    "failed adds": (6049, 12648, 22),
    "terminated": (529, 886, 17),
    "unloaded": (3378, 5284, 26),
    "full ledgers, snapshots": (3473, 6208, 27),
    "trimmed": (27925, 83486, 31),
    "deleted": (10105, 22936, 26),
    "slow updates": (5749, 9183, 31),
    "transferred and truncated": (7025, 11213, 27),
    "properties": (9737, 24548, 23),
}

CONTROLS: dict[str, dict[str, int]] = {
    "two brokers": {"every_broker_has_all": 12, "unlisted_is_deleted": 12},
    "two brokers, no deduplication": {"stored_once": 13, "every_broker_has_all": 12, "unlisted_is_deleted": 12},
    "failures": {},
    "failed adds": {},
    "terminated": {},
    "unloaded": {"unlisted_is_deleted": 17},
    "full ledgers, snapshots": {"unlisted_is_deleted": 12},
    "trimmed": {
        "every_broker_has_all": 13,
        "cursor_is_in_the_log": 15,
        "unlisted_is_deleted": 10,
        "trimmed_is_deleted": 24,
    },
    "deleted": {"every_broker_has_all": 12, "unlisted_is_deleted": 9},
    "slow updates": {"unlisted_is_deleted": 17},
    "transferred and truncated": {"unlisted_is_deleted": 17},
    "properties": {"every_broker_has_all": 13, "unlisted_is_deleted": 10},
}

CAUGHT = {
    "terminated_reopened": ({"states_follow"}, 12),
    "closed_reopened": ({"states_follow"}, 11),
    "fenced_reopened": ({"left_ledgers_are_closed"}, 8),
    "reopened_before_fence": ({"in_producer_order"}, 15),
    "removed_producer_publishes": ({"in_producer_order"}, 16),
    "resends_recovered": ({"stored_once"}, 12),
    "pending_forgotten": ({"failed_writes_fence"}, 8),
    "fenced_context_kept": ({"writes_are_answered"}, 15),
    "transferred_context_kept": ({"producer_is_read", "writes_are_answered"}, 14),
    "close_error_ignored": ({"acked_is_in_log", "every_broker_has_all"}, 10),
    "snapshot_ahead": ({"stored_once"}, 18),
    "properties_dropped": ({"stored_once"}, 19),
    "truncation_forgets_producers": ({"stored_once"}, 19),
    "cursor_list_stale": ({"cursor_is_in_the_log", "unread_is_kept"}, 13),
    "lazy_cursors_not_waited": ({"cursor_is_in_the_log", "unread_is_kept"}, 13),
    "zombie_deletes": ({"acked_is_in_log"}, 13),
    "trimmed_before_listed": ({"trimmed_is_deleted"}, 18),
    "trim_mark_in_memory": ({"cursor_is_in_the_log"}, 13),
    "ids_begin_again": ({"cursor_is_in_the_log", "trimmed_from_the_front", "unread_is_kept"}, 19),
    "missing_last_dropped": ({"acked_is_in_log", "every_broker_has_all"}, 13),
    "goes_on_after_bad_version": ({"log_never_forks", "acked_is_in_log"}, 20),
    "timeout_races_ack": ({"left_ledgers_are_closed"}, 8),
    "fenced_unknown_end": ({"listed_entries_are_the_end"}, 14),
    "listed_after_time_out": ({"states_follow"}, 13),
    "bad_version_keeps_mutex": ({"mutex_is_given_back"}, 14),
    "current_before_listed": ({"left_ledgers_are_closed"}, 9),
    "trim_keeps_mutexes": ({"mutex_is_given_back"}, 16),
    "rollover_during_creation": ({"new_ledgers_are_under_way"}, 5),
    "payload_error_goes_on": ({"in_producer_order"}, 10),
    "terminate_without_mutex": ({"fenced_by_others_only"}, 11),
    "no_recovery": ({"log_never_forks", "one_open_ledger", "acked_is_in_log"}, 12),
    "list_without_version": ({"log_never_forks", "acked_is_in_log"}, 12),
    "written_before_listed": ({"left_ledgers_are_closed"}, 10),
    "listed_before_created": ({"listed_is_created", "recovered_has_entries"}, 3),
}

LOST: Mapping[str, Value] = {"brokers": 1, "ledgers": 3, "openings": 1, "connections": 2, "rolls": 1, "failures": 1}
"""One broker, two messages, and one failure of the metadata store."""
HOLES = ("reopened_before_fence", "removed_producer_publishes")


@pytest.mark.parametrize("hole", first_at_once(HOLES))
def test_either_hole_alone_loses_a_message_that_deduplication_has_acknowledged(hole: str) -> None:
    """So neither remedy holds without the other: each leaves the other hole open."""
    assert unexpected(searched(TOPIC, LOST, [hole], ["acked_is_in_log"])) == {"acked_is_in_log": 18}


def test_both_remedies_together_lose_nothing() -> None:
    assert unexpected(searched(TOPIC, {**LOST, "failures": 2}, [], ["acked_is_in_log"])) == {}


@pytest.mark.long
@pytest.mark.parametrize("hole", first_at_once(HOLES))
def test_without_deduplication_a_hole_costs_the_order_only(hole: str) -> None:
    violations = unexpected(searched(TOPIC, {**LOST, "dedup": False}, [hole], ["acked_is_in_log"]))
    order = unexpected(searched(TOPIC, {**LOST, "dedup": False}, [hole], ["in_producer_order"]))
    assert violations == {}
    assert list(order) == ["in_producer_order"]


def test_a_terminated_topic_that_is_reopened_loses_a_message() -> None:
    shown = TOPIC.shown_by["terminated_reopened"]
    assert unexpected(searched(TOPIC, shown, ["terminated_reopened"], ["acked_is_in_log"])) == {"acked_is_in_log": 13}


def test_a_managed_ledger_that_has_fenced_itself_is_open_again() -> None:
    shown = TOPIC.shown_by["fenced_reopened"]
    assert unexpected(searched(TOPIC, shown, ["fenced_reopened"], ["states_follow"])) == {"states_follow": 11}


@pytest.mark.parametrize("name", ["deleted", "failed adds", "terminated"])
def test_what_a_topic_does_since_5_0_1_breaks_no_property_and_misses_no_situation(name: str) -> None:
    (instance,) = (each for each in TOPIC.sizes["ci"] if each.name == name)
    found = searched(TOPIC, {**instance.parameters, **TOPIC.behaviour(Releases.of("5.0.1"))})
    assert unexpected(found) == {}
    assert unreached(found) == []


def test_a_closed_topic_may_have_yet_to_hear_of_the_entry_that_filled_its_ledger() -> None:
    filled = {"brokers": 1, "messages": 1, "ledgers": 2, "capacity": 1, "openings": 1, "connections": 1, "closings": 1}
    assert unexpected(searched(TOPIC, filled, (), ["left_ledgers_are_closed"])) == {}


def test_a_mutex_that_is_kept_leaves_an_update_of_properties_or_a_write_without_an_answer() -> None:
    for bug, costs, steps in (
        ("bad_version_keeps_mutex", "property_update_is_answered", 16),
        ("trim_keeps_mutexes", "writes_are_answered", 22),
    ):
        assert unexpected(searched(TOPIC, TOPIC.shown_by[bug], [bug], [costs])) == {costs: steps}


def test_a_message_in_a_ledger_whose_listing_was_too_slow_is_lost_at_the_next_load() -> None:
    shown = TOPIC.shown_by["listed_after_time_out"]
    assert unexpected(searched(TOPIC, shown, ["listed_after_time_out"], ["acked_is_in_log"])) == {"acked_is_in_log": 27}


def test_a_ledger_that_was_not_listed_is_deleted_and_stays_the_current_one_in_2_10_1() -> None:
    shown = TOPIC.shown_by["current_before_listed"]
    kept = searched(TOPIC, shown, ["current_before_listed"], ["current_ledger_is_there"])
    assert unexpected(kept) == {"current_ledger_is_there": 10}
    assert unexpected(searched(TOPIC, shown, (), ["current_ledger_is_there"])) == {}


def test_trimming_breaks_off_after_a_listing_that_failed_too() -> None:
    """Both bugs of 2.10.1: without an add that fails, by the ledger that was not listed."""
    shown = {**TOPIC.shown_by["trim_keeps_mutexes"], "add_failures": 0, "ledgers": 3}
    both = ["current_before_listed", "trim_keeps_mutexes"]
    assert unexpected(searched(TOPIC, shown, both, ["writes_are_answered"])) == {"writes_are_answered": 15}
    assert unexpected(searched(TOPIC, shown, both[1:], ["writes_are_answered"])) == {}


def test_a_ledger_that_another_rollover_leaves_behind_is_dropped_with_its_message() -> None:
    shown = TOPIC.shown_by["rollover_during_creation"]
    findings = searched(TOPIC, shown, ["rollover_during_creation"], ["acked_is_in_log"])
    assert list(unexpected(findings)) == ["acked_is_in_log"]
