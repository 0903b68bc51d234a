"""Load balancing on Pulsar's own classes: no difference, and bugs of the model are noticed and shown small."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.policy.campaign import Find, Result, campaign, small
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.code import Code, pulsar_broker
from fencepost.checks.conformance.policy.registry import RULES
from fencepost.checks.conformance.policy.shedders import OVERLOAD
from fencepost.model.balance import bundle_brokers, bundle_sizes, overload_shedder, splitting, standing
from fencepost.model.balance.amounts import Amounts
from fencepost.model.balance.configuration import (
    ABSENT,
    NAMES_BEFORE_4_0_8,
    NOT_DYNAMIC,
    RELEASES,
    Configuration,
    Version,
    defaults,
)
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.placement import AvgPlacement
from tests.checks.conformance.real import tools
from tests.command import fencepost

pytestmark = pytest.mark.xdist_group("real pulsar")

QUICK: Mapping[Version, int] = {"4.2.4": 950, "2.10.1": 275, "5.0.1": 550}
"""Cases of the default run; jars of the other releases are fetched for the deep one."""


@contextmanager
def code(release: Version) -> Iterator[Code]:
    tools()
    with Code(release) as code:
        yield code


def summary(result: Result) -> str:
    return "\n".join(f"{find.rule}, case {find.number}: {'; '.join(find.differences)}" for find in result.finds)


@pytest.mark.parametrize("release", QUICK)
def test_the_model_answers_what_the_classes_do(release: Version) -> None:
    with code(release) as real:
        result = campaign(RULES, release, real.ask, cases=QUICK[release], seed=0)
    assert result.finds == [], summary(result)
    assert set(result.cases) == {rule.name for rule in RULES if release in rule.releases}


@pytest.mark.deep
@pytest.mark.parametrize("release", RELEASES)
def test_the_model_answers_what_the_classes_do_100_000_times(release: Version) -> None:
    with code(release) as real:
        result = campaign(RULES, release, real.ask, cases=100_000, seed=1)
    assert result.finds == [], summary(result)


@pytest.mark.parametrize("release", QUICK)
def test_settings_that_are_not_dynamic(release: Version) -> None:
    names = [field.name for field in fields(Configuration)[1:] if field.name not in ABSENT.get(release, ())]
    spelled = [NAMES_BEFORE_4_0_8.get(name, name) if defaults(release).before("4.0.8") else name for name in names]
    with code(release) as real:
        (answer,) = real.ask([{"rule": "fixed", "names": spelled}])
    assert set(answer["names"]) == NOT_DYNAMIC & set(names)


@pytest.mark.parametrize("release", QUICK)
def test_the_defaults_are_those_of_the_class(release: Version) -> None:
    names = [field.name for field in fields(Configuration)[1:] if field.name not in ABSENT.get(release, ())]
    spelled = {NAMES_BEFORE_4_0_8.get(name, name) if defaults(release).before("4.0.8") else name: name for name in names}
    with code(release) as real:
        (answer,) = real.ask([{"rule": "defaults", "names": list(spelled)}])
    usual = defaults(release)
    assert answer["values"] == {name: _in_java(getattr(usual, ours)) for name, ours in spelled.items()}


def _in_java(value: object) -> str:
    if isinstance(value, frozenset):
        return f"[{', '.join(sorted(value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


BUGS: Mapping[str, tuple[Any, str, Any]] = {
    "OverloadShedder": (overload_shedder, "RIGHT", Amounts(frozenset({"margin_forgotten"}))),
    "AvgShedder in turn": (bundle_brokers, "_reported", lambda entry, _: entry),
    "top bundles": (bundle_sizes, "THROUGHPUT", 1.0),
    "TransferShedder": (standing, "RIGHT", Amounts(frozenset({"whole_difference"}))),
}


DRAWS = "AvgShedder in turn"
"""The class draws by itself, so that which case shows a bug, and how small that can be made, differs from run to run."""


def test_a_bug_of_the_model_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    with code("4.2.4") as real:
        for name, (module, attribute, mistaken) in BUGS.items():
            rule = next(rule for rule in RULES if rule.name == name)
            with monkeypatch.context() as patched:
                patched.setattr(module, attribute, mistaken)
                result = campaign([rule], "4.2.4", real.ask, cases=1000, seed=0)
            assert len(result.finds) == 1, name
            (find,) = result.finds
            assert name == DRAWS or sum(len(load.brokers) for load in find.case.rounds) <= 8, find


def test_a_case_of_what_draws_is_made_small() -> None:
    """Of a class that always throws nothing is drawn: of rounds, questions, brokers and bundles the least is left."""

    def ask(requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{"rounds": [{**row, "throws": "NullPointerException"} for row in request["rounds"]]} for request in requests]

    (rule,) = (rule for rule in RULES if rule.name == DRAWS)
    drawn = (rule.draw(Random(number), "4.2.4") for number in range(100))
    case = next(case for case in drawn if len(case.rounds) == 4 and all(case.more["asked"]))
    (load,) = (find := small(rule, 0, case, ["it throws"], ask)).case.rounds
    assert (load.brokers, load.bundles, find.case.more["asked"]) == ({}, {}, ((),))


@pytest.mark.parametrize("forgets", ["that it is full", "its name"])
def test_a_plan_of_5_0_1_that_forgets_is_found(forgets: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(placement: AvgPlacement, candidates: Sequence[str], bundle: str, *rest: Any) -> tuple[str, ...]:
        _, planned = placement.planned.get(bundle, ("", ""))
        return (planned,) if planned in candidates and forgets == "that it is full" else tuple(candidates)

    monkeypatch.setattr(AvgPlacement, "_planned_for", mistaken)
    (rule,) = (rule for rule in RULES if rule.name == "AvgShedder in turn")
    with code("5.0.1") as real:
        result = campaign([rule], "5.0.1", real.ask, cases=1000, seed=0)
    assert len(result.finds) == 1


def _splits_not_counted(bundle: str, planned: Mapping[str, int], data: LoadData, conf: Configuration) -> bool:
    return data.bundle_counts[splitting.namespace_of(bundle)] < conf.loadBalancerNamespaceMaximumBundles


@pytest.mark.parametrize("release", ["4.2.4", *(pytest.param(r, marks=pytest.mark.deep) for r in RELEASES if r != "4.2.4")])
def test_only_2_10_1_does_not_count_the_splits_that_it_has_decided_on(
    release: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With pulsar#16552 in the model the class of 2.10.1 agrees, and the others do not."""
    (rule,) = (rule for rule in RULES if rule.name == "splits of the modular manager")
    monkeypatch.setattr(splitting, "_has_room", _splits_not_counted)
    with code(release) as real:
        result = campaign([rule], release, real.ask, cases=600, seed=0)
    assert (result.finds == []) is (release == "2.10.1"), summary(result)


SHEDS_NOTHING = """
package org.apache.pulsar.broker.loadbalance.impl;
public class OverloadShedder implements org.apache.pulsar.broker.loadbalance.LoadSheddingStrategy {
    public com.google.common.collect.Multimap<String, String> findBundlesForUnloading(
            org.apache.pulsar.broker.loadbalance.LoadData load, org.apache.pulsar.broker.ServiceConfiguration conf) {
        return com.google.common.collect.ArrayListMultimap.create();
    }
}
"""


def test_a_build_of_ones_own_is_asked_in_the_place_of_the_release(tmp_path: Path) -> None:
    java, path = tools(), ":".join(map(str, jars(pulsar_broker("4.2.4"), tools())))
    (tmp_path / "OverloadShedder.java").write_text(SHEDS_NOTHING)
    build = tmp_path / "build"
    subprocess.run([java.javac, "-nowarn", "-cp", path, "-d", build, tmp_path / "OverloadShedder.java"], check=True)
    asked = ["conform", "policy", "--release", "4.2.4", "--classes", build, "--cases", "50", "--quiet"]
    ran = fencepost(*asked, "--rule", "OverloadShedder")
    origin = f"own build, not pinned: classes of {build}; the model is that of pulsar 4.2.4 (--as names another)"
    assert (ran.returncode, ran.stdout.splitlines()[1].strip()) == (12, origin), ran.stderr
    assert ", the class nothing" in ran.stdout
    assert fencepost(*asked, "--rule", "ThresholdShedder").returncode == 0
    resolver = fencepost("conform", "resolver", "--release", "4.2.4", "--classes", build, "--cases", "1000", "--quiet")
    assert (resolver.returncode, resolver.stdout.splitlines()[1].strip()) == (0, origin)


# --- without Java


def test_a_build_is_taken_for_a_release_that_is_modelled() -> None:
    for verb, refused in (("policy", "--as 9: the policies are those of"), ("resolver", "Pulsar 9 is none of the releases")):
        ran = fencepost("conform", verb, "--release", "5.0.2-SNAPSHOT", "--as", "9")
        assert (ran.returncode, ran.stderr.startswith(f"fencepost: {refused}")) == (2, True), ran.stderr


class Odd(Rule):
    """Differs wherever a broker is called b1."""

    name, mirrors = "odd", "Odd.answer"

    def draw(self, random: Random, release: Version) -> Case:
        return OVERLOAD.draw(random, release)

    def request(self, case: Case) -> Mapping[str, Any]:
        return {"odd": any("b1.x:8080" in load.brokers for load in case.rounds)}

    def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
        return ["b1 is there"] if answer["odd"] else []


def echo(requests: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return requests


def test_one_case_of_each_rule_that_differs_is_made_small() -> None:
    result = campaign([Odd()], "4.2.4", echo, cases=200, seed=0)
    assert result.differing["odd"] > 1
    (find,) = result.finds
    assert [list(load.brokers) for load in find.case.rounds] == [["b1.x:8080"]]
    assert not find.case.rounds[0].reports["b1.x:8080"].bundles
    assert find.differences == ("b1 is there",)


def test_a_case_is_a_function_of_seed_release_and_number() -> None:
    one, other, third = (campaign([Odd()], "4.2.4", echo, cases=100, seed=seed) for seed in (3, 3, 4))
    assert one.finds == other.finds != third.finds


def test_an_interrupt_keeps_what_was_compared() -> None:
    calls = iter([False, True])
    result = campaign([Odd()], "4.2.4", echo, cases=200, seed=0, should_stop=lambda: next(calls, True))
    assert result.interrupted
    assert result.count == 50


def test_rules_that_a_release_does_not_have_are_passed_over() -> None:
    class Late(Odd):
        name, releases = "late", ("4.2.4",)

    assert campaign([Odd(), Late()], "2.10.1", echo, cases=60, seed=0).cases == {"odd": 60}


def test_a_model_that_fails_differs() -> None:
    class Fails(Odd):
        def differences(self, case: Case, answer: Mapping[str, Any]) -> list[str]:
            raise ZeroDivisionError("no loads")

    result = campaign([Fails()], "4.2.4", echo, cases=1, seed=0)
    assert result.finds[0].differences == ("the model fails: ZeroDivisionError: no loads",)


@pytest.mark.parametrize("release", RELEASES)
def test_every_rule_draws_cases_and_cuts_them(release: Version) -> None:
    for rule in RULES:
        if release not in rule.releases:
            continue
        cases = [rule.draw(Random(f"{release}/{number}"), release) for number in range(5)]
        assert len({str(rule.request(case)) for case in cases}) > 2
        assert all(case.rule == rule.name for case in cases)
        assert all(less != case for case in cases for less in islice(rule.smaller(case), 20))


def test_nothing_is_made_smaller_than_what_differs() -> None:
    rule = Odd()
    case = OVERLOAD.draw(Random(0), "4.2.4")
    plain = replace(case, rounds=())
    asked: Callable[..., Find] = small
    assert asked(rule, 0, plain, ["x"], echo) == Find("odd", 0, plain, ("x",))
