"""The entry of ``service_unit_migration`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.service_unit import OUTSIDE, service_unit_migration
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry
from fencepost.properties.service_unit_migration import instances, suite

ENTRY = Entry(
    name="service_unit_migration",
    summary="how a cluster changes from one store of service units to the other: a syncer copies, and brokers are restarted",
    function=service_unit_migration,
    suite=suite.service_unit_migration,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, service_unit_migration),
    outside=OUTSIDE,
)
