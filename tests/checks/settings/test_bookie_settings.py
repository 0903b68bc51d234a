"""A bookie's file is part of a cluster's settings: known by its keys, read as BookKeeper reads it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from fencepost.properties.bookie.in_cluster import parameters_of

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
    assert parameters_of(bookies.plain) == {
        "storage": "db",
        "journal_sync_data": False,
        "journal_write_data": False,
        "ledgers": 2,
        "directories": 2,
    }


def test_what_it_leaves_out_is_bookkeepers_default(tmp_path: Path) -> None:
    bookies = read(tmp_path, "bookiePort=3181\n").bookies
    assert bookies.is_given
    assert parameters_of(bookies.plain) == {"storage": "sorted", "journal_sync_data": True, "journal_write_data": True}
    assert not read_settings(tmp_path / "broker.conf").bookies.is_given


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("journalDirectories=/a,/b", "several journals are modelled for DbLedgerStorage with one ledger directory"),
        ("journalDirectory=/a,/b", "several journals are modelled for DbLedgerStorage with one ledger directory"),
        ("skipReplayJournalInvalidRecord=true", "a journal that is replayed in part is not modelled"),
        ("ledgerStorageClass=org.example.Storage", "this storage is not modelled"),
    ],
)
def test_what_the_model_does_not_have_is_named(tmp_path: Path, line: str, message: str) -> None:
    assert read(tmp_path, line).bookies.unmodelled.endswith(message)
    assert read(tmp_path, "journalDirectories=/a").bookies.unmodelled == ""


def test_two_journals_stand_for_several(tmp_path: Path) -> None:
    bookies = read(tmp_path, f"journalDirectories=/a,/b,/c\nledgerStorageClass={DB}").bookies
    assert bookies.unmodelled == ""
    assert parameters_of(bookies.plain)["journals"] == 2


def test_data_integrity_is_noted(tmp_path: Path) -> None:
    notes = read(tmp_path, "dataIntegrityChecking=true").notes
    assert any(note.startswith("dataIntegrityChecking = true (") and "changes no row" in note for note in notes)
    (note,) = read(tmp_path, "dataIntegrityCheckingEnabled=true").notes
    assert note.endswith("dataIntegrityCheckingEnabled is no setting of BookKeeper, which reads dataIntegrityChecking")


def test_sorted_storage_can_be_switched_off(tmp_path: Path) -> None:
    storage = read(tmp_path, "bookiePort=1\nsortedLedgerStorageEnabled=false").bookies.storage
    assert storage.value == "org.apache.bookkeeper.bookie.InterleavedLedgerStorage"
    assert str(storage.place) == f"{tmp_path}/other.conf:2"
    assert read(tmp_path, f"ledgerStorageClass={DB}\nsortedLedgerStorageEnabled=false").bookies.storage.value == DB


SORTED = "org.apache.bookkeeper.bookie.SortedLedgerStorage"
VALUES = """\
bookkeeper:
  volumes:
    journal:
      useMultiVolumes: {several}
      multiVolumes: [{{name: a, mountPath: /a}}, {{name: b, mountPath: /b}}]
  configData:
    BOOKIE_MEM: -Xmx1g
    managedLedgerDefaultAckQuorum: "1"
    journalSyncData: "true"
    PULSAR_PREFIX_journalSyncData: "false"
broker:
  configData:
    managedLedgerDefaultAckQuorum: "2"
    journalSyncData: "yes"
"""
MAPS = """\
kind: ConfigMap
metadata: {name: x-bookie, labels: {component: bookie}}
data: {BOOKIE_MEM: -Xmx1g, journalSyncData: "false", managedLedgerDefaultAckQuorum: "1"}
---
kind: ConfigMap
metadata: {name: x-broker, labels: {component: broker}}
data: {managedLedgerDefaultAckQuorum: "2"}
---
kind: ConfigMap
metadata: {name: x-zookeeper, labels: {component: zookeeper}}
data: {journalSyncData: "true"}
"""
FILE = """\
kind: ConfigMap
metadata: {name: both}
data:
  bk_server.conf: |
    journalSyncData=false
  broker.conf: |
    managedLedgerDefaultAckQuorum=2
"""
OWN = 'kind: ConfigMap\nmetadata: {name: bk}\ndata: {BK_zkServers: z, BK_journalSyncData: "false", BK_DATA_DIR: /data}\n'
PREFIXED = "PULSAR_PREFIX_journalSyncData=false\njournalSyncData=true\n"
ENVIRONMENT = "BOOKIE_PORT=3181\nBK_HOME=/opt\nexport BK_journalSyncData='false'\n"


@pytest.mark.parametrize(
    ("name", "text", "line", "storage"),
    [
        ("values.yaml", VALUES.format(several="false"), 10, DB),
        ("chart.yaml", "pulsar:\n" + indent(VALUES.format(several="false"), "  "), 11, DB),
        ("maps.yaml", MAPS, 3, DB),
        ("file.yaml", FILE, 5, SORTED),
        ("own.yaml", OWN, 3, SORTED),
        ("bookie.env", PREFIXED, 1, DB),
        ("bk.env", ENVIRONMENT, 3, SORTED),
    ],
)
def test_charts_maps_and_environments_have_the_bookies_settings(
    tmp_path: Path, name: str, text: str, line: int, storage: str
) -> None:
    (tmp_path / name).write_text(text)
    settings = read_settings(tmp_path / name)
    assert settings.bookies.is_given
    assert settings.bookies.sync.value is False
    assert str(settings.bookies.sync.place) == f"{tmp_path / name}:{line}"
    assert settings.bookies.storage.value == storage
    assert settings.ledger.ack_quorum.value == 2
    assert not any("no setting" in note or "takes the place" in note for note in settings.notes)


def test_whose_default_it_is(tmp_path: Path) -> None:
    for text, whose in ((PREFIXED, "Pulsar's default"), (ENVIRONMENT, "BookKeeper's default")):
        (tmp_path / "a.env").write_text(text)
        assert read_settings(tmp_path / "a.env").bookies.storage.source == whose
    (tmp_path / "b.conf").write_text("bookiePort=3181\n")
    (tmp_path / "broker.conf").write_text("managedLedgerDefaultAckQuorum=2\n")
    assumed = read_settings(tmp_path / "broker.conf").bookies
    assert (assumed.is_given, assumed.storage.value, assumed.storage.source) == (False, DB, "Pulsar's default")
    below = read_settings(tmp_path / "b.conf", tmp_path / "a.env").bookies
    assert (below.storage.value, below.sync.value) == (SORTED, False), "the image applies it to that file"


def test_several_journals_of_a_chart_are_several(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(VALUES.format(several="true"))
    bookies = read_settings(tmp_path / "values.yaml").bookies
    assert bookies.has_several_journals
    assert str(bookies.journals) == f"journalDirectories = 2 ({tmp_path}/values.yaml:5)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("journalSyncData=1", "other.conf:1: journalSyncData = '1' is neither true nor false; write one of them"),
        ("journalSyncData=false # fast", "; a comment goes on a line of its own"),
        ("tickTime=2000\ndataDir=/z", "(it seems to be the configuration of ZooKeeper: it sets tickTime); leave it out"),
        ("brokerServiceURL=pulsar://b", "(it seems to be that of a proxy: it sets brokerServiceURL)"),
        ("colour=blue", "other.conf: has none of the settings that are read here; leave it out, or give the broker.conf"),
        ("\ufeffjournalSyncData=false", "byte order mark, which Java takes for part of journalSyncData: save it without"),
    ],
)
def test_a_file_of_which_nothing_is_read_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_comment_behind_a_number_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'2 # two' is not a whole number; .*; a comment goes on a line of its own"):
        read(tmp_path, "bookiePort=3181", "managedLedgerDefaultAckQuorum=2 # two\n")
