"""The entry of ``topic_loading`` in the registry, and its instances."""

from __future__ import annotations

from fencepost.model.pulsar.topic_loading import RELEASES, topic_loading
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.topic_loading import suite
from fencepost.properties.topic_loading.in_cluster import IN_CLUSTER

ENTRY = Entry(
    name="topic_loading",
    summary="how a broker loads a topic: a future that others wait for, its timer, and the namespace's policies",
    function=topic_loading,
    suite=suite.topic_loading,
    sizes={
        "ci": (
            Instance("all faults", {}),
            Instance("policies without a time-out", {"bounded": False}),
        ),
        "standard": (Instance("twice each fault", {"lost_answers": 2, "stalls": 2, "trims": 2, "failures": 2}),),
        "deep": (Instance("nine of each fault", {"lost_answers": 9, "stalls": 9, "trims": 9, "failures": 9}),),
    },
    bugs=bugs_beside(__file__, topic_loading),
    releases=RELEASES,
    in_cluster=IN_CLUSTER,
)
