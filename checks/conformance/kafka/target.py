"""The target of ``fencepost conform`` for Kafka's controller: its releases, its harness, its instances."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.harness import OVER_ZOOKEEPER
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.servers import kafka_with_zookeeper
from fencepost.checks.conformance.kafka.controller import ControllerAdapter
from fencepost.checks.conformance.targets import Bench, Target
from fencepost.model.releases import held


def kafka_controller(version: str) -> Release:
    """A release of Kafka's core, with what the harness speaks JSON with."""
    lines = "com.fasterxml.jackson.core:jackson-databind:2.10.5.1"
    return kafka_with_zookeeper("kafka-controller", "kafka_2.11", version, lines)


start = Bench(
    "kafka_controller", "kafka.controller.ControllerBench", kafka_controller, ControllerAdapter, besides=OVER_ZOOKEEPER
)

KAFKA_CONTROLLER = Target(
    name="kafka-controller",
    protocol="kafka_controller",
    system="kafka",
    releases=held("kafka", usual="0.10.2.2"),
    start=start,
    instances=(
        {"brokers": 2, "resignations": 1},
        {"brokers": 2, "expiries": 1},
        {"brokers": 3, "expiries": 1},
        {"brokers": 2, "expiries": 1, "resignations": 1},
        {"brokers": 1, "expiries": 2},
    ),
    weights={"expire": 0.5, "resign": 0.5},
)
