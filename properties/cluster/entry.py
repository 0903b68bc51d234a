"""The entry of ``cluster`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.topic import RELEASES
from fencepost.properties.cluster import bugs, suite
from fencepost.properties.configuration import InCluster
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.topic.in_cluster import EVENTS

_PLAIN: Mapping[str, Value] = {"dedup": False}
_ONE: Mapping[str, Value] = {"messages": 1}
_ALONE: Mapping[str, Value] = {"brokers": 1, "expiries": 0, "rolls": 1}
_FAULTS: Mapping[str, Value] = {"openings": 3, "ledgers": 4, "rolls": 1, "crashes": 1}

SIZES = {
    "ci": (
        Instance("an expiry", {}),
        Instance("an expiry, no deduplication", {**_PLAIN, **_ONE, "rolls": 1, "ledgers": 4}),
        Instance("an unload", {**_ALONE, "unloads": 1}),
        Instance("a crash", {**_ALONE, "crashes": 1}),
        Instance("an expiry, an owner cut off", {"disconnects": 1}),
        Instance("a crash and a lost disk", {**_ALONE, "crashes": 1, "copies": 2, "disk_losses": 1}),
        Instance("deleted as inactive", {"connections": 1, "deletions": 1, "rolls": 1}),
    ),
    "standard": (
        Instance("an expiry, a crash, a rollover", _FAULTS),
        Instance("an expiry, two messages, no deduplication", _PLAIN),
    ),
    "deep": (Instance("an expiry, a crash, a rollover, no deduplication", {**_FAULTS, **_PLAIN}),),
}


ENTRY = Entry(
    name="cluster",
    summary="an acknowledged message in a whole cluster: who owns the bundle, the topic, and stand-ins of ledgers",
    function=bugs.cluster,
    suite=suite.cluster,
    sizes=SIZES,
    bugs=bugs.BUGS,
    releases=RELEASES,
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
            "migrate_without": "a migration of the metadata to another store meanwhile",
            "migrate_past": "a lost connection to the metadata store over a migration of the metadata",
        }
    ),
)
