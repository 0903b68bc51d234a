"""Two processes that share checks: the same is established as by one, whatever becomes of the second."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines import ahead
from fencepost.checks.engines.ahead import Ahead, Check, Task
from fencepost.checks.engines.plan import Approach, check
from fencepost.checks.engines.results.findings import Checked
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance

ELECTION = PROTOCOLS["election"]
APPROACH = Approach(by="exhaustive", workers=1)
BUGS = ["same_value", "closed_goes_on", "failure_not_retried"]


def of(check: Check, bug: str) -> Checked:
    instance = Instance("small", ELECTION.shown_by[bug])
    return check(ELECTION, instance, (bug,), APPROACH, Reporter(quiet=True), lambda: False)


def tasks(*bugs: str) -> list[Task]:
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

    def counted(entry: Any, instance: Any, chosen: Any, *rest: Any) -> Checked:
        if os.getpid() == process:
            bugs.extend(chosen)
        return check(entry, instance, chosen, *rest)

    monkeypatch.setattr(ahead, "check", counted)
    return bugs


def test_what_the_second_has_checked_is_taken_from_it(made_here: list[str]) -> None:
    with Ahead(tasks(*BUGS[:2]), workers=2) as second:
        while second._count.value < 2:
            pass
        shared = [of(second.check, bug) for bug in BUGS]
    assert made_here == BUGS[2:]
    assert [content(checked) for checked in shared] == [content(of(check, bug)) for bug in BUGS]


def test_what_one_process_asks_twice_it_checks_once(made_here: list[str]) -> None:
    with Ahead(tasks(BUGS[1]), workers=2) as second:
        assert of(second.check, BUGS[0]) is of(second.check, BUGS[0])
    assert made_here == BUGS[:1]


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
