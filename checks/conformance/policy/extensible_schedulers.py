"""What the extensible manager hands over and splits: TransferShedder, and the split strategy of the owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
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
from fencepost.checks.conformance.policy.splits import LIMITS
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.configuration import Version
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.load_data import LoadData, LocalBrokerData
from fencepost.model.balance.splitting import Split, SplitStrategy
from fencepost.model.balance.transfer_shedder import TransferShedder


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

    def request(self, case: Case) -> Mapping[str, object]:
        rounds = [world(load, case.more["policies"]) for load in case.rounds]
        return {"rule": "transfer", "conf": wire.settings(case.conf), "rounds": rounds}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        shedder = TransferShedder(policies=case.more["policies"])
        for number, (load, row) in enumerate(zip(case.rounds, answer["rounds"], strict=True), start=1):
            unloading, shedder = shedder.find_bundles_for_unloading(with_loads(load), case.conf)
            ours = [
                (bundle, source, unloading.destinations.get(bundle))
                for source, bundles in unloading.unload.items()
                for bundle in bundles
            ]
            theirs = [(bundle, source, target) for bundle, source, target in row["unloads"]]
            skipped = f"Skip {unloading.skipped}" if unloading.skipped else ""
            if sorted(ours, key=str) != sorted(theirs, key=str) or _by_source(ours) != _by_source(theirs):
                return [f"round {number}: the model unloads {ours}, the class {theirs}"]
            if (shedder.hits, skipped) != (row["hits"], row["skip"]):
                return [f"round {number}: model {shedder.hits} hits, {skipped!r}; class {row['hits']} hits, {row['skip']!r}"]
        return []


def _by_source(moves: Sequence[tuple[str, str, str | None]]) -> dict[str, list[str]]:
    bundles: dict[str, list[str]] = {}
    for bundle, source, _ in moves:
        bundles.setdefault(source, []).append(bundle)
    return bundles


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
            for bundle in sorted({name for its in load.reports.values() for name in its.lastStats}):
                cuts.setdefault(bundle, random.choice(([1], [1], [1], None, [], [1, 2])))
        owned = {name for load in rounds for its in load.reports.values() for name in its.bundles}
        splitting = [name for name in cuts if name not in owned and random.random() < 0.05]
        splitting += [f"{name[:-1]}7" for name in cuts if random.random() < 0.05]
        more = {"cuts": cuts, "splitting": splitting}
        return Case(self.name, "DefaultNamespaceBundleSplitStrategyImpl", conf, tuple(rounds), more)

    def request(self, case: Case) -> Mapping[str, object]:
        rounds = []
        for load in case.rounds:
            counts = {"counts": dict(load.bundle_counts), "splitting": case.more["splitting"]}
            cuts = {bundle: _inside(bundle, cut) for bundle, cut in case.more["cuts"].items()}
            rounds.append({**world(load, Policies()), **counts, "boundaries": cuts})
        return {"rule": "split by owners", "conf": wire.settings(case.conf), "rounds": rounds}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        strategy, cuts, splitting = SplitStrategy(), case.more["cuts"], case.more["splitting"]

        def cut(split: Split) -> bool:
            return len(cuts.get(split.bundle) or ()) == 1

        for number, (load, row) in enumerate(zip(case.rounds, answer["rounds"], strict=True), start=1):
            splits, strategy = strategy.bundles_to_split(load, case.conf, splitting, cut)
            ours, theirs = (
                [split.bundle for split in splits],
                [bundle for bundles in row.values() if isinstance(bundles, list) for bundle in bundles],
            )
            if ours != theirs:
                return [f"round {number}: the model splits {ours}, the class {theirs}"]
        return []


def _larger(random: Random, load: LoadData) -> LoadData:
    """Bundles with so many topics that many are too large."""
    reports: dict[str, LocalBrokerData | None] = {}
    for broker, its in load.reports.items():
        seen = {name: replace(one, topics=random.choice((1, 5, 1001, 1001))) for name, one in its.lastStats.items()}
        reports[broker] = replace(its, lastStats=seen)
    return replace(load, brokers=reports)


def _inside(bundle: str, cut: list[int] | None) -> list[int] | None:
    lower = int(bundle.rpartition("/")[2].split("_")[0], 16)
    return None if cut is None else [lower + one for one in cut]


TRANSFER, SPLITS = Transfers(), OwnersSplit()
