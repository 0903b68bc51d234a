"""One way as a story, and what to change first: which answers are asked for, with the searches left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.commands.check import asked_again
from fencepost.checks.commands.check.asked_again import change_first
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.run import run
from fencepost.checks.commands.check.subject import Subject
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.guarantees.judging import Guaranteed
from fencepost.checks.questions.matters import MATTERS
from tests.checks.reports.test_ci_formats import run as broken_clock

SETTING = "brokerDeleteInactiveTopicsEnabled=false"


@pytest.fixture(scope="module")
def ways() -> tuple[Way, Way]:
    """One that a setting avoids, and one that needs an act."""
    (checked,) = broken_clock("fast")
    verdict = next(each for each in checked.verdicts if each.trace is not None)
    fast = Way("fast", "a clock is fast", ("a lost disk",), 1, checked, verdict, violates="in_time", avoided_by=SETTING)
    return fast, replace(
        fast, name="set", what="a clock is set", needs=("a termination of the topic",), faults=0, avoided_by=""
    )


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    file = tmp_path / "broker.conf"
    file.write_text("managedLedgerDefaultEnsembleSize=2\n")
    return file


class Answers:
    """Answers that are found without a search: whatever is changed closes the first way. Keeps what was asked."""

    def __init__(self, ways: tuple[Way, Way]) -> None:
        self.ways, self.asked = ways, list[str]()

    def __call__(self, cluster: Any, bugs: Any, means: Any, rows: Any, names: Collection[str] = ()) -> Iterator[Answer]:
        for matter in MATTERS if not names else [each for each in MATTERS if each.name in names]:
            self.asked.append(f"{matter.name}{' again' if names else ''}")
            yield Answer(matter, self.ways[1:] if names else self.ways, (), (), {})


@pytest.mark.parametrize(
    ("number", "asked", "to_do"),
    [
        (1, ["lost", "lost again"], f"What to do  {SETTING}"),
        (2, ["lost", "lost again"], "What to do  if that never happens here, --never termination leaves it out; no"),
        (3, ["lost", "backlog", "backlog again"], f"What to do  {SETTING}"),
    ],
)
def test_nothing_is_asked_but_what_its_number_and_its_remedy_take(
    number: int,
    asked: list[str],
    to_do: str,
    ways: tuple[Way, Way],
    conf: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = Answers(ways)
    monkeypatch.setattr(asked_again, "answered", answers)
    status = run(CheckRequest(conf=[conf], pulsar="4.2.4", way=number, workers=1, quiet=True))
    out = capsys.readouterr().out
    assert f"\nWay {number}: " in out
    assert to_do in " ".join(line if line.startswith("What") else line.strip() for line in out.splitlines())
    assert out.endswith("\nMESSAGES CAN BE LOST: 1 way (exit 0)\n"), "that no known bug is there was not checked"
    assert status == ExitStatus.HOLDS
    assert list(dict.fromkeys(answers.asked)) == asked


def test_a_way_that_there_is_not_is_refused_with_how_many_there_are(
    ways: tuple[Way, Way], conf: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(asked_again, "answered", Answers(ways))
    assert run(CheckRequest(conf=[conf], pulsar="4.2.4", way=99, workers=1, quiet=True)) == ExitStatus.USAGE
    assert f"there is no way 99: this cluster has {2 * len(MATTERS)} ways" in capsys.readouterr().err


def test_what_to_change_first_is_asked_with_each_remedy_and_with_all(
    ways: tuple[Way, Way], conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers(ways)
    monkeypatch.setattr(asked_again, "answered", answers)
    asked = CheckRequest(conf=[conf], pulsar="4.2.4")
    cluster = Subject.of(asked).cluster
    assert cluster is not None
    lost = Answer(MATTERS[0], ways, (), (), {})
    means = Means(Approach(by="exhaustive", workers=1, memory=1))
    chosen, after = change_first(asked, cluster, Guaranteed(cluster, ()), lost, means)
    assert [each.says for each in chosen] == [SETTING]
    assert after is not None
    assert not after.sorted.count
