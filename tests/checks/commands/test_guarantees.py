"""What a configuration guarantees on the command line: alone, against another, and what is required; in every format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fencepost.checks.cli import main
from fencepost.checks.commands.check import formats, one_way
from fencepost.checks.commands.check import run as check
from fencepost.checks.console.progress import Interrupt
from fencepost.checks.questions.answers import answering
from fencepost.checks.questions.guarantees.ledgers import ledger_guarantees
from fencepost.checks.questions.guarantees.topics import bundle_guarantees
from fencepost.checks.questions.matters import Guarantee
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.properties.configuration import Configuration
from fencepost.properties.registry import Instance
from fencepost.properties.theories import THEORIES
from tests import hostile
from tests.command import ROOT, WIDE, Ran, fencepost, printed_as
from tests.marking import first_at_once

QUORUMS = "\nmanagedLedgerDefaultEnsembleSize={}\nmanagedLedgerDefaultWriteQuorum={}\nmanagedLedgerDefaultAckQuorum={}\n"


@pytest.fixture(autouse=True)
def few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command asks three questions only."""

    def few(cluster: Cluster) -> list[Guarantee]:
        return [g for g in ledger_guarantees(cluster) if g.name in ("disks", "recoveries")]

    def fewer(cluster: Configuration) -> list[Guarantee]:
        return [g for g in bundle_guarantees(cluster) if g.name == "unserved"]

    monkeypatch.setattr(answering, "ledger_guarantees", few)
    monkeypatch.setattr(answering, "bundle_guarantees", fewer)
    monkeypatch.setattr(answering, "topic_guarantees", lambda *_: [])


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "one.conf"
    path.write_text(QUORUMS.format(2, 2, 1))
    return path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.conf"
    path.write_text(QUORUMS.format(2, 2, 2))
    return path


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines as long as those of --all, so that a sentence is on one."""
    monkeypatch.setattr(formats, "screen", formats.width)


def asked(*arguments: str | Path, folder: Path = ROOT) -> Ran:
    return fencepost("check", "--quiet", *arguments, folder=folder)


SHEDDERS = "org.apache.pulsar.broker.loadbalance.impl."
OLD = ("--pulsar", "4.2.4")
"""A release in which a recovery of a ledger can lose an entry, by a bug that is fixed since."""


def begins(run: Ran, words: str) -> bool:
    """Whether a text begins with these words, wherever its lines end."""
    return words_of(run).startswith(words)


def words_of(run: Ran) -> str:
    """A text in one line."""
    return " ".join(run.stdout.split())


@pytest.mark.long
def test_they_can_be_all_that_is_asked_for(two: Path) -> None:
    run = asked("--conf", two, "--guarantees", "--pulsar", "5.0.0-M1")
    assert run.returncode == 0
    head, about, *rest = run.stdout.splitlines()
    assert head == f"Nothing falls short in {two}."
    assert about.startswith("  Pulsar 5.0.0-M1 with BookKeeper 4.18.0; 3 bookies (assumed")
    assert rest[2].split() == ["disks", "1", *["an", "acknowledged", "entry", "survives", "1", "lost", "disk"]]
    assert "fails at 2" not in run.stdout
    bug = words_of(asked("--conf", two, "--guarantees", *OLD))
    assert "cause: fence_checked_apart, a bug in BookKeeper 4.17.3: bookkeeper#4701: two descriptors of one ledger" in bug
    assert "fails at 2: send(e0), " in asked("--conf", two, "--guarantees", "--pulsar", "5.0.0-M1", "--all").stdout
    assert "Not seen, so decide it yourself:\n" in run.stdout
    assert run.stdout.endswith("3 guarantees, 0 short: nothing falls short (exit 0)\n")


def test_what_there_is_to_note_of_the_files_is_beside_them(two: Path) -> None:
    two.write_text(f"{two.read_text()}managedLedgerDefaultAckQuorm=1\n")
    run = asked("--conf", two.name, "--guarantees", "--budget", "0.001", folder=two.parent)
    assert f"note: {two.name}: managedLedgerDefaultAckQuorm on line 5 is not read: did you mean managedLedger" in words_of(run)
    assert [line for line in run.stdout.splitlines() if len(line) > int(WIDE["COLUMNS"])] == []


def test_while_it_searches_it_says_on_standard_error_which_cluster_it_is_about(two: Path) -> None:
    run = fencepost("check", "--conf", two, "--pulsar", "4.2.4", "--against-pulsar", "4.0.8", "--budget", "0.001")
    about = f"{two}: Pulsar 4.2.4, BookKeeper 4.17.3, 3 bookies (assumed), 2/2/2; against Pulsar 4.0.8 with BookKeeper 4.17.2"
    assert run.stderr.startswith(f"# {about}\n")
    assert begins(run, "NOT KNOWN whether Pulsar 4.2.4"), "the answer begins with the word that is decided by"


@pytest.mark.long
def test_what_is_required_and_not_guaranteed_fails_and_says_what_to_change(one: Path) -> None:
    run = asked("--conf", one, "--require", "disks>=1", "--guarantees")
    assert run.returncode == 16
    assert "\n                         raise it with managedLedgerDefaultAckQuorum=2\n" in run.stdout
    assert begins(run, f"{one} guarantees less than you require: disks. ")
    assert f" short: {one}:4: disks = 0 falls short of --require disks>=1 " in words_of(run)
    assert asked("--conf", one, "--require", "disks>=0", "--guarantees").returncode == 0


@pytest.mark.long
def test_a_weaker_configuration_fails_and_a_stronger_one_does_not(one: Path, two: Path) -> None:
    weaker = asked("--conf", one, "--against", two)
    assert weaker.returncode == 15
    assert begins(weaker, f"{one} guarantees less than {two}: disks. ")
    assert f" weaker: {one}:4: disks is 0, and was 1 ({two}) " in words_of(weaker)
    assert "an acknowledged entry can be lost with one disk (weaker: was 1 lost disk)\n" in weaker.stdout
    assert "fails at 1: send(e0), add(b0, e0), ack(b0, e0), confirm(e0), lose_disk(b0)\n" in weaker.stdout
    assert "this stops being true: Of every acknowledged entry a bookie of its write set has a good copy.\n" in weaker.stdout
    assert "\n  In the runs b0 is a bookie, e0 is an entry. The page of --html says what each step is.\n" in weaker.stdout
    stronger = asked("--conf", two, "--against", one, *OLD)
    assert stronger.returncode == 0
    assert begins(stronger, f"{two} guarantees no less than {one}. ")
    assert "\nChanged, and not known to be worse:\n  disks               1 " in stronger.stdout
    assert "(stronger: was 0)" in stronger.stdout
    same = "2 guarantees; 1 is 0 before and now (--all prints each)"
    assert f"\nThe same as in {one}:\n  {same}\n" in stronger.stdout


@pytest.mark.long
def test_sarif_points_at_the_line_of_the_users_file(one: Path) -> None:
    run = asked("--conf", one, "--require", "disks>=1", "--guarantees", "--sarif", "-")
    assert run.returncode == 16
    (result,) = json.loads(run.stdout)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], result["level"], place["region"]) == ("guarantee/disks", "error", {"startLine": 4})
    assert place["artifactLocation"]["uri"] == one.as_uri()


@pytest.mark.long
def test_junit_json_and_annotations(one: Path, two: Path) -> None:
    command = ("--conf", one, "--against", two, *OLD)
    suites = ElementTree.fromstring(asked(*command, "--junit", "-").stdout)
    assert suites.attrib["failures"] == "1"
    assert [case.attrib["name"] for case in suites.iter("testcase")] == ["disks", "recoveries", "unserved"]
    document = json.loads(asked(*command, "--json", "-").stdout)
    assert (document["status"], document["guarantees"]["shortfalls"][0]["line"]) == (15, 4)
    disks, recoveries, unserved = document["guarantees"]["rows"]
    assert (unserved["figure"], unserved["change"]) == (2, "same")
    assert (disks["figure"], disks["before"], disks["change"], disks["verdict"]) == (0, 1, "weaker", "violated")
    assert (recoveries["fails"]["bugs"], recoveries["change"]) == (["fence_checked_apart"], "same")
    assert f"::error file={one},line=4,title=disks is 0" in asked(*command, "--annotations").stdout


@pytest.mark.deep
def test_a_fourth_bookie_in_the_ensemble_does_not_make_three_copies_stronger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3/3/2 against 4/3/2: both keep an acknowledged entry through one lost disk, also when all its bookies were replaced."""

    def few(cluster: Cluster) -> list[Guarantee]:
        return [g for g in ledger_guarantees(cluster) if g.name in ("disks", "disks_after_change")]

    monkeypatch.setattr(answering, "ledger_guarantees", few)
    monkeypatch.setattr(answering, "bundle_guarantees", lambda *_: [])
    three, four = tmp_path / "three.conf", tmp_path / "four.conf"
    three.write_text(QUORUMS.format(3, 3, 2))
    four.write_text(QUORUMS.format(4, 3, 2))
    for conf, against in ((three, four), (four, three)):
        run = asked("--conf", conf, "--against", against, "--json", "-")
        rows = json.loads(run.stdout)["guarantees"]["rows"]
        assert [(row["guarantee"], row["figure"], row["before"], row["change"]) for row in rows] == [
            ("disks", 1, 1, "same"), ("disks_after_change", 1, 1, "same"),
        ]  # fmt: skip
        assert run.returncode == 0


EXTENSIBLE = "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"


@pytest.mark.long
def test_of_the_extensible_manager_they_are_those_of_service_units(one: Path, two: Path) -> None:
    two.write_text(f"{two.read_text()}loadManagerClassName={EXTENSIBLE}\n")
    run = asked("--conf", two, "--against", one)
    assert run.returncode == 14, "steps of two protocols are not compared, and bugs of the channel come that users meet"
    row = "  unserved            6  after a lost session a bundle that nobody serves is at most 6 steps from being served"
    assert f"{row} (was 3" in run.stdout


@pytest.mark.long
def test_of_locks_nothing_is_claimed_where_there_are_none(two: Path) -> None:
    two.write_text(f"{two.read_text()}loadManagerClassName={EXTENSIBLE}\n")
    named = asked("ownership", "--conf", two, "--property", "single_owner")
    assert f"nothing is claimed: loadManagerClassName = {EXTENSIBLE} ({two}:5)" in named.stdout
    assert named.returncode == 14  # as it is, bugs of the release are among what was found


@pytest.mark.long
def test_steps_are_required_to_be_few(two: Path) -> None:
    met, short = (asked("--conf", two, "--guarantees", "--require", f"unserved<={steps}") for steps in (3, 2))
    assert met.returncode == 0
    assert "unserved = 3 falls short of --require unserved<=2" in words_of(short)


@pytest.mark.long
def test_what_is_cut_short_is_inconclusive_in_every_format(two: Path, tmp_path: Path) -> None:
    """The ledger of five bookies is too large for so little memory; the protocol of locks is not."""
    two.write_text(QUORUMS.format(5, 3, 2))
    command = ("--conf", two, "--guarantees", "--memory", "0.0021", "--workers", "1")
    page = tmp_path / "page.html"
    run = asked(*command, "--html", page)
    assert run.returncode == 20
    line = "disks is not known: with 1: "
    assert f"open: {two}:4: {line}over " in words_of(run)
    assert run.stdout.endswith(" not known: something was neither shown nor refuted (exit 20)\n")
    assert ", 0 short, " in run.stdout
    assert line in page.read_text()
    document = json.loads(asked(*command, "--json", "-").stdout)
    disks, *_ = document["guarantees"]["rows"]
    assert (document["status"], disks["verdict"], disks["figure"]) == (20, "inconclusive", None)
    assert {shortfall["kind"] for shortfall in document["guarantees"]["shortfalls"]} == {"open"}
    results = json.loads(asked(*command, "--sarif", "-").stdout)["runs"][0]["results"]
    assert {(result["kind"], result["level"]) for result in results} == {("open", "none")}
    suites = ElementTree.fromstring(asked(*command, "--junit", "-").stdout)
    assert (suites.attrib["failures"], suites.attrib["errors"]) == ("0", str(len(results)))
    assert "::warning file=" in asked(*command, "--annotations").stdout


@pytest.mark.parametrize("style", first_at_once(["text", "json", "junit", "sarif", "github"]))
def test_with_too_little_memory_to_begin_with_every_row_is_there(two: Path, style: str) -> None:
    run = asked("--conf", two, "--guarantees", "--memory", "0.0001", *printed_as(style))
    assert (run.returncode, run.stderr) == (20, "")
    said = words_of(run)
    for name in ("disks", "recoveries", "unserved"):
        assert f"{name} is not known: " in said
    assert "0.10 MiB of memory is too little" in said
    assert "raise --memory" in said


def test_the_budget_is_that_of_the_whole_command(one: Path, two: Path) -> None:
    run = asked("--conf", one, "--against", two, "--budget", "0.001")
    assert run.returncode == 20
    said = words_of(run)
    assert "there was no time to look" in said
    assert "exhausted" not in said


@pytest.mark.long
def test_what_there_was_no_time_for_is_not_known(two: Path) -> None:
    run = asked("--conf", two, "--require", "disks>=1", "--budget", "0.000001")
    assert run.returncode == 20
    said = words_of(run)
    assert "disks is not shown to meet --require disks>=1: with 1: there was no time to look" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--require", "disk>=1"), "there is no guarantee 'disk'"),
        (("--require", "disks=1"), "'disks=1' is not of the form NAME>=N, such as disks>=1"),
        (("--require", "unserved>=1"), "points the wrong way; write unserved<=1"),
        (("--bookies", "0"), "'0' is not a whole number from 1 on"),
        (("--bookies", "1"), "--bookies 1 is fewer than an ensemble, which has 2"),
        (("hash_range", "--require", "disks>=1"), "--require judges a configuration as a whole: leave out hash_range"),
        (("--set", "brokers=2", "--guarantees"), "--guarantees judges a configuration as a whole: leave out --set"),
        (("--pulsar", "4.0.8", "--against-pulsar", "4.0.8"), "which the cluster runs already: name by --pulsar the release"),
        (("--against-pulsar", "4.0.8", "--way", "1"), "--way has no use with --against-pulsar: leave one of them out"),
        (
            ("--against", "one.conf", "--namespace", "a=b.json"),
            "--namespace has no use with --against: give its policies by --conf",
        ),
        (("--guarantees", "--never", "termination"), "--never has no use with --guarantees: leave one of them out"),
        (("--way", "1", "--json", "-"), "--way prints one way as a story, and checks no more: leave out --json"),
        (("--guarantees", "--write-baseline", "a.json"), "--write-baseline accepts what a whole check finds"),
    ],
)
def test_what_is_asked_for_wrongly_is_told(two: Path, arguments: tuple[str, ...], message: str) -> None:
    run = asked("--conf", two, *arguments)
    assert run.returncode == 2
    assert message in run.stderr
    assert run.stderr.count("\n") == 1 or "--bookies 0" in " ".join(map(str, arguments))


@pytest.mark.long
def test_an_upgrade_says_which_known_bugs_go_and_come(two: Path) -> None:
    between = ("--conf", two, "--pulsar", "4.2.4", "--against-pulsar", "4.0.8")
    run = asked(*between)
    words = words_of(run)
    assert run.returncode == 14
    then, now = "Pulsar 4.0.8 with BookKeeper 4.17.2", "Pulsar 4.2.4 with BookKeeper 4.17.3"
    other = "Besides: a subscription can miss messages; messages can come twice or out of order;"
    unless = "except 2 ways only if the metadata are migrated to another store"
    assert begins(run, f"YES: {now} brings no way to lose a message, {unless}. {other}")
    assert f" It guarantees no less than on {then}." in words
    met = "10 known bugs come, and users can meet 4 of them with these settings: reset_dropped: "
    assert met in words
    come = words.partition("comes: removed_producer_publishes: ")[2].partition(" comes, ")[0]
    assert come.startswith("A ledger cannot be created: a message is late, with deduplication lost. messages can come")
    assert "run: fencepost check topic --bug removed_producer_publishes" in come
    migrated = "comes, only if the metadata are migrated to another store"
    assert f"{migrated} (an acknowledged message can be lost): goes_on_unprepared, start_missed" in words
    assert f"{migrated} (a subscription can miss messages): ids_begin_again" in words
    assert f"{migrated} (a topic can be out of service for good): release_refused, recreates_of_others" in words
    assert run.stdout.endswith("\nYES: no way to lose a message, unless you act; a known bug affects you (exit 14)\n")
    assert "applies: yes: messages can come twice" in words_of(asked(*between, "--all"))
    assert "brokers or bookies of both releases beside each other" in words
    comment, page = asked(*between, "--markdown", "-").stdout, two.with_name("page.html")
    assert "known bugs come, " in comment
    assert f"- YES: {now} brings no way to lose a message, {unless}." in comment
    report = json.loads(asked(*between, "--json", "-", "--html", page).stdout)["guarantees"]
    assert report["known_bugs"]["come"]["removed_producer_publishes"]["applies"] == "yes"
    assert "Known bugs that change from Pulsar 4.0.8" in page.read_text(encoding="utf-8")


def test_a_release_to_compare_with_is_one_that_is_modelled(two: Path) -> None:
    run = asked("--conf", two, "--against-pulsar", "1.22.0")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "Pulsar 1.22.0 is not modelled; there are " in run.stderr


def test_they_are_those_of_a_configuration() -> None:
    run = asked("--require", "disks>=1")
    assert (run.returncode, run.stderr) == (2, "fencepost: --guarantees needs a configuration: add --conf broker.conf\n")


@pytest.mark.long
@pytest.mark.parametrize("format", ["text", "sarif"])
def test_what_is_required_is_judged_in_a_whole_run(one: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    theory = [(THEORIES["hash_range"], Instance("for all numbers", {}))]
    monkeypatch.setattr(check, "planned_with_bugs", lambda asked, settings, releases: (theory, []))
    run = asked("--conf", one, "--require", "disks>=1", *printed_as(format))
    assert run.returncode == 16
    if format == "sarif":
        (sarif,) = json.loads(run.stdout)["runs"]
        named = [result["ruleId"] for result in sarif["results"]]
        assert [name for name in named if not name.startswith("answer/")] == ["guarantee/disks"]
        assert "hash_range/every_hash_is_in_a_bundle" in {rule["id"] for rule in sarif["tool"]["driver"]["rules"]}
    else:
        assert "short: " in run.stdout
        assert run.stdout.endswith("; less than is required (exit 16)\n")


def test_a_whole_check_opens_with_the_answers_and_then_says_what_falls_short(two: Path) -> None:
    run = asked("--conf", two, "--pulsar", "5.0.0-M1", "--budget", "0.000001")
    assert begins(
        run, f"{two}: Pulsar 5.0.0-M1, BookKeeper 4.18.0, 3 bookies (assumed), 2/2/2 NOT KNOWN whether messages can be"
    )
    assert "there was no time to look at disks, recoveries, unserved; raise --budget" in words_of(run)
    assert run.returncode == 20


def test_a_run_that_its_user_stopped_blames_no_limit(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def interrupted() -> Iterator[Interrupt]:
        interrupt = Interrupt()
        interrupt.requested = True
        yield interrupt

    monkeypatch.setattr(check, "interruptible", interrupted)
    monkeypatch.setattr(one_way, "interruptible", interrupted)
    run = asked("--conf", two, "--pulsar", "5.0.0-M1", "--workers", "1")
    said = "the run was interrupted before it could look at"
    assert run.returncode == 20
    assert f"{said} disks, recoveries, unserved" in words_of(run)
    assert "raise --budget" not in run.stdout
    assert "no time" not in run.stdout
    way = asked("--conf", two, "--pulsar", "5.0.0-M1", "--workers", "1", "--way", "1")
    assert way.stderr == f"fencepost: there is no way 1: this cluster has 0 ways; {said} the rest\n"


@pytest.mark.long
def test_a_changed_policy_is_no_loss_and_is_told(two: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.conf"
    other.write_text(f"{two.read_text()}loadBalancerLoadSheddingStrategy={SHEDDERS}UniformLoadShedder\n")
    page = tmp_path / "page.html"
    run = asked("--conf", other, "--against", two, *OLD, "--html", page)
    assert run.returncode == 0
    line = f"loadBalancerLoadSheddingStrategy: ThresholdShedder -> UniformLoadShedder ({other}:5)"
    assert f"\nLoad balancing changes:\n  {line.split(' (')[0]}" in run.stdout
    assert f"    fencepost policy compare --conf {other} --against {two} --pulsar" in run.stdout
    assert "<h2>Load balancing changes</h2>" in page.read_text()


@pytest.mark.long
def test_the_page_has_both_numbers_side_by_side_and_the_runs(one: Path, two: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert asked("--conf", one, "--against", two, "--html", page).returncode == 15
    written = page.read_text()
    row = written[written.index('id="disks"') :].partition("</details>")[0]
    assert '<div class="figure">1<small>before</small></div><div class="figure none">0<small>now</small></div>' in row
    assert '<span class="weaker">weaker</span>' in row
    assert "<code>lose_disk(b0)</code>" in row
    assert 'href="page-runs.html"' in written
    assert "acknowledged_entries_have_a_copy" in (tmp_path / "page-runs.html").read_text()


@pytest.mark.long
def test_the_name_of_a_file_is_text_on_the_page(two: Path, tmp_path: Path) -> None:
    conf, page = tmp_path / f"{hostile.NAME}.conf", tmp_path / "page.html"
    conf.write_bytes(two.read_bytes())
    asked("--conf", conf, "--guarantees", "--html", page)
    assert hostile.is_text_in(page.read_text(encoding="utf-8"))


def test_what_is_required_is_asked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short --time-limit still answers it."""
    names: list[str] = []

    class Stopped(Exception):
        pass

    def first(question: Guarantee, *_: object) -> None:
        names.append(question.name)
        raise Stopped

    monkeypatch.setattr(answering, "establish", first)
    conf = tmp_path / "broker.conf"
    conf.write_text("managedLedgerDefaultEnsembleSize=2\n")
    for required in ("recoveries>=1", "disks>=1"):
        with pytest.raises(Stopped):
            main(["check", "--conf", str(conf), "--guarantees", "--require", required, "--quiet"])
    assert names == ["recoveries", "disks"]


@pytest.mark.long
def test_an_upgrade_says_in_which_namespaces_it_costs_something_else(tmp_path: Path) -> None:
    conf, policies = tmp_path / "broker.conf", tmp_path / "orders.json"
    conf.write_text("managedLedgerDefaultEnsembleSize=1\nmanagedLedgerDefaultWriteQuorum=1\nmanagedLedgerDefaultAckQuorum=1\n")
    policies.write_text('{"replication_clusters": ["one"], "backlog_quota_map": {}, "deduplicationEnabled": true}\n')
    upgrade = ("--conf", conf, "--pulsar", "4.2.4", "--against-pulsar", "4.0.8", "--quiet")
    run = asked(*upgrade, "--namespace", f"orders/a={policies}")
    said = words_of(run)
    unless = "2 only if the metadata are migrated to another store"
    upgraded = "Pulsar 4.2.4 with BookKeeper 4.17.3"
    assert said.startswith(f"In orders/a: NO: {upgraded} brings 1 way to lose a message, and {unless}.")
    assert f"Elsewhere: YES: {upgraded} brings no way to lose a message, except {unless.replace('2', '2 ways')}." in said
    assert run.returncode == 14
    policies.write_text('{"replication_clusters": ["one"], "backlog_quota_map": {}, "deduplicationEnabled": false}\n')
    assert "In orders/a" not in asked(*upgrade, "--namespace", f"orders/a={policies}").stdout
