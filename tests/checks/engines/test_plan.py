"""What the engines establish together: what none of them shows is open, and they share the time that there is."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from fencepost.checks.engines import plan
from fencepost.checks.engines.induction import proof
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Checked, Findings
from fencepost.checks.engines.results.verdicts import ExitStatus, run_status
from fencepost.checks.engines.search.sampling import Walks
from fencepost.checks.reports.report import closing
from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite


def clock(*, hours: int = 12, bugs: Iterable[str] = ()) -> Protocol:
    """A clock that stops at the last hour."""
    p = Protocol("clock", parameters={"hours": hours}, active=bugs)
    hour = p.number("hour", 0, hours)

    @p.step(by="clock", fair=True)
    def tick() -> Any:
        """An hour passes."""
        return hour < hours, {hour: hour + 1}

    return p


def suite(p: Protocol) -> Suite:
    properties, hour, hours = Suite(p), p.state.hour, p.parameters["hours"]

    @properties.always
    def in_time() -> Any:
        """The last hour is the last."""
        return hour <= hours

    @properties.strict("it is late in the end", when=True)
    def early() -> Any:
        """It is early."""
        return hour < hours

    @properties.sometimes
    def late() -> Any:
        """It is late."""
        return hour == hours

    @properties.leads_to
    def ends() -> Any:
        """The day ends."""
        return hour == 0, hour == hours

    @properties.lemma
    def counts() -> Any:
        """Hours are counted from none."""
        return hour >= 0

    return properties


CLOCK = Entry(name="clock", summary="a clock", function=clock, suite=suite, sizes={"ci": (Instance("day", {}),)})


def checked(**options: Any) -> Checked:
    return check(Task(CLOCK, Instance("day", {}), (), Approach(workers=1, **options)))


def words(outcome: Checked) -> dict[str, str]:
    return {v.property.name: v.verdict for v in outcome.verdicts}


def status(outcome: Checked) -> ExitStatus:
    return run_status([outcome.verdicts])


SHORT = Walks(count=5, steps=4)


@pytest.mark.parametrize("options", [{"by": "exhaustive", "seconds": 0.0}, {"by": "walks", "walks": SHORT}])
def test_a_control_whose_violation_was_not_seen_is_open(options: dict[str, Any]) -> None:
    outcome = checked(properties=("early",), **options)
    assert words(outcome) == {"early": "inconclusive"}
    assert status(outcome) == ExitStatus.INCONCLUSIVE
    assert "everything holds" not in closing([outcome], status(outcome))


@pytest.mark.parametrize(("by", "left"), [("induction", {"early", "late", "ends"}), ("walks", {"ends"})])
def test_what_is_no_matter_for_an_engine_is_open_if_it_was_asked_for(by: str, left: set[str]) -> None:
    asked = checked(by=by, properties=("in_time", *left), walks=Walks(count=10))
    assert {name for name, word in words(asked).items() if word == "inconclusive"} == left
    assert not asked.left
    assert status(asked) == ExitStatus.INCONCLUSIVE


@pytest.mark.parametrize(("by", "left"), [("induction", {"early", "late", "ends"}), ("walks", {"ends"})])
def test_what_was_left_to_other_engines_keeps_everything_from_holding(by: str, left: set[str]) -> None:
    outcome = checked(by=by, walks=Walks(count=10))
    assert {p.name for p in outcome.left} == left
    assert status(outcome) == ExitStatus.HOLDS
    assert closing([outcome], status(outcome)).endswith(": passed as far as this went (exit 0)")


def test_everything_holds_when_all_was_searched() -> None:
    assert closing([outcome := checked()], status(outcome)).endswith(": everything holds (exit 0)")


def test_an_instance_of_which_nothing_was_checked_is_not_passed_over() -> None:
    assert run_status([checked().verdicts, ()]) == ExitStatus.EVALUATION


def test_what_a_search_leaves_open_is_proved_or_walked_to() -> None:
    outcome = _after_a_search_that_ended(0.0, None)
    assert words(outcome) == {"in_time": "proved", "early": "violated", "late": "proved", "ends": "inconclusive"}


def test_the_engines_share_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    whole = proof.prove

    def prove(*args: Any, budget: float, **options: Any) -> Any:
        given.append(budget)
        return whole(*args, budget=budget, **options)

    monkeypatch.setattr(proof, "prove", prove)
    _after_a_search_that_ended(0.4, 60.0)
    assert len(given) == 1
    assert 0 < given[0] <= 59.6


def test_no_engine_begins_when_the_time_is_over() -> None:
    outcome = _after_a_search_that_ended(0.1, 0.05)
    assert set(words(outcome).values()) == {"inconclusive"}


def _after_a_search_that_ended(seconds: float, budget: float | None) -> Checked:
    """The check of a clock whose search takes so long and sees nothing."""
    whole = plan.exhaust

    def exhaust(*args: Any, **options: Any) -> Findings:
        findings = whole(*args, **options)
        time.sleep(seconds)
        return replace(findings, verdicts=tuple(replace(v, verdict="inconclusive", trace=None) for v in findings.verdicts))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plan, "exhaust", exhaust)
        return checked(seconds=budget, walks=Walks(count=100))


def test_a_search_that_comes_to_many_states_begins_again_with_symmetry(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = PROTOCOLS["ledger"]
    sizes = {"ensemble": 3, "write_quorum": 3, "ack_quorum": 2, "bookies": 3, "entries": 1, "readers": 0}
    approach = Approach(by="exhaustive", properties=("no_truncation",), doubting=False, symmetry_of_many=True)

    def reach() -> dict[str, object]:
        found = check(Task(ledger, Instance("small", sizes), (), approach))
        assert found.findings.verdicts[0].verdict == "exhausted"
        return dict(found.findings.verdicts[0].reach)

    plain = reach()
    monkeypatch.setattr(plan, "MANY", 10)
    folded = reach()
    assert "represented" not in plain
    assert folded["represented"] == plain["distinct"]
    assert int(str(folded["distinct"])) < int(str(plain["distinct"]))
    monkeypatch.setattr(plan, "FEW_ORDERS", 1)
    assert reach() == plain
