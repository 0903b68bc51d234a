"""Auto-recovery: pinned counts of small instances, what each bug costs, and what the advice to operators avoids."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.model.language import ModelError
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.marking import first_at_once
from tests.properties.mutants import Mutant, judged, keeps, writes
from tests.properties.searching import searched, unexpected

REPLICATION = PROTOCOLS["replication"]

COUNTS = {
    "two away": (4528, 10470, 24),
    "two away, two workers": (5113, 11819, 22),
    "an open ledger": (13368, 32807, 26),
    "a zombie": (100445, 396387, 27),
    "the command": (35974, 112989, 26),
    "the command, audited daily": (132218, 440430, 28),
    "the command, after a wait": (16823, 41258, 29),
    "collectors": (10487, 24101, 29),
    "collectors and the command": (50533, 157774, 30),
    "a lost disk": (1815, 3428, 20),
    "a replaced disk": (28259, 76684, 24),
    "limbo": (52426, 150305, 28),
    "a decommission": (46181, 124573, 25),
    "an empty bookie under its old name": (33391, 85989, 25),
    "audits that fail": (8194, 19102, 24),
    "another auditor": (50274, 155222, 26),
    "an open handle": (12741, 34983, 23),
    "a bookie that is cut off": (13679, 35436, 22),
    "an open ledger, a member cut off": (22374, 60884, 26),
    "a gap and a bad copy": (14557, 33532, 30),
}

CONTROLS: dict[str, dict[str, int]] = {name: {} for name in COUNTS}

CAUGHT = {
    "target_is_a_member": ({"copies_are_not_fewer", "members_are_distinct", "keeps_copies_of_a_ledger"}, 11),
    "target_not_asked_again": ({"replaced_by_holders", "copies_are_not_fewer", "keeps_copies_of_a_ledger"}, 8),
    "collector_trusts_the_lock": ({"copies_go_for_a_reason"}, 6),
    "collected_is_refused": ({"failures_have_a_reason"}, 15),
    "deletes_lock_of_successor": ({"locks_are_kept"}, 6),
    "task_deleted_without_lock": ({"tasks_are_deleted_by_their_version"}, 7),
    "listed_replica_is_no_news": ({"tasks_are_marked_for_a_reason"}, 5),
    "audit_not_repeated": ({"failed_audits_are_repeated", "tasks_are_marked_for_a_reason"}, 2),
    "return_unseen": ({"absences_are_audited_again"}, 4),
    "lost_before_the_auditor": ({"auditors_begin_with_a_check"}, 2),
    "checker_reads_ends_only": ({"what_is_bad_is_replaced"}, 5),
    "checker_ignores_digest": ({"what_is_bad_is_replaced"}, 5),
    "refill_ignores_digest": ({"copies_come_for_a_reason", "rotten_copies_do_not_spread"}, 4),
    "refill_by_boot_metadata": ({"copies_come_for_a_reason"}, 9),
    "handle_keeps_its_ensemble": ({"open_handles_read"}, 18),
    "open_fragment_replicated": ({"work_goes_forward"}, 4),
    "replaced_before_copy": (
        {"replaced_by_holders", "copies_are_not_fewer", "ensembles_change_as_chosen", "keeps_copies_of_a_ledger"},
        6,
    ),
    "collector_takes_no_lock": ({"copies_go_for_a_reason"}, 8),
    "task_deleted_blindly": ({"tasks_are_deleted_by_their_version"}, 8),
}

_COMMAND: Mapping[str, Value] = {"commands": 1, "crashes": 2}
_ZOMBIE: Mapping[str, Value] = {"workers": 2, "expiries": 1}
_COLLECTED: Mapping[str, Value] = {"commands": 1, "collects": True}

COSTS: list[tuple[str, Mapping[str, Value], str, int | None]] = [
    ("target_is_a_member", _COMMAND, "members_are_distinct", 11),
    ("target_is_a_member", {**_COMMAND, "disable": "switch"}, "members_are_distinct", 12),
    ("target_is_a_member", {**_COMMAND, "disable": "wait"}, "members_are_distinct", None),
    ("target_is_a_member", {"workers": 2, "crashes": 2}, "members_are_distinct", None),
    ("target_is_a_member", {**_ZOMBIE, "crashes": 2}, "members_are_distinct", 15),
    ("target_not_asked_again", _COMMAND, "becomes_whole", 16),
    ("target_not_asked_again", {**_COMMAND, "daily": True}, "becomes_whole", None),
    ("target_not_asked_again", {"crashes": 2, "losses": 1}, "becomes_whole", None),
    ("collector_trusts_the_lock", _COLLECTED, "copies_are_not_fewer", 7),
    ("collector_trusts_the_lock", {**_COLLECTED, "disable": "wait"}, "copies_are_not_fewer", 8),
    ("collector_trusts_the_lock", {**_ZOMBIE, "workers": 1, "collects": True}, "copies_are_not_fewer", 11),
    ("collector_trusts_the_lock", {"workers": 2, "collects": True}, "copies_are_not_fewer", None),
    ("collected_is_refused", REPLICATION.shown_by["collected_is_refused"], "becomes_whole", 17),
    ("collected_is_refused", {"collects": True}, "becomes_whole", None),
    ("listed_replica_is_no_news", {"crashes": 2}, "becomes_whole", 8),
    ("listed_replica_is_no_news", {"crashes": 2, "daily": True}, "becomes_whole", None),
    ("task_deleted_without_lock", {**_ZOMBIE, "crashes": 2}, "becomes_whole", 13),
    ("task_deleted_without_lock", {**_ZOMBIE, "crashes": 2, "daily": True}, "becomes_whole", None),
    ("task_deleted_blindly", {"crashes": 2}, "becomes_whole", 8),
    ("audit_not_repeated", {"failed_audits": 1}, "becomes_whole", 2),
    ("audit_not_repeated", {"failed_audits": 1, "daily": True}, "becomes_whole", None),
    ("return_unseen", {"crashes": 2}, "becomes_whole", 7),
    ("return_unseen", {"crashes": 2, "daily": True}, "becomes_whole", None),
    ("lost_before_the_auditor", {"elections": 1, "failed_audits": 1}, "becomes_whole", 3),
    ("lost_before_the_auditor", {"elections": 1}, "becomes_whole", None),
    ("refill_by_boot_metadata", REPLICATION.shown_by["refill_by_boot_metadata"], "integrity_checks_end", 18),
    ("handle_keeps_its_ensemble", {"bookies": 4, "crashes": 1, "handle": True}, "open_handles_read", None),
    ("open_fragment_replicated", {"opened": True, "entries": 2}, "copies_are_not_fewer", 9),
]
"""A bug, an instance, what it costs an operator there, and in how many steps; none if the instance avoids it."""


@pytest.mark.parametrize(("bug", "parameters", "harm", "steps"), first_at_once(COSTS))
def test_a_known_bug_costs_what_its_history_says(
    bug: str, parameters: Mapping[str, Value], harm: str, steps: int | None
) -> None:
    assert unexpected(searched(REPLICATION, parameters, [bug], [harm])) == ({} if steps is None else {harm: steps})


ALONE: Mapping[str, Value] = {"bookies": 2, "losses": 1, "emptied": True, "decommissions": 1}
"""No bookie but the members."""


def test_where_nobody_can_take_their_place_nothing_is_said_to_become_whole() -> None:
    """An excuse would hold wherever there is something to excuse; what is said is that the members stay, and what they lack."""
    alone, one_copy, usual = (
        {p.name for p in REPLICATION.suite(REPLICATION.build(dict(parameters))).properties}
        for parameters in (ALONE, {"ensemble": 1, "decommissions": 1}, {"decommissions": 1})
    )
    assert {"becomes_whole", "decommissions_end"} <= usual
    assert not {"becomes_whole", "decommissions_end"} & (alone | one_copy)
    assert "nobody_takes_their_place" in alone - one_copy - usual
    assert unexpected(searched(REPLICATION, ALONE)) == {}


STAYS_IN_LIMBO = Mutant({"opened": True, "losses": 1, "crashes": 0, "integrity": True}, "end_limbo", keeps("limbo"), 12)


def test_what_the_ledger_does_not_ask_is_asked_here() -> None:
    """That no bookie is twice in an ensemble, and that limbo ends: each can be violated, and is not."""
    assert "members_are_distinct" in CAUGHT["target_is_a_member"][0]
    asked = "integrity_checks_end"
    assert judged(REPLICATION, STAYS_IN_LIMBO.protocol(REPLICATION), asked) == ("violated", STAYS_IN_LIMBO.steps)
    assert unexpected(searched(REPLICATION, STAYS_IN_LIMBO.parameters, [], [asked, "members_are_distinct"])) == {}


CUT: Mapping[str, Value] = {"cuts": 1, "crashes": 0}


def test_a_bookie_that_only_clients_miss_is_found_by_the_weekly_check_alone() -> None:
    """Its registration stays, so no audit is of it; one that only the auditor misses is replaced at once."""
    assert unexpected(searched(REPLICATION, CUT, [], ["becomes_whole"])) == {}
    assert unexpected(searched(REPLICATION, {**CUT, "weekly": False}, [], ["becomes_whole"])) == {"becomes_whole": 1}


GETS_BACK = Mutant(ALONE, "start_empty", writes("stored[{b}]", (0,)), 2)
NOT_EMPTY = Mutant(ALONE, "lose_disk", keeps("stored"), 2)
WRONG_MEMBER = Mutant({"bookies": 4, "crashes": 1, "handle": True}, "hear_of_ensemble", writes("handle[p0]", 1), 8)
STAYS_CUT = Mutant({"cuts": 1}, "crash", keeps("cut"), 2)


@pytest.mark.parametrize(
    ("mutant", "broken"),
    [
        (GETS_BACK, "nobody_takes_their_place"),
        (NOT_EMPTY, "lost_disks_come_back_empty"),
        (WRONG_MEMBER, "handles_know_the_ensemble"),
        (STAYS_CUT, "cuts_are_of_bookies_that_run"),
    ],
)
def test_what_bookies_clients_and_the_store_show_is_held_to(mutant: Mutant, broken: str) -> None:
    assert judged(REPLICATION, mutant.protocol(REPLICATION), broken) == ("violated", mutant.steps)


@pytest.mark.parametrize(
    "wrong", [{"ensemble": 4}, {"ack_quorum": 3}, {"disable": "off"}, {"workers": 0}, {"entries": 0}], ids=str
)
def test_what_cannot_be_is_refused(wrong: dict[str, Value]) -> None:
    with pytest.raises(ModelError, match=r"replication: .*"):
        REPLICATION.build(wrong)
