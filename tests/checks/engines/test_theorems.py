"""Theorems: what is claimed when a step is refuted, vacuous, undecided or out of time, and the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from fencepost.checks.console.progress import Reporter, Watch
from fencepost.checks.engines import theorems
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.findings import PropertyError
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict, exit_status
from fencepost.checks.engines.solvers.solving import Disagreement
from fencepost.checks.engines.theorems import check_theory, decide
from fencepost.model.language import ModelError, Not
from fencepost.properties.theorems import Bugs, Statements, Step, Theorem, Theory, numbers
from tests.command import fencepost

ROOT = Path(__file__).parents[3]
x, y, z = numbers("x y z")
SQUARE = (x >= 0, y == x * x)


def toy(bugs: Bugs) -> list[Theorem]:
    statements = Statements()

    @statements.theorem
    def squares_do_not_shrink() -> Iterator[Step]:
        """A square is not less than its root."""
        bound = x + 2 if "shrinks" in bugs else x
        yield Step("not less", SQUARE, y >= bound, (x,), lambda value: f"{value(x)} * {value(x)} = {value(y)}")

    @statements.theorem
    def squares_are_positive() -> Iterator[Step]:
        """A square of anything but zero is positive."""
        given = (x < 0, x > 0) if "vacuous" in bugs else (x > 0,)
        yield Step("positive", (*given, y == x * x), y > 0, (x,), lambda value: None)

    return statements.theorems


TOY = Theory("toy", "squares", "for all numbers", {"shrinks": "Two is added.", "vacuous": "Nothing is both."}, toy)


@pytest.fixture(autouse=True)
def nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorems, "_proved", {})


def run(*bugs: str, **options: object) -> theorems.Checked:
    return check_theory(TOY, bugs, Approach(**options), Watch(Reporter(stream=StringIO())))


def test_all_steps_proved_is_a_proof() -> None:
    findings = run()
    assert [(v.property.name, v.verdict) for v in findings.verdicts] == [
        ("squares_do_not_shrink", "proved"),
        ("squares_are_positive", "proved"),
    ]
    assert findings.notes == ("for all numbers", "obligations discharged by Z3: 2")
    assert findings.suspicions == ()
    assert exit_status(findings.verdicts) == ExitStatus.HOLDS


def test_the_smallest_refutation_is_shown() -> None:
    first, second = run("shrinks").verdicts
    assert (first.verdict, first.note) == ("violated", "0 * 0 = 0")
    assert second.verdict == "proved"
    assert exit_status([first, second]) == ExitStatus.SAFETY


def test_a_proof_from_nothing_is_suspicious() -> None:
    findings = run("vacuous")
    assert tuple(map(str, findings.suspicions)) == ("squares_are_positive: nothing meets what is given for: positive",)


def test_what_is_proved_is_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same theorem, as it is built again, with what it is suspected of; not one with a bug in it, nor by other solvers."""
    asked = list[str]()

    def decided(theorem: Theorem, *_: object, **__: object) -> Verdict:
        asked.append(theorem.name)
        return decide(theorem)

    first = run("vacuous")
    monkeypatch.setattr(theorems, "decide", decided)
    again = run("vacuous")
    assert [(v.property.name, v.verdict, v.reach) for v in again.verdicts] == [
        (v.property.name, v.verdict, v.reach) for v in first.verdicts
    ]
    assert list(map(str, again.suspicions)) == list(map(str, first.suspicions)) != []
    assert asked == []
    assert [v.verdict for v in run("vacuous", "shrinks").verdicts] == ["violated", "proved"]
    run("shrinks", second_solver=True)
    assert asked == ["squares_do_not_shrink", "squares_do_not_shrink", "squares_are_positive"]


def test_a_refutation_that_comes_to_nothing_claims_nothing() -> None:
    step = Step("weak", (x >= 0,), x > 0, (x,), lambda value: None)
    verdict = decide(Theorem("weak", "doc", (step,), toy(frozenset())[0].location))
    assert (verdict.verdict, verdict.note) == ("inconclusive", "the proof fails at: weak")
    assert exit_status([verdict]) == ExitStatus.INCONCLUSIVE


def test_a_step_that_is_not_decided_claims_nothing() -> None:
    fermat = x * x * x + y * y * y == z * z * z
    step = Step("hard", (x > 0, y > 0, z > 0), Not(fermat), (), lambda value: "found")
    verdict = decide(Theorem("hard", "doc", (step,), toy(frozenset())[0].location), seconds=0.2)
    assert (verdict.verdict, verdict.note) == ("inconclusive", "not decided in 0.2 s: hard")


def test_out_of_time_claims_nothing() -> None:
    assert {v.verdict for v in run(seconds=0.0).verdicts} == {"inconclusive"}
    stopped = check_theory(TOY, (), Approach(), Watch(Reporter(stream=StringIO()), lambda: True))
    assert exit_status(stopped.verdicts) == ExitStatus.INCONCLUSIVE


def test_a_second_opinion() -> None:
    (verdict, _) = run(second_solver=True).verdicts
    assert verdict.reach == {"obligations": 1, "confirmed": 1}


def test_a_disagreement_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorems, "_confirmed", lambda step, seconds: "refuted")
    with pytest.raises(Disagreement, match="squares_do_not_shrink, not less: proved by Z3, refuted by cvc5"):
        run(second_solver=True)


def test_what_does_not_exist() -> None:
    with pytest.raises(PropertyError, match="toy has no theorem 'x'; it has squares_do_not_shrink, squares_are_positive"):
        run(properties=("x",))
    with pytest.raises(ModelError, match="no bug 'x'"):
        run("x")
    with pytest.raises(PropertyError, match="no states to search"):
        run(by="walks")


# --- the command line


@pytest.mark.long
def test_the_hash_range_is_proved() -> None:
    run = fencepost("check", "hash_range", "--second-solver")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("hash_range, for all numbers\n  for all hashes from 0x00000000 to 0xffffffff; ")
    assert "obligations discharged by Z3 and cvc5: 34\n" in run.stdout
    assert run.stdout.endswith("13 proved: everything holds (exit 0)\n")


def test_the_hole_of_upstream_is_shown() -> None:
    run = fencepost("check", "--bug", "lookup_hits_last_boundary", "--json", "-")
    assert run.returncode == 12, run.stderr
    rows = [row for row in json.loads(run.stdout)["verdicts"] if row["verdict"] != "proved"]
    assert [(row["property"], row["by"]) for row in rows] == [("every_hash_is_looked_up_in_its_bundle", "theorem")]
    assert rows[0]["note"] == "hash 0xffffffff is in 0x00000000_0xffffffff and is looked up outside the layout"


def test_it_is_listed() -> None:
    listed = fencepost("list", "hash_range").stdout
    for word in ("every_hash_is_in_a_bundle", "lookup_hits_last_boundary", "any number of topics"):
        assert word in listed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hash_rnge"], "did you mean hash_range?"),
        (["hash_range", "--set", "bundles=4"], "takes no parameters, so not 'bundles=4'"),
        (["hash_range", "--by", "walks"], "leave --by walks out"),
        (["hash_range", "--property", "no_truncation"], "has no theorem 'no_truncation'"),
    ],
)
def test_wrong_usage_is_said_in_a_line(arguments: list[str], message: str) -> None:
    run = fencepost("check", *arguments)
    assert run.returncode == 2
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
