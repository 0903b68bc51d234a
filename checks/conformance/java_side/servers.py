"""Class paths that servers start with: whole brokers, bookies, and the ZooKeeper that they need."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.jars import Artifact, Release

ZOOKEEPER_SERVER = ("io.dropwizard.metrics:metrics-core:4.1.12.1", "org.xerial.snappy:snappy-java:1.1.10.5")
"""What a ZooKeeper server needs besides its client."""


def bookkeeper_processes(version: str) -> Release:
    """A release of bookkeeper-server, with a ZooKeeper server."""
    server = f"org.apache.bookkeeper:bookkeeper-server:{version}"
    return Release("bookkeeper-processes", version, tuple(map(Artifact, (server, *ZOOKEEPER_SERVER))))


def pulsar_brokers(version: str) -> Release:
    """All that a broker of a release needs to start, in the versions that belong together, with a ZooKeeper server."""
    # 4.2 has a ZooKeeper of its own, zookeeper-with-patched-admin, beside that one
    excluded = ("org.apache.zookeeper:zookeeper",) if version.startswith("4.2.") else ()
    broker = Artifact(f"org.apache.pulsar:pulsar-broker:{version}", excluded)
    managed = (f"org.apache.pulsar:pulsar:{version}",)
    return Release("pulsar-brokers", version, (broker, *map(Artifact, ZOOKEEPER_SERVER)), managed)
