"""The cluster of a snapshot: bundles where the reports say they are, topics with what the snapshot says of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from fencepost.model.balance.averages import never_seen
from fencepost.model.balance.load_data import LoadData, LocalBrokerData, NamespaceBundleStats, ResourceUsage, namespace_of
from fencepost.model.balance.load_manager import Snapshot
from fencepost.model.balance.simulation.cluster import UNOWNED, Capacity, Cluster, Topics, Traits
from fencepost.model.balance.splitting import Topic
from fencepost.model.pulsar.hash_range import FULL, Bundle, Layout, Refused

CARRIES = 0.05
"""A broker shows what its network can take if it carries at least this part of the mean: something else uses the network of
one that carries less."""


class Unusable(Exception):
    """A snapshot from which no cluster can be made; the message says why."""


@dataclass(frozen=True)
class Pictured:
    """The cluster that a snapshot shows.

    What each bundle carries are its last statistics, or else its short-term averages. Without a list of its topics, a bundle
    has as many as it counts, evenly over its range and all the same. A part of the hash range that the snapshot does not
    speak of is a bundle without topics. A broker's CPU costs as much per message (or per byte, if it handles no messages)
    as its report shows; where it shows nothing, the mean of the others. So does its network in each direction, per byte; where
    the report shows nothing, it can take its limit, or the mean of the others, or anything. ``default`` is for what no report
    shows.
    """

    snapshot: Snapshot
    default: Capacity = field(default_factory=Capacity)

    @property
    def brokers(self) -> tuple[str, ...]:
        """The live brokers, in the order of the snapshot."""
        return tuple(self.snapshot.load.brokers)

    def cluster(self, random: np.random.Generator) -> Cluster:
        """Nothing is drawn. Raises Unusable."""
        return self._cluster

    @cached_property
    def _cluster(self) -> Cluster:
        data = self.snapshot.load
        owners = _owners(data)
        layouts = _layouts([*owners, *data.bundles])
        names = tuple(f"{namespace}/{bundle}" for namespace, layout in layouts.items() for bundle in layout.bundles)
        places = {broker: place for place, broker in enumerate(self.brokers)}
        owned = np.array([places[owners[name]] if name in owners else UNOWNED for name in names], dtype=np.intp)
        topics = _topics(names, owners, self.snapshot)
        capacities = _capacities(data, self.default)
        traits = {
            broker: Traits(report.brokerVersionString, report.persistentTopicsEnabled, report.nonPersistentTopicsEnabled)
            for broker, report in data.reports.items()
        }
        policies, known = self.snapshot.policies, _without_reports(data)
        return Cluster(self.brokers, capacities, names, owned, layouts, topics, policies, known, traits=traits)


def _without_reports(data: LoadData) -> LoadData:
    """What the leader keeps: the reports are made again from what the brokers carry."""
    return replace(data, brokers={}, loads={})


def _owners(data: LoadData) -> dict[str, str]:
    """Who owns each bundle: who reports it, or the live broker that it is preallocated to.

    Of two brokers that both report it, it is the one whose report is later.
    """
    placed = {bundle: broker for bundle, broker in data.preallocated.items() if broker in data.brokers}
    reported = sorted(data.reports.items(), key=lambda item: item[1].lastUpdate)
    return placed | {bundle: broker for broker, report in reported for bundle in report.spoken_of}


def _layouts(bundles: Sequence[str]) -> dict[str, Layout]:
    """The layout of each namespace: the bundles that are known, and what lies between them."""
    boundaries, known = defaultdict[str, set[int]](set), defaultdict[str, set[Bundle]](set)
    for name in dict.fromkeys(bundles):
        try:
            bundle = Bundle.parse(name)
        except Refused as refusal:
            raise Unusable(str(refusal)) from None
        if name != f"{namespace_of(name)}/{bundle}":
            raise Unusable(f"{name!r} is no full name of a bundle; write it as Pulsar does: tenant/namespace/{bundle}")
        boundaries[namespace_of(name)] |= {0, *bundle, FULL.last}
        known[namespace_of(name)].add(bundle)
    layouts = {}
    for namespace, cuts in boundaries.items():
        try:
            layouts[namespace] = Layout(tuple(sorted(cuts)))
        except Refused as refusal:
            raise Unusable(f"the bundles of {namespace} are no layout: {refusal}") from None
        overlapping = known[namespace] - set(layouts[namespace].bundles)
        if overlapping:
            raise Unusable(f"the bundles of {namespace} overlap: another one begins or ends inside {min(overlapping)}")
    if not layouts:
        raise Unusable("there are no bundles")
    return layouts


def _topics(names: Sequence[str], owners: dict[str, str], snapshot: Snapshot) -> Topics:
    places, hashes, rates, producers, consumers = list[int](), list[int](), list[list[float]](), list[int](), list[int]()
    data = snapshot.load
    stats = {bundle: its for broker in data.reports for bundle, its in data.stats_of(broker).items()}
    for place, name in enumerate(names):
        carried = stats.get(name)
        if carried is None:
            if name not in owners and name not in data.bundles:
                continue
            carried = data.bundles.get(name, never_seen()).as_last_seen
        listed = snapshot.topics.get(name) or _alike(Bundle.parse(name), carried)
        for topic in listed:
            places.append(place)
            hashes.append(topic.load.hash)
            rates.append([topic.msgRateIn, topic.msgRateOut, topic.msgThroughputIn, topic.msgThroughputOut])
        producers += _shared(carried.producerCount, len(listed))
        consumers += _shared(carried.consumerCount, len(listed))
    return Topics(
        np.array(places, dtype=np.intp),
        np.array(hashes, dtype=np.int64),
        np.array(rates, dtype=np.float64).reshape(-1, 4).T.copy(),
        np.array(producers, dtype=np.int64),
        np.array(consumers, dtype=np.int64),
    )


def _alike(bundle: Bundle, carried: NamespaceBundleStats) -> list[Topic]:
    """As many topics as the bundle counts, at least one, that carry the same each."""
    count = max(carried.topics, 1)
    rates = (carried.msgRateIn, carried.msgRateOut, carried.msgThroughputIn, carried.msgThroughputOut)
    each = [rate / count for rate in rates]
    span = bundle.upper - bundle.lower
    return [Topic(None, bundle.lower + span * (2 * number + 1) // (2 * count), *each) for number in range(count)]


def _shared(total: int, among: int) -> list[int]:
    """A number of clients over topics, as evenly as it goes."""
    return [total // among + (number < total % among) for number in range(among)]


def _capacities(data: LoadData, default: Capacity) -> tuple[Capacity, ...]:
    measured = {broker: _measured(report) for broker, report in data.reports.items()}
    rates = [c.rate for c in measured.values() if c is not None and math.isfinite(c.rate)]
    throughputs = [c.throughput for c in measured.values() if c is not None and math.isfinite(c.throughput)]
    usual = replace(
        default,
        rate=fmean(rates) if rates else math.inf if throughputs else default.rate,
        throughput=fmean(throughputs) if throughputs else default.throughput,
    )
    incoming = _networks({b: (report.bandwidthIn, report.msgThroughputIn) for b, report in data.reports.items()})
    outgoing = _networks({b: (report.bandwidthOut, report.msgThroughputOut) for b, report in data.reports.items()})
    return tuple(
        replace(measured.get(b) or usual, incoming=incoming.get(b, math.inf), outgoing=outgoing.get(b, math.inf))
        for b in data.brokers
    )


def _measured(report: LocalBrokerData) -> Capacity | None:
    """The capacity of a broker's CPU, by what it carries and how much of it that takes; None if that is not to be seen."""
    part = report.cpu.percent / 100
    if part <= 0 or (report.rate <= 0 and report.throughput <= 0):
        return None
    if report.rate > 0:
        return Capacity(rate=report.rate / part)
    return Capacity(rate=math.inf, throughput=report.throughput / part)


def _networks(reports: Mapping[str, tuple[ResourceUsage, float]]) -> dict[str, float]:
    """What each broker's network can take in one direction, in bytes/s, by how much of it is used and what is carried."""
    least = CARRIES * fmean(carried for _, carried in reports.values()) if reports else 0.0
    measured = {
        broker: carried / (network.percent / 100)
        for broker, (network, carried) in reports.items()
        if network.percent > 0 and carried > 0 and carried >= least
    }
    usual = fmean(measured.values()) if measured else math.inf
    return {broker: measured.get(broker) or network.bytes_per_second or usual for broker, (network, _) in reports.items()}
