"""The entry of ``cluster`` in the registry."""

from __future__ import annotations

from fencepost.properties.cluster import bugs, instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    name="cluster",
    summary="an acknowledged message in a whole cluster: who owns the bundle, the topic, and stand-ins of ledgers",
    function=bugs.cluster,
    suite=suite.cluster,
    sizes=instances.SIZES,
    bugs=bugs.BUGS,
    of_parts=True,
)
