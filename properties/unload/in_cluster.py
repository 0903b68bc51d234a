"""What the unload of bundles is to a cluster."""

from __future__ import annotations

from fencepost.properties.configuration import InCluster
from fencepost.properties.locks.in_cluster import EVENTS, idle, is_run

IN_CLUSTER = InCluster(
    is_run=is_run,
    idle=idle,
    parameters=lambda cluster, _: cluster.store(),
    harms={"service": ("owned_in_the_end",), "owners": ("topic_is_open_once_up_to_date",)},
    events=EVENTS,
    owns_bundles=True,
)
