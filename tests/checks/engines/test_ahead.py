"""Two processes that share checks: the same is established as by one, whatever becomes of the second."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from fencepost.checks.console.progress import UNWATCHED
from fencepost.checks.engines import ahead
from fencepost.checks.engines.ahead import Ahead, Check, Work
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import exit_status
from fencepost.properties.ledger.guarantees import durability
from fencepost.properties.ledger.one_after_the_other import recovered_last
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance

ELECTION = PROTOCOLS["election"]
APPROACH = Approach(by="exhaustive", workers=1)
BUGS = ["same_value", "closed_goes_on", "failure_not_retried"]


def of(check: Check, bug: str, **limits: int) -> Checked:
    instance = Instance("small", ELECTION.shown_by[bug])
    return check(Task(ELECTION, instance, (bug,), replace(APPROACH, **limits)), UNWATCHED)


def tasks(*bugs: str) -> list[Work]:
    return [lambda check, bug=bug: of(check, bug) for bug in bugs]  # type: ignore[misc]


def content(checked: Checked) -> list[Any]:
    verdicts = [(v.property.name, v.property.doc, v.verdict, v.reach, str(v.trace)) for v in checked.verdicts]
    return [checked.entry, checked.instance, checked.protocol.active, verdicts, checked.suspicions]


def ended(second: Ahead) -> None:
    assert second._second is not None
    second._second.join(60)
    assert not second._second.is_alive()


@pytest.fixture
def made_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The bugs of the checks that this process makes, in order."""
    bugs, process = list[str](), os.getpid()

    def counted(task: Task, *rest: Any) -> Checked:
        if os.getpid() == process:
            bugs.extend(task.bugs)
        return check(task, *rest)

    monkeypatch.setattr(ahead, "check", counted)
    return bugs


def test_what_the_second_has_checked_is_taken_from_it(made_here: list[str]) -> None:
    with Ahead(tasks(*BUGS[:2]), workers=2) as second:
        while second._count.value < 2:
            pass
        shared = [of(second.check, bug) for bug in BUGS]
    assert made_here == BUGS[2:]
    assert [content(checked) for checked in shared] == [content(of(check, bug)) for bug in BUGS]


@pytest.mark.parametrize(("bugs", "whole"), [((), False), (("same_value",), True)], ids=["holds", "fails"])
def test_where_only_failures_are_shown_the_rest_is_taken_in_outline(bugs: tuple[str, ...], whole: bool) -> None:
    instance = Instance("small", ELECTION.shown_by["same_value"])

    def judged(make: Check) -> Checked:
        return make(Task(ELECTION, instance, bugs, replace(APPROACH, only_failures=True)), UNWATCHED)

    with Ahead([judged], workers=2) as second:
        while second._count.value < 1:
            pass
        taken = judged(second.check)
    assert bool(taken.protocol.actions) is whole
    assert content(taken) == content(judged(check))
    assert exit_status(taken.verdicts) == exit_status(judged(check).verdicts)


def test_what_one_process_asks_twice_it_checks_once(made_here: list[str]) -> None:
    with Ahead(tasks(BUGS[1]), workers=2) as second:
        assert of(second.check, BUGS[0]) is of(second.check, BUGS[0])
    assert made_here == BUGS[:1]


@pytest.mark.parametrize(("memory", "is_taken"), [(1 << 26, True), (1 << 28, True), (1 << 30, False)])
def test_the_second_serves_whoever_has_as_much_memory_or_more(memory: int, is_taken: bool, made_here: list[str]) -> None:
    with Ahead([lambda check: of(check, BUGS[0], memory=memory)], workers=2) as second:
        while second._count.value < 1:
            pass
        found = of(second.check, BUGS[0], memory=1 << 28)
        again = of(second.check, BUGS[0], memory=1 << 20)
    assert made_here == ([] if is_taken else BUGS[:1])
    assert content(found) == content(again) == content(of(check, BUGS[0]))


@pytest.mark.parametrize("memory", [1 << 10, 1 << 28])
def test_what_memory_cut_short_in_the_second_serves_only_who_has_no_more(memory: int) -> None:
    with Ahead([lambda check: searched(check, more={"entries": 2}, memory=1 << 10)], workers=2) as second:
        while second._count.value < 1:
            pass
        taken = searched(second.check, more={"entries": 2}, memory=memory)
        again = searched(second.check, more={"entries": 2}, memory=1 << 29)
    assert (taken.verdicts[0].verdict, again.verdicts[0].verdict) == (
        "inconclusive" if memory == 1 << 10 else "exhausted",
        "exhausted",
    )


@pytest.mark.parametrize("died", ["failed", "killed"])
def test_what_the_second_does_not_finish_the_first_checks(
    died: str, made_here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(check: Check) -> Checked:
        monkeypatch.setattr(ahead, "check", lambda *_: os._exit(1) if died == "killed" else 1 / 0)
        return of(check, BUGS[0])

    with Ahead([dies], workers=2) as second:
        ended(second)
        assert second._count.value == 1
        assert content(of(second.check, BUGS[0])) == content(of(check, BUGS[0]))
    assert made_here == BUGS[:1]


@pytest.mark.parametrize(("bugs", "workers"), [(BUGS, 1), ([], 2)], ids=["one core", "no task"])
def test_there_is_no_second_without_a_core_or_a_task_for_it(bugs: list[str], workers: int, made_here: list[str]) -> None:
    with Ahead(tasks(*bugs), workers) as second:
        assert second._second is None
        assert of(second.check, BUGS[0]) is of(second.check, BUGS[0])
    assert made_here == BUGS[:1]


LEDGER = PROTOCOLS["ledger"]
SMALL = {"ensemble": 2, "write_quorum": 2, "ack_quorum": 2, "bookies": 2, "entries": 1, "readers": 0}


def states(checked: Checked) -> int:
    return int(checked.verdicts[0].reach["distinct"])


def searched(check: Check, entry: Any = LEDGER, name: str = "small", more: Any = None, **limits: Any) -> Checked:
    approach = replace(APPROACH, properties=("no_truncation",), doubting=False, **limits)
    return check(Task(entry, Instance(name, {**SMALL, **(more or {})}), (), approach), UNWATCHED)


def test_a_protocol_with_fewer_runs_does_not_answer_for_the_whole_one() -> None:
    with Ahead([], workers=1) as one:
        narrowed = searched(one.check, replace(LEDGER, function=recovered_last))
        whole = searched(one.check)
    assert narrowed.verdicts[0].verdict == whole.verdicts[0].verdict == "exhausted"
    assert states(narrowed) < states(whole)


def test_a_search_serves_whoever_asks_the_same_by_another_name_or_with_other_memory() -> None:
    with Ahead([], workers=1) as one:
        first = searched(one.check)
        usual = {parameter.name: parameter.default for parameter in LEDGER.parameters}
        same = searched(one.check, name="other", more={"recoverers": usual["recoverers"]}, memory=1 << 24)
        assert same.verdicts is first.verdicts
        assert same.instance.name == "other"
        assert searched(one.check, more={"entries": 2}).verdicts is not first.verdicts


def test_a_search_that_memory_cut_short_serves_nobody_who_has_more() -> None:
    with Ahead([], workers=1) as one:
        little = searched(one.check, more={"entries": 2}, memory=1 << 10)
        assert little.verdicts[0].verdict == "inconclusive"
        enough = searched(one.check, more={"entries": 2})
        assert enough.verdicts[0].verdict == "exhausted"
        assert searched(one.check, more={"entries": 2}, memory=1 << 10).verdicts in (little.verdicts, enough.verdicts)


def test_a_search_to_the_end_answers_for_a_property_with_the_same_formula() -> None:
    durable = replace(LEDGER, suite=durability)
    approach = replace(APPROACH, doubting=False)
    with Ahead([], workers=1) as one:
        row = one.check(Task(durable, Instance("row", SMALL), (), approach), UNWATCHED)
        derived = searched(one.check)
    (verdict,) = derived.verdicts
    assert (verdict.property.name, verdict.verdict) == ("no_truncation", "exhausted")
    assert (verdict.reach, derived.seconds) == (row.verdicts[0].reach, row.seconds)
    assert states(derived) == states(searched(check))


def test_a_search_that_a_violation_ended_answers_for_no_other_property() -> None:
    durable, bug = replace(LEDGER, suite=durability), ("closes_at_lac",)
    approach, shown = replace(APPROACH, doubting=False), Instance("row", LEDGER.shown_by["closes_at_lac"])
    with Ahead([], workers=1) as one:
        row = one.check(Task(durable, shown, bug, approach), UNWATCHED)
        assert any(v.verdict == "violated" for v in row.verdicts)
        named = replace(approach, properties=("no_divergence",))
        other = one.check(Task(LEDGER, shown, bug, named), UNWATCHED)
    assert content(other) == content(check(Task(LEDGER, shown, bug, named), UNWATCHED))
