"""The entry of ``bookie`` in the registry."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie import bookie
from fencepost.properties.bookie import instances, suite
from fencepost.properties.bookie.in_cluster import IN_CLUSTER
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry

ENTRY = Entry(
    name="bookie",
    summary="one bookie and its disk: journal, log mark, checkpoint and replay, and what of its answers they keep",
    function=bookie,
    suite=suite.bookie,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, bookie),
    in_cluster=IN_CLUSTER,
)
