"""Properties of election, ownership and unload that no defect violates first: a mutant, or another defect, violates them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from fencepost.checks.engines.exhaustive import Budget, exhaust
from fencepost.checks.teeth.pinned import broken_properties
from fencepost.model.language import Protocol
from fencepost.model.language.declarations import Action
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.election import test_safety as test_election
from tests.properties.ownership import test_safety as test_ownership
from tests.properties.unload import test_safety as test_unload

PINNED = {"election": test_election, "ownership": test_ownership, "unload": test_unload}


@dataclass(frozen=True)
class Mutant:
    """An instance, an action of it that also writes some variables, or a defect; and in how many steps that shows."""

    parameters: Mapping[str, Value]
    steps: int
    action: str = ""
    writes: Mapping[str, Value] | None = None
    defect: str = ""

    def protocol(self, name: str) -> Protocol:
        protocol = PROTOCOLS[name].build(dict(self.parameters), [self.defect] if self.defect else [])
        protocol.actions[:] = [self._spoiled(protocol, a) if a.name == self.action else a for a in protocol.actions]
        return protocol

    def _spoiled(self, protocol: Protocol, action: Action) -> Action:
        """The action with what it writes besides; a variable's name may have the action's arguments in braces."""
        updates = dict(action.updates)
        for name, value in (self.writes or {}).items():
            variable = protocol.variable(name.format(**action.arguments))
            updates[variable] = variable.domain.literal(variable.domain.raw(value))
        return replace(action, updates=updates)


PAIR: Mapping[str, Value] = {"brokers": 2}
EXPIRY: Mapping[str, Value] = {"expiries": 1}
NO_RELEASE: Mapping[str, Value] = {"unloads": 0}

MUTANTS = {
    ("election", "leader_emerges"): Mutant(PAIR, 12, defect="same_value"),
    ("election", "election_ends"): Mutant(PAIR, 8, defect="same_value"),
    ("election", "leader_chooses"): Mutant({"brokers": 2, "lookups": True}, 5, defect="followers_do_not_cache"),
    ("election", "lookup_is_answered"): Mutant({"brokers": 2, "lookups": True}, 6, "take", {"asked": "b0"}),
    ("ownership", "node_is_taken_when_free"): Mutant({}, 5, "find_other", {"owner_holder[{u}]": "b1"}),
    ("ownership", "released_when_inactive"): Mutant({"releases": 1}, 4, "start_release", {"serves[{b}, {u}]": "active"}),
    ("ownership", "no_deadlock"): Mutant({}, 2, "try_to_own", {"lock[{b}, {u}]": "retaking"}),
    ("unload", "valid_locks_are_served"): Mutant({}, 2, "create", {"serves[{b}, {u}]": "absent"}),
    ("unload", "node_is_taken_when_free"): Mutant({}, 5, "find_other", {"owner_holder[{u}]": "b1"}),
    ("unload", "locks_create_nodes"): Mutant({}, 1, "try_to_own", {"owner_holder[{u}]": "b0"}),
    ("unload", "node_of_another_is_kept"): Mutant({}, 5, "find_other", {"owner_holder[{u}]": "nobody"}),
    ("unload", "released_when_inactive"): Mutant({"failures": 1}, 7, defect="active_after_failed_close"),
    ("unload", "no_deadlock"): Mutant(NO_RELEASE, 2, "try_to_own", {"lock[{b}, {u}]": "retaking"}),
    ("unload", "clean_unload_leaves_nothing"): Mutant({}, 6, defect="released_before_close"),
    ("unload", "revalidations_end"): Mutant(EXPIRY, 12, "find_missing", {"lock[{b}, {u}]": "checking"}),
}


def judged(protocol: Protocol, name: str) -> tuple[str, float | None]:
    suite = PROTOCOLS[protocol.name].suite(protocol)
    prop = suite.named(name)
    assert not prop.strict, f"{name} is expected to be violated in this instance"
    (verdict,) = exhaust(Observed.of(suite, [prop]), Budget(workers=2)).verdicts
    return verdict.verdict, verdict.reach.get("steps")


@pytest.mark.parametrize(("protocol", "name"), MUTANTS)
def test_a_mutant_violates_the_property(protocol: str, name: str) -> None:
    mutant = MUTANTS[protocol, name]
    assert judged(mutant.protocol(protocol), name) == ("violated", mutant.steps)
    assert judged(PROTOCOLS[protocol].build(dict(mutant.parameters)), name)[0] == "exhausted"


@pytest.mark.parametrize("protocol", PINNED)
def test_every_property_is_violated_by_something(protocol: str) -> None:
    entry, module = PROTOCOLS[protocol], PINNED[protocol]
    suites = [entry.suite(entry.build(dict(i.parameters))) for i in entry.sizes["ci"]]
    every = {p.name for suite in suites for p in suite.properties if p.kind != "sometimes"}
    by_defects = set().union(*(by for by, _ in module.CAUGHT.values()))
    as_expected = set().union(*module.CONTROLS.values())
    by_hand = {name for protocol, name in MUTANTS if protocol == entry.name}
    assert every - by_defects - as_expected - by_hand <= broken_properties(entry.name)
