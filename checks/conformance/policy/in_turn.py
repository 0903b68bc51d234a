"""AvgShedder as the one object that it is: it sheds and places in turn, and remembers by what bundles carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import bundle_names, cluster, settings
from fencepost.checks.conformance.policy.shedders import AVERAGE
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.averages import DEFAULT_STATS
from fencepost.model.balance.avg_shedder import AvgShedder
from fencepost.model.balance.configuration import IMPLEMENTATION, Version
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.placement import AvgPlacement

Asked = tuple[tuple[str, tuple[str, ...]], ...]
"""Bundles to be placed, one after the other, each with its candidates."""


class InTurn(Rule):
    """One to four rounds, each a cycle of shedding and then some selections, also of bundles that nobody has seen.

    From round to round the harness changes the data of a bundle in place, as reports do. What the class draws is remembered;
    since 5.0.1 only what it sheds is, by the bundle's name.
    """

    name = "AvgShedder in turn"
    mirrors = "AvgShedder.findBundlesForUnloading, AvgShedder.selectBroker, AvgShedder.selectBrokerForBundle"
    releases = AVERAGE.releases

    def draw(self, random: Random, release: Version) -> Case:
        conf = settings(random, release, AVERAGE.settings)
        conf = replace(conf, loadBalancerAvgShedderHitCountHighThreshold=1) if random.random() < 0.7 else conf
        rounds: list[LoadData] = []
        asked: list[Asked] = []
        new = bundle_names(random, conf, 3)
        for _ in range(random.randint(1, 4)):
            again = bool(rounds) and random.random() < 0.6
            load = _reported(random, rounds[-1]) if again else cluster(random, conf, before=rounds[-1] if rounds else None)
            rounds.append(load)
            names = [*load.bundles, *new]
            brokers = tuple(load.brokers)
            asked.append(
                tuple(
                    (random.choice(names), tuple(broker for broker in brokers if random.random() < 0.9))
                    for _ in range(random.randint(0, 6))
                )
            )
        return Case(self.name, "AvgShedder", conf, tuple(rounds), {"asked": tuple(asked)})

    def request(self, case: Case) -> Mapping[str, object]:
        rounds = [
            {**wire.load(load), "active": list(load.brokers), "asked": [[bundle, list(among)] for bundle, among in asked]}
            for load, asked in zip(case.rounds, case.more["asked"], strict=True)
        ]
        asked = {"class": IMPLEMENTATION + "AvgShedder", "conf": wire.settings(case.conf), "rounds": rounds}
        return {"rule": "in turn", "unknown": wire.stats(DEFAULT_STATS), **asked}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        shedder, placement = AvgShedder(), AvgPlacement()
        pairs = zip(case.rounds, case.more["asked"], answer["rounds"], strict=True)
        for number, (load, asked, row) in enumerate(pairs, start=1):
            brokers, bundles = wire.in_order(load.brokers, row["brokers"]), wire.in_order(load.bundles, row["bundles"])
            data = replace(load, brokers=brokers, bundles=bundles)
            shedder = replace(shedder, memory=placement.memory)
            unloading, shedder = shedder.find_bundles_for_unloading(data, case.conf)
            placement = replace(placement, memory=shedder.memory, planned=shedder.planned)
            ours = {broker: list(names) for broker, names in unloading.unload.items()}
            theirs = {broker: names for broker, names in row.get("unload", {}).items() if names}
            if ours != theirs or "throws" in row:
                return [f"round {number}: the model sheds {ours or 'nothing'}, the class {row}"]
            assert isinstance(row["chosen"], list)
            for (bundle, candidates), chosen in zip(asked, row["chosen"], strict=True):
                any_of, placement = placement.select(candidates, bundle, data, case.conf)
                if (chosen not in any_of) if any_of else (chosen is not None):
                    return [f"round {number}: of {', '.join(candidates)} for {bundle}: the model {any_of}, the class {chosen}"]
                if chosen is not None and case.conf.before("5.0.1"):
                    placement = replace(placement, memory=placement.memory.put(bundle, (chosen,)))
        return []

    def smaller(self, case: Case) -> Iterator[Case]:
        asked: tuple[Asked, ...] = case.more["asked"]
        for number in range(len(case.rounds)) if len(case.rounds) > 1 else ():
            keep = [n for n in range(len(case.rounds)) if n != number]
            rounds = tuple(case.rounds[n] for n in keep)
            yield replace(case, rounds=rounds, more={"asked": tuple(asked[n] for n in keep)})
        for number, each in enumerate(asked):
            for place in range(len(each)):
                fewer = (*asked[:number], each[:place] + each[place + 1 :], *asked[number + 1 :])
                yield replace(case, more={"asked": fewer})
        for less in super().smaller(case):
            if len(less.rounds) == len(case.rounds) and all(
                set(among) <= set(load.brokers) for load, each in zip(less.rounds, asked, strict=True) for _, among in each
            ):
                yield less


def _reported(random: Random, load: LoadData) -> LoadData:
    """The cluster after reports of some bundles; others carry what they did, so that an old key is like a new one."""
    known = list(load.bundles.values())
    return replace(
        load, bundles={name: random.choice(known) if random.random() < 0.4 else data for name, data in load.bundles.items()}
    )


IN_TURN = InTurn()
