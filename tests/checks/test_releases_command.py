"""``fencepost check`` and ``list`` with releases: bugs and their reports in every format, exit status 14, and baselines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from fencepost.checks.commands.check import jobs
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.results.findings import Checked
from fencepost.model.releases import NEWEST, PULSAR, Releases
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.command import fencepost, in_one_process, stable
from tests.marking import first_at_once

pytestmark = pytest.mark.xdist_group("bugs of releases")

OLD = ["check", "election", "--set", "brokers=2", "--pulsar", "4.0.8", "--quiet"]
BUGS = [
    "same_value",
    "asks_during_election",
    "closed_elects_again",
    "closed_goes_on",
    "failure_not_retried",
    "deletion_sent_again",
    "event_lost",
]


@pytest.fixture(scope="module", autouse=True)
def _searched_once() -> Iterator[None]:
    """What a job finds is found once, and told as often as it is asked for: these tests are about the telling."""
    search, cache = jobs._done, dict[str, Checked]()

    def once(job: jobs.Job, asked: CheckRequest, taken: Mapping[str, Value], means: Means) -> Checked:
        what = repr((job, asked.bug, asked.set, taken, means.approach))
        if what not in cache:
            cache[what] = search(job, asked, taken, means)
        return cache[what]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jobs, "_done", once)
        yield


@pytest.mark.long
def test_the_bugs_of_a_release_are_told() -> None:
    run = fencepost(*OLD)
    assert run.returncode == 14
    heading = "instances: without the known bugs of these releases, unless one is named\n"
    assert run.stdout.startswith(f"releases: Pulsar 4.0.8 with BookKeeper 4.17.2\n{heading}election, as set: ")
    assert [line.split()[2].rstrip(":") for line in run.stdout.splitlines() if line.startswith("  known bug ")] == BUGS
    assert "(electing_brokers_do_not_choose is violated in 2 steps)" in run.stdout
    assert "since 2.8.0; fixed in 4.2.4, 5.0.0-M1; pulsar#25999, pulsar#26000" in run.stdout
    assert "avoided by advertisedAddress" in run.stdout
    assert "\n  2  b0      choose(b0, b0)" in run.stdout
    assert run.stdout.endswith("\n7 known bugs, 1 suspicious: a known bug affects this release (exit 14)\n")


@pytest.mark.long
@pytest.mark.parametrize("release", first_at_once(PULSAR))
def test_no_bug_is_told_that_the_release_does_not_have(release: str) -> None:
    run = fencepost("check", "election", "--set", "brokers=2", "--pulsar", release, "--json", "-", "--quiet")
    report, entry = json.loads(run.stdout), PROTOCOLS["election"]
    bugs = [row["property"] for row in report["verdicts"] if row["kind"] == "known bug"]
    assert bugs == list(entry.bugs_of(Releases.of(release)))
    assert {row["verdict"] for row in report["verdicts"] if row["kind"] == "known bug"} == {"known bug"}
    assert run.returncode == 14


@pytest.mark.long
def test_settings_may_keep_a_bug_from_showing() -> None:
    run = fencepost("check", "election", "--set", "brokers=2", "crashes=0", "--pulsar", "4.2.4", "--quiet")
    assert "  known bug    same_value: " in run.stdout
    assert "  not here     failure_not_retried: " in run.stdout
    misfit = fencepost("check", "split", "--set", "hashes=3", "--pulsar", "2.10.1", "--quiet")
    assert misfit.returncode == 14
    assert "does not fit what is set: " in misfit.stdout


@pytest.mark.long
def test_json_says_what_is_known_of_a_bug(tmp_path: Path) -> None:
    report = json.loads(fencepost(*OLD, "--json", "-", "--trace-dir", tmp_path).stdout)
    assert (report["status"], report["releases"]) == (14, {"pulsar": "4.0.8", "bookkeeper": "4.17.2"})
    row = next(row for row in report["verdicts"] if row["property"] == "asks_during_election")
    assert (row["verdict"], row["kind"], row["bugs"]) == ("known bug", "known bug", ["asks_during_election"])
    bug = row["bug"]
    assert (bug["violates"], bug["fixed"]) == ("electing_brokers_do_not_choose", "4.2.4, 5.0.0-M1")
    assert bug["present"] == ["2.10.1", "3.0.7", "4.0.8"]
    assert bug["upstream"][0] == {"issue": "pulsar#25999", "address": "https://github.com/apache/pulsar/issues/25999"}
    assert fencepost("trace", "replay", row["trace"]).returncode == 0
    others = [row["bug"] for row in report["verdicts"] if row["kind"] != "known bug"]
    assert others
    assert set(others) == {None}


@pytest.mark.long
def test_each_format_of_ci_tells_bugs(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    junit = fencepost(*OLD, "--junit", "-", "--html", page)
    assert junit.returncode == 14
    suites = fromstring(junit.stdout)
    failures = {case.get("name"): case.find("failure") for case in suites.iter("testcase")}
    assert {name for name, failure in failures.items() if failure is not None} == set(BUGS)
    failure = failures["asks_during_election"]
    assert failure is not None
    assert failure.get("message") == (
        "asks_during_election, known bug of Pulsar 4.0.8: electing_brokers_do_not_choose is violated in 2 steps"
    )
    assert "costs: " in str(failure.text)
    of_it = [suite for suite in suites if suite.find("testcase[@name='asks_during_election']") is not None]
    assert [p.get("value") for p in of_it[0].iter("property") if p.get("name") == "bug"] == ["asks_during_election"]
    sarif = json.loads(fencepost(*OLD, "--sarif", "-").stdout)["runs"][0]
    assert [result["ruleId"] for result in sarif["results"] if result["level"] == "error"] == [f"election/{h}" for h in BUGS]
    github = fencepost(*OLD, "--annotations")
    assert github.stdout.count("::error ") == len(BUGS)
    assert "asks_during_election (election, known bug of Pulsar 4.0.8" in page.read_text()


@pytest.mark.long
def test_a_configuration_is_checked_with_the_newest_release_unless_one_is_named(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("zookeeperSessionExpiredPolicy=reconnect\n")
    asked = ["check", "unload", "--conf", conf, "--property", "active_bundles_are_locked", "--quiet"]
    run, older = fencepost(*asked), fencepost(*asked, "--pulsar", "4.2.4")
    assert f"releases: {Releases.of()}, assumed; override with --pulsar and --bookkeeper\n" in run.stdout
    assert f"unload, known bug of Pulsar {NEWEST} with deletion_sent_again" in run.stdout
    assert "stale_unload" not in run.stdout, "it is fixed"
    assert run.returncode == 0
    assert "releases: Pulsar 4.2.4 with BookKeeper 4.17.3\n" in older.stdout
    assert "unload, known bug of Pulsar 4.2.4 with stale_unload" in older.stdout
    assert older.returncode == 14
    named = fencepost("check", "hash_range", "--conf", conf, "--bookkeeper", "4.18.0", "--quiet")
    assert f"releases: Pulsar {NEWEST} with BookKeeper 4.18.0\n" in named.stdout
    assert named.returncode == 0


def test_a_release_that_is_not_modelled_is_said_in_a_line() -> None:
    for option, system in (("--pulsar", "Pulsar"), ("--bookkeeper", "BookKeeper")):
        run = fencepost("check", "election", option, "1.2.3")
        assert (run.returncode, run.stdout) == (2, "")
        assert run.stderr.startswith(f"fencepost: {system} 1.2.3 is not modelled; there are ")
        assert run.stderr.count("\n") == 1


def test_without_releases_there_are_no_bugs() -> None:
    run = fencepost("check", "election", "--set", "brokers=2", "--quiet")
    assert run.returncode == 0
    assert "known bug" not in run.stdout


@pytest.mark.deep
def test_it_is_the_same_in_another_process() -> None:
    asked = OLD, [*OLD, "--json", "-"]
    here, there = [fencepost(*command) for command in asked], in_one_process(*asked)
    assert [stable(run.stdout) for run in here] == [stable(run.stdout) for run in there]


@pytest.mark.long
def test_a_baseline_is_written_filled_in_and_kept_to(tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    written = fencepost(*OLD, "--write-baseline", file)
    assert written.returncode == 0
    assert f"\nbaseline: {file}\n" in written.stdout
    assert written.stdout.count("baseline: without a reason: ") == len(BUGS) + 1
    file.write_text(file.read_text().replace('"reason": ""', '"reason": "known to the team"'))

    run = fencepost(*OLD, "--baseline", file)
    assert run.returncode == 0
    assert run.stdout.count("\n               reason: known to the team\n") == len(BUGS)
    assert "baseline:" not in run.stdout
    assert run.stdout.endswith("passed except for what is accepted, with warnings (exit 0)\n")
    as_json = json.loads(fencepost(*OLD, "--baseline", file, "--json", "-").stdout)
    assert as_json["baseline"] == {"new": [], "gone": [], "unexplained": [], "unchecked": 0, "carried": 0}
    assert {row["bug"]["accepted"] for row in as_json["verdicts"] if row["bug"]} == {"known to the team"}

    before = file.read_bytes()
    assert fencepost(*OLD, "--write-baseline", file).returncode == 0
    assert file.read_bytes() == before


@pytest.mark.long
def test_what_is_new_or_gone_fails(tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    fencepost(*OLD, "--write-baseline", file)
    newer = fencepost(*OLD[:-2], "4.2.4", "--quiet", "--baseline", file)
    assert newer.returncode == 0, "what is accepted of one release is accepted of the next"
    assert "baseline: new: " not in newer.stdout
    assert " accepted of another release, and so of this one\n" in newer.stdout
    file.write_text(file.read_text().replace("same_value", "same_name"))
    changed = fencepost(*OLD, "--baseline", file)
    assert "baseline: new: election, known bug of Pulsar 4.0.8: same_value (known bug)\n" in changed.stdout
    assert "baseline: gone: election, known bug of Pulsar 4.0.8: same_name (known bug)\n" in changed.stdout
    assert changed.returncode == 14
    gone = [*OLD, "--set", "closes=0", "--baseline", file]
    file.write_text(file.read_text().replace("same_name", "same_value").replace("}\n  ]", "},\n    {}\n  ]"))
    broken = fencepost(*gone)
    assert (broken.returncode, broken.stdout) == (150, "")
    assert broken.stderr == f"fencepost: {file}: is not a baseline; write one with --write-baseline\n"


def test_only_what_is_gone_fails_as_an_assumption(tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    fencepost(*OLD, "--write-baseline", file)
    row = next(line for line in file.read_text().splitlines() if "same_value" in line)
    file.write_text(file.read_text().replace(row, f"{row.rstrip(',')},\n{row.replace('same_value', 'same_name')}"))
    run = fencepost(*OLD, "--baseline", file, "--junit", "-")
    assert run.returncode == 10
    error = fromstring(run.stdout).find(".//testcase[@name='run']/error")
    assert error is not None
    assert "baseline: " in str(error.get("message"))
    text = fencepost(*OLD, "--baseline", file)
    assert text.stdout.endswith("differs from the baseline (exit 10)\n")


@pytest.mark.long
def test_the_list_has_releases_and_who_has_which_bug() -> None:
    everything = fencepost("list").stdout
    assert everything.startswith("releases that are modelled\n")
    assert "4.2.4 (which ships BookKeeper 4.17.3)" in everything
    assert not fencepost("list", "election").stdout.startswith("releases")
    table = fencepost("list", "election", "--bugs").stdout.splitlines()
    assert table[2].split() == ["bug", *PULSAR, "since", "fixed", "upstream"]
    row = next(line for line in table if "asks_during_election" in line)
    assert row.split()[:4] == ["asks_during_election", "yes", "yes", "yes"]
    assert row.split()[4:] == ["2.8.0", "4.2.4,", "5.0.0-M1", "pulsar#25999,", "pulsar#26000"]
    assert [line.split()[0] for line in table[3:]] == list(PROTOCOLS["election"].bugs)
    assert "not traced through releases" in fencepost("list", "hash_range", "--bugs").stdout
    assert fencepost("list", "elektion", "--bugs").returncode == 2
