"""What the replication to another cluster is to a cluster that has one."""

from __future__ import annotations

from fencepost.properties.configuration import InCluster

IN_CLUSTER = InCluster(
    parts=("topics",),
    is_run=lambda cluster: cluster.topics.replicated,
    parameters=lambda cluster, _: {"deduplication": cluster.topics.deduplication},
    harms={"elsewhere": ("replicated_is_stored", "arrives"), "order": ("stored_once",)},
    events={
        "refuse": "a message that the other cluster refuses, such as one that is too large there",
        "disconnect": "a lost connection between the clusters",
        "fail_writes": "a failed write in the other cluster",
        "reload_target": "a topic that is loaded again in the other cluster",
        "reload_source": "a topic that is loaded again",
    },
)
