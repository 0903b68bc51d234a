"""The entry of ``service_unit`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.history import SERVICE_UNIT
from fencepost.model.pulsar.service_unit import OUTSIDE, service_unit
from fencepost.properties.registry import Entry
from fencepost.properties.service_unit import instances, suite

ENTRY = Entry(
    "service_unit",
    "which broker owns a bundle with the extensible load manager: one record, in a topic or in the metadata store",
    service_unit,
    suite.service_unit,
    instances.SIZES,
    instances.SHOWN_BY,
    instances.MUTATED,
    outside=OUTSIDE,
    history=SERVICE_UNIT,
)
