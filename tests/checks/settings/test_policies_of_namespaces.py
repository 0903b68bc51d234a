"""What is said of a namespace's policies names them as its file does, with the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.checks.cli import main
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.inputs.yaml_parts import INSTEAD_OF
from fencepost.checks.settings.cluster_settings import read_settings

SIZES = {"bookkeeperEnsemble": 3, "bookkeeperWriteQuorum": 2, "bookkeeperAckQuorum": 2, "managedLedgerMaxMarkDeleteRate": 0.0}


def policies(folder: Path, **persistence: object) -> Path:
    file = folder / "orders.json"
    whole = {"replication_clusters": ["eu"], "persistence": SIZES | persistence, "message_ttl_in_seconds": 3600}
    file.write_text(json.dumps(whole, indent=2))
    return file


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "broker.conf"
    path.write_text("managedLedgerDefaultEnsembleSize=3\nmanagedLedgerDefaultAckQuorum=2\nttlDurationDefaultInSeconds=0\n")
    return path


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("bookkeeperAckQuorum", "two", 8),
        ("bookkeeperAckQuorum", -1, 8),
        ("bookkeeperEnsemble", 1 << 40, 6),
        ("managedLedgerMaxMarkDeleteRate", "often", 9),
    ],
)
def test_a_value_that_does_not_fit_is_named_as_the_file_has_it(
    name: str, value: object, line: int, conf: Path, tmp_path: Path
) -> None:
    file = policies(tmp_path, **{name: value})
    with pytest.raises(InputError) as error:
        read_settings(conf, file)
    said = str(error.value)
    assert said.startswith(f"{file}:{line}: persistence.{name} = ")
    assert f"such as persistence.{name}=" in said
    assert not any(key in said for key in INSTEAD_OF.values())


def test_quorums_that_do_not_fit_each_other_are_told_before_anything_is_printed(
    conf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = policies(tmp_path, bookkeeperAckQuorum=3)
    assert main(["check", "--conf", str(conf), "--namespace", f"orders={file}", "--quiet"]) == 150
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"fencepost: {conf} and {file}: persistence.bookkeeperAckQuorum = 3 ({file}:8) is greater than"
        f" persistence.bookkeeperWriteQuorum = 2 ({file}:7); lower persistence.bookkeeperAckQuorum to at most 2 or raise"
        " persistence.bookkeeperWriteQuorum to at least 3\n"
    )


def test_a_quorum_of_the_brokers_beside_one_of_a_policy_keeps_its_name(conf: Path, tmp_path: Path) -> None:
    file = policies(tmp_path, bookkeeperEnsemble=0, bookkeeperWriteQuorum=4)
    with pytest.raises(InputError) as error:
        read_settings(conf, file)
    assert "lower persistence.bookkeeperWriteQuorum to at most 3 or raise managedLedgerDefaultEnsembleSize to" in str(
        error.value
    )


def test_what_a_policy_switches_on_and_replaces_is_named_as_the_file_has_it(conf: Path, tmp_path: Path) -> None:
    file = policies(tmp_path)
    read = read_settings(conf, file)
    (ttl,) = (each for each in read.orders if each.feature.name == "ttl")
    assert ttl.settings == f"message_ttl_in_seconds=3600 ({file}:11)"
    assert ttl.says.startswith("a message that is 3600 seconds old")
    replaced = f"{file}:6: persistence.bookkeeperEnsemble = '3' replaces"
    assert not any(note.startswith(replaced) for note in read.ledger_notes), "it is the same"
    other = read_settings(conf, policies(tmp_path, bookkeeperEnsemble=5))
    assert any(
        f"{file}:6: persistence.bookkeeperEnsemble = '5' replaces managedLedgerDefaultEnsembleSize = '3' ({conf}:1)" in note
        for note in other.ledger_notes
    )
