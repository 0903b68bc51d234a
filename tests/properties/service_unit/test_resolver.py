"""The theorems about the conflict resolver of service units: all are proved, and each bug refutes some."""

from __future__ import annotations

import pytest

from fencepost.checks.engines.theorems import decide, vacuous
from fencepost.model.language import Not
from fencepost.model.pulsar.service_unit.records import keeps_old
from fencepost.model.terms.asking import Asking
from fencepost.properties.service_unit.resolver import BUGS, LAST, LEAST, NEW, OLD, theorems
from fencepost.properties.theorems import Theorem

CAUGHT = {
    "equal_versions_accepted": {
        "one_record_for_each_version",
        "versions_rise_by_one_over_the_store",
        "versions_rise",
        "only_force_takes_from_an_owner",
    },
    "force_before_versions": {"one_record_for_each_version", "versions_rise_by_one_over_the_store", "versions_rise"},
    "jumps_accepted": {"versions_rise_by_one_over_the_store", "only_force_takes_from_an_owner"},
}


@pytest.mark.parametrize("theorem", theorems(), ids=lambda t: t.name)
def test_proved_for_all_versions_by_both_solvers(theorem: Theorem) -> None:
    verdict = decide(theorem, second_solver=True)
    assert verdict.verdict == "proved"
    assert verdict.reach["obligations"] == verdict.reach["confirmed"]


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_refuted(bug: str) -> None:
    verdicts = [decide(t) for t in theorems(frozenset({bug}))]
    assert {v.property.name for v in verdicts if v.verdict == "violated"} == CAUGHT[bug]


@pytest.mark.parametrize("bug", [None, *BUGS])
def test_nothing_is_proved_of_nothing(bug: str | None) -> None:
    assert [step.name for t in theorems(frozenset({bug} - {None})) for step in vacuous(t)] == []


@pytest.mark.parametrize(("topic", "accepted"), [(True, "sat"), (False, "unsat")])
def test_after_the_overflow_the_topic_takes_the_old_record_again(topic: bool, accepted: str) -> None:
    """The last long is two or more above the first one: over the topic that looks like what compaction has left."""
    given = [OLD.version == LEAST, NEW.version == LAST, OLD.state == "Owned", NEW.state == "Owned"]
    assert Asking(given).answer(Not(keeps_old(OLD, NEW, topic=topic, first=LEAST, last=LAST))) == accepted
