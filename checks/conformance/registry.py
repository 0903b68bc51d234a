"""The targets that there are, by name."""

from __future__ import annotations

from fencepost.checks.conformance.bookkeeper.target import BOOKIE, LEDGER, REPLICATION
from fencepost.checks.conformance.kafka.target import KAFKA_CONTROLLER
from fencepost.checks.conformance.pulsar.brokers_target import SPLIT, UNLOAD
from fencepost.checks.conformance.pulsar.target import ELECTION, METADATA_STORE, OWNERSHIP
from fencepost.checks.conformance.service_unit.target import CHANNEL
from fencepost.checks.conformance.targets import Target
from fencepost.checks.conformance.topic.target import SUBSCRIPTION, TOPIC

_OF_BOOKKEEPER = (LEDGER, BOOKIE, REPLICATION)
_OF_PULSAR = (METADATA_STORE, ELECTION, OWNERSHIP, UNLOAD, SPLIT, CHANNEL, TOPIC, SUBSCRIPTION)
_ALL = (*_OF_BOOKKEEPER, *_OF_PULSAR, KAFKA_CONTROLLER)

TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
