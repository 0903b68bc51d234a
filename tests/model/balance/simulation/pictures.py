"""Small worlds in few words: brokers that own bundles, each with what it carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.load_data import LoadData, LocalBrokerData, NamespaceBundleStats, ResourceUsage
from fencepost.model.balance.load_manager import LoadManager, Snapshot
from fencepost.model.balance.simulation.scenario import Scenario
from fencepost.model.balance.simulation.snapshot_cluster import Pictured
from fencepost.model.balance.strategies import load_manager

NAMESPACE = "public/default"
MESSAGE_BYTES = 2048
FULL_RATE = 10_000.0


def bundle(number: int) -> str:
    """The bundle of that number of a namespace of 16."""
    upper = 0xFFFFFFFF if number == 15 else (number + 1) << 28
    return f"{NAMESPACE}/0x{number << 28:08x}_0x{upper:08x}"


def pictured(owned: Mapping[str, Mapping[int, float]], *, topics: int = 1, **others: Any) -> Pictured:
    """Brokers, the numbers of their bundles and the messages per second of each; 10000 fill a broker's CPU."""
    brokers = {}
    for broker, bundles in owned.items():
        carried = sum(bundles.values())
        last = {bundle(n): NamespaceBundleStats(rate, 0, rate * MESSAGE_BYTES, 0, topics=topics) for n, rate in bundles.items()}
        brokers[broker] = LocalBrokerData(
            carried,
            0,
            carried * MESSAGE_BYTES,
            0,
            cpu=ResourceUsage(100 * carried / FULL_RATE, 100),
            lastStats=last,
            bundles=tuple(last),
        )
    return Pictured(Snapshot(LoadData(brokers, **others)))


def still(owned: Mapping[str, Mapping[int, float]], *, topics: int = 1, **others: Any) -> Scenario:
    """A world in which nothing happens unless it is said."""
    return Scenario("still", pictured(owned, topics=topics), **others)


def policy(shedder: str | None = "OverloadShedder", **settings: Any) -> LoadManager:
    """A policy with settings other than Pulsar's defaults."""
    return load_manager(replace(defaults("4.2.4"), **settings), shedder)
