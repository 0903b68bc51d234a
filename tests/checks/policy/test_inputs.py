"""What ``fencepost policy`` reads: configurations and snapshots, and what is said of those that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.policy.reading import json_path
from fencepost.checks.policy.settings import changed, read_settings, release_of
from fencepost.checks.policy.snapshot import read_snapshot
from fencepost.checks.policy.usage import WrongUsage
from fencepost.model.balance.configuration import defaults
from tests.checks.policy.asking import BUNDLES, MIB, answered, asked, broker, snapshot, write

IMPL = "org.apache.pulsar.broker.loadbalance.impl."
EXTENSIBLE = "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"
TRANSFER = "org.apache.pulsar.broker.loadbalance.extensions.scheduler.TransferShedder"

# --- inputs that cannot be read


def refused(*arguments: str | Path) -> str:
    status, out, err = asked(*arguments)
    assert (status, out) == (150, "")
    assert err.startswith("fencepost: ")
    assert err.count("\n") == 1
    return err.removeprefix("fencepost: ").rstrip("\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; give a snapshot of the cluster's load"),
        ("{", "is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "$ is a list; it must be an object"),
        ('{"brokers": {"b1:8080": {}, "b2": {}, "b1:8080": {}}}', '$.brokers["b1:8080"] is given twice, and only the last'),
        ('{"brokers": {}, "topics": {"x": [{"hash": 1, "hash": 2}]}}', "$.topics.x[0].hash is given twice"),
        ('{"brokers": {}, "failure_domains": {"x": 5}}', "$.failure_domains.x is 5; it must be an object"),
        ('{"brokers": {}, "failure_domains": {"x": ["a", 5]}}', "$.failure_domains.x.brokers[1] is 5; it must be a string"),
        ("{}", "$.brokers is missing"),
        ('{"brokers": {"b1:8080": {"msgRateIn": -1}}}', '$.brokers["b1:8080"].msgRateIn is -1; it must not be negative'),
        ('{"brokers": {"b1": {"cpu": {"usage": NaN}}}}', "$.brokers.b1.cpu.usage is NaN; it must be a number"),
        ('{"brokers": {"b1": {"msgRateIn": 1e999}}}', "$.brokers.b1.msgRateIn is inf; it must be finite"),
        ('{"brokers": {"b1": {"msgRateIn": "fast"}}}', "$.brokers.b1.msgRateIn is 'fast'; it must be a number"),
        ('{"brokers": {"b1": {"bundles": {}}}}', "$.brokers.b1.bundles is an object; it must be a list"),
        ('{"brokers": {"b1": {"numTopics": 1.5}}}', "$.brokers.b1.numTopics is 1.5; it must be a whole number"),
        ('{"brokers": {}, "now": true}', "$.now is true; it must be a whole number"),
        ('{"brokers": {}, "now": 1760000000}', "$.now is 1760000000, in seconds; write milliseconds since 1970: 1760000000000"),
        ('{"brokers": {"b1": {"lastUpdate": 1760000000}}}', "$.brokers.b1.lastUpdate is 1760000000, in seconds"),
        ('{"brokers": {}, "recently_unloaded": {"x": 1760000000}}', "$.recently_unloaded.x is 1760000000, in seconds"),
        (
            '{"brokers": {}, "loads": {"b1": {"weightedMaxEMA": 85}}}',
            "$.loads.b1.weightedMaxEMA is 85; it is a fraction: write 0.85 for 85 %",
        ),
        ('{"brokers": {}, "bundles": {"x": {"shortTermData": 3}}}', "$.bundles.x.shortTermData is 3; it must be an object"),
        ('{"brokers": {}, "topics": {"x": [{}]}}', '$.topics.x[0]: has neither "name" nor "hash"; give one of them'),
        ('{"brokers": {}, "topics": {"x": [{"hash": "top"}]}}', "$.topics.x[0].hash: 'top' is not a hash"),
        ('{"brokers": {}, "topics": {"x": [{"hash": -1}]}}', "$.topics.x[0].hash: -1 is not from 0x00000000"),
        (
            '{"brokers": {}, "isolation": {"p": {"primary": ["("]}}}',
            "$.isolation.p.primary[0] is '('; it is not a regular expression",
        ),
        (
            '{"brokers": {}, "isolation": {"p": {"auto_failover_policy": {"parameters": {"min_limit": "few"}}}}}',
            "$.isolation.p.auto_failover_policy.parameters.min_limit is 'few'; it must be a whole number",
        ),
    ],
)
def test_a_snapshot_that_cannot_be_used(tmp_path: Path, content: str, message: str) -> None:
    file = write(tmp_path, content)
    assert refused("decide", "--snapshot", file).startswith(f"{file}: {message}")


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
    ("line", "message"),
    [
        ("loadBalancerBrokerThresholdShedderPercentage=ten", "'ten' is not a whole number of 32 bits; write one, such as"),
        ("minUnloadMessage=99999999999", "is not a whole number of 32 bits"),
        ("loadBalancerHistoryResourcePercentage=often", "'often' is not a number; write one, such as"),
        ("maxUnloadPercentage=NaN", "is not a number"),
        ("defaultNamespaceBundleSplitAlgorithm=halve", "'halve' is not among range_equally_divide"),
    ],
)
def test_settings_that_cannot_be_used(tmp_path: Path, line: str, message: str) -> None:
    conf = write(tmp_path, f"# first\n{line}\n", "broker.conf")
    refusal = refused("decide", "--snapshot", write(tmp_path, snapshot()), "--conf", conf)
    assert refusal.startswith(f"{conf}:2: {line.split('=')[0]} = ")
    assert message in refusal


def test_a_fraction_that_is_written_as_a_percentage_is_pointed_out(tmp_path: Path) -> None:
    conf = write(tmp_path, "maxUnloadPercentage=20\nloadBalancerHistoryResourcePercentage=0.9\n", "broker.conf")
    notes = read_settings([conf], None).notes
    assert notes == (f"{conf}:1: maxUnloadPercentage is a fraction, and 20 of it are 2000 %; did you mean 0.2?",)


def test_a_strategy_of_the_file_that_does_not_exist(tmp_path: Path) -> None:
    conf = write(tmp_path, "# ours\nloadBalancerLoadSheddingStrategy=org.example.Mine\n", "broker.conf")
    refusal = refused("decide", "--snapshot", write(tmp_path, snapshot()), "--conf", conf)
    assert refusal.startswith(f"{conf}:2: 'Mine' is not among OverloadShedder")
    place = write(tmp_path, "loadBalancerLoadPlacementStrategy=Mine\n", "place.conf")
    assert refused("check", "--conf", place).startswith(f"{place}:1: 'Mine' is not among LeastLongTermMessageRate")


def test_the_class_of_the_file_is_used(tmp_path: Path) -> None:
    name = "org.apache.pulsar.broker.loadbalance.impl.OverloadShedder"
    conf = write(tmp_path, f"loadBalancerLoadSheddingStrategy = {name}\n", "broker.conf")
    out = asked("decide", "--snapshot", write(tmp_path, snapshot()), "--conf", conf)[1]
    assert out.startswith("OverloadShedder and LeastLongTermMessageRate, Pulsar 4.2.4\n")
    extensible = "loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl\n"
    out = asked("decide", "--snapshot", tmp_path / "snapshot.json", "--conf", write(tmp_path, extensible, "x.conf"))[1]
    assert out.startswith("TransferShedder and LeastResourceUsageWithWeight, Pulsar 4.2.4\n")


# --- settings


def test_settings_of_each_version(tmp_path: Path) -> None:
    lines = "loadBalancerBandwidthInResourceWeight=0.5\nloadBalancerBandwithOutResourceWeight=0.25\n"
    conf = write(tmp_path, lines, "broker.conf")
    current, old = read_settings([conf], "current"), read_settings([conf], "2.10")
    assert current.conf.loadBalancerBandwidthInResourceWeight == old.conf.loadBalancerBandwidthOutResourceWeight * 2 == 0.5
    assert old.conf.loadBalancerBandwidthInResourceWeight == current.conf.loadBalancerBandwidthOutResourceWeight == 1.0
    note = "loadBalancerBandwithOutResourceWeight is not read by this version, which spells it"
    assert current.notes == (f"{conf}:2: {note} loadBalancerBandwidthOutResourceWeight",)
    note = "loadBalancerBandwidthInResourceWeight is not read by this version, which spells it"
    assert old.notes == (f"{conf}:1: {note} loadBalancerBandwithInResourceWeight",)
    assert read_settings((), "2.10").conf == defaults("2.10.1")


def test_releases_by_their_names() -> None:
    assert [release_of(name) for name in (None, "current", "2.10", "4.0.8")] == ["5.0.1", "5.0.1", "2.10.1", "4.0.8"]
    known = r"--pulsar 3.1: the policies are those of 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1, 5.0.1; 2.10 and"
    with pytest.raises(WrongUsage, match=known):
        release_of("3.1")


def test_a_key_that_the_release_lacks_is_noted_and_leaves_the_default(tmp_path: Path) -> None:
    conf = write(tmp_path, "\nminUnloadMessage=7\nloadBalancerSheddingExcludedNamespaces=a/b\n", "broker.conf")
    old, middle = read_settings([conf], "2.10.1"), read_settings([conf], "4.0.8")
    note = "is not read by Pulsar 2.10.1, which has no such setting"
    assert old.notes == (f"{conf}:3: loadBalancerSheddingExcludedNamespaces {note}", f"{conf}:2: minUnloadMessage {note}")
    assert old.conf == defaults("2.10.1")
    assert (middle.conf.minUnloadMessage, middle.conf.loadBalancerSheddingExcludedNamespaces) == (7, frozenset())
    with pytest.raises(WrongUsage, match=r"--set minUnloadMessage=7: Pulsar 2.10.1 has no such setting; leave it out"):
        changed(old.conf, ["minUnloadMessage=7"])


def test_settings_may_change_between_rounds(tmp_path: Path) -> None:
    report = {"cpu": {"usage": 70, "limit": 100}, "msgThroughputIn": 1e9, "bundles": BUNDLES[:2]}
    bundles = {name: {"shortTermData": {"msgThroughputIn": 4e8}} for name in BUNDLES[:2]}
    file = write(tmp_path, json.dumps({"brokers": {"b1:1": report, "b2:1": {}}, "bundles": bundles}))
    rounds = ("decide", "--shedder", "OverloadShedder", "--snapshot", file, "--snapshot", file)
    output = asked(*rounds, "--change", "2:loadBalancerBrokerOverloadedThresholdPercentage=60")[1]
    assert output.count("unload nothing") == 1
    assert output.index("unload nothing") < output.index("unload from b1:1")
    assert "write ROUND:KEY=VALUE with a round from 1 to 2" in asked(*rounds, "--change", "3:minUnloadMessage=1")[2]
    assert "there is no such setting" in asked(*rounds, "--change", "1:minUnload=1")[2]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("loadBalancerLoadSheddingStrategy=OverloadShedder", "a strategy that is another one remembers nothing"),
        ("loadManagerClassName=x", "a strategy that is another one remembers nothing"),
        ("lowerBoundarySheddingEnabled=true", "lowerBoundarySheddingEnabled is not dynamic: brokers begin again for it"),
    ],
)
def test_what_is_not_dynamic_does_not_change_between_rounds(setting: str, message: str, tmp_path: Path) -> None:
    status, out, err = asked("decide", "--snapshot", write(tmp_path, snapshot()), "--change", f"1:{setting}")
    assert (status, out) == (2, "")
    assert message in err


def test_the_manager_that_is_taken_is_told(tmp_path: Path) -> None:
    own = write(tmp_path, "loadManagerClassName=org.example.OwnLoadManager\n", "own.conf")
    note = f"{own}:1: OwnLoadManager is not modelled; the rules are those of ModularLoadManagerImpl"
    assert read_settings([own], "current").notes == (note,)
    other = write(
        tmp_path, f"loadManagerClassName={EXTENSIBLE}\nloadBalancerLoadSheddingStrategy={IMPL}AvgShedder\n", "other.conf"
    )
    (note,) = read_settings([other], "current").notes
    assert note.startswith(f"loadBalancerLoadSheddingStrategy = {IMPL}AvgShedder ({other}:2): ExtensibleLoadManagerImpl cannot")


def test_the_simple_manager_is_asked_and_simulated(tmp_path: Path) -> None:
    simple = write(tmp_path, f"loadManagerClassName={IMPL}SimpleLoadManagerImpl\n", "simple.conf")
    status, out, err = asked("decide", "--conf", simple, "--snapshot", write(tmp_path, snapshot()), "--pulsar", "4.2.4")
    assert (status, out.partition("\n")[0], err) == (0, "SimpleLoadManagerImpl, Pulsar 4.2.4", "")
    small = ("--scenario", "steady", "--brokers", "3", "--bundles", "12", "--hours", "0.1")
    status, out, _ = asked("simulate", "--conf", simple, *small, "--pulsar", "4.2.4")
    assert (status, out.partition("\n")[0]) == (0, "SimpleLoadManagerImpl, Pulsar 4.2.4")
    refusal = asked("simulate", "--conf", simple, *small, "--shedder", "OverloadShedder")[2]
    assert "rules of its own" in refusal


@pytest.mark.parametrize(
    ("pulsar", "said"),
    [
        ("4.0.8", "Pulsar 4.0.8 logs a warning and runs SimpleLoadManagerImpl instead"),
        ("4.2.4", "no broker of Pulsar 4.2.4 starts"),
    ],
)
def test_strategies_that_do_not_run_are_not_asked(tmp_path: Path, pulsar: str, said: str) -> None:
    snap, release = write(tmp_path, snapshot()), ("--pulsar", pulsar)
    average = write(tmp_path, f"loadBalancerLoadPlacementStrategy={IMPL}AvgShedder\n", "average.conf")
    transfer = write(tmp_path, f"\nloadBalancerLoadSheddingStrategy={TRANSFER}\n", "transfer.conf")
    for conf, line in ((average, 1), (transfer, 2)):
        if pulsar == "4.0.8":
            status, out, err = asked("decide", "--conf", conf, "--snapshot", snap, *release)
            assert (status, out.partition("\n")[0]) == (0, "SimpleLoadManagerImpl, Pulsar 4.0.8")
            assert said in err
            continue
        for question in ("decide", "simulate", "compare"):
            folder = ("--out", tmp_path / "out") if question == "compare" else ()
            refusal = refused(question, "--conf", conf, "--snapshot", snap, *folder, *release)
            assert refusal.startswith(f"{conf}:{line}: loadBalancerLoad")
            assert said in refusal
    assert asked("decide", "--conf", average, "--shedder", "AvgShedder", "--snapshot", snap, *release)[0] == 0
    assert said in refused("decide", "--shedder", "OverloadShedder", "--placement", "AvgShedder", "--snapshot", snap, *release)


def test_what_a_release_takes_instead_is_asked(tmp_path: Path) -> None:
    transfer = write(tmp_path, f"loadBalancerLoadSheddingStrategy={TRANSFER}\n", "transfer.conf")
    snap = write(tmp_path, snapshot())
    _, out, err = asked("decide", "--conf", transfer, "--snapshot", snap, "--pulsar", "2.10")
    assert out.startswith("OverloadShedder and LeastLongTermMessageRate, Pulsar 2.10.1\n")
    assert "takes OverloadShedder" in err


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
    settings = read_settings([write(tmp_path, "\n".join(lines), "broker.conf")], "current")
    conf = settings.conf
    assert conf.loadBalancerSheddingExcludedNamespaces == {"a/b", "c/d"}
    assert (conf.preferLaterVersions, conf.maxUnloadPercentage, conf.loadBalancerBrokerMaxTopics) == (True, 0.5, 50000)
    assert conf.minUnloadMessage == 9
    assert (conf.failureDomainsEnabled, conf.loadBalancerAutoBundleSplitEnabled) == (False, False)
    twice, empty, blank, on = settings.notes
    assert "is set on lines 5, 8; that of line 8 counts, '9'" in twice
    assert "broker.conf:7 leaves it empty, so it is Pulsar's default, 50000" in empty
    assert "failureDomainsEnabled = 'true ' is neither 'true' nor 'false'; Java takes it for false" in blank
    assert "loadBalancerAutoBundleSplitEnabled = 'on' is neither" in on


def test_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        read_settings([write(tmp_path, "", "broker.conf")], "current")


# --- snapshots


def test_now_is_the_last_time_that_is_spoken_of(tmp_path: Path) -> None:
    times = {"brokers": {"a": {"lastUpdate": 5}, "b": None}, "recently_unloaded": {"n/1": 3}, "bundles": None}
    assert read_snapshot(write(tmp_path, times)).load.now == 5
    assert read_snapshot(write(tmp_path, {"brokers": {}})).load.now == 0


def test_a_report_without_a_time_is_of_now(tmp_path: Path) -> None:
    """To TransferShedder a report of 1970 would be out of date."""
    seen = {name: {"msgThroughputIn": size * MIB} for name, size in zip(BUNDLES, (50, 30, 20), strict=False)}
    full = broker(90, *BUNDLES[:3], throughput=100 * MIB, lastStats=seen)
    file = write(tmp_path, {"brokers": {"b1:1": full, "b2:1": broker(1)}, "now": 1_760_000_000_000})
    rounds = answered("decide", "--shedder", "TransferShedder", *["--snapshot", file] * 4)["rounds"]
    assert [done["unload"] for done in rounds] == [{}, {}, {}, {"b1:1": [BUNDLES[2]]}]


def test_failure_domains_in_either_form(tmp_path: Path) -> None:
    domains = {"brokers": {}, "failure_domains": {"x": {"brokers": ["a"]}, "y": ["b"]}}
    assert read_snapshot(write(tmp_path, domains)).policies.domains == {"a": "x", "b": "y"}


def test_paths() -> None:
    assert json_path(["brokers", "b1:8080", "bundles", 3]) == '$.brokers["b1:8080"].bundles[3]'
