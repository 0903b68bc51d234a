"""The entry of ``topic`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.history import TOPIC
from fencepost.model.pulsar.topic import topic
from fencepost.properties.registry import Entry
from fencepost.properties.topic import instances, suite

ENTRY = Entry(
    "topic",
    "an acknowledged message: the managed ledger of a topic, its fence, deduplication and trimming, and a producer",
    topic,
    suite.topic,
    instances.SIZES,
    instances.SHOWN_BY,
    instances.MUTATED,
    history=TOPIC,
)
