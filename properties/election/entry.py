"""The entry of ``election`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.election import RELEASES, election
from fencepost.model.pulsar.history import ELECTION
from fencepost.properties.election import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    "election",
    "which Pulsar broker leads: one ephemeral node, sessions that expire, and lookups that ask the leader",
    election,
    suite.election,
    instances.SIZES,
    instances.SHOWN_BY,
    history=ELECTION,
    releases=RELEASES,
    general=instances.GENERAL,
)
