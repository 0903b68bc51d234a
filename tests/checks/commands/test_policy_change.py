"""A change of what balances the load, in ``check --against``: what runs in each release, what differs, what that means."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.commands.check.policy_change import policy_change
from fencepost.checks.reports.changes import PolicyChange
from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.model.balance.strategies import PLACEMENTS, SHEDDERS, in_words

IMPL = "org.apache.pulsar.broker.loadbalance.impl."
EXTENSIONS = "org.apache.pulsar.broker.loadbalance.extensions."
QUORUMS = "managedLedgerDefaultEnsembleSize=2\n"


def changed(folder: Path, new: str, old: str = "", release: str = "4.2.4") -> PolicyChange | None:
    paths = [folder / "new.conf", folder / "old.conf"]
    for path, text in zip(paths, (new, old), strict=True):
        path.write_text(QUORUMS + text)
    now, before = map(read_settings, paths)
    return policy_change(paths[:1], now, paths[1:], before, release)


def test_a_changed_shedder_is_told_with_what_it_does_and_the_command_that_judges_it(tmp_path: Path) -> None:
    policy_change = changed(tmp_path, f"loadBalancerLoadSheddingStrategy={IMPL}UniformLoadShedder\n")
    assert policy_change is not None
    place = f"({tmp_path / 'new.conf'}:2)"
    assert policy_change.sentences[0] == f"loadBalancerLoadSheddingStrategy: ThresholdShedder -> UniformLoadShedder {place}"
    assert f"before: ThresholdShedder: {in_words('ThresholdShedder', SHEDDERS)}" in policy_change.lines
    assert f"now: UniformLoadShedder: {in_words('UniformLoadShedder', SHEDDERS)}" in policy_change.lines
    files = f"--conf {tmp_path / 'new.conf'} --against {tmp_path / 'old.conf'} --pulsar 4.2.4"
    assert files in policy_change.commands[-1]
    assert policy_change.as_json()["changes"][0]["line"] == 2


def test_settings_and_placement_count_and_what_is_the_same_does_not(tmp_path: Path) -> None:
    assert changed(tmp_path, "loadBalancerBrokerThresholdShedderPercentage=10\n") is None, "as unless set"
    policy_change = changed(tmp_path, "loadBalancerBrokerThresholdShedderPercentage=20\n")
    assert policy_change is not None
    place = f"({tmp_path / 'new.conf'}:2)"
    assert list(map(str, policy_change.changes)) == [f"loadBalancerBrokerThresholdShedderPercentage: 10 -> 20 {place}"]
    policy_change = changed(tmp_path, f"loadBalancerLoadPlacementStrategy={IMPL}LeastResourceUsageWithWeight\n")
    assert policy_change is not None
    assert f"now: LeastResourceUsageWithWeight: {in_words('LeastResourceUsageWithWeight', PLACEMENTS)}" in policy_change.lines


def test_a_mismatch_that_a_release_resolves_is_told_of_either_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transfer = f"loadBalancerLoadSheddingStrategy={EXTENSIONS}scheduler.TransferShedder\n"
    policy_change = changed(tmp_path, transfer, f"loadBalancerLoadSheddingStrategy={IMPL}OverloadShedder\n", "3.0.7")
    assert policy_change is None, "the modular manager of 3.0.7 sheds by OverloadShedder with either"
    policy_change = changed(tmp_path, "", transfer, "3.0.7")
    assert policy_change is not None
    assert policy_change.changes[0].before == "OverloadShedder"
    assert any("logs an error and takes OverloadShedder" in line for line in policy_change.lines)
    assert "--pulsar 3.0.7" in policy_change.commands[-1]
    monkeypatch.setattr("fencepost.checks.commands.check.policy_change.RELEASES", ("4.2.4",))
    policy_change = changed(tmp_path, "", transfer, "3.0.7")
    assert policy_change is not None
    assert "The policies of Pulsar 3.0.7 are not modelled" in policy_change.lines[-1]
    assert "--pulsar" not in policy_change.commands[-1]


def test_another_manager_changes_who_owns_bundles(tmp_path: Path) -> None:
    policy_change = changed(tmp_path, f"loadManagerClassName={EXTENSIONS}ExtensibleLoadManagerImpl\n")
    assert policy_change is not None
    assert [change.now for change in policy_change.changes] == [
        "ExtensibleLoadManagerImpl",
        "TransferShedder",
        "LeastResourceUsageWithWeight",
    ]
    assert "Which protocol owns bundles depends on the manager, and with it the rows of bundles." in policy_change.lines


def test_every_strategy_says_what_it_does() -> None:
    descriptions = [in_words(name, known) for known in (SHEDDERS, PLACEMENTS) for name in known]
    assert all(len(words) > 10 for words in descriptions)
    assert not any(words.startswith(tuple(SHEDDERS)[:4]) for words in descriptions[:4]), "without its own name"
