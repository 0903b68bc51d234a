"""Policies as the command line names them, and how they differ."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fencepost.checks.policy.comparison.contenders import changes, contenders
from fencepost.checks.policy.comparison.supposing import require_possible
from fencepost.checks.policy.usage import WrongUsage
from fencepost.checks.settings.broker_conf import ConfigurationError
from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.simulation.cluster import Generated
from fencepost.model.balance.simulation.scenario import scenario
from fencepost.model.balance.simulation.what_if import WhatIf
from fencepost.model.balance.strategies import load_manager
from fencepost.traces.comparison.comparison import Contender


def test_policies_are_named_by_parts(tmp_path: Path) -> None:
    conf, policy = tmp_path / "broker.conf", tmp_path / "mine.py"
    conf.write_text("loadBalancerBrokerThresholdShedderPercentage=7\n")
    policy.write_text("def shed(load, conf): return {}\ndef place(bundle, candidates, load, conf): return candidates\n")
    names = ["AvgShedder", f"{policy}:shed,RoundRobinBrokerSelector", f"{conf}, UniformLoadShedder, {policy}:place", "defaults"]
    (baseline, *others), notes = contenders(str(conf), names, "4.2.4")
    assert (baseline.name, notes) == (str(conf), [])
    by_policy = [changes(baseline, other) for other in others]
    assert by_policy[0] == [
        ("shedder", "ThresholdShedder", "AvgShedder"),
        ("placement", "LeastLongTermMessageRate", "AvgShedder"),
    ]
    assert [after for _, _, after in by_policy[1]] == [f"{policy}:shed", "RoundRobinBrokerSelector"]
    assert [after for _, _, after in by_policy[2]] == ["UniformLoadShedder", f"{policy}:place"]
    assert by_policy[3] == [("loadBalancerBrokerThresholdShedderPercentage", "7", "10")]


def test_a_policy_may_be_a_setting_and_may_have_a_name() -> None:
    names = ["maxUnloadPercentage=0.1", "calm=AvgShedder, minUnloadMessage=7,maxUnloadPercentage=0.4"]
    (baseline, one, two), _ = contenders("AvgShedder", names, "current")
    assert (one.name, two.name) == ("maxUnloadPercentage=0.1", "calm")
    assert changes(baseline, one) == [("maxUnloadPercentage", "0.5", "0.1")]
    assert [name for name, _, _ in changes(baseline, two)] == ["minUnloadMessage", "maxUnloadPercentage"]


@pytest.mark.parametrize("name", ["AvgShedder,OverloadShedder", "AvgShedder,AvgShedder"])
def test_a_policy_has_one_of_each(name: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="is one too many"):
        contenders(None, [name], "current")


def test_policies_differ() -> None:
    with pytest.raises(WrongUsage, match="AvgShedder is named more than once"):
        contenders(None, ["AvgShedder", "AvgShedder"], "current")


def test_a_threshold_below_zero_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"loadBalancerBrokerOverloadedThresholdPercentage = '-5' is below 0"):
        contenders(None, ["loadBalancerBrokerOverloadedThresholdPercentage=-5"], "current")
    contenders(None, ["maxUnloadBundleNumPerShedding=-1"], "current")


def test_parts_suppose_something(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("minUnloadMessage=7\n")
    names = ["more=add-brokers=2,AvgShedder", f"{conf},remove-broker=b1:8080,bigger-brokers=1.5@b2:8080,split-first=3"]
    (baseline, one, two), _ = contenders("load=2@public/default", names, "current")
    assert baseline.what_if == WhatIf(loads=(("public/default", 2.0),))
    assert (one.name, one.what_if) == ("more", WhatIf(added=2, loads=baseline.what_if.loads))
    supposed = WhatIf(removed=("b1:8080",), bigger=(("b2:8080", 1.5),), loads=baseline.what_if.loads, largest=3)
    assert two.what_if == supposed
    assert changes(baseline, two)[-3:] == [
        ("remove-broker", "none", "b1:8080"),
        ("bigger-brokers", "none", "1.5@b2:8080"),
        ("split-first", "none", "3"),
    ]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("AvgSheder", "'AvgSheder' is not a file, strategy or setting (did you mean AvgShedder?)"),
        ("nothing_like_it", "'nothing_like_it' is not a file, strategy or setting; strategies are "),
        ("add-brokers=0", "add-brokers=0: write add-brokers=2"),
        ("remove-broker=", "remove-broker=: write remove-broker=broker-3:8080"),
        ("bigger-brokers=-1", "bigger-brokers=-1: write bigger-brokers=1.5 for all"),
        ("load=2@", "load=2@: write load=2 for all"),
        ("load=inf", "load=inf: write load=2 for all"),
        ("split-first=largest", "split-first=largest: write split-first=3 for the three largest"),
        ("add-broker=2", "'add-broker=2' is not a file, strategy or setting (did you mean add-brokers?)"),
    ],
)
def test_a_part_that_is_misspelt_or_supposes_nothing_is_refused(part: str, message: str) -> None:
    with pytest.raises(WrongUsage, match=re.escape(message)):
        contenders(None, [part], "current")


@pytest.mark.parametrize(
    ("what_if", "message"),
    [
        (WhatIf(removed=("broker-9:8080",)), "x: there is no broker 'broker-9:8080'; there are broker-1:8080, broker-2:8080"),
        (WhatIf(removed=("broker-1:8080", "broker-2:8080")), "x: no broker would be left"),
        (WhatIf(removed=("broker-1:8080",) * 2), "x: remove-broker=broker-1:8080 is given twice"),
        (WhatIf(bigger=(("broker-9:8080", 2.0),)), "x: there is no broker 'broker-9:8080'"),
        (WhatIf(loads=(("public/other", 2.0),)), "x: there are no topics of 'public/other'"),
        (WhatIf(loads=(("persistent://public/namespace-1/t", 2.0),)), "x: there are no topics of 'persistent://public/na"),
        (WhatIf(splits=("public/namespace-1/0x00000000_0x00000001",)), "x: there is no bundle 'public/namespace-1/0x0"),
    ],
)
def test_what_the_cluster_lacks_cannot_be_supposed(what_if: WhatIf, message: str) -> None:
    contender = Contender("x", load_manager(defaults("4.2.4")), what_if)
    with pytest.raises(WrongUsage, match=re.escape(message)):
        require_possible(contender, scenario("steady", Generated(2, 4, 1, 2, 0.5)))


def test_a_bundle_that_the_algorithm_does_not_split_cannot_be_split_first() -> None:
    conf = replace(defaults("4.2.4"), defaultNamespaceBundleSplitAlgorithm="topic_count_equally_divide")
    source = Generated(2, 64, 1, 1, 0.5)
    topics = source.cluster(np.random.default_rng(0)).topics.bundle.tolist()
    name = source.cluster(np.random.default_rng(0)).bundles[next(place for place in range(64) if place not in topics)]
    contender = Contender("x", load_manager(conf), WhatIf(splits=(name,)))
    with pytest.raises(WrongUsage, match=re.escape(f"x: split-first={name}: topic_count_equally_divide needs two topics")):
        require_possible(contender, scenario("steady", source))
