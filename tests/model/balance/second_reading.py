"""The shedders of the modular manager written a second time, from the rules as they are written down and nothing else.

They share no line with ``model/balance``: whoever misread a rule must have misread it twice for the two to agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from fencepost.model.balance.load_data import LoadData, LocalBrokerData, ResourceUsage, Traffic

MEBIBYTE = 1048576
LARGEST_INT = 2147483647

Answer = dict[str, list[str]]
Measure = Callable[[Traffic], float]


def rate(traffic: Traffic) -> float:
    return traffic.msgRateIn + traffic.msgRateOut


def throughput(traffic: Traffic) -> float:
    return traffic.msgThroughputIn + traffic.msgThroughputOut


def percent(resource: ResourceUsage) -> np.float32:
    if resource.limit <= 0:
        return np.float32(0)
    return np.float32(np.float32(resource.usage) / np.float32(resource.limit)) * np.float32(100)


def usage(broker: LocalBrokerData, *, old: bool) -> float:
    """The largest of the resources that count with the default weights."""
    counted = [broker.cpu, broker.bandwidthIn, broker.bandwidthOut, *([broker.memory, broker.directMemory] if old else [])]
    return max(float(percent(resource)) for resource in counted) / 100


def usage_in_floats(broker: LocalBrokerData) -> float:
    every = (broker.cpu, broker.memory, broker.directMemory, broker.bandwidthIn, broker.bandwidthOut)
    return float(max(percent(resource) for resource in every) / np.float32(100))


def may_go(load: LoadData, broker: LocalBrokerData, measure: Measure) -> list[tuple[float, str]]:
    owned = [name for name in load.bundles if name in broker.bundles and name not in load.recently_unloaded]
    return sorted(((measure(load.bundles[name].shortTermData), name) for name in owned), key=lambda one: -one[0])


def in_a_hash_map(names: Iterable[str]) -> list[str]:
    """The names as a HashMap lists them that they are put into, one after the other."""
    buckets: list[list[str]] = [[] for _ in range(16)]

    def put(name: str) -> None:
        code = 0
        for letter in name:
            code = (code * 31 + ord(letter)) % 2**32
        buckets[(code ^ code >> 16) % len(buckets)].append(name)

    for count, name in enumerate(names, start=1):
        put(name)
        if count * 4 > len(buckets) * 3:
            there = [each for bucket in buckets for each in bucket]
            buckets = [[] for _ in range(2 * len(buckets))]
            for each in there:
                put(each)
    return [name for bucket in buckets for name in bucket]


def until(need: float, bundles: Iterable[tuple[float, str]]) -> list[str]:
    taken, marked = list[str](), 0.0
    for amount, name in bundles:
        if marked < need or not taken:
            taken.append(name)
            marked += amount
    return taken


def some(answer: Answer) -> Answer:
    return {broker: bundles for broker, bundles in answer.items() if bundles}


@dataclass
class Overload:
    old: bool

    def __call__(self, load: LoadData) -> Answer:
        answer = {}
        for name, broker in load.reports.items():
            used = usage_in_floats(broker) if self.old else usage(broker, old=False)
            if used >= 0.85 and len(broker.bundles) > 1:
                answer[name] = until(throughput(broker) * (used - 0.85 + 0.05), may_go(load, broker, throughput))
        return some(answer)


@dataclass
class Threshold:
    old: bool
    lower: bool = False
    scores: dict[str, float] = field(default_factory=dict)

    def mean(self, load: LoadData) -> float:
        whole = 0.0
        for name, broker in load.reports.items():
            now = usage(broker, old=self.old)
            self.scores[name] = self.scores[name] * 0.9 + (1 - 0.9) * now if name in self.scores else now
            whole += self.scores[name]
        return whole / len(load.reports)

    def __call__(self, load: LoadData) -> Answer:
        mean, answer = self.mean(load), {}
        if mean == 0:
            return {}
        for name, broker in load.reports.items():
            need = throughput(broker) * (self.scores[name] - mean - 0.1 + 0.05)
            if self.scores[name] >= mean + 0.1 and need >= 10 * MEBIBYTE and len(broker.bundles) > 1:
                answer[name] = until(need, may_go(load, broker, throughput))
        return some(answer) or (self.lower_boundary(load) if self.lower else {})

    def lower_boundary(self, load: LoadData) -> Answer:
        bound = self.mean(load) - 0.1
        full = [name for name, broker in load.reports.items() if len(broker.bundles) > 1 and self.scores[name] > bound]
        if not full or not any(self.scores[name] < bound for name in load.reports):
            return {}
        name = max(full, key=lambda one: self.scores[one])
        need = throughput(load.reports[name]) * 0.1 * 0.5
        return some({name: until(need, may_go(load, load.reports[name], throughput))}) if need >= 10 * MEBIBYTE else {}


@dataclass
class Uniform:
    old: bool

    def __call__(self, load: LoadData) -> Answer:
        rates, throughputs = self.extremes_of_2_10(load) if self.old else (self.extremes(load, m) for m in (rate, throughput))
        (by_rate, most_rate, least_rate), (by_throughput, most, least) = rates, throughputs
        least_rate, least = (1.0 if abs(value) <= 1e-6 else value for value in (least_rate, least))
        wanted = math.trunc((most_rate - least_rate) * 0.2), min(math.trunc((most - least) * 0.2), LARGEST_INT)
        enough = wanted[0] >= 1000, wanted[1] >= MEBIBYTE
        if (most_rate - least_rate) * 100 / least_rate > 50:
            return self.shed(load, by_rate, rate, wanted[0], any(enough) if self.old else enough[0], 1000 if self.old else 0)
        if most / least > 4:
            return self.shed(load, by_throughput, throughput, wanted[1], any(enough) if self.old else enough[1], 0)
        return {}

    @staticmethod
    def extremes(load: LoadData, measure: Measure) -> tuple[str, float, float]:
        values = {name: measure(broker) for name, broker in load.reports.items()}
        fullest = max(values, key=lambda name: values[name])
        return fullest, values[fullest], min(float(LARGEST_INT), *values.values())

    @staticmethod
    def extremes_of_2_10(load: LoadData) -> tuple[tuple[str, float, float], tuple[str, float, float]]:
        fullest, most, least = "", (-1.0, -1.0), (float(LARGEST_INT), float(LARGEST_INT))
        for name, broker in load.reports.items():
            both = rate(broker), throughput(broker)
            if len(broker.bundles) > 1 and (both[0] > most[0] or both[1] > most[1]):
                fullest, most = name, both
            if len(broker.bundles) > 1 and (both[0] < least[0] or both[1] < least[1]):
                least = both
        return (fullest, most[0], least[0]), (fullest, most[1], least[1])

    @staticmethod
    def shed(load: LoadData, name: str, measure: Measure, left: int, enough: bool, more: int) -> Answer:
        taken = list[str]()
        if enough and len(load.reports[name].bundles) > 1:
            for amount, bundle in may_go(load, load.reports[name], measure):
                if amount <= left + more:
                    taken.append(bundle)
                    left += math.trunc(-amount)
        return some({name: taken})


@dataclass
class Average:
    old: bool
    low: dict[str, int] = field(default_factory=dict)
    high: dict[str, int] = field(default_factory=dict)

    def __call__(self, load: LoadData) -> Answer:
        scores = {name: usage(broker, old=self.old) * 100 for name, broker in load.reports.items()}
        order = sorted(in_a_hash_map(scores), key=lambda name: scores[name])
        load = replace(load, bundles={name: load.bundles[name] for name in in_a_hash_map(load.bundles)})
        answer: Answer = {}
        while order:
            emptiest, fullest = order[0], order[-1]
            order = order[1:-1]
            difference = scores[fullest] - scores[emptiest]
            for name in {emptiest, fullest}:
                self.low[name] = self.low.get(name, 0) + 1 if difference >= 15 else 0
                self.high[name] = self.high.get(name, 0) + 1 if difference >= 40 else 0
            if any(self.low[name] >= 8 or self.high[name] >= 2 for name in (emptiest, fullest)):
                for name in (emptiest, fullest):
                    self.low[name] = self.high[name] = 0
                answer[fullest] = self.shed(load, load.reports[fullest], load.reports[emptiest])
        return some(answer)

    @staticmethod
    def shed(load: LoadData, full: LocalBrokerData, empty: LocalBrokerData) -> list[str]:
        for measure, least in ((rate, 1000), (throughput, MEBIBYTE)):
            left, taken = (measure(full) - measure(empty)) * 0.2, list[str]()
            if left > least:
                for amount, bundle in may_go(load, full, measure):
                    if 0 < amount <= left:
                        taken.append(bundle)
                        left -= amount
                return taken
        return []
