"""What the loading of topics is to a cluster."""

from __future__ import annotations

from fencepost.properties.configuration import InCluster

IN_CLUSTER = InCluster(
    parts=("topics",),
    is_run=lambda cluster: True,
    harms={"service": ("served_in_the_end",)},
    events={
        "fail": "a topic that cannot be opened",
        "lose_answer": "an answer of the metadata store or of a bookie that never comes",
        "stall": "a reader of the system topic that makes no progress",
        "skip": "a trim of the system topic while its reader connects again",
    },
)
