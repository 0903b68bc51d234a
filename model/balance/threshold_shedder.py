"""ThresholdShedder: a broker far above the mean of all, by usages averaged over time, sheds. The default from 2.10."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fencepost.model.balance.amounts import RIGHT
from fencepost.model.balance.averages import exponential
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.shedding import Unloading, at_least, candidates, kept_back, too_few
from fencepost.model.balance.usage import weighted_usage
from fencepost.model.balance.wording import MIB, percent, throughput

LOWER_BOUNDARY_MARGIN = 0.5


@dataclass(frozen=True)
class ThresholdShedder:
    """Remembers each broker's usage as an exponential average, the first sample taken as it is.

    A broker sheds whose average is at or above the mean of the averages plus the threshold:
    need = throughput * (average - mean - threshold + 0.05), unless that is below the minimum. An average that is NaN is not
    below anything, so that the broker sheds a bundle.
    """

    averages: Mapping[str, float] = field(default_factory=dict)

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, ThresholdShedder]:
        """What should be unloaded now, and the shedder with the averages advanced by this round."""
        following, mean = self._advanced(data, conf)
        if mean == 0:
            return Unloading(why=("the mean usage is 0",), averages=following.averages), following
        unload: dict[str, tuple[str, ...]] = {}
        why: list[str] = []
        threshold = conf.loadBalancerBrokerThresholdShedderPercentage / 100.0
        minimum = conf.loadBalancerBundleUnloadMinThroughputThreshold * MIB
        bound = f"the mean plus the threshold, {percent(mean)} + {percent(threshold)}"
        for broker, report in data.reports.items():
            average = following.averages[broker]
            head = f"{broker}: average {percent(average)}"
            if RIGHT.is_below(average, mean, threshold):
                why.append(f"{head} is below {bound}")
                continue
            need = RIGHT.beyond_the_mean(report.throughput, average, mean, threshold)
            why.append(f"{head} is at or above {bound}; to shed: {throughput(need)} of {throughput(report.throughput)}")
            if need < minimum:
                why.append(f"{broker}: that is below the minimum, {throughput(minimum)}")
            elif len(report.owned) <= 1:
                why.append(too_few(broker, report))
            else:
                taken, reasons = at_least(need, candidates(data, report, conf, by_rate=False))
                why += reasons + kept_back(data, report, conf)
                if taken:
                    unload[broker] = taken
        if not unload and conf.lowerBoundarySheddingEnabled:
            return following._by_lower_boundary(data, conf, why)
        return Unloading(unload, tuple(why), following.averages), following

    def _by_lower_boundary(self, data: LoadData, conf: Configuration, why: list[str]) -> tuple[Unloading, ThresholdShedder]:
        """tryLowerBoundaryShedding: if a broker is far below the mean, the fullest sheds half a threshold.

        The averages advance once more before the look. The minimum of a throughput to unload holds here as well.
        """
        following, mean = self._advanced(data, conf)
        threshold = conf.loadBalancerBrokerThresholdShedderPercentage / 100.0
        fullest, most = None, mean - threshold
        for broker, report in data.reports.items():
            if following.averages[broker] > most and len(report.owned) > 1:
                fullest, most = broker, following.averages[broker]
        low = [broker for broker in data.reports if following.averages[broker] < mean - threshold]
        if fullest is None or not low:
            head = f"lower boundary: no broker is below {percent(mean - threshold)}" if not low else "no broker has two bundles"
            return Unloading({}, (*why, head), following.averages), following
        report = data.reports[fullest]
        need = report.throughput * threshold * LOWER_BOUNDARY_MARGIN
        minimum = conf.loadBalancerBundleUnloadMinThroughputThreshold * MIB
        head = f"lower boundary: {', '.join(low)} below {percent(mean - threshold)}; {fullest} is the fullest"
        why = [*why, f"{head}, to shed: {throughput(need)} of {throughput(report.throughput)}"]
        if minimum > need:
            why.append(f"{fullest}: that is below the minimum, {throughput(minimum)}")
            return Unloading({}, tuple(why), following.averages), following
        taken, reasons = at_least(need, candidates(data, report, conf, by_rate=False))
        why += reasons + kept_back(data, report, conf)
        return Unloading({fullest: taken} if taken else {}, tuple(why), following.averages), following

    def _advanced(self, data: LoadData, conf: Configuration) -> tuple[ThresholdShedder, float]:
        """The averages with this round's usages, and the mean over the brokers of this round (0 if there is none)."""
        averages, total = dict(self.averages), 0.0
        weight = conf.loadBalancerHistoryResourcePercentage
        for broker, report in data.reports.items():
            averages[broker] = exponential(averages.get(broker), weighted_usage(report, conf), weight)
            total += averages[broker]
        return ThresholdShedder(averages), total / len(data.reports) if data.reports else 0.0

    def with_active_brokers(self, brokers: Collection[str]) -> ThresholdShedder:
        """Without the averages of brokers that are gone."""
        return ThresholdShedder({broker: average for broker, average in self.averages.items() if broker in brokers})
