"""What auto-recovery decides: cases of several fragments, and agreement with the protocol where that has the same ledger."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fencepost.checks.conformance.running.view import View, Views
from fencepost.model.bookkeeper.replication.decisions import (
    Metadata,
    candidates,
    fragments,
    replaced,
    under_replicated,
)
from fencepost.model.kernel import Kernel
from fencepost.model.language import Action
from fencepost.properties.protocols import PROTOCOLS

REPLICATION = PROTOCOLS["replication"]
ALL = {"b0", "b1", "b2", "b3"}


def bad(ledger: Metadata, up: set[str], stored: Mapping[str, set[int]]) -> dict[int, list[int]]:
    return {part.first: places for part, places in under_replicated(ledger, up, lambda b, e: e in stored.get(b, set()))}


@pytest.mark.parametrize(
    ("last", "closed", "are_closed"),
    [(5, True, [True, True]), (5, False, [True, False]), (2, False, [True, False]), (1, False, [False, False])],
)
def test_a_fragment_is_closed_when_nobody_adds_to_it(last: int, closed: bool, are_closed: list[bool]) -> None:
    ledger = Metadata({0: ["b0", "b1"], 3: ["b0", "b2"]}, 2, last, closed)
    assert [part.closed for part in fragments(ledger)] == are_closed


def test_fragments_of_the_same_bookies_as_the_last_stay_open() -> None:
    ledger = Metadata({0: ["b0", "b1"], 3: ["b2", "b1"], 5: ["b0", "b1"]}, 2, 6, closed=False)
    assert [part.closed for part in fragments(ledger)] == [False, True, False]


def test_of_a_striped_fragment_a_place_is_read_at_its_ends() -> None:
    ledger = Metadata({0: ["b0", "b1", "b2"]}, 2, 6)
    (part,) = fragments(ledger)
    assert [part.entries_at(place, 2) for place in range(3)] == [[0, 2, 3, 5, 6], [0, 1, 3, 4, 6], [1, 2, 4, 5]]
    gap = {"b0": {0, 6}, "b1": {1, 3, 4, 6}, "b2": {1, 2, 4, 5}}
    assert bad(ledger, ALL, gap) == {0: [1]}


@pytest.mark.parametrize("closed", [True, False])
def test_one_entry_that_its_write_set_denies_is_left_out(closed: bool) -> None:
    ledger = Metadata({0: ["b0", "b1"]}, 2, 0, closed)
    assert bad(ledger, ALL, {}) == {}
    assert bad(ledger, ALL - {"b1"}, {}) == {0: [0, 1]}


def test_a_fragment_without_entries_lacks_only_who_is_away() -> None:
    ledger = Metadata({0: ["b0", "b1"]}, 2, -1)
    assert bad(ledger, ALL, {}) == {}
    assert bad(ledger, {"b0", "b2"}, {}) == {0: [1]}


def test_each_place_of_a_bookie_gets_the_new_one_by_name() -> None:
    assert candidates(["b0", "b1"], ["b2"], ["b0", "b2", "b3"]) == ["b3"]
    assert replaced(["b0", "b1"], {"b0": "b2"}) == ["b2", "b1"]
    assert replaced(["b2", "b1"], {"b1": "b2"}) == ["b2", "b2"]


@pytest.mark.long
def test_it_is_what_the_protocol_decides() -> None:
    """In every state of an instance, of the checks, choices and replacements that a worker can make."""
    bugs = ["checker_reads_ends_only", "target_is_a_member", "target_not_asked_again"]
    kernel = Kernel(REPLICATION.build({"entries": 2, "crashes": 2, "gaps": 1}, bugs))
    views, decisions = Views(kernel.protocol), {"find_bad": 0, "choose": 0, "replace": 0}
    (first,) = kernel.initial()
    states, seen = [first], {tuple(kernel.packing.unpack(first))}
    while states:
        state = states.pop()
        before = views.of(tuple(kernel.packing.unpack(state)))
        for number in kernel.enabled(state):
            after = kernel.apply(state, number)
            unpacked = tuple(kernel.packing.unpack(after))
            if unpacked not in seen:
                seen.add(unpacked)
                states.append(after)
            action = kernel.actions[number]
            if action.name in decisions:
                decisions[action.name] += 1
                assert _agrees(action, before, views.of(unpacked)), action.label
    assert all(decisions.values())


def _agrees(action: Action, before: View, after: View) -> bool:
    members = _ensemble(before)
    up = [b for b in before.members("bookie") if before[f"up[{b}]"]]
    if action.name == "find_bad":
        ledger = Metadata({0: members}, len(members), 1)
        ((_, places),) = under_replicated(ledger, up, lambda b, e: f"e{e}" in before[f"stored[{b}]"])
        return {members[place] for place in places} == set(after["bad[w0]"])
    moves = {b: before[f"moves[w0, {b}]"] for b in before.members("bookie") if before[f"moves[w0, {b}]"] != "none"}
    if action.name == "choose":
        return action.arguments["n"] in candidates(before["excluded[w0]"], list(moves.values()), up)
    return _ensemble(after) == replaced(members, moves)


def _ensemble(view: View) -> list[str]:
    return [view[f"member[{place}]"] for place in view.members("place")]
