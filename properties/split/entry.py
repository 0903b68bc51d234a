"""The entry of ``split`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.history import SPLIT
from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.model.pulsar.split import split
from fencepost.properties.registry import Entry
from fencepost.properties.split import instances, suite

ENTRY = Entry(
    "split",
    "how a bundle is split in two: the namespace's layout is changed by compare-and-set, and locks change hands",
    split,
    suite.split,
    instances.SIZES,
    instances.SHOWN_BY,
    instances.MUTATED,
    history=SPLIT,
    releases=RELEASES,
)
