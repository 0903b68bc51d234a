"""What a chart's values deploy: the releases by their image tags, and the number of bookies, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import Place
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.model.releases import Releases
from fencepost.properties.bugs import Avoidance, Bug

VALUES = """\
defaultPulsarImageTag: "4.0.8"
bookkeeper:
  replicaCount: 5
  configData: {gcWaitTime: "300000"}
broker:
  configData:
    managedLedgerDefaultEnsembleSize: "3"
    managedLedgerDefaultWriteQuorum: "3"
    managedLedgerDefaultAckQuorum: "2"
  storageOffload:
    driver: aws-s3
    bucket: backups
"""


def test_tags_and_replica_counts_are_read_with_their_lines(tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(VALUES)
    settings = read_settings(values)
    deployed = settings.deployment
    assert str(deployed.brokers) == f"defaultPulsarImageTag = 4.0.8 ({values}:1)"
    assert deployed.bookies == deployed.brokers
    assert str(deployed.count) == f"bookkeeper.replicaCount = 5 ({values}:3)"
    (offload,) = (each for each in settings.not_modelled if each.feature.name == "offload")
    assert offload.settings == f"managedLedgerOffloadDriver=aws-s3 ({values}:11)"


def test_the_image_of_a_component_counts_before_that_of_all(tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(VALUES + "images:\n  broker: {tag: 4.2.4-all}\n  bookie: {tag: ''}\n")
    deployed = read_settings(values).deployment
    assert deployed.brokers is not None
    assert deployed.bookies is not None
    assert (deployed.brokers.value, deployed.bookies.value) == ("4.2.4", "4.0.8")


@pytest.mark.parametrize("tag", ["latest", "main-abcdef"])
def test_a_tag_without_a_version_says_nothing(tmp_path: Path, tag: str) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(VALUES.replace("4.0.8", tag))
    assert read_settings(values).deployment.brokers is None


@pytest.mark.parametrize(
    ("project", "releases", "line"),
    [
        ("pulsar", Releases.of("4.0.8"), 3),
        ("bookkeeper", Releases.of("4.0.8"), 4),
        ("pulsar", Releases.of("4.2.4"), 0),
        ("bookkeeper", Releases.of("4.0.8", "4.18.2"), 0),
    ],
)
def test_a_bug_of_a_release_is_at_the_image_tag_that_says_it(
    project: str, releases: Releases, line: int, tmp_path: Path
) -> None:
    """A release that --pulsar or --bookkeeper names is in no file."""
    values = tmp_path / "values.yaml"
    tags = "images:\n  # ours\n  broker: {tag: 4.0.8}\n  bookie: {tag: 4.0.8}\n"
    values.write_text(f"{tags}broker:\n  configData:\n    managedLedgerDefaultAckQuorum: '2'\n")
    cluster = Cluster("values.yaml", Place(values), read_settings(values), releases, 3, False, False)
    assert cluster.exposing(Bug(project=project)) == Place(values, line)
    avoided = Bug(project=project, avoided_by=Avoidance("managedLedgerDefaultAckQuorum=3"))
    assert cluster.exposing(avoided) == Place(values, 7)
