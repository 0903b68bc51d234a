"""Which known bugs a change of releases takes and brings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answers.changes import BugChange, Bugs, Met, Reach, bug_change, bugs_of, reach_of, with_reach
from fencepost.checks.questions.answers.ways import Way
from fencepost.checks.questions.bugs.searching import Whole
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.reports.changes import as_json, in_brief, rows, sentences, verdict
from fencepost.checks.reports.decisions import decided
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from fencepost.model.releases import Releases
from tests.command import ROOT

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 29))


@pytest.fixture(scope="module")
def settings() -> Settings:
    return read_settings(ROOT / "docs" / "examples" / "broker.conf")


def bugs_with(settings: Settings, releases: Releases) -> Bugs:
    return bugs_of(settings.configuration(releases))


def whole(settings: Settings, releases: Releases) -> Whole:
    return Whole(settings.configuration(releases))


def changed(settings: Settings, before: str, now: str, former: Settings | None = None) -> BugChange:
    then, today = bugs_with(former or settings, Releases.of(before)), bugs_with(settings, Releases.of(now))
    return bug_change(before, then, now, today)


def test_what_goes_one_way_comes_the_other_way(settings: Settings) -> None:
    up = changed(settings, "4.0.8", "4.2.4")
    down = changed(settings, "4.2.4", "4.0.8")
    assert (up.go.keys(), up.come.keys(), up.stay.keys()) == (down.come.keys(), down.go.keys(), down.stay.keys())
    assert "removed_producer_publishes" in up.come
    assert "event_lost" in up.go
    assert "captured_ensemble" in up.stay


FIXED_IN_5_0_1 = {
    "assigned_while_leaving",
    "closed_elects_again",
    "closed_goes_on",
    "load_fails_unanswered",
    "newer_lookup_dropped",
    "pending_forgotten",
    "properties_dropped",
    "recreates_of_others",
    "reset_dropped",
    "skipped_after_reset",
    "stale_unload",
    "terminate_without_mutex",
    "terminated_reopened",
}


def test_what_5_0_1_fixes_goes_with_the_milestone_before_it(tmp_path: Path) -> None:
    """Two are of the extensible load manager, three of the modular one, two of seeks."""
    going = set[str]()
    for manager in ("impl.ModularLoadManagerImpl", "extensions.ExtensibleLoadManagerImpl"):
        file = tmp_path / "broker.conf"
        chosen = f"loadManagerClassName=org.apache.pulsar.broker.loadbalance.{manager}"
        file.write_text(f"managedLedgerDefaultEnsembleSize=3\nbrokerDeduplicationEnabled=true\n{chosen}\n")
        change = changed(read_settings(file), "5.0.0-M1", "5.0.1")
        assert not change.come
        going |= change.go.keys()
    assert going == FIXED_IN_5_0_1


@pytest.mark.long
def test_the_same_releases_change_nothing(settings: Settings) -> None:
    change = changed(settings, "4.2.4", "4.2.4")
    assert not change.go
    assert not change.come
    assert not list(sentences(change))
    assert verdict(change).startswith("No known bug comes, 0 go, ")


@pytest.mark.long
def test_of_what_a_cluster_does_not_run_nothing_is_said(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl\n")
    change = changed(read_settings(conf), "4.0.8", "5.0.0-M1")
    every = [bug for bugs in (change.go, change.come, change.stay) for several in bugs.values() for bug in several]
    assert "ownership" not in {bug.entry.name for bug in every}


@pytest.mark.long
def test_another_load_manager_brings_its_own_bugs(settings: Settings, tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl\n")
    change = changed(read_settings(conf), "4.2.4", "4.2.4", former=settings)
    assert "found_lock_unattended" in change.go
    assert "close_overtaken" in change.come
    assert "zombie_deletes" in change.stay


@pytest.mark.long
def test_what_comes_says_whether_users_meet_it_and_what_costs_most_is_first(settings: Settings) -> None:
    change, now = changed(settings, "4.0.8", "4.2.4"), whole(settings, Releases.of("4.2.4"))
    searched = with_reach(change, whole(settings, Releases.of("4.0.8")), now, MEANS)
    usual = ["reset_dropped", "removed_producer_publishes", "skipped_after_reset", "limit_counts_entries"]
    migrated = ["goes_on_unprepared", "start_missed", "ids_begin_again", "release_refused", "recreates_of_others"]
    assert searched.felt == [*usual, *migrated]
    assert "users can meet 4 of them with these settings" in verdict(searched)
    assert "; 5 only if the metadata are migrated to another store. " in verdict(searched)
    assert str(decided(searched)).startswith(
        f"YES: {change.now} brings no way to lose a message, except 2 ways only if the metadata are migrated to another store."
    )
    told, migrated = dict(rows(searched)), "applies: only if the metadata are migrated to another store: "
    (lost, *_), (missed, *_) = (told[f"comes: {name} (ownership)"] for name in ("goes_on_unprepared", "start_missed"))
    by_loss = f"{migrated}an acknowledged message can be lost (needs a lost "
    assert lost == f"{by_loss}connection to the metadata store over a migration of the metadata)"
    assert missed == f"{by_loss}session of a broker, a migration of the metadata to another store meanwhile)"
    lines = told["comes: release_refused (ownership)"]
    assert lines[0].startswith(f"{migrated}a topic can be out of service for good (needs a mig")
    assert lines[-1].startswith("run: fencepost check ownership --bug release_refused --property ")
    document = as_json(searched)
    assert document["come"]["removed_producer_publishes"]["question"] == "order"
    assert document["come"]["removed_producer_publishes"]["applies"] == "yes"
    assert document["come"]["release_refused"]["applies"] == "only if you act"
    assert document["go"]["asks_during_election"]["applies"] == "not asked"
    assert document["come"]["start_missed"]["applies"] == "only if you act"


@pytest.mark.long
def test_with_deduplication_the_bug_that_comes_loses_a_message(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("brokerDeduplicationEnabled=true\n")
    settings, releases = read_settings(conf), Releases.of("4.2.4")
    bugs = bugs_with(settings, releases)["removed_producer_publishes"]
    reach = reach_of(bugs, MEANS, whole(settings, releases))
    assert (reach.applies, reach.met and reach.met.matter.name) == ("yes", "lost")


@pytest.mark.long
def test_what_was_cut_short_is_unknown(settings: Settings) -> None:
    releases = Releases.of("4.2.4")
    bugs = bugs_with(settings, releases)["removed_producer_publishes"]
    over = Means(MEANS.approach, ends=0.0)
    reach = reach_of(bugs, over, whole(settings, releases))
    assert (reach.applies, reach.met) == ("unknown", None)
    assert "lost" in reach.gaps


def test_an_answer_says_yes_or_no_first(settings: Settings) -> None:
    """The way is one that a search found; what is not searched to the end is neither yes nor no."""
    change = changed(settings, "4.0.8", "4.2.4")
    run: Any = None  # the words are not of the run
    lost = Reach(Met(MATTERS[0], Way("removed_producer_publishes", "", ("a lost session of a broker",), 1, run, run)))
    nothing = {name: Reach() for name in (*change.come, *change.go)}
    brings = replace(change, reach={**nothing, "removed_producer_publishes": lost})
    assert str(decided(replace(change, reach=nothing))) == f"YES: {change.now} brings no way to lose a message."
    assert str(decided(replace(change, reach=nothing), ["disks"])) == f"NO: {change.now} guarantees less: disks."
    assert str(decided(brings)).startswith(f"NO: {change.now} brings 1 way to lose a message. ")
    facts = change.come["removed_producer_publishes"][0].bug
    assert f"{facts.plain} It is not fixed up to {facts.newest_read}" in str(decided(brings)), (
        "what happens, and whether another release closes it"
    )
    unsure = f"NOT KNOWN whether {change.now} brings a way to lose a message: see removed_producer"
    again = replace(lost, met=Met(MATTERS[-1], lost.met.way)) if lost.met else lost
    for left in (Reach(), again):
        open_ = replace(change, reach={**nothing, "removed_producer_publishes": replace(left, gaps={"lost": "out of time"})})
        assert str(decided(open_)).startswith(unsure), "whatever else users meet by it"
        ended = FinishedRun(opening=Opening(run, bugs=open_), alone=True).status
        assert ended == (ExitStatus.INCONCLUSIVE if left.met is None else ExitStatus.KNOWN_BUG)
    gone = next(iter(change.go))
    closes = replace(change, reach={**nothing, gone: lost})
    assert str(decided(closes)).endswith(" It closes 1 way to lose a message.")


def test_what_needs_an_administrator_is_not_counted_and_what_never_happens_here_is_left_out(settings: Settings) -> None:
    change = changed(settings, "4.0.8", "4.2.4")
    run: Any = None  # the words are not of the run
    by_act = Met(MATTERS[0], Way("release_refused", "", ("a termination of the topic",), 0, run, run))
    nothing = {name: Reach() for name in (*change.come, *change.go)}
    only_if = replace(change, reach={**nothing, "release_refused": Reach(only_if=(by_act,))})
    decision = decided(only_if)
    assert str(decision) == f"YES: {change.now} brings no way to lose a message, except 1 way only if a topic is terminated."
    assert decision.short == "no way to lose a message, unless you act"
    gone, other = list(change.go)[:2]
    both = replace(only_if, reach={**nothing, gone: Reach(only_if=(by_act,)), other: Reach(by_act)})
    closes = " It closes 1 way to lose a message, and 1 only if a topic is terminated."
    assert str(decided(both)).endswith(closes), "what goes is counted as what comes"
    words = "comes, only if a topic is terminated (an acknowledged message can be lost): release_refused"
    assert words in dict(in_brief(only_if))
    assert "none that users were found to meet with these settings; 1 only if a topic is terminated. " in verdict(only_if)
    assert only_if.felt == ["release_refused"]
    for reach, why in ((Reach(left_out=(by_act,)), "left out, since it"), (Reach(is_accepted=True), "accepted")):
        left = replace(change, reach={**nothing, "release_refused": reach})
        assert not left.felt
        assert str(decided(left)) == f"YES: {change.now} brings no way to lose a message."
        assert f"; 1 {why}" in verdict(left)


@pytest.mark.long
def test_what_does_not_happen_here_is_searched_for_no_way_and_what_is_accepted_not_at_all(settings: Settings) -> None:
    releases = Releases.of("4.2.4")
    bugs = bugs_with(settings, releases)["release_refused"]
    usual = reach_of(bugs, MEANS, whole(settings, releases))
    assert (usual.met, [met.matter.name for met in usual.only_if]) == (None, ["service"])
    here = reach_of(bugs, MEANS, whole(settings, releases), ["migration"])
    assert (here.applies, here.only_if, [met.matter.name for met in here.left_out]) == ("not here", (), ["service"])


def test_in_brief_each_bug_is_told_once_and_what_costs_nothing_is_named(settings: Settings) -> None:
    change = changed(settings, "4.0.8", "4.2.4")
    reach = {name: Reach() for name in (*change.come, *change.go)} | {"release_refused": Reach(is_asked=False)}
    quiet = dict(in_brief(replace(change, reach=reach)))
    nothing = "comes, and no loss by it was found: "
    (line,) = (head for head in quiet if head.startswith(nothing))
    assert set(line.removeprefix(nothing).split(", ")) == change.come.keys() - {"release_refused"}
    assert "comes, and nothing is asked about it (--all says what it costs): release_refused" in quiet
    heads = " ".join(quiet)
    assert all(heads.count(name) == 1 for name in (*change.come, *change.go))


@pytest.mark.long
def test_a_bug_that_needs_a_lost_session_needs_it_wherever_it_is_asked(settings: Settings) -> None:
    releases = Releases.of("4.2.4")
    reach = reach_of(bugs_with(settings, releases)["zombie_deletes"], MEANS, whole(settings, releases))
    assert reach.met is not None
    assert reach.met.way.faults == 1
    (need,) = reach.met.way.needs
    assert "a lost session of a broker" in need
