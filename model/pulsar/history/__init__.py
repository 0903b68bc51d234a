"""The history of each mistake of Pulsar's protocols: since when, fixed in which release, which of the modelled have it."""

from __future__ import annotations

from fencepost.model.pulsar.history.election import ELECTION
from fencepost.model.pulsar.history.metadata_store import METADATA_STORE
from fencepost.model.pulsar.history.ownership import OWNERSHIP
from fencepost.model.pulsar.history.service_unit import SERVICE_UNIT
from fencepost.model.pulsar.history.service_unit_migration import SERVICE_UNIT_MIGRATION
from fencepost.model.pulsar.history.split import SPLIT
from fencepost.model.pulsar.history.topic import TOPIC
from fencepost.model.pulsar.history.unload import UNLOAD

__all__ = ["ELECTION", "METADATA_STORE", "OWNERSHIP", "SERVICE_UNIT", "SERVICE_UNIT_MIGRATION", "SPLIT", "TOPIC", "UNLOAD"]
