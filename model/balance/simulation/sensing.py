"""What brokers measure of themselves once a minute: the load that they carry, and sometimes something else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model.balance.load_data import LocalBrokerData, ResourceUsage
from model.balance.reports import bandwidth
from model.balance.simulation.cluster import NOBODY
from model.balance.simulation.records import Owned, Sample
from model.balance.simulation.snapshot_cluster import KILOBIT
from model.balance.simulation.world import World, stream

WHOLE = 100.0


class Load:
    """What the brokers carry in one minute: ``traffic`` (messages and bytes per second, in and out) and ``clients`` (topics,
    producers, consumers) by broker; ``cpu``, ``incoming`` and ``outgoing`` are parts of what there is of each."""

    def __init__(self, world: World, sample: Sample) -> None:
        size = len(world.brokers) + 1
        owner = world.owner - NOBODY
        rates, clients = sample.rates, sample.clients
        self.sample = sample
        self.traffic = np.stack([np.bincount(owner, rates[:, column], size)[1:] for column in range(4)], axis=1)
        self.clients = np.stack([np.bincount(owner, clients[:, column], size)[1:] for column in range(3)], axis=1)
        self.rate, self.throughput = self.traffic[:, :2].sum(axis=1), self.traffic[:, 2:].sum(axis=1)
        most = np.array([(c.rate, c.throughput, c.network) for c in world.capacities])
        self.cpu = self.rate / most[:, 0] + self.throughput / most[:, 1]
        self.incoming, self.outgoing = self.traffic[:, 2] / most[:, 2], self.traffic[:, 3] / most[:, 2]
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
        traffic, clients = load.traffic.tolist(), load.clients.tolist()
        cpu = (np.minimum(load.cpu, 1.0) * WHOLE).tolist()
        limits = (load.network / KILOBIT).tolist()
        used = [(np.minimum(load.traffic[:, column], load.network) / KILOBIT).tolist() for column in (2, 3)]
        made = {}
        for place, broker in enumerate(world.brokers):
            if not world.alive[place]:
                continue
            owned = world.owned_by(broker)
            topics, producers, consumers = clients[place]
            spike = bool(self._spikes[world.minute, place])
            network = [ResourceUsage(part[place], limits[place]) for part in used] if load.network[place] < np.inf else []
            if self._silent[world.minute, place] or self._hasty[world.minute, place]:
                kilobits = 1.0 if self._hasty[world.minute, place] else 0.0
                network = [ResourceUsage(bandwidth(kilobits, 0), min(limits[place], 1e9))] * 2
            incoming, outgoing = network or (NOTHING, NOTHING)
            rate_in, rate_out, throughput_in, throughput_out = traffic[place]
            made[broker] = LocalBrokerData(
                rate_in,
                rate_out,
                throughput_in,
                throughput_out,
                cpu=ResourceUsage(WHOLE if spike else cpu[place], WHOLE),
                memory=ResourceUsage(WHOLE, WHOLE) if spike else NOTHING,
                bandwidthIn=incoming,
                bandwidthOut=outgoing,
                numTopics=int(topics),
                numBundles=len(owned),
                numConsumers=int(consumers),
                numProducers=int(producers),
                lastUpdate=now,
                lastStats=Owned(owned, load.sample),
                bundles=tuple(owned),
            )
        return made


NOTHING = ResourceUsage()
