"""Every property of the ledger and of the control plane can be violated: by a bug, by a mutant that teeth made, or by one made
here."""

from __future__ import annotations

import pytest

from fencepost.checks.teeth.pinned import pinned as teeth
from fencepost.properties.protocols import PROTOCOLS
from tests.properties.mutants import Mutant, broken_properties, judged, keeps, sets
from tests.properties.pins import PINNED

ALONE = {"bookies": 3, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2, "recoverers": 0, "changes": 1, "readers": 0}

MUTANTS = {
    ("ledger", "first_entries_rise"): Mutant(ALONE, "publish_change", keeps("published_first"), 9),
    ("split", "conflict_survived"): Mutant({"hashes": 5, "bundles": 2, "splits": 2}, "meet_bad_version", sets("attempt", 0)),
}
"""What is violated only in instances that are too large to be searched for every mutant."""

REFINES = ("is_a_ledger_of_a_topic", "is_a_ledger_to_replicate")
"""That the ledger refines its stand-in: bugs are held to it in test_refinement.py."""


@pytest.mark.long
@pytest.mark.parametrize(("protocol", "name"), MUTANTS)
def test_a_mutant_violates_the_property(protocol: str, name: str) -> None:
    mutant, entry = MUTANTS[protocol, name], PROTOCOLS[protocol]
    assert judged(entry, mutant.protocol(entry), name) == ("violated", mutant.steps)
    assert judged(entry, entry.build(mutant.parameters), name)[0] in ("exhausted", "proved")


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["election", "ownership", "unload", "split", "ledger"])
def test_every_property_is_violated_by_something(protocol: str) -> None:
    entry, pinned = PROTOCOLS[protocol], PINNED[protocol]
    suites = [entry.suite(entry.build(instance.parameters)) for instance in entry.sizes["ci"]]
    every = {p.name for suite in suites for p in suite.properties if p.kind != "sometimes" and not p.name.startswith(REFINES)}
    by_bugs = set().union(teeth()[protocol]["by_bugs"], *(by for by, _ in pinned.caught.values()))
    as_expected = set().union(*pinned.controls.values())
    by_hand = {name for of, name in MUTANTS if of == protocol}
    assert every - by_bugs - as_expected - by_hand <= broken_properties(protocol)
