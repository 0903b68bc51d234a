"""The entry of ``subscription`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.subscription import subscription
from fencepost.model.pulsar.subscription.bugs import RELEASES
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.subscription import suite
from fencepost.properties.subscription.in_cluster import IN_CLUSTER

_STILL: Mapping[str, Value] = {"seeks": 0}
_WIDE: Mapping[str, Value] = {**_STILL, "messages": 5, "capacity": 4, "limit": 2, "node_limit": 2, "unloads": 0}

SIZES = {
    "ci": (
        Instance("seeks", {}),
        Instance("answered before it is written", {**_STILL, "limited": True}),
        Instance("beyond the limit", {**_STILL, "messages": 4, "limit": 0, "node_limit": 0, "one_above": True}),
        Instance("long arrays", {**_WIDE, "long_arrays": True}),
    ),
    "standard": (
        Instance("two seeks", {"seeks": 2, "unloads": 2}),
        Instance("four messages", {"messages": 4, "capacity": 2}),
    ),
    "deep": (Instance("five messages", {"messages": 5, "seeks": 2, "capacity": 2, "limited": True}),),
}

MUTATED = (
    Instance("seeks", {"unloads": 0}),
    Instance("unloaded", {**_STILL, "crashes": 0}),
    Instance("long arrays", {**_WIDE, "messages": 4, "capacity": 3, "limit": 1, "long_arrays": True}),
)

ENTRY = Entry(
    name="subscription",
    summary="what a consumer has acknowledged, message by message, and what comes again after a restart or a seek",
    function=subscription,
    suite=suite.subscription,
    sizes=SIZES,
    bugs=bugs_beside(__file__, subscription),
    releases=RELEASES,
    mutated=MUTATED,
    in_cluster=IN_CLUSTER,
)
