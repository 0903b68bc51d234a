"""Laws of answers, whatever the settings and the release: more is never less, two directions agree, and so do all formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.guarantees.establishing import Established, establish
from fencepost.checks.questions.guarantees.judging import Guaranteed, compared
from fencepost.checks.questions.guarantees.ledgers import ledger_guarantees
from fencepost.checks.questions.guarantees.topics import topic_guarantees
from fencepost.checks.questions.matters import DISKS, Guarantee
from fencepost.checks.reports.answers import as_json, as_text, headline, in_short
from fencepost.checks.reports.documents import answered, as_markdown
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.reports.report_page import answer_section
from fencepost.checks.reports.sarif import as_sarif
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.model.releases import PULSAR, Releases
from tests.checks.questions.answers.test_cut_short import Cutting, answers_of, cluster  # noqa: F401
from tests.checks.questions.answers.test_cut_short import share_of as cut_by
from tests.checks.questions.guarantees.sized import sized
from tests.checks.reports.test_ci_formats import SARIF

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("cut short")]

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 27))
FEW = settings(max_examples=4)
MANY = settings(max_examples=60)
RELEASES = st.sampled_from([*PULSAR])
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "brokerDeduplicationEnabled": ("true", "false"),
    "lazyCursorRecovery": ("true", "false"),
    "managedLedgerAddEntryTimeoutSeconds": ("0", "120"),
    "brokerDeleteInactiveTopicsEnabled": ("true", "false"),
    "defaultRetentionTimeInMinutes": ("0", "-1"),
}


Sizes = tuple[int, int, int, int]
"""Bookies, ensemble, write quorum and ack quorum."""


@st.composite
def sizes(draw: st.DrawFn) -> Sizes:
    """Sizes of which every search takes a moment."""
    ack = draw(st.integers(1, 2))
    write = draw(st.integers(ack, 2))
    ensemble = draw(st.integers(write, 3))
    return draw(st.integers(ensemble, 4)), ensemble, write, ack


@cache
def row(name: str, of: Sizes, release: str) -> Established:
    (question,) = (each for each in ledger_guarantees(sized(*of, Releases.of(release))) if each.name == name)
    return establish(question, MEANS)


def never_fewer(name: str, of: Sizes, more: tuple[str, ...], release: str) -> None:
    before = sized(*of)
    bookies, ensemble, write, ack = {**before.sizes, **before.raised(more)}.values()
    small, large = row(name, of, release), row(name, (bookies, ensemble, write, ack), release)
    if small.number is not None and large.limit is not None:
        assert small.number <= large.limit


def no_worse_without(question_of: Guarantee, names: set[str]) -> None:
    """What is claimed with all bugs of a release is not refuted with fewer of them."""
    fewer = replace(question_of, bugs={bug: how for bug, how in question_of.bugs.items() if bug not in names})
    with_all, with_few = establish(question_of, MEANS), establish(fewer, MEANS)
    if with_all.number is not None and with_few.limit is not None:
        assert with_all.number <= with_few.limit
    if not with_all.gap and not with_few.gap and with_all.figure is not None and with_few.figure is not None:
        assert with_all.figure <= with_few.figure


@FEW
@given(sizes(), st.sampled_from(DISKS), st.sampled_from([("ack_quorum",), ("write_quorum",), ("bookies",)]), RELEASES)
def test_more_copies_never_guarantee_fewer_lost_disks(of: Sizes, name: str, more: tuple[str, ...], release: str) -> None:
    never_fewer(name, of, more, release)


@pytest.mark.deep
@MANY
@given(sizes(), st.sampled_from(DISKS), st.sampled_from([("ack_quorum",), ("write_quorum",), ("bookies",)]), RELEASES)
def test_more_copies_never_guarantee_fewer_lost_disks_of_many(
    of: Sizes, name: str, more: tuple[str, ...], release: str
) -> None:
    never_fewer(name, of, more, release)


@FEW
@given(st.data(), RELEASES, st.fixed_dictionaries({key: st.sampled_from(values) for key, values in SETTINGS.items()}))
def test_what_holds_with_more_bugs_holds_with_fewer(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, release: str, chosen: dict[str, str]
) -> None:
    conf = tmp_path_factory.mktemp("laws") / "broker.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in chosen.items()))
    questions = [*topic_guarantees(read_settings(conf).configuration(Releases.of(release)))]
    question = data.draw(st.sampled_from(questions))
    gone = data.draw(st.sets(st.sampled_from(sorted(question.bugs)))) if question.bugs else set[str]()
    no_worse_without(question, gone)


OTHER = {"weaker": "stronger", "stronger": "weaker"}


@FEW
@given(sizes(), sizes(), st.sampled_from(DISKS), RELEASES, RELEASES)
def test_a_comparison_the_other_way_round_says_the_opposite(
    one: Sizes, other: Sizes, name: str, release: str, another: str
) -> None:
    now, before = row(name, one, release), row(name, other, another)
    change = compared(now, before)
    assert compared(before, now) == OTHER.get(change, change)


def in_sarif(opening: Opening) -> list[tuple[str, Any]]:
    """The results of a log's answers, each with what its rule says that it is about."""
    written = as_sarif(FinishedRun(opening=opening))
    SARIF.validate(json.loads(written))
    (run,) = json.loads(written)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    return [(rules[result["ruleIndex"]]["fullDescription"]["text"], result) for result in run["results"]]


@FEW
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.05, 0.5, 1.0]))
def test_text_page_markdown_json_and_sarif_say_the_same(cluster: Cluster, seed: int, share: float) -> None:  # noqa: F811
    answers, _ = answers_of(cluster, Cutting(cut_by(share, seed)))
    releases = Releases.of("4.2.4")
    opening = Opening(Guaranteed(cluster, ()), answers=tuple(answers))
    documents, results = json.loads(json.dumps(as_json(answers, releases))), in_sarif(opening)
    comment = as_markdown(FinishedRun(opening=opening))
    for answer, document, (asks, result) in zip(answers, documents, results, strict=True):
        assert (asks, result["properties"]) == (
            document["text"],
            {"answer": document["answer"], "ways": [way["name"] for way in document["ways"]]},
        )
        first, *said = result["message"]["text"].splitlines()
        assert first == document["headline"]
        assert [line for line in said if line[:1].isdigit()] == [f"{n}. {in_short(w)}" for n, w in answer.numbered]
        assert result["kind"] == {"no": "pass", "unknown": "open"}.get(document["answer"], "fail")
        assert result["level"] == ("error" if result["kind"] == "fail" else "none")
        words = headline(answer)
        assert document["headline"] == words
        assert words in " ".join(as_text(answer, releases, 100).split())
        begins = {"yes": "Yes, in", "for a while": "For a while", "no": "No, as far", "unknown": "Unknown"}
        assert document["answer"] == "yes" or words.startswith(begins[document["answer"]])
        assert [way["name"] for way in document["ways"]] == [way.name for way in answer.ways]
        assert str(answer_section(answer, releases)).count("<li><p>") == len(answer.ways)
        assert answered(answer) in comment
        numbered = [line for line in answered(answer).splitlines() if line[:1].isdigit()]
        assert len(numbered) == len(answer.ways)
        assert bool(answer.ways) == (document["answer"] in ("yes", "for a while"))


def test_the_laws_can_fail() -> None:
    """With a figure of another cluster they do."""
    two, one = row("disks", (3, 2, 2, 2), "4.2.4"), row("disks", (3, 2, 2, 1), "4.2.4")
    assert (two.figure, one.figure) == (1, 0)
    assert compared(one, two) == "weaker"
