"""Rates that were recorded of topics with names: a cluster that has these topics, and how their rates go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.simulation.cluster import Cluster, Source, Topics, places
from fencepost.model.balance.simulation.snapshot_cluster import Unusable
from fencepost.model.balance.simulation.workload import Recorded
from fencepost.model.pulsar.hash_range import topic_hash


@dataclass(frozen=True, eq=False)
class Recording:
    """The rates of topics: ``rates[k]`` from minute ``minutes[k]`` on, with a column for each of ``topics``, by full name."""

    topics: tuple[str, ...]
    minutes: tuple[int, ...]
    rates: NDArray[np.float64]

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of the topics, each once."""
        return tuple(dict.fromkeys(map(namespace_of_topic, self.topics)))

    @property
    def course(self) -> Recorded:
        """The shape that gives every topic its rates."""
        return Recorded(self.minutes, self.rates)

    @property
    def busiest(self) -> float:
        """Messages per second, in and out, of all topics in the busiest minute."""
        return float(self.rates[:, :2].sum(axis=(1, 2)).max())


def namespace_of_topic(name: str) -> str:
    """``tenant/namespace`` of ``persistent://tenant/namespace/topic``."""
    return "/".join(name.partition("://")[2].split("/")[:2])


@dataclass(frozen=True, eq=False)
class WithRecording:
    """A cluster whose topics are those of a recording; its own are not there. Each has a producer and a consumer.

    Until the first record they carry nothing.
    """

    source: Source
    recording: Recording

    @property
    def brokers(self) -> tuple[str, ...]:
        """Those of the cluster."""
        return self.source.brokers

    def cluster(self, random: np.random.Generator) -> Cluster:
        """The cluster with the topics in the bundles of their hashes. Raises Unusable if it lacks a namespace."""
        cluster = self.source.cluster(random)
        first = {name: place for place, name in reversed(list(enumerate(b.rpartition("/")[0] for b in cluster.bundles)))}
        names = self.recording.topics
        hashes = np.array([topic_hash(name) for name in names], dtype=np.int64)
        namespaces = np.array([namespace_of_topic(name) for name in names])
        bundle = np.empty(len(names), dtype=np.intp)
        for namespace in self.recording.namespaces:
            if namespace not in cluster.layouts:
                raise Unusable(f"there are no bundles of {namespace}, of which topics are recorded")
            own = namespaces == namespace
            bundle[own] = first[namespace] + places(cluster.layouts[namespace], hashes[own])
        clients = np.ones(len(names), dtype=np.int64)
        topics = Topics(bundle, hashes, np.zeros((4, len(names))), clients, clients)
        return replace(cluster, topics=topics)
