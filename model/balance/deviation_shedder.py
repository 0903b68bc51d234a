"""DeviationShedder: the fullest broker sheds while it is too many standard deviations above the mean. Up to 3.0.7.

Upstream it is an abstract class: what a broker's and a bundle's load are and which deviation is too much is left to
subclasses, of which Pulsar never shipped one. Here the loads are throughputs and one standard deviation is too much.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.java import quotient, square_root, total
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.shedding import Unloading
from fencepost.model.balance.wording import throughput


class NoBrokers(Exception):
    """Every broker was looked at, or there was none: upstream asks an empty set for its last element, and fails."""


@dataclass(frozen=True)
class DeviationShedder:
    """Remembers nothing. ``threshold`` is in standard deviations.

    It looks neither at the grace period nor at how many bundles a broker has. A move is counted as taken from the emptiest
    broker as well as from the fullest: the emptiest then seems even emptier, as upstream.
    """

    threshold: float = 1.0

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, DeviationShedder]:
        """What should be unloaded now; raises NoBrokers where upstream throws."""
        loads = {broker: report.throughput for broker, report in data.reports.items()}
        if not loads:
            raise NoBrokers("there is no broker with a report")
        count = len(loads)
        mean = total(loads.values()) / count
        squares = total(load * load for load in loads.values())
        standing = {(load, broker) for broker, load in loads.items()}
        carried_by = data.columns.column("shortTermData", "throughput")
        unload: dict[str, tuple[str, ...]] = {}
        moved: set[str] = set()
        bundles: list[tuple[float, str]] = []
        last, why = None, []
        while True:
            deviation = square_root(squares / count - mean * mean)
            if not standing:
                raise NoBrokers("every broker was looked at and none could shed")
            load, broker = max(standing)
            excess = quotient(load - mean, deviation)
            why.append(
                f"{broker}: {throughput(load)} is {excess:.6g} standard deviations ({throughput(deviation)})"
                f" above the mean, {throughput(mean)}"
            )
            if not excess > self.threshold:
                return Unloading(unload, tuple(why)), self
            if broker != last:
                bundles = sorted((carried_by.get(bundle, 0.0), bundle) for bundle in data.reports[broker].owned - moved)
                last = broker
            least, emptiest = min(standing)
            while bundles:
                carried, bundle = bundles.pop()
                if carried + least < load:
                    break
                why.append(f"  {bundle}: {throughput(carried)}, stays: the emptiest broker would be as full")
            else:
                standing.remove((load, broker))
                continue
            unload[broker] = (*unload.get(broker, ()), bundle)
            moved.add(bundle)
            why.append(f"  {bundle}: {throughput(carried)}, unloaded")
            standing -= {(load, broker), (least, emptiest)}
            squares -= load * load + least * least
            squares += (load - carried) * (load - carried) + (least - carried) * (least - carried)
            standing |= {(least - carried, emptiest), (load - carried, broker)}

    def with_active_brokers(self, brokers: Collection[str]) -> DeviationShedder:
        """The same: nothing is remembered of a broker."""
        return self
