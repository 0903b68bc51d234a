"""The extensible manager: averages, reports, named bundles, filters and placement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.averages import Reports
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import report
from fencepost.checks.conformance.policy.extensible_clusters import (
    FILTERS,
    NAMED,
    SINCE,
    brokers,
    extensible,
    policies,
    with_loads,
    world,
)
from fencepost.checks.conformance.policy.shedders import WEIGHTS
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.broker_loads import advanced
from fencepost.model.balance.configuration import Version
from fencepost.model.balance.load_data import BrokerLoad, LoadData
from fencepost.model.balance.placement import LeastResourceUsageWithWeight
from fencepost.model.balance.reports import MILLIS_OF_A_MINUTE, Figures, must_report
from fencepost.model.balance.selection import select
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER
from fencepost.model.balance.top_bundles import top_bundles


class Loads(Rule):
    """A broker's averages of its usage and its throughput, after some samples."""

    name = "averages of the extensible manager"
    mirrors = "BrokerLoadData.update"
    releases = SINCE

    def draw(self, random: Random, release: Version) -> Case:
        conf = extensible(random, release, (*WEIGHTS, "loadBalancerHistoryResourcePercentage"))
        loads = [report(random, conf, {}, wild=random.random() < 0.2) for _ in range(random.randint(1, 6))]
        return Case(self.name, "BrokerLoadData", conf, tuple(LoadData({"b.x:1": one}) for one in loads))

    def request(self, case: Case) -> Mapping[str, object]:
        samples = [wire.report(load.reports["b.x:1"]) for load in case.rounds]
        return {"rule": "load", "conf": wire.settings(case.conf), "samples": samples}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        load: BrokerLoad | None = None
        for data in case.rounds:
            load = advanced(load, "b.x:1", data, case.conf)
        theirs = (float(answer["weightedMaxEMA"]), float(answer["msgThroughputEMA"]))
        assert load is not None
        ours = (load.weightedMaxEMA, load.msgThroughputEMA)
        return [] if all(map(wire.same, ours, theirs)) else [f"usage and throughput: model {ours}, class {theirs}"]

    def smaller(self, case: Case) -> Iterator[Case]:
        return (less for less in super().smaller(case) if all(load.brokers for load in less.rounds))


class UsageReports(Reports):
    """Whether a broker of the extensible manager reports, by what changed."""

    name = "reports of the extensible manager"
    mirrors = "BrokerLoadDataReporter.needBrokerDataUpdate"
    releases = SINCE

    def draw(self, random: Random, release: Version) -> Case:
        drawn = super().draw(random, release)
        conf = replace(drawn.conf, loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)
        return replace(drawn, rule=self.name, subject="BrokerLoadDataReporter", conf=conf)

    def request(self, case: Case) -> Mapping[str, object]:
        return {**super().request(case), "rule": "report of usage"}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        reports = case.rounds[0].reports
        last, now = (Figures.of(reports[name], case.conf) for name in ("last", "now"))
        if case.more["age"] == case.conf.loadBalancerReportUpdateMaxIntervalMinutes * MILLIS_OF_A_MINUTE:
            return []
        ours = bool(must_report(last._replace(time=0), now._replace(time=case.more["age"]), case.conf))
        return [] if ours is answer["reports"] else [f"the model reports: {ours}, the class: {answer['reports']}"]


class Top(Rule):
    """Which bundles a broker names to the leader, in which order."""

    name = "top bundles"
    mirrors = "TopKBundles.update, NamespaceBundleStats.compareTo"
    releases = SINCE

    def draw(self, random: Random, release: Version) -> Case:
        conf = extensible(random, release, NAMED)
        load = brokers(random, conf)
        if not load.reports:
            load = replace(load, brokers={"b1.x:8080": report(random, conf, {})})
        load = replace(load, brokers=dict(list(load.reports.items())[:1]))
        return Case(self.name, "TopKBundles", conf, (load,), {"policies": policies(random)})

    def request(self, case: Case) -> Mapping[str, object]:
        (load,) = case.rounds[0].reports.values()
        bound = {name: value for name, value in world(LoadData(), case.more["policies"]).items() if name != "brokers"}
        seen = {name: wire.stats(one) for name, one in load.lastStats.items()}
        count = case.conf.loadBalancerMaxNumberOfBundlesInBundleLoadReport
        return {"rule": "top", "conf": wire.settings(case.conf), "stats": seen, "count": count, **bound}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        (broker,) = case.rounds[0].reports
        ours = [name for name, _ in top_bundles(broker, case.rounds[0], case.conf, case.more["policies"])]
        theirs = answer.get("names", [])
        return [] if ours == theirs else [f"the model names {ours}, the class {theirs or answer}"]

    def smaller(self, case: Case) -> Iterator[Case]:
        return (less for less in super().smaller(case) if len(less.rounds[0].reports) == 1)


class Selects(Rule):
    """What each filter leaves of the brokers, and from which of them LeastResourceUsageWithWeight draws."""

    name = "selection of the extensible manager"
    mirrors = "BrokerMaxTopicCountFilter, BrokerVersionFilter, AntiAffinityGroupPolicyFilter, BrokerIsolationPoliciesFilter"
    releases = SINCE

    def draw(self, random: Random, release: Version) -> Case:
        names = (*FILTERS, "loadBalancerAverageResourceUsageDifferenceThresholdPercentage")
        conf = extensible(random, release, names)
        namespace, other = random.choice(("t/n", "t/m", "public/default")), random.random() < 0.2
        more = {"policies": policies(random), "namespace": namespace, "other": other}
        return Case(self.name, "LeastResourceUsageWithWeight", conf, (brokers(random, conf),), more)

    def request(self, case: Case) -> Mapping[str, object]:
        asked = {"namespace": case.more["namespace"], "range": "0xf0000000_0xffffffff", "non persistent": case.more["other"]}
        return {"rule": "select", "conf": wire.settings(case.conf), **world(case.rounds[0], case.more["policies"]), **asked}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        data, bundle = with_loads(case.rounds[0]), f"{case.more['namespace']}/0xf0000000_0xffffffff"
        bound, persistent = case.more["policies"], not case.more["other"]
        selection, _ = select(bundle, data, bound, case.conf, LeastResourceUsageWithWeight(), persistent=persistent)
        for (ours, left), (theirs, names) in zip(selection.candidates.items(), answer["left"].items(), strict=True):
            if set(left) != set(names):
                return [f"{ours} leaves {sorted(left)}, {theirs} {sorted(names)}"]
        if set(selection.any_of) != set(answer["from"]):
            return [f"the model draws from {sorted(selection.any_of)}, the class from {sorted(answer['from'])}"]
        return []


LOADS, USAGE_REPORTS, TOP, SELECTS = Loads(), UsageReports(), Top(), Selects()
