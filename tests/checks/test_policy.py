"""``fencepost policy``, run as a user runs it: answers, their JSON, and what is said of inputs that cannot be used."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checks.broker_conf import ConfigurationError
from checks.policy.reading import json_path
from checks.policy.settings import read_settings
from checks.policy.snapshot import read_snapshot
from model.balance.configuration import defaults
from model.balance.load_data import LoadData, LocalBrokerData
from model.balance.shedding import Load, candidates
from properties.random_loads import random_load
from tests.command import Ran, fencepost

BUNDLES = [f"public/default/0x{place}0000000_0x{place + 1}0000000" for place in range(4)]
MIB = 1024 * 1024


def broker(percent: float, *bundles: str, throughput: float = 0, **others: Any) -> dict[str, Any]:
    usage = {"usage": percent, "limit": 100}
    return {"cpu": usage, "msgThroughputIn": throughput, "bundles": list(bundles), "webServiceUrl": "ignored", **others}


def bundle(throughput: float) -> dict[str, Any]:
    return {"shortTermData": {"msgThroughputIn": throughput, "maxSamples": 10, "numSamples": 3}, "topics": 7}


def snapshot(first: float = 90, **others: Any) -> dict[str, Any]:
    return {
        "brokers": {
            "b1:8080": broker(first, *BUNDLES[:3], throughput=100 * MIB),
            "b2:8080": broker(40, BUNDLES[3], throughput=MIB),
            "b3:8080": broker(40),
        },
        "bundles": {name: bundle(size * MIB) for name, size in zip(BUNDLES, (50, 30, 20, 1), strict=True)},
        "now": 10_000_000,
        **others,
    }


def write(folder: Path, content: object, name: str = "snapshot.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def asked(*arguments: str | Path) -> Ran:
    return fencepost("policy", *arguments)


def answered(*arguments: str | Path) -> Any:
    status, out, err = asked(*arguments, "--format", "json")
    assert (status, err) == (0, "")
    return json.loads(out)


# --- decide


def test_decide(tmp_path: Path) -> None:
    (done,) = answered("decide", "--snapshot", write(tmp_path, snapshot()))["rounds"]
    assert set(done) == {"unload", "destinations", "usage", "average", "splits", "why"}
    assert done["unload"] == {"b1:8080": BUNDLES[:1]}
    assert done["destinations"] == {BUNDLES[0]: ["b3:8080"]}
    assert done["usage"]["b1:8080"] == done["average"]["b1:8080"] == 0.9
    assert done["splits"] == []
    assert any("50 MiB/s, unloaded" in said for said in done["why"])


def test_rounds_carry_averages_over(tmp_path: Path) -> None:
    files = [write(tmp_path, snapshot(percent), f"{percent}.json") for percent in (90, 50)]
    rounds = answered("decide", "--snapshot", files[0], "--snapshot", files[1])["rounds"]
    assert [done["average"]["b1:8080"] for done in rounds] == [0.9, pytest.approx(0.86)]
    assert [done["usage"]["b1:8080"] for done in rounds] == [0.9, 0.5]


def test_shedders_and_versions(tmp_path: Path) -> None:
    content = snapshot(50)
    content["brokers"]["b1:8080"]["memory"] = {"usage": 90, "limit": 100}
    file = write(tmp_path, content)
    shed = ["decide", "--snapshot", file, "--shedder", "OverloadShedder"]
    assert answered(*shed)["rounds"][0]["unload"] == {}
    assert answered(*shed, "--pulsar", "2.10")["rounds"][0]["unload"] == {"b1:8080": BUNDLES[:1]}
    four = ["--snapshot", file] * 4
    moved = answered("decide", *four, "--shedder", "org.example.TransferShedder")["rounds"]
    assert [done["unload"] for done in moved] == [{}] * 4


def test_what_was_unloaded_within_the_grace_period_stays(tmp_path: Path) -> None:
    minutes = {BUNDLES[0]: 10_000_000 - 30 * 60_000, BUNDLES[1]: 10_000_000 - 30 * 60_000 - 1}
    (done,) = answered("decide", "--snapshot", write(tmp_path, snapshot(recently_unloaded=minutes)))["rounds"]
    assert done["unload"] == {"b1:8080": [BUNDLES[1]]}


def test_one_broker_sheds_nothing(tmp_path: Path) -> None:
    alone = {"brokers": {"b1": broker(99, *BUNDLES, throughput=9)}, "bundles": {BUNDLES[0]: bundle(9)}}
    (done,) = answered("decide", "--snapshot", write(tmp_path, alone), "--shedder", "OverloadShedder")["rounds"]
    assert done["unload"] == done["average"] == {}
    assert done["why"] == ["brokers: 1; nothing is shed or split with one broker or none"]


def test_destinations_differ_from_the_source_and_obey_policies(tmp_path: Path) -> None:
    isolated = {
        "p": {
            "namespaces": ["public/.*"],
            "primary": ["b1"],
            "secondary": ["b2"],
            "auto_failover_policy": {"policy_type": "min_available", "parameters": {"min_limit": "1"}},
        }
    }
    file = write(tmp_path, snapshot(isolation=isolated))
    (done,) = answered("decide", "--snapshot", file)["rounds"]
    assert done["destinations"] == {BUNDLES[0]: []}
    assert done["why"][-1] == f"{BUNDLES[0]}: stays on b1:8080: no other broker may serve its namespace"
    isolated["p"]["auto_failover_policy"]["parameters"]["min_limit"] = "2"  # type: ignore[index,call-overload]
    (done,) = answered("decide", "--snapshot", write(tmp_path, snapshot(isolation=isolated)))["rounds"]
    assert done["destinations"] == {BUNDLES[0]: ["b2:8080"]}


def test_a_bundle_in_two_reports_is_told(tmp_path: Path) -> None:
    content = snapshot()
    content["brokers"]["b3:8080"]["bundles"] = [BUNDLES[0]]
    (done,) = answered("decide", "--snapshot", write(tmp_path, content))["rounds"]
    assert f"{BUNDLES[0]}: is in the reports of b1:8080, b3:8080: only one can own it" in done["why"]


def test_every_broker_of_a_group_holds_it_already(tmp_path: Path) -> None:
    content = snapshot(anti_affinity={"public/default": "g", "public/other": "G"})
    for name in ("b2:8080", "b3:8080"):
        content["brokers"][name]["bundles"] = ["public/other/0x00000000_0xffffffff"]
    (done,) = answered("decide", "--snapshot", write(tmp_path, content))["rounds"]
    assert "as many namespaces of its anti-affinity group" in done["why"][-1]


def test_splits_have_boundaries(tmp_path: Path) -> None:
    content = snapshot(40)
    content["brokers"]["b1:8080"]["lastStats"] = {BUNDLES[0]: {"topics": 1001}}
    file = write(tmp_path, content)
    (done,) = answered("decide", "--snapshot", file)["rounds"]
    assert done["splits"] == [{"bundle": BUNDLES[0], "boundaries": ["0x08000000"]}]
    conf = write(tmp_path, "defaultNamespaceBundleSplitAlgorithm=topic_count_equally_divide\n", "broker.conf")
    (done,) = answered("decide", "--snapshot", file, "--conf", conf)["rounds"]
    assert done["splits"] == [{"bundle": BUNDLES[0], "boundaries": None}]
    content["topics"] = {BUNDLES[0]: [{"hash": 10}, {"hash": "0x14"}, {"name": "elsewhere"}]}
    (done,) = answered("decide", "--snapshot", write(tmp_path, content), "--conf", conf)["rounds"]
    assert done["splits"] == [{"bundle": BUNDLES[0], "boundaries": ["0x0000000f"]}]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("loadBalancerEnabled=false", "off"),
        ("loadBalancerSheddingEnabled=FALSE", "off"),
        ("loadBalancerAutoBundleSplitEnabled=False", ""),
    ],
)
def test_what_is_switched_off(tmp_path: Path, setting: str, said: str) -> None:
    content = snapshot()
    content["brokers"]["b1:8080"]["lastStats"] = {BUNDLES[0]: {"topics": 1001}}
    conf = write(tmp_path, setting, "broker.conf")
    (done,) = answered("decide", "--snapshot", write(tmp_path, content), "--conf", conf)["rounds"]
    assert bool(done["unload"]) is not bool(said)
    assert bool(done["splits"]) is (setting == "loadBalancerSheddingEnabled=FALSE")


def test_a_shedder_that_fails_is_told(tmp_path: Path) -> None:
    silent = {"brokers": {"b1": None, "b2": None}}
    (done,) = answered("decide", "--snapshot", write(tmp_path, silent), "--shedder", "DeviationShedder")["rounds"]
    assert done["why"] == ["the shedder fails: there is no broker with a report"]


def test_text(tmp_path: Path) -> None:
    file = write(tmp_path, snapshot())
    status, out, _ = asked("decide", "--snapshot", file)
    assert status == 0
    assert f"\n{file}\n  unload from b1:8080: {BUNDLES[0]} to b3:8080\n  why\n" in out
    assert asked("decide", "--snapshot", file)[1] == out


# --- check


def test_check_finds_nothing_new() -> None:
    report = answered("check", "--shedder", "TransferShedder", "--loads", "60", "--quiet")
    assert set(report) == {"shedder", "loads", "unloads", "status", "verdicts"}
    assert (report["shedder"], report["loads"], report["status"]) == ("TransferShedder", 60, 0)
    assert report["unloads"] > 50
    verdicts = {row["property"]: row["verdict"] for row in report["verdicts"]}
    assert verdicts["sheds_no_bundle_twice"] == "sampled"
    assert verdicts["leaves_every_broker_a_bundle"] == "expected"


def test_what_breaks_a_rule_is_small_and_replays(tmp_path: Path) -> None:
    ask = ["check", "--shedder", "AvgShedder", "--loads", "120", "--snapshot-dir", tmp_path, "--quiet"]
    row = next(r for r in answered(*ask)["verdicts"] if r["property"] == "never_sheds_the_only_bundle")
    file = tmp_path / "never_sheds_the_only_bundle.json"
    assert (row["file"], json.loads(file.read_text())) == (str(file), row["load"])
    assert len(row["load"]["brokers"]) == 2
    assert len(row["load"]["bundles"]) == 1
    again = ["decide", "--shedder", "AvgShedder", *["--snapshot", file] * row["round"]]
    (unload,) = answered(*again)["rounds"][-1]["unload"].items()
    assert row["said"] == f"{unload[0]} loses its only bundle"


def test_a_mistake_in_a_shedder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.balance.overload_shedder.candidates", grace_forgotten)
    status, out, _ = asked("check", "--shedder", "OverloadShedder", "--loads", "100", "--quiet")
    assert status == 12
    assert "  violated     sheds_nothing_within_the_grace_period: What was unloaded recently stays.\n    in round 1: " in out


def grace_forgotten(data: LoadData, report: LocalBrokerData, *, by_rate: bool) -> list[Load]:
    return candidates(replace(data, recently_unloaded={}), report, by_rate=by_rate)


def test_where_nothing_is_unloaded_nothing_is_claimed(tmp_path: Path) -> None:
    conf = write(tmp_path, "loadBalancerBrokerThresholdShedderPercentage=500\n", "broker.conf")
    status, out, _ = asked("check", "--conf", conf, "--loads", "20", "--quiet")
    assert status == 20
    assert "nothing was ever unloaded, so nothing is claimed" in out
    assert "sampled" not in out


def test_loads_are_a_function_of_their_number() -> None:
    conf = defaults()
    assert random_load(conf, 0, 7) == random_load(conf, 0, 7) != random_load(conf, 1, 7)


# --- the other questions


def test_place(tmp_path: Path) -> None:
    ask = ["place", "--snapshot", write(tmp_path, snapshot()), "--bundle", "public/default/0x40000000_0x50000000"]
    answer = answered(*ask)
    assert answer["candidates"]["isolation_policies"] == ["b1:8080", "b2:8080", "b3:8080"]
    assert answer["candidates"]["fewest_bundles"] == answer["selected_any_of"] == ["b3:8080"]
    assert "selected: b3:8080" in asked(*ask, "--placement", "RoundRobinBrokerSelector")[1]


def test_what_is_infinite_is_null_in_json(tmp_path: Path) -> None:
    hasty = {"b1": {"cpu": {"usage": 1e300, "limit": 1e-9}}, "b2": broker(50)}
    (done,) = answered("decide", "--snapshot", write(tmp_path, {"brokers": hasty}))["rounds"]
    assert done["usage"] == done["average"] == {"b1": None, "b2": 0.5}


def test_hashes_in_any_case() -> None:
    ask = ["bundle", "--boundaries", "0x00000000, 0X40000000,0xFFFFFFFF", "--topic"]
    answer = answered(*ask, "non-persistent://a/b/\u65e5\u672c-partition-3")
    assert answer == {"hash": "0x9aa04af1", "bundle": "0x40000000_0xffffffff"}
    _, out, err = asked(*ask, "orders", "--format", "json")
    assert json.loads(out)["hash"] == "0xe52ffdee"
    assert err.startswith("note: this is not a full topic name")


def test_place_counts_rounds(tmp_path: Path) -> None:
    file = write(tmp_path, {"brokers": {"b1": broker(1), "b2": broker(1)}})
    robin = ["--bundle", "n/1", "--placement", "RoundRobinBrokerSelector", "--snapshot", file]
    answers = [answered("place", *robin, *["--snapshot", file] * more)["selected_any_of"] for more in range(3)]
    assert answers == [["b1"], ["b2"], ["b1"]]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["layout", "--bundles", "2"], {"boundaries": ["0x00000000", "0x80000000", "0xffffffff"]}),
        (["bundle", "--boundaries", "0x00000000,0x80000000,0xffffffff", "--topic", "persistent://public/default/orders"],
         {"hash": "0xb135b9dc", "bundle": "0x80000000_0xffffffff"}),
        (["bundle", "--boundaries", "0,0x80000000,0xffffffff", "--hash", "0x80000000"],
         {"hash": "0x80000000", "bundle": "0x80000000_0xffffffff"}),
        (["bundle", "--boundaries", "0,0xffffffff", "--hash", "0xffffffff"],
         {"hash": "0xffffffff", "bundle": "0x00000000_0xffffffff"}),
        (["bundle", "--boundaries", "0,0xffffffff", "--hash", "0xffffffff", "--upstream-lookup"],
         {"hash": "0xffffffff", "bundle": None}),
        (["split", "--bundle", "0x00000000_0xffffffff"], {"boundaries": ["0x7fffffff"]}),
        (["split", "--bundle", "0x00000004_0x00000005"],
         {"boundaries": None, "why": "bundle 0x00000004_0x00000005 is too small to be split"}),
        (["split", "--bundle", "0x0_0x10", "--algorithm", "specified_positions_divide", "--positions", "9,4", "--force"],
         {"boundaries": ["0x00000004", "0x00000009"]}),
    ],
)  # fmt: skip
def test_single_questions(arguments: list[str], answer: dict[str, Any]) -> None:
    assert answered(*arguments) == answer
    assert asked(*arguments)[0] == 0


def test_split_by_topics(tmp_path: Path) -> None:
    topics = [{"hash": 10, "msgRateIn": 20000}, {"hash": "0x14", "msgRateOut": 20000}, {"name": "elsewhere"}]
    ask = ["split", "--bundle", "0x00000000_0x00000020", "--topics", write(tmp_path, topics)]
    assert answered(*ask, "--algorithm", "topic_count_equally_divide") == {"boundaries": ["0x0000000f"]}
    flow = [*ask, "--algorithm", "flow_or_qps_equally_divide"]
    assert answered(*flow) == {"boundaries": ["0x00000010"]}
    conf = write(tmp_path, "loadBalancerNamespaceBundleMaxMsgRate=40000\n", "broker.conf")
    assert answered(*flow, "--conf", conf)["boundaries"] is None


# --- wrong usage


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: QUESTION"),
        (["decide"], "--snapshot"),
        (["layout", "--bundles", "0"], "--bundles: a namespace cannot begin with 0 bundles"),
        (["bundle", "--boundaries", "0,1", "--hash", "0"], "must reach from 0x00000000 to 0xffffffff"),
        (["bundle", "--boundaries", "0x10000000,0xffffffff", "--hash", "0"], "must reach from 0x00000000"),
        (["bundle", "--boundaries", "0xffffffff", "--hash", "0"], "must reach from 0x00000000"),
        (["bundle", "--boundaries", "0,9,8,0xffffffff", "--hash", "0"], "0x00000008 follows 0x00000009; give each once, in"),
        (["bundle", "--boundaries", "0,9,9,0xffffffff", "--hash", "0"], "0x00000009 follows 0x00000009"),
        (["bundle", "--boundaries", "0,0xffffffff", "--hash", "1_0"], "'1_0' is not a hash"),
        (["bundle", "--boundaries", "0,0xffffffff", "--topic", ""], "--topic is empty; give the full name"),
        (["bundle", "--boundaries", "0,x", "--hash", "0"], "'x' is not a hash from 0x00000000 to 0xffffffff"),
        (["bundle", "--boundaries", "0,0xffffffff", "--hash", "0x100000000"], "is not a hash"),
        (["bundle", "--boundaries", "0,0xffffffff"], "--topic --hash"),
        (["split", "--bundle", "nonsense"], "--bundle: 'nonsense' names no bundle"),
        (
            ["split", "--bundle", "0x0_0x9", "--algorithm", "halve"],
            "there is no split algorithm 'halve'; there is range_equally",
        ),
        (["split", "--bundle", "0x0_0x9", "--positions", "4"], "go together"),
        (["split", "--bundle", "0x0_0x1ffffffff"], "--bundle 0x0_0x1ffffffff: its boundaries must rise, and are at most"),
        (["split", "--bundle", "0x9_0x0"], "must rise"),
        (["split", "--bundle", "0x0_0x9", "--algorithm", "topic_count_equally_divide"], "give them with --topics"),
        (["split", "--bundle", "0x0_0x9", "--algorithm", "specified_positions_divide", "--positions", "4"], "with --topics"),
        (["place", "--snapshot", "x", "--bundle", "orders"], "--bundle orders: names no namespace; write such as public/"),
        (["decide", "--snapshot", "x", "--shedder", ""], "'' is not among OverloadShedder"),
        (["decide", "--snapshot", "x", "--shedder", "Shed"], "'Shed' is not among OverloadShedder, ThresholdShedder"),
        (["decide", "--snapshot", "x", "--placement", "Place"], "'Place' is not among LeastLongTermMessageRate"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    status, out, err = asked(*arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_help_teaches() -> None:
    status, out, _ = asked("--help")
    assert status == 0
    assert "fencepost policy decide --conf broker.conf --snapshot now.json" in out


@pytest.mark.parametrize("question", ["decide", "check", "place", "split", "layout", "bundle"])
def test_every_option_is_in_the_reference(question: str) -> None:
    options = set(re.findall(r"--[a-z][a-z-]*", asked(question, "--help")[1])) - {"--help"}
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    part = reference.split(f"\n## {question}\n")[1].split("\n## ")[0]
    assert {option for option in options if option not in part} == set()


# --- inputs that cannot be read


def refused(*arguments: str | Path) -> str:
    status, out, err = asked(*arguments)
    assert (status, out) == (150, "")
    assert err.startswith("fencepost: ")
    assert err.count("\n") == 1
    return err.removeprefix("fencepost: ").rstrip("\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty; give a snapshot of the cluster's load"),
        ("{", "is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "$ is a list; it must be an object"),
        ('{"brokers": {"b1:8080": {}, "b2": {}, "b1:8080": {}}}', '$.brokers["b1:8080"] is given twice, and only the last'),
        ('{"brokers": {}, "topics": {"x": [{"hash": 1, "hash": 2}]}}', "$.topics.x[0].hash is given twice"),
        ('{"brokers": {}, "failure_domains": {"x": 5}}', "$.failure_domains.x is 5; it must be an object"),
        ('{"brokers": {}, "failure_domains": {"x": ["a", 5]}}', "$.failure_domains.x.brokers[1] is 5; it must be a string"),
        ("{}", "$.brokers is missing"),
        ('{"brokers": {"b1:8080": {"cpu": {"limit": -1}}}}', '$.brokers["b1:8080"].cpu.limit is -1; it must not be negative'),
        ('{"brokers": {"b1": {"cpu": {"usage": NaN}}}}', "$.brokers.b1.cpu.usage is NaN; it must be a number"),
        ('{"brokers": {"b1": {"msgRateIn": 1e999}}}', "$.brokers.b1.msgRateIn is inf; it must be finite"),
        ('{"brokers": {"b1": {"msgRateIn": "fast"}}}', "$.brokers.b1.msgRateIn is 'fast'; it must be a number"),
        ('{"brokers": {"b1": {"bundles": {}}}}', "$.brokers.b1.bundles is an object; it must be a list"),
        ('{"brokers": {"b1": {"numTopics": 1.5}}}', "$.brokers.b1.numTopics is 1.5; it must be a whole number"),
        ('{"brokers": {}, "now": true}', "$.now is true; it must be a whole number"),
        ('{"brokers": {}, "bundles": {"x": {"shortTermData": 3}}}', "$.bundles.x.shortTermData is 3; it must be an object"),
        ('{"brokers": {}, "topics": {"x": [{}]}}', '$.topics.x[0]: has neither "name" nor "hash"; give one of them'),
        ('{"brokers": {}, "topics": {"x": [{"hash": "top"}]}}', "$.topics.x[0].hash: 'top' is not a hash"),
        ('{"brokers": {}, "topics": {"x": [{"hash": -1}]}}', "$.topics.x[0].hash: -1 is not from 0x00000000"),
        (
            '{"brokers": {}, "isolation": {"p": {"primary": ["("]}}}',
            "$.isolation.p.primary[0] is '('; it is no regular expression",
        ),
        (
            '{"brokers": {}, "isolation": {"p": {"auto_failover_policy": {"parameters": {"min_limit": "few"}}}}}',
            "$.isolation.p.auto_failover_policy.parameters.min_limit is 'few'; it must be a whole number",
        ),
    ],
)
def test_a_snapshot_that_cannot_be_used(tmp_path: Path, content: str, said: str) -> None:
    file = write(tmp_path, content)
    assert refused("decide", "--snapshot", file).startswith(f"{file}: {said}")


def test_many_mistakes_are_counted(tmp_path: Path) -> None:
    many = {"brokers": {f"b{n}": {"msgRateIn": -1} for n in range(9)}}
    assert refused("decide", "--snapshot", write(tmp_path, many)).endswith("(and 4 more)")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "there is no such file" in refused("decide", "--snapshot", tmp_path / "absent")
    assert "is a directory" in refused("decide", "--snapshot", tmp_path)
    topics = ["split", "--bundle", "0x0_0x9", "--topics", tmp_path / "absent"]
    assert "give the path of a JSON list of topics" in refused(*topics)
    snap = write(tmp_path, snapshot())
    assert "there is no such file" in refused("decide", "--snapshot", snap, "--conf", tmp_path / "absent")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("loadBalancerBrokerThresholdShedderPercentage=ten", "'ten' is not a whole number of 32 bits; write one, such as"),
        ("minUnloadMessage=99999999999", "is not a whole number of 32 bits"),
        ("loadBalancerHistoryResourcePercentage=often", "'often' is not a number; write one, such as"),
        ("maxUnloadPercentage=NaN", "is not a number"),
        ("defaultNamespaceBundleSplitAlgorithm=halve", "'halve' is not among range_equally_divide"),
    ],
)
def test_settings_that_cannot_be_used(tmp_path: Path, line: str, said: str) -> None:
    conf = write(tmp_path, f"# first\n{line}\n", "broker.conf")
    told = refused("decide", "--snapshot", write(tmp_path, snapshot()), "--conf", conf)
    assert told.startswith(f"{conf}:2: {line.split('=')[0]} = ")
    assert said in told


def test_a_strategy_of_the_file_that_does_not_exist(tmp_path: Path) -> None:
    conf = write(tmp_path, "# ours\nloadBalancerLoadSheddingStrategy=org.example.Mine\n", "broker.conf")
    told = refused("decide", "--snapshot", write(tmp_path, snapshot()), "--conf", conf)
    assert told.startswith(f"{conf}:2: 'Mine' is not among OverloadShedder")
    place = write(tmp_path, "loadBalancerLoadPlacementStrategy=Mine\n", "place.conf")
    assert refused("check", "--conf", place).startswith(f"{place}:1: 'Mine' is not among LeastLongTermMessageRate")


def test_the_class_of_the_file_is_used(tmp_path: Path) -> None:
    name = "org.apache.pulsar.broker.loadbalance.impl.OverloadShedder"
    conf = write(tmp_path, f"loadBalancerLoadSheddingStrategy = {name}\n", "broker.conf")
    out = asked("decide", "--snapshot", write(tmp_path, snapshot()), "--conf", conf)[1]
    assert out.startswith("OverloadShedder and LeastLongTermMessageRate, Pulsar current\n")
    extensible = "loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl\n"
    out = asked("decide", "--snapshot", tmp_path / "snapshot.json", "--conf", write(tmp_path, extensible, "x.conf"))[1]
    assert out.startswith("TransferShedder and LeastResourceUsageWithWeight, Pulsar current\n")


# --- settings


def test_settings_of_each_version(tmp_path: Path) -> None:
    lines = "loadBalancerBandwidthInResourceWeight=0.5\nloadBalancerBandwithOutResourceWeight=0.25\n"
    conf = write(tmp_path, lines, "broker.conf")
    current, old = read_settings(conf, "current"), read_settings(conf, "2.10")
    assert current.conf.loadBalancerBandwidthInResourceWeight == old.conf.loadBalancerBandwidthOutResourceWeight * 2 == 0.5
    assert old.conf.loadBalancerBandwidthInResourceWeight == current.conf.loadBalancerBandwidthOutResourceWeight == 1.0
    said = "loadBalancerBandwithOutResourceWeight is not read by this version, which spells it"
    assert current.notes == (f"{conf}:2: {said} loadBalancerBandwidthOutResourceWeight",)
    said = "loadBalancerBandwidthInResourceWeight is not read by this version, which spells it"
    assert old.notes == (f"{conf}:1: {said} loadBalancerBandwithInResourceWeight",)
    assert read_settings(None, "2.10").conf == defaults("2.10")


def test_the_manager_that_is_taken_is_told(tmp_path: Path) -> None:
    simple = write(tmp_path, "loadManagerClassName=org.example.SimpleLoadManagerImpl\n", "simple.conf")
    said = f"{simple}:1: SimpleLoadManagerImpl is not modelled; the rules are those of ModularLoadManagerImpl"
    assert read_settings(simple, "current").notes == (said,)
    average = write(tmp_path, "loadBalancerLoadPlacementStrategy=AvgShedder\n", "average.conf")
    said = f"{average}:1: AvgShedder places only where it sheds: Pulsar does not start with ThresholdShedder beside it"
    assert read_settings(average, "current").notes == (said,)
    transfer = write(tmp_path, "\nloadBalancerLoadSheddingStrategy=TransferShedder\n", "transfer.conf")
    _, out, err = asked("decide", "--conf", transfer, "--snapshot", write(tmp_path, snapshot()))
    assert out.startswith("TransferShedder and LeastResourceUsageWithWeight, Pulsar current\n")
    said = "TransferShedder is of ExtensibleLoadManagerImpl, whose rules are taken; set loadManagerClassName"
    assert err == f"note: {transfer}:2: {said}\n"


def test_kinds_of_settings(tmp_path: Path) -> None:
    lines = [
        "loadBalancerSheddingExcludedNamespaces=a/b, c/d ,",
        "preferLaterVersions= TRUE",
        "failureDomainsEnabled=true ",
        "loadBalancerAutoBundleSplitEnabled=on",
        "minUnloadMessage=+07",
        "maxUnloadPercentage=.5",
        "loadBalancerBrokerMaxTopics=",
        "minUnloadMessage=9",
    ]
    settings = read_settings(write(tmp_path, "\n".join(lines), "broker.conf"), "current")
    conf = settings.conf
    assert conf.loadBalancerSheddingExcludedNamespaces == {"a/b", "c/d"}
    assert (conf.preferLaterVersions, conf.maxUnloadPercentage, conf.loadBalancerBrokerMaxTopics) == (True, 0.5, 50000)
    assert conf.minUnloadMessage == 9
    assert (conf.failureDomainsEnabled, conf.loadBalancerAutoBundleSplitEnabled) == (False, False)
    twice, empty, blank, on = settings.notes
    assert "is set on lines 5, 8; Java keeps the last, '9'" in twice
    assert "broker.conf:7 leaves it empty, so it is Pulsar's default, 50000" in empty
    assert "failureDomainsEnabled = 'true ' is neither 'true' nor 'false'; Java takes it for false" in blank
    assert "loadBalancerAutoBundleSplitEnabled = 'on' is neither" in on


def test_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is empty"):
        read_settings(write(tmp_path, "", "broker.conf"), "current")


# --- snapshots


def test_now_is_the_last_time_that_is_spoken_of(tmp_path: Path) -> None:
    times = {"brokers": {"a": {"lastUpdate": 5}, "b": None}, "recently_unloaded": {"n/1": 3}, "bundles": None}
    assert read_snapshot(write(tmp_path, times)).load.now == 5
    assert read_snapshot(write(tmp_path, {"brokers": {}})).load.now == 0


def test_a_report_without_a_time_is_of_now(tmp_path: Path) -> None:
    """To TransferShedder a report of 1970 would be out of date."""
    seen = {name: {"msgThroughputIn": size * MIB} for name, size in zip(BUNDLES, (50, 30, 20), strict=False)}
    full = broker(90, *BUNDLES[:3], throughput=100 * MIB, lastStats=seen)
    file = write(tmp_path, {"brokers": {"b1": full, "b2": broker(1)}, "now": 1_760_000_000_000})
    rounds = answered("decide", "--shedder", "TransferShedder", *["--snapshot", file] * 4)["rounds"]
    assert [done["unload"] for done in rounds] == [{}, {}, {}, {"b1": [BUNDLES[2]]}]


def test_failure_domains_in_either_form(tmp_path: Path) -> None:
    domains = {"brokers": {}, "failure_domains": {"x": {"brokers": ["a"]}, "y": ["b"]}}
    assert read_snapshot(write(tmp_path, domains)).policies.domains == {"a": "x", "b": "y"}


def test_paths() -> None:
    assert json_path(["brokers", "b1:8080", "bundles", 3]) == '$.brokers["b1:8080"].bundles[3]'
