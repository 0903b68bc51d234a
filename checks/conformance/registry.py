"""The targets that there are, by name."""

from __future__ import annotations

from fencepost.checks.conformance.bookkeeper.target import BOOKIE, LEDGER, REPLICATION
from fencepost.checks.conformance.kafka.target import KAFKA_CONTROLLER
from fencepost.checks.conformance.pulsar.brokers_target import SPLIT, UNLOAD
from fencepost.checks.conformance.pulsar.target import ELECTION, METADATA_STORE, OWNERSHIP
from fencepost.checks.conformance.service_unit.target import CHANNEL
from fencepost.checks.conformance.targets import Target
from fencepost.checks.conformance.topic.target import TOPIC

_ALL = (LEDGER, BOOKIE, REPLICATION, METADATA_STORE, ELECTION, OWNERSHIP, UNLOAD, SPLIT, CHANNEL, TOPIC, KAFKA_CONTROLLER)

TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
