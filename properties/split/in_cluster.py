"""What the split of bundles is to a cluster: how they are split, and up to how many there are."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.bugs import Value
from fencepost.properties.configuration import Configuration, InCluster
from fencepost.properties.locks.in_cluster import EVENTS, idle, is_run

ROOM = 3
"""Bundles below which the maximum of a namespace is felt in the small instances; what is above is no limit in them."""


def _parameters(cluster: Configuration, _: Mapping[str, Value]) -> dict[str, Value]:
    return {
        **cluster.store(),
        "algorithm": cluster.split_algorithm,
        "unload_after_split": cluster.unloads_after_split,
        **({"maximum": cluster.most_bundles} if cluster.most_bundles < ROOM else {}),
    }


IN_CLUSTER = InCluster(
    is_run=is_run,
    idle=idle,
    parameters=_parameters,
    events={
        **EVENTS,
        "start_split": "a split of the bundle",
        "write_unheard": "a connection lost before the layout's write is answered",
    },
    owns_bundles=True,
)
