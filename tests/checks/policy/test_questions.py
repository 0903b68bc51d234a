"""The questions of ``fencepost policy`` about one moment: answers, their JSON, and what is wrong usage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checks.policy.asking import BUNDLES, answered, asked, broker, bundle, snapshot, write
from tests.command import fencepost

# --- decide


def test_the_newest_release_is_meant_where_none_is_named(tmp_path: Path) -> None:
    status, out, _ = fencepost("policy", "decide", "--snapshot", write(tmp_path, snapshot()))
    assert out.startswith("AvgShedder and AvgShedder, Pulsar 5.0.1\n"), out
    assert status == 0


def test_decide(tmp_path: Path) -> None:
    (done,) = answered("decide", "--snapshot", write(tmp_path, snapshot()))["rounds"]
    assert set(done) == {"unload", "destinations", "usage", "average", "splits", "why"}
    assert done["unload"] == {"b1:8080": BUNDLES[:1]}
    assert done["destinations"] == {BUNDLES[0]: ["b3:8080"]}
    assert done["usage"]["b1:8080"] == done["average"]["b1:8080"] == 0.9
    assert done["splits"] == []
    assert any("50 MiB/s, unloaded" in reason for reason in done["why"])


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
    ("setting", "reason"),
    [
        ("loadBalancerEnabled=false", "off"),
        ("loadBalancerSheddingEnabled=FALSE", "off"),
        ("loadBalancerAutoBundleSplitEnabled=False", ""),
    ],
)
def test_what_is_switched_off(tmp_path: Path, setting: str, reason: str) -> None:
    content = snapshot()
    content["brokers"]["b1:8080"]["lastStats"] = {BUNDLES[0]: {"topics": 1001}}
    conf = write(tmp_path, setting, "broker.conf")
    (done,) = answered("decide", "--snapshot", write(tmp_path, content), "--conf", conf)["rounds"]
    assert bool(done["unload"]) is not bool(reason)
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


# --- the other questions


def test_place(tmp_path: Path) -> None:
    ask = ["place", "--snapshot", write(tmp_path, snapshot()), "--bundle", "public/default/0x40000000_0x50000000"]
    answer = answered(*ask)
    assert answer["candidates"]["isolation_policies"] == ["b1:8080", "b2:8080", "b3:8080"]
    assert answer["candidates"]["fewest_bundles"] == answer["selected_any_of"] == ["b3:8080"]
    assert "selected: b3:8080" in asked(*ask, "--placement", "RoundRobinBrokerSelector")[1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("public/default/0x0_0x1", "Pulsar writes it public/default/0x00000000_0x00000001"),
        ("public/default/all", "does not name a bundle"),
        ("public/default/0x40000000_0x40000000", "its boundaries must rise"),
        ("public/default/0x00000000_0x00000001", "there is no such bundle: public/default/0x00000000_"),
    ],
)
def test_a_bundle_that_the_namespace_cannot_have_is_not_placed(tmp_path: Path, name: str, message: str) -> None:
    status, out, err = asked("place", "--snapshot", write(tmp_path, snapshot()), "--bundle", name)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


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
    file = write(tmp_path, {"brokers": {"b1:1": broker(1), "b2:1": broker(1)}})
    robin = ["--bundle", "n/0x00000000_0x40000000", "--placement", "RoundRobinBrokerSelector", "--snapshot", file]
    answers = [answered("place", *robin, *["--snapshot", file] * more)["selected_any_of"] for more in range(3)]
    assert answers == [["b1:1"], ["b2:1"], ["b1:1"]]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
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


def test_the_shedder_alone_is_asked_with_one_broker(tmp_path: Path) -> None:
    one = snapshot()
    one["brokers"] = {"b1:8080": one["brokers"]["b1:8080"]}
    ask = ["decide", "--snapshot", write(tmp_path, one), "--shedder", "OverloadShedder"]
    assert answered(*ask)["rounds"][0]["unload"] == {}
    alone = answered(*ask, "--only-shedder")["rounds"][0]
    assert (alone["unload"], alone["destinations"]) == ({"b1:8080": [BUNDLES[0]]}, {})
    output = asked(*ask, "--only-shedder")[1]
    assert f"  unload from b1:8080: {BUNDLES[0]}\n" in output


# --- wrong usage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which QUESTION? fencepost policy --help lists them"),
        (["decide"], "--snapshot"),
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
        (["split", "--bundle", "nonsense"], "--bundle: 'nonsense' does not name a bundle"),
        (
            ["split", "--bundle", "0x0_0x9", "--algorithm", "halve"],
            "there is no split algorithm 'halve'; there are range_equally",
        ),
        (["split", "--bundle", "0x0_0x9", "--positions", "4"], "go together"),
        (["split", "--bundle", "0x0_0x1ffffffff"], "--bundle 0x0_0x1ffffffff: its boundaries must rise, and are at most"),
        (["split", "--bundle", "0x9_0x0"], "must rise"),
        (["split", "--bundle", "[0x0,0x9)"], "the lower boundary is in it, the upper one is not, except for 0xffffffff"),
        (["split", "--bundle", "0x0_0x9", "--algorithm", "topic_count_equally_divide"], "give them with --topics"),
        (["split", "--bundle", "0x0_0x9", "--algorithm", "specified_positions_divide", "--positions", "4"], "with --topics"),
        (["place", "--snapshot", "x", "--bundle", "orders"], "--bundle orders: names no namespace; write such as public/"),
        (["decide", "--snapshot", "x", "--shedder", ""], "'' is not among OverloadShedder"),
        (["decide", "--snapshot", "x", "--shedder", "Shed"], "'Shed' is not among OverloadShedder, ThresholdShedder"),
        (["decide", "--snapshot", "x", "--placement", "Place"], "'Place' is not among LeastLongTermMessageRate"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    status, out, err = asked(*arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_help_teaches() -> None:
    status, out, _ = asked("--help")
    assert status == 0
    assert "fencepost policy decide --conf broker.conf --snapshot now.json" in out


def test_an_isolation_pattern_with_a_port_is_pointed_out(tmp_path: Path) -> None:
    def isolated(pattern: str) -> Path:
        policy = {"namespaces": ["public/default"], "primary": [pattern], "secondary": []}
        return write(tmp_path, snapshot(isolation={"ours": policy}))

    said = "isolation policy ours: primary 'b1:8080' matches no broker because of its port; Pulsar compares it with 'b1'"
    for question in (("decide",), ("place", "--bundle", BUNDLES[0]), ("simulate", "--hours", "0.02", "--quiet")):
        file = isolated("b1:8080")
        assert asked(*question, "--snapshot", file)[2] == f"note: {file}: {said}\n"
        assert asked(*question, "--snapshot", isolated("b1"))[2] == ""
        assert asked(*question, "--snapshot", isolated("elsewhere:8080"))[2] == "", "it may be of a broker that is away"


def test_brokers_of_kubernetes_are_shown_by_their_pods(tmp_path: Path) -> None:
    end = ".pulsar-broker.pulsar.svc.cluster.local:8080"
    brokers = {f"pulsar-broker-{place}{end}": broker(40 + place) for place in range(3)}
    out = asked("decide", "--snapshot", write(tmp_path, {"brokers": brokers}))[1]
    assert "usage: pulsar-broker-0 40 %, pulsar-broker-1 41 %, pulsar-broker-2 42 %\n" in out
    assert out.endswith(f"names of brokers are without {end}\n")
    brokers["elsewhere:8080"] = broker(0)
    assert f"pulsar-broker-0{end} 40 %" in asked("decide", "--snapshot", write(tmp_path, {"brokers": brokers}))[1]


@pytest.mark.parametrize(
    ("shedder", "threshold"),
    [
        ("TransferShedder", "standard deviation 0.235702, acts above 0.25"),
        ("UniformLoadShedder", "(acts on rates by more than 50 %, throughputs by a factor of more than 4)"),
        ("OverloadShedder", "is below the threshold, 85 %"),
    ],
)
def test_thresholds_are_beside_what_is_compared_with_them(tmp_path: Path, shedder: str, threshold: str) -> None:
    out = asked("decide", "--shedder", shedder, "--snapshot", write(tmp_path, snapshot()))[1]
    assert threshold in out
