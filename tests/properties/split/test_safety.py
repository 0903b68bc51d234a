"""Splits of bundles: pinned counts of small instances, negative controls, and every bug caught."""

from __future__ import annotations

import pytest

from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.model.language import ModelError
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.searching import (
    controls,
    counts,
    firm,
    proved,
    searched,
    unexpected,
)

SPLIT = PROTOCOLS["split"]

COUNTS = {
    "one split": (9092, 35696, 23),
    "two splits": (30830, 124282, 30),
    "two splits, fixed": (29552, 126364, 33),
    "children unloaded": (140936, 872434, 29),
    "children in any order": (3652, 13328, 21),
    "cut off": (140602, 679006, 26),
    "expiry": (206552, 1128624, 27),
    "policies": (164, 344, 16),
}

CONTROLS = {
    "one split": {"single_owner_of_a_hash": 10, "parent_is_unowned_in_the_end": 14},
    "two splits": {"single_owner_of_a_hash": 12, "maximum_is_kept": 15, "parent_is_unowned_in_the_end": 16},
    "two splits, fixed": {"single_owner_of_a_hash": 12},
    "children unloaded": {"single_owner_of_a_hash": 16, "parent_is_unowned_in_the_end": 24},
    "children in any order": {"single_owner_of_a_hash": 8, "parent_is_unowned_in_the_end": 14},
    "cut off": {
        "single_owner_of_a_hash": 10,
        "copies_are_current": 8,
        "splitter_lets_the_parent_go": 18,
        "parent_is_unowned_in_the_end": 10,
    },
    "expiry": {"single_owner_of_a_hash": 11, "copies_are_current": 10, "parent_is_unowned_in_the_end": 14},
    "policies": {"single_owner_of_a_hash": 13, "parent_is_unowned_in_the_end": 15},
}

EXPLAINED = {"two splits, fixed": {"based_on"}}
"""What never changes because the instance is small, or the protocol fixed: `check` does not print it."""

CAUGHT = {
    "writes_blindly": ({"bounds_of_others_are_kept"}, 14),
    "stale_parent": ({"bounds_of_others_are_kept"}, 18),
    "parent_never_released": ({"parent_is_let_go"}, 8),
    "retries_on_stale_cache": ({"attempts_are_fresh"}, 16),
    "layout_not_watched": ({"copies_are_current"}, 8),
    "splits_missing_bundle": ({"bounds_of_others_are_kept", "full_coverage"}, 17),
    "splits_unloaded_bundle": ({"owner_begins"}, 1),
    "boundaries_unchecked": ({"bounds_of_others_are_kept"}, 5),
    "maximum_ignored": ({"no_split_beyond_the_maximum"}, 3),
    "splits_not_counted": ({"no_split_beyond_the_maximum"}, 6),
    "endless_attempts": ({"attempts_are_bounded"}, 17),
    "policies_unwritten": ({"parent_is_let_go"}, 9),
    "policies_not_updated": ({"policies_agree_in_the_end"}, 11),
    "policies_overwritten": ({"policies_agree_in_the_end"}, 26),
    "load_fails_unanswered": ({"no_deadlock"}, 9),
    "deletion_sent_again": ({"single_owner_by_the_layout"}, 13),
    "lone_release_fails": ({"splitter_lets_the_parent_go"}, 10),
    "recreated_behind_release": ({"splitter_lets_the_parent_go"}, 14),
    "found_lock_unattended": ({"valid_locks_are_looked_after"}, 8),
}

QUICK = ("parent_never_released", "layout_not_watched", "splits_unloaded_bundle", "maximum_ignored", "policies_not_updated")
DEEP = ("two splits, fixed", "children unloaded")
DEEP_BUGS = tuple(name for name in CAUGHT if name not in QUICK)
"""Instances and bugs of the deep run only."""


EIGHT_BUNDLES: dict[str, Value] = {"brokers": 5, "hashes": 9, "splits": 9, "maximum": 8, "attempts": 8}
THREE_SPLITS: dict[str, Value] = {"hashes": 5, "splits": 3, "maximum": 3}
FAULTS: dict[str, Value] = {"disconnects": 1, "expiries": 1, "crashes": 1, "releases": 1}


@pytest.mark.long
@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"hashes": 3, "splits": 2} | FAULTS, id="small"),
        pytest.param({"hashes": 3}, id="one split"),
        pytest.param({"hashes": 3, "disconnects": 1}, id="one split, cut off"),
        pytest.param({"hashes": 3, "splits": 0, "disconnects": 1}, id="cut off"),
        pytest.param({"hashes": 3, "splits": 0} | FAULTS, marks=pytest.mark.deep, id="no splits"),
        pytest.param({"hashes": 3, "brokers": 1, "splits": 2, "expiries": 1, "fixed": True}, id="alone, fixed"),
        pytest.param({"hashes": 3, "policies": True, "expiries": 1}, id="policies"),
        pytest.param(THREE_SPLITS | FAULTS, marks=pytest.mark.deep, id="upstream"),
        pytest.param(THREE_SPLITS, marks=pytest.mark.deep, id="no faults"),
        pytest.param(THREE_SPLITS | FAULTS | {"fixed": True}, marks=pytest.mark.deep, id="fixed"),
        pytest.param(EIGHT_BUNDLES | FAULTS, marks=pytest.mark.deep, id="five brokers, eight bundles"),
    ],
)
def test_induction_proves_what_exhaustion_cannot_reach(parameters: dict[str, Value]) -> None:
    assert proved(SPLIT, parameters) == firm(SPLIT, parameters)


@pytest.mark.deep
def test_without_splits_a_node_whose_deletion_goes_unheard_gives_a_hash_two_owners() -> None:
    findings = searched(SPLIT, {"hashes": 2, "splits": 0} | FAULTS)
    assert exit_status(findings.verdicts) is ExitStatus.HOLDS
    assert {"single_owner_of_a_hash", "single_owner_by_the_layout"} <= set(controls(findings))


def test_an_instance_without_splits_says_nothing_of_them() -> None:
    findings = searched(SPLIT, {"hashes": 2, "splits": 0})
    assert exit_status(findings.verdicts) is ExitStatus.HOLDS
    assert "splits_end" not in {v.property.name for v in findings.verdicts}


ALONE: list[tuple[dict[str, Value], dict[str, int]]] = [
    ({}, {}),
    ({"releases": 1}, {"parent_is_unowned_in_the_end": 13}),
    ({"releases": 1, "fixed": True}, {}),
    ({"releases": 1, "expiries": 1}, {"parent_is_unowned_in_the_end": 13, "served_in_the_end": 7}),
    ({"unload_after_split": True, "expiries": 1}, {"served_in_the_end": 14}),
    ({"unload_after_split": True, "disconnects": 1}, {"copies_are_current": 8, "parent_is_unowned_in_the_end": 9}),
    ({"hashes": 5, "splits": 2, "maximum": 2, "expiries": 1}, {}),
    ({"hashes": 4, "splits": 2, "crashes": 1, "fixed": True}, {}),
    ({"policies": True, "crashes": 1}, {"policies_agree_in_the_end": 14}),
    ({"policies": True, "expiries": 1}, {"policies_agree_in_the_end": 17}),
    ({"policies": True, "expiries": 1, "fixed": True}, {}),
    ({"policies": True, "disconnects": 1, "fixed": True}, {"policies_agree_in_the_end": 13}),
]


@pytest.mark.long
@pytest.mark.parametrize(("parameters", "violated"), ALONE, ids=lambda value: " ".join(value) or "none")
def test_a_broker_that_is_alone_violates_what_needs_no_other(parameters: dict[str, Value], violated: dict[str, int]) -> None:
    findings = searched(SPLIT, {"brokers": 1, "hashes": 3} | parameters)
    assert controls(findings) == violated
    assert exit_status(findings.verdicts) is ExitStatus.HOLDS


@pytest.mark.deep
def test_a_crash_between_any_two_steps() -> None:
    findings = searched(SPLIT, {"hashes": 3, "crashes": 1})
    assert counts(findings) == (676194, 4358356, 38)
    assert not unexpected(findings)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "halves"}, "algorithm is one of range_equally_divide"),
        ({"hashes": 4, "bundles": 3}, "4 hashes cannot be cut into 3 bundles; set hashes to at least 6"),
        ({"attempts": 0}, "attempts are at least 1"),
        ({"bundles": 2, "maximum": 1}, "maximum at least bundles"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters: dict[str, Value], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        SPLIT.build(parameters)
