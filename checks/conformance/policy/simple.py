"""SimpleLoadManagerImpl over rounds: how it ranks brokers, what it sheds, where it places, and what it splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import NOW, bundle_names, cluster, settings
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.configuration import IMPLEMENTATION, Version
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.simple_manager import SimpleLoadManager, SimpleShedding, strategy_of
from fencepost.model.balance.simple_ranking import DRAWN

STEPS = (0, 15 * 60_000, 720 * 60_000, 1440 * 60_000)
"""Between reports: the weight of what is seen is a number of halves, so that sums are the same in every order."""


class Simple(Rule):
    """The whole manager over one to three rounds, with the quotas that it remembers. No namespace is isolated."""

    name = "SimpleLoadManagerImpl"
    mirrors = (
        "SimpleLoadManagerImpl.doLoadRanking, SimpleLoadManagerImpl.doLoadShedding, "
        "SimpleLoadManagerImpl.doNamespaceBundleSplit, SimpleLoadManagerImpl.findBrokerForPlacement, "
        "WRRPlacementStrategy.findBrokerForPlacement"
    )
    settings = (
        "loadBalancerPlacementStrategy",
        "loadBalancerBrokerOverloadedThresholdPercentage",
        "loadBalancerBrokerUnderloadedThresholdPercentage",
        "loadBalancerBrokerComfortLoadLevelPercentage",
        "loadBalancerNamespaceBundleMaxTopics",
        "loadBalancerNamespaceBundleMaxSessions",
        "loadBalancerNamespaceBundleMaxMsgRate",
        "loadBalancerNamespaceBundleMaxBandwidthMbytes",
        "loadBalancerNamespaceMaximumBundles",
    )

    def draw(self, random: Random, release: Version) -> Case:
        conf = settings(random, release, self.settings, loadManagerClassName=f"{IMPLEMENTATION}SimpleLoadManagerImpl")
        rounds: list[LoadData] = []
        asked: list[tuple[str, ...]] = []
        now = NOW
        for _ in range(random.randint(1, 3)):
            load = cluster(random, conf, before=rounds[-1] if rounds else None)
            now += random.choice(STEPS)
            reports = {broker: replace(report, lastUpdate=now) for broker, report in load.reports.items()}
            rounds.append(replace(load, brokers=reports, now=now))
            known = [name for report in reports.values() for name in report.lastStats]
            names = [*bundle_names(random, conf, random.randint(0, 3)), *random.sample(known, min(len(known), 2))]
            asked.append(tuple(dict.fromkeys(names)))
        return Case(self.name, self.name, conf, tuple(rounds), {"asked": tuple(asked)})

    def request(self, case: Case) -> Mapping[str, object]:
        rounds: list[Mapping[str, object]] = []
        for number, (load, asked) in enumerate(zip(case.rounds, case.more["asked"], strict=True)):
            reports = {name: {**wire.report(its), "lastUpdate": its.lastUpdate} for name, its in load.reports.items()}
            recent = {"recent": list(load.recently_unloaded), "asked": list(asked), "now": load.now, "starts": number == 0}
            rounds.append({"brokers": reports, "counts": dict(load.bundle_counts), **recent})
        conf = {key: value for key, value in wire.settings(case.conf).items() if key != "loadManagerClassName"}
        return {"rule": "simple", "conf": conf, "rounds": rounds}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        manager, conf = SimpleLoadManager(case.conf), case.conf
        for number, (load, asked, row) in enumerate(
            zip(case.rounds, case.more["asked"], answer["rounds"], strict=True), start=1
        ):
            reports = {
                name: replace(its, lastStats=wire.in_order(its.lastStats, row["order"][name]))
                for name, its in load.reports.items()
            }
            data = replace(load, brokers=reports)
            manager = replace(manager, placement=manager.placement.with_reports(data, conf))
            order = [
                f"{rank} {broker}"
                for rank, broker in sorted((rank, broker) for broker, rank in manager.placement.order.items())
            ]
            if reports and order != row["brokers"]:
                return [f"round {number}: the model ranks {order}, the class {row['brokers']}"]
            unloading, _ = SimpleShedding().find_bundles_for_unloading(data, conf)
            ours = sorted(bundle for bundles in unloading.unload.values() for bundle in bundles)
            if ours != sorted(row["bundles"]):
                return [f"round {number}: the model sheds {ours}, the class {row['bundles']}"]
            for bundle, chosen in zip(asked, row["chosen"] or (), strict=True):
                selection, manager = manager.place(bundle, data, Policies())
                if chosen not in (selection.any_of or (None,)) or (len(selection.any_of) > 1 and strategy_of(conf) != DRAWN):
                    return [f"round {number}: the model places {bundle} on any of {selection.any_of}, the class on {chosen}"]
            splits, _, _ = manager.split(data, {})
            if sorted(split.bundle for split in splits) != [name for name in sorted(row["split"]) if _has_room(name)]:
                return [
                    f"round {number}: the model splits {sorted(s.bundle for s in splits)}, the class {sorted(row['split'])}"
                ]
        return []

    def smaller(self, case: Case) -> Iterator[Case]:
        for less in super().smaller(case):
            if len(less.rounds) == len(case.rounds):
                yield less


def _has_room(bundle: str) -> bool:
    """Whether the bundle can be split: its namespace refuses the request of one that has no boundary inside."""
    lower, _, upper = bundle.rpartition("/")[2].partition("_")
    return int(upper, 16) - int(lower, 16) > 1


SIMPLE = Simple()
