"""What brokers measure of themselves, once a minute or less often: the load that they carry, and sometimes something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.configuration import Configuration, Resource
from fencepost.model.balance.java import percentages
from fencepost.model.balance.load_data import KILOBIT, LocalBrokerData, ResourceUsage
from fencepost.model.balance.reports import Figures, bandwidth
from fencepost.model.balance.simulation.cluster import UNOWNED
from fencepost.model.balance.simulation.records import Owned, Sample, record
from fencepost.model.balance.simulation.world import World, stream
from fencepost.model.balance.usage import RESOURCES, reported_usages, weighted_usages

SECONDS_OF_A_MINUTE = 60
WHOLE = 100.0
MOST_KILOBITS = 1e9
"""The limit of a network without one, where it was measured wrongly."""


class Load:
    """What the brokers carry in one minute: ``traffic`` (messages and bytes per second, in and out), ``clients`` (topics,
    producers, consumers) and how many ``bundles``, by broker; ``cpu``, ``incoming`` and ``outgoing`` are parts of what there
    is of each. ``network`` is what the network can take, in and out (bytes per second)."""

    def __init__(self, world: World, sample: Sample) -> None:
        size = len(world.brokers) + 1
        owner = world.owner - UNOWNED
        self.sample = sample
        self.traffic = np.stack([np.bincount(owner, row, size)[1:] for row in sample.rates])
        self.clients = np.stack([np.bincount(owner, row, size)[1:] for row in sample.clients])
        self.bundles = np.bincount(owner, minlength=size)[1:]
        self.rate, self.throughput = self.traffic[:2].sum(axis=0), self.traffic[2:].sum(axis=0)
        rate, throughput, *network = world.limits
        self.cpu = self.rate / rate + self.throughput / throughput
        self.network = np.stack(network)
        self.incoming, self.outgoing = self.traffic[2:] / self.network

    @property
    def usage(self) -> NDArray[np.float64]:
        """The largest part of a resource that each broker's load takes; above 1 where it takes more than there is."""
        most: NDArray[np.float64] = np.maximum(self.cpu, np.maximum(self.incoming, self.outgoing))
        return most


class Measured(Mapping[str, LocalBrokerData]):
    """The reports that the live brokers would write now, and what all of them show at a glance: most are not written.

    ``used`` and ``limits`` have a row for each of RESOURCES and a column for every broker of the world.
    """

    def __init__(self, world: World, load: Load, now: int, used: NDArray[np.float64], limits: NDArray[np.float64]) -> None:
        self.load, self.now, self._used, self._limits = load, now, used, limits
        self._percents = percentages(used, limits)
        self._owned = world.owned
        self._place_of, self._traits = world.place_of_broker, world.traits
        self._made: dict[str, LocalBrokerData] = {}

    @property
    def percents(self) -> dict[Resource, NDArray[np.float64]]:
        """The usage of each resource in percent, by broker of the world."""
        return dict(zip(RESOURCES, self._percents, strict=True))

    def figures(self, conf: Configuration) -> Figures[NDArray[np.float64]]:
        """What decides which reports are written, with a place for every broker of the world."""
        load, time = self.load, np.full(len(self._place_of), self.now)
        return Figures(load.rate, load.throughput, load.bundles, reported_usages(self.percents, conf), time)

    def averageable(self, conf: Configuration) -> NDArray[np.float64]:
        """The weighted usage and the throughput of every broker of the world: what the extensible manager averages."""
        return np.stack([weighted_usages(self.percents, conf), self.load.throughput])

    def __iter__(self) -> Iterator[str]:
        return iter(self._owned)

    def __len__(self) -> int:
        return len(self._owned)

    def __getitem__(self, broker: str) -> LocalBrokerData:
        if broker not in self._made:
            self._made[broker] = self._report(broker)
        return self._made[broker]

    def _report(self, broker: str) -> LocalBrokerData:
        place, (owned, at) = self._place_of[broker], self._owned[broker]
        rate_in, rate_out, throughput_in, throughput_out = self.load.traffic[:, place].tolist()
        topics, producers, consumers = self.load.clients[:, place].tolist()
        traits = self._traits[broker]
        columns = (rows[:, place].tolist() for rows in (self._used, self._limits, self._percents))
        resources = zip(RESOURCES, *columns, strict=True)
        return record(
            LocalBrokerData,
            **{
                name: record(ResourceUsage, usage=usage, limit=limit, unit="reported", percent=part)
                for name, usage, limit, part in resources
            },
            msgRateIn=rate_in,
            msgRateOut=rate_out,
            msgThroughputIn=throughput_in,
            msgThroughputOut=throughput_out,
            numTopics=int(topics),
            numBundles=len(owned),
            numConsumers=int(consumers),
            numProducers=int(producers),
            lastUpdate=self.now,
            lastStats=Owned(owned, at, self.load.sample),
            bundles=tuple(owned),
            lastBundleGains=(),
            lastBundleLosses=(),
            brokerVersionString=traits.version,
            persistentTopicsEnabled=traits.persistent,
            nonPersistentTopicsEnabled=traits.non_persistent,
        )


class Instruments:
    """The brokers' instruments, with the mistakes that they make in one run.

    Mirrors LinuxBrokerHostUsageImpl, which takes means since it last looked at the host, and the statistics of bundles that
    BrokerService.updateRates keeps. All brokers look at their hosts in the same minutes, and one that starts at once.
    """

    def __init__(self, world: World, seed: int, minutes: int, conf: Configuration | None = None) -> None:
        self._of_hosts = conf.loadBalancerHostUsageCheckIntervalMinutes if conf else 1
        self._of_bundles = max(1, -(-conf.statsUpdateFrequencyInSecs // SECONDS_OF_A_MINUTE)) if conf else 1
        self._looked: list[NDArray[np.float64]] = []
        self._shown: NDArray[np.float64] = np.full((2, len(RESOURCES), len(world.brokers)), np.nan)
        self._kept: Sample | None = None
        # broker by broker: those of the others stay the same if one more joins
        sensors, size = world.scenario.sensors, (len(world.brokers), minutes)
        spikes, silent, hasty = (stream(seed, kind).random(size).T for kind in ("spikes", "silent", "hasty"))
        self._spikes, self._silent, self._hasty = spikes < sensors.spikes, silent < sensors.silent, hasty < sensors.hasty

    def statistics(self, world: World, sample: Sample) -> Sample:
        """What the brokers know of their bundles: as of the last time, but of bundles that are new."""
        kept = self._kept
        if kept is None or world.minute % self._of_bundles == 0:
            self._kept = sample
            return sample
        old = kept.rates.shape[1]
        rates, clients = sample.rates.copy(), sample.clients.copy()
        rates[:, :old], clients[:, :old] = kept.rates, kept.clients
        self._kept = Sample(rates, clients)
        return self._kept

    def _seen(self, world: World, used: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the brokers know of their hosts: means since they last looked."""
        self._looked.append(np.stack([used, limits]))
        self._shown[..., ~world.alive] = np.nan
        if world.minute % self._of_hosts == 0:
            self._shown, self._looked = np.mean(self._looked, axis=0), []
        else:
            self._shown = np.where(np.isnan(self._shown), np.stack([used, limits]), self._shown)
        return self._shown

    def measured(self, world: World, load: Load, now: int, known: Sample | None = None) -> Measured:
        """What each live broker would report now. No more of a resource is used than there is.

        ``known`` is what the brokers know of their bundles, if that is not what these carry.
        """
        kilobits = load.network / KILOBIT
        used, limits = np.zeros((2, len(RESOURCES), len(world.brokers)))
        used[0], limits[0] = np.minimum(load.cpu, 1.0) * WHOLE, WHOLE
        used[3:] = np.minimum(load.traffic[2:], load.network) / KILOBIT
        limits[3:] = np.where(np.isfinite(kilobits), kilobits, 0.0)
        spike, hasty = self._spikes[world.minute], self._hasty[world.minute]
        used[:2, spike] = limits[:2, spike] = WHOLE
        for mistaken, sent in ((self._silent[world.minute], 0), (hasty, 1)):
            used[3:, mistaken], limits[3:, mistaken] = bandwidth(sent, 0), np.minimum(kilobits[:, mistaken], MOST_KILOBITS)
        if self._of_hosts > 1:
            used, limits = self._seen(world, used, limits)
        return Measured(world, load if known is None or known is load.sample else Load(world, known), now, used, limits)
