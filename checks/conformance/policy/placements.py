"""The placement strategies of the modular manager: from which candidates they draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import bundle_names, cluster, settings
from fencepost.checks.conformance.policy.shedders import WEIGHTS
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.averages import DEFAULT_STATS
from fencepost.model.balance.configuration import IMPLEMENTATION, RELEASES, Version
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.placement import Placement
from fencepost.model.balance.strategies import PLACEMENTS


class Places(Rule):
    """One strategy over one to five selections, as it is called by ModularLoadManagerImpl."""

    def __init__(self, subject: str, names: tuple[str, ...], since: Version) -> None:
        self.subject = subject
        self.name = f"{subject} (placement)"  # type: ignore[misc]
        self.mirrors = f"{subject}.selectBroker"  # type: ignore[misc]
        self.settings = (*WEIGHTS, *names)
        self.releases = RELEASES[RELEASES.index(since) :]  # type: ignore[misc]

    def draw(self, random: Random, release: Version) -> Case:
        conf = settings(random, release, self.settings)
        rounds: list[LoadData] = []
        asked: list[tuple[str, tuple[str, ...]]] = []
        for _ in range(random.randint(1, 5)):
            load = cluster(random, conf, before=rounds[-1] if rounds else None)
            new = bundle_names(random, conf, random.randint(1, 3))
            known = {name: random.choice(list(load.bundles.values())) for name in new} if load.bundles else {}
            preallocated = {name: random.choice(list(load.brokers)) for name in known if load.brokers}
            load = replace(load, bundles={**load.bundles, **known}, preallocated=preallocated)
            candidates = tuple(broker for broker in load.brokers if random.random() < 0.8)
            rounds.append(load)
            asked.append((random.choice(list(load.bundles) or new), candidates))
        return Case(self.name, self.subject, conf, tuple(rounds), {"asked": tuple(asked)})

    def request(self, case: Case) -> Mapping[str, object]:
        rounds = []
        for load, (bundle, candidates) in zip(case.rounds, case.more["asked"], strict=True):
            placed: dict[str, list[str]] = {broker: list(load.expected_on(broker)) for broker in load.brokers}
            known = {"unknown": wire.stats(DEFAULT_STATS), "preallocated": placed}
            rounds.append({**wire.load(load), **known, "bundle": bundle, "candidates": list(candidates)})
        return {"rule": "place", "class": IMPLEMENTATION + self.subject, "conf": wire.settings(case.conf), "rounds": rounds}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        placement: Placement = PLACEMENTS[self.subject]()
        pairs = zip(case.rounds, case.more["asked"], answer["rounds"], strict=True)
        for number, (load, (bundle, candidates), row) in enumerate(pairs, start=1):
            any_of, placement = placement.select(candidates, bundle, load, case.conf)
            if "from" in row:
                agree = list(any_of) == row["from"]
            else:
                agree = row["chosen"] in any_of if any_of else row["chosen"] is None or "throws" in row
            if not agree:
                theirs = row.get("from", row["chosen"])
                return [f"selection {number}, of {', '.join(candidates)}: the model {list(any_of)}, the class {theirs}"]
        return []

    def smaller(self, case: Case) -> Iterator[Case]:
        for number in range(len(case.rounds)) if len(case.rounds) > 1 else ():
            keep = [n for n in range(len(case.rounds)) if n != number]
            rounds, asked = tuple(case.rounds[n] for n in keep), tuple(case.more["asked"][n] for n in keep)
            yield replace(case, rounds=rounds, more={"asked": asked})
        for less in super().smaller(case):
            if len(less.rounds) == len(case.rounds) and all(
                set(candidates) <= set(load.brokers) and bundle in load.bundles
                for load, (bundle, candidates) in zip(less.rounds, less.more["asked"], strict=True)
            ):
                yield less


LONG_TERM = Places("LeastLongTermMessageRate", ("loadBalancerBrokerOverloadedThresholdPercentage",), "2.10.1")
RESOURCE_USAGE = Places(
    "LeastResourceUsageWithWeight",
    (
        "loadBalancerHistoryResourcePercentage",
        "loadBalancerAverageResourceUsageDifferenceThresholdPercentage",
        "loadBalancerBrokerOverloadedThresholdPercentage",
    ),
    "3.0.7",
)
ROUND_ROBIN = Places("RoundRobinBrokerSelector", (), "3.0.7")
AVERAGE = Places("AvgShedder", (), "3.0.7")
