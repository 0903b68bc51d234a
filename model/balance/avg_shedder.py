"""AvgShedder: the fullest brokers, paired with the emptiest, shed to them once the difference has lasted; it places as well."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fencepost.model.balance.amounts import RIGHT
from fencepost.model.balance.bundle_brokers import BundleBrokers
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.java import ascending, descending, hash_order, sorted_by, to_int
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.shedding import Unloading, candidates, kept_back, never_shed
from fencepost.model.balance.usage import weighted_usage
from fencepost.model.balance.wording import rate, throughput


@dataclass(frozen=True)
class AvgShedder:
    """Remembers how often in a row each broker's difference was low or high, and where it meant bundles to go.

    Up to 5.0.0-M1 that is ``memory``, since 4.0.8 by what a bundle carries. Since 5.0.1 it is ``planned``, by its name: from
    which broker and to which it is to go, until the attempt to unload is over. Brokers and bundles that are equal are in the
    order of Java's hash tables.
    """

    low_hits: Mapping[str, int] = field(default_factory=dict)
    high_hits: Mapping[str, int] = field(default_factory=dict)
    memory: BundleBrokers = field(default_factory=BundleBrokers)
    planned: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, AvgShedder]:
        """What should be unloaded now, and the shedder with its counters advanced."""
        scores = {broker: weighted_usage(data.reports[broker], conf) * 100 for broker in hash_order(data.reports)}
        by_name = not conf.before("5.0.1")
        memory = self.memory if by_name else self.memory.reported(data.bundles, by_object=conf.before("4.0.8"))
        low, high, why = dict(self.low_hits), dict(self.high_hits), []
        pairs = []
        for emptiest, fullest in _paired(scores, conf):
            difference = scores[fullest] - scores[emptiest]
            both = (emptiest, fullest)
            if difference < conf.loadBalancerAvgShedderLowThreshold:
                _clear(low, both)
                _clear(high, both)
            else:
                pairs.append(both)
                _hit(low, both)
                if difference < conf.loadBalancerAvgShedderHighThreshold:
                    _clear(high, both)
                else:
                    _hit(high, both)
            why.append(
                f"{fullest} and {emptiest}: {scores[fullest]:.6g} and {scores[emptiest]:.6g} differ by {difference:.6g}"
                f" (low {conf.loadBalancerAvgShedderLowThreshold:g}, high {conf.loadBalancerAvgShedderHighThreshold:g});"
                f" low hits {max(low.get(b, 0) for b in both)} of {conf.loadBalancerAvgShedderHitCountLowThreshold},"
                f" high hits {max(high.get(b, 0) for b in both)} of {conf.loadBalancerAvgShedderHitCountHighThreshold}"
            )
        if not pairs:
            return Unloading(why=tuple(why)), AvgShedder(memory=memory)
        unload: dict[str, tuple[str, ...]] = {}
        meant: dict[str, str] = {}
        planned: dict[str, tuple[str, str]] = {}
        for emptiest, fullest in pairs:
            both = (emptiest, fullest)
            if not any(
                high.get(broker, 0) >= conf.loadBalancerAvgShedderHitCountHighThreshold
                or low.get(broker, 0) >= conf.loadBalancerAvgShedderHitCountLowThreshold
                for broker in both
            ):
                continue
            _clear(low, both)
            _clear(high, both)
            taken, reasons = _fitting(data, conf, fullest, emptiest)
            why += reasons
            for bundle in taken:
                if by_name:
                    planned[bundle] = (fullest, emptiest)
                else:
                    equal = memory.get(bundle)
                    if equal is not None and meant.get(equal.bundle, emptiest) != emptiest:
                        why.append(f"  {bundle}: its averages equal those of {equal.bundle}, which goes to {emptiest}, too")
                    memory = memory.put(bundle, (emptiest,))
                meant[bundle] = emptiest
            if taken:
                unload[fullest] = (*unload.get(fullest, ()), *taken)
        return Unloading(unload, tuple(why), destinations=meant), AvgShedder(low, high, memory, planned)

    def with_active_brokers(self, brokers: Collection[str]) -> AvgShedder:
        """The same: upstream forgets no broker."""
        return self


def _paired(scores: Mapping[str, float], conf: Configuration) -> list[tuple[str, str]]:
    """The emptiest with the fullest, then inwards; with an odd number the middle broker with itself.

    Before 4.0.8 scores that differ by less than one count as equal, whatever lies between them, so that the order depends on
    that of the hash table.
    """
    if conf.before("4.0.8"):
        ordered = sorted_by(scores, lambda one, other: to_int(scores[one] - scores[other]))
    else:
        ordered = ascending(scores, lambda broker: scores[broker])
    return [(ordered[place], ordered[-1 - place]) for place in range((len(ordered) + 1) // 2)]


def _table(data: LoadData, conf: Configuration) -> int:
    """How many bundles are in the hash table of those that may be shed: getBundleDataForLoadShedding of LoadData."""
    counts = data.once("bundles of namespaces", lambda: data.columns.counts((), ()))
    return sum(count for namespace, count in counts.items() if not never_shed(namespace, conf))


def _hit(counts: dict[str, int], brokers: tuple[str, str]) -> None:
    for broker in brokers:
        counts[broker] = counts.get(broker, 0) + 1


def _clear(counts: dict[str, int], brokers: tuple[str, str]) -> None:
    for broker in brokers:
        counts.pop(broker, None)


def _fitting(data: LoadData, conf: Configuration, fullest: str, emptiest: str) -> tuple[tuple[str, ...], list[str]]:
    """The bundles of the fullest, the largest first, that carry something and fit into what remains of the amount.

    The amount is a share of the difference in rates or, if that is not above its minimum, in throughputs. Upstream warns
    about a broker with a single bundle, but sheds it all the same if it fits.
    """
    full, empty = data.reports[fullest], data.reports[emptiest]
    rates = RIGHT.of_the_difference(full.rate, empty.rate, conf.maxUnloadPercentage)
    throughputs = RIGHT.of_the_difference(full.throughput, empty.throughput, conf.maxUnloadPercentage)
    if rates > conf.minUnloadMessage:
        by_rate, remaining = True, rates
    elif throughputs > conf.minUnloadMessageThroughput:
        by_rate, remaining = False, throughputs
    else:
        return (), [f"{fullest}: {rate(rates)} and {throughput(throughputs)} are not above the minima; nothing is shed"]
    amount = rate if by_rate else throughput
    reasons = [f"{fullest}: up to {amount(remaining)} to {emptiest}"]
    taken = []
    loads = {load.bundle: load for load in candidates(data, full, conf, by_rate=by_rate)}
    in_order = [loads[name] for name in hash_order(loads, _table(data, conf))]
    for load in descending(in_order, lambda load: load.amount):
        if load.amount > 0 and RIGHT.fits(load.amount, remaining):
            taken.append(load.bundle)
            remaining += -load.amount
            reasons.append(f"  {load.bundle}: {amount(load.amount)}, unloaded ({amount(remaining)} remain)")
        else:
            reasons.append(f"  {load.bundle}: {amount(load.amount)}, stays: nothing, or larger than what remains")
    return tuple(taken), reasons + kept_back(data, full, conf)
