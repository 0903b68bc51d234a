"""The properties of shedders: they hold of Pulsar's on any load, except for those expected; and each catches a mistake."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.balance.configuration import Configuration, Version, defaults
from fencepost.model.balance.deviation_shedder import NoBrokers
from fencepost.model.balance.load_data import BrokerLoad, BundleData, LoadData, LocalBrokerData
from fencepost.model.balance.shedding import Shedder, Unloading
from fencepost.model.balance.strategies import SHEDDERS
from fencepost.model.balance.wording import MIB
from fencepost.properties.balance.answers import EXPECTED, PROPERTIES, Answer, violations
from tests.marking import first_at_once
from tests.model.balance.clusters import broker, bundle, cluster, stats

VERSIONS: tuple[Version, ...] = ("4.2.4", "2.10.1")
SIZES = st.sampled_from([0, 1, 999, 1000, 5000, MIB, 2 * MIB, 30 * MIB, 300 * MIB])
PERCENTS = st.sampled_from([0, 1, 8, 10, 15, 25, 40, 50, 55, 60, 84, 85, 86, 99, 100, 130])


@st.composite
def load_data(draw: st.DrawFn) -> LoadData:
    """Two to five brokers with up to four bundles each, whose averages may be unlike what they carry now, or unknown."""
    reports: dict[str, LocalBrokerData | None] = {}
    averages: dict[str, BundleData] = {}
    for place in range(draw(st.integers(2, 5))):
        name = f"b{place}:8080"  # without a port the extensible manager passes it over
        sizes = draw(st.lists(SIZES, max_size=4))
        seen = {f"{name}/{n}": stats(size, rate=draw(SIZES) % 100_000) for n, size in enumerate(sizes)}
        for owned, each in seen.items():
            if draw(st.integers(0, 9)):
                averages[owned] = bundle(each.throughput if draw(st.booleans()) else draw(SIZES), rate=each.rate)
        reports[name] = broker(
            draw(PERCENTS),
            throughput=sum(each.throughput for each in seen.values()),
            rate=sum(each.rate for each in seen.values()),
            bundles=list(seen),
            lastStats=seen,
        )
    recent = draw(st.lists(st.sampled_from(sorted(averages)), max_size=2)) if averages else []
    return cluster(reports, averages, recently_unloaded=dict.fromkeys(recent, 0))


@st.composite
def configurations(draw: st.DrawFn, version: Version) -> Configuration:
    """Pulsar's defaults, or thresholds and minima at which more happens, and counters that act at once."""
    return replace(
        defaults(version),
        loadBalancerBrokerOverloadedThresholdPercentage=draw(st.sampled_from([50, 85])),
        loadBalancerBrokerThresholdShedderPercentage=draw(st.sampled_from([0, 10])),
        loadBalancerBundleUnloadMinThroughputThreshold=draw(st.sampled_from([0.0, 10.0])),
        lowerBoundarySheddingEnabled=draw(st.booleans()),
        minUnloadMessage=draw(st.sampled_from([0, 1000])),
        minUnloadMessageThroughput=draw(st.sampled_from([0, MIB])),
        loadBalancerAvgShedderHitCountHighThreshold=draw(st.sampled_from([1, 2])),
        loadBalancerAvgShedderHitCountLowThreshold=draw(st.sampled_from([1, 8])),
        loadBalancerSheddingConditionHitCountThreshold=draw(st.sampled_from([0, 1])),
        loadBalancerBrokerLoadTargetStd=draw(st.sampled_from([0.05, 0.25])),
    )


def answers(name: str, data: LoadData, conf: Configuration, rounds: int = 2) -> list[Answer]:
    """What a new shedder answers in so many rounds on the same data."""
    shedder: Shedder = SHEDDERS[name]()
    given = []
    for _ in range(rounds):
        try:
            unloading, shedder = shedder.find_bundles_for_unloading(data, conf)
        except NoBrokers:
            break
        given.append(Answer(name, data, conf, unloading))
    return given


@pytest.mark.parametrize("version", first_at_once(VERSIONS))
@pytest.mark.parametrize("name", SHEDDERS)
def test_pulsars_shedders_do_as_expected(name: str, version: Version) -> None:
    acted = 0

    @settings(max_examples=40)
    @given(load_data(), configurations(version))
    def check(data: LoadData, conf: Configuration) -> None:
        nonlocal acted
        for answer in answers(name, data, conf):
            acted += bool(answer.unloading.unload)
            assert violations(answer) == []

    check()
    assert acted >= 8  # the properties speak of unloads: there must be some


@settings(max_examples=25)
@given(load_data(), st.integers(0, 40))
def test_a_fuller_broker_sheds_no_less(data: LoadData, more: int) -> None:
    """OverloadShedder is monotone: the same bundles leave a broker, and perhaps more, when its usage rises."""
    conf = defaults("4.2.4")
    for name, report in data.reports.items():
        fuller = replace(report, cpu=replace(report.cpu, usage=report.cpu.usage + more))
        (before,) = answers("OverloadShedder", data, conf, 1)
        (after,) = answers("OverloadShedder", replace(data, brokers={**data.brokers, name: fuller}), conf, 1)
        bundles = before.unloading.unload.get(name, ())
        assert after.unloading.unload.get(name, ())[: len(bundles)] == bundles


# --- what is expected to be violated is


def two(full: LocalBrokerData, *averages: BundleData, empty: LocalBrokerData | None = None, **others: object) -> LoadData:
    known = dict(zip(full.bundles, averages, strict=False))
    return cluster({"a": full, "b": empty or broker(1)}, known, **others)


AT_ONCE = replace(
    defaults("4.2.4"), loadBalancerAvgShedderHitCountHighThreshold=1, loadBalancerSheddingConditionHitCountThreshold=0
)
ONLY = broker(99, throughput=100 * MIB, rate=100_000, bundles=["n/1"])
BOTH = broker(99, throughput=100 * MIB, rate=100_000, bundles=["n/1", "n/2"])
SPREAD = cluster({"a": ONLY, **{name: broker(1) for name in "bcd"}}, {"n/1": bundle(MIB, rate=100)})
SPREAD_BOTH = cluster({"a": BOTH, **{n: broker(1) for n in "bcd"}}, {"n/1": bundle(MIB, rate=9), "n/2": bundle(MIB, rate=9)})
WRONG_BROKER = cluster(
    {
        "a": broker(rate=50000, throughput=50 * MIB, bundles=["n/1", "n/2"]),
        "b": broker(rate=60000, throughput=10 * MIB, bundles=["n/3", "n/4"]),
        "c": broker(rate=20000, throughput=20 * MIB, bundles=["n/5", "n/6"]),
        "d": broker(rate=10, throughput=10, bundles=["n/7", "n/8"]),
    },
    {"n/5": bundle(rate=100), "n/6": bundle(rate=100)},
)
OVERSIZED = two(
    replace(BOTH, msgRateIn=12000, msgThroughputIn=0.0),
    bundle(rate=2900),
    bundle(rate=10),
    empty=broker(rate=2000, bundles=["m/1", "m/2"]),
)
TENTHS = cluster({name: broker(1) for name in "abc"}, loads={name: BrokerLoad(0.1, 1) for name in "abc"})

SWAPPED = cluster(
    {
        "a:8080": broker(90, throughput=1250, bundles=["n/1", "n/2"], lastStats={"n/1": stats(600), "n/2": stats(650)}),
        "b:8080": broker(10, throughput=50, bundles=["m/1"], lastStats={"m/1": stats(50)}),
    }
)
SWAPPED_STALE = cluster({**SWAPPED.brokers, "b:8080": replace(SWAPPED.reports["b:8080"], bundles=("m/2",))})

VIOLATING: dict[tuple[str, str], LoadData] = {
    ("never_sheds_the_only_bundle", "AvgShedder"): SPREAD,
    ("never_sheds_the_only_bundle", "DeviationShedder"): SPREAD,
    ("sheds_nothing_within_the_grace_period", "DeviationShedder"): replace(SPREAD_BOTH, recently_unloaded={"n/1": 0}),
    ("leaves_every_broker_a_bundle", "OverloadShedder"): SPREAD_BOTH,
    ("leaves_every_broker_a_bundle", "ThresholdShedder"): SPREAD_BOTH,
    ("leaves_every_broker_a_bundle", "UniformLoadShedder"): SPREAD_BOTH,
    ("leaves_every_broker_a_bundle", "AvgShedder"): SPREAD_BOTH,
    ("leaves_every_broker_a_bundle", "DeviationShedder"): SPREAD_BOTH,
    ("sheds_only_from_an_overloaded_broker", "UniformLoadShedder"): WRONG_BROKER,
    ("sheds_no_more_than_required", "UniformLoadShedder"): OVERSIZED,
    ("sheds_only_what_the_source_owns", "TransferShedder"): SWAPPED_STALE,
    ("sheds_nothing_within_the_grace_period", "TransferShedder"): replace(SWAPPED, recently_unloaded={"m/1": 0}),
    ("never_sheds_the_only_bundle", "TransferShedder"): SWAPPED,
    ("leaves_every_broker_a_bundle", "TransferShedder"): SWAPPED,
    ("computes_with_numbers", "TransferShedder"): TENTHS,
}


def test_every_expected_violation_is_shown() -> None:
    assert VIOLATING.keys() == EXPECTED.keys()


@pytest.mark.parametrize(("name", "shedder"), EXPECTED)
def test_what_is_expected_to_be_violated_is(name: str, shedder: str) -> None:
    for version in EXPECTED[name, shedder].versions:
        conf = replace(AT_ONCE, pulsar_version=version)
        if shedder == "UniformLoadShedder" and version == "2.10.1":
            data = VIOLATING[name, shedder]
            data = replace(
                data, brokers={n: r if r and r.owned else broker(1, bundles=["m/1", "m/2"]) for n, r in data.brokers.items()}
            )
        else:
            data = VIOLATING[name, shedder]
        (answer,) = answers(shedder, data, conf, 1)
        assert list(PROPERTIES[name](answer))
        assert name not in {violated for violated, _ in violations(answer)}


# --- each property catches a mistake


@dataclass(frozen=True)
class Mistaken:
    """A shedder with a mistake: it sees other data, or its answer is changed."""

    of: str
    seen: Callable[[LoadData], LoadData] = lambda data: data
    edit: Callable[[Unloading, LoadData], Unloading] = lambda unloading, data: unloading

    def answer(self, data: LoadData, conf: Configuration) -> Answer:
        (right,) = answers(self.of, self.seen(data), conf, 1)
        return Answer(self.of, data, conf, self.edit(right.unloading, data))


def _first(unloading: Unloading, change: Callable[[str, tuple[str, ...]], Collection[str]]) -> Unloading:
    broker, bundles = next(iter(unloading.unload.items()))
    return replace(unloading, unload={broker: tuple(change(broker, bundles))})


def _with_usage(percent: float) -> Callable[[LoadData], LoadData]:
    def seen(data: LoadData) -> LoadData:
        full = data.reports["a"]
        return replace(data, brokers={**data.brokers, "a": replace(full, cpu=replace(full.cpu, usage=percent))})

    return seen


FOUR = broker(90, throughput=100 * MIB, rate=100_000, bundles=[f"n/{n}" for n in range(4)])
PLAIN = two(FOUR, *[bundle(25 * MIB, rate=10_000)] * 4, recently_unloaded={"n/3": 0}, empty=broker(10, bundles=["m/1"]))

MISTAKES: dict[str, tuple[Mistaken, LoadData]] = {
    "sheds_only_what_the_source_owns": (
        Mistaken("OverloadShedder", edit=lambda u, _: _first(u, lambda b, bundles: (*bundles, "m/1"))), PLAIN,
    ),
    "sheds_no_bundle_twice": (Mistaken("OverloadShedder", edit=lambda u, _: _first(u, lambda b, bundles: bundles * 2)), PLAIN),
    "sheds_nothing_within_the_grace_period": (
        Mistaken("OverloadShedder", seen=lambda data: replace(_with_usage(200)(data), recently_unloaded={})), PLAIN,
    ),
    "never_sheds_the_only_bundle": (
        Mistaken("OverloadShedder", seen=lambda data: replace(data, brokers={**data.brokers, "a": BOTH})),
        two(ONLY, bundle(MIB)),
    ),
    "leaves_every_broker_a_bundle": (
        Mistaken("TransferShedder", edit=lambda u, data: replace(u, unload={"a": data.reports["a"].bundles})), PLAIN,
    ),
    "sheds_only_from_an_overloaded_broker": (Mistaken("OverloadShedder", seen=_with_usage(90)), _with_usage(84)(PLAIN)),
    "sheds_no_more_than_required": (Mistaken("OverloadShedder", seen=_with_usage(150)), PLAIN),
    "sends_bundles_elsewhere": (
        Mistaken("AvgShedder", edit=lambda u, _: replace(u, destinations=dict.fromkeys(u.destinations, "a"))), PLAIN,
    ),
    "computes_with_numbers": (
        Mistaken("ThresholdShedder", edit=lambda u, _: replace(u, averages={**u.averages, "a": float("nan")})), PLAIN,
    ),
}  # fmt: skip


def test_every_property_has_a_mistake() -> None:
    assert MISTAKES.keys() == PROPERTIES.keys()


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_mistake_is_caught(name: str) -> None:
    mistaken, data = MISTAKES[name]
    (right,) = answers(mistaken.of, data, AT_ONCE, 1)
    assert not list(PROPERTIES[name](right))
    assert list(PROPERTIES[name](mistaken.answer(data, AT_ONCE)))


# --- the amounts and the overload of every shedder can be violated


@pytest.mark.parametrize("name", [name for name in SHEDDERS if name != "DeviationShedder"])
def test_everything_at_once_is_too_much(name: str) -> None:
    everything = Unloading({"a": FOUR.bundles}, averages={"a": 0.9, "b": 0.1}, destinations=dict.fromkeys(FOUR.bundles, "b"))
    data = replace(PLAIN, recently_unloaded={})
    assert list(PROPERTIES["sheds_no_more_than_required"](Answer(name, data, AT_ONCE, everything)))


@pytest.mark.parametrize("name", SHEDDERS)
def test_the_emptier_broker_is_not_overloaded(name: str) -> None:
    wrong = Unloading({"b": ("m/1",)}, averages={"a": 0.9, "b": 0.1}, destinations={"m/1": "a"})
    data = replace(PLAIN, bundles={**PLAIN.bundles, "m/1": bundle(MIB)})
    assert list(PROPERTIES["sheds_only_from_an_overloaded_broker"](Answer(name, data, AT_ONCE, wrong)))
