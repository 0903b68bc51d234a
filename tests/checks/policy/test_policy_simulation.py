"""``fencepost policy simulate``, run as a user runs it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.cli import main
from fencepost.model.balance.simulation.measures import MEASURES
from fencepost.model.balance.simulation.scenario import SCENARIOS
from fencepost.model.balance.simulation.world import World
from tests.checks.policy.asking import asked as ask_policy
from tests.command import Ran

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "docs" / "examples" / "policy"
RESTARTED = EXAMPLES / "restarted.json"
SMALL = ("--brokers", "3", "--bundles", "12", "--namespaces", "2", "--topics-per-bundle", "3", "--hours", "0.7")


def asked(*arguments: str | Path) -> Ran:
    return ask_policy("simulate", *arguments)


def answered(*arguments: str | Path) -> Any:
    status, out, err = asked(*arguments, "--format", "json", "--quiet")
    assert err == ""
    run = json.loads(out)
    assert run["status"] == status
    return run


def test_a_run_is_told() -> None:
    switched_off = ("--set", "loadBalancerSheddingEnabled=false", "loadBalancerAutoBundleSplitEnabled=false")
    status, out, err = asked(*SMALL, "--scenario", "crash", "--actions", "3", *switched_off, "--quiet")
    assert (status, err) == (0, "")
    assert out.startswith(
        "ThresholdShedder and LeastLongTermMessageRate, Pulsar 4.2.4\ncrash: 0.7 h, seed 0; 3 brokers, 12 bundles\n"
    )
    assert re.search(r"^actions: crash 1, assign 4, start 1", out, re.MULTILINE)
    assert "    0:30  crash   broker-3:8080\n" in out
    assert re.search(r"^  and \d+ more; --actions says", out, re.MULTILINE)
    assert "replayed through ownership, unload and split: 8 actions, 2 of them different" in out
    assert out.endswith("\nthe protocols allow all that was done (exit 0)\n")


@pytest.mark.parametrize("shedder", ["ThresholdShedder", "TransferShedder"])
def test_the_same_arguments_print_the_same(shedder: str) -> None:
    arguments = (*SMALL, "--shedder", shedder, "--format", "json", "--seed", "4")
    assert asked(*arguments) == asked(*arguments)
    assert asked(*arguments) != asked(*arguments[:-1], "5")


def test_json_has_everything() -> None:
    run = answered(*SMALL, "--scenario", "restart", "--pulsar", "2.10", "--placement", "RoundRobinBrokerSelector")
    assert (run["shedder"], run["placement"], run["pulsar"]) == ("ThresholdShedder", "RoundRobinBrokerSelector", "2.10.1")
    assert (run["scenario"], run["seed"], run["minutes"]) == ("restart", 0, 42)
    assert list(run["measures"]) == list(MEASURES)
    assert all(len(column) == 42 for column in [*run["usage"].values(), run["offered"], run["carried"], run["bundles"]])
    assert run["usage"]["broker-3:8080"][29:33].count(None) == 2
    stop = next(action for action in run["actions"] if action["kind"] == "stop")
    assert stop | {"minute": 30, "source": "broker-3:8080", "bundle": "", "refused": "", "boundaries": []} == stop
    assert run["replayed"]["actions"] == sum(a["kind"] not in ("stop", "start") for a in run["actions"]) + sum(
        a["kind"] == "assign"
        for a in run["actions"]  # what the stopped broker gave up
    )
    assert run["violations"] == []


def test_what_cluster_and_protocols_refuse_is_counted_and_no_violation() -> None:
    arguments = ("--shedder", "DeviationShedder", "--scenario", "steady", "--hours", "0.1")
    run = answered(*arguments)
    assert (run["status"], run["violations"]) == (0, [])
    assert len(run["refusals"]) == run["measures"]["refused"] > 0
    assert all(refusal["action"]["refused"] for refusal in run["refusals"])
    _, out, _ = asked(*arguments, "--actions", "2")
    assert f"\n  refused, by the protocols too, so that nothing changed: {len(run['refusals'])}\n    0:01 unload " in out
    assert "in ownership, start_release(b1, u0) cannot happen there" in out
    assert re.search(r"^  and \d more refusals", out, re.MULTILINE)


@pytest.mark.parametrize(("version", "some"), [("current", False), ("2.10", True)])
def test_splits_of_what_an_old_report_lists_are_passed_over_or_refused(version: str, some: bool) -> None:
    run = answered(*SMALL[:-2], "--hours", "0.1", "--load", "900", "--pulsar", version)
    assert (run["status"], run["violations"]) == (0, [])
    assert run["measures"]["splits"] > 0
    assert {refusal["action"]["kind"] for refusal in run["refusals"]} == ({"split"} if some else set())
    assert all("is not in the layout of its namespace" in refusal["said"] for refusal in run["refusals"])


def test_what_was_done_and_the_protocols_do_not_allow_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "_not_owner", lambda world, bundle, broker: "")
    arguments = ("--shedder", "DeviationShedder", "--scenario", "steady", "--hours", "0.1")
    run = answered(*arguments)
    assert (run["status"], run["refusals"]) == (12, [])
    assert {violation["action"]["kind"] for violation in run["violations"]} == {"unload"}
    assert "\n  violated: 0:01 unload " in asked(*arguments).stdout


def test_a_snapshot_is_where_it_begins() -> None:
    run = answered("--snapshot", RESTARTED, "--scenario", "steady")
    assert [round(column[0], 3) for column in run["usage"].values()] == [0.5] * 5 + [0.0]
    assert run["actions"] == []


Document = dict[str, Any]


def _first_source(run: Document) -> str:
    return str(run["actions"][0]["source"])


@pytest.mark.parametrize(
    ("snapshot", "others", "is_as_reported"),
    [
        # pulsar#18215: neither an empty broker among equals nor one that has most of very little is ever looked after
        ("restarted", (), lambda run: run["actions"] == [] and run["usage"]["broker-6:8080"][-1] == 0),
        ("nearly-idle", (), lambda run: run["actions"] == [] and run["measures"]["imbalance"] > 2),
        # pulsar#18173: the average remembers what is over
        ("history-1", (), lambda run: [action["minute"] for action in run["actions"]] == [0, 20, 30]),
        # pulsar#17456: an idle broker stays idle, up to 2.10
        ("idle-broker", ("--pulsar", "2.10"), lambda run: run["actions"] == []),
        ("idle-broker", (), lambda run: run["usage"]["broker-3:8080"][-1] > 0.15),
        # pulsar#21016: the wrong broker sheds, up to 2.10
        ("wrong-broker", ("--pulsar", "2.10"), lambda run: _first_source(run) == "broker-2:8080"),
        ("wrong-broker", (), lambda run: _first_source(run) == "broker-1:8080"),
        # pulsar#21905: so much is moved that the other broker is overloaded for good, up to 4.0
        ("delta", ("--pulsar", "2.10"), lambda run: run["usage"]["broker-2:8080"][-1] > 1.5),
        ("delta", ("--pulsar", "4.0.8"), lambda run: run["usage"]["broker-2:8080"][-1] > 1.5),
        ("delta", (), lambda run: run["usage"]["broker-2:8080"][-1] < 0.85),
        # pulsar#21299, pulsar#13915: below the minima nothing is done; without them everything goes to and fro, up to 4.0
        ("small-1", (), lambda run: run["actions"] == []),
        (
            "small-1",
            ("--pulsar", "4.0.8", "--conf", EXAMPLES / "no-minimum.conf"),
            lambda run: [action["source"] for action in run["actions"]][::9] == ["broker-1:8080", "broker-1:8080"],
        ),
    ],
)
def test_what_users_report_comes_out(
    snapshot: str, others: tuple[str | Path, ...], is_as_reported: Callable[[Document], bool]
) -> None:
    shedder = "ThresholdShedder" if snapshot in ("restarted", "nearly-idle", "history-1") else "UniformLoadShedder"
    arguments = ("--snapshot", EXAMPLES / f"{snapshot}.json", "--scenario", "steady", "--shedder", shedder)
    run = answered(*arguments, *others)
    assert is_as_reported(run)
    assert run["violations"] == []


def test_settings_can_be_others(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("lowerBoundarySheddingEnabled=true\nloadBalancerSheddingIntervalMinutes=7\n", encoding="utf-8")
    arguments = ("--snapshot", RESTARTED, "--scenario", "steady", "--conf", conf)
    assert answered(*arguments)["actions"][0]["minute"] == 6
    run = answered(*arguments, "--set", "loadBalancerSheddingIntervalMinutes=3", "loadBalancerEnabled=TRUE")
    assert run["actions"][0]["minute"] == 2
    assert answered(*arguments, "--set", "loadBalancerEnabled=false")["actions"] == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--set", "lowerBoundaryShedingEnabled=true"), 2, "(did you mean lowerBoundarySheddingEnabled?)"),
        (("--set", "lowerBoundarySheddingEnabled"), 2, "write KEY=VALUE"),
        (("--set", "loadBalancerEnabled=yes"), 150, "is neither true nor false; write loadBalancerEnabled=true"),
        (("--set", "maxUnloadPercentage=much"), 150, "--set: maxUnloadPercentage = 'much' is not a number"),
        (("--set", "loadBalancerSheddingIntervalMinutes=0"), 150, "is not an interval; write one of a minute or more"),
        (("--set", "defaultNamespaceBundleSplitAlgorithm=halves"), 150, "is not among range_equally_divide"),
        (("--set", "loadBalancerBandwithInResourceWeight=1"), 2, "(did you mean loadBalancerBandwidthInResourceWeight?)"),
        (("--scenario", "flood"), 2, "there is no scenario 'flood'; there is\n  steady"),
        (("--hours", "0"), 2, "'0' is not a time in hours"),
        (("--hours", "nan"), 2, "'nan' is not a time in hours"),
        (("--seed", "-1"), 2, "'-1' is not a whole number from 0"),
        (("--snapshot", "absent.json"), 150, "absent.json: there is no such file"),
        (("--snapshot", str(RESTARTED), "--brokers", "3"), 2, "--brokers is of a generated cluster"),
        (("--rates", "absent.csv"), 150, "absent.csv: there is no such file"),
        (("--rates", "absent.csv", "--namespaces", "3"), 2, "with --rates the topics say it"),
        (("--conf", "absent.conf"), 150, "absent.conf: there is no such file"),
        (("--shedder", "NoShedder"), 2, "'NoShedder' (did you mean AvgShedder?) is not among"),
    ],
)
def test_mistakes_are_told(arguments: tuple[str, ...], status: int, message: str) -> None:
    code, out, err = asked(*arguments)
    assert (code, out) == (status, "")
    assert message in err
    assert "Traceback" not in err


def test_a_snapshot_that_is_no_cluster_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    overlapping = {"n/0x00000000_0x20000000": {}, "n/0x10000000_0x30000000": {}}
    path.write_text(json.dumps({"brokers": {"b": {}}, "bundles": overlapping}), encoding="utf-8")
    status, _, err = asked("--snapshot", path)
    assert (status, err) == (
        150,
        f"fencepost: {path}: the bundles of n overlap: another one begins or ends inside 0x00000000_0x20000000\n",
    )


def test_a_run_is_kept(tmp_path: Path) -> None:
    status, out, _ = asked(*SMALL, "--scenario", "crash", "--out", tmp_path / "run")
    assert status == 0
    assert f"written: {tmp_path / 'run' / 'run.json'}" in out
    run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    usage = list(csv.reader((tmp_path / "run" / "usage.csv").open(encoding="utf-8")))
    assert usage[0] == ["minute", "broker-1:8080", "broker-2:8080", "broker-3:8080"]
    assert len(usage) == 43
    assert usage[31][3] == ""  # it is down
    assert float(usage[1][1]) == pytest.approx(run["usage"]["broker-1:8080"][0], rel=1e-5)
    actions = list(csv.DictReader((tmp_path / "run" / "actions.csv").open(encoding="utf-8")))
    assert [action["kind"] for action in actions] == [action["kind"] for action in run["actions"]]


RATES = """minute,topic,msgRateIn,msgThroughputIn,unit
0,persistent://shop/sales/orders,900,1000,x
0,persistent://shop/mail/letters,100,0,x
2,persistent://shop/sales/orders,300,0,x
1,persistent://shop/mail/late,50,0,x
"""


def test_recorded_rates_are_what_topics_carry(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text(RATES, encoding="utf-8")
    arguments = ("--rates", path, "--scenario", "steady", "--brokers", "2", "--bundles", "6", "--hours", "0.1", "--load", "40")
    run = answered(*arguments)
    assert run["offered"] == [1000, 1050, 450, 450, 450, 450]
    assert sum(column[1] for column in run["usage"].values()) == pytest.approx(0.8)  # the busiest minute: 40 % of two brokers
    assert all(action["bundle"].startswith(("shop/sales/", "shop/mail/")) for action in run["actions"])


def test_recorded_rates_of_a_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("minute,topic,msgRateIn\n3,persistent://public/default/a,400\n", encoding="utf-8")
    run = answered("--rates", path, "--snapshot", RESTARTED, "--scenario", "steady", "--hours", "0.1")
    assert run["offered"] == [0, 0, 0, 400, 400, 400]
    path.write_text(RATES, encoding="utf-8")
    status, _, err = asked("--rates", path, "--snapshot", RESTARTED)
    assert (status, "there are no bundles of shop/sales, of which topics are recorded" in err) == (150, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ":1: the header needs minute, topic and at least one of msgRateIn"),
        ("minute,topic\n0,persistent://a/b/c\n", ":1: the header needs"),
        ("minute,topic,msgRateIn\n", "has no rows below its header"),
        ("minute,topic,msgRateIn\nsoon,persistent://a/b/c,1\n", ":2: minute is 'soon'; it must be a whole number from 0"),
        ("minute,topic,msgRateIn\n0,orders,1\n", ":2: topic is 'orders'; write a full name"),
        ("minute,topic,msgRateIn\n0,persistent://a/b,1\n", ":2: topic is 'persistent://a/b'; write a full name"),
        ("minute,topic,msgRateIn\n0,persistent://a/b/c,-1\n", ":2: msgRateIn is '-1'; it must be a number from 0"),
        ("minute,topic,msgRateIn\n0,persistent://a/b/c,nan\n", ":2: msgRateIn is 'nan'"),
        ("minute,topic,msgRateIn\n0,persistent://a/b/c\n", ":2: msgRateIn is None"),
        (
            "minute,topic,msgRateIn\n0,persistent://a/b/c,1\n0,persistent://a/b/c,2\n",
            ":3: persistent://a/b/c has rates of minute 0 on line 2",
        ),
        ("minute,topic,msgRateIn\n0,persistent://a/b/\xff,1\n", "is not UTF-8"),
    ],
)
def test_a_table_that_cannot_be_used(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "rates.csv"
    path.write_bytes(content.encode("latin-1"))
    status, out, err = asked("--rates", path)
    assert (status, out) == (150, "")
    assert message in err


FAULTY = """
def shed(load, conf, memory):
    if load.now > 120000:
        raise ValueError("enough")
    return {}, None
"""


def test_a_fault_of_an_own_policy_is_told_with_its_input(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(FAULTY, encoding="utf-8")
    status, out, err = asked(*SMALL, "--shedder", f"{own}:shed", "--out", tmp_path / "run")
    assert (status, out) == (75, "")
    assert f"{own}:4" in err
    assert "enough" in err
    assert "Traceback" not in err
    assert "\n  --out DIR keeps what it was asked with" in asked(*SMALL, "--shedder", f"{own}:shed")[2]
    fault = tmp_path / "run" / "fault.json"
    assert main(["policy", "decide", "--shedder", f"{own}:shed", "--snapshot", str(fault)]) == 75
    assert main(["policy", "decide", "--shedder", "ThresholdShedder", "--snapshot", str(fault)]) == 0


def test_an_own_policy_is_simulated() -> None:
    own = EXAMPLES / "fill_the_emptiest.py"
    arguments = ("--snapshot", RESTARTED, "--scenario", "steady", "--shedder", f"{own}:shed", "--placement", f"{own}:place")
    run = answered(*arguments)
    assert run["shedder"] == f"{own}:shed"
    assert run["actions"]


def test_what_was_interrupted_claims_nothing_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.console.progress.Interrupt.__call__", lambda interrupt: True)
    status, out, _ = asked(*SMALL)
    assert status == 20
    assert "noisy-rates: 0.0166667 h" in out
    assert "interrupted; nothing is claimed of the time after that" in out


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    status, _, err = asked(*SMALL, "--out", tmp_path / "file")
    assert status == 153
    assert "Traceback" not in err


def test_the_reference_has_every_scenario_and_measure() -> None:
    reference = (ROOT / "docs" / "reference" / "simulation.md").read_text(encoding="utf-8")
    for name, (_, what) in SCENARIOS.items():
        assert f"| `{name}` | {what} |" in reference
    for measure in MEASURES.values():
        assert f"| `{measure.name}` | {measure.unit} |" in reference
