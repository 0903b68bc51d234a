"""The entry of ``service_unit_migration`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.history import SERVICE_UNIT_MIGRATION
from fencepost.model.pulsar.service_unit import OUTSIDE, service_unit_migration
from fencepost.properties.registry import Entry
from fencepost.properties.service_unit_migration import instances, suite

ENTRY = Entry(
    "service_unit_migration",
    "how a cluster changes from one store of service units to the other: a syncer copies, and brokers are restarted",
    service_unit_migration,
    suite.service_unit_migration,
    instances.SIZES,
    instances.SHOWN_BY,
    outside=OUTSIDE,
    history=SERVICE_UNIT_MIGRATION,
)
