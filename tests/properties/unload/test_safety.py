"""The unloading of bundles: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from tests.properties.searching import (
    controls,
    firm,
    proved,
    searched,
    unexpected,
)

UNLOAD = PROTOCOLS["unload"]

COUNTS = {
    "late and failing topics": (46023, 218601, 26),
    "cut off": (21414, 96966, 22),
    "crash": (11374, 42692, 29),
    "cut off, fixed": (85888, 413874, 25),
}

CONTROLS = {
    "late and failing topics": {"owner_alone_has_topics": 7, "topic_is_open_once": 10},
    "cut off": {
        "owner_holds_the_node": 12,
        "holder_is_responsible": 9,
        "single_server": 5,
        "single_owner": 7,
        "single_owner_up_to_date": 15,
        "owner_alone_has_topics": 9,
        "topic_is_open_once": 7,
        "topic_is_open_once_up_to_date": 17,
        "releases_end": 11,
    },
    "crash": {"single_server": 12, "single_owner": 12, "owner_alone_has_topics": 7, "topic_is_open_once": 10},
    "cut off, fixed": {"single_server": 5, "single_owner": 7, "owner_alone_has_topics": 7, "topic_is_open_once": 7},
}

CAUGHT = {
    "unload_not_exclusive": ({"one_unload_at_a_time"}, 5),
    "released_before_close": ({"closed_before_release"}, 5),
    "active_after_failed_close": ({"active_bundles_are_locked", "locks_go_forward"}, 6),
    "active_after_failed_release": ({"deletions_are_heard", "locks_go_forward"}, 5),
    "release_skipped_on_failure": ({"inactive_bundles_are_unloaded"}, 5),
    "stale_unload": ({"active_bundles_are_locked", "locks_go_forward"}, 14),
    "deletion_sent_again": ({"node_of_another_is_kept"}, 9),
    "lone_release_fails": ({"owned_in_the_end", "releases_end"}, 6),
    "recreated_behind_release": ({"locks_create_nodes"}, 8),
    "found_lock_unattended": ({"valid_locks_are_looked_after"}, 8),
    "close_waits_for_unload": ({"owned_in_the_end", "releases_end"}, 4),
}

MANY: dict[str, Value] = {"brokers": 3, "disconnects": 2, "expiries": 2, "crashes": 2, "timeouts": 2, "failures": 2}


@pytest.mark.deep
@pytest.mark.parametrize("instance", [i for i in UNLOAD.sizes["standard"] if i.by], ids=lambda i: i.name)
def test_induction_proves_five_brokers_and_eight_bundles(instance: Instance) -> None:
    assert proved(UNLOAD, instance.parameters)


@pytest.mark.long
@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_induction_proves_what_exhaustion_cannot_reach(fixed: bool) -> None:
    """Whatever is not a negative control, for all runs of an instance far too large to be searched."""
    parameters = MANY | {"fixed": fixed}
    assert proved(UNLOAD, parameters) == firm(UNLOAD, parameters)


@pytest.mark.parametrize(("timeouts", "outlives"), [(0, "unreachable"), (1, "reached")])
def test_only_a_topic_that_was_late_outlives_a_clean_unload(timeouts: int, outlives: str) -> None:
    findings = searched(UNLOAD, {"brokers": 2, "timeouts": timeouts})
    assert (outlives == "reached") == ("owner_alone_has_topics" in controls(findings))


def test_a_deletion_that_is_sent_again_opens_a_topic_twice() -> None:
    """One lost connection, no expiry, no crash: the release that took effect deletes the next owner's node."""
    findings = searched(UNLOAD, {"disconnects": 1}, ["deletion_sent_again"], ["topic_is_open_once"])
    assert unexpected(findings) == {"topic_is_open_once": 13}
