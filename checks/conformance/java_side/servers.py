"""Class paths that servers start with: whole brokers, bookies, and the ZooKeeper that they need."""

from __future__ import annotations

from dataclasses import replace

from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.published import class_path
from fencepost.model.releases import followed

ZOOKEEPER_SERVER = ("io.dropwizard.metrics:metrics-core:4.1.12.1", "org.xerial.snappy:snappy-java:1.1.10.5")
"""What a ZooKeeper server needs besides its client."""


def bookkeeper_processes(version: str) -> Release:
    """A release of bookkeeper-server, with a ZooKeeper server."""
    server = f"org.apache.bookkeeper:bookkeeper-server:{version}"
    return class_path("bookkeeper-processes", version, map(Artifact, (server, *ZOOKEEPER_SERVER)))


def kafka_with_zookeeper(name: str, core: str, version: str, *besides: str) -> Release:
    """The class path ``name`` of a release of Kafka's ``core``, with a ZooKeeper that runs on the JDKs of today, and what is
    besides. A distribution of Kafka has an older ZooKeeper, which connects to nothing there: a build of one's own leaves it."""
    added = ("org.apache.zookeeper:zookeeper:3.5.9", *ZOOKEEPER_SERVER, *besides)
    artifacts = map(Artifact, (f"org.apache.kafka:{core}:{version}", *added))
    kept = (*(each.split(":")[1] for each in added), "zookeeper-jute")
    return replace(class_path(name, version, artifacts), kept=kept)


def kafka_servers(version: str) -> Release:
    """A release of Kafka's servers."""
    return kafka_with_zookeeper("kafka-servers", "kafka_2.12", version)


UNPUBLISHED = ("org.apache.pulsar:jetcd-core-shaded", "org.apache.pulsar:pulsar-opentelemetry")
"""Jars of Pulsar 4.0.8 that Maven's repository does not have. A broker needs the first for etcd only."""


def pulsar_brokers(version: str) -> Release:
    """All that a broker of a release needs to start, in the versions that belong together, with a ZooKeeper server.

    A broker of 4.0.8 starts with the pulsar-opentelemetry of 4.2.4, since its own was not published. A build of one's own is
    put together as the release that it follows.
    """
    like = followed("pulsar", version)
    managed = (f"org.apache.pulsar:pulsar:{version}",)
    others = map(Artifact, ZOOKEEPER_SERVER)
    if like == "4.0.8":
        telemetry = Artifact("org.apache.pulsar:pulsar-opentelemetry:4.2.4")
        broker = Artifact(f"org.apache.pulsar:pulsar-broker:{version}", UNPUBLISHED)
        return class_path("pulsar-brokers", version, (broker, telemetry, *others), managed)
    # 4.2 has a ZooKeeper of its own, zookeeper-with-patched-admin, beside that one
    excluded = ("org.apache.zookeeper:zookeeper",) if like == "4.2.4" else ()
    broker = Artifact(f"org.apache.pulsar:pulsar-broker:{version}", excluded)
    return class_path("pulsar-brokers", version, (broker, *others), managed)
