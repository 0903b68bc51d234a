"""The entry of ``kafka_controller`` in the registry."""

from __future__ import annotations

from fencepost.model.kafka.controller import kafka_controller
from fencepost.model.kafka.controller.families import RELEASES
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.kafka_controller import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    name="kafka_controller",
    summary="which Kafka broker is the controller on ZooKeeper, and whom the brokers obey: a node, epochs, and a zombie that"
    " still acts",
    function=kafka_controller,
    suite=suite.kafka_controller,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, kafka_controller),
    mutated=instances.MUTATED,
    releases=RELEASES,
    general=instances.GENERAL,
)
