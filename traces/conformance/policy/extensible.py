"""The extensible manager: averages, reports, named bundles, filters and placement, TransferShedder, splits by owners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from fencepost.model.balance.broker_loads import advanced
from fencepost.model.balance.configuration import RELEASES, Configuration, Version
from fencepost.model.balance.isolation import AutoFailoverPolicy, FailureDomain, NamespaceIsolationData, Policies
from fencepost.model.balance.load_data import BrokerLoad, LoadData, LocalBrokerData
from fencepost.model.balance.placement import LeastResourceUsageWithWeight
from fencepost.model.balance.reports import MILLIS_OF_A_MINUTE, Figures, must_report
from fencepost.model.balance.selection import select
from fencepost.model.balance.splitting import Split, SplitStrategy
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER
from fencepost.model.balance.top_bundles import top_bundles
from fencepost.model.balance.transfer_shedder import TransferShedder
from fencepost.traces.conformance.policy import wire
from fencepost.traces.conformance.policy.averages import Reports
from fencepost.traces.conformance.policy.cases import Case, Rule
from fencepost.traces.conformance.policy.chance import NOW, cluster, report, settings
from fencepost.traces.conformance.policy.shedders import WEIGHTS
from fencepost.traces.conformance.policy.splits import LIMITS

SINCE: Sequence[Version] = RELEASES[1:]
EXCLUDED = "loadBalancerSheddingExcludedNamespaces"
NAMED = ("loadBalancerMaxNumberOfBundlesInBundleLoadReport", "loadBalancerSheddingBundlesWithPoliciesEnabled", EXCLUDED)
FILTERS = ("loadBalancerBrokerMaxTopics", "failureDomainsEnabled", "preferLaterVersions")
LEVELS = (0.0, 0.05, 0.1, 0.3, 0.5, 0.85, 0.86, 0.9, 1.0)
SECONDS = 1000
FAILOVER = {"policy_type": "min_available"}


def extensible(random: Random, release: Version, names: Sequence[str]) -> Configuration:
    """Settings of the extensible manager."""
    return settings(random, release, names, loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)


def brokers(random: Random, conf: Configuration, before: LoadData | None = None) -> LoadData:
    """A cluster in which no bundle is in two reports, and brokers say averages of themselves."""
    load = cluster(random, conf, before=before)
    taken: set[str] = set()
    reports: dict[str, LocalBrokerData | None] = {}
    loads: dict[str, BrokerLoad] = {}
    for broker, said in load.reports.items():
        own = tuple(bundle for bundle in said.bundles if bundle not in taken and random.random() < 0.95)
        seen = {bundle: one for bundle, one in said.lastStats.items() if bundle not in taken}
        taken.update(said.bundles)
        if random.random() < 0.05:
            reports[broker] = None
            continue
        loads[broker] = BrokerLoad(_level(random), random.choice((0.0, 1e5, 2e6, said.throughput)))
        age = random.choice((0, 0, 0, 0, 30, 100, 700, 2000)) * SECONDS
        version = random.choice(("3.0.0", "3.1.0", "3.1.0", "3.1.0", "3.1.0-rc1")) if random.random() < 0.97 else "?"
        reports[broker] = replace(
            said,
            bundles=own,
            lastStats=seen,
            lastUpdate=NOW - age,
            brokerVersionString=version,
            persistentTopicsEnabled=random.random() < 0.95,
            nonPersistentTopicsEnabled=random.random() < 0.8,
        )
    gone = {broker: NOW - random.choice((10, 100, 250, 400)) * SECONDS for broker in reports if random.random() < 0.1}
    return replace(load, brokers=reports, bundles={}, loads=loads, recently_unloaded_brokers=gone)


def _level(random: Random) -> float:
    return random.choice(LEVELS) if random.random() < 0.5 else round(random.random(), 4)


def policies(random: Random) -> Policies:
    """Isolation of a namespace or two, anti-affinity groups and failure domains; often none."""
    isolation = {}
    if random.random() < 0.4:
        limit = AutoFailoverPolicy(parameters={"min_limit": random.choice(("0", "1", "2")), "usage_threshold": "80"})
        primary, secondary = random.choice((("b[0-3].x",), ("b1.x", "b2.x"), (".*",))), random.choice(((), ("b[4-9].x",)))
        isolation["p"] = NamespaceIsolationData((random.choice(("t/n", "t/n.*", "public/.*")),), primary, secondary, limit)
    groups = {name: random.choice(("g", "G", "h")) for name in ("t/n", "t/m", "t/no") if random.random() < 0.3}
    domains = {name: FailureDomain(tuple(f"b{n}.x:8080" for n in range(9) if random.random() < 0.4)) for name in ("d", "e")}
    once = {broker: name for name, domain in domains.items() for broker in domain.brokers}
    unique = {name: FailureDomain(tuple(b for b, where in once.items() if where == name)) for name in domains}
    return Policies(isolation, groups, unique if random.random() < 0.5 else {})


def world(load: LoadData, bound: Policies) -> dict[str, Any]:
    """A cluster as the harness reads it."""
    loads = broker_loads_of(load)
    told: dict[str, Any] = {}
    for broker, said in load.brokers.items():
        own = loads.get(broker)
        told[broker] = None
        if said is not None and own is not None:
            told[broker] = {
                **wire.report(said),
                "weightedMaxEMA": own.weightedMaxEMA,
                "msgThroughputEMA": own.msgThroughputEMA,
                "age": load.now - said.lastUpdate,
                "brokerVersionString": said.brokerVersionString,
                "persistentTopicsEnabled": said.persistentTopicsEnabled,
                "nonPersistentTopicsEnabled": said.nonPersistentTopicsEnabled,
            }
    return {
        "brokers": told,
        "recent": {bundle: load.now - time for bundle, time in load.recently_unloaded.items()},
        "recent brokers": {broker: load.now - time for broker, time in load.recently_unloaded_brokers.items()},
        "groups": dict(bound.anti_affinity),
        "domains": bound.domains,
        "isolation": {
            name: {
                "namespaces": list(one.namespaces),
                "primary": list(one.primary),
                "secondary": list(one.secondary),
                "auto_failover_policy": {**FAILOVER, "parameters": dict(one.auto_failover_policy.parameters)},
            }
            for name, one in bound.isolation.items()
        },
    }


def broker_loads_of(load: LoadData) -> Mapping[str, BrokerLoad]:
    """What brokers say of themselves; one whose saying was left out says that it is idle."""
    return {broker: load.loads.get(broker, BrokerLoad()) for broker in load.reports}


def _given(load: LoadData) -> LoadData:
    return replace(load, loads=dict(broker_loads_of(load)))


class Loads(Rule):
    """A broker's averages of its usage and its throughput, after some samples."""

    name = "averages of the extensible manager"
    mirrors = "BrokerLoadData.update"
    releases = SINCE

    def draw(self, random: Random, release: Version) -> Case:
        conf = extensible(random, release, (*WEIGHTS, "loadBalancerHistoryResourcePercentage"))
        said = [report(random, conf, {}, wild=random.random() < 0.2) for _ in range(random.randint(1, 6))]
        return Case(self.name, "BrokerLoadData", conf, tuple(LoadData({"b.x:1": one}) for one in said))

    def request(self, case: Case) -> Mapping[str, Any]:
        samples = [wire.report(load.reports["b.x:1"]) for load in case.rounds]
        return {"rule": "load", "conf": wire.settings(case.conf), "samples": samples}

    def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
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

    def request(self, case: Case) -> Mapping[str, Any]:
        return {**super().request(case), "rule": "report of usage"}

    def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
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

    def request(self, case: Case) -> Mapping[str, Any]:
        (said,) = case.rounds[0].reports.values()
        bound = {name: value for name, value in world(LoadData(), case.more["policies"]).items() if name != "brokers"}
        seen = {name: wire.stats(one) for name, one in said.lastStats.items()}
        count = case.conf.loadBalancerMaxNumberOfBundlesInBundleLoadReport
        return {"rule": "top", "conf": wire.settings(case.conf), "stats": seen, "count": count, **bound}

    def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
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

    def request(self, case: Case) -> Mapping[str, Any]:
        asked = {"namespace": case.more["namespace"], "range": "0xf0000000_0xffffffff", "non persistent": case.more["other"]}
        return {"rule": "select", "conf": wire.settings(case.conf), **world(case.rounds[0], case.more["policies"]), **asked}

    def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
        data, bundle = _given(case.rounds[0]), f"{case.more['namespace']}/0xf0000000_0xffffffff"
        bound, persistent = case.more["policies"], not case.more["other"]
        selection, _ = select(bundle, data, bound, case.conf, LeastResourceUsageWithWeight(), persistent=persistent)
        for (ours, left), (theirs, names) in zip(selection.candidates.items(), answer["left"].items(), strict=True):
            if set(left) != set(names):
                return [f"{ours} leaves {sorted(left)}, {theirs} {sorted(names)}"]
        if set(selection.any_of) != set(answer["from"]):
            return [f"the model draws from {sorted(selection.any_of)}, the class from {sorted(answer['from'])}"]
        return []


class Transfers(Rule):
    """What is handed from which broker to which, over some rounds; the hits; and why a cycle is skipped."""

    name = "TransferShedder"
    mirrors = "TransferShedder.findBundlesForUnloading"
    releases = SINCE

    def draw(self, random: Random, release: Version) -> Case:
        names = (
            *NAMED,
            *FILTERS,
            "loadBalancerBrokerLoadTargetStd",
            "loadBalancerSheddingConditionHitCountThreshold",
            "loadBalancerTransferEnabled",
            "loadBalancerMaxNumberOfBrokerSheddingPerCycle",
            "loadBalanceSheddingDelayInSeconds",
            "loadBalancerBrokerLoadDataTTLInSeconds",
            "loadBalancerDebugModeEnabled",
            "loadBalancerBrokerOverloadedThresholdPercentage",
        )
        conf = extensible(random, release, names)
        rounds: list[LoadData] = []
        for _ in range(random.randint(1, 5)):
            rounds.append(brokers(random, conf, rounds[-1] if rounds and random.random() < 0.5 else None))
            if random.random() < 0.5:
                rounds.append(rounds[-1])
        return Case(self.name, "TransferShedder", conf, tuple(rounds), {"policies": policies(random)})

    def request(self, case: Case) -> Mapping[str, Any]:
        rounds = [world(load, case.more["policies"]) for load in case.rounds]
        return {"rule": "transfer", "conf": wire.settings(case.conf), "rounds": rounds}

    def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
        shedder = TransferShedder(policies=case.more["policies"])
        for number, (load, told) in enumerate(zip(case.rounds, answer["rounds"], strict=True), start=1):
            unloading, shedder = shedder.find_bundles_for_unloading(_given(load), case.conf)
            ours = [
                (bundle, source, unloading.destinations.get(bundle))
                for source, bundles in unloading.unload.items()
                for bundle in bundles
            ]
            theirs = [(bundle, source, target) for bundle, source, target in told["unloads"]]
            skipped = f"Skip {unloading.skipped}" if unloading.skipped else ""
            if sorted(ours, key=str) != sorted(theirs, key=str) or _by_source(ours) != _by_source(theirs):
                return [f"round {number}: the model unloads {ours}, the class {theirs}"]
            if (shedder.hits, skipped) != (told["hits"], told["skip"]):
                return [f"round {number}: model {shedder.hits} hits, {skipped!r}; class {told['hits']} hits, {told['skip']!r}"]
        return []


def _by_source(moves: Sequence[tuple[str, str, str | None]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for bundle, source, _ in moves:
        found.setdefault(source, []).append(bundle)
    return found


class OwnersSplit(Rule):
    """What the owners split over some rounds, by their hits, their quota and where the algorithm cuts."""

    name = "splits of the extensible manager"
    mirrors = "DefaultNamespaceBundleSplitStrategyImpl.findBundlesToSplit"
    releases = SINCE

    def draw(self, random: Random, release: Version) -> Case:
        names = (
            *LIMITS,
            "loadBalancerMaxNumberOfBundlesToSplitPerCycle",
            "loadBalancerNamespaceBundleSplitConditionHitCountThreshold",
        )
        conf = extensible(random, release, names)
        rounds: list[LoadData] = []
        cuts: dict[str, list[int] | None] = {}
        for _ in range(random.randint(1, 4)):
            load = brokers(random, conf, rounds[-1] if rounds else None)
            if rounds and random.random() < 0.5:
                load = rounds[-1]
            elif random.random() < 0.5:
                load = _larger(random, load)
            rounds.append(replace(load, brokers=dict(load.reports)))
            for bundle in sorted({name for said in load.reports.values() for name in said.lastStats}):
                cuts.setdefault(bundle, random.choice(([1], [1], [1], None, [], [1, 2])))
        owned = {name for load in rounds for said in load.reports.values() for name in said.bundles}
        splitting = [name for name in cuts if name not in owned and random.random() < 0.05]
        splitting += [f"{name[:-1]}7" for name in cuts if random.random() < 0.05]
        more = {"cuts": cuts, "splitting": splitting}
        return Case(self.name, "DefaultNamespaceBundleSplitStrategyImpl", conf, tuple(rounds), more)

    def request(self, case: Case) -> Mapping[str, Any]:
        rounds = []
        for load in case.rounds:
            counts = {"counts": dict(load.bundle_counts), "splitting": case.more["splitting"]}
            cuts = {bundle: _inside(bundle, cut) for bundle, cut in case.more["cuts"].items()}
            rounds.append({**world(load, Policies()), **counts, "boundaries": cuts})
        return {"rule": "split by owners", "conf": wire.settings(case.conf), "rounds": rounds}

    def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
        strategy, cuts, splitting = SplitStrategy(), case.more["cuts"], case.more["splitting"]

        def cut(split: Split) -> bool:
            return len(cuts.get(split.bundle) or ()) == 1

        for number, (load, told) in enumerate(zip(case.rounds, answer["rounds"], strict=True), start=1):
            splits, strategy = strategy.bundles_to_split(load, case.conf, splitting, cut)
            ours, theirs = [split.bundle for split in splits], [bundle for bundles in told.values() for bundle in bundles]
            if ours != theirs:
                return [f"round {number}: the model splits {ours}, the class {theirs}"]
        return []


def _larger(random: Random, load: LoadData) -> LoadData:
    """Bundles with so many topics that many are too large."""
    reports: dict[str, LocalBrokerData | None] = {}
    for broker, said in load.reports.items():
        seen = {name: replace(one, topics=random.choice((1, 5, 1001, 1001))) for name, one in said.lastStats.items()}
        reports[broker] = replace(said, lastStats=seen)
    return replace(load, brokers=reports)


def _inside(bundle: str, cut: list[int] | None) -> list[int] | None:
    lower = int(bundle.rpartition("/")[2].split("_")[0], 16)
    return None if cut is None else [lower + one for one in cut]


LOADS, USAGE_REPORTS, TOP, SELECTS, TRANSFER, SPLITS = Loads(), UsageReports(), Top(), Selects(), Transfers(), OwnersSplit()
