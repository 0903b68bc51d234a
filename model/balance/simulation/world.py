"""The world: who owns what, what everybody carries, and what can be done to bundles. It knows nothing of policies."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import astuple, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.load_data import namespace_of
from fencepost.model.balance.simulation.cluster import UNOWNED, Traits, places
from fencepost.model.balance.simulation.records import Namespaces, Sample
from fencepost.model.balance.simulation.run import Action
from fencepost.model.balance.simulation.scenario import Event, Scenario
from fencepost.model.balance.simulation.workload import course_of
from fencepost.model.pulsar.hash_range import Bundle, Layout, Refused

SECONDS = 60
Owning: TypeAlias = tuple[dict[str, int], NDArray[np.intp]]
"""The bundles of a broker with their places, and these alone."""


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Random numbers for one purpose, whatever else is drawn."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


class World:
    """A cluster that changes. ``minute`` is the one that is going on; ``actions`` is what was done so far.

    Bundles have places in arrays; a bundle that was split keeps its place and is in no layout. ``limits`` has a row for each
    part of Capacity, a column for each broker.
    """

    def __init__(self, scenario: Scenario, seed: int, minutes: int) -> None:
        cluster = scenario.source.cluster(stream(seed, "cluster"))
        self.cluster, self.scenario, self.minute = cluster, scenario, 0
        self.brokers = scenario.brokers
        self.place_of_broker = {broker: place for place, broker in enumerate(self.brokers)}
        joining = cluster.joining or cluster.capacities[0]
        capacities = (*cluster.capacities, *(joining for _ in self.brokers[len(cluster.brokers) :]))
        self.limits = np.array([astuple(capacity) for capacity in capacities]).T
        of_first = next(iter(cluster.traits.values()), Traits())
        self.traits = {broker: cluster.traits.get(broker, of_first) for broker in self.brokers}
        self.alive = np.arange(len(self.brokers)) < len(cluster.brokers)
        self.names = list(cluster.bundles)
        self.place_of = {name: place for place, name in enumerate(self.names)}
        self.owner = cluster.owners.copy()
        self.layouts = dict(cluster.layouts)
        self.topics = cluster.topics
        self.actions: list[Action] = []
        self.namespaces = Namespaces.of(self.names)
        groups = self.namespaces.number[cluster.topics.bundle]
        self._course = course_of(scenario.shapes, groups, minutes, lambda purpose: stream(seed, purpose))
        self._owned: dict[int, Owning] = {}
        self._all_owned: Mapping[str, Owning] | None = None
        self.pause = np.zeros(len(self.names))
        self.rates = cluster.topics.rates
        self._count_topics()

    def _count_topics(self) -> None:
        bundle, size = self.topics.bundle, len(self.names)
        ones = np.ones(len(bundle))
        counts = [np.bincount(bundle, clients, size) for clients in (ones, self.topics.producers, self.topics.consumers)]
        self.clients = np.stack(counts).astype(np.int64)

    # --- what there is

    @property
    def live(self) -> list[str]:
        """The brokers that are up."""
        return [broker for broker, up in zip(self.brokers, self.alive.tolist(), strict=True) if up]

    def owned_by(self, broker: str) -> dict[str, int]:
        """The bundles of a broker and their places."""
        return self._owned_by(broker)[0]

    def places_of(self, broker: str) -> NDArray[np.intp]:
        """The places of a broker's bundles; the same array until they change."""
        return self._owned_by(broker)[1]

    @property
    def owned(self) -> Mapping[str, Owning]:
        """What ``owned_by`` and ``places_of`` give of each broker that is up; the same mapping until that changes."""
        if self._all_owned is None:
            self._all_owned = {broker: self._owned_by(broker) for broker in self.live}
        return self._all_owned

    def _owned_by(self, broker: str) -> Owning:
        place = self.place_of_broker[broker]
        if place not in self._owned:
            at = np.flatnonzero(self.owner == place)
            self._owned[place] = {self.names[bundle]: bundle for bundle in at.tolist()}, at
        return self._owned[place]

    def is_in_layout(self, bundle: str) -> bool:
        """Whether the bundle is one of its namespace; one that was split is in no layout any more."""
        layout = self.layouts.get(namespace_of(bundle))
        return layout is not None and bundle in self.place_of and Bundle.parse(bundle) in layout.bundles

    def orphans(self) -> list[str]:
        """The bundles with topics, hence lookups, that nobody owns."""
        return [self.names[place] for place in np.flatnonzero((self.owner == UNOWNED) & (self.clients[0] > 0)).tolist()]

    def largest(self, count: int) -> list[str]:
        """So many bundles with the most messages per second, as the topics last carried them, the largest first."""
        offered = np.bincount(self.topics.bundle, self.rates[:2].sum(axis=0), len(self.names))
        return [self.names[place] for place in np.argsort(-offered, kind="stable")[:count].tolist()]

    def carried(self) -> tuple[Sample, float, bool]:
        """What the bundles carry in this minute, the messages per second that are offered, and whether they are as before.

        While nobody serves a bundle it carries nothing; the pauses are over with this minute.
        """
        rates, factor = self._course(self.minute, self.cluster.topics.rates), self.cluster.topics.factor
        if factor is not None:
            rates = rates * factor
        constant = self.minute > 0 and (rates is self.rates or all(map(np.array_equal, rates, self.rates)))
        self.rates = rates
        bundle, size = self.topics.bundle, len(self.names)
        offered = np.empty((len(rates), size))
        for number, row in enumerate(rates):
            alike = number % 2 == 1 and np.array_equal(row, rates[number - 1])  # of what comes in all goes out once
            offered[number] = offered[number - 1] if alike else np.bincount(bundle, row, size)
        part = np.where(self.owner == UNOWNED, 0.0, 1.0 - np.minimum(self.pause / SECONDS, 1.0))
        self.pause = np.zeros(size)
        return Sample(offered * part, self.clients), float(offered[:2].sum()), constant

    # --- what is done

    def happens(self, event: Event) -> None:
        """A broker crashes, stops or starts; an event that finds the broker as it would make it is passed over."""
        place = self.place_of_broker[event.broker]
        if bool(self.alive[place]) == (event.kind == "start"):
            return
        self.alive[place], self._all_owned = event.kind == "start", None
        if event.kind != "start":
            left = self.owner == place
            if event.kind == "crash":
                self.pause[left] += self.scenario.pauses.session
            self.owner[left] = UNOWNED
            self._changed(place)
        self.actions.append(Action(self.minute, event.kind, source=event.broker))

    def assign(self, bundle: str, broker: str, reason: str) -> bool:
        """A lookup gives a bundle that nobody owns to a broker; whether that worked."""
        place = self.place_of[bundle]
        refused = self._not_in_layout(bundle) or self._owned_already(bundle) or self._not_alive(broker)
        topics = int(self.clients[0, place])
        seconds = self.pause[place] + self.scenario.pauses.of_unload(topics)
        action = Action(self.minute, "assign", bundle, "", broker, reason, float(seconds), topics)
        return self._done(action, refused, place, broker)

    def unload(self, bundle: str, source: str, destination: str, reason: str) -> bool:
        """A bundle moves from its owner to another broker; whether that worked."""
        place = self.place_of.get(bundle, UNOWNED)
        refused = self._not_in_layout(bundle) or self._not_owner(bundle, source) or self._not_alive(destination)
        topics = 0 if refused else int(self.clients[0, place])
        action = Action(
            self.minute, "unload", bundle, source, destination, reason, self.scenario.pauses.of_unload(topics), topics
        )
        return self._done(action, refused, place, destination)

    def split(self, bundle: str, source: str, boundaries: tuple[int, ...], reason: str) -> list[str]:
        """The owner splits a bundle and owns its parts; their names, none if that did not work."""
        place = self.place_of.get(bundle, UNOWNED)
        refused = self._not_in_layout(bundle) or self._not_owner(bundle, source)
        layout, namespace = None, namespace_of(bundle)
        if not refused:
            try:
                layout = self.layouts[namespace].split(Bundle.parse(bundle), boundaries)
            except Refused as refusal:
                refused = str(refusal)
        topics = 0 if layout is None else int(self.clients[0, place])
        seconds = self.scenario.pauses.of_unload(topics)
        action = Action(self.minute, "split", bundle, source, source, reason, seconds, topics, boundaries, refused)
        if layout is None:
            self.actions.append(replace(action, seconds=0.0))
            return []
        self.actions.append(action)
        parts = self._cut(place, namespace, layout, boundaries)
        self.pause[[self.place_of[part] for part in parts]] = seconds
        return parts

    def _cut(self, place: int, namespace: str, layout: Layout, boundaries: tuple[int, ...]) -> list[str]:
        """The parts of a bundle take its place in the layout, its topics and its owner."""
        self.layouts[namespace] = layout
        parent, owner = Bundle.parse(self.names[place]), int(self.owner[place])
        edges = (parent.lower, *boundaries, parent.upper)
        parts = [f"{namespace}/{Bundle(lower, upper)}" for lower, upper in pairwise(edges)]
        first = len(self.names)
        # new ones, because load data of this minute still speak by the old ones
        self.names = [*self.names, *parts]
        self.place_of = {**self.place_of, **{part: first + number for number, part in enumerate(parts)}}
        self.namespaces = self.namespaces.with_parts(place, len(parts))
        self.owner = np.append(self.owner, np.full(len(parts), owner))
        self.owner[place] = UNOWNED
        self.pause = np.append(self.pause, np.zeros(len(parts)))
        inside = np.flatnonzero(self.topics.bundle == place)
        bundle = self.topics.bundle.copy()
        bundle[inside] = first + places(Layout((0, *boundaries, layout.hashes.last)), self.topics.hash[inside])
        self.topics = replace(self.topics, bundle=bundle)
        self._changed(owner)
        self._count_topics()
        return parts

    def _done(self, action: Action, refused: str, place: int, owner: str) -> bool:
        """Notes an action that gives a bundle to a broker, and carries it out unless it is refused."""
        self.actions.append(replace(action, seconds=0.0, topics=0, refused=refused) if refused else action)
        if not refused:
            self._changed(int(self.owner[place]), self.place_of_broker[owner])
            self.owner[place] = self.place_of_broker[owner]
            self.pause[place] = action.seconds
        return not refused

    def _changed(self, *brokers: int) -> None:
        self._all_owned = None
        for broker in brokers:
            self._owned.pop(broker, None)

    # --- what cannot be done

    def _not_in_layout(self, bundle: str) -> str:
        return "" if self.is_in_layout(bundle) else f"{bundle} is not in the layout of its namespace"

    def _owned_already(self, bundle: str) -> str:
        owner = int(self.owner[self.place_of[bundle]])
        return "" if owner == UNOWNED else f"{self.brokers[owner]} owns {bundle}"

    def _not_owner(self, bundle: str, broker: str) -> str:
        owner = int(self.owner[self.place_of[bundle]])
        if owner != UNOWNED and self.brokers[owner] == broker:
            return ""
        return f"{broker} does not own {bundle}" + (f": {self.brokers[owner]} does" if owner != UNOWNED else ": nobody does")

    def _not_alive(self, broker: str) -> str:
        place = self.place_of_broker.get(broker)
        return "" if place is not None and self.alive[place] else f"{broker} is not alive"
