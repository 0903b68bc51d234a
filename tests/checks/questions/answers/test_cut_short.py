"""A search that is cut short never makes a claim: whatever of them end early, an answer says no more than with all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.checks.console.progress import Watch
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Checked, Open, Refuted, Settled, outcome
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.answering import answered
from fencepost.checks.questions.answers.ways import Answer
from fencepost.checks.questions.bugs.searching import known_bugs_in
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.reports.answers import headline, survived
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("cut short")]

PULSAR = "4.2.4"
MADE: dict[str, Checked] = {}
"""What each check came to, which many examples ask for."""


class Cutting:
    """Makes checks, of which some see nothing: as if memory or time had ended them before anything was found."""

    def __init__(self, is_cut: Callable[[str], bool]) -> None:
        self.is_cut, self.cut = is_cut, list[str]()

    def __call__(self, task: Task, watch: Watch) -> Checked:
        entry, approach = task.entry, task.approach
        key = f"{named(entry.function)} {named(entry.suite)} {sorted(task.instance.parameters.items())} {[*task.bugs]} "
        key += f"{[*approach.properties]} {approach.symmetry}"
        if key not in MADE:
            MADE[key] = check(task, watch)
        whole = MADE[key]
        if not self.is_cut(key):
            return whole
        self.cut.append(key)
        verdicts = (replace(v, verdict="inconclusive", trace=None, note="cut short") for v in whole.verdicts)
        return replace(whole, verdicts=tuple(verdicts))


def share_of(share: float, seed: int) -> Callable[[str], bool]:
    """Cuts this share of the checks, by the seed."""

    def is_cut(key: str) -> bool:
        digest = blake2b(f"{seed} {key}".encode(), digest_size=4).digest()
        return int.from_bytes(digest) < share * (1 << 32)

    return is_cut


def named(function: Any) -> str:
    """A function by its name, and what is filled in of it."""
    if isinstance(function, partial):
        return f"{named(function.func)}{function.args}{function.keywords}"
    return f"{function.__module__}.{function.__qualname__}"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    conf = tmp_path_factory.mktemp("cut") / "broker.conf"
    conf.write_text("managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\nmanagedLedgerDefaultAckQuorum=2\n")
    return Cluster("broker.conf", Place(conf), read_settings(conf), Releases.of(PULSAR), 3, True, False)


@pytest.fixture(scope="module")
def everything(cluster: Cluster) -> set[object]:
    return {*claims(*answers_of(cluster, Cutting(lambda key: False)))}


def answers_of(cluster: Cluster, cutting: Cutting, memory: int = 1 << 29) -> tuple[list[Answer], list[Established]]:
    means = Means(Approach(by="exhaustive", workers=1, memory=memory), check=cutting)
    bugs, rows = known_bugs_in(cluster.configuration), dict[str, Established]()
    return list(answered(cluster, bugs, means, rows)), list(rows.values())


def claims(answers: Sequence[Answer], rows: Sequence[Established]) -> Iterator[object]:
    """Everything that is said of the cluster: each *no*, each way with what it needs, what it survives, what keeps it well."""
    for answer in answers:
        name = answer.matter.name
        if answer.value == "no":
            yield name, "no"
        yield from ((name, way.needs) for way in answer.ways if way.bug is None and not way.open)
        yield from ((name, way.name, 99 if way.open else way.faults) for way in answer.ways if way.bug is not None)
        yield from ((name, "not by", bug, by) for bug, by in answer.covered.items())
        yield from ((name, "searched", bug) for bug in answer.searched)
    for words in survived(rows):
        number, what = re.match(r"(\d+) (.*)", words).groups()  # type: ignore[union-attr]
        yield from (("survives", what.replace("s ", " "), n) for n in range(1, int(number) + 1))


def implied(claim: object, everything: set[object]) -> bool:
    """Whether a claim is among those of all searches, or one that needs fewer faults is."""
    match claim:
        case (matter, bug, int(faults)):
            return any((matter, bug, fewer) in everything for fewer in range(faults + 1))
    return claim in everything


@settings(max_examples=60)
@given(share=st.sampled_from([0.02, 0.1, 0.3, 0.6, 0.95, 1.0]), seed=st.integers(0, 10**6))
def test_whichever_searches_are_cut_short_nothing_is_claimed_that_all_of_them_do_not_show(
    cluster: Cluster, everything: set[object], share: float, seed: int
) -> None:
    cutting = Cutting(share_of(share, seed))
    answers, rows = answers_of(cluster, cutting)
    assert [claim for claim in claims(answers, rows) if not implied(claim, everything)] == []
    for answer in answers:
        if answer.value == "no":
            assert not answer.gaps
            assert re.match(r"No, as far as is modelled: not (with|by) .*\d", headline(answer))
    if share == 1.0:
        assert cutting.cut
        assert {answer.value for answer in answers} == {"unknown"}


@pytest.mark.deep
@pytest.mark.parametrize("bits", [12, 17, 22])
def test_with_little_memory_nothing_is_claimed_that_more_does_not_show(
    cluster: Cluster, everything: set[object], bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.checks.questions.answers.test_cut_short.MADE", {})  # which were made with more memory
    answers, rows = answers_of(cluster, Cutting(lambda key: False), memory=1 << bits)
    assert [claim for claim in claims(answers, rows) if not implied(claim, everything)] == []


def test_a_no_cannot_be_made_of_a_search_that_was_cut_short() -> None:
    entry = PROTOCOLS["metadata_store"]
    instance = entry.instances("ci")[0]
    promised = [prop.name for prop in entry.outline(instance.parameters).properties if not prop.strict]
    approach = Approach(by="exhaustive", workers=1, properties=promised)
    checked = check(Task(entry, instance, (), approach))
    assert isinstance(outcome(checked), Settled)
    for verdict in ("inconclusive", "sampled"):
        verdicts = (replace(checked.verdicts[0], verdict=verdict), *checked.verdicts[1:])
        cut = replace(checked, verdicts=verdicts)
        assert isinstance(outcome(cut), Open)
        with pytest.raises(ValueError, match="not settled"):
            Settled((cut,))
        with pytest.raises(ValueError, match="without a run"):
            Refuted(cut, verdicts[0])
    empty = replace(checked, verdicts=())
    assert isinstance(outcome(empty), Open)
    with pytest.raises(ValueError, match="nothing was searched"):
        Settled(())
