"""What must hold of every answer of a shedder, whatever the load: stated apart from how the shedders reach it.

Some of the statements do not hold of Pulsar's own shedders. Those are negative controls, in ``EXPECTED``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fencepost.model.balance.broker_loads import broker_loads
from fencepost.model.balance.configuration import RELEASES, Configuration, Version
from fencepost.model.balance.java import total
from fencepost.model.balance.load_data import BundleData, LoadData, Traffic
from fencepost.model.balance.shedding import Unloading
from fencepost.model.balance.standing import Standing
from fencepost.model.balance.usage import usage, weighted_usage
from fencepost.model.balance.wording import MIB
from fencepost.model.releases import is_since


@dataclass(frozen=True)
class Answer:
    """What a shedder answered, and what it was asked."""

    shedder: str
    data: LoadData
    conf: Configuration
    unloading: Unloading

    @property
    def threshold(self) -> float:
        """The threshold of ThresholdShedder, as a fraction."""
        return self.conf.loadBalancerBrokerThresholdShedderPercentage / 100.0

    @property
    def mean(self) -> float:
        """The mean of the averages that the shedder keeps."""
        return total(self.unloading.averages[broker] for broker in self.data.reports) / len(self.data.reports)


ROUNDING = 1e-9
"""What sums of doubles may be off by, relatively."""

Statement = Callable[[Answer], Iterator[str]]
PROPERTIES: dict[str, Statement] = {}
"""The statements by name; each yields a sentence for every violation."""


def _property(statement: Statement) -> Statement:
    PROPERTIES[statement.__name__] = statement
    return statement


@_property
def sheds_only_what_the_source_owns(answer: Answer) -> Iterator[str]:
    """Every bundle that is to leave a broker is among those that the broker reports."""
    for broker, bundles in answer.unloading.unload.items():
        report = answer.data.reports.get(broker)
        yield from (f"{broker} does not own {b}" for b in bundles if report is None or b not in report.owned)


@_property
def sheds_no_bundle_twice(answer: Answer) -> Iterator[str]:
    """No bundle leaves a broker twice."""
    for broker, bundles in answer.unloading.unload.items():
        yield from (f"{bundle} leaves {broker} {n} times" for bundle, n in Counter(bundles).items() if n > 1)


@_property
def sheds_nothing_within_the_grace_period(answer: Answer) -> Iterator[str]:
    """What was unloaded recently stays."""
    for bundles in answer.unloading.unload.values():
        yield from (f"{bundle} was unloaded recently" for bundle in bundles if bundle in answer.data.recently_unloaded)


@_property
def never_sheds_the_only_bundle(answer: Answer) -> Iterator[str]:
    """A broker with one bundle keeps it."""
    for broker in answer.unloading.unload:
        if len(answer.data.reports[broker].owned) == 1:
            yield f"{broker} loses its only bundle"


@_property
def leaves_every_broker_a_bundle(answer: Answer) -> Iterator[str]:
    """No broker is left without a bundle."""
    for broker, bundles in answer.unloading.unload.items():
        if answer.data.reports[broker].owned <= set(bundles):
            yield f"{broker} is left without a bundle"


@_property
def sheds_only_from_an_overloaded_broker(answer: Answer) -> Iterator[str]:
    """A broker sheds only if it is too full by the shedder's own definition."""
    for broker in answer.unloading.unload:
        if not OVERLOADED[answer.shedder](answer, broker):
            yield f"{broker} is not overloaded"


@_property
def sheds_no_more_than_required(answer: Answer) -> Iterator[str]:
    """What leaves a broker is within the amount that the shedder sets itself."""
    for broker, bundles in answer.unloading.unload.items():
        excess = EXCESS[answer.shedder](answer, broker, bundles)
        if excess:
            yield f"{broker} sheds too much: {excess}"


@_property
def sends_bundles_elsewhere(answer: Answer) -> Iterator[str]:
    """A destination that the shedder has in mind is alive, and not the source."""
    for broker, bundles in answer.unloading.unload.items():
        for bundle in bundles:
            target = answer.unloading.destinations.get(bundle)
            if target == broker or (target is not None and target not in answer.data.brokers):
                yield f"{bundle} is sent from {broker} to {target}"


@_property
def computes_with_numbers(answer: Answer) -> Iterator[str]:
    """No average, and no deviation, is NaN."""
    yield from (f"the average of {b} is NaN" for b, average in answer.unloading.averages.items() if math.isnan(average))
    if answer.shedder == "TransferShedder" and answer.data.reports:
        standing = Standing.of(tuple(answer.data.reports), broker_loads(answer.data, answer.conf))
        if math.isnan(standing.deviation):
            yield f"the standard deviation of loads around {standing.mean!r} is NaN"


@dataclass(frozen=True)
class Expected:
    """A violation that is expected of Pulsar's own shedder, in these versions, and why."""

    versions: tuple[Version, ...]
    why: str


_ALL = RELEASES
_OLD = tuple(version for version in RELEASES if not is_since(version, "3.0.7"))
_BEFORE_4_2 = tuple(version for version in RELEASES if not is_since(version, "4.2.4"))
_EXCHANGED = "of a bundle that comes back in exchange it asks only whether policies let it go"
_FOR_ANOTHER = "in an exchange a broker gives its last bundle away, and gets another for it"
_AVERAGES_DIFFER = "a bundle's average may be far below what it carries now, so that all bundles are not yet enough"

EXPECTED: Mapping[tuple[str, str], Expected] = {
    ("never_sheds_the_only_bundle", "AvgShedder"): Expected(_ALL, "it warns that it will not, and does"),
    ("never_sheds_the_only_bundle", "DeviationShedder"): Expected(_ALL, "it does not count bundles"),
    ("sheds_nothing_within_the_grace_period", "DeviationShedder"): Expected(_ALL, "it does not look at it"),
    ("leaves_every_broker_a_bundle", "OverloadShedder"): Expected(_ALL, _AVERAGES_DIFFER),
    ("leaves_every_broker_a_bundle", "ThresholdShedder"): Expected(_ALL, _AVERAGES_DIFFER),
    ("leaves_every_broker_a_bundle", "UniformLoadShedder"): Expected(_ALL, "bundles that carry nothing always fit"),
    ("leaves_every_broker_a_bundle", "AvgShedder"): Expected(_ALL, "it does not count bundles"),
    ("leaves_every_broker_a_bundle", "DeviationShedder"): Expected(_ALL, "it does not count bundles"),
    ("sheds_only_from_an_overloaded_broker", "UniformLoadShedder"): Expected(
        _OLD, "one condition chooses the fullest broker by rate or by throughput (pulsar#21016)"
    ),
    ("sheds_no_more_than_required", "UniformLoadShedder"): Expected(
        _BEFORE_4_2, "a bundle is accepted up to 1000 above what remains (pulsar#21905)"
    ),
    ("sheds_only_what_the_source_owns", "TransferShedder"): Expected(_ALL, _EXCHANGED),
    ("sheds_nothing_within_the_grace_period", "TransferShedder"): Expected(_ALL, _EXCHANGED),
    ("never_sheds_the_only_bundle", "TransferShedder"): Expected(_ALL, _FOR_ANOTHER),
    ("leaves_every_broker_a_bundle", "TransferShedder"): Expected(_ALL, _FOR_ANOTHER),
    ("computes_with_numbers", "TransferShedder"): Expected(
        _ALL, "the mean of the squares can be below the square of the mean by a rounding error"
    ),
}
"""Violations by property and shedder."""


def properties_of(shedder: str) -> Mapping[str, Statement]:
    """The statements that are asked of a shedder: of a user's own, which does not say when and how much, not those on that."""
    own = () if shedder in OVERLOADED else (sheds_only_from_an_overloaded_broker, sheds_no_more_than_required)
    return {name: statement for name, statement in PROPERTIES.items() if statement not in own}


def violations(answer: Answer) -> list[tuple[str, str]]:
    """The violations of an answer, each with its property, those that are expected left out."""
    pairs = []
    for name, statement in PROPERTIES.items():
        expected = EXPECTED.get((name, answer.shedder))
        if expected is None or answer.conf.pulsar_version not in expected.versions:
            pairs += [(name, violation) for violation in statement(answer)]
    return pairs


# --- what overloaded means to each shedder


def _is_above_its_threshold(answer: Answer, broker: str) -> bool:
    return usage(answer.data.reports[broker], answer.conf) >= answer.conf.overload_threshold


def _is_far_above_the_mean(answer: Answer, broker: str) -> bool:
    averages = answer.unloading.averages
    if averages[broker] >= answer.mean + answer.threshold:
        return True
    below = any(averages[other] < answer.mean - answer.threshold for other in answer.data.reports)
    rivals = [averages[b] for b, report in answer.data.reports.items() if len(report.owned) > 1]
    return answer.conf.lowerBoundarySheddingEnabled and below and averages[broker] >= max(rivals)


def _is_the_fullest(answer: Answer, broker: str) -> bool:
    reports = answer.data.reports
    return any(measure(reports[broker]) == max(map(measure, reports.values())) > 0 for measure in (_rate, _throughput))


def _differs_from_some(answer: Answer, broker: str) -> bool:
    scores = {name: weighted_usage(report, answer.conf) * 100 for name, report in answer.data.reports.items()}
    return scores[broker] - min(scores.values()) >= answer.conf.loadBalancerAvgShedderLowThreshold


def _is_above_the_mean(answer: Answer, broker: str) -> bool:
    reports = answer.data.reports
    return reports[broker].throughput > total(map(_throughput, reports.values())) / len(reports)


def _is_fuller_than_the_target(answer: Answer, broker: str) -> bool:
    """Or it gets something in exchange from a fuller one."""
    loads = broker_loads(answer.data, answer.conf)
    targets = {answer.unloading.destinations[bundle] for bundle in answer.unloading.unload[broker]}
    return all(
        loads[broker].weightedMaxEMA >= loads[target].weightedMaxEMA or target in answer.unloading.unload for target in targets
    )


OVERLOADED: Mapping[str, Callable[[Answer, str], bool]] = {
    "OverloadShedder": _is_above_its_threshold,
    "ThresholdShedder": _is_far_above_the_mean,
    "UniformLoadShedder": _is_the_fullest,
    "AvgShedder": _differs_from_some,
    "DeviationShedder": _is_above_the_mean,
    "TransferShedder": _is_fuller_than_the_target,
}


# --- what is too much for each shedder


def _more_than_the_least(need: float, answer: Answer, bundles: tuple[str, ...]) -> str:
    before = [average.shortTermData.throughput for average in _averages(answer, bundles[:-1])]
    return f"{total(before)} bytes/s would do for {need}" if before and total(before) >= need else ""


def _beyond_the_threshold(answer: Answer, broker: str, bundles: tuple[str, ...]) -> str:
    report = answer.data.reports[broker]
    need = report.throughput * (usage(report, answer.conf) - answer.conf.overload_threshold + 0.05)
    return _more_than_the_least(need, answer, bundles)


def _beyond_the_mean(answer: Answer, broker: str, bundles: tuple[str, ...]) -> str:
    carried, average = answer.data.reports[broker].throughput, answer.unloading.averages[broker]
    if average >= answer.mean + answer.threshold:
        need = carried * (average - answer.mean - answer.threshold + 0.05)
    else:
        need = carried * answer.threshold * 0.5
    if need < answer.conf.loadBalancerBundleUnloadMinThroughputThreshold * MIB:
        return f"{need} bytes/s are below the minimum"
    return _more_than_the_least(need, answer, bundles)


def _beyond_the_extremes(answer: Answer, broker: str, bundles: tuple[str, ...]) -> str:
    """More than a share of the largest difference: by rate where rates are too far apart, else by throughput."""
    conf, reports = answer.conf, answer.data.reports.values()
    rates = [report.rate for report in reports]
    threshold = conf.loadBalancerMsgRateDifferenceShedderThreshold
    by_rate = 0 < threshold < (max(rates) - max(min(rates), 1.0)) * 100 / max(min(rates), 1.0)
    measure = _rate if by_rate else _throughput
    least = min(map(measure, reports)) or 1.0
    required = int((measure(answer.data.reports[broker]) - least) * conf.maxUnloadPercentage)
    taken = sum(int(measure(average.shortTermData)) for average in _averages(answer, bundles))
    return f"{taken} is more than {required}" if taken > required else ""


def _beyond_the_pair(answer: Answer, broker: str, bundles: tuple[str, ...]) -> str:
    """More than a share of the difference to the broker that the bundles are meant for, by rate if that is enough."""
    conf, reports = answer.conf, answer.data.reports
    other = reports[answer.unloading.destinations[bundles[0]]]
    rates = (reports[broker].rate - other.rate) * conf.maxUnloadPercentage
    throughputs = (reports[broker].throughput - other.throughput) * conf.maxUnloadPercentage
    measure, amount = (_rate, rates) if rates > conf.minUnloadMessage else (_throughput, throughputs)
    taken = total(measure(average.shortTermData) for average in _averages(answer, bundles))
    return f"{taken} is more than {amount}" if taken > amount * (1 + ROUNDING) else ""


def _beyond_half(answer: Answer, broker: str, bundles: tuple[str, ...]) -> str:
    """More than half the difference of the loads, with nothing in exchange."""
    loads = broker_loads(answer.data, answer.conf)
    swapped = any(answer.unloading.destinations[bundle] in answer.unloading.unload for bundle in bundles)
    own, most = answer.data.reports[broker].throughput, loads[broker].weightedMaxEMA
    least = min(load.weightedMaxEMA for load in loads.values())
    taken = total(answer.data.stats_of(broker)[bundle].throughput for bundle in bundles)
    if swapped or most == 0 or taken <= own * ((most - least) / 2) / most * (1 + ROUNDING):
        return ""
    return f"{taken} bytes/s are more than half the difference"


def _never(answer: Answer, broker: str, bundles: tuple[str, ...]) -> str:
    return ""


EXCESS: Mapping[str, Callable[[Answer, str, tuple[str, ...]], str]] = {
    "OverloadShedder": _beyond_the_threshold,
    "ThresholdShedder": _beyond_the_mean,
    "UniformLoadShedder": _beyond_the_extremes,
    "AvgShedder": _beyond_the_pair,
    "DeviationShedder": _never,
    "TransferShedder": _beyond_half,
}
"""Empty, or by how much; DeviationShedder sets itself no amount."""


def _averages(answer: Answer, bundles: tuple[str, ...]) -> list[BundleData]:
    return [answer.data.bundles[bundle] for bundle in bundles]


def _rate(traffic: Traffic) -> float:
    return traffic.rate


def _throughput(traffic: Traffic) -> float:
    return traffic.throughput
