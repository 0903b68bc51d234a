"""Policies as the command line names them, and how they differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fencepost.checks.policy.comparison.contenders import changes, contenders
from fencepost.checks.policy.usage import WrongUsage
from fencepost.checks.settings.broker_conf import ConfigurationError


def test_policies_are_named_by_parts(tmp_path: Path) -> None:
    conf, policy = tmp_path / "broker.conf", tmp_path / "mine.py"
    conf.write_text("loadBalancerBrokerThresholdShedderPercentage=7\n")
    policy.write_text("def shed(load, conf): return {}\ndef place(bundle, candidates, load, conf): return candidates\n")
    names = ["AvgShedder", f"{policy}:shed,RoundRobinBrokerSelector", f"{conf}, UniformLoadShedder, {policy}:place", "defaults"]
    (baseline, *others), notes = contenders(str(conf), names, "current")
    assert (baseline.name, notes) == (str(conf), [])
    told = [changes(baseline.manager, other.manager) for other in others]
    assert told[0] == [
        ("shedder", "ThresholdShedder", "AvgShedder"),
        ("placement", "LeastLongTermMessageRate", "AvgShedder"),
    ]
    assert [after for _, _, after in told[1]] == [f"{policy}:shed", "RoundRobinBrokerSelector"]
    assert [after for _, _, after in told[2]] == ["UniformLoadShedder", f"{policy}:place"]
    assert told[3] == [("loadBalancerBrokerThresholdShedderPercentage", "7", "10")]


def test_a_policy_may_be_a_setting_and_may_have_a_name() -> None:
    names = ["maxUnloadPercentage=0.1", "calm=AvgShedder, minUnloadMessage=7,maxUnloadPercentage=0.4"]
    (baseline, one, two), _ = contenders("AvgShedder", names, "current")
    assert (one.name, two.name) == ("maxUnloadPercentage=0.1", "calm")
    assert changes(baseline.manager, one.manager) == [("maxUnloadPercentage", "0.2", "0.1")]
    assert [name for name, _, _ in changes(baseline.manager, two.manager)] == ["minUnloadMessage", "maxUnloadPercentage"]


@pytest.mark.parametrize("name", ["AvgShedder,OverloadShedder", "AvgShedder,AvgShedder"])
def test_a_policy_has_one_of_each(name: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="is one too many"):
        contenders(None, [name], "current")


def test_policies_differ() -> None:
    with pytest.raises(WrongUsage, match="AvgShedder is named more than once"):
        contenders(None, ["AvgShedder", "AvgShedder"], "current")


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("AvgSheder", "'AvgSheder' is no file, strategy or setting (did you mean AvgShedder?)"),
        ("nothing_like_it", "'nothing_like_it' is no file, strategy or setting; strategies are "),
    ],
)
def test_a_strategy_that_is_misspelt_is_not_taken_for_a_file(part: str, said: str) -> None:
    with pytest.raises(WrongUsage, match=re.escape(said)):
        contenders(None, [part], "current")


def test_a_threshold_below_zero_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"loadBalancerBrokerOverloadedThresholdPercentage = '-5' is below 0"):
        contenders(None, ["loadBalancerBrokerOverloadedThresholdPercentage=-5"], "current")
    contenders(None, ["maxUnloadBundleNumPerShedding=-1"], "current")
