"""Which metadata store a broker.conf names, and what the protocols make of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.checks.settings.cluster_settings import read_settings, starts_no_more
from fencepost.model.language import ModelError
from fencepost.model.pulsar.stores import STORES
from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS
from tests.command import fencepost


def named(folder: Path, *lines: str) -> tuple[str, str, tuple[str, ...]]:
    """The store, what is said of it, and the notes."""
    (folder / "broker.conf").write_text("\n".join(["managedLedgerDefaultEnsembleSize=2", *lines, ""]))
    settings = read_settings(folder / "broker.conf")
    store = settings.control_plane.metadata_store
    shown = str(store).replace(str(folder), "HERE")
    return store.value, shown, tuple(note.replace(str(folder), "HERE") for note in settings.control_plane_notes)


@pytest.mark.parametrize(
    ("written", "store"),
    [
        ("zk:one:2181,two:2181/chroot", "zk"),
        ("one:2181", "zk"),
        ("etcd:http://one:2379", "etcd"),
        ("oxia://one:6648/broker", "oxia"),
        ("rocksdb:///data/metadata", "rocksdb"),
        ("memory:local", "memory"),
    ],
)
def test_the_scheme_of_the_url_names_the_store(tmp_path: Path, written: str, store: str) -> None:
    assert named(tmp_path, f"metadataStoreUrl={written}") == (store, f"metadataStoreUrl = {store} (HERE/broker.conf:2)", ())


def test_the_former_key_counts_only_without_the_present_one(tmp_path: Path) -> None:
    assert named(tmp_path, "zookeeperServers=one:2181")[:2] == ("zk", "zookeeperServers = zk (HERE/broker.conf:2)")
    assert named(tmp_path, "metadataStoreUrl=oxia://one", "zookeeperServers=one:2181")[0] == "oxia"
    assert named(tmp_path, "metadataStoreUrl=", "zookeeperServers=one:2181")[1].startswith("zookeeperServers")


def test_an_empty_url_is_zookeepers_and_no_matter_to_note(tmp_path: Path) -> None:
    store, _, notes = named(tmp_path, "metadataStoreUrl=", "zookeeperServers=")
    assert (store, notes) == ("zk", ())


def test_another_scheme_is_noted(tmp_path: Path) -> None:
    store, _, (note,) = named(tmp_path, "metadataStoreUrl=consul://one")
    assert store == "zk"
    assert note == ("HERE/broker.conf:2: metadataStoreUrl: consul:// is not a store that Pulsar ships; ZooKeeper is assumed")


def test_no_broker_shuts_down_for_a_session_of_which_it_is_not_told(tmp_path: Path) -> None:
    _, _, notes = named(tmp_path, "metadataStoreUrl=oxia://one", "zookeeperSessionExpiredPolicy=shutdown")
    assert [note for note in notes if "none shuts down" in note]
    taken = PROTOCOLS["election"].taken(read_settings(tmp_path / "broker.conf").configuration(), {})
    assert (taken["on_session_loss"], taken["metadata_store"]) == ("reconnect", "oxia")


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("name", ["metadata_store", "election", "ownership", "unload", "split"])
def test_every_protocol_has_every_store(tmp_path: Path, name: str, store: str) -> None:
    named(tmp_path, f"metadataStoreUrl={store}:one")
    taken = PROTOCOLS[name].taken(read_settings(tmp_path / "broker.conf").configuration(Releases.of("4.2.4")), {})
    assert PROTOCOLS[name].build(taken).parameters.get("metadata_store", "zk") == store


def test_a_store_in_the_brokers_process_has_one_broker() -> None:
    with pytest.raises(ModelError, match="rocksdb is in the process of one broker: set brokers=1, disconnects=0"):
        PROTOCOLS["ownership"].build({"metadata_store": "rocksdb"})


def test_a_store_that_a_release_does_not_have_is_refused() -> None:
    run = fencepost("check", "ownership", "--pulsar", "5.0.0-M1", "--set", "metadata_store=etcd")
    assert run.returncode == 2
    assert "Pulsar 5.0.0-M1 has no metadata store etcd; it has zk, oxia, rocksdb, memory" in run.stderr
    assert "no metadata store oxia" in fencepost("check", "unload", "--pulsar", "3.0.7", "--set", "metadata_store=oxia").stderr


@pytest.mark.parametrize(("store", "release"), [("oxia", "2.10.1"), ("oxia", "3.0.7"), ("etcd", "5.0.0-M1"), ("etcd", "5.0.1")])
def test_settings_with_a_store_that_a_release_lacks_are_refused_in_a_line(tmp_path: Path, store: str, release: str) -> None:
    named(tmp_path, f"metadataStoreUrl={store}://one")
    conf, document = tmp_path / "broker.conf", tmp_path / "answer.json"
    run = fencepost("check", "--conf", conf, "--pulsar", release, "--json", document)
    said = (
        f"Pulsar {release} has no metadata store {store}, and no broker starts; migrate the metadata to one that it has: zk, "
    )
    assert run.returncode == 150
    assert run.stderr.startswith(f"fencepost: {conf}:2: {said}")
    assert run.stderr.count("\n") == 1
    error = json.loads(document.read_text())["error"]
    assert (error["file"], error["line"]) == (str(conf), 2)


def test_an_upgrade_without_the_store_stops_the_brokers_and_the_rest_is_compared_as_of_zookeeper(tmp_path: Path) -> None:
    named(tmp_path, "metadataStoreUrl=etcd:http://one:2379")
    settings = read_settings(tmp_path / "broker.conf")
    stopped = starts_no_more(settings, "5.0.1", "4.2.4")
    assert stopped is not None
    assert [str(stop).partition(":")[2].partition(",")[0] for stop in stopped.stops] == [
        "2: Pulsar 5.0.1 has no metadata store etcd"
    ]
    assert settings.configuration(Releases.of("4.2.4")).metadata_store == "etcd"
    assert settings.configuration(Releases.of("5.0.1")).metadata_store == "zk"
