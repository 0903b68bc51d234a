"""``fencepost policy check``: whether a shedder keeps its rules on loads made at random."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.load_data import LoadData, LocalBrokerData
from fencepost.model.balance.shedding import Load, candidates
from fencepost.properties.balance.random_loads import random_load
from tests.checks.policy.asking import answered, asked, write


def test_check_finds_nothing_new() -> None:
    report = answered("check", "--shedder", "TransferShedder", "--loads", "60", "--quiet")
    assert set(report) == {"shedder", "loads", "unloads", "status", "verdicts"}
    assert (report["shedder"], report["loads"], report["status"]) == ("TransferShedder", 60, 0)
    assert report["unloads"] > 50
    verdicts = {row["property"]: row["verdict"] for row in report["verdicts"]}
    assert verdicts["sheds_no_bundle_twice"] == "sampled"
    assert verdicts["leaves_every_broker_a_bundle"] == "expected"


def test_what_breaks_a_rule_is_small_and_replays(tmp_path: Path) -> None:
    ask = ["check", "--shedder", "AvgShedder", "--loads", "120", "--out", tmp_path, "--quiet"]
    row = next(r for r in answered(*ask)["verdicts"] if r["property"] == "never_sheds_the_only_bundle")
    file = tmp_path / "never_sheds_the_only_bundle.json"
    assert (row["file"], json.loads(file.read_text())) == (str(file), row["load"])
    assert len(row["load"]["brokers"]) == 2
    assert len(row["load"]["bundles"]) == 1
    again = ["decide", "--shedder", "AvgShedder", *["--snapshot", file] * row["round"]]
    (unload,) = answered(*again)["rounds"][-1]["unload"].items()
    assert row["said"] == f"{unload[0]} loses its only bundle"


def test_a_mistake_in_a_shedder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.model.balance.overload_shedder.candidates", grace_forgotten)
    status, out, _ = asked("check", "--shedder", "OverloadShedder", "--loads", "100", "--quiet")
    assert status == 12
    assert out.endswith("\na rule is broken (exit 12)\n")
    assert "  violated     sheds_nothing_within_the_grace_period: What was unloaded recently stays.\n    in round 1: " in out


def grace_forgotten(data: LoadData, report: LocalBrokerData, conf: Configuration, *, by_rate: bool) -> list[Load]:
    return candidates(replace(data, recently_unloaded={}), report, conf, by_rate=by_rate)


def test_where_nothing_is_unloaded_nothing_is_claimed(tmp_path: Path) -> None:
    conf = write(tmp_path, "loadBalancerBrokerThresholdShedderPercentage=500\n", "broker.conf")
    status, out, _ = asked("check", "--conf", conf, "--loads", "20", "--quiet")
    assert status == 20
    assert out.endswith("\nnothing is claimed (exit 20)\n")
    assert "nothing was ever unloaded, so nothing is claimed" in out
    assert "sampled" not in out


def test_loads_are_a_function_of_their_number() -> None:
    conf = defaults()
    assert random_load(conf, 0, 7) == random_load(conf, 0, 7) != random_load(conf, 1, 7)
