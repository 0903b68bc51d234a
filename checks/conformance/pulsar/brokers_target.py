"""Unloads and splits as targets: the NamespaceService of Pulsar's brokers, and how a harness for it is started."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.harness import OF_PULSAR, Harness, harness
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.policy.code import pulsar_broker
from fencepost.checks.conformance.pulsar.split import SplitAdapter
from fencepost.checks.conformance.pulsar.target import OPTIONS
from fencepost.checks.conformance.pulsar.unload import UnloadAdapter
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.model.releases import held

RELEASES = held("pulsar", usual="4.2.4")
MAIN = "org.apache.pulsar.metadata.coordination.impl.BrokersBench"


def brokers(asked: Asked) -> Harness:
    """The harness of brokers over one ZooKeeper server. Raises ToolchainError."""
    options = (*OPTIONS, *asked.options)
    besides = (*OF_PULSAR, "bundles")
    return harness("brokers", MAIN, pulsar_broker(asked.release), besides=besides, options=options, own=asked.own)


def start_unload(asked: Asked, *, keep_log: bool = False) -> UnloadAdapter:
    """A harness with a server and no broker yet. Raises ToolchainError or SessionError."""
    return UnloadAdapter(Session(brokers(asked), keep_log=keep_log))


UNLOAD = Target(
    name="unload",
    protocol="unload",
    system="pulsar",
    releases=RELEASES,
    start=start_unload,
    instances=(
        {"unloads": 1, "timeouts": 1, "failures": 1},
        {"brokers": 3, "unloads": 2, "timeouts": 1},
        {"bundles": 2, "unloads": 2, "failures": 1},
        {"unloads": 1, "crashes": 1, "timeouts": 1},
        {"unloads": 1, "disconnects": 1},
        {"unloads": 1, "expiries": 1},
        {"unloads": 2, "disconnects": 1, "expiries": 1, "crashes": 1, "timeouts": 1, "failures": 1},
    ),
    weights={
        "open_topic": 2.0,
        "start_unload": 0.5,
        "disconnect": 0.2,
        "expire": 0.3,
        "expire_former": 0.1,
        "expire_dead": 0.1,
    },
)


def start_split(asked: Asked, *, keep_log: bool = False) -> SplitAdapter:
    """A harness with a server and no broker yet. Raises ToolchainError or SessionError."""
    return SplitAdapter(Session(brokers(asked), keep_log=keep_log))


SPLIT = Target(
    name="split",
    protocol="split",
    system="pulsar",
    releases=RELEASES,
    start=start_split,
    instances=(
        {"hashes": 3, "policies": True},
        {"hashes": 5, "bundles": 2, "splits": 2, "policies": True},
        {"hashes": 5, "bundles": 2, "splits": 2, "brokers": 3, "releases": 1, "policies": True},
        {"hashes": 5, "splits": 2, "releases": 1, "policies": True, "unload_after_split": True},
        {"hashes": 4, "splits": 2, "policies": True, "algorithm": "specified_positions_divide"},
        {"hashes": 3, "crashes": 1, "policies": True},
        # who has not heard of its own write meets its version each time: as often as Pulsar tries (BUNDLE_SPLIT_RETRY_LIMIT)
        {"hashes": 3, "disconnects": 1, "releases": 1, "policies": True, "attempts": 8},
        {"hashes": 3, "expiries": 1, "policies": True},
    ),
    weights={
        "start_release": 0.2,
        "disconnect": 0.2,
        "expire": 0.3,
        "crash": 0.3,
        "expire_former": 0.1,
        "expire_dead": 0.1,
        "start_split": 4.0,
    },
)
