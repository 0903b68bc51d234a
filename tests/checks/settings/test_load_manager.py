"""Load managers and strategies that do not go together: what each release of Pulsar makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.settings.broker_conf import BrokerConf
from fencepost.checks.settings.load_manager import MANAGER, PLACEMENT, SHEDDER, load_manager_settings, mismatches
from fencepost.model.releases import PULSAR
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


def mismatch_texts(path: Path, release: str) -> list[tuple[str, bool]]:
    entries = mismatches(load_manager_settings(BrokerConf(path)), release)
    return [(f"{one.setting.key}: {one.text}", one.starts) for one in entries]


@pytest.mark.parametrize("release", PULSAR)
def test_a_transfer_shedder_of_the_modular_manager(tmp_path: Path, release: str) -> None:
    ((text, starts),) = mismatch_texts(written(tmp_path, shedder=TRANSFER), release)
    assert starts is (release in ("2.10.1", "3.0.7"))
    assert ("takes OverloadShedder" in text) is starts
    assert (f"no broker of Pulsar {release} starts" in text) is not starts


@pytest.mark.parametrize("release", [release for release in PULSAR if release != "2.10.1"])
def test_other_shedders_of_the_extensible_manager(tmp_path: Path, release: str) -> None:
    path = written(tmp_path, manager=EXTENSIBLE, shedder=f"{IMPL}ThresholdShedder")
    ((text, starts),) = mismatch_texts(path, release)
    assert "cannot use it, logs an error and takes TransferShedder" in text
    assert starts
    assert mismatch_texts(written(tmp_path, manager=EXTENSIBLE, shedder=TRANSFER), release) == []
    assert mismatch_texts(written(tmp_path, manager=EXTENSIBLE), release) == [], "what nobody wrote is no mistake of theirs"
    ((text, starts),) = mismatch_texts(written(tmp_path, manager=EXTENSIBLE, placement=AVG), release)
    assert text.startswith(f"{PLACEMENT}: ExtensibleLoadManagerImpl does not read it")
    assert starts


def test_the_extensible_manager_where_there_is_none(tmp_path: Path) -> None:
    ((text, starts),) = mismatch_texts(written(tmp_path, manager=EXTENSIBLE), "2.10.1")
    assert "takes SimpleLoadManagerImpl" in text
    assert starts


@pytest.mark.parametrize("release", PULSAR)
def test_the_average_shedder_and_its_placement(tmp_path: Path, release: str) -> None:
    both = mismatch_texts(written(tmp_path, shedder=AVG, placement=AVG), release)
    alone = mismatch_texts(written(tmp_path, shedder=AVG), release)
    placing = mismatch_texts(written(tmp_path, placement=AVG), release)
    if release == "2.10.1":
        assert [starts for _, starts in (*both, *alone)] == [True, True]
        assert "takes OverloadShedder" in both[0][0]
        assert placing == []
    else:
        ((text, starts),) = alone
        assert text.startswith(f"{SHEDDER}: LeastLongTermMessageRate places")
        assert starts
        assert [starts for _, starts in placing] == [False]
        assert [starts for _, starts in both] == ([False] if release == "3.0.7" else [])


def test_classes_of_ones_own_are_left_alone(tmp_path: Path) -> None:
    assert mismatch_texts(written(tmp_path, manager="org.example.Mine", shedder=TRANSFER), "4.2.4") == []
    assert mismatch_texts(written(tmp_path, shedder="org.example.Mine"), "4.2.4") == []


def test_a_check_tells_it_or_refuses_where_no_broker_starts(tmp_path: Path) -> None:
    path = written(tmp_path, shedder=TRANSFER)
    asked = ["check", "hash_range", "--conf", path, "--property", "every_hash_is_in_a_bundle", "--quiet"]
    ran = fencepost(*asked)
    assert ran.returncode == 150
    assert ran.stderr.startswith(f"fencepost: {path}:2: {SHEDDER} = {TRANSFER}")
    assert "no broker of Pulsar 4.2.4 starts" in ran.stderr
    ran = fencepost(*asked, "--pulsar", "3.0.7")
    assert (
        f"note: {SHEDDER} = {TRANSFER} ({path}:2): ModularLoadManagerImpl cannot use it, logs an error and takes Over"
        in ran.stdout
    )


@pytest.mark.parametrize("release", PULSAR)
def test_what_runs_is_what_the_release_makes_of_it(tmp_path: Path, release: str) -> None:
    def running(**classes: str) -> tuple[str, str, str]:
        strategies = load_manager_settings(BrokerConf(written(tmp_path, **classes))).running(release)
        return strategies.manager, strategies.shedder, strategies.placement

    old = release == "2.10.1"
    placement = "LeastLongTermMessageRate"
    assert running() == ("ModularLoadManagerImpl", "ThresholdShedder", placement)
    assert running(shedder=AVG) == ("ModularLoadManagerImpl", "OverloadShedder" if old else "AvgShedder", placement)
    if release in ("2.10.1", "3.0.7"):  # later no broker starts
        assert running(shedder=TRANSFER) == ("ModularLoadManagerImpl", "OverloadShedder", placement)
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
    assert settings.service_units == {"store": "metadata", "multi_phase": True}
