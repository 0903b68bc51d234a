"""What induction proves of the service unit channel over the metadata store, and that bugs leave obligations open."""

from __future__ import annotations

import pytest

from fencepost.checks.engines.induction.proof import prove
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from fencepost.properties.service_unit.refinement import NAME as REFINEMENT
from tests.properties.searching import proved, searched, unexpected

SERVICE_UNIT = PROTOCOLS["service_unit"]
BASE: dict[str, Value] = {"store": "metadata", "versions": 0}
FAULTS: dict[str, Value] = {"crashes": 1, "expiries": 1, "disconnects": 1}

BACK = {"what_comes_back_is_disposed_of"}
ONE_OWNER = {"one_takes_itself_for_the_owner", "topics_are_open_once", "topics_are_kept_once"}
RECORDS = {"told_brokers_know_the_record", "records_follow_each_other", "tombstones_meet_what_they_are_for"}
OVERRIDES = {"only_overrides_are_forced", "overrides_have_a_reason", "clean_ups_begin_with_a_reason"}
ENDED = {"processes_go_on", "ended_processes_hold_nothing"}
AFTER_FAULTS = OVERRIDES | ENDED | {"clean_ups_leave_nothing", "assignments_are_acted_on"}
NODES = {"nodes_have_sessions", "absent_nodes_are_blank", "nodes_are_made_by_those_who_stay", "nodes_go_with_a_reason"}
CONDUCT = NODES | {"links_follow_sessions", "sessions_come_and_go", "topics_go_their_way"}
WRITTEN = {"records_go_their_way", "force_is_of_the_record", "writes_are_heard"}
LOST = {"lost_brokers_do_not_lead"}
ASKED = {"unloads_are_asked_of_the_owner"}
ALWAYS = RECORDS | CONDUCT | WRITTEN | {"healthy_brokers_keep_their_units"}

PROVED: dict[str, tuple[dict[str, Value], set[str]]] = {
    "cut off": ({"unloads": 3, "disconnects": 1}, ALWAYS | ONE_OWNER | LOST | ASKED | BACK),
    "crashes": ({"unloads": 0, "crashes": 2}, ALWAYS | ONE_OWNER | AFTER_FAULTS),
    "no unloads": (
        {"unloads": 0, "crashes": 1, "expiries": 1, "disconnects": 1},
        ALWAYS | AFTER_FAULTS | LOST | {"topics_are_kept_once", "lost_brokers_own_nothing"},
    ),
    "all faults": (
        {"unloads": 3, "timeouts": 1, **FAULTS},
        ALWAYS | AFTER_FAULTS | LOST | ASKED | BACK | {"lost_brokers_own_nothing"},
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.deep) if n == "all faults" else n for n in PROVED])
def test_induction_proves_what_exhaustion_cannot_reach(name: str) -> None:
    """Whatever is not a negative control, of three brokers, however often records are written; with it the refinement."""
    parameters, firm = PROVED[name]
    assert proved(SERVICE_UNIT, BASE | {"brokers": 3} | parameters) == firm | {REFINEMENT}


@pytest.mark.deep
@pytest.mark.parametrize("instance", [i for i in SERVICE_UNIT.sizes["standard"] if i.by], ids=lambda i: i.name)
def test_induction_proves_four_brokers_and_four_units(instance: Instance) -> None:
    assert proved(SERVICE_UNIT, instance.parameters) >= ALWAYS


OPEN: dict[str, tuple[dict[str, Value], str]] = {
    "missed_not_read": ({"disconnects": 1}, "who_is_told_knows"),
    "copy_kept": ({"unloads": 0, "expiries": 1}, "who_is_lost_knows_nothing"),
    "existing_ignored": ({"unloads": 0, "crashes": 1}, "assignments_are_found"),
    "source_missed": ({"crashes": 1}, "healthy_brokers_keep_their_units"),
    "override_not_repeated": ({"unloads": 0, "crashes": 1}, "clean_ups_leave_nothing"),
    "registration_persists": ({"unloads": 0, "crashes": 1}, "nodes_are_of_sessions"),
    "close_overtaken": ({}, "units_are_where_they_are_served"),
}


@pytest.mark.long
@pytest.mark.parametrize("bug", OPEN)
def test_a_bug_leaves_an_obligation_open(bug: str) -> None:
    """Each bug that breaks what is proved here is refuted: an action does what the lemmas rule out."""
    parameters, broken = OPEN[bug]
    suite = SERVICE_UNIT.suite(SERVICE_UNIT.build(BASE | parameters, [bug]))
    failures = prove(suite, examples=0).failures
    assert broken in {f.statement.name for f in failures if not f.undecided}


LARGER: dict[str, tuple[dict[str, Value], str, int]] = {
    "cut off": ({"crashes": 1, "disconnects": 1, "unloads": 0}, "one_takes_itself_for_the_owner", 11),
    "moved to the dead": ({"brokers": 3, "crashes": 1}, "topics_are_open_once", 13),
    "made again": ({"brokers": 3, "burials": 1, "unloads": 2}, "one_takes_itself_for_the_owner", 17),
}


@pytest.mark.deep
@pytest.mark.parametrize("name", LARGER)
def test_what_no_lemma_can_rule_out_is_a_control(name: str) -> None:
    """Where the lemmas do not hold there are two owners: runs that the instances of two brokers and one fault do not have."""
    parameters, control, steps = LARGER[name]
    findings = searched(SERVICE_UNIT, {"store": "metadata", "versions": 12} | parameters, only=[control])
    assert unexpected(findings) == {}
    assert {v.property.name: v.reach["steps"] for v in findings.verdicts if v.expected} == {control: steps}
