"""The metadata store and its clients: pinned counts, the negative control, and every property violated by something."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.model.language import ModelError
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.marking import first_at_once
from tests.properties.mutants import Mutant, both, judged, keeps, sets, writes
from tests.properties.searching import (
    controls,
    counts,
    firm,
    proved,
    searched,
    unexpected,
)

STORE = PROTOCOLS["metadata_store"]

COUNTS = {
    "written": (1541, 5912, 15),
    "cut off": (61253, 368992, 19),
    "all faults": (138419, 960704, 22),
    "two paths": (416025, 3178560, 28),
    "changed": (52245, 333744, 24),
    "etcd": (6160, 27986, 18),
    "oxia": (27282, 143192, 20),
}

CONTROLS = {
    "written": {"deletions_mean_the_node": 9},
    "cut off": {"deletions_mean_the_node": 6},
    "all faults": {"deletions_mean_the_node": 6},
    "two paths": {"deletions_mean_the_node": 9},
    "changed": {"deletions_mean_the_node": 9},
    "etcd": {"deletions_mean_the_node": 6},
    "oxia": {},
}

CAUGHT = {
    "creates_blindly": ({"answers_are_true", "nodes_are_taken_when_free", "what_is_known_is_so"}, 4),
    "deleted_without_version": ({"deletions_name_the_version"}, 7),
    "cache_kept_on_disconnect": ({"what_is_known_is_so"}, 8),
    "event_lost": ({"what_is_known_is_so"}, 5),
}

DEEP = ("two paths",)
"""Instances of the deep run only."""

EXPIRY: Mapping[str, Value] = {"expiries": 1}
CRASH: Mapping[str, Value] = {"crashes": 1}
CUT: Mapping[str, Value] = {"disconnects": 1}
CHANGED: Mapping[str, Value] = {"changes": 1}

MANY: Mapping[str, Value] = {"clients": 3, "writes": 2, "changes": 2, "disconnects": 2, "expiries": 2, "crashes": 2}

MUTANTS = {
    "nodes_go_with_their_sessions": Mutant(EXPIRY, "expire", keeps("node_holder"), 3),
    "nodes_go_by_request": Mutant({}, "read", writes("node_holder[{x}]", "nobody"), 4),
    "links_follow_sessions": Mutant(CUT, "disconnect", sets("link", "lost"), 1),
    "sessions_come_and_go": Mutant(CRASH, "restart", keeps("former_session"), 2),
    "deletions_are_heard": Mutant({}, "delete", keeps("node_deletion"), 4),
    "no_deadlock": Mutant({}, "ask_to_read", writes("lives[{c}]", False), 2),
    "requests_are_answered": Mutant({}, "read", keeps("request"), 2),
    "deletions_are_heard_of": Mutant({}, "hear_of_deletion", keeps("node_deletion"), 6),
    "former_nodes_go": Mutant(CRASH, "expire_former", both(keeps("node_holder"), keeps("node_former")), 7),
    "known_versions_are_current": Mutant(CHANGED, "hear_of_change", keeps("saw"), 7),
    "changes_follow_the_known": Mutant(CHANGED, "look", writes("lasting_version", 1), 2),
    "changes_are_answered_truly": Mutant(CHANGED, "write_lasting", sets("change", "done"), 8),
    "changes_are_told": Mutant(CHANGED, "write_lasting", keeps("lasting_change"), 4),
    "changes_are_heard_of": Mutant(CHANGED, "look", keeps("change"), 3),
}


@pytest.mark.parametrize("name", first_at_once(MUTANTS, 3))
def test_a_mutant_violates_the_property(name: str) -> None:
    mutant = MUTANTS[name]
    assert judged(STORE, mutant.protocol(STORE), name) == ("violated", mutant.steps)
    assert judged(STORE, STORE.build(dict(mutant.parameters)), name)[0] == "exhausted"


def test_every_property_is_violated_by_something() -> None:
    suites = [STORE.suite(STORE.build(dict(i.parameters))) for i in STORE.sizes["ci"]]
    every = {p.name for suite in suites for p in suite.properties if p.kind != "sometimes"}
    by_bugs = set().union(*(by for by, _ in CAUGHT.values()))
    as_expected = set().union(*CONTROLS.values())
    assert every == by_bugs | as_expected | MUTANTS.keys()


@pytest.mark.long
def test_induction_proves_what_exhaustion_cannot_reach() -> None:
    """Whatever is not the negative control, for all runs of an instance too large to be searched."""
    assert proved(STORE, MANY) == firm(STORE, MANY)


@pytest.mark.deep
def test_induction_proves_five_clients_and_three_paths() -> None:
    (instance,) = (each for each in STORE.sizes["standard"] if each.by == "induction")
    assert proved(STORE, instance.parameters)


@pytest.mark.parametrize("scheme", ["memory", "rocksdb"])
def test_a_store_in_process_has_one_client_and_no_such_faults(scheme: str) -> None:
    alone: dict[str, Value] = {"metadata_store": scheme, "clients": 1, "paths": 2, "writes": 1, "crashes": 1}
    findings = searched(STORE, alone)
    assert (unexpected(findings), controls(findings)) == ({}, {})
    assert counts(findings) == (1459, 6022, 22)
    with pytest.raises(ModelError, match="set clients=1, disconnects=0 and expiries=0"):
        STORE.build({**alone, "clients": 2})
    with pytest.raises(ModelError, match="set clients=1, disconnects=0 and expiries=0"):
        STORE.build({**alone, "disconnects": 1})
