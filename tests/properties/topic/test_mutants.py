"""Every property of a topic can be violated: those that no bug violates first are violated by a mutant each."""

from __future__ import annotations

import pytest

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.mutants import (
    Mutant,
    assert_noticed,
    broken_properties,
    by_instance,
    keeps,
    sets,
    unfair,
    where,
    without,
    writes,
)
from tests.properties.topic.test_safety import CAUGHT, CONTROLS

pytestmark = pytest.mark.long

TOPIC = PROTOCOLS["topic"]

ONE: dict[str, Value] = {"brokers": 1, "messages": 1, "openings": 1, "connections": 1, "rolls": 0, "ledgers": 2}
CRASHING = ONE | {"openings": 2, "ledgers": 3, "crashes": 1}
FAILING = ONE | {"rolls": 1, "ledgers": 3, "failures": 1}
ENDED = ONE | {"terminations": 1, "dedup": False}
TRIMMED = ONE | {"capacity": 1, "ledgers": 2, "trims": 1, "dedup": False, "subscription": True}
TWICE = TRIMMED | {"messages": 2, "ledgers": 3}
RIVALS: dict[str, Value] = {"brokers": 2, "messages": 1, "connections": 1, "rolls": 1, "ledgers": 3}
ROLLED = ONE | {"messages": 2, "rolls": 1}

MUTANTS = {
    # what must always hold
    "unloaded_is_forgotten": Mutant(CRASHING, "crash", keeps("known"), 5),
    "listed_is_not_deleted": Mutant(TRIMMED, "delete_ledger", without("deleting["), 12),
    "cursor_is_not_ahead": Mutant(TRIMMED, "persist_position", sets("cursor", 2), 10),
    "nothing_is_past_the_end": Mutant(ENDED, "list_end", sets("final", 0), 10),
    "queue_is_counted": Mutant(ONE, "confirm", keeps("queue"), 8),
    "write_failed_is_fenced": Mutant(FAILING, "creation_fails", keeps("topic"), 9),
    "fenced_has_no_producer": Mutant(FAILING, "creation_fails", keeps("link"), 9),
    "unlisted_has_no_entries": Mutant(TRIMMED, "trim", keeps("entries"), 14),
    "former_ledgers_have_entries": Mutant(CRASHING, "recover_last", keeps("known"), 9),
    "deleted_is_done": Mutant(TRIMMED, "delete_ledger", keeps("deleting"), 15),
    "snapshot_is_of_what_is_before_it": Mutant(ONE | {"snapshots": 1}, "take_snapshot", keeps("snapshot_at"), 9),
    "full_is_not_open": Mutant(ONE | {"capacity": 1}, "add", keeps("state"), 7),
    # what every step must respect
    "arrived_is_kept": Mutant(ROLLED, "roll_over", writes("arrived[{b}]", 0), 8),
    "confirmed_is_the_first_sent": Mutant(ONE, "add", keeps("content"), 8),
    "subscription_skips_nothing": Mutant(TWICE, "consume", where(without("Not(Or("), k="l1"), 15),
    "deletion_takes_all_ledgers": Mutant(ONE | {"deletions": 1}, "collect_inactive", keeps("ledger.status"), 5),
    "list_is_written_by_version": Mutant(ONE, "list_first", keeps("version"), 4),
    "one_connection": Mutant(ONE | {"connections": 2}, "connect", without("connected == 'nobody'"), 7),
    "others_keep_their_producer": Mutant(RIVALS, "list_first", sets("connected", "nobody"), 9),
    "empty_is_not_rolled": Mutant(ROLLED, "roll_over", without("ledger.sent"), 5),
    "closing_is_final": Mutant(ONE | {"closings": 1}, "leave_topic", keeps("state"), 6),
    "trims_when_it_writes": Mutant(TRIMMED, "list_new", writes("trimmed", (0,)), 11),
    "unlisted_is_given_up": Mutant(RIVALS, "list_new", keeps("ledger.status"), 14),
    # what must come about in the end
    "producer_connects": Mutant(ONE, "connect", unfair, 4),
    "termination_is_listed": Mutant(ENDED, "list_end", unfair, 7),
    "fenced_is_unfenced": Mutant(FAILING, "unfence", keeps("topic"), 12),
    # what must be possible
    "all_acknowledged": Mutant(ONE, "confirm", keeps("acked")),
    "in_two_ledgers": Mutant(ROLLED, "create_ledger", keeps("fresh")),
    "rolled_over_when_all_is_stored": Mutant(ROLLED, "roll_over", keeps("state")),
    "recovered_by_others": Mutant(ONE | {"messages": 2, "recoveries": 1}, "recover_elsewhere", keeps("ledger.status")),
    "recovered_with_all_entries": Mutant(ONE | {"messages": 2, "recoveries": 1}, "recover_elsewhere", keeps("ledger.end")),
    "recovered_and_rolled_over": Mutant(ROLLED | {"recoveries": 1}, "roll_over", keeps("state")),
    "two_serve": Mutant(RIVALS, "open", keeps("known_version")),
    "trimmed_when_read": Mutant(TRIMMED, "consume", keeps("mark")),
    "snapshot_of_the_first": Mutant(ONE | {"messages": 2, "snapshots": 1}, "take_snapshot", keeps("snapshot_at")),
    "trimmed": Mutant(TRIMMED, "delete_ledger", keeps("ledger.status")),
}

LATER = {"current_ledger_is_there", "property_update_is_answered"}
"""What bugs violate after another property; their runs are tests of their own beside those of the bugs."""


@pytest.mark.parametrize("mutants", by_instance(MUTANTS))
def test_each_mutant_violates_its_property_which_holds_without_it(mutants: dict[str, Mutant]) -> None:
    assert_noticed(TOPIC, mutants)


def test_every_property_is_violated_by_a_bug_or_a_mutant_or_is_a_negative_control() -> None:
    instances = [*(instance.parameters for instance in TOPIC.sizes["ci"]), *TOPIC.shown_by.values()]
    suites = [TOPIC.suite(TOPIC.build(parameters)) for parameters in instances]
    every = {p.name for suite in suites for p in suite.properties}
    by_bugs = set().union(*(by for by, _ in CAUGHT.values()))
    as_it_is = set().union(*CONTROLS.values())
    assert by_bugs | set(MUTANTS) <= every <= by_bugs | LATER | set(MUTANTS) | broken_properties("topic") | as_it_is
    assert not by_bugs & set(MUTANTS), "a bug catches it already"
