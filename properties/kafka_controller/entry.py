"""The entry of ``kafka_controller`` in the registry."""

from __future__ import annotations

from fencepost.model.kafka.controller import kafka_controller
from fencepost.model.kafka.controller.families import RELEASES
from fencepost.model.kafka.history import CONTROLLER
from fencepost.properties.kafka_controller import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    "kafka_controller",
    "which Kafka broker is the controller on ZooKeeper, and whom the brokers obey: a node, epochs, and a zombie that still"
    " acts",
    kafka_controller,
    suite.kafka_controller,
    instances.SIZES,
    instances.SHOWN_BY,
    instances.MUTATED,
    history=CONTROLLER,
    releases=RELEASES,
    general=instances.GENERAL,
)
