"""The entry of ``unload`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.model.pulsar.unload import unload
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry
from fencepost.properties.unload import instances, suite
from fencepost.properties.unload.in_cluster import IN_CLUSTER

ENTRY = Entry(
    name="unload",
    summary="how a broker gives a bundle up: inactive, topics closed, lock released",
    function=unload,
    suite=suite.unload,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, unload),
    releases=RELEASES,
    general=instances.GENERAL,
    in_cluster=IN_CLUSTER,
)
