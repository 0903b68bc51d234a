"""The subscription: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

import pytest

from fencepost.model.language import ModelError
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.searching import controls, searched, unexpected

SUBSCRIPTION = PROTOCOLS["subscription"]

COUNTS = {
    "seeks": (12693, 26559, 16),
    "answered before it is written": (18875, 66634, 17),
    "beyond the limit": (8546, 26479, 19),
    "long arrays": (17868, 60376, 17),
}

CONTROLS: dict[str, dict[str, int]] = {
    "seeks": {},
    "answered before it is written": {"answered_acks_are_kept": 4},
    "beyond the limit": {"answered_acks_are_kept": 8},
    "long arrays": {},
}

BOTH = {"answered_acks_are_kept", "stored_acks_are_kept"}

CAUGHT = {
    "position_behind_ranges": (BOTH, 8),
    "queued_position_kept": ({"stored_acks_are_kept"}, 12),
    "reset_stores_ranges": ({"nothing_is_skipped", "ranges_are_behind_the_position"}, 8),
    "acked_during_reset": (BOTH, 7),
    "reset_dropped": ({"nothing_is_skipped"}, 8),
    "reset_not_stored": ({"nothing_is_skipped"}, 10),
    "skipped_after_reset": (BOTH, 10),
    "reset_stores_read_position": ({"nothing_is_skipped"}, 7),
    "limit_counts_entries": ({"what_does_not_wait_is_stored"}, 8),
}


def test_a_seek_is_undone_by_a_restart() -> None:
    findings = searched(SUBSCRIPTION, {"unloads": 0}, ["acked_during_reset"], only=["nothing_is_skipped"])
    assert unexpected(findings) == {"nothing_is_skipped": 10}


LIMITS: list[tuple[dict[str, Value], dict[str, int]]] = [
    ({"limit": 3}, {}),
    ({"limit": 0, "messages": 4}, {"answered_acks_are_kept": 7}),
    ({"limit": 0, "messages": 4, "one_above": True}, {"answered_acks_are_kept": 8}),
    ({"limit": 3, "limited": True}, {"answered_acks_are_kept": 4}),
    ({"limit": 3, "limited": True, "crashes": 0}, {}),
]


@pytest.mark.parametrize(("parameters", "violated"), LIMITS)
def test_what_a_kill_forgets_by_the_settings_alone(parameters: dict[str, Value], violated: dict[str, int]) -> None:
    findings = searched(SUBSCRIPTION, {"seeks": 0, "unloads": 0, "messages": 3, **parameters})
    assert controls(findings) == violated
    assert not unexpected(findings)


def test_a_topic_without_messages_is_refused() -> None:
    with pytest.raises(ModelError, match="messages and capacity are at least 1"):
        SUBSCRIPTION.build({"messages": 0})
