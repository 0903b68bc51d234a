"""Every property of splits can be violated: those that no bug violates first are violated by a mutant, or another bug."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.mutants import Mutant, both, broken_properties, judged, keeps, sets
from tests.properties.split.test_safety import CAUGHT

SPLIT = PROTOCOLS["split"]
ONE: Mapping[str, Value] = {"hashes": 3}
TWO: Mapping[str, Value] = {"hashes": 5, "bundles": 2, "splits": 2}

QUICK = ("children_have_the_parents_owner", "splits_end", "served_in_the_end")

TAKES_BUSY_LOCKS = both(sets("lock", "valid"), sets("bundle_state", "active"))

MUTANTS = {
    # what must always hold
    "single_owner_of_a_hash": Mutant({"hashes": 2, "splits": 0}, "find_other", TAKES_BUSY_LOCKS, 5),
    "maximum_is_kept": Mutant(ONE | {"maximum": 1}, bug="maximum_ignored", steps=7),
    # what every step must respect
    "owner_writes_the_layout": Mutant(ONE, bug="splits_unloaded_bundle", steps=5),
    "children_have_the_parents_owner": Mutant(ONE, "prepare", keeps("lock"), 5),
    # what must happen in the end
    "splits_end": Mutant(ONE, "write", sets("split", "preparing"), 8),
    "parent_is_unowned_in_the_end": Mutant(ONE | {"brokers": 1}, bug="parent_never_released", steps=8),
    "served_in_the_end": Mutant(ONE, "create", sets("bundle_state", "inactive"), 2),
    # what must be possible
    "split_done": Mutant(ONE, "release", keeps("owner_holder")),
    "parent_acquired_again": Mutant(ONE, "release", keeps("owner_holder")),
    "conflict_survived": Mutant(TWO, "meet_bad_version", sets("attempt", 0)),
    "parts_are_apart": Mutant(ONE | {"releases": 1}, "start_release", keeps("lock")),
    "own_split_unheard": Mutant(ONE | {"brokers": 1, "disconnects": 1}, "write_unheard", keeps("layout")),
}


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.deep) for n in MUTANTS])
def test_a_mutant_violates_the_property(name: str) -> None:
    mutant = MUTANTS[name]
    assert judged(SPLIT, mutant.protocol(SPLIT), name) == ("violated", mutant.steps)


@pytest.mark.deep
@pytest.mark.parametrize("name", MUTANTS)
def test_without_the_mutation_the_property_holds(name: str) -> None:
    assert judged(SPLIT, SPLIT.build(MUTANTS[name].parameters), name)[0] in ("exhausted", "proved")


@pytest.mark.deep
def test_every_property_is_violated_by_a_bug_or_a_mutant() -> None:
    instances = [i for size in ("ci", "standard") for i in SPLIT.sizes[size] if not i.by]
    every = {p.name for i in instances for p in SPLIT.suite(SPLIT.build(i.parameters)).properties}
    by_bugs = set().union(*(by for by, _ in CAUGHT.values()))
    by_any_mutant = broken_properties("split") | broken_properties("ownership")  # the latter where rules are shared
    assert by_bugs | set(MUTANTS) <= every <= by_bugs | set(MUTANTS) | by_any_mutant
    assert not by_bugs & set(MUTANTS), "a bug catches it already"
