"""Properties of election, ownership and unload that no bug violates first: a mutant, or another bug, violates them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.marking import first_at_once
from tests.properties.mutants import Mutant, broken_properties, judged, writes
from tests.properties.pins import PINNED

PAIR: Mapping[str, Value] = {"brokers": 2}
EXPIRY: Mapping[str, Value] = {"expiries": 1}
NO_RELEASE: Mapping[str, Value] = {"unloads": 0}

MUTANTS = {
    ("election", "leader_emerges"): Mutant(PAIR, bug="same_value", steps=12),
    ("election", "election_ends"): Mutant(PAIR, bug="same_value", steps=8),
    ("election", "leader_chooses"): Mutant({"brokers": 2, "lookups": True}, bug="followers_do_not_cache", steps=5),
    ("election", "lookup_is_answered"): Mutant({"brokers": 2, "lookups": True}, "take", writes("asked", "b0"), 6),
    ("ownership", "node_is_taken_when_free"): Mutant({}, "find_other", writes("owner_holder[{u}]", "b1"), 5),
    ("ownership", "released_when_inactive"): Mutant(
        {"releases": 1}, "start_release", writes("bundle_state[{b}, {u}]", "active"), 4
    ),
    ("ownership", "no_deadlock"): Mutant({}, "try_to_own", writes("lock[{b}, {u}]", "retaking"), 2),
    ("unload", "valid_locks_are_served"): Mutant({}, "create", writes("bundle_state[{b}, {u}]", "absent"), 2),
    ("unload", "node_is_taken_when_free"): Mutant({}, "find_other", writes("owner_holder[{u}]", "b1"), 5),
    ("unload", "locks_create_nodes"): Mutant({}, "try_to_own", writes("owner_holder[{u}]", "b0"), 1),
    ("unload", "node_of_another_is_kept"): Mutant({}, "find_other", writes("owner_holder[{u}]", "nobody"), 5),
    ("unload", "released_when_inactive"): Mutant({"failures": 1}, bug="active_after_failed_close", steps=7),
    ("unload", "no_deadlock"): Mutant(NO_RELEASE, "try_to_own", writes("lock[{b}, {u}]", "retaking"), 2),
    ("unload", "clean_unload_leaves_nothing"): Mutant({}, bug="released_before_close", steps=6),
    ("unload", "revalidations_end"): Mutant(EXPIRY, "find_missing", writes("lock[{b}, {u}]", "checking"), 12),
}


@pytest.mark.parametrize(("protocol", "name"), first_at_once(MUTANTS, 3))
def test_a_mutant_violates_the_property(protocol: str, name: str) -> None:
    mutant = MUTANTS[protocol, name]
    entry = PROTOCOLS[protocol]
    assert judged(entry, mutant.protocol(entry), name) == ("violated", mutant.steps)
    assert judged(entry, entry.build(dict(mutant.parameters)), name)[0] == "exhausted"


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["election", "ownership", "unload"])
def test_every_property_is_violated_by_something(protocol: str) -> None:
    entry, pinned = PROTOCOLS[protocol], PINNED[protocol]
    suites = [entry.suite(entry.build(dict(i.parameters))) for i in entry.sizes["ci"]]
    every = {p.name for suite in suites for p in suite.properties if p.kind != "sometimes"}
    by_bugs = set().union(*(by for by, _ in pinned.caught.values()))
    as_expected = set().union(*pinned.controls.values())
    by_hand = {name for protocol, name in MUTANTS if protocol == entry.name}
    assert every - by_bugs - as_expected - by_hand <= broken_properties(entry.name)
