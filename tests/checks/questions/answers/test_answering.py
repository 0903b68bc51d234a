"""What users ask first: each yes is a run that replays, each no is complete, and nothing is said of what was cut short."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost import properties
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.answering import answer as answer_of
from fencepost.checks.questions.answers.answering import answered
from fencepost.checks.questions.answers.ways import ORDINARY, Answer
from fencepost.checks.questions.bugs.searching import Whole, known_bugs_in
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.matters import UNDER_WAY
from fencepost.checks.reports.answers import about, as_json, as_text, command, headline
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.model.releases import Releases, is_since
from fencepost.properties.cluster.bugs import moves_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.replay import replay_on

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("answers")]

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 29))
RELEASE = "4.2.4"
"""With bugs that others have fixed since."""
RELEASES = Releases.of(RELEASE)
STOCK = "managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\nmanagedLedgerDefaultAckQuorum=2\n"


def answers_of(folder: Path, pulsar: str, *lines: str, means: Means = MEANS, only: int | None = None) -> list[Answer]:
    """The answers for a cluster with the stock configuration and these lines; the first ``only`` of them."""
    conf = folder / "broker.conf"
    conf.write_text(STOCK + "\n".join(lines))
    settings, releases = read_settings(conf), Releases.of(pulsar)
    bugs = known_bugs_in(settings.configuration(releases))
    cluster = Cluster("broker.conf", Place(conf), settings, releases, settings.ledger.ensemble.value + 1, True, False)
    rows = dict[str, Established]()
    each = answered(cluster, bugs, means, rows)
    return list(each) if only is None else [next(each) for _ in range(only)]


LOSING = {
    "2.10.1": {"zombie_deletes", "terminated_reopened", "captured_ensemble", "no_such_entry_though_stored"},
    "3.0.7": {"zombie_deletes", "terminated_reopened", "captured_ensemble", "idle_checkpoint_skips_index"},
    "4.0.8": {"zombie_deletes", "terminated_reopened", "captured_ensemble", "master_key_with_entries_only"},
    "4.2.4": {"zombie_deletes", "terminated_reopened", "captured_ensemble", "fence_checked_apart"},
    "5.0.0-M1": {"zombie_deletes", "terminated_reopened", "captured_ensemble", "denies_before_fence_is_journaled"},
    "5.0.1": {"zombie_deletes", "captured_ensemble", "denies_before_fence_is_journaled"},
}
"""Some of the bugs by which a release loses messages with the stock configuration."""

TERMINATED_OR = "Only if a topic is terminated or"
ACTS = f" {TERMINATED_OR} a bookie's cookie is deleted: 2 more."
MIGRATED = "the metadata are migrated to another store or a bookie's cookie is deleted"

FIRST_LINES = {
    "2.10.1": (
        f"Yes, in 17 modelled ways: 5 need one fault, 10 need two, 2 need three.{ACTS}",
        "Yes, in 4 modelled ways, each needs one fault.",
        "Yes, in 3 modelled ways: 2 need one fault, 1 needs three.",
        "Yes, in 6 modelled ways: 5 need one fault, 1 needs two.",
        "For a while, with 1 lost session of a broker. For good, in 3 modelled ways, each needs one fault.",
        "Yes, in 7 modelled ways: 3 need no fault, 4 need one.",
    ),
    "3.0.7": (
        f"Yes, in 14 modelled ways: 3 need one fault, 9 need two, 2 need three.{ACTS}",
        "Yes, in 3 modelled ways, each needs one fault.",
        "Yes, in 4 modelled ways, each needs one fault.",
        "Yes, in 6 modelled ways: 5 need one fault, 1 needs two.",
        "For a while, with 1 lost session of a broker. For good, in 2 modelled ways, each needs one fault.",
        "Yes, in 6 modelled ways: 3 need no fault, 3 need one.",
    ),
    "4.0.8": (
        f"Yes, in 13 modelled ways: 3 need one fault, 8 need two, 2 need three.{ACTS}",
        "Yes, in 3 modelled ways, each needs one fault.",
        "Yes, in 3 modelled ways, each needs one fault.",
        "Yes, in 4 modelled ways: 3 need one fault, 1 needs two.",
        "For a while, with 1 lost session of a broker. For good, in 2 modelled ways, each needs one fault.",
        "Yes, in 6 modelled ways: 3 need no fault, 3 need one.",
    ),
    "4.2.4": (
        f"Yes, in 13 modelled ways: 3 need one fault, 8 need two, 2 need three. {TERMINATED_OR} {MIGRATED}: 4 more.",
        "Yes, in 3 modelled ways: 1 needs no fault, 2 need one. Only if the metadata are migrated to another store: 1 more.",
        "Yes, in 2 modelled ways, each needs one fault. Only if the metadata are migrated to another store: 2 more.",
        "Yes, in 5 modelled ways: 4 need one fault, 1 needs two.",
        "For a while, with 1 lost session of a broker. For good, in 1 modelled way, which needs one fault.",
        "Yes, in 7 modelled ways: 3 need no fault, 4 need one.",
    ),
    "5.0.0-M1": (
        f"Yes, in 11 modelled ways: 2 need one fault, 7 need two, 2 need three. {TERMINATED_OR} {MIGRATED}: 3 more.",
        "Yes, in 3 modelled ways: 1 needs no fault, 2 need one. Only if the metadata are migrated to another store: 1 more.",
        "Yes, in 2 modelled ways, each needs one fault. Only if the metadata are migrated to another store: 2 more.",
        "Yes, in 5 modelled ways: 4 need one fault, 1 needs two.",
        "For a while, with 1 lost session of a broker. For good, in 1 modelled way, which needs one fault.",
        "Yes, in 7 modelled ways: 3 need no fault, 4 need one.",
    ),
    "5.0.1": (
        f"Yes, in 11 modelled ways: 2 need one fault, 7 need two, 2 need three. Only if {MIGRATED}: 2 more.",
        "Yes, in 2 modelled ways, each needs one fault. Only if the metadata are migrated to another store: 1 more.",
        "Yes, in 2 modelled ways, each needs one fault. Only if the metadata are migrated to another store: 1 more.",
        "Yes, in 5 modelled ways: 4 need one fault, 1 needs two.",
        "For a while, with 1 lost session of a broker. For good, in 1 modelled way, which needs one fault.",
        "Yes, in 6 modelled ways: 3 need no fault, 3 need one.",
    ),
}
"""The answers of a release, with ZooKeeper and locks: a message, a backlog, service, twice or out of order, two brokers,
delivered again."""

BY_DESIGN = {
    "answered_before_it_is_written": "managedLedgerDefaultMarkDeleteRateLimit=0 and clients that ask for receipts",
    "more_ranges_than_are_persisted": "a larger managedLedgerMaxUnackedRangesToPersist",
}
"""What delivers acknowledged messages again without a bug, and what avoids it; the first since 5.0.0-M1."""

SEEN = {
    row["bug"]
    for file in Path(properties.__file__).parent.glob("*/reproduced.jsonl")
    for row in map(json.loads, file.read_text().splitlines())
    if row["verdict"] in ("reproduced", "seen elsewhere")
} | {name for entry in PROTOCOLS.values() for name, bug in entry.bugs.items() if bug.reproduced_by}
"""The bugs that a run on real code has shown; of any other the answer says that it was not seen."""


@pytest.mark.parametrize("pulsar", FIRST_LINES)
def test_the_stock_configuration_of_each_release_is_answered(tmp_path: Path, pulsar: str) -> None:
    answers = answers_of(tmp_path, pulsar)
    lost, backlog, _, order, owners, again = answers
    assert [answer.matter.name for answer in answers] == ["lost", "backlog", "service", "order", "owners", "again"]
    assert lost.value == "yes"
    assert not any(answer.gaps for answer in answers)
    assert LOSING[pulsar] <= {way.name for way in lost.ways}
    assert [way.name for way in lost.ways if way.bug is None] == ["disks"]
    assert next(way.faults for way in lost.ways if way.name == "disks") == 2  # both disks of the two copies
    assert [way.name for way in order.ways if way.bug is None] == ["stored_once"]
    assert [way.avoided_by for way in order.ways if way.bug is None] == ["brokerDeduplicationEnabled=true"]
    early = {} if is_since(pulsar, "5.0.0-M1") else {"answered_before_it_is_written": ""}
    assert {way.name: way.avoided_by for way in again.ways if way.bug is None} == BY_DESIGN | early
    for way in (way for way in lost.ways if way.checked.entry.name == "ledger" and way.bug is not None):
        assert way.whole is not None
        assert way.whole.protocol.name == "cluster"
        assert "a lost session of a broker" in way.needs
        assert command(way) == f"fencepost check cluster --bug {way.name} --property acked_is_in_log"
    assert "deletion_sent_again" in lost.covered
    assert all("fences hold" in protections for protections in lost.covered.values())
    migrated = {"ids_begin_again"} if is_since(pulsar, "4.2.4") else set()
    assert {way.name for way in backlog.ways if way.checked.entry.name != "subscription"} == migrated
    assert backlog.shown
    assert owners.ways[0].row is not None
    assert owners.ways[0].row.guarantee.name == "owners"
    for way in (way for answer in answers for way in answer.ways):
        protocol = way.checked.protocol
        assert replay_on(way.verdict.trace, protocol, way.checked.entry.suite(protocol)).replays
        if way.whole is not None:
            whole = way.whole.protocol
            assert replay_on(way.run, whole, way.whole.entry.suite(whole)).replays
        if way.bug is not None:
            assert set(protocol.active) == set(moves_of([way.name]) if protocol.name == "cluster" else [way.name])
            assert Releases.of(pulsar).of_project(way.bug.project) in way.bug.present
    assert as_json(answers, Releases.of(pulsar))[0]["answer"] == "yes"
    assert tuple(headline(answer) for answer in answers) == FIRST_LINES[pulsar]
    ways = {way.name: way for answer in answers for way in answer.ways}
    texts = {name: " ".join(about(way, Releases.of(pulsar), "lost")) for name, way in ways.items()}
    not_seen = {name for name, text in texts.items() if "not seen on real code" in text or "not tried on real code" in text}
    assert ways.keys() - not_seen == SEEN & ways.keys()
    refused = [way.needs for way in ways.values() if way.name == "release_refused"]
    assert all(UNDER_WAY["migration"] in needs for needs in refused)


@pytest.mark.later
def test_a_setting_that_avoids_a_bug_takes_its_way_from_the_answer(tmp_path: Path) -> None:
    (lost,) = answers_of(tmp_path, RELEASE, "brokerDeleteInactiveTopicsEnabled=false", only=1)
    assert "zombie_deletes" not in {way.name for way in lost.ways}
    assert "captured_ensemble" in {way.name for way in lost.ways}
    text = " ".join(as_text(lost, RELEASES, 120).split())
    assert text.startswith("Can an acknowledged message be lost? Yes, in ")
    assert "Needs 1 change of ensemble, a lost session of a broker." in text
    assert "not by deletion_sent_again, found_lock_unattended, as long as fences hold, a topic" in text
    assert "fencepost reproduce fence-forgotten --release 4.17.3" in text


@pytest.mark.later
def test_the_bookies_settings_are_among_what_loses_a_message(tmp_path: Path) -> None:
    files = tmp_path / "broker.conf", tmp_path / "bookkeeper.conf"
    files[0].write_text(STOCK)
    files[1].write_text("bookiePort=3181\njournalDirectory=journal\nledgerDirectories=ledgers\njournalSyncData=false\n")
    settings, releases = read_settings(*files), RELEASES
    bugs = known_bugs_in(settings.configuration(releases))
    cluster = Cluster("both", Place(files[0]), settings, releases, 3, True, True)
    lost = next(answered(cluster, bugs, MEANS, {}))
    ways = {way.name: way for way in lost.ways}
    assert ways["power"].needs == ("1 power cut of a bookie", "a lost session of a broker")
    assert ways["headers_without_pages_not_saved"].needs == ("a restarted bookie", "a lost session of a broker")
    assert ways["target_is_a_member"].needs == ("1 lost session of a worker of auto-recovery", "the other copy lost")
    assert ways["target_is_a_member"].faults == 2
    shown = "fencepost check cluster --bug confirm_late --bug truncate --property acked_is_in_log"
    assert command(ways["power"]) == shown


def test_of_a_release_that_nobody_has_read_there_is_no_no(tmp_path: Path) -> None:
    _, kept = answers_of(tmp_path, RELEASE, only=2)
    unread, cluster = (
        "nobody has read Pulsar 9.9.9 for known bugs",
        read_settings(tmp_path / "broker.conf").configuration(RELEASES),
    )
    whole = Whole(cluster)
    without = answer_of(kept.matter, kept.shown, (), MEANS, whole, unread=unread)
    assert without.value == "unknown"
    assert unread in headline(without)
    assert answer_of(kept.matter, kept.shown, (), MEANS, whole).value == "no"


def test_advice_that_does_not_avoid_what_is_asked_is_no_advice(tmp_path: Path) -> None:
    answers = answers_of(tmp_path, RELEASE)
    ways = {way.name: way for answer in answers for way in answer.ways}
    order = " ".join(about(ways["removed_producer_publishes"], RELEASES, "order"))
    assert "brokerDeduplicationEnabled=false does not avoid this" in order
    advice = {
        document["question"]: each["avoided_by"]
        for document in as_json(answers, RELEASES)
        for each in document["ways"]
        if each["name"] == "removed_producer_publishes"
    }
    assert advice == {"order": None}, "for a program also"
    lost = " ".join(about(ways["zombie_deletes"], RELEASES, "lost"))
    assert "avoided by brokerDeleteInactiveTopicsEnabled=false, unless inactiveTopicPolicies of a namespace or topic" in lost
    assert "not fixed up to" in lost


def test_without_time_nothing_is_said(tmp_path: Path) -> None:
    answers = answers_of(tmp_path, RELEASE, means=replace(MEANS, ends=0.0))
    assert {answer.value for answer in answers} == {"unknown"}
    assert all(headline(answer).startswith("Unknown. Not known: ") for answer in answers)


@pytest.mark.later
def test_a_way_names_the_command_that_shows_its_run(tmp_path: Path) -> None:
    (lost,) = answers_of(tmp_path, RELEASE, only=1)
    for way in (way for way in lost.ways if way.bug is not None):
        entry = PROTOCOLS[way.checked.entry.name] if way.whole is None else way.whole.entry
        instance, violates = entry.shown_by[way.name], way.violates if way.whole is None else "acked_is_in_log"
        assert command(way).startswith(f"fencepost check {entry.name} --bug {way.name} --property {violates}")
        assert violates in {stated.name for stated in entry.outline(instance).properties}


@pytest.mark.later
@pytest.mark.parametrize("name", sorted(name for name, entry in PROTOCOLS.items() if entry.in_cluster.events))
def test_every_event_of_a_way_has_an_operators_words(name: str) -> None:
    entry, events = PROTOCOLS[name], set[str]()
    for bug, parameters in entry.shown_by.items():
        protocol = entry.build(parameters, [bug])
        rare = set(protocol.budgets) - ORDINARY
        spending = (each for each in protocol.actions if each.fault or {variable.name for variable in each.updates} & rare)
        events |= {each.name for each in spending}
    assert events <= entry.in_cluster.events.keys()
