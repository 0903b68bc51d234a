"""Kafka's controller: pinned counts of small instances, negative controls, and what each bug costs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.model.kafka.controller.families import AWAITED, BROKER_EPOCHS, LOCK, MULTI, Family
from fencepost.model.kernel import Kernel
from fencepost.model.language import ModelError
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.searching import controls, searched, unexpected

CONTROLLER = PROTOCOLS["kafka_controller"]

COUNTS = {
    "expiry and bounce": (148284, 582470, 28),
    "expiry and bounce, 1.0": (136933, 552716, 26),
    "expiry and bounce, 2.0": (35186, 117228, 25),
    "expiry and bounce, 2.1": (31236, 105372, 22),
    "expiry and bounce, since 2.2": (30479, 103058, 20),
    "failures": (209985, 879860, 28),
    "failures, 2.1": (45142, 167030, 20),
    "cut off": (18474, 61204, 19),
    "cut off, since 2.2": (14374, 49312, 17),
    "unheard": (65070, 243560, 23),
    "unheard, 2.1": (15012, 51256, 17),
    "two expiries": (505, 1001, 21),
    "changed listeners": (9241, 35384, 16),
}

_EXPIRY = {"one_active": 7, "newest_epoch_is_the_holders": 9}
_BOUNCE = {**_EXPIRY, "no_older_after_newer": 12, "metadata_become_the_live_set": 19}

CONTROLS: dict[str, dict[str, int]] = {
    "expiry and bounce": _BOUNCE,
    "expiry and bounce, 1.0": _BOUNCE,
    "expiry and bounce, 2.0": {"one_active": 7, "no_older_after_newer": 12},
    "expiry and bounce, 2.1": {"one_active": 5, "no_older_after_newer": 10},
    "expiry and bounce, since 2.2": {"one_active": 5},
    "failures": {**_EXPIRY, "metadata_become_the_live_set": 19},
    "failures, 2.1": {"one_active": 5},
    "cut off": {},
    "cut off, since 2.2": {},
    "unheard": {**_EXPIRY, "metadata_become_the_live_set": 19},
    "unheard, 2.1": {"one_active": 5},
    "two expiries": {},
    "changed listeners": {},
}

CAUGHT = {
    "resigns_without_cleanup": ({"leaders_are_read", "resigning_deletes_ones_own"}, 4),
    "epoch_swallowed": ({"epochs_rise", "terms_are_read_or_raised"}, 9),
    "deletes_any": ({"node_is_deleted_with_a_reason", "own_node_only"}, 8),
    "unconditional_writes": ({"writes_of_the_current"}, 10),
    "bounce_missed": ({"looks_are_complete"}, 8),
    "newer_refused": ({"requests_are_taken_or_refused"}, 4),
    "new_session_resigns": (
        {"ends_come_to_threads", "offices_end_with_a_reason", "threads_go_forward", "who_elects_has_not_the_node"},
        7,
    ),
    "resigns_inside_lock": ({"ends_come_to_threads", "threads_go_forward"}, 8),
    "waits_inside_lock": ({"no_deadlock"}, 2),
    "session_given_up": ({"no_deadlock"}, 3),
    "registration_given_up": ({"no_deadlock"}, 9),
    "endpoints_read_before_watch": ({"listeners_are_learned"}, 8),
    "epochs_unchecked": ({"brokers_change_by_requests", "processes_obey_the_newest", "requests_are_taken_or_refused"}, 10),
}

COSTS: dict[str, tuple[str, Mapping[str, Value], int]] = {
    "resigns_without_cleanup": ("one_active_up_to_date", {"resignations": 1}, 9),
    "epoch_swallowed": ("epochs_rise", {"expiries": 1}, 9),
    "deletes_any": ("own_node_only", {"expiries": 1, "resignations": 1}, 8),
    "unconditional_writes": ("writes_of_the_current", {"expiries": 1, "writes": True}, 10),
    "bounce_missed": ("metadata_become_the_live_set", {"restarts": 1}, 13),
    "newer_refused": ("metadata_become_the_live_set", {"expiries": 1, **BROKER_EPOCHS}, 11),
    "new_session_resigns": ("someone_acts", {"brokers": 1, "expiries": 2}, 10),
    "resigns_inside_lock": ("resigned_stops", {"expiries": 1}, 14),
    "waits_inside_lock": ("someone_acts", {"brokers": 1, "expiries": 1, **AWAITED}, 2),
    "session_given_up": ("someone_acts", {"brokers": 1, "expiries": 1}, 3),
    "registration_given_up": ("metadata_become_the_live_set", {"brokers": 1, "expiries": 1}, 9),
    "endpoints_read_before_watch": ("listeners_are_learned", {"updates": 1, **AWAITED}, 12),
    "epochs_unchecked": ("processes_obey_the_newest", {"expiries": 1}, 10),
}
"""What a bug costs, in which instance, and in how many steps: beside the rule that it breaks first."""


@pytest.mark.parametrize("bug", COSTS)
def test_a_known_bug_costs_what_its_history_says(bug: str) -> None:
    name, parameters, steps = COSTS[bug]
    assert unexpected(searched(CONTROLLER, parameters, [bug], [name])) == {name: steps}


def test_a_creation_that_ends_with_its_session_deletes_the_successors_node() -> None:
    searched_for = searched(CONTROLLER, {"disconnects": 1, "expiries": 1}, ["deletes_any"], ["own_node_only"])
    assert unexpected(searched_for) == {"own_node_only": 6}


@pytest.mark.parametrize("family", [LOCK, AWAITED, MULTI], ids=["0.10.2", "2.0", "2.1"])
def test_a_creation_whose_answer_is_lost_is_sent_again_and_accepts_the_own_node(family: Family) -> None:
    kernel = Kernel(CONTROLLER.build({"brokers": 1, "disconnects": 1, **family}))
    index = {action.label: i for i, action in enumerate(kernel.actions)}
    (state,) = kernel.initial()
    for label in ("creation_unheard(b0)", "reconnect(b0)", "create_again(b0)"):
        assert index[label] in kernel.enabled(state)
        state = kernel.apply(state, index[label])
    goes_on = "fail_over(b0)" if family["multi"] else "read_epoch(b0)"
    assert index[goes_on] in kernel.enabled(state)
    assert not {index["elect(b0)"], index["create_again(b0)"]} & set(kernel.enabled(state))


@pytest.mark.parametrize("family", [{}, AWAITED, MULTI], ids=["0.10.2", "2.0", "2.1"])
def test_a_restarted_broker_obeys_a_zombie_up_to_2_1(family: Mapping[str, Value]) -> None:
    parameters: dict[str, Value] = {"expiries": 1, "restarts": 1, **family}
    assert "no_older_after_newer" in controls(searched(CONTROLLER, parameters, only=["no_older_after_newer"]))


@pytest.mark.parametrize("wrong", [{"thread": "none"}, {"brokers": 0}, {"updates": 1}])
def test_what_no_release_is_like_is_refused(wrong: dict[str, Value]) -> None:
    with pytest.raises(ModelError, match=next(iter(wrong))):
        CONTROLLER.build(wrong)
