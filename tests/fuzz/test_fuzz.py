"""Random protocols: every engine says of them what plain Python says; and mistakes, planted in either, are noticed."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from fencepost.checks.reports import sarif
from fencepost.model.analysis.refinement import Refinement
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.model.language import Action, Protocol
from fencepost.model.terms.values import TRUE, Condition
from fencepost.properties.slices import slice_for
from fencepost.properties.vocabulary import Property
from fencepost.traces.exploration.levelwise import Searched
from fencepost.traces.exploration.search import search as on_spark
from tests.checks.export.tlc import Tlc, fetch_tlc
from tests.fuzz import case, configurations, engines, exact, plain, refining
from tests.fuzz.case import Case, Difference
from tests.fuzz.drawing import SPECS
from tests.fuzz.run import COMPARISONS, compare, spec_of
from tests.fuzz.spark import Generated
from tests.fuzz.syntax import Spec
from tests.marking import first_at_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("fuzz")


FEW = settings(max_examples=4)


@FEW
@given(SPECS)
def test_engines_agree_on_what_hypothesis_draws(spec: Spec) -> None:
    compare(spec, Random(0), Counter())


@pytest.mark.long
@settings(FEW, max_examples=20)
@given(SPECS)
def test_engines_agree_on_more_that_hypothesis_draws(spec: Spec) -> None:
    compare(spec, Random(0), Counter())


@pytest.mark.long
def test_every_comparison_agrees_on_a_few_protocols() -> None:
    counts = Counter[str]()
    for number in range(24):
        compare(spec_of(1, number), Random(number), counts)
    rare = {name: (way, 100) for name, (way, _) in COMPARISONS.items() if not counts[name]}
    for number in range(24, 48):
        if not rare:
            break
        compare(spec_of(1, number), Random(number), counts, rare)
        rare = {name: way for name, way in rare.items() if not counts[name]}
    assert not rare


@pytest.mark.deep
@pytest.mark.parametrize("slice_", range(8))
def test_engines_agree_on_thousands(slice_: int) -> None:
    counts = Counter[str]()
    for number in range(250 * slice_, 250 * slice_ + 250):
        compare(spec_of(2, number), Random(number), counts)
    assert counts.keys() >= COMPARISONS.keys(), counts


@pytest.mark.long
def test_the_protocols_are_of_every_kind() -> None:
    specs = [spec_of(1, number) for number in range(60)]
    sizes = {size for spec in specs for _, size in spec.universes}
    assert sizes >= {0, 1, 2, 3, 64}
    ends = {end for spec in specs for family in spec.families for end in (family.sort.low, family.sort.high)}
    assert ends >= {-(1 << 63), (1 << 63) - 1}
    readings = [plain.Reading(spec) for spec in specs]
    assert max(len(reading.events) for reading in readings) > 64
    assert max(len(reading.initial) for reading in readings) > 1
    cases = [Case(spec) for spec in specs[:30]]
    assert max(Kernel(case.protocol).words for case in cases) >= 9
    states = [len(case.world.depth) for case in cases]
    assert min(states) < 8
    assert max(states) > 100
    assert not all(case.world.whole for case in cases)
    kinds = {statement.kind for spec in specs for statement in spec.statements}
    assert kinds == {"always", "strict", "step", "sometimes", "ends", "leads_to", "lemma"}


def differs(compared: Callable[[Case], bool], numbers: range = range(40)) -> bool:
    """Whether a comparison finds a difference among some protocols."""
    for number in numbers:
        case = Case(spec_of(1, number))
        if case.escape:
            continue
        try:
            compared(case)
        except Difference:
            return True
    return False


@pytest.mark.parametrize(
    ("word", "wrong"),
    first_at_once(
        [
            ("le", lambda detail: lambda values: operator.lt(*values)),
            ("ite", lambda detail: lambda values: values[1]),
            ("plus", lambda detail: lambda values: values[0]),
            ("implies", lambda detail: lambda values: values[1]),
            ("max", lambda detail: min),
        ],
        2,
    ),
)
def test_a_word_that_is_read_wrongly_is_noticed(word: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plain.FOLDS, word, wrong)
    assert differs(exact.native)


def test_a_verdict_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case.Truth, "comes", lambda self, statement: True)
    assert differs(exact.liveness)
    kinds = ("always", "step", "ends")
    monkeypatch.setattr(engines, "_inductively", lambda case: {s.name: "proved" for s in case.of_kind(*kinds)})
    assert differs(engines.induction)


def test_a_slice_that_lacks_an_action_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(protocol: Protocol, properties: list[Property]) -> Protocol:
        part = slice_for(protocol, properties)
        if part is not protocol:
            part.actions = part.actions[1:]
        return part

    monkeypatch.setattr(exact, "slice_for", lacking)
    assert differs(exact.slices)


def test_a_refinement_that_forgets_guards_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unguarded(self: Refinement, action: Action) -> Condition:
        return meant(self, replace(action, guard=TRUE))

    meant = Refinement._is
    monkeypatch.setattr(Refinement, "_is", unguarded)
    assert differs(refining.refinement, range(18, 40))  # of those before it no guard decides


@pytest.fixture(scope="session")
def tlc(request: pytest.FixtureRequest) -> Tlc:
    assert request.config.cache is not None
    return fetch_tlc(Path(request.config.cache.mkdir("tlc")))


@pytest.mark.deep
def test_tlc_agrees(tlc: Tlc, tmp_path: Path) -> None:
    for number in range(8):
        case, folder = Case(spec_of(3, number)), tmp_path / str(number)
        folder.mkdir()
        if exact.domains(case):
            engines.tlc(case, tlc, folder)


@pytest.fixture(scope="session")
def spark() -> Any:
    from fencepost.traces.exploration.session import spark_session

    few = {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false"}
    with spark_session("local[2]", few, light=True) as session:
        yield session


@pytest.mark.deep
def test_spark_agrees(spark: SparkSession, tmp_path: Path) -> None:
    compared = 0
    for number in range(60):
        case = Case(spec_of(4, number))
        if not case.escape and case.world.whole and 3 <= len(case.world.levels) <= 5 and exact.domains(case):
            _agrees_on_spark(case, spark, tmp_path / str(number))
            compared += 1
        if compared == 4:
            return
    raise AssertionError("there are too few protocols that suit Spark")


def _agrees_on_spark(case: Case, spark: SparkSession, folder: Path) -> None:
    folder.mkdir()
    run = Generated("generated", {}, program=case.text)
    observed = run.observed()
    wanted = search(observed.kernel, observed.sought(), workers=1)
    result = on_spark(spark, run, folder, head=Limits(depth=0))
    for one in fields(Searched):
        if one.compare:
            assert getattr(result, one.name) == getattr(wanted, one.name), (one.name, case.text)
    for find in result.violations + result.watched:
        assert result.path(find) == wanted.path(find), case.text


@pytest.mark.long
def test_laws_of_answers_hold_of_a_configuration() -> None:
    counts = Counter[str]()
    with configurations.answers_alone():
        configurations.hold(1, 1, counts)
    assert counts["every format says the same"] == 1


@pytest.mark.long
def test_a_format_that_says_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "headline", lambda answer: "No.")
    with configurations.answers_alone(), pytest.raises(configurations.Broken, match="SARIF has"):
        configurations.hold(1, 1, Counter())
