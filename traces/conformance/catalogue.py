"""The targets that there are, by name."""

from __future__ import annotations

from fencepost.traces.conformance.bookkeeper.target import BOOKIE, LEDGER
from fencepost.traces.conformance.pulsar.brokers_target import SPLIT, UNLOAD
from fencepost.traces.conformance.pulsar.target import ELECTION, METADATA_STORE, OWNERSHIP
from fencepost.traces.conformance.service_unit.target import CHANNEL
from fencepost.traces.conformance.targets import Target

_ALL = (LEDGER, BOOKIE, METADATA_STORE, ELECTION, OWNERSHIP, UNLOAD, SPLIT, CHANNEL)

TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
