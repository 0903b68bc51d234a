"""The known bugs of the parts of a cluster: each is in its part what the moves are by which it enters the whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fencepost.checks.public_calls import explore
from fencepost.checks.questions import matters
from fencepost.model.language import Protocol
from fencepost.properties.cluster.bugs import of_parts
from fencepost.properties.ownership import guarantees as of_locks
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.service_unit import guarantees as of_records
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once
from tests.properties.searching import searched, unexpected

CLUSTER = PROTOCOLS["cluster"]
MATTERS = {matter.name: matter for matter in matters.MATTERS}
KNOWN = of_parts()
OF_LEDGERS = [bug for bug in KNOWN if bug in PROTOCOLS["ledger"].bugs]
OF_OWNERS = {name: PROTOCOLS[name].bugs for name in ("ownership", "service_unit")}
OF_DELETED = "deleted_fence_in_memory"
IN_THE_END = {
    "ownership": {"loss_unheard": of_locks.one_server_in_the_end, "node_left": of_locks.served},
    "service_unit": {"loss_unheard": of_records.one_server_in_the_end, "node_left": of_records.served},
}
"""What is violated in a part by a bug with which something need not happen in the end."""

LOST = {
    ("confirm_late", "truncate"): 13,
    ("dropped",): None,
    ("loss_unheard",): None,
    ("left_behind", "loss_unheard"): 17,
    ("passed_over", "deleted_while_owned", "loss_unheard"): 16,
    ("deleted_while_owned",): None,
    ("node_left",): None,
    ("loss_unheard", "node_left"): None,
    ("taken_unowned", "deleted_while_owned"): None,
    ("taken_unowned", "deleted_while_owned", "node_left"): None,
}
"""In how many steps bugs with these moves lose an acknowledged message, if they do."""


def test_each_known_bug_of_a_part_that_has_moves_enters_the_cluster() -> None:
    parts = ("ledger", "bookie", "replication", "ownership", "unload", "split", "service_unit")
    known = [(name, bug) for part in parts for name, bug in PROTOCOLS[part].bugs.items() if bug.present]
    assert {name for name, bug in known if bug.allows or bug.unfair} - KNOWN.keys() == {OF_DELETED}
    assert KNOWN.keys() <= CLUSTER.bugs.keys()


@pytest.mark.parametrize("bug", first_at_once(OF_LEDGERS))
def test_a_bug_of_ledgers_that_enters_loses_a_confirmed_entry_there(bug: str) -> None:
    ledger = PROTOCOLS["ledger"]
    assert "no_truncation" in unexpected(searched(ledger, ledger.shown_by[bug], [bug], ["no_truncation"]))


OF_COPIES = [bug for bug in KNOWN if bug in PROTOCOLS["replication"].bugs]


@pytest.mark.parametrize("bug", first_at_once(OF_COPIES))
def test_a_bug_of_auto_recovery_that_enters_makes_a_message_unreadable_with_a_lost_disk(bug: str) -> None:
    shown = CLUSTER.shown_by[bug]
    assert unexpected(searched(CLUSTER, shown, [bug], ["acked_can_be_read"])) == {"acked_can_be_read": 12}
    assert unexpected(searched(CLUSTER, {**shown, "disk_losses": 0}, [bug], ["acked_can_be_read"])) == {}


def test_a_late_add_to_a_deleted_ledger_loses_none() -> None:
    ledger = PROTOCOLS["ledger"]
    assert unexpected(searched(ledger, ledger.shown_by[OF_DELETED], [OF_DELETED], ["no_truncation"])) == {}


def _violated(part: str, bug: str, make: Callable[[Protocol], Suite]) -> bool:
    """Whether a bug, and nothing without it, keeps from coming about what must come about in the end."""
    entry, verdicts = PROTOCOLS[part], []
    for bugs in ((bug,), ()):
        findings = explore(make(entry.build(dict(entry.shown_by[bug]), bugs)))
        verdicts.append([v.verdict for v in findings.verdicts if v.property.kind == "leads_to"])
    return verdicts[0] == ["violated"] and verdicts[1] != ["violated"]


OWNED = [(part, bug) for part, known in OF_OWNERS.items() for bug, its in known.items() if its.present]


@pytest.mark.parametrize(("part", "bug"), first_at_once(sorted(OWNED, key=("ownership", "lone_release_fails").__ne__)))
def test_what_need_not_happen_in_the_end_is_what_the_part_violates(part: str, bug: str) -> None:
    violated = {name for name, make in IN_THE_END[part].items() if _violated(part, bug, make)}
    named = set(OF_OWNERS[part][bug].unfair)
    assert violated <= named
    assert named <= violated or bug == "event_lost"  # each part has one side of it


ONE_OF_EACH = {names: bug for bug, known in reversed(KNOWN.items()) for names in [known.moves]}
"""Bugs with the same moves are the same to a cluster."""


@pytest.mark.parametrize("bug", first_at_once(sorted(ONE_OF_EACH.values(), key="deletion_sent_again".__ne__)))
def test_which_bugs_lose_an_acknowledged_message(bug: str) -> None:
    assert ONE_OF_EACH.keys() == LOST.keys()
    steps = unexpected(searched(CLUSTER, CLUSTER.shown_by[bug], [bug], ["acked_is_in_log"])).get("acked_is_in_log")
    assert steps == LOST[KNOWN[bug].moves]


BESIDES = {"unread_is_kept": MATTERS["backlog"], "in_producer_order": MATTERS["order"], "stored_once": MATTERS["order"]}


@pytest.mark.later
@pytest.mark.parametrize("prop", BESIDES)
@pytest.mark.parametrize("bug", sorted(ONE_OF_EACH.values(), key="deletion_sent_again".__ne__))
def test_a_bug_of_a_part_costs_no_backlog_and_no_order_unless_it_loses_a_message(bug: str, prop: str) -> None:
    parameters = {**CLUSTER.shown_by[bug], **BESIDES[prop].whole[prop], "dedup": prop != "unread_is_kept"}
    violated = bool(unexpected(searched(CLUSTER, parameters, [bug], [prop])))
    assert violated == (prop == "in_producer_order" and LOST[KNOWN[bug].moves] is not None)
