"""The shedders against the rules written a second time, on clusters made at random: the same bundles, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from fencepost.model.balance import amounts, avg_shedder, overload_shedder, threshold_shedder, uniform_load_shedder
from fencepost.model.balance.avg_shedder import AvgShedder
from fencepost.model.balance.configuration import Version, defaults
from fencepost.model.balance.load_data import LoadData, ResourceUsage
from fencepost.model.balance.overload_shedder import OverloadShedder
from fencepost.model.balance.shedding import Shedder
from fencepost.model.balance.threshold_shedder import ThresholdShedder
from fencepost.model.balance.uniform_load_shedder import UniformLoadShedder
from fencepost.model.balance.usage import unweighted_usage
from fencepost.properties.balance.random_loads import random_load
from tests.model.balance.second_reading import Answer, Average, Overload, Threshold, Uniform

Reading = Callable[[LoadData], Answer]
READINGS: dict[str, tuple[type[Shedder], Callable[[bool], Reading]]] = {
    "overload": (OverloadShedder, Overload),
    "threshold": (ThresholdShedder, Threshold),
    "lower boundary": (ThresholdShedder, lambda old: Threshold(old, lower=True)),
    "uniform": (UniformLoadShedder, Uniform),
    "average": (AvgShedder, Average),
}
ROUNDS = 9


def disagreements(name: str, version: Version, loads: range) -> tuple[int, int]:
    """In how many of the loads the two differ, and in how many rounds something is unloaded."""
    shedder_type, reading_type = READINGS[name]
    conf = replace(defaults(version), lowerBoundarySheddingEnabled=name == "lower boundary")
    differ = unloads = 0
    for number in loads:
        shedder, reading = shedder_type(), reading_type(conf.is_2_10)
        first, other = (_varied(random_load(conf, seed, number), number) for seed in (1, 2))
        agree = True
        for place in range(ROUNDS):
            load = other if place == 1 and other.brokers.keys() == first.brokers.keys() else first
            unloading, shedder = shedder.find_bundles_for_unloading(load, conf)
            moves = {broker: list(bundles) for broker, bundles in unloading.unload.items()}
            agree = agree and moves == reading(load)
            unloads += bool(moves)
        differ += not agree
    return differ, unloads


def _varied(load: LoadData, number: int) -> LoadData:
    """The load with brokers that use other resources than the CPU, too."""
    random, brokers = Random(number), {}
    for name, report in load.reports.items():
        used = (ResourceUsage(random.randint(0, 400), random.choice((0, 100, 300, 1000))) for _ in range(3))
        memory, direct, incoming = used
        brokers[name] = replace(report, memory=memory, directMemory=direct, bandwidthIn=incoming)
    return replace(load, brokers=brokers if random.random() < 0.5 else load.brokers)


@pytest.mark.parametrize("version", ["4.2.4", "2.10.1"])
@pytest.mark.parametrize("name", READINGS)
def test_both_unload_the_same(name: str, version: Version) -> None:
    differ, unloads = disagreements(name, version, range(100))
    assert differ == 0
    assert unloads >= 50


@pytest.mark.deep
@pytest.mark.parametrize("version", ["4.2.4", "2.10.1"])
@pytest.mark.parametrize("name", READINGS)
def test_both_unload_the_same_on_many(name: str, version: Version) -> None:
    assert disagreements(name, version, range(100, 2000))[0] == 0


@pytest.mark.parametrize(
    ("name", "version", "place", "constant", "value"),
    [
        ("overload", "4.2.4", amounts, "MARGIN", 0.0),
        ("threshold", "2.10.1", amounts, "MARGIN", 0.0),
        ("lower boundary", "4.2.4", threshold_shedder, "LOWER_BOUNDARY_MARGIN", 1.0),
        ("uniform", "2.10.1", amounts, "DELTA", 0),
        ("uniform", "4.2.4", uniform_load_shedder, "INT_MAX", 2**10),
        ("average", "4.2.4", avg_shedder, "RIGHT", amounts.WITH_DELTA),
        ("overload", "4.2.4", overload_shedder, "usage", lambda report, _: unweighted_usage(report)),
    ],
)
def test_a_rule_that_is_misread_once_is_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str, version: Version, place: object, constant: str, value: object
) -> None:
    monkeypatch.setattr(place, constant, value)
    assert disagreements(name, version, range(100))[0] > 0
