"""Every property of service units can be violated: those that no bug violates first are violated by a mutant each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value
from tests.properties.mutants import Mutant, assert_noticed, by_instance, keeps, sets, where, without, writes
from tests.properties.searching import searched
from tests.properties.service_unit.test_safety import CAUGHT

pytestmark = pytest.mark.long

SERVICE_UNIT = PROTOCOLS["service_unit"]
CHECKED = (*SERVICE_UNIT.sizes["ci"], *SERVICE_UNIT.sizes["standard"])

TOPIC: Mapping[str, Value] = {"lag": 2}
NODES: Mapping[str, Value] = {"store": "metadata"}
STILL: Mapping[str, Value] = {"unloads": 0}
SPLIT: Mapping[str, Value] = {**NODES, **STILL, "units": 2, "splits": 1}

MUTANTS = {
    # what must always hold
    "views_of_the_same_messages_agree": Mutant({**TOPIC, **STILL}, "read", where(keeps("view_state"), b="b0"), 3),
    "versions_suffice": Mutant({**TOPIC, **STILL, "versions": 3}, "read", sets("record_version", 3), 2),
    # pulsar#24478, by which two brokers loaded a topic, and a ledger was lost
    "lost_brokers_own_nothing": Mutant({**NODES, **STILL, "expiries": 1}, bug="copy_kept", steps=5),
    # pulsar#26520: with it the monitor may have to run twice, and no more often
    "the_dead_are_relieved_in_time": Mutant({**NODES, "crashes": 1, "rounds": 1}, bug="override_not_repeated", steps=11),
    # of processes, their sessions and their nodes
    "absent_nodes_are_blank": Mutant({**NODES, **STILL, "shutdowns": 1}, "unregister", writes("leader_former", True), 2),
    "lost_brokers_do_not_lead": Mutant({**NODES, **STILL, "expiries": 1}, "learn_of_expiry", keeps("metadata"), 2),
    "ended_processes_hold_nothing": Mutant({**NODES, **STILL, "crashes": 1}, "crash", keeps("leads"), 2),
    "splits_end_blank": Mutant(SPLIT, "delete_parent", keeps("split_version"), 8),
    # of the log
    "read_messages_are_dropped": Mutant({**TOPIC, **STILL}, "read", keeps("message_dst"), 5),
    "compaction_leaves_the_last_message": Mutant({**TOPIC, "compactions": 1}, "unload", sets("message_counts", True), 5),
    # what every step must respect
    "links_follow_sessions": Mutant({**NODES, **STILL, "expiries": 1}, "reestablish", keeps("session"), 3),
    "sessions_come_and_go": Mutant({**NODES, **STILL, "crashes": 1}, "restart", keeps("former_session"), 2),
    "nodes_are_made_by_those_who_stay": Mutant({**NODES, **STILL, "expiries": 1}, "lead", without("session["), 2),
    "nodes_go_with_a_reason": Mutant({**NODES, **STILL, "expiries": 1}, "reestablish", writes("leader_holder", "nobody"), 4),
    "processes_go_on": Mutant({**NODES, **STILL, "shutdowns": 1}, "end", without("stage["), 1),
    "overrides_have_a_reason": Mutant({**NODES, **STILL, "crashes": 1}, "clean_up", without("cleans["), 5),
    "the_leader_buries": Mutant({**TOPIC, "burials": 1}, "tombstone_old", without("leads["), 11),
    "topics_go_their_way": Mutant({**TOPIC, **STILL}, "open_topics", sets("topics", "late"), 4),
    "records_go_their_way": Mutant({**TOPIC, **STILL}, "assign", writes("record_src[{u}]", "b0"), 1),
    "only_overrides_are_forced": Mutant({**TOPIC, **STILL, "slow": True}, "assign", writes("message_force[m0]", True), 1),
    "unloads_are_asked_of_the_owner": Mutant(TOPIC, "transfer", without("view_dst["), 5),
    "splits_are_asked_of_the_owner": Mutant({**SPLIT, "store": "topic"}, "split", without("view_dst["), 4),
    "is_the_owner_that_a_topic_has": Mutant({**TOPIC, **STILL}, "open_topics", without("Or(And(view_state"), 1),
    "messages_stay_as_they_are": Mutant({**TOPIC, **STILL}, "read", keeps("message_version"), 2),
    "writes_are_heard": Mutant({**NODES, **STILL}, "assign", keeps("unheard"), 1),
    "force_is_of_the_record": Mutant({**NODES, **STILL}, "read", writes("record_force[{u}]", True), 2),
    "leaving_brokers_leave_no_nodes": Mutant({**NODES, **STILL, "shutdowns": 1}, "unregister", keeps("registry_holder"), 2),
    "handed_over_when_read": Mutant({**NODES, **STILL, "shutdowns": 1}, bug="override_not_repeated", steps=4),
    # pulsar#23064: before it overrides the record, the clean-up begins without a reason
    "healthy_brokers_keep_their_units": Mutant({"crashes": 1}, bug="source_missed", steps=12),
    "leaving_brokers_own_nothing": Mutant({**NODES, **STILL, "shutdowns": 1}, bug="override_not_repeated", steps=7),
    "children_follow_their_parents": Mutant(SPLIT, "change_layout", keeps("layout_split"), 8),
    # what must come about in the end
    "looked_up_units_are_served": Mutant({**TOPIC, **STILL}, "assign", keeps("record_state"), 6),
    "moves_end": Mutant({**NODES, **STILL}, "read", keeps("record_state"), 16),
    "strays_close": Mutant(NODES, "close_topics", keeps("topics"), 13),
    # the run to what_comes_back_is_disposed_of goes on until clients are refused
    "what_is_owned_can_be_served": Mutant({**NODES, "crashes": 1}, bug="transfer_back_unfinished", steps=16),
    "clean_ups_end": Mutant({**NODES, **STILL, "crashes": 1}, "call_off_clean_up", keeps("cleans"), 10),
    "somebody_leads": Mutant({**NODES, **STILL, "crashes": 1}, "lead", keeps("leads"), 5),
    "units_outlive_their_brokers": Mutant({**NODES, **STILL, "crashes": 1}, "schedule_clean_up", keeps("cleans"), 6),
    "layouts_are_learned": Mutant(SPLIT, "learn_layout", keeps("layout_copy"), 15),
    # what must be possible
    "compacted": Mutant({**TOPIC, "compactions": 1}, "compact", keeps("message_gone")),
    "session_given_up": Mutant({**NODES, **STILL, "disconnects": 1}, "lose", keeps("link")),
    "connected_again": Mutant({**NODES, **STILL, "disconnects": 1}, "disconnect", writes("session[{c}]", False)),
    "buried": Mutant({**TOPIC, "burials": 1}, "tombstone_old", keeps("record_state")),
    "owned_and_known": Mutant({**TOPIC, **STILL}, "open_topics", keeps("topics")),
    "transferred": Mutant(TOPIC, "detach_topics", sets("topics", "closed")),
    "relieved": Mutant({**TOPIC, **STILL, "crashes": 1}, "lead", keeps("leads")),
    "handed_over": Mutant({**NODES, **STILL, "shutdowns": 1}, "unregister", keeps("stage")),
    "lost_races": Mutant({**TOPIC, **STILL}, "assign", keeps("pending")),
    "split_and_served": Mutant(SPLIT, "delete_parent", keeps("record_state")),
    "is_the_owner_that_a_topic_has_take": Mutant({**TOPIC, **STILL}, "open_topics", keeps("topics")),
    "is_the_owner_that_a_topic_has_create": Mutant({**TOPIC, **STILL}, "read", keeps("record_state")),
    "is_the_owner_that_a_topic_has_lose": Mutant({**TOPIC, "multi_phase": False}, "close_topics", keeps("topics")),
    "is_the_owner_that_a_topic_has_release": Mutant(TOPIC, "read", keeps("record_state")),
}


DEEP = {
    *("absent_nodes_are_blank", "lost_brokers_do_not_lead", "splits_end_blank", "read_messages_are_dropped"),
    *("compaction_leaves_the_last_message", "links_follow_sessions", "sessions_come_and_go"),
    "nodes_are_made_by_those_who_stay",
    *("nodes_go_with_a_reason", "processes_go_on", "the_leader_buries", "topics_go_their_way"),
    *("unloads_are_asked_of_the_owner", "writes_are_heard", "force_is_of_the_record", "leaving_brokers_leave_no_nodes"),
    *("handed_over_when_read", "healthy_brokers_keep_their_units", "clean_ups_end", "somebody_leads"),
    *("units_outlive_their_brokers", "layouts_are_learned", "compacted", "session_given_up", "connected_again"),
}
"""What is spoiled in the deep run only."""

CASES = [
    *by_instance({name: mutant for name, mutant in MUTANTS.items() if name not in DEEP}),
    *by_instance({name: mutant for name, mutant in MUTANTS.items() if name in DEEP}, pytest.mark.deep),
]


@pytest.mark.parametrize("mutants", CASES)
def test_each_mutant_violates_its_property_which_holds_without_it(mutants: dict[str, Mutant]) -> None:
    assert_noticed(SERVICE_UNIT, mutants)


@pytest.mark.parametrize(
    ("brokers", "rounds", "bugs", "steps"),
    [(2, 2, ["override_not_repeated"], None), (3, 1, [], 11), (3, 2, [], None)],
)
def test_the_monitor_runs_once_for_each_dead_broker_and_once_more_for_an_override_that_is_lost(
    brokers: int, rounds: int, bugs: list[str], steps: int | None
) -> None:
    """With two brokers one of them dies while a unit is unloaded, with three the one that is selected dies, too."""
    deaths = {"brokers": brokers, "crashes": brokers - 1, "unloads": 3 - brokers}
    findings = searched(SERVICE_UNIT, {**NODES, **deaths, "rounds": rounds}, bugs, ["the_dead_are_relieved_in_time"])
    (verdict,) = findings.verdicts
    assert (verdict.verdict, verdict.reach.get("steps")) == ("exhausted" if steps is None else "violated", steps)


@pytest.mark.parametrize(
    "instances", [pytest.param(SERVICE_UNIT.mutated, id="small"), pytest.param(CHECKED, id="checked", marks=pytest.mark.deep)]
)
def test_every_property_is_violated_by_a_bug_or_a_mutant(instances: Sequence[Instance]) -> None:
    every = {p.name for i in instances for p in SERVICE_UNIT.suite(SERVICE_UNIT.build(i.parameters)).properties}
    by_bugs = set().union(*(by for by, _ in CAUGHT.values()))
    assert every == by_bugs | set(MUTANTS)
    assert not by_bugs & set(MUTANTS), "a bug catches it already"
