"""A cluster at the beginning of a run: brokers and what they can take, bundles and their owners, topics and their rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.simulation.workload import Rates
from fencepost.model.pulsar.hash_range import FULL, Layout

UNOWNED = -1
"""The place of the owner of a bundle that no broker owns."""


@dataclass(frozen=True)
class Capacity:
    """What a broker can take: at ``rate`` messages/s its CPU is full, at ``throughput`` bytes/s too (both add up), and at
    ``incoming`` or ``outgoing`` bytes/s its network."""

    rate: float = 100_000.0
    throughput: float = math.inf
    incoming: float = 1.25e9
    outgoing: float = 1.25e9


@dataclass(frozen=True)
class Traits:
    """What a broker says of itself in each report: its version, and which kinds of topics it serves."""

    version: str | None = None
    persistent: bool = True
    non_persistent: bool = True


@dataclass(frozen=True, eq=False)
class Topics:
    """The topics: the place of each one's bundle in the cluster's bundles, its hash, its rates, and how many clients it has.

    ``factor`` says how many times as much each carries as its rates, whatever these become; once, if it is None.
    """

    bundle: NDArray[np.intp]
    hash: NDArray[np.int64]
    rates: Rates
    producers: NDArray[np.int64]
    consumers: NDArray[np.int64]
    factor: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Cluster:
    """What a run begins with.

    ``capacities`` has one entry for each of ``brokers``, ``owners`` the place of the owner of each bundle, or UNOWNED.
    ``known`` is what the leader knows already: averages, what was unloaded lately, the time. ``joining`` is what a broker
    can take that joins later: if it is None, what the first one can. ``traits`` has what brokers say of
    themselves; those that it lacks say what the first of these says.
    """

    brokers: tuple[str, ...]
    capacities: tuple[Capacity, ...]
    bundles: tuple[str, ...]
    owners: NDArray[np.intp]
    layouts: Mapping[str, Layout]
    topics: Topics
    policies: Policies = field(default_factory=Policies)
    known: LoadData = field(default_factory=LoadData)
    joining: Capacity | None = None
    traits: Mapping[str, Traits] = field(default_factory=dict)


class Source(Protocol):
    """Where the cluster of a run comes from."""

    @property
    def brokers(self) -> tuple[str, ...]:
        """The brokers that are there from the beginning."""
        ...

    def cluster(self, random: np.random.Generator) -> Cluster:
        """The cluster of one run; what is left open is drawn."""
        ...


@dataclass(frozen=True)
class Generated:
    """A cluster made to measure: ``load`` is the mean usage of its brokers.

    Topics' rates are proportional to 1 / rank ** ``zipf`` (0: all the same, except for a factor from 0.5 to 1.5). Bundles are
    spread evenly over the namespaces and, at random, over the brokers; topics at random over the hash range. Of what comes in
    all goes out once. Each topic has a producer and a consumer. ``names`` are the namespaces, if they are not to be made up.
    """

    count: int = 20
    bundles: int = 400
    namespaces: int = 10
    topics_per_bundle: int = 10
    load: float = 0.5
    zipf: float = 0.7
    message_bytes: float = 4096.0
    capacity: Capacity = field(default_factory=Capacity)
    names: tuple[str, ...] = ()

    @property
    def brokers(self) -> tuple[str, ...]:
        """broker-1 and so on."""
        return tuple(f"broker-{number}:8080" for number in range(1, self.count + 1))

    def cluster(self, random: np.random.Generator) -> Cluster:
        """Draws who owns what, where topics are and what they carry."""
        layouts, names = _layouts(self.bundles, self.namespaces, self.names)
        count = self.bundles * self.topics_per_bundle
        hashes = random.integers(0, FULL.last + 1, count)
        namespaces = random.integers(0, len(layouts), count)
        firsts = np.cumsum([0, *(len(layout) for layout in layouts.values())])
        bundle = np.empty(count, dtype=np.intp)
        for number, layout in enumerate(layouts.values()):
            own = namespaces == number
            bundle[own] = firsts[number] + places(layout, hashes[own])
        clients = np.ones(count, dtype=np.int64)
        topics = Topics(bundle, hashes, self._rates(count, random), clients, clients)
        owners = random.permutation(np.arange(self.bundles) % self.count)
        return Cluster(self.brokers, (self.capacity,) * self.count, names, owners, layouts, topics)

    def _rates(self, count: int, random: np.random.Generator) -> Rates:
        weights = random.permutation(np.arange(1, count + 1)) ** -self.zipf if self.zipf else random.uniform(0.5, 1.5, count)
        incoming = weights * (self.load * self.count * self.capacity.rate / 2 / weights.sum())
        return np.stack([incoming, incoming, incoming * self.message_bytes, incoming * self.message_bytes])


@lru_cache(maxsize=8)
def _layouts(bundles: int, namespaces: int, names: tuple[str, ...]) -> tuple[Mapping[str, Layout], tuple[str, ...]]:
    """The layouts of the namespaces, and the names of all bundles: the same in each run of a comparison."""
    layouts, all_bundles = {}, list[str]()
    for number in range(min(namespaces, bundles)):
        most = bundles * (number + 1) // namespaces - bundles * number // namespaces
        namespace = names[number] if names else f"public/namespace-{number + 1}"
        layouts[namespace] = Layout.of_equal_bundles(max(most, 1))
        all_bundles += [f"{namespace}/{bundle}" for bundle in layouts[namespace].bundles]
    return layouts, tuple(all_bundles)


def places(layout: Layout, hashes: NDArray[np.int64]) -> NDArray[np.intp]:
    """The place of each hash's bundle in the layout: Layout.find, for many hashes (the last bundle is closed above)."""
    inner = np.array(layout.boundaries[1:-1], dtype=np.int64)
    return np.searchsorted(inner, hashes, side="right").astype(np.intp)
