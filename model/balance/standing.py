"""How the loads of brokers stand to each other while bundles are being handed over: mean, deviation, fullest and emptiest.

Mirrors TransferShedder.LoadStats of pulsar-broker, and its isUnderLoaded and isOverLoaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fencepost.model.balance.amounts import RIGHT
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.java import ascending, quotient, square_root, total
from fencepost.model.balance.load_data import BrokerLoad


@dataclass(frozen=True)
class Standing:
    """The brokers by ascending load, those at both ends that were dealt with left out.

    ``mean`` and ``deviation`` (population) are over ``count`` brokers; the mean does not change as bundles move.
    """

    loads: Mapping[str, BrokerLoad]
    ordered: tuple[str, ...]
    count: int
    squares: float
    mean: float
    deviation: float
    transfers: int = 0

    @classmethod
    def of(cls, fresh: Sequence[str], loads: Mapping[str, BrokerLoad]) -> Standing:
        """The standing at first: statistics over the brokers whose reports are fresh, the order over all."""
        values = [loads[broker].weightedMaxEMA for broker in fresh]
        squares, mean = total(value * value for value in values), total(values) / len(values)
        deviation = square_root(squares / len(values) - mean * mean)
        ordered = ascending(loads, lambda broker: loads[broker].weightedMaxEMA)
        return cls(loads, tuple(ordered), len(values), squares, mean, deviation)

    @property
    def fullest(self) -> str:
        """The broker with the most load that was not dealt with."""
        return self.ordered[-1]

    @property
    def emptiest(self) -> str:
        """The broker with the least load to which nothing was handed."""
        return self.ordered[0]

    def may_transfer(self, conf: Configuration) -> bool:
        """Whether there are two brokers left, and the cycle has not handed over as often as it may."""
        return self.transfers < conf.loadBalancerMaxNumberOfBrokerSheddingPerCycle and len(self.ordered) > 1

    def without_fullest(self) -> Standing:
        """The standing once the fullest broker is dealt with."""
        return replace(self, ordered=self.ordered[:-1])

    def after(self, most: float, least: float, offloaded: float) -> Standing:
        """The standing once the emptiest broker, at ``least``, has taken over a load from one at ``most``."""
        left, now = max(0.0, most - offloaded), least + offloaded
        squares = self.squares - (most * most + least * least) + (left * left + now * now)
        deviation = square_root(abs(squares / self.count - self.mean * self.mean))
        return replace(self, ordered=self.ordered[1:], squares=squares, deviation=deviation, transfers=self.transfers + 1)

    def reason(self, conf: Configuration) -> str:
        """Why something should be handed over; empty if nothing should."""
        target = conf.loadBalancerBrokerLoadTargetStd
        if self.deviation > target:
            return f"the standard deviation, {self.deviation:.6g}, is above {target:g}"
        if self._emptiest_is_underloaded(conf):
            return f"{self.emptiest} is underloaded"
        load = self.loads[self.fullest].weightedMaxEMA
        if load > conf.overload_threshold and load > self.mean + target:
            return f"{self.fullest} is overloaded"
        return ""

    def _emptiest_is_underloaded(self, conf: Configuration) -> bool:
        """Its load is a small part of the mean, or its throughput is that part of the fullest broker's."""
        part = min(0.5, max(0.0, conf.loadBalancerBrokerLoadTargetStd / 2.0))
        low, high = self.loads[self.emptiest], self.loads[self.fullest]
        return low.weightedMaxEMA < self.mean * part or low.msgThroughputEMA < high.msgThroughputEMA * part


def share(own: float, most: float, least: float) -> float:
    """The throughput that corresponds to half the difference of two loads, of a broker at ``most`` that carries ``own``."""
    return quotient(own * RIGHT.half(most, least), most)
