"""Every property of service units can be violated: those that no defect violates first are violated by a mutant each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from tests.properties.mutants import Mutant, judged, keeps, sets, where
from tests.properties.searching import searched
from tests.properties.service_unit.test_safety import CAUGHT

SERVICE_UNIT = PROTOCOLS["service_unit"]
CHECKED = (*SERVICE_UNIT.sizes["ci"], *SERVICE_UNIT.sizes["standard"])

TOPIC: Mapping[str, Value] = {"lag": 2}
NODES: Mapping[str, Value] = {"store": "metadata"}
STILL: Mapping[str, Value] = {"unloads": 0}
SPLIT: Mapping[str, Value] = {**NODES, **STILL, "units": 2, "splits": 1}

MUTANTS = {
    # what must always hold
    "views_of_the_same_messages_agree": Mutant({**TOPIC, **STILL}, "read", where(keeps("view_state"), b="b0"), 3),
    "versions_suffice": Mutant({**TOPIC, **STILL, "versions": 3}, "read", sets("truth_version", 3), 2),
    # pulsar#24478, by which two brokers loaded a topic, and a ledger was lost
    "lost_brokers_own_nothing": Mutant({**NODES, **STILL, "expiries": 1}, defect="copy_kept", steps=5),
    # pulsar#26520: with it the monitor may have to run twice, and no more often
    "the_dead_are_relieved_in_time": Mutant({**NODES, "crashes": 1, "rounds": 1}, defect="override_not_repeated", steps=11),
    # what every step must respect
    "leaving_brokers_own_nothing": Mutant({**NODES, **STILL, "shutdowns": 1}, defect="override_not_repeated", steps=7),
    "children_follow_their_parents": Mutant(SPLIT, "change_layout", keeps("layout_split"), 8),
    # what must come about in the end
    "looked_up_units_are_served": Mutant({**TOPIC, **STILL}, "assign", keeps("truth_state"), 6),
    "moves_end": Mutant({**NODES, **STILL}, "read", keeps("truth_state"), 16),
    "strays_close": Mutant(NODES, "close_topics", keeps("topics"), 9),
    # what must be possible
    "owned_and_known": Mutant({**TOPIC, **STILL}, "open_topics", keeps("topics")),
    "transferred": Mutant(TOPIC, "close_topics", sets("topics", "closed")),
    "relieved": Mutant({**TOPIC, **STILL, "crashes": 1}, "lead", keeps("leads")),
    "handed_over": Mutant({**NODES, **STILL, "shutdowns": 1}, "unregister", keeps("stage")),
    "lost_races": Mutant({**TOPIC, **STILL}, "assign", keeps("pending")),
    "split_and_served": Mutant(SPLIT, "delete_parent", keeps("truth_state")),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_violates_the_property(name: str) -> None:
    mutant = MUTANTS[name]
    assert judged(SERVICE_UNIT, mutant.protocol(SERVICE_UNIT), name) == ("violated", mutant.steps)


@pytest.mark.parametrize("name", MUTANTS)
def test_without_the_mutation_the_property_holds(name: str) -> None:
    assert judged(SERVICE_UNIT, SERVICE_UNIT.build(MUTANTS[name].parameters), name)[0] in ("exhausted", "proved")


@pytest.mark.parametrize(
    ("brokers", "rounds", "defects", "steps"),
    [(2, 2, ["override_not_repeated"], None), (3, 1, [], 11), (3, 2, [], None)],
)
def test_the_monitor_runs_once_for_each_dead_broker_and_once_more_for_an_override_that_is_lost(
    brokers: int, rounds: int, defects: list[str], steps: int | None
) -> None:
    """With two brokers one of them dies while a unit is unloaded, with three the one that is selected dies, too."""
    deaths = {"brokers": brokers, "crashes": brokers - 1, "unloads": 3 - brokers}
    found = searched(SERVICE_UNIT, {**NODES, **deaths, "rounds": rounds}, defects, ["the_dead_are_relieved_in_time"])
    (verdict,) = found.verdicts
    assert (verdict.verdict, verdict.reach.get("steps")) == ("exhausted" if steps is None else "violated", steps)


@pytest.mark.parametrize(
    "instances", [pytest.param(SERVICE_UNIT.mutated, id="small"), pytest.param(CHECKED, id="checked", marks=pytest.mark.deep)]
)
def test_every_property_is_violated_by_a_defect_or_a_mutant(instances: Sequence[Instance]) -> None:
    every = {p.name for i in instances for p in SERVICE_UNIT.suite(SERVICE_UNIT.build(i.parameters)).properties}
    by_defects = set().union(*(by for by, _ in CAUGHT.values()))
    assert every == by_defects | set(MUTANTS)
    assert not by_defects & set(MUTANTS), "a defect catches it already"
