"""A bookie's file is part of a cluster's settings: known by its keys, read as BookKeeper reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.questions.instances import Settings, read_settings
from fencepost.checks.settings.input_files import InputError

DB = "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage"


def read(folder: Path, bookie: str, broker: str = "managedLedgerDefaultAckQuorum=2\n") -> Settings:
    (folder / "broker.conf").write_text(broker)
    (folder / "other.conf").write_text(bookie)
    return read_settings(folder / "broker.conf", folder / "other.conf")


def test_it_is_read_beside_the_brokers(tmp_path: Path) -> None:
    lines = ("journalSyncData=no", "journalWriteData=OFF", f"ledgerStorageClass={DB}", "ledgerDirectories=/a, /b,/c")
    bookies = read(tmp_path, "\n".join(lines)).bookies
    assert bookies.is_given
    assert (bookies.sync.value, bookies.write.value, bookies.storage.value) == (False, False, DB)
    assert bookies.directories.value == 3
    assert str(bookies.sync.place) == f"{tmp_path}/other.conf:1"
    assert bookies.parameters == {
        "storage": "db", "journal_sync_data": False, "journal_write_data": False,
        "ledgers": 2, "directories": 2,
    }


def test_what_it_leaves_out_is_bookkeepers_default(tmp_path: Path) -> None:
    bookies = read(tmp_path, "bookiePort=3181\n").bookies
    assert bookies.is_given
    assert bookies.parameters == {"storage": "sorted", "journal_sync_data": True, "journal_write_data": True}
    assert not read_settings(tmp_path / "broker.conf").bookies.is_given


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("journalDirectories=/a,/b", "several journals are not modelled (bookkeeper#4844)"),
        ("journalDirectory=/a,/b", "several journals are not modelled (bookkeeper#4844)"),
        ("skipReplayJournalInvalidRecord=true", "a journal that is replayed in part is not modelled"),
        ("ledgerStorageClass=org.example.Storage", "this storage is not modelled"),
    ],
)
def test_what_the_model_does_not_have_is_named(tmp_path: Path, line: str, told: str) -> None:
    assert read(tmp_path, line).bookies.unmodelled.endswith(told)
    assert read(tmp_path, "journalDirectories=/a").bookies.unmodelled == ""


def test_data_integrity_is_noted(tmp_path: Path) -> None:
    notes = read(tmp_path, "dataIntegrityCheckingEnabled=true").notes
    assert any(note.startswith("dataIntegrityCheckingEnabled = true (") and "#4843" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("journalSyncData=1", "other.conf:1: journalSyncData = '1' is neither true nor false; write one of them"),
        ("journalSyncData=false # fast", "; a comment goes on a line of its own"),
        ("tickTime=2000\ndataDir=/z", "(it seems to be the configuration of ZooKeeper: it sets tickTime); leave it out"),
        ("brokerServiceURL=pulsar://b", "(it seems to be that of a proxy: it sets brokerServiceURL)"),
        ("colour=blue", "other.conf: has none of the settings that are read here; leave it out, or give the broker.conf"),
        ("\ufeffjournalSyncData=false", "byte order mark, which Java takes for part of journalSyncData: save it without"),
    ],
)
def test_a_file_of_which_nothing_is_read_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_comment_behind_a_number_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'2 # two' is not a whole number; .*; a comment goes on a line of its own"):
        read(tmp_path, "bookiePort=3181", "managedLedgerDefaultAckQuorum=2 # two\n")
