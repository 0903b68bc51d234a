"""The entry of ``geo_replication`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.geo_replication import geo_replication
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.geo_replication import suite
from fencepost.properties.geo_replication.in_cluster import IN_CLUSTER
from fencepost.properties.registry import Entry, Instance, Value

_FAULTS: Mapping[str, Value] = {"write_failures": 1, "target_reloads": 1, "source_reloads": 1}

ENTRY = Entry(
    name="geo_replication",
    summary="how the messages of a topic are copied to another cluster: a replicator, its producer, and deduplication there",
    function=geo_replication,
    suite=suite.geo_replication,
    sizes={
        "ci": (
            Instance("refused", {"messages": 3, "window": 3}),
            Instance("all faults", _FAULTS),
            Instance("no deduplication", {**_FAULTS, "deduplication": False}),
        ),
        "standard": (Instance("three messages, all faults", {"messages": 3, "window": 3, **_FAULTS}),),
        "deep": (Instance("four messages, all faults", {"messages": 4, "window": 3, **_FAULTS, "disconnects": 2}),),
    },
    bugs=bugs_beside(__file__, geo_replication),
    in_cluster=IN_CLUSTER,
)
