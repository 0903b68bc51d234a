"""The shedders of the modular manager, with what they remember from round to round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import cluster, settings
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.avg_shedder import AvgShedder
from fencepost.model.balance.configuration import IMPLEMENTATION, RELEASES, Version
from fencepost.model.balance.deviation_shedder import DeviationShedder, NoBrokers
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.overload_shedder import OverloadShedder
from fencepost.model.balance.shedding import Shedder
from fencepost.model.balance.threshold_shedder import ThresholdShedder
from fencepost.model.balance.uniform_load_shedder import UniformLoadShedder

RESOURCES = ("CPU", "Memory", "DirectMemory", "BandwidthIn", "BandwidthOut")
WEIGHTS = tuple(f"loadBalancer{name}ResourceWeight" for name in RESOURCES)


class Sheds(Rule):
    """One shedder over one to four rounds: what leaves which broker, in order, and the averages that it keeps."""

    def __init__(self, shedder: type[Shedder], names: tuple[str, ...], since: Version = "2.10.1") -> None:
        self.shedder = shedder
        self.name = shedder.__name__  # type: ignore[misc]
        self.mirrors = f"{self.name}.findBundlesForUnloading"  # type: ignore[misc]
        self.settings = (*WEIGHTS, *names)
        self.releases = RELEASES[RELEASES.index(since) :]  # type: ignore[misc]

    def draw(self, random: Random, release: Version) -> Case:
        conf = settings(random, release, self.settings)
        rounds: list[LoadData] = []
        wild = random.random() < 0.2 and self.shedder is not DeviationShedder
        for _ in range(random.randint(1, 4)):
            rounds.append(cluster(random, conf, wild=wild, before=rounds[-1] if rounds else None))
        return Case(self.name, self.name, conf, tuple(rounds))

    def request(self, case: Case) -> Mapping[str, object]:
        rounds = [{**wire.load(load), "active": list(load.brokers)} for load in case.rounds]
        return {"rule": "shed", "class": IMPLEMENTATION + self.name, "conf": wire.settings(case.conf), "rounds": rounds}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        shedder: Shedder = self.shedder()
        for number, (load, row) in enumerate(zip(case.rounds, answer["rounds"], strict=True), start=1):
            brokers, bundles = wire.in_order(load.brokers, row["brokers"]), wire.in_order(load.bundles, row["bundles"])
            if not case.conf.is_2_10:
                shedder = shedder.with_active_brokers(tuple(brokers))
            unloading, shedder = shedder.find_bundles_for_unloading(replace(load, brokers=brokers, bundles=bundles), case.conf)
            ours = {broker: list(names) for broker, names in unloading.unload.items()}
            theirs = {broker: names for broker, names in row.get("unload", {}).items() if names}
            if ours != theirs:
                failed = f", which throws {row['throws']}" if "throws" in row else ""
                return [f"round {number}: the model sheds {ours or 'nothing'}, the class {theirs or 'nothing'}{failed}"]
            if "averages" in row and "throws" not in row:
                averages = {broker: float(value) for broker, value in row["averages"].items()}
                mine = vars(shedder).get("averages", {})
                off = [b for b in {**averages, **mine} if not wire.same(averages.get(b, -1.0), mine.get(b, -1.0))]
                if off:
                    return [f"round {number}: average of {b}: model {mine.get(b)}, class {averages.get(b)}" for b in off]
        return []


class Deviates(Sheds):
    """DeviationShedder, by throughputs; in which order bundles leave a broker its answer does not say. 4.0.8 has none."""

    def __init__(self) -> None:
        super().__init__(DeviationShedder, ())
        self.releases = RELEASES[: RELEASES.index("4.0.8")]  # type: ignore[misc]

    def request(self, case: Case) -> Mapping[str, object]:
        return {**super().request(case), "class": "fencepost.policy.ByThroughput"}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        for number, (load, row) in enumerate(zip(case.rounds, answer["rounds"], strict=True), start=1):
            try:
                unloading, _ = DeviationShedder().find_bundles_for_unloading(load, case.conf)
            except NoBrokers:
                if row.get("throws") != "NoSuchElementException":
                    return [f"round {number}: the model fails, the class answers {row}"]
                continue
            ours = {broker: set(bundles) for broker, bundles in unloading.unload.items()}
            theirs = {broker: set(bundles) for broker, bundles in row.get("unload", {}).items()}
            if ours != theirs or "throws" in row:
                return [f"round {number}: the model sheds {ours}, the class {row}"]
        return []


DEVIATION = Deviates()
OVERLOAD = Sheds(OverloadShedder, ("loadBalancerBrokerOverloadedThresholdPercentage",))
THRESHOLD = Sheds(
    ThresholdShedder,
    (
        "loadBalancerHistoryResourcePercentage",
        "loadBalancerBrokerThresholdShedderPercentage",
        "loadBalancerBundleUnloadMinThroughputThreshold",
        "lowerBoundarySheddingEnabled",
    ),
)
UNIFORM = Sheds(
    UniformLoadShedder,
    (
        "loadBalancerMsgRateDifferenceShedderThreshold",
        "loadBalancerMsgThroughputMultiplierDifferenceShedderThreshold",
        "minUnloadMessage",
        "minUnloadMessageThroughput",
        "maxUnloadPercentage",
        "maxUnloadBundleNumPerShedding",
    ),
)
AVERAGE = Sheds(
    AvgShedder,
    (
        "loadBalancerAvgShedderLowThreshold",
        "loadBalancerAvgShedderHighThreshold",
        "loadBalancerAvgShedderHitCountLowThreshold",
        "loadBalancerAvgShedderHitCountHighThreshold",
        "minUnloadMessage",
        "minUnloadMessageThroughput",
        "maxUnloadPercentage",
    ),
    "3.0.7",
)
