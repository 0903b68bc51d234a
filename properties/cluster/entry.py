"""The entry of ``cluster`` in the registry."""

from __future__ import annotations

from fencepost.model.cluster import cluster
from fencepost.properties.cluster import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    "cluster",
    "an acknowledged message in a whole cluster: who owns the bundle, the topic, and stand-ins of ledgers",
    cluster,
    suite.cluster,
    instances.SIZES,
    instances.SHOWN_BY,
    of_parts=instances.KNOWN_BUGS,
)
