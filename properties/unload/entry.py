"""The entry of ``unload`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.history import UNLOAD
from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.model.pulsar.unload import unload
from fencepost.properties.registry import Entry
from fencepost.properties.unload import instances, suite

ENTRY = Entry(
    "unload",
    "how a broker gives a bundle up: inactive, topics closed, lock released",
    unload,
    suite.unload,
    instances.SIZES,
    instances.SHOWN_BY,
    history=UNLOAD,
    releases=RELEASES,
    general=instances.GENERAL,
)
