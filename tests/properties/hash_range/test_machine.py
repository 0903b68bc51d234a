"""Real layouts under random splits: the machine notices what is wrong with them, and what is no step of the protocol."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from fencepost.model.pulsar.hash_range import BUGS, FULL, HashRange, Layout, Refused
from tests.properties.hash_range.layout_machine import Abstract, LayoutMachine

EDGES = "boundaries_unchecked", "edges_kept", "empty_bundles_allowed"
CAUGHT = [
    ("lookup_hits_last_boundary",),
    ("last_bundle_half_open",),
    ("every_bundle_closed",),
    ("last_boundary_too_high",),
    ("midpoint_in_ints",),
    pytest.param(EDGES, marks=pytest.mark.long),  # each of which alone the other checks make up for
]
TOO_SMALL = "splits_any_bundle"
"""Shows only in bundles of one hash, to which so few splits do not lead; the theorems find it."""

LAST = (FULL.last - 1, FULL.last)


def run(hashes: HashRange, examples: int = 25, steps: int = 15) -> None:
    class Machine(LayoutMachine):
        pass

    Machine.hashes = hashes
    chosen: dict[str, Any] = {"max_examples": examples, "stateful_step_count": steps, "phases": [Phase.generate]}
    run_state_machine_as_test(Machine, settings=settings(**chosen, verbosity=Verbosity.quiet))


@pytest.mark.long
def test_splits_of_real_layouts_are_steps_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    steps = Abstract.steps

    def noted(self: Abstract, *given: Any) -> list[str]:
        taken = steps(self, *given)
        seen.add(len(taken))
        return taken

    monkeypatch.setattr(Abstract, "steps", noted)
    run(FULL, 20)
    assert {0, 2} <= seen  # no step, and a split


@pytest.mark.deep
def test_many_splits_of_real_layouts_are_steps_of_the_protocol() -> None:
    run(FULL, 300, 30)


@pytest.mark.parametrize("bugs", CAUGHT, ids=" ".join)
def test_a_bug_is_noticed(bugs: tuple[str, ...]) -> None:
    with pytest.raises((AssertionError, Refused)):
        run(HashRange(bugs=frozenset(bugs)), 2000, 30)


def test_every_bug_is_spoken_of() -> None:
    assert {bug for bugs in (*CAUGHT[:-1], EDGES) for bug in bugs} | {TOO_SMALL} == set(BUGS)


@pytest.fixture(scope="module")
def abstract() -> Abstract:
    return Abstract()


def test_a_real_layout_is_seen_by_representatives(abstract: Abstract) -> None:
    halves = Layout((0, 2**31, FULL.last))
    assert [str(b) for b in abstract.bundles(halves, (1, 2, 3, 2**31, *LAST))] == [
        "0x00000000_0x00000003",
        "0x00000003_0x00000005",
    ]
    assert len(abstract.bundles(halves, (1, 2, 3, 4, *LAST))) == 2
    assert len(abstract.bundles(halves, (2**31, *range(2**31 + 1, 2**31 + 4), *LAST))) == 1


def test_a_split_is_a_step_or_several_or_none(abstract: Abstract) -> None:
    whole, halves = Layout((0, FULL.last)), Layout((0, 2**31, FULL.last))
    between = (5, 2**31 - 1, 2**31, 2**31 + 1, *LAST)
    assert abstract.steps(whole, halves, between) == ["prepare(b0, u0_5, 2)", "write(b0)"]
    assert abstract.steps(whole, halves, (2**31, *range(2**31 + 1, 2**31 + 4), *LAST)) == []
    assert abstract.steps(whole, Layout((0, 6, 2**31, FULL.last)), between) == [
        *("prepare(b0, u0_5, 1)", "write(b0)"),
        *("prepare(b0, u1_5, 2)", "write(b0)"),
    ]


def test_what_is_no_split_is_no_step(abstract: Abstract) -> None:
    halves, moved = Layout((0, 2**31, FULL.last)), Layout((0, 2**31 + 1, FULL.last))
    between = (5, 2**31 - 1, 2**31, 2**31 + 1, *LAST)
    for after in (Layout((0, FULL.last)), moved):
        with pytest.raises(AssertionError, match="the protocol has"):
            abstract.steps(halves, after, between)
