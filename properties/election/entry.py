"""The entry of ``election`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.election import RELEASES, election
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.election import instances, suite
from fencepost.properties.election.in_cluster import IN_CLUSTER
from fencepost.properties.registry import Entry

ENTRY = Entry(
    name="election",
    summary="which Pulsar broker leads: one ephemeral node, sessions that expire, and lookups that ask the leader",
    function=election,
    suite=suite.election,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, election),
    releases=RELEASES,
    general=instances.GENERAL,
    in_cluster=IN_CLUSTER,
)
