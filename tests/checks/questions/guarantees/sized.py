"""Clusters by their sizes, for questions that depend on nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fencepost.checks.inputs.input_files import Place
from fencepost.checks.settings.cluster_settings import Cluster, Racks, Settings, read_settings
from fencepost.model.releases import Releases

CONF = Path(__file__).parents[4] / "docs" / "examples" / "broker.conf"
NEWEST = Releases.of("4.2.4")


@cache
def usual() -> Settings:
    return read_settings(CONF)


def sized(
    bookies: int,
    ensemble: int,
    write_quorum: int,
    ack_quorum: int,
    releases: Releases = NEWEST,
    *,
    settings: Settings | None = None,
    racks: Racks | None = None,
    groups: Racks | None = None,
) -> Cluster:
    """A cluster of so many bookies, with ledgers of these sizes."""
    cluster = Cluster(CONF.name, Place(CONF), settings or usual(), releases, bookies, False, False, racks or {}, groups or {})
    return cluster.resized({"ensemble": ensemble, "write_quorum": write_quorum, "ack_quorum": ack_quorum})
