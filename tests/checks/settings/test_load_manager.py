"""Load managers and strategies that do not go together: what each release of Pulsar makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.checks.settings.broker_conf import BrokerConf, ConfigurationError
from fencepost.checks.settings.cluster_settings import read_settings, starts_no_more
from fencepost.checks.settings.load_manager import MANAGER, PLACEMENT, SHEDDER, load_manager_settings, mismatches
from fencepost.model.releases import PULSAR, is_since
from tests.command import fencepost

IMPL = "org.apache.pulsar.broker.loadbalance.impl."
EXTENSIONS = "org.apache.pulsar.broker.loadbalance.extensions."
EXTENSIBLE = f"{EXTENSIONS}ExtensibleLoadManagerImpl"
TRANSFER = f"{EXTENSIONS}scheduler.TransferShedder"
AVG = f"{IMPL}AvgShedder"


def written(folder: Path, **classes: str) -> Path:
    keys = {"manager": MANAGER, "shedder": SHEDDER, "placement": PLACEMENT}
    path = folder / "broker.conf"
    path.write_text("managedLedgerDefaultEnsembleSize=2\n" + "".join(f"{keys[k]}={v}\n" for k, v in classes.items()))
    return path


def mismatch_texts(path: Path, release: str) -> list[tuple[str, str]]:
    entries = mismatches(load_manager_settings(BrokerConf(path)), release)
    return [(f"{one.setting.key}: {one.text}", one.outcome) for one in entries]


def thrown(release: str) -> str:
    """What becomes of a load manager that throws: LoadManager.create catches it up to 4.0.8."""
    return "stops" if is_since(release, "4.2.4") else "simple"


SAID = {"simple": "logs a warning and runs SimpleLoadManagerImpl instead", "stops": "no broker of Pulsar {} starts"}


@pytest.mark.parametrize("release", PULSAR)
def test_a_transfer_shedder_of_the_modular_manager(tmp_path: Path, release: str) -> None:
    ((text, outcome),) = mismatch_texts(written(tmp_path, shedder=TRANSFER), release)
    assert outcome == ("runs" if release in ("2.10.1", "3.0.7") else thrown(release))
    assert {"runs": "takes OverloadShedder", **SAID}[outcome].format(release) in text


@pytest.mark.parametrize("release", PULSAR)
@pytest.mark.parametrize(
    ("classes", "remedy"),
    [
        ({"manager": "ModularLoadManagerImpl"}, f"write {IMPL}ModularLoadManagerImpl"),
        ({"manager": f"{IMPL}ExtensibleLoadManagerImpl"}, f"write {EXTENSIBLE}"),
        ({"shedder": "ThresholdShedder"}, f"write {IMPL}ThresholdShedder"),
        ({"shedder": f"{IMPL}DeviationShedder"}, f"name {IMPL}ThresholdShedder"),
        ({"placement": "RoundRobinBrokerSelector"}, f"write {IMPL}RoundRobinBrokerSelector"),
    ],
)
def test_a_class_that_is_not_there(tmp_path: Path, release: str, classes: dict[str, str], remedy: str) -> None:
    entries = mismatch_texts(written(tmp_path, **classes), release)
    if release == "2.10.1" and "placement" in classes:
        assert entries == [], "it is not read"
        return
    ((text, outcome),) = entries
    caught = "shedder" in classes and release in ("2.10.1", "3.0.7")
    assert outcome == ("runs" if caught else thrown(release))
    assert text.endswith(remedy) or "ExtensibleLoadManagerImpl" in classes.get("manager", "")


@pytest.mark.parametrize("release", [release for release in PULSAR if release != "2.10.1"])
def test_other_shedders_of_the_extensible_manager(tmp_path: Path, release: str) -> None:
    path = written(tmp_path, manager=EXTENSIBLE, shedder=f"{IMPL}ThresholdShedder")
    ((text, outcome),) = mismatch_texts(path, release)
    assert "cannot use it, logs an error and takes TransferShedder" in text
    assert outcome == "runs"
    assert mismatch_texts(written(tmp_path, manager=EXTENSIBLE, shedder=TRANSFER), release) == []
    assert mismatch_texts(written(tmp_path, manager=EXTENSIBLE), release) == [], "what nobody wrote is no mistake of theirs"
    ((text, outcome),) = mismatch_texts(written(tmp_path, manager=EXTENSIBLE, placement=AVG), release)
    assert text.startswith(f"{PLACEMENT}: ExtensibleLoadManagerImpl does not read it")
    assert outcome == "runs"


def test_the_extensible_manager_where_there_is_none(tmp_path: Path) -> None:
    ((text, outcome),) = mismatch_texts(written(tmp_path, manager=EXTENSIBLE), "2.10.1")
    assert "takes SimpleLoadManagerImpl" in text
    assert outcome == "simple"


@pytest.mark.parametrize("release", PULSAR)
def test_the_average_shedder_and_its_placement(tmp_path: Path, release: str) -> None:
    both = mismatch_texts(written(tmp_path, shedder=AVG, placement=AVG), release)
    alone = mismatch_texts(written(tmp_path, shedder=AVG), release)
    placing = mismatch_texts(written(tmp_path, placement=AVG), release)
    if release == "2.10.1":
        assert [outcome for _, outcome in (*both, *alone)] == ["runs", "runs"]
        assert "takes OverloadShedder" in both[0][0]
        assert placing == []
    elif release == "5.0.1":  # which takes it for both unless another class is named
        assert (both, alone, placing) == ([], [], [])
        for classes in ({"shedder": f"{IMPL}ThresholdShedder"}, {"shedder": f"{IMPL}ThresholdShedder", "placement": AVG}):
            ((text, outcome),) = mismatch_texts(written(tmp_path, **classes), release)
            assert outcome == "runs"
            assert "5.0.1 logs a warning and places by LeastLong" in text
    else:
        ((text, outcome),) = alone
        assert text.startswith(f"{SHEDDER}: LeastLongTermMessageRate places")
        assert outcome == "runs"
        ((text, outcome),) = placing
        assert outcome == thrown(release)
        assert SAID[outcome].format(release) in text
        assert [outcome for _, outcome in both] == (["simple"] if release == "3.0.7" else [])


def test_3_0_7_compares_another_setting_with_the_shedder(tmp_path: Path) -> None:
    """ModularLoadManagerImpl.initialize reads loadBalancerPlacementStrategy, which ranks brokers for SimpleLoadManagerImpl."""
    both = written(tmp_path, shedder=AVG, placement=AVG)
    ((text, outcome),) = mismatch_texts(both, "3.0.7")
    assert outcome == "simple"
    assert f"leave {PLACEMENT} out, or name {AVG} in all three" in text
    both.write_text(f"{both.read_text()}loadBalancerPlacementStrategy={AVG}\n")
    assert mismatch_texts(both, "3.0.7") == []
    running = load_manager_settings(BrokerConf(both)).running("3.0.7")
    assert (running.shedder, running.placement) == ("AvgShedder", "AvgShedder")
    assert mismatch_texts(both, "4.0.8") == []


def test_what_the_simple_manager_does_not_read_is_named_if_it_is_no_default(tmp_path: Path) -> None:
    path = written(tmp_path, placement=AVG)
    lines = ["loadBalancerBrokerThresholdShedderPercentage=10.0", "maxUnloadPercentage=0.3", "preferLaterVersions=true"]
    path.write_text(path.read_text() + "\n".join([*lines, "loadBalancerBrokerOverloadedThresholdPercentage=70", ""]))
    for release in ("3.0.7", "4.0.8"):
        (_, outcome), (text, other) = mismatch_texts(path, release)
        assert (outcome, other) == ("simple", "runs")
        nor = f"SimpleLoadManagerImpl does not read it, nor preferLaterVersions ({path}:5): it has rules of its own"
        assert text == f"maxUnloadPercentage: {nor}"
    assert [outcome for _, outcome in mismatch_texts(path, "4.2.4")] == ["stops"]
    weight = written(tmp_path, manager=f"{IMPL}SimpleLoadManagerImpl")
    weight.write_text(f"{weight.read_text()}loadBalancerBandwithInResourceWeight=2\n")
    assert [text.partition(":")[0] for text, _ in mismatch_texts(weight, "3.0.7")] == ["loadBalancerBandwithInResourceWeight"]
    assert mismatch_texts(weight, "4.0.8") == [], "it is another key there"


def test_classes_of_ones_own_are_left_alone(tmp_path: Path) -> None:
    assert mismatch_texts(written(tmp_path, manager="org.example.Mine", shedder=TRANSFER), "4.2.4") == []
    assert mismatch_texts(written(tmp_path, shedder="org.example.Mine"), "4.2.4") == []


def test_a_check_tells_it_or_refuses_where_no_broker_starts(tmp_path: Path) -> None:
    path = written(tmp_path, shedder=TRANSFER)
    asked = ["check", "hash_range", "--conf", path, "--property", "every_hash_is_in_a_bundle", "--quiet"]
    ran = fencepost(*asked)
    assert ran.returncode == 150
    assert ran.stderr.startswith(f"fencepost: {path}:2: {SHEDDER} = {TRANSFER}")
    assert "no broker of Pulsar 5.0.1 starts" in ran.stderr
    ran = fencepost(*asked, "--pulsar", "3.0.7")
    assert (
        f"note: {SHEDDER} = {TRANSFER} ({path}:2): ModularLoadManagerImpl cannot use it, logs an error and takes Over"
        in ran.stdout
    )


@pytest.mark.long
def test_an_upgrade_says_first_what_starts_no_more_and_compares_the_rest(tmp_path: Path) -> None:
    path = written(tmp_path, placement=AVG)
    upgrade = ("check", "--conf", path, "--pulsar", "4.2.4", "--against-pulsar", "4.0.8", "--quiet")
    document, log = tmp_path / "answer.json", tmp_path / "answer.sarif"
    run = fencepost(*upgrade, "--json", document, "--sarif", log)
    words = " ".join(run.stdout.split())
    said = "Pulsar 4.0.8 runs SimpleLoadManagerImpl, 4.2.4 does not start"
    assert words.startswith(f"NO: brokers with these settings start no more: {said}. Apart from that: YES: Pulsar 4.2.4")
    assert f"What starts no more (what follows is compared as if it did): {path}:2: {PLACEMENT} = {AVG}" in words
    assert "guarantees no less than" in words
    assert "comes: removed_producer_publishes" in words
    assert run.stdout.endswith("\nNO: brokers start no more with 4.2.4; a known bug affects you (exit 14)\n")
    (stop,) = json.loads(document.read_text())["guarantees"]["starts_no_more"]
    assert (stop["file"], stop["line"]) == (str(path), 2)
    results = json.loads(log.read_text())["runs"][0]["results"]
    assert [each["kind"] for each in results if each["ruleId"] == "starts"] == ["fail"]


def test_what_starts_no_more_is_what_another_release_starts_with(tmp_path: Path) -> None:
    settings = read_settings(written(tmp_path, placement=AVG))
    assert starts_no_more(settings, "5.0.1", "4.2.4") is None, "5.0.1 takes another class"
    stopped = starts_no_more(settings, "4.2.4", "4.0.8")
    assert stopped is not None
    assert [stop.place.line for stop in stopped.stops if stop.place] == [2]
    with pytest.raises(ConfigurationError, match=r"no broker of Pulsar 5\.0\.0-M1 starts"):
        starts_no_more(settings, "5.0.0-M1", "4.2.4")  # they did not start before


def test_a_release_without_an_algorithm_does_not_start(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    path.write_text("supportedNamespaceBundleSplitAlgorithms=range_equally_divide,flow_or_qps_equally_divide\n")
    asked = ["check", "hash_range", "--conf", path, "--property", "every_hash_is_in_a_bundle", "--quiet"]
    assert fencepost(*asked, "--pulsar", "3.0.7").returncode == 0
    ran = fencepost(*asked, "--pulsar", "2.10.1")
    said = f"{path}:1: Pulsar 2.10.1 has no flow_or_qps_equally_divide, and no broker starts; name of range_equally_divide, "
    assert (ran.returncode, ran.stdout) == (150, "")
    assert ran.stderr.startswith(f"fencepost: {said}")


@pytest.mark.parametrize("release", PULSAR)
def test_what_runs_is_what_the_release_makes_of_it(tmp_path: Path, release: str) -> None:
    def running(**classes: str) -> tuple[str, str, str]:
        strategies = load_manager_settings(BrokerConf(written(tmp_path, **classes))).running(release)
        return strategies.manager, strategies.shedder, strategies.placement

    old = release == "2.10.1"
    placement = "LeastLongTermMessageRate"
    both = ("ModularLoadManagerImpl", "AvgShedder", "AvgShedder")
    usual = ("ModularLoadManagerImpl", "ThresholdShedder", placement)
    assert running() == (both if release == "5.0.1" else usual)
    assert running(shedder=f"{IMPL}ThresholdShedder") == usual
    alone = ("ModularLoadManagerImpl", "OverloadShedder" if old else "AvgShedder", placement)
    assert running(shedder=AVG) == (both if release == "5.0.1" else alone)
    if release in ("2.10.1", "3.0.7"):
        assert running(shedder=TRANSFER) == ("ModularLoadManagerImpl", "OverloadShedder", placement)
    elif release == "4.0.8":  # later no broker starts
        assert running(shedder=TRANSFER) == ("SimpleLoadManagerImpl", "", "")
    taken = ("ExtensibleLoadManagerImpl", "TransferShedder", "LeastResourceUsageWithWeight")
    extensible = running(manager=EXTENSIBLE, shedder=f"{IMPL}ThresholdShedder")
    assert extensible == (("SimpleLoadManagerImpl", "", "") if old else taken)
    assert running(manager="org.example.Mine", shedder=TRANSFER) == ("Mine", "", "")


def test_a_store_is_no_choice_before_4_0(tmp_path: Path) -> None:
    path = tmp_path / "broker.conf"
    view = f"{EXTENSIONS}channel.ServiceUnitStateMetadataStoreTableViewImpl"
    path.write_text(
        f"{MANAGER}={EXTENSIBLE}\nloadManagerServiceUnitStateTableViewClassName={view}\n"
        "loadBalancerMultiPhaseBundleUnload=true\n"
    )
    assert ["does not read it" in text for text, _ in mismatch_texts(path, "3.0.7")] == [True, True]
    assert mismatch_texts(path, "4.0.8") == []
    settings = load_manager_settings(BrokerConf(path))
    assert (settings.service_unit_store, settings.multi_phase.value) == ("metadata", True)
