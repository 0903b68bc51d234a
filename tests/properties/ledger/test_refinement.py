"""That a ledger refines its stand-in, with which weak moves it does so with a bug, and what carries over."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.public_calls import explore
from fencepost.model.bookkeeper.ledger import BUGS, ledger
from fencepost.model.language import ModelError
from fencepost.model.stand_ins.ledger import WEAK, stand_in
from fencepost.properties.cluster.bugs import FEWER_COPIES
from fencepost.properties.ledger import suite as ledger_suite
from fencepost.properties.ledger.refinement import ledger_refinement, written_refinement
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from fencepost.traces.wording.text import show
from tests.marking import first_at_once

NAME = "is_a_ledger_of_a_topic"
WRITTEN = "is_a_ledger_to_replicate"
LEDGER, BOOKIE = PROTOCOLS["ledger"].bugs, PROTOCOLS["bookie"].bugs
AS_IN_A_LEDGER = {
    "checkpoints_compared_by_first_journal": "one_directory_marks_for_all",
    "denies_what_it_has": "no_such_entry_though_stored",
    "headers_without_pages_not_saved": "idle_flush_skips_headers",
    "index_update_forgotten": "idle_checkpoint_skips_index",
    "log_header_has_remains": "one_directory_marks_for_all",
}
"""Bugs that the protocol of a bookie has, and the bug by which a ledger has each."""
PAIR = {"bookies": 3, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2}
FAULTS = {**PAIR, "bookies": 2, "entries": 1, "crashes": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1}


def refining(parameters: Mapping[str, Any], weak: Collection[str] = (), bugs: Collection[str] = ()) -> Suite:
    suite = Suite(ledger(**parameters, bugs=tuple(bugs)))
    ledger_refinement(suite, weak)
    return suite


@pytest.mark.parametrize(
    ("parameters", "states", "transitions"),
    first_at_once(
        [
            ({"entries": 1}, 4_790, 21_980),
            (FAULTS, 26_816, 116_540),
            ({"entries": 2}, 735_344, 5_413_486),
            ({"entries": 1, "recoverers": 2}, 91_030, 621_434),
            ({"entries": 1, "crashes": 1}, 23_950, None),
            ({**PAIR, "entries": 2, "changes": 1}, 229_673, 1_268_753),
        ],
        2,
    ),
    ids=str,
)
def test_a_ledger_refines_its_stand_in(parameters: Mapping[str, Any], states: int, transitions: int | None) -> None:
    first, *others = explore(refining(parameters)).verdicts
    assert (first.property.name, first.verdict, first.reach["distinct"]) == (NAME, "exhausted", states)
    assert transitions in (None, first.reach["transitions"])
    moves = ["send", "confirm", "close", *(["delete"] if "deletions" in parameters else [])]
    assert [(v.property.name, v.note) for v in others] == [(f"{NAME}_{move}", "reached") for move in moves]


@pytest.mark.parametrize("parameters", first_at_once([{"entries": 1}, FAULTS, {**PAIR, "entries": 2, "changes": 1}]), ids=str)
def test_a_ledger_refines_what_auto_recovery_knows_of_it(parameters: Mapping[str, Any]) -> None:
    suite = Suite(ledger(**parameters))
    written_refinement(suite)
    assert {v.verdict for v in explore(suite).verdicts if v.property.name == WRITTEN} == {"exhausted"}
    suite.lemmas.extend(ledger_suite.ledger(suite.protocol).lemmas)
    assert {v.verdict for v in prove(suite).verdicts if v.property.name == WRITTEN} == {"proved"}


@pytest.mark.parametrize("parameters", first_at_once([{"entries": 2}, {**PAIR, "entries": 2, "changes": 1}]), ids=str)
def test_it_is_proved_by_the_lemmas_of_the_ledger(parameters: Mapping[str, Any]) -> None:
    suite = refining(parameters)
    suite.lemmas.extend(ledger_suite.ledger(suite.protocol).lemmas)
    (proved,) = (v for v in prove(suite).verdicts if v.property.name == NAME)
    assert proved.verdict == "proved"


def test_without_fences_it_is_refused_with_the_run_that_truncates() -> None:
    suite = refining({"entries": 1}, bugs=["recovery_reads_do_not_fence"])
    (refused,) = explore(suite, properties=[NAME]).verdicts
    whole = ledger_suite.ledger(suite.protocol)
    (truncated,) = explore(whole, properties=["no_truncation"]).verdicts
    assert (refused.verdict, refused.reach["steps"], truncated.reach["steps"]) == ("violated", 13, 13)
    output = show(refused.trace, suite.protocol, violated=refused.property)
    assert "  confirm(e0) is no step of stand-in: there it is confirmed 0 -> 1\n" in output
    assert "    from status closed; sent 1; confirmed 0; end 0\n" in output


def refines(bug: str, weak: Collection[str]) -> bool:
    (outcome,) = explore(refining(LEDGER[bug].shown_by, weak, [bug]), properties=[NAME]).verdicts
    assert outcome.verdict in ("exhausted", "violated")
    return outcome.verdict == "exhausted"


def _check(bug: str) -> None:
    needs = LEDGER[bug].allows
    if not LEDGER[bug].refines:
        assert not refines(bug, WEAK)
        return
    assert refines(bug, needs)
    assert not any(refines(bug, {*needs} - {needed}) for needed in needs)


@pytest.mark.parametrize("bug", ["recovery_reads_do_not_fence", "digest_unchecked", "writer_closes_blindly"])
def test_what_the_stand_in_allows_with_a_bug(bug: str) -> None:
    _check(bug)


@pytest.mark.long
@pytest.mark.parametrize("bug", BUGS)
def test_what_the_stand_in_allows_with_each_bug(bug: str) -> None:
    _check(bug)


def test_histories_name_weak_moves_that_the_stand_in_has() -> None:
    named = [bug.allows for bug in LEDGER.values() if bug.allows]
    assert {move for moves in named for move in moves} == set(WEAK)
    of_bookies = {name: bug.allows for name, bug in BOOKIE.items() if bug.allows and name not in LEDGER}
    collected = {name for name in of_bookies if BOOKIE[name].shown_by.get("collections")}
    assert {of_bookies.pop(name) for name in collected} == {FEWER_COPIES}, "bookies collect copies of closed ledgers"
    assert of_bookies == {bug: LEDGER[same].allows for bug, same in AS_IN_A_LEDGER.items()}


def test_a_stand_in_has_no_weak_move_that_it_does_not_know() -> None:
    with pytest.raises(ModelError, match="stand-in: a ledger has no weak move 'cut'; it has truncate, confirm_late"):
        stand_in(1, allows=("cut",))


def test_the_ledger_is_held_to_it_in_instances_without_readers() -> None:
    assert NAME in {p.name for p in ledger_suite.ledger(ledger(entries=1, readers=0)).properties}
    assert NAME not in {p.name for p in ledger_suite.ledger(ledger(entries=1)).properties}
