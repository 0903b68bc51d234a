"""The entry of ``ownership`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.history import OWNERSHIP
from fencepost.model.pulsar.ownership import ownership
from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.properties.ownership import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    "ownership",
    "which broker owns a bundle: locks that are acquired, looked after and released",
    ownership,
    suite.ownership,
    instances.SIZES,
    instances.SHOWN_BY,
    history=OWNERSHIP,
    releases=RELEASES,
    general=instances.GENERAL,
)
