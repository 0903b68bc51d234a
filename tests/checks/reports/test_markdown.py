"""A check in Markdown: what a comment on a pull request says, and that it says nothing where nothing changed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.checks.commands.check.asked_again import groups
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.answering import Group
from fencepost.checks.questions.answers.remedies import Remedy
from fencepost.checks.questions.guarantees.judging import Guaranteed
from fencepost.checks.questions.guarantees.ledgers import ledger_guarantees
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.reports.answers import headline
from fencepost.checks.reports.documents import answered, as_markdown, plain
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.front import of_namespaces
from fencepost.checks.reports.guarantees import Opening, as_json, unseen
from fencepost.checks.reports.in_short import last_line
from fencepost.checks.reports.sarif import answer_message
from fencepost.checks.reports.ways import besides, numbered
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.model.releases import Releases
from tests.checks.commands.test_first_screen import by_bug, opening
from tests.checks.reports.test_ci_formats import run
from tests.command import fencepost

SAFE = "managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\nmanagedLedgerDefaultAckQuorum=2\n"


def test_what_failed_is_a_line_with_its_place() -> None:
    text = as_markdown(FinishedRun(everything=run("fast")))
    heading, _, failure = text.splitlines()[:3]
    assert heading == "### Fencepost: 3 verdicts, 1 inconclusive, 1 violated: a safety property is violated (exit 12)"
    assert failure.startswith("- in&#95;time is violated in 2 steps (`tests/checks/reports/test_ci_formats.py:")


def test_a_run_without_a_failure_is_one_line() -> None:
    only = "### Fencepost: 2 exhausted, 1 violated as expected: everything holds (exit 0)\n"
    assert as_markdown(FinishedRun(everything=run())) == only


def test_nothing_of_a_text_is_interpreted() -> None:
    assert plain("a|b <i> `c` [d]") == "a&#124;b &#60;i&#62; &#96;c&#96; &#91;d&#93;"


def test_heading_and_list_count_the_same_ways() -> None:
    """Those that count and those that an administrator brings about are told, what is accepted or never happens is named."""
    ways = [by_bug("a", 1), by_bug("b", 1), by_bug("d", 0, "a termination of the topic"), by_bug("e", 1, "a lost disk")]
    for never, accepted, told, first in (
        ((), ("a",), 3, "MESSAGES CAN BE LOST: 2 ways"),
        (("disk-loss",), ("a",), 2, "MESSAGES CAN BE LOST: 1 way"),
        (("disk-loss",), ("a", "b"), 1, "MESSAGES CAN BE LOST only if you act: 1 way"),
        (("disk-loss", "termination"), ("a", "b"), 0, "NO WAY TO LOSE A MESSAGE, except 4 left out"),
    ):
        answer = replace(opening(*ways).answers[0], never=frozenset(never), accepted=frozenset(accepted), first=5)
        now: Any = SimpleNamespace(rows=(), cluster=SimpleNamespace(first=Place(Path("broker.conf"))))
        asked = replace(opening(), now=now, answers=(answer,))
        assert last_line(FinishedRun(opening=asked)).startswith(f"{first};")
        whole = len(answer.sorted.count)
        assert (f"{whole} modelled way" in headline(answer)) == bool(whole)
        lists = (answered(answer), answer_message(answer))
        numbers = [[int(n) for n in re.findall(r"^ *(\d+)\. ", each, re.MULTILINE)] for each in lists]
        assert numbers == [[*range(5, 5 + told)]] * 2
        assert [each.number for each in numbered(asked.answers)] == numbers[0]
        for text in lists:
            assert ("accepted: 1 way: a" in text) == (accepted == ("a",))
            assert ("does not happen here: " in text) == bool(never)


def test_what_to_change_first_and_namespaces_are_in_the_comment_and_the_data(tmp_path: Path) -> None:
    conf, policies = tmp_path / "broker.conf", tmp_path / "orders.json"
    conf.write_text(SAFE)
    policies.write_text('{"replication_clusters": ["eu"], "bundles": {}, "deduplicationEnabled": true}')
    ways = (by_bug("a", 1), by_bug("b", 2))
    lost = opening(*ways).answers[0]
    cluster = Cluster("broker.conf", Place(conf), read_settings(conf), Releases.of("4.2.4"), 3, False, False)
    remedy = Remedy("setting", "a=b", {"a": "b"}, cluster.releases, "not where c says otherwise", frozenset({"a"}))
    left = replace(lost, ways=ways[1:])
    more = replace(lost, ways=(*ways, by_bug("c", 1)))
    groups = (Group(("orders",), read_settings(conf, policies), more), Group(("public/*",), cluster.settings, None))
    asked = Opening(Guaranteed(cluster, ()), answers=(lost,), change_first=(remedy,), after=left, namespaces=groups)
    comment = as_markdown(FinishedRun(opening=asked))
    assert "**Change first**\n\n1. a=b (not where c says otherwise): closes 1 way\n" in comment
    assert "\nWhat is left: after 1, 1 way is left, which needs two faults\n" in comment
    assert "\n- orders (2/2/2, deduplication): 3 ways, 1 more by a lost session of a broker" in comment
    assert "public" not in comment, "it is as the cluster"
    data: Any = as_json(replace(asked, answers=()))
    assert data["after"] == {"answer": "yes", "ways": ["b"], "open": []}
    orders, public = data["namespaces"]
    assert orders["lost"] == {"answer": "yes", "ways": ["a", "b", "c"], "open": []}
    assert (orders["quorums"], orders["deduplication"], public["names"], public["lost"]) == (
        [2, 2, 2],
        True,
        ["public/*"],
        None,
    )
    assert "policies of topics, and of namespaces that are not named" in " ".join(unseen(asked))


def test_namespaces_that_need_more_bookies_than_there_are_cannot_be_written(tmp_path: Path) -> None:
    conf, policies = tmp_path / "broker.conf", tmp_path / "wide.json"
    conf.write_text(SAFE)
    policies.write_text('{"replication_clusters": ["eu"], "bundles": {}, "persistence": {"bookkeeperEnsemble": 5}}')
    cluster = Cluster("broker.conf", Place(conf), read_settings(conf), Releases.of("4.2.4"), 3, False, False)
    asked = CheckRequest(conf=[conf], namespace=[f"wide={policies}"])
    (wide,) = groups(asked, cluster, Means(Approach()))
    opened = Opening(Guaranteed(cluster, ()), answers=opening().answers[:1], namespaces=(wide,))
    said = (
        "wide (5/2/2): nothing can be written there:"
        f" persistence.bookkeeperEnsemble = 5 ({policies}:1) needs as many bookies, and there are 3"
    )
    assert of_namespaces(wide, opened) == said
    assert plain(said) in as_markdown(FinishedRun(opening=opened))


def test_a_way_that_needs_less_in_some_namespaces_is_neither_gone_nor_one_more(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text(SAFE)
    settings = read_settings(conf)
    cluster = Cluster("broker.conf", Place(conf), settings, Releases.of("4.2.4"), 3, False, False)
    two = replace(by_bug("disks", 2, "2 lost disks"), bug=None)
    one = replace(by_bug("disks", 1, "1 lost disk"), bug=None)
    lost = opening(two, by_bug("a", 1)).answers[0]
    opened = Opening(Guaranteed(cluster, ()), answers=(lost,))
    there = replace(lost, ways=(one, by_bug("a", 1), by_bug("b", 1)))
    said = of_namespaces(Group(("orders",), settings, there), opened)
    assert said == "orders (2/2/2): 3 ways, 1 by a lost disk instead, 1 more by a lost session of a broker"


def test_of_namespaces_of_which_not_all_is_known_nothing_is_said_to_be_gone(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text(SAFE)
    settings = read_settings(conf)
    cluster = Cluster("broker.conf", Place(conf), settings, Releases.of("4.2.4"), 3, False, False)
    lost = opening(by_bug("a", 1)).answers[0]
    opened = Opening(Guaranteed(cluster, ()), answers=(lost,))
    gaps = replace(lost, ways=(), gaps=("disks: over 5 states",))
    elsewhere = replace(gaps, matter=next(matter for matter in MATTERS if matter.name == "elsewhere"))
    said = of_namespaces(Group(("orders",), settings, gaps, elsewhere), opened)
    assert said.startswith("orders (2/2/2): 0 ways, so far; some of it is not known; ")
    assert said.endswith(": not known")


def test_known_bugs_that_cause_none_of_the_ways_are_named_once() -> None:
    found = [("a", None), ("b", None), ("b", None), ("c", "a reason")]
    everything: Any = [
        SimpleNamespace(verdicts=[SimpleNamespace(property=SimpleNamespace(name=name), verdict="known bug", accepted=reason)])
        for name, reason in found
    ]
    assert besides(opening(by_bug("a", 1)).answers, everything) == ["b"]


def test_what_is_left_out_makes_no_answer_known() -> None:
    answer = replace(opening(by_bug("a", 1)).answers[0], accepted=frozenset({"a"}))
    assert headline(answer) == "No, except in 1 way left out."
    assert headline(replace(answer, gaps=("disks: over 5 states",))).startswith(
        "Unknown, except in 1 way left out. Not known: "
    )


@pytest.mark.long
def test_a_comparison_shows_the_rows_that_changed_and_nothing_where_none_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = "fencepost.checks.questions.answers.answering."
    monkeypatch.setattr(f"{asking}ledger_guarantees", lambda *args: [g for g in ledger_guarantees(*args) if g.name == "disks"])
    monkeypatch.setattr(f"{asking}bundle_guarantees", lambda *_: [])
    base, head = tmp_path / "base.conf", tmp_path / "head.conf"
    base.write_text(SAFE)
    head.write_text(SAFE.replace("AckQuorum=2", "AckQuorum=1"))
    changed = fencepost("check", "--quiet", "--conf", head, "--against", base, "--markdown", "-")
    assert changed.returncode == 15
    (row,) = [line for line in changed.stdout.splitlines() if line.startswith("| `")]
    assert row.startswith("| `disks` | 1 | 0 | an acknowledged entry can be lost with one disk; **weaker**, ")
    assert row.endswith("raise it with managedLedgerDefaultAckQuorum=2 |")
    same = fencepost("check", "--quiet", "--conf", base, "--against", base, "--markdown", "-")
    assert (same.returncode, same.stdout) == (0, "")
