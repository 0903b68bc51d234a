"""The topic and its subscription as targets: their releases, and how a harness for each is started."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.harness import OF_PULSAR
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.published import ALONE, class_path
from fencepost.checks.conformance.policy.code import pulsar_broker
from fencepost.checks.conformance.pulsar.target import OPTIONS, WITHOUT_THE_REST
from fencepost.checks.conformance.targets import Bench, Target
from fencepost.checks.conformance.topic.adapter import TopicAdapter
from fencepost.checks.conformance.topic.cursor import SubscriptionAdapter
from fencepost.model.releases import held

NAMES = "4.2.4"
"""The release whose names of metrics serve for 4.0.8, which was published without them."""


def pulsar_topic(release: str) -> Release:
    """A broker with the names of its metrics, without which no managed ledger can be made."""
    broker = pulsar_broker(release)
    names = f"org.apache.pulsar:pulsar-opentelemetry:{NAMES if release == '4.0.8' else release}"
    return class_path("pulsar-topic", release, (*broker.artifacts, Artifact(names, ALONE)))


start = Bench(
    "topic",
    "org.apache.bookkeeper.mledger.impl.TopicBench",
    pulsar_topic,
    TopicAdapter,
    besides=(*OF_PULSAR, "executor"),
    options=(*OPTIONS, *WITHOUT_THE_REST),
)

_ONE = {"brokers": 1, "openings": 1, "ledgers": 4}
_AGAIN = {"brokers": 1, "openings": 2, "ledgers": 4}
_READ = {**_AGAIN, "capacity": 2, "trims": 1, "subscription": True, "dedup": False}

TOPIC = Target(
    name="topic",
    protocol="topic",
    system="pulsar",
    releases=held("pulsar", usual="4.2.4"),
    start=start,
    instances=(
        {"ledgers": 4},
        {"ledgers": 4, "dedup": False, "capacity": 2},
        {**_ONE, "rolls": 1, "failures": 2, "capacity": 2},
        {**_ONE, "rolls": 1, "add_failures": 1, "recoveries": 1, "failures": 1},
        {**_ONE, "rolls": 1, "terminations": 1, "dedup": False},
        {**_ONE, "rolls": 1, "terminations": 1, "closings": 1, "failures": 1, "dedup": False},
        {**_AGAIN, "rolls": 1, "closings": 1},
        {"deletions": 1, "rolls": 1},
        {**_AGAIN, "capacity": 1, "snapshots": 1, "crashes": 1, "failures": 1},
        {**_AGAIN, "capacity": 1, "trims": 1, "rolls": 0, "dedup": False, "failures": 1, "openings": 1},
        {**_READ, "crashes": 1, "failures": 1, "elsewhere": True, "metadata_store": "oxia"},
        {**_READ, "crashes": 1, "lazy": True},
        {**_READ, "closings": 1},
        {"trims": 1, "capacity": 1, "rolls": 0, "ledgers": 4, "dedup": False},
        {**_ONE, "capacity": 1, "recoveries": 1, "unfenced": True, "rolls": 0},
        {**_AGAIN, "rolls": 1, "crashes": 1, "slow_updates": 1},
        {**_AGAIN, "rolls": 0, "snapshots": 1, "crashes": 1, "truncations": 1},
        {**_AGAIN, "rolls": 0, "transfers": 1},
        {**_AGAIN, "rolls": 1, "property_updates": 1, "dedup": False},
    ),
)

start_subscription = Bench(
    "topic",
    "org.apache.bookkeeper.mledger.impl.CursorBench",
    pulsar_topic,
    SubscriptionAdapter,
    besides=start.besides,
    options=start.options,
)

_STILL = {"seeks": 0}
_WIDE = {**_STILL, "messages": 5, "capacity": 4, "limit": 2, "node_limit": 2}

SUBSCRIPTION = Target(
    name="subscription",
    protocol="subscription",
    system="pulsar",
    releases=held("pulsar", usual="4.2.4"),
    start=start_subscription,
    instances=(
        {},
        {"messages": 4, "capacity": 2, "seeks": 2, "unloads": 2},
        {"limited": True},
        {"messages": 5, "capacity": 3, "crashes": 2},
        {**_STILL, "messages": 4, "limit": 0, "node_limit": 0},
        {**_STILL, "messages": 5, "node_limit": 1, "unloads": 2},
        {**_WIDE, "long_arrays": True},
        {**_WIDE, "long_arrays": True, "limit": 0, "node_limit": 0},
    ),
)
