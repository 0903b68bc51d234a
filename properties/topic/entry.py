"""The entry of ``topic`` in the registry."""

from __future__ import annotations

from fencepost.model.pulsar.topic import RELEASES, topic
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry
from fencepost.properties.topic import instances, suite
from fencepost.properties.topic.in_cluster import IN_CLUSTER

ENTRY = Entry(
    name="topic",
    summary="an acknowledged message: the managed ledger of a topic, its fence, deduplication and trimming, and a producer",
    function=topic,
    suite=suite.topic,
    sizes=instances.SIZES,
    bugs=bugs_beside(__file__, topic),
    releases=RELEASES,
    mutated=instances.MUTATED,
    in_cluster=IN_CLUSTER,
)
