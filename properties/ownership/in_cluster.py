"""What ownership by locks is to a cluster."""

from __future__ import annotations

from fencepost.properties.configuration import InCluster
from fencepost.properties.locks.in_cluster import EVENTS, idle, is_run

IN_CLUSTER = InCluster(
    is_run=is_run,
    idle=idle,
    parameters=lambda cluster, _: cluster.store(),
    harms={
        "service": ("owned_in_the_end", "lookups_are_answered", "nodes_go_with_their_brokers"),
        "owners": ("single_owner_up_to_date",),
    },
    events=EVENTS,
    owns_bundles=True,
)
