"""The entry of ``split`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.model.pulsar.split import split
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry
from fencepost.properties.split import instances, suite
from fencepost.properties.split.in_cluster import IN_CLUSTER

ENTRY = Entry(
    name="split",
    summary="how a bundle is split in two: the namespace's layout is changed by compare-and-set, and locks change hands",
    function=split,
    suite=suite.split,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, split),
    mutated=instances.MUTATED,
    releases=RELEASES,
    in_cluster=IN_CLUSTER,
)
