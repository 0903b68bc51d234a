"""The custom resources of KAAP and of StreamNative: settings, releases and bookies of each, with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.settings.cluster_settings import read_settings

KAAP = """\
apiVersion: kaap.oss.datastax.com/v1beta1
kind: PulsarCluster
metadata:
  name: pulsar
spec:
  global:
    name: pulsar
    image: apachepulsar/pulsar:4.0.8
    antiAffinity:
      host:
        enabled: true
  zookeeper:
    replicas: 3
  bookkeeper:
    replicas: 5
    image: apachepulsar/pulsar:4.2.4
    config:
      journalSyncData: "false"
      BOOKIE_MEM: "-Xms1g"
    volumes:
      journal:
        size: 20Gi
  broker:
    replicas: 3
    config:
      managedLedgerDefaultEnsembleSize: 3
      managedLedgerDefaultWriteQuorum: 3
      managedLedgerDefaultAckQuorum: 2
  proxy:
    replicas: 2
"""
STREAMNATIVE = """\
apiVersion: zookeeper.streamnative.io/v1alpha1
kind: ZooKeeperCluster
metadata: {name: my, namespace: pulsar}
spec: {image: "streamnative/pulsar:4.0.8", replicas: 3}
---
apiVersion: bookkeeper.streamnative.io/v1alpha1
kind: BookKeeperCluster
metadata: {name: my, namespace: pulsar}
spec:
  image: streamnative/pulsar:4.0.8
  replicas: 4
  storage:
    journal: {numDirsPerVolume: 1, numVolumes: 1}
  zkServers: my-zk-headless:2181
---
apiVersion: pulsar.streamnative.io/v1alpha1
kind: PulsarBroker
metadata: {name: my, namespace: pulsar}
spec:
  image: streamnative/pulsar:4.0.8.1
  replicas: 2
  config:
    custom:
      PULSAR_PREFIX_managedLedgerDefaultAckQuorum: "1"
      brokerDeleteInactiveTopicsEnabled: "false"
  zkServers: my-zk-headless:2181
"""


def written(folder: Path, text: str, name: str = "cluster.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_the_resource_of_kaap(tmp_path: Path) -> None:
    file = written(tmp_path, KAAP)
    settings = read_settings(file)
    assert [taken.value for taken in settings.ledger.taken] == [3, 3, 2]
    assert str(settings.ledger.ack_quorum.place) == f"{file}:28"
    assert settings.bookies.is_given
    assert str(settings.bookies.sync) == f"journalSyncData = false ({file}:18)"
    deployed = settings.deployment
    assert [deployed.brokers and deployed.brokers.value, deployed.bookies and deployed.bookies.value] == ["4.0.8", "4.2.4"]
    assert deployed.count is not None
    assert (deployed.count.value, str(deployed.count.place)) == (5, f"{file}:15")
    assert any("what the operator sets of itself for the broker" in note for note in settings.all_notes)


@pytest.mark.parametrize("above", ["cluster", "kaap.cluster"])
def test_the_chart_of_kaap_has_it_below_its_own_name(above: str, tmp_path: Path) -> None:
    spec = KAAP[KAAP.index("spec:") :]
    for name in reversed(above.split(".")):
        spec = f"{name}:\n" + "".join(f"  {line}\n" for line in spec.splitlines())
    settings = read_settings(written(tmp_path, f"operator: {{image: 'datastax/kaap:latest'}}\n{spec}"))
    assert [taken.value for taken in settings.ledger.taken] == [3, 3, 2]
    assert settings.deployment.count is not None
    assert settings.deployment.count.value == 5


def test_the_resources_of_streamnative(tmp_path: Path) -> None:
    file = written(tmp_path, STREAMNATIVE)
    settings = read_settings(file)
    assert settings.ledger.ack_quorum.value == 1
    assert str(settings.ledger.ack_quorum.place) == f"{file}:24"
    assert settings.topic.deletes_inactive.value is False
    deployed = settings.deployment
    assert deployed.brokers is not None
    assert (deployed.brokers.value, str(deployed.brokers.place)) == ("4.0.8", f"{file}:20")
    assert deployed.count is not None
    assert deployed.count.value == 4


def test_two_resources_of_brokers_are_refused(tmp_path: Path) -> None:
    broker = STREAMNATIVE[STREAMNATIVE.index("apiVersion: pulsar") :]
    with pytest.raises(InputError, match=r"two resources of brokers, lines 5 and 17"):
        read_settings(written(tmp_path, f"{broker}---\n{broker}"))


def test_an_image_without_a_version_says_no_release(tmp_path: Path) -> None:
    text = KAAP.replace("apachepulsar/pulsar:4.0.8", "registry:5000/pulsar").replace("apachepulsar/pulsar:4.2.4", "mine:latest")
    deployed = read_settings(written(tmp_path, text)).deployment
    assert (deployed.brokers, deployed.bookies) == (None, None)
