"""Automatic splits: which bundles, for which reason, and where each algorithm cuts them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.load_data import LoadData, NamespaceBundleStats
from fencepost.model.balance.splitting import SplitStrategy, Topic, boundaries, bundles_to_split
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER, load_manager
from fencepost.model.pulsar.hash_range import Bundle, Refused
from tests.model.balance.clusters import MIB, broker, bundle, cluster, stats

CONF = defaults("4.2.4")
ONE, TWO = "n/0x00000000_0x40000000", "n/0x40000000_0x80000000"
LARGE = stats(topics=1001)


def reported(seen: dict[str, NamespaceBundleStats], **others: object) -> LoadData:
    reports = {"a": broker(bundles=list(seen), lastStats=seen), "b": broker()}
    return cluster(reports, **others)  # type: ignore[arg-type]


def splits(data: LoadData, **settings: object) -> list[str]:
    return [split.bundle for split in bundles_to_split(data, replace(CONF, **settings))]  # type: ignore[arg-type]


# --- modular: "strictly above 1000 topics, 1000 sessions, 30000 msg/s or 100 MiB/s (long term); at least 2 topics"


@pytest.mark.parametrize(
    ("seen", "average", "split"),
    [
        (stats(topics=1000), bundle(), False),
        (stats(topics=1001), bundle(), True),
        (stats(topics=2, sessions=1000), bundle(), False),
        (stats(topics=2, sessions=1001), bundle(), True),
        (stats(topics=1, sessions=1001), bundle(), False),
        (stats(topics=2), bundle(rate=30000), False),
        (stats(topics=2), bundle(rate=30000.5), True),
        (stats(topics=2), bundle(100 * MIB), False),
        (stats(topics=2), bundle(100 * MIB + 1), True),
        (stats(200 * MIB, rate=99999, topics=2), bundle(), False),  # what was seen last does not count
    ],
)
def test_a_bundle_is_split_strictly_above_a_limit(seen: NamespaceBundleStats, average: object, split: bool) -> None:
    assert splits(reported({ONE: seen}, bundles={ONE: average})) == ([ONE] if split else [])


def test_a_bundle_of_which_no_average_is_known_has_no_rate() -> None:
    assert splits(reported({ONE: stats(999 * MIB, rate=99999, topics=2)})) == []


def test_the_limit_of_bandwidth_overflows() -> None:
    """2047 MiB/s are the most that an int holds in bytes; 2048 are below zero, 4097 are 1."""
    large = reported({ONE: stats(topics=2)}, bundles={ONE: bundle(2047 * MIB)})
    assert splits(large, loadBalancerNamespaceBundleMaxBandwidthMbytes=2047) == []
    assert splits(large, loadBalancerNamespaceBundleMaxBandwidthMbytes=2048) == [ONE]
    assert splits(large, loadBalancerNamespaceBundleMaxBandwidthMbytes=4097) == [ONE]


def test_limits_of_sessions_can_be_switched_off() -> None:
    assert splits(reported({ONE: stats(topics=2, sessions=5000)}), loadBalancerNamespaceBundleMaxSessions=-1) == []


def test_a_namespace_has_fewer_bundles_than_its_maximum_those_planned_counted() -> None:
    data = reported({ONE: LARGE, TWO: LARGE})
    assert splits(data, loadBalancerNamespaceMaximumBundles=4) == [ONE, TWO]
    assert splits(data, loadBalancerNamespaceMaximumBundles=3) == [ONE]
    assert splits(data, loadBalancerNamespaceMaximumBundles=2) == []
    elsewhere = reported({ONE: LARGE, "m/0x00000000_0xffffffff": LARGE})
    assert splits(elsewhere, loadBalancerNamespaceMaximumBundles=2) == [ONE, "m/0x00000000_0xffffffff"]


def test_what_has_no_room_for_a_boundary_is_not_split() -> None:
    assert splits(reported({"n/0x00000000_0x00000001": LARGE, "no-bundle": LARGE})) == []


# --- extensible: "after more than 3 hits, reasons in the order topics, sessions, rate, bandwidth"


def rounds(data: LoadData, count: int, splitting: tuple[str, ...] = (), **settings: object) -> list[str]:
    strategy, splits = SplitStrategy(), []
    for _ in range(count):
        splits, strategy = strategy.bundles_to_split(data, replace(CONF, **settings), splitting)  # type: ignore[arg-type]
    return [f"{split.bundle}: {split.reason}" for split in splits]


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (stats(200 * MIB, rate=40000, topics=1001, sessions=1001), "1001 topics are more than 1000"),
        (stats(200 * MIB, rate=40000, topics=2, sessions=1001), "1001 sessions are more than 1000"),
        (stats(200 * MIB, rate=40000, topics=2), "40000 msg/s are more than 30000"),
        (stats(200 * MIB, topics=2), "200 MiB/s are more than 100"),
    ],
)
def test_reasons_in_their_order_after_hits(seen: NamespaceBundleStats, reason: str) -> None:
    data = reported({ONE: seen})
    assert [rounds(data, count) for count in range(1, 5)] == [[], [], [], [f"{ONE}: {reason}"]]
    assert rounds(data, 5) == []  # begins again


def test_hits_are_in_a_row() -> None:
    strategy = SplitStrategy()
    for seen in (LARGE, LARGE, LARGE, stats(topics=2), LARGE):
        splits, strategy = strategy.bundles_to_split(reported({ONE: seen}), CONF)
        assert splits == []
    assert strategy.hits == {("a", ONE): 1}


def test_a_neighbour_of_a_split_under_way_is_passed_over() -> None:
    data = reported({TWO: LARGE})
    assert len(rounds(data, 4)) == 1
    assert rounds(data, 4, ("n/0x40000000_0xc0000000",)) == []
    assert rounds(data, 4, ("n/0x20000000_0x80000000",)) == []
    assert len(rounds(data, 4, ("n/0x80000000_0xffffffff", "m/0x40000000_0x80000000"))) == 1


def test_a_broker_splits_only_so_many_in_a_cycle_and_only_its_own() -> None:
    data = reported({ONE: LARGE, TWO: LARGE})
    assert len(rounds(data, 4, loadBalancerMaxNumberOfBundlesToSplitPerCycle=1)) == 1
    assert len(rounds(data, 4, loadBalancerMaxNumberOfBundlesToSplitPerCycle=0)) == 2
    report = data.reports["a"]
    stolen = replace(data, brokers={"a": replace(report, bundles=(TWO,))})
    assert [line.split(":")[0] for line in rounds(stolen, 4)] == [TWO]


def test_the_extensible_manager_cuts_in_two_only() -> None:
    conf = replace(
        CONF,
        loadManagerClassName=EXTENSIBLE_LOAD_MANAGER,
        defaultNamespaceBundleSplitAlgorithm="flow_or_qps_equally_divide",
        loadBalancerNamespaceBundleSplitConditionHitCountThreshold=0,
    )
    data = reported({ONE: stats(topics=4, rate=80000)})
    for topics, cuts in ((TOPICS, None), (TOPICS[:2], (16,))):
        splits, (reason,), _ = load_manager(conf).split(data, {ONE: topics})
        assert [split.boundaries for split in splits] == ([] if cuts is None else [cuts])
        assert reason.endswith("3 boundaries, and the extensible manager cuts in two only") is (cuts is None)


# --- where


WHOLE = Bundle(0, 0xFFFFFFFF)
TOPICS = [Topic(hash=place, msgRateIn=20000.0) for place in (10, 20, 30, 40)]


@pytest.mark.parametrize(
    ("algorithm", "cuts"),
    [
        ("range_equally_divide", [0x7FFFFFFF]),
        ("topic_count_equally_divide", [25]),
        ("specified_positions_divide", [15]),
        ("flow_or_qps_equally_divide", [16, 26, 36]),
    ],
)
def test_algorithms_by_name(algorithm: str, cuts: list[int]) -> None:
    assert boundaries(algorithm, WHOLE, TOPICS, CONF, [15, 0]) == (cuts, "")


def test_topics_elsewhere_do_not_count() -> None:
    low = Bundle(0, 25)
    assert boundaries("topic_count_equally_divide", low, TOPICS, CONF) == ([15], "")
    assert boundaries("topic_count_equally_divide", Bundle(0, 15), TOPICS, CONF) == (
        None,
        "topic_count_equally_divide needs two topics, and the bundle has 1",
    )


def test_limits_of_the_configuration_hold_for_flow() -> None:
    flow = "flow_or_qps_equally_divide"
    assert boundaries(flow, WHOLE, TOPICS, replace(CONF, loadBalancerNamespaceBundleMaxMsgRate=40000))[0] == [26]
    lenient = replace(CONF, flowOrQpsDifferenceThresholdPercentage=167)
    assert boundaries(flow, WHOLE, TOPICS, lenient)[0] is None


def test_positions_may_be_forced() -> None:
    positions = "specified_positions_divide"
    assert boundaries(positions, WHOLE, [], CONF, [15])[0] is None
    assert boundaries(positions, WHOLE, [], CONF, [15], force=True)[0] == [15]
    assert boundaries(positions, WHOLE, TOPICS, CONF, [0]) == (None, "none of the positions is strictly inside the bundle")


def test_what_pulsar_refuses() -> None:
    with pytest.raises(Refused, match="too small"):
        boundaries("range_equally_divide", Bundle(4, 5), [], CONF)
    with pytest.raises(Refused, match="not strictly inside"):
        boundaries("topic_count_equally_divide", Bundle(4, 8), [Topic(hash=4), Topic(hash=5)], CONF)


def test_a_topic_has_a_hash_or_a_name_that_gives_it() -> None:
    assert Topic(name="123456789", msgRateIn=2, msgThroughputOut=3).load == (0xCBF43926, 2, 3)
    assert Topic(name="123456789", hash=7).load.hash == 7
