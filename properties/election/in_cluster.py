"""What the election of a leader is to a cluster: the metadata store, and what a broker does when its session is lost."""

from __future__ import annotations

from fencepost.properties.configuration import InCluster
from fencepost.properties.locks.in_cluster import EVENTS

IN_CLUSTER = InCluster(
    is_run=lambda cluster: True,
    parameters=lambda cluster, _: {"on_session_loss": cluster.on_session_loss, **cluster.store()},
    events={
        **EVENTS,
        "start_closing": "a broker that shuts down",
        "deletion_at_close_unheard": "a connection lost before a deletion is answered",
    },
)
