"""The service unit channel: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

import pytest

from fencepost.properties.protocols import PROTOCOLS
from tests.properties.searching import (
    searched,
    unexpected,
)

SERVICE_UNIT = PROTOCOLS["service_unit"]

COUNTS = {
    "unloads": (47227, 173510, 33),
    "crash": (86138, 390606, 25),
    "expiry": (173260, 857516, 31),
    "compaction": (40761, 151054, 24),
    "late": (99367, 388596, 28),
    "slow": (48913, 158982, 22),
    "at once": (13575, 54752, 22),
    "split": (67395, 265226, 33),
    "nodes": (63829, 291348, 26),
    "nodes, crash": (28506, 135308, 21),
    "nodes, monitored": (35412, 165110, 21),
    "nodes, shutdown": (62182, 267970, 27),
    "nodes, expiry": (65674, 324684, 24),
    "nodes, cut off": (23072, 103868, 16),
    "nodes, split": (313707, 1916150, 27),
}

CONTROLS: dict[str, dict[str, int]] = {
    "unloads": {},
    "crash": {"moves_end_by_themselves": 11, "lookups_are_answered": 10},
    "expiry": {"one_takes_itself_for_the_owner": 10, "topics_are_open_once": 12, "lookups_are_answered": 12},
    "compaction": {},
    "late": {"topics_are_open_once": 14},
    "slow": {"one_takes_itself_for_the_owner": 10, "topics_are_open_once": 12},
    "at once": {"topics_are_open_once": 14},
    "split": {},
    "nodes": {"topics_are_open_once": 11},
    "nodes, crash": {"moves_end_by_themselves": 10, "lookups_are_answered": 9},
    "nodes, monitored": {"moves_end_by_themselves": 10, "lookups_are_answered": 9},
    "nodes, shutdown": {"moves_end_by_themselves": 11, "lookups_are_answered": 10},
    "nodes, expiry": {
        "one_takes_itself_for_the_owner": 9,
        "topics_are_open_once": 11,
        "moves_end_by_themselves": 11,
        "lookups_are_answered": 9,
    },
    "nodes, cut off": {
        "looked_up_units_are_served": 7,
        "moves_end": 7,
        "moves_end_by_themselves": 6,
        "lookups_are_answered": 6,
        "strays_close": 13,
    },
    "nodes, split": {"lookups_are_answered": 15},
}

CAUGHT = {
    "gaps_accepted": ({"records_follow_each_other"}, 14),
    "late_tombstones": ({"tombstones_meet_what_they_are_for"}, 13),
    "jumps_rejected": ({"told_brokers_know_the_record"}, 5),
    "tombstones_compacted": ({"told_brokers_know_the_record"}, 13),
    "copies_compared_by_version": ({"told_brokers_know_the_record"}, 13),
    "missed_not_read": ({"told_brokers_know_the_record"}, 3),
    "copy_kept": ({"told_brokers_know_the_record"}, 4),
    "close_waits_for_lookup": ({"moves_end_by_themselves", "lookups_are_answered"}, 11),
    "close_overtaken": ({"topics_are_open_once"}, 13),
    "transfer_unseen": ({"all_is_quiet"}, 20),
    "transfer_back_unfinished": ({"what_comes_back_is_disposed_of"}, 12),
    "existing_ignored": ({"assignments_are_acted_on"}, 3),
    "newer_lookup_dropped": ({"lookups_are_answered"}, 7),
    "owned_buried": ({"tombstones_meet_what_they_are_for"}, 5),
    "source_missed": ({"clean_ups_begin_with_a_reason"}, 11),
    "override_not_repeated": ({"clean_ups_leave_nothing"}, 8),
    "assigned_while_leaving": ({"leaving_brokers_assign_nothing"}, 2),
    "release_cut_short": ({"topics_are_open_once"}, 11),
    "handed_over_at_once": ({"one_takes_itself_for_the_owner"}, 7),
    "event_lost": ({"assignments_are_acted_on", "told_brokers_know_the_record"}, 4),
    "session_event_unseen": ({"metadata_settles"}, 10),
    "registration_lost": ({"brokers_register"}, 10),
    "registration_persists": ({"nodes_have_sessions"}, 1),
    "selected_late": ({"lookups_are_answered"}, 9),
    "split_kept": ({"topics_are_kept_once"}, 14),
    "split_forgotten": ({"split_units_stay_split"}, 10),
    "deleted_lingers": ({"split_units_go"}, 14),
}

DEEP = ("expiry", "late", "at once", "nodes, crash", "nodes, monitored", "nodes, shutdown", "nodes, expiry", "nodes, split")
DEEP_BUGS = ("existing_ignored", "session_event_unseen", "registration_lost", "registration_persists", "selected_late")
"""What is searched in the deep run only."""


@pytest.mark.deep
def test_a_message_that_is_stored_twice_brings_a_split_unit_back() -> None:
    """pulsar#19490: over the topic a record that comes after the tombstone is accepted, whatever it is."""
    parameters = {"units": 2, "unloads": 0, "splits": 1, "late_messages": 1, "lag": 5}
    findings = searched(SERVICE_UNIT, parameters, ["gaps_accepted"], ["split_units_stay_split"])
    assert unexpected(findings) == {"split_units_stay_split": 13}
