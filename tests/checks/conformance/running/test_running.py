"""Runs on real code, with code in Python in its place: what is compared, what counts as a difference, and what is shrunk."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side.session import SessionError, waiting
from fencepost.checks.conformance.running.adapter import Allowance, Deviation, Owed, Seen, Taken
from fencepost.checks.conformance.running.campaign import Result, campaign, shortened, single
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry
from fencepost.properties.vocabulary import Suite
from fencepost.traces.files.itf import read, write
from fencepost.traces.replay import replay_on
from tests.checks.conformance.running.toy import Boxes, mailbox, pair

BUGS = {
    "counts twice": ("differs", ["put(b0)", "put(b0)", "empty(b0)"], "emptied[b0]: model 1, code 2"),
    "never empties": ("differs", ["put(b0)", "put(b0)", "empty(b0)"], "emptied[b0]: model 1, code 0"),
    "loses a letter in a red box": (
        "differs",
        ["put(b0)", "paint(b0)"],
        "request letter in b0: model outstanding, code not there",
    ),
    "a stray letter": (
        "differs",
        ["put(b0)", "put(b0)", "empty(b0)"],
        "request letter in b9: model not expected, code outstanding",
    ),
    "no paint on full shelves": ("departs", ["put(b0)", "paint(b0)"], "b0 cannot be painted"),
}


def held(adapter: Boxes, runs: int = 50, seed: int = 1) -> Result:
    return campaign([mailbox()], adapter, runs=runs, steps=20, seed=seed)


def test_code_without_a_bug_agrees() -> None:
    result = held(Boxes())
    assert (result.runs, result.agreeing, result.unexplained) == (50, 50, 0)
    assert result.agrees
    assert set(result.coverage.names()) == {"put", "paint", "empty"}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_found_and_shrunk(bug: str) -> None:
    result = held(Boxes(bug))
    verdict, steps, text = BUGS[bug]
    assert result.unexplained
    find = result.differing[0]
    assert find.verdict == verdict
    assert len(find.trace.steps) == len(steps)
    assert sorted(step.action.partition("(")[0] for step in find.trace.steps) == sorted(s.partition("(")[0] for s in steps)
    outcome = pair(Boxes(bug)).follow(steps)
    assert outcome.verdict == verdict
    assert text in str(outcome)


def test_what_the_code_does_by_itself_is_taken_when_it_does_it() -> None:
    outcome = pair(Boxes()).follow(["put(b0)", "put(b0)", "put(b1)", "empty(b0)"])
    assert outcome.verdict == "agrees"
    assert [step.action for step in outcome.trace.steps] == ["put(b0)", "put(b0)", "empty(b0)", "put(b1)"]


def test_a_trace_that_the_code_is_ahead_of_is_not_covered() -> None:
    outcome = pair(Boxes()).follow(["put(b0)", "put(b0)", "put(b0)", "put(b0)", "paint(b0)"])
    assert outcome.verdict == "not covered"
    assert "put(b0) is not enabled" in outcome.why
    assert len(outcome.trace.steps) == 4


def test_a_step_that_the_adapter_does_not_take_is_no_agreement() -> None:
    outcome = pair(Boxes()).follow(["put(b0)", "paint(b0)", "burn(b0)"])
    assert (outcome.verdict, outcome.why) == ("not covered", "the adapter does not take burn(b0)")
    result = single(pair(Boxes()), ["put(b0)", "paint(b0)", "burn(b0)"])
    assert (result.agreeing, result.unexplained, len(result.not_covered)) == (0, 0, 1)


def test_a_known_deviation_is_no_find_but_counts() -> None:
    known = Deviation("D1", "boxes count twice", lambda step, differences, why: step.action.name == "put" and bool(differences))
    result = held(Boxes("counts twice", deviations=(known,)))
    assert result.agrees
    assert result.known["D1"] == 50 - result.agreeing > 0
    assert result.examples["D1"].known == "D1"
    assert not held(Boxes("no paint on full shelves", deviations=(known,))).agrees


def test_what_only_the_model_allows_is_passed_over() -> None:
    allowance = Allowance("paints", "colour is only seen", lambda action, view, seen: action.name == "paint")
    result = held(Boxes("no paint on full shelves", allowances=(allowance,)))
    assert result.agrees
    assert result.coverage.passed_over["paints"] > 0
    assert "paint" not in result.coverage.names()


def test_the_same_seed_takes_the_same_runs() -> None:
    taken = [held(Boxes(), seed=seed).coverage.taken for seed in (3, 3, 4)]
    assert taken[0] == taken[1]
    assert taken[0] != taken[2]


def test_steering_covers_what_the_instance_has() -> None:
    assert len(held(Boxes(), runs=200).coverage.transitions) > len(held(Boxes(), runs=20).coverage.transitions)
    everything = {f"{action}({box})" for action in ("put", "paint", "empty") for box in ("b0", "b1")}
    assert held(Boxes(), runs=30).coverage.taken.keys() == everything


def test_a_run_that_does_not_differ_again_stays_as_it_was() -> None:
    adapter = Boxes("counts twice")
    outcome = pair(adapter).follow(["paint(b1)", "put(b0)", "put(b0)"])
    assert outcome.verdict == "differs"
    adapter.bug = ""
    assert shortened(pair(adapter), outcome) is outcome


def test_interrupting_keeps_what_was_found() -> None:
    result = campaign([mailbox()], Boxes(), runs=50, steps=20, seed=1, should_stop=lambda: True)
    assert result.interrupted
    assert result.runs == 0


class SlowBoxes(Boxes):
    """The same code in a process of its own, say: others go on while it is waited for, now longer and now shorter.

    With a barrier it waits in its first run until all of them are in theirs.
    """

    barrier: threading.Barrier | None = None

    def begin(self, instance: Protocol) -> Seen:
        if self.begun == 0 and self.barrier is not None:
            with waiting():
                self.barrier.wait(60)
        return super().begin(instance)

    def take(self, step: Taken) -> Seen:
        with waiting():
            time.sleep(0.001 * (self.begun % 3))
        return super().take(step)


def taken_at_once(workers: Sequence[SlowBoxes], bug: str = "") -> Result:
    barrier = threading.Barrier(len(workers))
    for worker in workers:
        worker.bug, worker.barrier = bug, barrier
    return campaign([mailbox(), mailbox(2)], workers[0], besides=workers[1:], runs=40, steps=20, seed=1)


@pytest.mark.parametrize("bug", ["", "counts twice", "no paint on full shelves"])
def test_what_comes_out_does_not_depend_on_how_many_take_runs(bug: str) -> None:
    alone = taken_at_once([SlowBoxes()], bug)
    together = taken_at_once([SlowBoxes() for _ in range(3)], bug)
    assert together.coverage == alone.coverage
    assert (together.agreeing, together.unexplained, together.steps) == (alone.agreeing, alone.unexplained, alone.steps)
    assert list(map(str, together.differing)) == list(map(str, alone.differing))


def test_what_one_of_them_meets_ends_all() -> None:
    class Broken(SlowBoxes):
        def take(self, step: Taken) -> Seen:
            raise SessionError("the harness ended")

    assert taken_at_once([SlowBoxes(), Broken(), SlowBoxes()]).failed == "the harness ended"


def test_what_was_found_before_the_harness_failed_is_kept() -> None:
    class Dies(Boxes):
        def begin(self, instance: Protocol) -> Seen:
            if self.begun == 7:
                raise SessionError("the harness ended with status 137")
            return super().begin(instance)

    result = campaign([mailbox()], Dies("counts twice"), runs=50, steps=20, seed=1, shrink=False)
    assert (result.runs, result.failed) == (7, "the harness ended with status 137")
    assert 0 < len(result.differing) <= result.unexplained <= 7


def test_interrupting_counts_the_runs_that_had_begun() -> None:
    workers = [SlowBoxes() for _ in range(3)]
    asked = iter([False] * 20)
    result = campaign(
        [mailbox()], workers[0], besides=workers[1:], runs=50, steps=20, seed=1, should_stop=lambda: next(asked, True)
    )
    assert result.interrupted
    assert result.runs == sum(worker.begun for worker in workers) == 20


def test_a_difference_is_a_trace_that_other_commands_open(tmp_path: Path) -> None:
    difference = held(Boxes("counts twice")).differing[0]
    file = tmp_path / "found.itf.json"
    protocol = mailbox()
    write(difference.trace, protocol, file)

    def build(*, letters: int = 3, boxes: int = 2, bugs: tuple[str, ...] = ()) -> Protocol:
        return mailbox(letters, boxes)

    trace, _ = read(file, {"mailbox": Entry(name="mailbox", summary="a toy", function=build, suite=Suite, sizes={})})
    assert [step.action for step in trace.steps] == [step.action for step in difference.trace.steps]
    assert replay_on(trace, protocol, Suite(protocol)).replays
    assert "shrunk from" in trace.found_by


def test_requests_are_checked_both_ways() -> None:
    owed = Owed(frozenset({"a"}), frozenset({"b"}), (frozenset({"c", "d"}),))
    assert owed.faults(frozenset({"a", "c"})) == []
    assert owed.faults(frozenset({"a", "b", "d"})) == []
    assert [str(fault) for fault in owed.faults(frozenset({"b", "e"}))] == [
        "request a: model outstanding, code not there",
        "one of the requests c, d: model outstanding, code none is there",
        "request e: model not expected, code outstanding",
    ]


def test_code_is_closed_on_every_path() -> None:
    adapter = Boxes()
    with pytest.raises(KeyError), adapter:
        raise KeyError
    assert adapter.closed
