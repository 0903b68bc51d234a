"""Averages of bundles over their samples, and whether a broker of the modular manager writes its report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import averages, report, settings, stats
from fencepost.checks.conformance.policy.shedders import WEIGHTS
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.averages import sampled
from fencepost.model.balance.configuration import Version, defaults
from fencepost.model.balance.load_data import LoadData, LocalBrokerData
from fencepost.model.balance.reports import MILLIS_OF_A_MINUTE, Figures, must_report


class Averages(Rule):
    """A bundle's averages after some samples."""

    name = "averages"
    mirrors = "BundleData.update, TimeAverageMessageData.update"

    def draw(self, random: Random, release: Version) -> Case:
        samples = [stats(random) for _ in range(random.randint(1, 12))]
        if random.random() < 0.1:
            samples[-1] = replace(samples[-1], msgRateIn=random.choice((math.inf, math.nan)))
        more = {"bundle": averages(random, samples[0]), "samples": samples}
        return Case(self.name, "BundleData", defaults(release), more=more)

    def request(self, case: Case) -> Mapping[str, object]:
        samples = [wire.stats(sample) for sample in case.more["samples"]]
        return {"rule": "average", "bundle": wire.bundle(case.more["bundle"]), "samples": samples}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        bundle = case.more["bundle"]
        for sample in case.more["samples"]:
            bundle = sampled(bundle, sample)
        for term in ("shortTermData", "longTermData"):
            ours = [*(getattr(getattr(bundle, term), name) for name in wire.RATES), getattr(bundle, term).numSamples]
            theirs = list(map(float, answer[term]))
            if not all(map(wire.same, ours, theirs)):
                return [f"{term}: model {ours}, class {theirs}"]
        return [] if bundle.topics == answer["topics"] else [f"topics: model {bundle.topics}, class {answer['topics']}"]

    def smaller(self, case: Case) -> Iterator[Case]:
        samples = case.more["samples"]
        for place in range(len(samples)) if len(samples) > 1 else ():
            yield replace(case, more={**case.more, "samples": [*samples[:place], *samples[place + 1 :]]})


class Reports(Rule):
    """Whether a report is written, by what changed since the last one."""

    name = "reports of the modular manager"
    mirrors = "ModularLoadManagerImpl.needBrokerDataUpdate"

    def draw(self, random: Random, release: Version) -> Case:
        names = ("loadBalancerReportUpdateThresholdPercentage", "loadBalancerReportUpdateMaxIntervalMinutes", *WEIGHTS)
        conf = settings(random, release, names)
        pair: list[LocalBrokerData] = []
        for _ in range(2):
            reported = report(random, conf, {f"t/n/{n}": stats(random) for n in range(random.randint(0, 2))}, wild=True)
            pair.append(reported if not pair or random.random() < 0.6 else _near(random, pair[0]))
        limit = conf.loadBalancerReportUpdateMaxIntervalMinutes * MILLIS_OF_A_MINUTE
        age = max(0, limit + random.choice((-MILLIS_OF_A_MINUTE // 2, -MILLIS_OF_A_MINUTE // 2, MILLIS_OF_A_MINUTE // 2)))
        load = LoadData({"last": pair[0], "now": pair[1]})
        return Case(self.name, "ModularLoadManagerImpl", conf, (load,), {"age": age})

    def request(self, case: Case) -> Mapping[str, object]:
        reports = {name: wire.report(load) for name, load in case.rounds[0].reports.items()}
        return {"rule": "report", "conf": wire.settings(case.conf), "age": case.more["age"], **reports}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        reports, limit = case.rounds[0].reports, case.conf.loadBalancerReportUpdateMaxIntervalMinutes * MILLIS_OF_A_MINUTE
        last, now = (Figures.of(reports[name], case.conf) for name in ("last", "now"))
        if case.more["age"] == limit:
            return []  # the clock goes on while the class is asked
        ours = bool(must_report(last._replace(time=0), now._replace(time=case.more["age"]), case.conf))
        return [] if ours is answer["reports"] else [f"the model {_writes(ours)}, the class {_writes(answer['reports'])}"]

    def smaller(self, case: Case) -> Iterator[Case]:
        return (less for less in super().smaller(case) if len(less.rounds[0].brokers) == 2)


def _near(random: Random, load: LocalBrokerData) -> LocalBrokerData:
    """A report in which one thing is a little different, by about the usual threshold."""
    name = random.choice((*wire.RATES, "numBundles"))
    value = getattr(load, name)
    part = random.choice((0.9, 0.95, 1.05, 1.1, 1.125, 2))
    return replace(load, **{name: type(value)(value * part) if math.isfinite(value) else value})


def _writes(reports: bool) -> str:
    return "writes" if reports else "does not write"


AVERAGES, REPORTS = Averages(), Reports()
