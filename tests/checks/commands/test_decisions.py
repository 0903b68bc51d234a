"""Do this, not that, because of this run: what an operator is told of settings that somebody proposes, by the whole command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.settings.cluster_settings import read_settings
from tests.command import fencepost

QUORUMS = ("managedLedgerDefaultEnsembleSize", "managedLedgerDefaultWriteQuorum", "managedLedgerDefaultAckQuorum")
EXTENSIONS = "org.apache.pulsar.broker.loadbalance.extensions."

pytestmark = pytest.mark.deep  # every row of two configurations


def written(path: Path, sizes: Sequence[int], *lines: str) -> Path:
    quorums = [f"{key}={size}" for key, size in zip(QUORUMS, sizes, strict=True)]
    path.write_text("\n".join([*quorums, *lines]) + "\n")
    return path


Answer = tuple[int, dict[str, Any], list[dict[str, Any]]]
"""The status, the rows by name, and what falls short."""


def decided(folder: Path, new: Sequence[int], old: Sequence[int], *options: str) -> Answer:
    """What is told of some quorums against others."""
    return compare(written(folder / "new.conf", new), written(folder / "old.conf", old), *options)


def compare(new: Path, old: Path, *options: str) -> Answer:
    """What is told of a file against another, in a cluster of four bookies."""
    ran = fencepost("check", "--conf", new, "--against", old, "--bookies", "4", *options, "--json", "-", "--quiet")
    guarantees = json.loads(ran.stdout)["guarantees"]
    return ran.returncode, {row["guarantee"]: row for row in guarantees["rows"]}, guarantees["shortfalls"]


def test_an_ack_quorum_of_one(tmp_path: Path) -> None:
    status, rows, short = decided(tmp_path, (2, 2, 1), (2, 2, 2))
    assert status == 15
    assert {shortfall["guarantee"] for shortfall in short} >= {"disks", "reading", "recovery"}
    assert all(shortfall["line"] == 3 for shortfall in short), "the line of the ack quorum"
    assert rows["disks"]["fails"]["run"][-1].startswith("lose_disk(")
    assert rows["disks"]["remedy"] == "managedLedgerDefaultAckQuorum=2"


def test_all_three_the_same(tmp_path: Path) -> None:
    """An ack quorum of all copies survives one disk more, and writing goes on while another bookie takes a place."""
    status, rows, _ = decided(tmp_path, (3, 3, 3), (3, 3, 2))
    assert status == 0
    assert (rows["disks"]["before"], rows["disks"]["figure"], rows["disks"]["change"]) == (1, 2, "stronger")
    assert len([step for step in rows["disks"]["fails"]["run"] if step.startswith("lose_disk(")]) == 3
    assert rows["writing"]["change"] == "same"


def test_an_ensemble_above_the_write_quorum(tmp_path: Path) -> None:
    """It leaves no bookie to take a place, of four, and a known bug that loses a message comes with it."""
    status, rows, short = decided(tmp_path, (4, 2, 2), (2, 2, 2))
    assert status == 14
    assert (rows["writing"]["before"], rows["writing"]["figure"]) == (2, 0)
    assert any(shortfall["guarantee"] == "writing" and shortfall["line"] == 1 for shortfall in short)
    assert rows["changes"]["fails"]["bugs"] == ["confirms_while_unsetting", "captured_ensemble"]


def test_a_release_with_a_bug(tmp_path: Path) -> None:
    sizes = (2, 2, 2)
    for release, figure in (("4.2.4", 0), ("5.0.0-M1", 1)):
        _, rows, _ = decided(tmp_path, sizes, sizes, "--pulsar", release)
        assert rows["recoveries"]["figure"] == figure
        if not figure:
            assert rows["recoveries"]["fails"]["bugs"] == ["fence_checked_apart"]
            assert rows["recoveries"]["remedy"].startswith("BookKeeper 4.17.4")


def test_an_extensible_manager(tmp_path: Path) -> None:
    """Nothing is weaker, but who owns bundles is decided otherwise; a store is a choice, and each has its numbers."""
    sizes = (2, 2, 2)
    manager = f"loadManagerClassName={EXTENSIONS}ExtensibleLoadManagerImpl"
    view = f"loadManagerServiceUnitStateTableViewClassName={EXTENSIONS}channel.ServiceUnitStateMetadataStoreTableViewImpl"
    old = written(tmp_path / "old.conf", sizes)
    for lines, store in (((manager,), "topic"), ((manager, view), "metadata")):
        new = written(tmp_path / "new.conf", sizes, *lines)
        assert read_settings(new).load_manager.service_unit_store == store
        status, rows, short = compare(new, old)
        assert (status, short) == (0, [])
        assert all(row["figure"] is not None for row in rows.values()), "each has a number"
        assert rows["owners"]["fails"]["run"][-1].startswith("read("), "a broker reads too late that its bundle went to another"
        assert (rows["unserved"]["change"], rows["unloaded"]["change"]) == ("other", "other")
