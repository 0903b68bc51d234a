"""The conflict resolver of service units on Pulsar's own class: no difference, and bugs of the model are noticed."""

from __future__ import annotations

from random import Random

import pytest

from fencepost.checks.conformance.service_unit.evaluation import evaluated
from fencepost.checks.conformance.service_unit.pairs import Batch, Known, columns, random_batches, small
from fencepost.checks.conformance.service_unit.resolver import RELEASES, Compared, compare, resolver_of
from fencepost.model.balance.configuration import Version
from fencepost.model.pulsar.service_unit.records import Record
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.nodes import Term
from fencepost.properties.service_unit.resolver import BUGS, NEW, OLD, keeps
from tests.checks.conformance.real import tools
from tests.command import fencepost

real = pytest.mark.xdist_group("real pulsar")


def agreed(compared: list[Compared]) -> list[tuple[str, int]]:
    """What was compared; nothing differs."""
    assert [each.first for each in compared if each.differing] == []
    return [(each.store, each.pairs) for each in compared]


@real
def test_the_model_decides_as_the_class_does() -> None:
    tools()
    with resolver_of("4.2.4") as session:
        result = compare(session.ask, cases=10_000, seed=1)
        topic, store = "the system topic", "the metadata store"
        assert agreed(result.compared) == [(topic, 776_161), (topic, 10_000), (store, 776_161), (store, 10_000)]
        first = next(random_batches(10_000, 1))
        answer = session.ask({"store": "SystemTopic", "old": [one.json for one in first.old], "new": [first.new[0].json]})
        assert set(answer["kept"]) == {"0", "1"}, "random pairs are decided both ways"


@real
@pytest.mark.deep
@pytest.mark.parametrize("release", RELEASES)
def test_the_model_decides_as_the_class_does_a_million_times(release: Version) -> None:
    tools()
    with resolver_of(release) as session:
        result = compare(session.ask, cases=1_000_000, seed=2)
    assert [pairs for _, pairs in agreed(result.compared)] == [776_161, 1_000_000] * 2


@real
@pytest.mark.deep
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_told_with_the_first_pair(bug: str) -> None:
    tools()
    ran = fencepost("conform", "resolver", "--quiet", "--cases", "10000", "--bug", bug)
    assert ran.returncode == 12
    assert "in the model the new one is taken, in the code the old one is kept" in ran.stdout


# --- without Java


def test_a_formula_over_arrays_is_the_formula_of_single_values() -> None:
    random = Random(5)
    batch = next(random_batches(10_000, 5))
    for topic in (True, False):
        formula = keeps(OLD, NEW, topic)
        there = evaluated(formula, columns(batch))
        for _ in range(40):
            row, column = random.randrange(len(batch.old)), random.randrange(len(batch.new))
            pairs = [pair for record, one in ((OLD, batch.old[row]), (NEW, batch.new[column])) for pair in _values(record, one)]
            assert bool(Evaluation(dict(pairs))(formula)) == bool(there[row, column])


def _values(record: Record, one: Known) -> list[tuple[Term, int]]:
    return [(getattr(record, part), int(getattr(one, part))) for part in ("state", "dst", "src", "version", "force")]


def test_the_small_domain_has_each_record_once() -> None:
    whole = small()
    assert len(set(map(str, whole.old))) == len(whole.old) == 881
    assert whole.old == whole.new


@pytest.mark.parametrize("bug", BUGS)
def test_each_bug_decides_pairs_of_the_small_domain_otherwise(bug: str) -> None:
    records = small().old[:450]
    values = columns(Batch(records, records))
    stores = (True, False)
    assert any((evaluated(keeps(OLD, NEW, t), values) != evaluated(keeps(OLD, NEW, t, {bug}), values)).any() for t in stores)


def test_what_the_release_and_the_resolver_do_not_have_is_said() -> None:
    ran = fencepost("conform", "resolver", "--release", "3.0.7")
    assert (ran.returncode, ran.stderr) == (
        2,
        "fencepost: Pulsar 3.0.7 is none of the releases with the resolver: 4.0.8, 4.2.4, 5.0.0-M1, 5.0.1\n",
    )
    ran = fencepost("conform", "resolver", "--bug", "nothing")
    assert ran.returncode == 2
    assert "equal_versions_accepted" in ran.stderr
