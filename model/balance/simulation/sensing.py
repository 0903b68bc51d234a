"""What brokers measure of themselves once a minute: the load that they carry, and sometimes something else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model.balance.java import percentages
from model.balance.load_data import LocalBrokerData, ResourceUsage
from model.balance.reports import bandwidth
from model.balance.simulation.cluster import NOBODY
from model.balance.simulation.records import Owned, Sample, record
from model.balance.simulation.snapshot_cluster import KILOBIT
from model.balance.simulation.world import World, stream

WHOLE = 100.0
NOTHING, FULL = ResourceUsage(), ResourceUsage(WHOLE, WHOLE)


class Load:
    """What the brokers carry in one minute: ``traffic`` (messages and bytes per second, in and out) and ``clients`` (topics,
    producers, consumers) by broker; ``cpu``, ``incoming`` and ``outgoing`` are parts of what there is of each."""

    def __init__(self, world: World, sample: Sample) -> None:
        size = len(world.brokers) + 1
        owner = world.owner - NOBODY
        self.sample = sample
        self.traffic = np.stack([np.bincount(owner, row, size)[1:] for row in sample.rates])
        self.clients = np.stack([np.bincount(owner, row, size)[1:] for row in sample.clients])
        self.rate, self.throughput = self.traffic[:2].sum(axis=0), self.traffic[2:].sum(axis=0)
        most = np.array([(c.rate, c.throughput, c.network) for c in world.capacities])
        self.cpu = self.rate / most[:, 0] + self.throughput / most[:, 1]
        self.incoming, self.outgoing = self.traffic[2] / most[:, 2], self.traffic[3] / most[:, 2]
        self.network = most[:, 2]

    @property
    def usage(self) -> NDArray[np.float64]:
        """The largest part of a resource that each broker's load takes; above 1 where it takes more than there is."""
        most: NDArray[np.float64] = np.maximum(self.cpu, np.maximum(self.incoming, self.outgoing))
        return most


class Instruments:
    """The brokers' instruments, with the mistakes that they make in one run."""

    def __init__(self, world: World, seed: int, minutes: int) -> None:
        sensors, size = world.scenario.sensors, (minutes, len(world.brokers))
        self._spikes = stream(seed, "spikes").random(size) < sensors.spikes
        self._silent = stream(seed, "silent").random(size) < sensors.silent
        self._hasty = stream(seed, "hasty").random(size) < sensors.hasty

    def measured(self, world: World, load: Load, now: int) -> dict[str, LocalBrokerData]:
        """The report that each live broker would write now. No more of a resource is used than there is."""
        traffic, clients = load.traffic.T.tolist(), load.clients.T.tolist()
        cpu = _usages(np.minimum(load.cpu, 1.0) * WHOLE, np.full(len(world.brokers), WHOLE))
        kilobits = load.network / KILOBIT
        incoming, outgoing = (_usages(np.minimum(row, load.network) / KILOBIT, kilobits) for row in load.traffic[2:])
        made = {}
        for place, broker in enumerate(world.brokers):
            if not world.alive[place]:
                continue
            owned = world.owned_by(broker)
            topics, producers, consumers = clients[place]
            spike = self._spikes[world.minute, place]
            network = (incoming[place], outgoing[place])
            if self._silent[world.minute, place] or self._hasty[world.minute, place]:
                sent = 1.0 if self._hasty[world.minute, place] else 0.0
                network = (ResourceUsage(bandwidth(sent, 0), min(kilobits[place], 1e9)),) * 2
            rate_in, rate_out, throughput_in, throughput_out = traffic[place]
            made[broker] = record(
                LocalBrokerData,
                msgRateIn=rate_in,
                msgRateOut=rate_out,
                msgThroughputIn=throughput_in,
                msgThroughputOut=throughput_out,
                cpu=FULL if spike else cpu[place],
                memory=FULL if spike else NOTHING,
                directMemory=NOTHING,
                bandwidthIn=network[0],
                bandwidthOut=network[1],
                numTopics=int(topics),
                numBundles=len(owned),
                numConsumers=int(consumers),
                numProducers=int(producers),
                lastUpdate=now,
                lastStats=Owned(owned, load.sample),
                bundles=tuple(owned),
                lastBundleGains=(),
                lastBundleLosses=(),
                brokerVersionString=None,
                persistentTopicsEnabled=True,
            )
        return made


def _usages(used: NDArray[np.float64], limits: NDArray[np.float64]) -> list[ResourceUsage]:
    """The usage of a resource by each broker; without a limit nothing is known of it."""
    known = np.where(np.isfinite(limits), limits, 0.0)
    columns = zip(used.tolist(), known.tolist(), percentages(used, known).tolist(), strict=True)
    return [record(ResourceUsage, usage=usage, limit=limit, percent=percent) for usage, limit, percent in columns]
