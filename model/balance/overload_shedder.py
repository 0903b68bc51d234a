"""OverloadShedder: a broker at or above a fixed usage sheds what is above it, and a margin. The default of 2.8 and 2.9."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fencepost.model.balance.amounts import RIGHT
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.shedding import Unloading, at_least, candidates, kept_back, too_few
from fencepost.model.balance.usage import usage
from fencepost.model.balance.wording import percent, throughput


@dataclass(frozen=True)
class OverloadShedder:
    """Remembers nothing.

    need = throughput * (usage - threshold + 0.05): the smallest set of largest bundles that carry it, and at least one, even
    when the need is 0. Exactly the threshold sheds.
    """

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, OverloadShedder]:
        """What should be unloaded now; usage is weighted, before 4.0.8 unweighted."""
        unload: dict[str, tuple[str, ...]] = {}
        why: list[str] = []
        threshold = conf.overload_threshold
        bound = f"the threshold, {percent(threshold)}"
        for broker, report in data.reports.items():
            full = usage(report, conf)
            if not RIGHT.is_overloaded(full, threshold):
                why.append(f"{broker}: usage {percent(full)} is below {bound}")
                continue
            if len(report.owned) <= 1:
                why.append(too_few(broker, report))
                continue
            need = RIGHT.beyond_the_threshold(report.throughput, full, threshold)
            why.append(
                f"{broker}: usage {percent(full)} is at or above {bound};"
                f" to shed: {throughput(need)} of {throughput(report.throughput)}"
            )
            taken, reasons = at_least(need, candidates(data, report, conf, by_rate=False))
            why += reasons + kept_back(data, report, conf)
            if taken:
                unload[broker] = taken
        return Unloading(unload, tuple(why)), self

    def with_active_brokers(self, brokers: Collection[str]) -> OverloadShedder:
        """The same: nothing is remembered of a broker."""
        return self
