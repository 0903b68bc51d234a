"""A window of a history is the world that it was: its rates, its brokers, and what happened in it. Without Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fencepost.checks.history.documents import add_document
from fencepost.checks.history.happened import REPORTED, Happened
from fencepost.checks.history.reports import LOADS, NoWindow
from fencepost.checks.history.rows import Rows
from fencepost.checks.history.windows import DECISIONS, Window
from fencepost.checks.policy.strategies import manager_of
from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.load_manager import LoadManager
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.measures import measures
from tests.checks.history.made import BEGIN, snapshots

MINUTES = 60
USUAL = defaults("4.2.4")
CALM = replace(USUAL, loadBalancerSheddingEnabled=False)
Change = Callable[[int, dict[str, Any]], None]


def manager(conf: Configuration) -> LoadManager:
    """Pulsar's own shedder and placement with a configuration."""
    return manager_of(conf, {})


def as_they_are(minute: int, snapshot: dict[str, Any]) -> None:
    """No change."""


def window(
    change: Change = as_they_are,
    decisions: list[dict[str, Any]] | None = None,
    bundles: int = 24,
    minutes: range = range(0, MINUTES, 5),
) -> Window:
    """An hour of three brokers with a report each five minutes."""
    loads = list[dict[str, Any]]()
    for moment, snapshot in snapshots(3, bundles, minutes):
        change(int((moment - BEGIN).total_seconds()) // 60, snapshot)
        rows = Rows()
        add_document(rows, json.dumps(snapshot).encode(), "prod", "file:/x.json", 0)
        for batch in rows.batches():
            loads += [row["loads"] for row in batch.to_pylist() if row["loads"] is not None]

    def plain(value: Any) -> Any:
        return int(value.timestamp() * 1e6) if isinstance(value, datetime) else value

    table = pa.table({name: [plain(row[name]) for row in loads] for name in LOADS})
    start = int(BEGIN.timestamp() * 1e6)
    schema = pa.schema([(name, pa.int64() if name == "time" else pa.string()) for name in DECISIONS])
    told = [{**row, "time": start + row["time"] * 60_000_000} for row in decisions or []]
    return Window(start, MINUTES, table, pa.Table.from_pylist(told, schema=schema))


def moved(minute: int, snapshot: dict[str, Any]) -> None:
    """From minute 30 on the second broker has the first bundle of the first one."""
    if minute >= 30:
        one, other = (snapshot["brokers"][f"broker-{number}:8080"] for number in (1, 2))
        bundle = one["bundles"].pop(0)
        other["lastStats"][bundle] = one["lastStats"].pop(bundle)
        other["bundles"].append(bundle)


def test_the_first_minute_is_what_the_brokers_reported() -> None:
    one = window()
    happened = one.happened(USUAL)
    run = simulate(manager(USUAL), one.scenario("x"), 0, 1 / 60)
    assert run.brokers == happened.brokers
    np.testing.assert_allclose(run.usage[0], happened.usage[0], rtol=1e-6)


def test_the_rates_go_as_they_were() -> None:
    def doubled(minute: int, snapshot: dict[str, Any]) -> None:
        for report in snapshot["brokers"].values() if minute >= 30 else ():
            for stats in report["lastStats"].values():
                stats |= {name: 2 * stats[name] for name in ("msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut")}

    run = simulate(manager(CALM), window(doubled).scenario("x"), 0, 1.0)
    plain = simulate(manager(CALM), window().scenario("x"), 0, 1.0)
    np.testing.assert_allclose(run.offered[:30], plain.offered[:30])
    np.testing.assert_allclose(run.offered[30:], 2 * plain.offered[30:])


def test_a_broker_that_goes_and_one_that_comes_are_events() -> None:
    def gone(minute: int, snapshot: dict[str, Any]) -> None:
        if minute >= 40:
            del snapshot["brokers"]["broker-3:8080"]
        if minute < 20:
            del snapshot["brokers"]["broker-2:8080"]

    events = window(gone).scenario("x").events
    assert [(event.minute, event.kind, event.broker) for event in events] == [
        (20, "start", "broker-2:8080"),
        (40, "stop", "broker-3:8080"),
    ]


def alternately(minute: int, snapshot: dict[str, Any]) -> None:
    """Brokers report in turn, each at a minute of its own in every five."""
    for number in (1, 2, 3):
        if minute % 5 != number:
            del snapshot["brokers"][f"broker-{number}:8080"]


def test_brokers_that_report_at_different_minutes_are_there_all_the_time() -> None:
    """As the reports of a metadata store are: each broker writes its own when it has changed."""
    turns, at_once = window(alternately, minutes=range(MINUTES)), window()
    assert turns.events == ()
    moving = window(
        lambda minute, snapshot: (moved(minute, snapshot), alternately(minute, snapshot))[0], minutes=range(MINUTES)
    )
    (action,) = moving.happened(USUAL).actions
    assert (action.minute, action.source, action.destination) == (32, "broker-1:8080", "broker-2:8080")
    happened, same = turns.happened(USUAL), at_once.happened(USUAL)
    assert np.isfinite(happened.usage[5:55]).all()
    assert happened.bundles[10:55].tolist() == same.bundles[10:55].tolist()
    np.testing.assert_allclose(happened.usage[10:50], same.usage[10:50], rtol=0.01)
    run = simulate(manager(CALM), turns.scenario("x"), 0, 1.0)
    np.testing.assert_allclose(run.offered, simulate(manager(CALM), at_once.scenario("x"), 0, 1.0).offered, rtol=0.01)


def test_a_broker_whose_load_does_not_change_reports_each_quarter_and_is_there_meanwhile() -> None:
    """A dump of the metadata store says no time of its own: each report has the one that its broker wrote."""

    def by_themselves(silent: range) -> Change:
        def change(minute: int, snapshot: dict[str, Any]) -> None:
            moment = snapshot.pop("now")
            for report in snapshot["brokers"].values():
                report["lastUpdate"] = moment
            if minute in silent:
                del snapshot["brokers"]["broker-2:8080"]

        return change

    assert window(by_themselves(range(31, 45))).events == ()
    assert [event.kind for event in window(by_themselves(range(26, 60))).events] == ["stop"]


def test_a_broker_that_is_restarted_is_away_meanwhile_and_nobody_unloaded_its_bundles() -> None:
    def restarted(minute: int, snapshot: dict[str, Any]) -> None:
        if 20 <= minute < 35:
            (gone,) = (snapshot["brokers"].pop("broker-3:8080"),)
            other = snapshot["brokers"]["broker-1:8080"]
            other["lastStats"] |= gone["lastStats"]
            other["bundles"] += gone["bundles"]

    one = window(restarted)
    assert [(event.minute, event.kind, event.broker) for event in one.events] == [
        (20, "stop", "broker-3:8080"),
        (35, "start", "broker-3:8080"),
    ]
    actions = one.happened(USUAL).actions
    assert {action.minute for action in actions if action.kind == "assign"} == {20}
    assert {(action.minute, action.kind) for action in actions} == {(20, "assign"), (35, "unload")}, "35: it is given back"

    def nothing_collected(minute: int, snapshot: dict[str, Any]) -> None:
        if 20 <= minute < 35:
            snapshot["brokers"].clear()

    assert window(nothing_collected).events == ()


def test_one_report_that_is_missing_is_not_an_absence() -> None:
    def late(minute: int, snapshot: dict[str, Any]) -> None:
        if minute == 30:
            del snapshot["brokers"]["broker-2:8080"]

    happened = window(late).happened(USUAL)
    assert np.isfinite(happened.usage).all()
    assert set(happened.bundles.tolist()) == {24}


def test_brokers_with_two_names_are_named() -> None:
    def twice(minute: int, snapshot: dict[str, Any]) -> None:
        snapshot["brokers"] |= {name.replace("broker-", "10.0.0."): each for name, each in snapshot["brokers"].items()}

    with pytest.raises(NoWindow, match=r"10\.0\.0\.1:8080 and broker-1:8080 report the same bundles: brokers have one name"):
        window(twice).scenario("x")


def test_a_decision_that_a_log_and_a_snapshot_tell_is_one() -> None:
    bundle = "public/ns-0/0x00000000_0x2aaaaaaa"
    by_log = {"time": 28, "kind": "unload", "bundle": bundle, "from": "broker-1:8080", "to": "broker-2:8080", "reason": "X"}
    by_snapshot = {"time": 29, "kind": "unload", "bundle": bundle, "reason": "the leader has it as recently unloaded"}
    later = {**by_snapshot, "time": 50}
    actions = window(decisions=[by_snapshot, by_log, later]).happened(USUAL).actions
    assert [(action.minute, action.reason) for action in actions] == [(28, "X"), (50, later["reason"])]


def test_a_move_is_seen_in_the_reports_unless_a_decision_tells_it() -> None:
    seen = window(moved).happened(USUAL).actions
    assert [(action.minute, action.kind, action.reason) for action in seen] == [(30, "unload", "seen in the reports")]
    bundle = seen[0].bundle
    told = {
        "time": 28,
        "kind": "unload",
        "bundle": bundle,
        "from": "broker-1:8080",
        "to": "broker-2:8080",
        "reason": "ThresholdShedder",
    }
    (action,) = window(moved, [told]).happened(USUAL).actions
    assert (action.minute, action.source, action.destination, action.reason) == (
        28,
        "broker-1:8080",
        "broker-2:8080",
        "ThresholdShedder",
    )


def test_a_split_gives_each_part_its_share_and_is_seen() -> None:
    whole, parts = (
        "public/ns-0/0x00000000_0x2aaaaaaa",
        ("public/ns-0/0x00000000_0x15555555", "public/ns-0/0x15555555_0x2aaaaaaa"),
    )

    def split(minute: int, snapshot: dict[str, Any]) -> None:
        report = snapshot["brokers"]["broker-1:8080"]
        if minute >= 30:
            stats = report["lastStats"].pop(whole)
            report["bundles"].remove(whole)
            for name in parts:
                report["lastStats"][name] = {
                    key: value / 2 if key.startswith("msg") else value // 2 for key, value in stats.items()
                }
                report["bundles"].append(name)

    one = window(split)
    assert [(action.minute, action.kind, action.bundle) for action in one.happened(USUAL).actions] == [(30, "split", whole)]
    run = simulate(manager(CALM), one.scenario("x"), 0, 1.0)
    np.testing.assert_allclose(run.offered[45], simulate(manager(USUAL), window().scenario("x"), 0, 1.0).offered[45], rtol=1e-9)


def test_a_window_without_bundles_is_none() -> None:
    one = window()
    empty = Window(one.start, one.minutes, one.loads.filter(pa.compute.is_null(one.loads["bundle"])), one.decisions)
    with pytest.raises(NoWindow, match="no report of a broker with its bundles"):
        empty.scenario("x")


def test_the_departure_of_the_present_policy_is_told_and_a_move_is_in_it() -> None:
    worlds = [window(moved), *(window() for _ in range(9))]
    happened = [measures(one.happened(USUAL)).as_dict() for one in worlds]
    values = {name: np.array([each[name] for each in happened]) for name in REPORTED}
    still = manager(CALM)
    runs = [measures(simulate(still, one.scenario("x"), 0, 1.0)).as_dict() for one in worlds]
    simulated = {"present": {name: np.array([each[name] for each in runs]) for name in REPORTED}}
    text = Happened(values, simulated, 0.95).text
    assert text.startswith("happened: what the cluster did; the simulation of present departs from it by\n")
    assert "\n  unloads_per_hour -0.1 1/h: 0 simulated, 0.1 happened" in text
    assert "\n  nothing in imbalance, deviation, overloaded, returns, splits, bundles" in text
