"""The entry of ``cluster`` in the registry."""

from __future__ import annotations

from fencepost.properties.cluster import bugs, instances, suite
from fencepost.properties.configuration import InCluster
from fencepost.properties.registry import Entry
from fencepost.properties.topic.in_cluster import EVENTS

ENTRY = Entry(
    name="cluster",
    summary="an acknowledged message in a whole cluster: who owns the bundle, the topic, and stand-ins of ledgers",
    function=bugs.cluster,
    suite=suite.cluster,
    sizes=instances.SIZES,
    bugs=bugs.BUGS,
    of_parts=True,
    in_cluster=InCluster(
        events={
            **EVENTS,
            "expire": "a lost session of a broker",
            "die": "a killed broker",
            "unload": "an unload of the bundle",
            "create_unheard": "a connection lost before a creation is answered",
            "lose_disk": "a lost disk with a copy",
            "drop_copy": "a bookie that is named without a copy, or twice",
            "meet_deletion": "a deletion that meets the next owner's node",
        }
    ),
)
