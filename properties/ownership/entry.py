"""The entry of ``ownership`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.ownership import ownership
from fencepost.model.pulsar.resource_lock import RELEASES
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.ownership import instances, suite
from fencepost.properties.ownership.in_cluster import IN_CLUSTER
from fencepost.properties.registry import Entry

ENTRY = Entry(
    name="ownership",
    summary="which broker owns a bundle: locks that are acquired, looked after and released",
    function=ownership,
    suite=suite.ownership,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, ownership),
    releases=RELEASES,
    general=instances.GENERAL,
    in_cluster=IN_CLUSTER,
)
