"""Placement: the filters, the strategies and what is selected of what they leave."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fencepost.model.balance.bundle_brokers import BundleBrokers
from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.isolation import (
    AutoFailoverPolicy,
    FailureDomain,
    NamespaceIsolationData,
    Policies,
    host,
    permitted,
)
from fencepost.model.balance.load_data import BrokerLoad, LoadData, LocalBrokerData, ResourceUsage
from fencepost.model.balance.placement import (
    AvgPlacement,
    LeastLongTermMessageRate,
    LeastResourceUsageWithWeight,
    Placement,
    RoundRobinBrokerSelector,
)
from fencepost.model.balance.selection import Selection, assign, select
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER, load_manager
from tests.model.balance.clusters import broker, bundle, cluster

CURRENT, OLD, SINCE_5_0_1 = defaults("4.2.4"), defaults("2.10.1"), defaults("5.0.1")
EXTENSIBLE = replace(CURRENT, loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)
NO_POLICIES = Policies()


def selected(
    name: str,
    data: LoadData,
    policies: Policies = NO_POLICIES,
    conf: Configuration = CURRENT,
    placement: Placement | None = None,
) -> Selection:
    return select(name, data, policies, conf, placement or LeastLongTermMessageRate())[0]


def idle(*names: str, **others: object) -> Mapping[str, LocalBrokerData]:
    return {name: broker() for name in names}


# --- LeastLongTermMessageRate


def score(percent: float, conf: Configuration, data: LoadData | None = None) -> float:
    data = data or cluster({"a:1": broker(percent, bundles=["n/1"])}, {"n/1": bundle(rate=7)})
    return LeastLongTermMessageRate.scores(data, conf)["a:1"]


def test_the_score_is_of_the_brokers_bundles_and_of_those_preallocated() -> None:
    data = cluster(
        {"a:1": broker(bundles=["n/1"]), "b:1": broker()},
        {"n/1": bundle(rate=7), "n/2": bundle(rate=5)},
        preallocated={"n/2": "a:1", "n/3": "a:1", "n/4": "b:1"},
    )
    assert score(0, CURRENT, data) == 7 + 5 + 100  # nothing is known of n/3


def test_what_a_broker_reports_is_no_longer_preallocated() -> None:
    known = {"n/1": bundle(rate=7, topics=30000)}
    data = cluster({"a:1": broker(bundles=["n/1"], numTopics=30000)}, known, preallocated={"n/1": "a:1"})
    assert score(0, CURRENT, data) == 7
    assert selected("n/2", replace(data, brokers={**data.brokers, "b:1": broker()})).candidates["max_topics"] == ("a:1", "b:1")


def test_exactly_the_threshold_is_overloaded_in_2_10_only() -> None:
    assert score(85, CURRENT) == 7
    assert score(85.001, CURRENT) == math.inf
    assert score(85, OLD) == math.inf
    assert score(84.999, OLD) == 7


def test_ties_and_all_overloaded_are_drawn_at_random() -> None:
    rates = {"n/1": bundle(rate=5), "n/2": bundle(rate=5), "n/3": bundle(rate=6)}
    brokers = {f"{name}:1": broker(bundles=[f"n/{n}"]) for n, name in enumerate("abc", start=1)}
    assert selected("m/1", cluster(brokers, rates)).any_of == ("a:1", "b:1")
    full = {name: replace(report, cpu=ResourceUsage(99, 100)) for name, report in brokers.items()}
    assert selected("m/1", cluster(full, rates)).any_of == ("a:1", "b:1", "c:1")


def test_an_overloaded_selection_is_made_once_more_from_the_isolation_policies() -> None:
    brokers = {"a:1": broker(99), "b:1": broker(10, bundles=["n/1", "n/2"])}
    selection = selected("n/3", cluster(brokers, {"n/1": bundle(rate=9), "n/2": bundle(rate=9)}))
    assert selection.candidates["fewest_bundles"] == ("a:1",)
    assert selection.any_of == ("b:1",)
    assert selection.why == ("a:1 overloaded; once more from the isolation policies",)


# --- LeastResourceUsageWithWeight


def placed(placement: Placement, data: LoadData, conf: Configuration = CURRENT) -> tuple[tuple[str, ...], Placement]:
    return placement.select(tuple(data.brokers), "n/9", data, conf)


def usages(**percents: float) -> LoadData:
    return cluster({f"{name}:1": broker(p, rate=1, bundles=[f"{name}/1"]) for name, p in percents.items()})


def test_any_far_enough_below_the_mean() -> None:
    assert placed(LeastResourceUsageWithWeight(), usages(a=50, b=75))[0] == ("a:1",)
    assert placed(LeastResourceUsageWithWeight(), usages(a=50, b=60))[0] == ("a:1", "b:1")  # none is: any


def test_the_example_of_broker_conf_does_not_come_out() -> None:
    """It says that of 10, 30 and 80 % the first two are candidates, but 30 % is 30.000002 in 32 bits."""
    assert placed(LeastResourceUsageWithWeight(), usages(a=10, b=30, c=80))[0] == ("a:1",)
    assert placed(LeastResourceUsageWithWeight(), usages(a=10, b=29.9, c=80))[0] == ("a:1", "b:1")


def test_equality_is_far_enough() -> None:
    conf = replace(CURRENT, loadBalancerAverageResourceUsageDifferenceThresholdPercentage=25)
    assert placed(LeastResourceUsageWithWeight(), usages(a=25, b=75), conf)[0] == ("a:1",)
    assert placed(LeastResourceUsageWithWeight(), usages(a=25.5, b=75), conf)[0] == ("a:1", "b:1")


def test_history_counts_unless_the_broker_is_idle() -> None:
    _, warm = placed(LeastResourceUsageWithWeight(), usages(a=90, b=30))
    assert isinstance(warm, LeastResourceUsageWithWeight)
    _, later = placed(warm, usages(a=0, b=30))
    assert isinstance(later, LeastResourceUsageWithWeight)
    assert later.averages["a:1"] == pytest.approx(0.81)
    for restarted in (broker(0, rate=1), broker(0, bundles=["a/1"])):
        _, fresh = placed(warm, cluster({"a:1": restarted, "b:1": broker(30, rate=1, bundles=["b/1"])}))
        assert isinstance(fresh, LeastResourceUsageWithWeight)
        assert fresh.averages["a:1"] == 0.0


def test_history_of_brokers_that_are_gone_is_dropped() -> None:
    _, warm = placed(LeastResourceUsageWithWeight(), usages(a=90, b=30))
    assert isinstance(warm, LeastResourceUsageWithWeight)
    assert warm.with_active_brokers(["b:1"]).averages.keys() == {"b:1"}


def test_in_the_extensible_manager_candidates_without_a_report_are_left_out_of_the_mean() -> None:
    data = replace(usages(a=1, b=1, c=1), loads={"a:1": BrokerLoad(0.2), "b:1": BrokerLoad(0.6)})
    assert placed(LeastResourceUsageWithWeight(), data, EXTENSIBLE)[0] == ("a:1",)  # a mean of 0.4
    assert placed(LeastResourceUsageWithWeight(), replace(data, loads={}), EXTENSIBLE)[0] == ("a:1", "b:1", "c:1")


# --- RoundRobinBrokerSelector


def turns(*candidates: str) -> list[str]:
    placement: Placement = RoundRobinBrokerSelector()
    chosen = []
    for names in candidates:
        any_of, placement = placement.select([f"{name}:1" for name in names], "n/1", cluster({}), CURRENT)
        chosen.append(any_of[0])
    return chosen


def test_one_after_the_other() -> None:
    assert turns("abc", "abc", "abc", "abc") == ["a:1", "b:1", "c:1", "a:1"]


def test_the_list_is_kept_unless_its_size_differs_or_the_chosen_broker_is_gone() -> None:
    assert turns("abc", "cba", "cba") == ["a:1", "b:1", "c:1"]  # kept: b is second in both, c is last in the list
    assert turns("abc", "abd", "abd") == ["a:1", "b:1", "d:1"]  # c is gone
    assert turns("abc", "ab") == ["a:1", "b:1"]
    assert RoundRobinBrokerSelector().select((), "n/1", cluster({}), CURRENT)[0] == ()


def test_the_counter_starts_again_after_the_largest_int() -> None:
    at_end = RoundRobinBrokerSelector(2**31 - 1)
    assert at_end.select(("a:1", "b:1"), "n/1", cluster({}), CURRENT)[1] == RoundRobinBrokerSelector(0, ("a:1", "b:1"))


def test_what_is_excluded_from_shedding_is_placed_in_turn() -> None:
    names = frozenset({"stays"})
    manager = load_manager(replace(CURRENT, loadBalancerSheddingExcludedNamespaces=names))
    data = cluster({"a:1": broker(rate=9, bundles=["n/1"]), "b:1": broker(90), "c:1": broker()}, {"n/1": bundle(rate=9)})
    choices = []
    for name in ("stays/1", "n/2", "stays/2", "stays/3", "stays/4"):
        selection, manager = manager.place(name, data, NO_POLICIES)
        choices.append(selection.any_of)
    assert choices == [("a:1",), ("c:1",), ("c:1",), ("c:1",), ("a:1",)]  # b is overloaded: its turn goes by the rates
    other = load_manager(replace(OLD, loadBalancerSheddingExcludedNamespaces=names))
    assert other.place("stays/1", cluster(idle("a:1", "b:1")), NO_POLICIES)[0].any_of == ("a:1", "b:1")
    extensible = load_manager(replace(EXTENSIBLE, loadBalancerSheddingExcludedNamespaces=names))
    assert extensible.place("stays/1", cluster(idle("a:1", "b:1")), NO_POLICIES)[0].any_of == ("a:1",)


# --- AvgShedder as placement


def test_avg_places_where_it_meant_to() -> None:
    data = cluster(idle("a:1", "b:1"), {"n/9": bundle(1), "n/8": bundle(2), "n/7": bundle(1)})
    meant = AvgPlacement(BundleBrokers().reported(data.bundles).put("n/9", ("b:1",)).put("n/8", ("gone",)))
    assert placed(meant, data)[0] == ("b:1",)
    assert meant.select(("a:1", "b:1"), "n/7", data, CURRENT)[0] == ("b:1",), "it carries the same as n/9"
    assert meant.select(("a:1", "b:1"), "n/8", data, CURRENT)[0] == ("a:1", "b:1")
    assert meant.select((), "n/9", data, CURRENT)[0] == ()
    since = cluster(idle("a:1", "b:1"), {"n/9": bundle(3), "n/7": bundle(1)})
    assert meant.select(("a:1", "b:1"), "n/9", since, CURRENT)[0] == ("a:1", "b:1"), "it was reported since"
    assert meant.select(("a:1", "b:1"), "n/7", since, CURRENT)[0] == ("a:1", "b:1"), "the entry's key is n/9"
    back = meant.memory.reported(since.bundles).reported(data.bundles)
    assert replace(meant, memory=back).select(("a:1", "b:1"), "n/7", data, CURRENT)[0] == ("b:1",)


def test_avg_places_new_bundles_together() -> None:
    """Whatever is drawn for the first, for they all have the default averages (40 of 40 on the real class)."""
    data = cluster(idle("a:1", "b:1", "c:1", "d:1"))
    drawing = AvgPlacement(draw=lambda brokers, bundle: brokers[int(bundle[-1]) % 4])
    chosen = set()
    for number in range(2, 9):
        any_of, drawing = drawing.select(tuple(data.brokers), f"new/{number}", data, CURRENT)
        chosen |= set(any_of)
    assert chosen == {"c:1"}


def test_avg_keeps_what_is_planned_by_name_since_5_0_1() -> None:
    """It leaves an overloaded destination if another broker is healthy, and never goes back to the source for want of one."""
    loaded = {"a:1": broker(90), "b:1": broker(90), "c:1": broker(30), "d:1": broker(85)}
    data = cluster(loaded, {"n/9": bundle(1), "n/8": bundle(1)})
    every = tuple(data.brokers)
    planned = AvgPlacement(planned={"n/9": ("a:1", "c:1")})
    assert planned.select(every, "n/9", data, SINCE_5_0_1)[0] == ("c:1",)
    assert planned.select(every, "n/8", data, SINCE_5_0_1)[0] == every, "it carries the same, and has another name"
    assert planned.select(("a:1", "b:1"), "n/9", data, SINCE_5_0_1)[0] == ("b:1",)
    full = AvgPlacement(planned={"n/9": ("a:1", "b:1")})
    assert full.select(every, "n/9", data, SINCE_5_0_1)[0] == ("c:1", "d:1")
    assert full.select(("a:1", "b:1"), "n/9", data, SINCE_5_0_1)[0] == ("b:1",), "no other is healthy"
    assert full.unloaded().select(every, "n/9", data, SINCE_5_0_1)[0] == every


# --- filters

ISOLATED = Policies(
    isolation={
        "p": NamespaceIsolationData(
            ("secret/.*",), ("a.*",), ("b.*",), AutoFailoverPolicy(parameters={"min_limit": "2", "usage_threshold": "80"})
        )
    }
)


def test_an_isolated_namespace_gets_secondaries_when_primaries_are_fewer_than_the_limit() -> None:
    three = cluster(idle("a1:8080", "a2:8080", "b1:8080", "c1:8080"))
    assert permitted("secret/x", three, ISOLATED, CURRENT) == ("a1:8080", "a2:8080")
    two = cluster(idle("a1:8080", "b1:8080", "c1:8080"))
    assert permitted("secret/x", two, ISOLATED, CURRENT) == ("a1:8080", "b1:8080")


def test_a_primary_never_serves_a_shared_namespace() -> None:
    data = cluster(idle("a1:8080", "b1:8080", "c1:8080"))
    assert permitted("public/x", data, ISOLATED, CURRENT) == ("b1:8080", "c1:8080")


def test_patterns_with_a_colon_match_host_and_port_since_5_0_1() -> None:
    data = cluster(idle("a:1", "a:2", "[::1]:1"))
    first = Policies(isolation={"p": NamespaceIsolationData(("secret/.*",), ("a:1", r"\[::1\]:.*"))})
    assert permitted("secret/x", data, first, SINCE_5_0_1) == ("a:1", "[::1]:1")
    assert permitted("public/x", data, first, SINCE_5_0_1) == ("a:2",)
    assert permitted("secret/x", data, first, CURRENT) == ()
    assert permitted("public/x", data, first, CURRENT) == ("a:1", "a:2", "[::1]:1")
    without = Policies(isolation={"p": NamespaceIsolationData(("secret/.*",), ("a.1",))})
    assert permitted("secret/x", data, without, SINCE_5_0_1) == ()


def test_patterns_match_whole_hosts() -> None:
    assert host("broker-1.example:8080", CURRENT) == "broker-1.example"
    assert permitted("secret/x", cluster(idle("xa1:1")), ISOLATED, CURRENT) == ()
    assert Policies(isolation={"p": NamespaceIsolationData(("secret",))}).isolation_of("secret/x") is None


def test_brokers_that_do_not_serve_persistent_topics_are_left_out() -> None:
    data = cluster({"a:1": broker(), "b:1": broker(persistentTopicsEnabled=False), "c:1": None})
    assert permitted("n", data, NO_POLICIES, CURRENT) == ("a:1", "c:1")


def test_a_live_broker_without_a_report_is_a_candidate_in_the_extensible_manager_only() -> None:
    data = cluster({"a:1": broker(), "b:1": None})
    assert selected("n/1", data).any_of == ("a:1",)
    assert selected("n/1", data, conf=EXTENSIBLE, placement=LeastResourceUsageWithWeight()).any_of == ("a:1", "b:1")


def test_brokers_over_the_most_topics_are_dropped_unless_none_is_left() -> None:
    full = {"a:1": broker(numTopics=50000), "b:1": broker(numTopics=50001), "c:1": broker(numTopics=49990)}
    data = cluster(full, {"m/1": bundle(topics=11)}, preallocated={"m/1": "c:1"})
    assert selected("n/1", data).candidates["max_topics"] == ("a:1",)
    assert selected("n/1", cluster({"b:1": full["b:1"]})).candidates["max_topics"] == ("b:1",)


def grouped(conf: Configuration, **owned: str) -> tuple[str, ...]:
    """What anti-affinity leaves for a bundle of n of brokers with these namespaces, x1 and x2 in one domain, y1 in another."""
    policies = Policies(
        anti_affinity={"n": "G", "m": "g", "o": "g", "p": "other"},
        failure_domains={"x": FailureDomain(("x1:1", "x2:1")), "y": FailureDomain(("y1:1",))},
    )
    reports = {
        f"{name}:1": broker(bundles=[f"{space}/{place}" for place, space in enumerate(spaces)])
        for name, spaces in owned.items()
    }
    return selected("n/9", cluster(reports), policies, conf).candidates["anti_affinity"]


def test_the_least_used_failure_domain_then_the_least_used_broker() -> None:
    domains = replace(CURRENT, failureDomainsEnabled=True)
    assert grouped(CURRENT, x1="m", x2="", y1="m") == ("x2:1",)
    assert grouped(domains, x1="mo", x2="", y1="m") == ("y1:1",)
    assert grouped(domains, x1="m", x2="", y1="m") == ("x2:1",)
    assert grouped(domains, x1="mmm", x2="pp", y1="mo", z="m") == ("x2:1",)  # one namespace each for x and for z's domain
    assert grouped(CURRENT, x1="m", x2="o", y1="m") == ("x1:1", "x2:1", "y1:1")


def test_a_blank_group_is_none() -> None:
    data = cluster({"a:1": broker(bundles=["m/1"]), "b:1": broker()})
    assert selected("n/1", data, Policies(anti_affinity={"n": " ", "m": " "})).candidates["anti_affinity"] == ("a:1", "b:1")


def test_without_a_group_anti_affinity_filters_nothing() -> None:
    data = cluster({"a:1": broker(bundles=["m/1"]), "b:1": broker()})
    assert selected("n/1", data, Policies(anti_affinity={"m": "g"})).candidates["anti_affinity"] == ("a:1", "b:1")


def test_the_fewest_bundles_of_the_namespace() -> None:
    data = cluster(
        {"a:1": broker(bundles=["n/1"]), "b:1": broker(bundles=["m/1", "m/2"]), "c:1": broker()}, preallocated={"n/2": "c:1"}
    )
    assert selected("n/3", data).candidates["fewest_bundles"] == ("b:1",)
    off = replace(CURRENT, loadBalancerDistributeBundlesEvenlyEnabled=False)
    assert selected("n/3", data, conf=off).candidates["fewest_bundles"] == ("a:1", "b:1", "c:1")
    assert selected("pulsar/system/1", data, conf=off).candidates["fewest_bundles"] == ("a:1", "b:1", "c:1")


def test_the_latest_version_if_that_is_preferred() -> None:
    versions = {"a:1": "2.10.1", "b:1": "3.0.0", "c:1": "3.0.0-rc1", "d:1": "3.0.0"}
    data = cluster({name: broker(brokerVersionString=version) for name, version in versions.items()})
    assert selected("n/1", data).candidates["latest_version"] == ("a:1", "b:1", "c:1", "d:1")
    prefer = replace(CURRENT, preferLaterVersions=True)
    assert selected("n/1", data, conf=prefer).candidates["latest_version"] == ("b:1", "d:1")


@pytest.mark.parametrize("version", [None, "", "three"])
def test_a_filter_that_fails_starts_again_from_the_isolation_policies(version: str | None) -> None:
    data = cluster({"a:1": broker(bundles=["n/1"]), "b:1": broker(brokerVersionString=version)})
    selection = selected("n/2", data, conf=replace(CURRENT, preferLaterVersions=True))
    assert selection.candidates["fewest_bundles"] == ("b:1",)
    assert selection.candidates["latest_version"] == ("a:1", "b:1")
    assert "again from the isolation policies" in selection.why[0]


def test_the_order_of_the_filters() -> None:
    data = cluster(idle("a:1"))
    modular = ["isolation_policies", "max_topics", "anti_affinity", "fewest_bundles", "latest_version"]
    assert list(selected("n/1", data).candidates) == modular
    extensible = ["max_topics", "latest_version", "anti_affinity", "isolation_policies"]
    assert list(selected("n/1", data, conf=EXTENSIBLE).candidates) == extensible


# --- filters of the extensible manager: none of them starts again


def extensible(data: LoadData, policies: Policies = NO_POLICIES, name: str = "n/1", **settings: bool) -> Selection:
    conf = replace(EXTENSIBLE, **settings)  # type: ignore[arg-type]
    return selected(name, data, policies, conf, LeastResourceUsageWithWeight())


def test_in_the_extensible_manager_a_broker_at_the_most_topics_is_full_and_all_may_be() -> None:
    reports = {"a:1": broker(numTopics=49999), "b:1": broker(numTopics=50000), "c:1": None}
    data = cluster(reports, {}, preallocated={"n/2": "a:1"})
    assert extensible(data).candidates["max_topics"] == ("a:1", "c:1")
    full = extensible(cluster({"b:1": broker(numTopics=50000)}))
    assert (full.any_of, full.why) == ((), ())


def test_in_the_extensible_manager_primaries_are_counted_among_the_brokers_that_are_left() -> None:
    reports = {"a1:1": broker(), "a2:1": broker(numTopics=50000), "b1:1": broker(), "c1:1": broker()}
    selection = extensible(cluster(reports), ISOLATED, "secret/x/1")
    assert selection.any_of == ("a1:1", "b1:1")  # two primaries were enough, but a2 is full


def test_in_the_extensible_manager_the_latest_version_is_that_of_all_brokers() -> None:
    versions = {"a1:1": "3.0.0", "a2:1": "3.0.0", "c1:1": "3.1.0"}
    data = cluster({name: broker(brokerVersionString=version) for name, version in versions.items()})
    assert extensible(data, ISOLATED, "secret/x/1", preferLaterVersions=True).any_of == ()
    unread = replace(data, brokers={**data.brokers, "c1:1": broker()})
    selection = extensible(unread, ISOLATED, "secret/x/1", preferLaterVersions=True)
    assert selection.any_of == ("a1:1", "a2:1")
    assert selection.why == ("c1:1 reports the version ''; versions do not count",)


def test_a_preallocated_bundle_keeps_its_broker_while_that_lives() -> None:
    for owner, expected in (("b:1", ("b:1",)), ("dead", ("a:1", "b:1"))):
        data = cluster(idle("a:1", "b:1"), preallocated={"n/1": owner})
        assert assign("n/1", data, NO_POLICIES, CURRENT, LeastLongTermMessageRate())[0].any_of == expected
    unloaded = cluster(idle("a:1", "b:1"), {"n/1": bundle(rate=3)}, preallocated={"n/1": "b:1"})
    assert selected("n/1", unloaded).any_of == ("a:1",)  # what is unloaded does not keep its broker, and counts there


def test_nobody_may_serve_it() -> None:
    assert selected("secret/x/1", cluster(idle("c:1")), ISOLATED).any_of == ()
    assert selected("secret/x/1", cluster(idle("c:1")), ISOLATED, EXTENSIBLE, LeastResourceUsageWithWeight()).any_of == ()
