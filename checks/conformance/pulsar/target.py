"""Pulsar's metadata as a target: its releases, and how a harness for it is started."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.harness import EXECUTORS, OF_PULSAR, OF_ZOOKEEPER
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.published import ALONE, class_path
from fencepost.checks.conformance.java_side.servers import ZOOKEEPER_SERVER
from fencepost.checks.conformance.pulsar.election import ElectionAdapter
from fencepost.checks.conformance.pulsar.ownership import OwnershipAdapter
from fencepost.checks.conformance.pulsar.store import StoreAdapter
from fencepost.checks.conformance.targets import Bench, Target
from fencepost.model.releases import held

OPTIONS = ("-Xmx512m", *OF_ZOOKEEPER, EXECUTORS)

PACKAGE = "org.apache.pulsar.metadata.coordination.impl"

_ETCD = ("org.apache.pulsar:jetcd-core-shaded", "io.etcd:jetcd-core")


def pulsar_metadata(version: str) -> Release:
    """A release of pulsar-metadata, without etcd, with what a ZooKeeper server needs."""
    metadata = Artifact(f"org.apache.pulsar:pulsar-metadata:{version}", _ETCD)
    return class_path("pulsar-metadata", version, (metadata, *map(Artifact, ZOOKEEPER_SERVER)))


start_store = Bench("metadata_store", f"{PACKAGE}.StoreBench", pulsar_metadata, StoreAdapter, OF_PULSAR, OPTIONS)

METADATA_STORE = Target(
    name="metadata-store",
    protocol="metadata_store",
    system="pulsar",
    releases=held("pulsar", usual="4.2.4"),
    start=start_store,
    instances=(
        {"writes": 1},
        {"expiries": 1},
        {"disconnects": 1},
        {"crashes": 1},
        {"disconnects": 1, "expiries": 1, "writes": 1},
        {"disconnects": 1, "expiries": 1, "crashes": 1},
        {"changes": 2, "disconnects": 1, "expiries": 1, "crashes": 1},
        {"clients": 3, "disconnects": 1, "expiries": 1, "crashes": 1},
        {"paths": 2, "disconnects": 1, "expiries": 1, "crashes": 1, "writes": 1},
    ),
    weights={
        "ask_to_read": 0.5,
        "disconnect": 0.1,
        "expire": 0.3,
        "crash": 0.3,
        "creation_unheard": 0.3,
        "deletion_unheard": 5.0,
        "write_unheard": 5.0,
        "expire_former": 0.1,
        "expire_dead": 0.1,
    },
)


def pulsar_ownership(version: str) -> Release:
    """A release of pulsar-metadata with the classes of a broker, and without what these need to run."""
    broker = (Artifact(f"org.apache.pulsar:{name}:{version}", ALONE) for name in ("pulsar-broker", "pulsar-broker-common"))
    return class_path("pulsar-ownership", version, (*pulsar_metadata(version).artifacts, *broker))


WITHOUT_THE_REST = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Of the broker's classes many methods name classes that are not there. They are never called, and are not to be verified."""


start = Bench(
    "election",
    f"{PACKAGE}.ElectionBench",
    pulsar_ownership,
    ElectionAdapter,
    (*OF_PULSAR, "bundles"),
    (*OPTIONS, *WITHOUT_THE_REST),
)

ELECTION = Target(
    name="election",
    protocol="election",
    system="pulsar",
    releases=held("pulsar", usual="4.0.8"),
    start=start,
    instances=(
        {"brokers": 2, "crashes": 1},
        {"brokers": 3, "crashes": 1},
        {"brokers": 2, "closes": 1},
        {"brokers": 2, "crashes": 1, "closes": 1},
        {"brokers": 2, "expiries": 1},
        {"brokers": 2, "expiries": 1, "crashes": 1, "closes": 1},
        {"brokers": 2, "disconnects": 2},
        {"brokers": 2, "disconnects": 1, "expiries": 1},
        {"brokers": 2, "disconnects": 1, "closes": 1},
        {"brokers": 2, "disconnects": 1, "crashes": 1},
        {"brokers": 3, "crashes": 1, "lookups": True},
        {"brokers": 2, "disconnects": 1, "expiries": 1, "closes": 1, "lookups": True},
    ),
    weights={
        "start_closing": 0.1,
        "expire": 0.3,
        "crash": 0.5,
        "disconnect": 0.2,
        "creation_unheard": 0.3,
        "deletion_unheard": 5.0,
        "deletion_at_close_unheard": 5.0,
    },
)


start_ownership = Bench(
    "ownership",
    f"{PACKAGE}.OwnershipBench",
    pulsar_ownership,
    OwnershipAdapter,
    (*OF_PULSAR, "bundles"),
    (*OPTIONS, *WITHOUT_THE_REST),
)

OWNERSHIP = Target(
    name="ownership",
    protocol="ownership",
    system="pulsar",
    releases=held("pulsar", usual="4.0.8"),
    start=start_ownership,
    instances=(
        {"releases": 1},
        {"expiries": 1, "releases": 1},
        {"disconnects": 1, "releases": 1},
        {"crashes": 1, "releases": 1},
        {"disconnects": 1, "expiries": 1, "crashes": 1, "releases": 1},
        {"disconnects": 1, "expiries": 1, "disables": 1},
        {"bundles": 2, "expiries": 1, "releases": 1},
        {"brokers": 3, "expiries": 1, "crashes": 1, "releases": 1},
        {"migration": True, "releases": 1},
        {"migration": True, "crashes": 1, "releases": 1},
    ),
    weights={
        "read_owner": 0.1,
        "start_migration": 0.3,
        "start_release": 0.3,
        "disconnect": 0.2,
        "expire": 0.3,
        "deletion_unheard": 20.0,
        "recreate_behind_release": 20.0,
        "find_former": 20.0,
        "expire_former": 0.1,
        "expire_dead": 0.1,
    },
)
