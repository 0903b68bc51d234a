"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from fencepost.checks.commands.list.run import mirrored
from fencepost.model.kernel.walks.course import Strategy
from tests.command import ROOT, command, fencepost, in_one_process, printed_as, stable
from tests.marking import first_at_once

STOCK = """\
# Number of bookies to use when creating a ledger
managedLedgerDefaultEnsembleSize=2
managedLedgerDefaultWriteQuorum=2
managedLedgerDefaultAckQuorum=2
"""
SMALL = ["ledger", "--set", "bookies=2", "ensemble=2", "write_quorum=2", "entries=1", "--quiet"]


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "broker.conf"
    path.write_text(STOCK)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (STOCK.replace("AckQuorum=2", "AckQuorum=3"), "managedLedgerDefaultAckQuorum"),
        (STOCK.replace("WriteQuorum=2", "WriteQuorum=two"), "managedLedgerDefaultWriteQuorum"),
        (STOCK + "zookeeperSessionExpiredPolicy=restart\n", "'restart' is not reconnect or shutdown"),
        (STOCK + "supportedNamespaceBundleSplitAlgorithms=topic_count_equally_divide\n", "no broker starts"),
    ],
)
def test_a_configuration_that_cannot_be_used(conf: Path, text: str, message: str) -> None:
    conf.write_text(text)
    run = fencepost("check", "--conf", conf)
    assert run.returncode == 150
    assert run.stdout == ""
    assert run.stderr.startswith(f"fencepost: {conf}")
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.long
def test_an_ack_quorum_of_one_is_legal_and_noted(conf: Path) -> None:
    conf.write_text(STOCK.replace("AckQuorum=2", "AckQuorum=1"))
    run = fencepost("check", "--conf", conf, "--set", "entries=1", "--property", "no_truncation")
    assert run.returncode == 14, "only bugs: a disk that is lost, here"
    assert "violated as expected" not in run.stdout
    assert "\n  violated " not in run.stdout
    assert "one lost disk loses entries" in run.stdout


@pytest.mark.long
def test_a_control_that_a_limit_keeps_from_failing_is_inconclusive_in_every_format() -> None:
    asked = ["check", "ownership", "--set", "disconnects=1", "expiries=1", "releases=1", "--property", "single_server"]
    asked += ["--by", "walks", "--walks", "1", "--steps", "2", "--quiet"]
    in_text = fencepost(*asked)
    assert in_text.returncode == 20
    last = "1 inconclusive: something was neither shown nor refuted (exit 20)"
    assert in_text.stdout.splitlines()[-1] == last
    in_json = fencepost(*asked, "--json", "-")
    assert (in_json.returncode, json.loads(in_json.stdout)["status"]) == (20, 20)
    assert 'failures="0" errors="1"' in fencepost(*asked, "--junit", "-").stdout
    (run,) = json.loads(fencepost(*asked, "--sarif", "-").stdout)["runs"]
    assert ([result["kind"] for result in run["results"]], run["invocations"][0]["executionSuccessful"]) == (["open"], False)
    assert "::warning " in fencepost(*asked, "--annotations").stdout


@pytest.mark.long
def test_a_bug_is_shown_with_its_shortest_trace_which_replays(tmp_path: Path) -> None:
    arguments = ["check", "ledger", "--bug", "recovery_reads_do_not_fence", "--property", "no_truncation"]
    one = fencepost(*arguments, "--trace-dir", tmp_path)
    assert one.returncode == 12
    assert "  13  writer  confirm(e0)" in one.stdout
    assert "\n  no_truncation does not hold in the last state\n" in one.stdout
    (file,) = tmp_path.glob("*.itf.json")
    replayed = fencepost("trace", "replay", file)
    assert (replayed.returncode, replayed.stdout) == (0, "replays: 13 steps, no_truncation does not hold in the last state\n")
    shown = fencepost("trace", "show", file)
    assert "  13  writer  confirm(e0)" in shown.stdout
    assert "  no_truncation does not hold in the last state\n    status = closed and e0 in confirmed =>" in shown.stdout
    of_b0 = fencepost("trace", "show", "--actor", "b0", file)
    assert "add(b0, e0)" in of_b0.stdout
    assert "stored[b1]" not in of_b0.stdout
    nobody = fencepost("trace", "show", "--actor", "b9", file)
    assert (nobody.returncode, nobody.stderr.count("\n")) == (2, 1)
    why = fencepost("trace", "explain", file, "--step", "0", "--action", "confirm(e0)")
    assert why.returncode == 0
    assert why.stdout.startswith("in the initial state\nconfirm(e0), model/bookkeeper/ledger/writer.py:")
    assert "\n  sent >= 0\n    sent -1\n" in why.stdout
    for wrong in (["--step", "14", "--action", "confirm(e0)"], ["--action", "confirm(e7)"]):
        refused = fencepost("trace", "explain", file, *wrong)
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    around = fencepost("trace", "neighbourhood", file, "--format", "graphml", "--limit", "5")
    assert around.returncode == 0
    assert around.stdout.startswith("<graphml ")
    assert "the first 19 states within 1 step of the trace" in around.stdout
    wrong = fencepost("trace", "neighbourhood", file, "--radius", "-1")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "fencepost: --radius is 0 or more, --limit from 1 to 5000\n"
    shrunk = fencepost("trace", "shrink", file, "--out", tmp_path / "short.itf.json")
    assert shrunk.returncode == 0
    assert "shrunk to 13 and 4; no run is shorter\nin a smaller instance 11 steps: bookies 3 -> 2, " in shrunk.stdout
    assert "instance  bookies=2 ensemble=2 write_quorum=2 ack_quorum=2 entries=1" in shrunk.stdout
    assert "replays: 11 steps" in fencepost("trace", "replay", tmp_path / "short.itf.json").stdout
    file.write_text(file.read_text().replace('"recovery_reads_do_not_fence"', ""))
    action = "send(e0)"
    for words in (["shrink", file], ["diff", file, file], ["explain", file, "--action", action], ["diagram", file]):
        refused = fencepost("trace", *words)
        assert (refused.returncode, refused.stdout) == (75, ""), words
        assert refused.stderr.startswith(f"fencepost: {file}: does not replay: step ")
    shown = fencepost("trace", "show", file)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\nbugs      none\n" in shown.stdout, "it shows what the file says"
    file.write_text(file.read_text()[:-20])
    broken = fencepost("trace", "show", file)
    assert broken.returncode == 150
    assert str(file) in broken.stderr


def test_json_has_the_documented_fields(tmp_path: Path) -> None:
    run = fencepost("check", "ledger", "--bug", "closes_at_lac", "--json", "-", "--trace-dir", tmp_path)
    assert run.returncode == 12
    report = json.loads(run.stdout)
    about = {"format", "status", "releases", "notes", "guarantees", "suspicions", "baseline"}
    assert set(report) == about | {"instances", "verdicts"}
    assert (report["format"], report["status"]) == (1, 12)
    row = next(row for row in report["verdicts"] if row["property"] == "no_truncation")
    fields = "protocol instance parameters bugs property kind verdict expected by reach note refines refused trace bug"
    assert set(row) == set(fields.split())
    assert (row["verdict"], row["by"], row["bugs"]) == ("violated", "exhaustive", ["closes_at_lac"])
    assert row["reach"]["steps"] == 11
    assert Path(row["trace"]).is_file()


@pytest.mark.parametrize(
    ("name", "begins"), [("junit", "<?xml version"), ("sarif", '{\n  "$schema"'), ("github", "ledger, bug ")]
)
def test_each_format_of_ci(name: str, begins: str) -> None:
    run = fencepost("check", "--bug", "closes_at_lac", "--property", "no_truncation", *printed_as(name), "--quiet")
    assert run.returncode == 12
    assert run.stdout.startswith(begins)
    assert "no_truncation is violated in 11 steps" in run.stdout
    assert not run.stderr


@pytest.mark.long
def test_a_property_is_checked_where_it_is(conf: Path) -> None:
    run = fencepost("check", "--conf", conf, "--property", "every_hash_is_in_a_bundle")
    assert run.returncode == 0
    assert run.stdout.startswith("defaultNumberOfNamespaceBundles = 4 (Pulsar's default)\n")
    assert run.stdout.endswith("1 proved: everything holds (exit 0)\n")


@pytest.mark.parametrize(("by", "verdict"), [("exhaustive", "exhausted"), ("walks", "sampled"), ("induction", "proved")])
def test_each_engine_gives_its_verdict(by: str, verdict: str) -> None:
    run = fencepost("check", *SMALL, "--by", by, "--walks", "500", "--property", "no_truncation", "--json", "-")
    assert run.returncode == 0, run.stdout + run.stderr
    (row,) = json.loads(run.stdout)["verdicts"]
    assert (row["property"], row["verdict"], row["by"]) == ("no_truncation", verdict, by)


@pytest.mark.long
def test_the_same_commands_print_the_same_in_another_process() -> None:
    asked = [["check", *SMALL, "--by", by, "--walks", "2000"] for by in ("exhaustive", "walks", "induction")]
    asked += [["check", "ledger", "--bug", "recovery_reads_do_not_fence", "--property", "no_truncation"]]
    asked += [["check", "--bug", "change_ignores_version", "--property", "open_ledgers_close"]]
    elsewhere = in_one_process(*([*words, "--workers", "1"] for words in asked))
    for one, words in zip(elsewhere, asked, strict=True):
        two = fencepost(*words, "--workers", "2")
        assert one.returncode == two.returncode
        assert stable(one.stdout) == stable(two.stdout)
    assert [one.returncode for one in elsewhere] == [0, 0, 0, 12, 13]


@pytest.mark.parametrize("strategy", first_at_once(get_args(Strategy)))
def test_walks_say_by_which_strategy_they_go(strategy: str) -> None:
    asked = ["check", *SMALL, "--by", "walks", "--walks", "50", "--property", "no_truncation", "--json", "-"]
    shown = fencepost(*asked, "--strategy", strategy).stdout
    assert json.loads(shown)["verdicts"][0]["reach"]["strategy"] == strategy
    assert f"50 walks ({strategy})" in shown
    assert (stable(fencepost(*asked).stdout) == stable(shown)) == (strategy == "held")


@pytest.mark.long
def test_a_search_that_runs_out_of_memory_claims_nothing() -> None:
    large = ["--set", "entries=3", "recoverers=2", "--quiet"]
    run = fencepost("check", "ledger", *large, "--by", "exhaustive", "--memory", "0.01")
    assert run.returncode == 20
    assert " MiB; search not exhausted" in run.stdout
    assert "exhausted  " not in run.stdout


@pytest.mark.long
def test_a_search_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    asked = ["check", "ledger", "--set", "entries=2", "--by", "exhaustive", "--quiet", "--property", "no_truncation"]
    instance = [*asked, "--checkpoint", tmp_path / "kept"]
    cut = fencepost(*instance, "--memory", "0.008")
    assert cut.returncode == 20
    resumed = fencepost(*instance, "--resume")
    whole = fencepost(*asked)
    assert stable(resumed.stdout) == stable(whole.stdout)
    other = fencepost(*instance[:3], "entries=1", *instance[4:], "--resume")
    assert other.returncode == 150
    assert "another protocol, instance or set of properties" in other.stderr


@pytest.mark.long
def test_ctrl_c_keeps_what_was_found() -> None:
    large = ("--set", "entries=3", "recoverers=2", "--by", "exhaustive", "--property", "no_truncation")
    arguments = command("check", "ledger", *large)
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert any("states/s" in line for line in running.stderr), "the search is under way"
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=60)
    assert running.returncode == 20, output + errors
    assert "interrupted after" in output


@pytest.mark.long
def test_sigterm_keeps_what_was_found_and_the_checkpoint(tmp_path: Path) -> None:
    large = ("--set", "entries=3", "recoverers=2", "--by", "exhaustive", "--property", "no_truncation", "--json", "-")
    arguments = command("check", "ledger", *large, "--checkpoint", tmp_path / "levels", "--workers", "1")
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert any("states/s" in line for line in running.stderr), "the search is under way"
        running.terminate()
        output, errors = running.communicate(timeout=60)
    assert running.returncode == 143, output + errors
    (verdict,) = json.loads(output)["verdicts"]
    assert (verdict["verdict"], json.loads(output)["status"]) == ("inconclusive", 20)
    assert list((tmp_path / "levels").iterdir())


LOFT = '''\
"""Sixteen pigeons, of which each sits in one of fifteen holes: that there is no room for all takes Z3 very long to see."""

from itertools import combinations
from threading import Thread
from time import process_time, sleep

import z3

from fencepost import And, Not, OneOf, Or, Protocol, Suite

ask = z3.Solver.check


def check(solver: z3.Solver, *assumptions: object) -> z3.CheckSatResult:
    """A long question is told of when it has taken a second of the processor."""
    until = process_time() + 1

    def tell() -> None:
        while process_time() < until:
            sleep(0.01)
        print("it thinks", flush=True)

    if len(solver.sexpr()) > 10_000:
        Thread(target=tell, daemon=True).start()
    return ask(solver, *assumptions)


z3.Solver.check = check


def loft(*, bugs: tuple[str, ...] = ()) -> Protocol:
    """The loft."""
    p = Protocol("loft", active=bugs)
    p.flag("sits", per=(p.universe("pigeon", 16), p.universe("hole", 15)), init=OneOf((False, True)))

    @p.step(by="nobody")
    def stay() -> object:
        """Nothing happens."""
        return True, {}

    return p


def properties(p: Protocol) -> Suite:
    suite, sits = Suite(p), p.state.sits

    @suite.always
    def anything() -> object:
        """Anything at all."""
        return True

    @suite.lemma
    def one_is_outside() -> object:
        """There are not enough holes."""
        alone = [Not(And(sits[a, h], sits[b, h])) for h in range(15) for a, b in combinations(range(16), 2)]
        return Not(And(*alone, *(Or(*(sits[p, h] for h in range(15))) for p in range(16))))

    return suite
'''


@pytest.mark.long
def test_sigterm_ends_a_solver_that_thinks(tmp_path: Path) -> None:
    """Python runs no handler while Z3 does."""
    file = tmp_path / "loft.py"
    file.write_text(LOFT, encoding="utf-8")
    asked = command("check", file, "--by", "induction", "--workers", "1")
    with subprocess.Popen(asked, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "it thinks\n"
        running.terminate()
        output, _ = running.communicate(timeout=60)
    assert running.returncode == 143, output
    assert "inconclusive" in output


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["check", "--prop", "no_truncation"], "--prop"),
        (["check", "--no-s"], "--no-s"),
        (["policy", "compare", "--confid", "0.9", "--conf", "AvgShedder", "--out", "there"], "--confid"),
        (["list", "--def"], "--def"),
        (["trace", "show", "--act", "b0", "some.itf.json"], "--act"),
    ],
)
def test_no_option_is_abbreviated(words: list[str], option: str) -> None:
    run = fencepost(*words)
    assert run.returncode == 2
    assert option in run.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "legder"], "did you mean ledger?"),
        (["check", "--set", "bookie=3"], "did you mean bookies?"),
        (["check", "--set", "bookies=three"], "bookies is a number from 0 on, not 'three'"),
        (["check", "--set", "changes=-1"], "changes is a number from 0 on, not '-1'"),
        (["check", "--set", "entries=0"], "ledger: entries is at least 1"),
        (["check", "election", "--set", "brokers=0"], "election: brokers is at least 1"),
        (["check", "--set", "bookies=2"], "does not hold"),
        (["check", "--bug", "no_such"], "there is no bug 'no_such'; to see those that there are: fencepost list "),
        (["check", "--bug", "closes_at_lax"], "there is no bug 'closes_at_lax' (did you mean closes_at_lac?)"),
        (["check", *SMALL, "--property", "no_such"], "has no property 'no_such' here; it has "),
        (["check", *SMALL, "--property", "no_truncatoin"], "(did you mean no_truncation?)"),
        pytest.param(["check", "--property", "no_truncatoin"], "(did you mean no_truncation?)", marks=pytest.mark.long),
        pytest.param(
            ["check", "--property", "no_truncation", "--property", "leader_emerges"],
            "nothing has all of these properties",
            marks=pytest.mark.long,
        ),
        (["check", *SMALL, "--resume"], "add --checkpoint DIR"),
        (["check", "--workers", "0"], "not a whole number from 1 on"),
    ],
)
def test_wrong_usage_is_said_in_a_line(arguments: list[str], message: str) -> None:
    run = fencepost(*arguments)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_listing_finds_the_actions_of_a_method() -> None:
    run = fencepost("list", "--java", "LedgerRecoveryOp.doRecoveryRead")
    assert (run.returncode, run.stdout) == (0, "ledger  start_reading  LedgerRecoveryOp.doRecoveryRead\n")
    balancing = "policy  uniform_load_shedder.UniformLoadShedder  UniformLoadShedder.findBundlesForUnloading\n"
    assert mirrored("uniformloadshedder") == balancing
    assert "topic  collect_inactive  PersistentTopic.checkGC\n" in mirrored("checkGC"), "other instances have it"
    assert "topic  trim_breaks_off  " in mirrored("advanceCursorsIfNecessary"), "a bug has it"
    unknown = fencepost("list", "--java", "LedgerRecoveryOp.recoverAdd")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr.startswith("fencepost: no action mirrors a method with 'LedgerRecoveryOp.recoverAdd' in its name")
    assert "(did you mean LedgerRecoveryOp." in unknown.stderr
    assert unknown.stderr.endswith("; `fencepost list PROTOCOL` shows what the actions of one mirror\n")


@pytest.mark.long
def test_listing_names_every_property_and_bug() -> None:
    run = fencepost("list")
    assert run.returncode == 0
    properties, bugs = ("no_truncation", "no_deadlock"), ("bookkeeper#2614", "copies that go bad on disk")
    for word in (*properties, *bugs, "recovery_reads_do_not_fence", "write_quorum", "standard"):
        assert word in run.stdout


def test_help_teaches() -> None:
    run = fencepost("check", "--help")
    assert run.returncode == 0
    assert "examples:" in run.stdout
    assert "exit status:" in run.stdout


def test_a_reader_that_goes_away_gets_no_traceback() -> None:
    piped = f"{' '.join(command('list', 'ledger'))} | head -n 1"
    run = subprocess.run(["bash", "-c", piped], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout.startswith("ledger: ")
    assert run.stderr == ""


@pytest.mark.long
def test_nowhere_to_print_is_said_in_a_line() -> None:
    for where, message in ((">&-", "standard output is closed"), ("> /dev/full", "No space left on device")):
        printed = f"{' '.join(command('list', 'ledger'))} {where}"
        run = subprocess.run(["bash", "-c", printed], cwd=ROOT, capture_output=True, text=True, check=False)
        assert run.returncode == 153
        assert (message in run.stderr, run.stderr.count("\n")) == (True, 1)


@pytest.mark.parametrize(
    ("option", "path", "why"),
    [
        ("--trace-dir", "file", "is a file; name a folder"),
        ("--html", "file/page.html", "cannot be written: Not a directory"),
    ],
)
def test_where_nothing_can_be_written_is_said_before_the_check(tmp_path: Path, option: str, path: str, why: str) -> None:
    (tmp_path / "file").write_text("")
    run = fencepost("check", *SMALL, option, tmp_path / path)
    assert (run.returncode, run.stdout) == (153, "")
    assert run.stderr == f"fencepost: {tmp_path / path}: {why}\n"


def test_what_a_violation_leaves_open_is_told_together() -> None:
    run = fencepost("check", *SMALL, "--bug", "closes_at_lac")
    assert run.returncode == 12
    assert run.stdout.count("\n  violated     no_truncation: ") == 1
    assert "\n  inconclusive no_divergence, ends_and_lengths_agree, " in run.stdout
    assert run.stdout.count("\n  the search ended with the shortest violation, after ") == 1


@pytest.mark.long
def test_what_never_comes_is_shown_with_its_lasso_which_replays(tmp_path: Path) -> None:
    arguments = ["check", "--bug", "change_ignores_version", "--property", "open_ledgers_close", "--trace-dir", tmp_path]
    one = fencepost(*arguments)
    assert one.returncode == 13
    assert "the run stops after step 7: nothing more is obliged to happen" in one.stdout
    assert one.stdout.endswith("1 violated: a liveness property is violated (exit 13)\n")
    (file,) = tmp_path.glob("*.itf.json")
    assert fencepost("trace", "replay", file).stdout == "replays: 7 steps, open_ledgers_close is never fulfilled\n"
    assert "the run stops after step 7" in fencepost("trace", "show", file).stdout


@pytest.mark.parametrize("by", ["walks", "induction"])
def test_other_engines_say_that_what_must_come_is_no_matter_for_them(by: str) -> None:
    run = fencepost("check", *SMALL, "--by", by, "--property", "open_ledgers_close", "--walks", "9")
    assert run.returncode == 75
    assert f"not judged by {by}: open_ledgers_close" in run.stdout
