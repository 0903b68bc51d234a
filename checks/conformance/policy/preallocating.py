"""The preallocation of the modular manager: what it remembers of placed bundles, from report to report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import bundle_names, cluster, settings
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.averages import DEFAULT_STATS
from fencepost.model.balance.configuration import Version
from fencepost.model.balance.load_data import LoadData, LocalBrokerData
from fencepost.model.balance.preallocation import Preallocation


class Preallocates(Rule):
    """Bundles are placed and brokers come, go and report: where a lookup goes again, and what counts with which broker.

    A broker may own a bundle that its statistics lack; the leader's own broker owns some of those that were placed.
    """

    name = "preallocation"
    mirrors = "ModularLoadManagerImpl.updateBundleData, ModularLoadManagerImpl.reapDeadBrokerPreallocations"

    def draw(self, random: Random, release: Version) -> Case:
        conf = settings(random, release, ())
        rounds: list[LoadData] = []
        placed: list[tuple[tuple[str, str], ...]] = []
        new = bundle_names(random, conf, 4)
        for _ in range(random.randint(1, 5)):
            load = cluster(random, conf, before=rounds[-1] if rounds else None)
            names = [*new, *load.bundles]
            before = list(rounds[-1].brokers) if rounds else list(load.brokers)
            count = random.choice((0, 1, 1, 2, 3)) if before else 0
            placed.append(tuple((random.choice(names), random.choice(before)) for _ in range(count)))
            reported = [bundle for pairs in placed for bundle, _ in pairs if random.random() < 0.3]
            rounds.append(replace(load, brokers={b: _reporting(random, r, reported) for b, r in load.reports.items()}))
        owned = tuple(dict.fromkeys(bundle for pairs in placed for bundle, _ in pairs if random.random() < 0.4))
        return Case(self.name, "ModularLoadManagerImpl", conf, tuple(rounds), {"placed": tuple(placed), "owned": owned})

    def request(self, case: Case) -> Mapping[str, object]:
        rounds = []
        for load, pairs in zip(case.rounds, case.more["placed"], strict=True):
            brokers = {name: wire.report(its) for name, its in load.reports.items()}
            rounds.append({"placed": [list(pair) for pair in pairs], "brokers": brokers})
        asked = {"rounds": rounds, "owned": list(case.more["owned"]), "unknown": wire.stats(DEFAULT_STATS)}
        return {"rule": "preallocate", "conf": wire.settings(case.conf), **asked}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        mine, known, alive = Preallocation(), set[str](), set[str]()
        pairs = zip(case.rounds, case.more["placed"], answer["rounds"], strict=True)
        for number, (load, placed, row) in enumerate(pairs, start=1):
            for bundle, broker in placed if number > 1 else ():
                if broker in alive:
                    mine = mine.with_bundle(bundle, broker)
                    known.add(bundle)
            mine = mine.without(alive - set(load.brokers))
            alive = set(load.brokers)
            active = {bundle for report in load.reports.values() for bundle in report.lastStats}
            known |= active
            for broker in row["brokers"]:
                mine = mine.heard(broker, load.reports[broker], known, case.more["owned"], is_2_10=case.conf.is_2_10)
            if not case.conf.is_2_10:
                known = active
            ours = {broker: sorted(own) for broker, own in mine.counted.items() if own}
            theirs = {broker: sorted(own) for broker, own in row["counted"].items() if own}
            if (dict(mine.asked), ours) != (row["asked"], theirs):
                return [f"round {number}: the model keeps {dict(mine.asked)}, {ours}, the class {row['asked']}, {theirs}"]
        return []

    def smaller(self, case: Case) -> Iterator[Case]:
        placed = case.more["placed"]
        for number, pairs in enumerate(placed):
            for place in range(len(pairs)):
                fewer = (*placed[:number], pairs[:place] + pairs[place + 1 :], *placed[number + 1 :])
                yield replace(case, more={**case.more, "placed": fewer})
        for bundle in case.more["owned"]:
            yield replace(case, more={**case.more, "owned": tuple(b for b in case.more["owned"] if b != bundle)})
        yield from (less for less in super().smaller(case) if len(less.rounds) == len(case.rounds))


def _reporting(random: Random, report: LocalBrokerData, placed: list[str]) -> LocalBrokerData:
    """A report that may speak of placed bundles: that it owns one, that it has statistics of one, or both."""
    seen, bundles = dict(report.lastStats), list(report.bundles)
    for bundle in placed:
        if random.random() < 0.3:
            seen[bundle] = DEFAULT_STATS
        if random.random() < 0.6:
            bundles.append(bundle)
    return replace(report, lastStats=seen, bundles=tuple(dict.fromkeys(bundles)))


PREALLOCATION = Preallocates()
