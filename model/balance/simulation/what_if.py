"""What is supposed of a cluster besides the policy: other brokers, other load, bundles that are split first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.load_data import namespace_of
from fencepost.model.balance.simulation.cluster import Capacity, Cluster, Source, Topics
from fencepost.model.balance.simulation.recording import namespace_of_topic
from fencepost.model.balance.simulation.scenario import Event, Scenario
from fencepost.model.balance.simulation.snapshot_cluster import Unusable
from fencepost.model.pulsar.hash_range import topic_hash

AFTER = 1
"""The minute in which brokers join and leave and bundles are split: the leader has heard of everybody by then."""

Factor = tuple[str, float]
"""Of what, and how many times as much; of everything if that is empty."""


@dataclass(frozen=True)
class WhatIf:
    """What is supposed.

    ``added`` brokers join after the first minute, which can take what a broker that joins can, and ``removed`` ones are
    stopped for good. ``bigger`` brokers can take so many times as much, and ``loads`` of namespaces, bundles and topics (by
    full name) are so many times as much, from the beginning. After the first minute bundles are split, those named in
    ``splits`` and the ``largest`` by messages per second; their parts stay where they are.
    """

    added: int = 0
    removed: tuple[str, ...] = ()
    bigger: tuple[Factor, ...] = ()
    loads: tuple[Factor, ...] = ()
    splits: tuple[str, ...] = ()
    largest: int = 0

    def __bool__(self) -> bool:
        """Whether anything is supposed."""
        return self != WhatIf()

    def and_also(self, other: WhatIf) -> WhatIf:
        """Both: factors multiply."""
        return WhatIf(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(WhatIf)))

    def of(self, scenario: Scenario) -> Scenario:
        """The scenario in which it is so. What happens to brokers that are removed does not happen."""
        if not self:
            return scenario
        there = [event for event in scenario.events if event.broker not in self.removed]
        leaving = [Event(AFTER, "stop", broker) for broker in self.removed]
        joining = [Event(AFTER, "start", broker) for broker in self.names_of_added(scenario)]
        return replace(scenario, source=Supposed(scenario.source, self), events=(*there, *leaving, *joining))

    def names_of_added(self, scenario: Scenario) -> list[str]:
        """What the added brokers are called."""
        names = (f"added-{number}:8080" for number in range(1, self.added + len(scenario.brokers) + 1))
        return [name for name in names if name not in scenario.brokers][: self.added]

    def brokers_worth(self, brokers: Sequence[str]) -> float:
        """How many brokers it takes, of which these are there: one that can take twice as much counts twice."""
        remaining = sum(product(self.bigger, "", broker) for broker in brokers if broker not in self.removed)
        return remaining + self.added * product(self.bigger, "")


NOTHING_ELSE = WhatIf()


def product(factors: Sequence[Factor], *names: str) -> float:
    """All factors of any of these names together."""
    return float(np.prod([factor for name, factor in factors if name in names]))


@dataclass(frozen=True)
class Supposed:
    """The cluster of another source, of which something is supposed."""

    source: Source
    what_if: WhatIf

    @property
    def brokers(self) -> tuple[str, ...]:
        """Those of the source: others join later."""
        return self.source.brokers

    def cluster(self, random: np.random.Generator) -> Cluster:
        """The cluster with other capacities and loads. Raises Unusable if it lacks what is named."""
        cluster, bigger = self.source.cluster(random), self.what_if.bigger
        for name in [*self.what_if.removed, *(name for name, _ in bigger if name)]:
            if name not in cluster.brokers:
                raise Unusable(f"there is no broker {name!r}; there are {', '.join(cluster.brokers)}")
        for name in self.what_if.splits:
            if name not in cluster.bundles:
                raise Unusable(f"there is no bundle {name!r}; one of those there are is {cluster.bundles[0]}")
        if len(self.what_if.removed) + 1 > len(cluster.brokers) + self.what_if.added:
            raise Unusable("no broker would be left")
        pairs = zip(cluster.brokers, cluster.capacities, strict=True)
        capacities = tuple(_times(capacity, product(bigger, "", broker)) for broker, capacity in pairs)
        joining = _times(cluster.joining or cluster.capacities[0], product(bigger, ""))
        topics = replace(cluster.topics, factor=self._factor(cluster))
        return replace(cluster, capacities=capacities, joining=joining, topics=topics)

    def _factor(self, cluster: Cluster) -> NDArray[np.float64]:
        """How many times as much each topic carries."""
        factor = np.ones(len(cluster.topics.bundle)) if cluster.topics.factor is None else cluster.topics.factor.copy()
        for name, times in self.what_if.loads:
            concerned = _topics_of(name, cluster.bundles, cluster.topics)
            if not concerned.any():
                raise Unusable(f"there are no topics of {name!r}; name a namespace, a bundle with topics, or a known topic")
            factor[concerned] *= times
        return factor


def _topics_of(name: str, bundles: Sequence[str], topics: Topics) -> NDArray[np.bool_]:
    """The topics that a name is of: all if it is empty, else those of a namespace or a bundle, or one by its full name."""
    if not name:
        return np.ones(len(topics.bundle), dtype=np.bool_)
    if "://" in name:
        namespace = namespace_of_topic(name)
        own = np.array([namespace_of(bundle) == namespace for bundle in bundles])
        return np.asarray(own[topics.bundle] & (topics.hash == topic_hash(name)))
    own = np.array([name in (bundle, namespace_of(bundle)) for bundle in bundles])
    return np.asarray(own[topics.bundle])


def _times(capacity: Capacity, factor: float) -> Capacity:
    return Capacity(*(each * factor for each in astuple(capacity)))
