"""The jobs of a check: in which order they are done, and in which they are told."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fencepost.checks.commands.check import jobs
from fencepost.checks.commands.check.jobs import done
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.theories import THEORIES

SEARCHED = [(PROTOCOLS[name], PROTOCOLS[name].instances("ci")[0]) for name in ("election", "ownership")]
PROVED = [(theory, theory.instances("ci")[0]) for theory in THEORIES.values()][:2]
IN_ORDER = [SEARCHED[0], PROVED[0], SEARCHED[1], PROVED[1]]


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the jobs as they are done; what is found of each is its name."""
    names = list[str]()

    def noted(job: Any, *_: object) -> str:
        names.append(job[0].name)
        return names[-1]

    monkeypatch.setattr(jobs, "_done", noted)
    return names


def told(asked: Sequence[Any], means: Means, **request: object) -> list[Any]:
    usual = {"budget": None, "cores": 2}
    return list(done(asked, cast(Any, SimpleNamespace(**{**usual, **request})), None, means))


def test_theories_come_after_the_first_job_and_are_told_in_their_places(order: list[str]) -> None:
    names = [item.name for item, _ in IN_ORDER]
    assert told(IN_ORDER, Means(Approach())) == names
    assert order == [names[0], names[1], names[3], names[2]]


@pytest.mark.parametrize("request_", [{"cores": 1}, {"budget": 60.0}])
def test_without_a_second_process_all_come_in_order(order: list[str], request_: dict[str, object]) -> None:
    assert told(IN_ORDER, Means(Approach()), **request_) == order == [item.name for item, _ in IN_ORDER]


def test_nothing_is_done_once_time_is_up(order: list[str]) -> None:
    assert told(IN_ORDER, Means(Approach(), ends=0.0)) == order == []
