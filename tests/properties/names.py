"""What a protocol is made of in all its instances, by name: what its page has to say, and no more."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value

ROOT = Path(__file__).resolve().parents[2]

LARGE = ("cluster", "ledger", "service_unit", "service_unit_migration", "split", "topic")
"""Protocols that take seconds to build in all their settings."""

NEEDED: dict[str, dict[str, Value]] = {
    "unclean_shutdowns": {"data_integrity": True},
    "splits": {"units": 2},
    "disk_losses": {"copies": 2},
    "updates": {"thread": "awaited"},
}
"""What a fault is refused without."""

APART = {"bookie": ("failed_saves", "failed_index_saves"), "replication": ("cuts",), "kafka_controller": ("updates",)}
"""The faults that a protocol does not have together with all the others."""

FURTHER_SETTINGS: dict[str, list[dict[str, Value]]] = {
    "bookie": [{"storage": "sorted", "kills": 1}, {"ledgers": 2, "journals": 2}],
    "election": [
        {"leads": "confirmed"},
        {"metadata_store": "oxia"},
        *({"brokers": brokers, "disconnects": 1, "closes": 1} for brokers in (1, 2)),
    ],
    "ledger": [{"changes": 1, "recoverers": 2}, {"entries": 1}],
    "metadata_store": [{"metadata_store": "oxia", "disconnects": 1}],
    "ownership": [{"metadata_store": "oxia", "disconnects": 1}],
    "placement": [
        {"racks": "1+1/1+1", "policy": "regionaware", "recovery": "regionaware", "takes": "region", "outages": 1, "losses": 1},
        {"racks": "2/2", "policy": "regionaware", "ensemble": 4, "listed": True, "min_regions": 3},
    ],
    "replication": [{"collects": True}, {"bookies": 2}, {"commands": 1, "disable": "wait"}, {"cuts": 1, "opened": True}],
    "cluster": [{"capacity": 2}, {"capacity": 1, "unfenced": True, "recoveries": 1}],
    "topic": [{"capacity": 2}, {"capacity": 1, "unfenced": True, "recoveries": 1}],
    "unload": [{"unloads": 0}, {"metadata_store": "oxia", "disconnects": 1}],
    "service_unit": [
        {"units": 2},
        {"store": "metadata"},
        {"store": "metadata", "unloads": 0},
        {"store": "metadata", "disconnects": 1},
        {"store": "metadata", "expiries": 1, "crashes": 1, "disconnects": 1},
    ],
    "service_unit_migration": [{"to": "topic"}, {"restarts": 0, "unloads": 1, "burials": 1}],
    "split": [
        {"metadata_store": "oxia", "disconnects": 1},
        {"policies": True},
        {"bundles": 2, "splits": 2, "maximum": 3},
        {"bundles": 2, "splits": 2, "maximum": 3, "fixed": True},
        {"brokers": 1},
        {"splits": 0},
    ],
}
"""Settings that have something which neither faults nor options bring, by protocol."""


class Names(NamedTuple):
    """The names of a protocol, by kind."""

    parameters: frozenset[str]
    variables: frozenset[str]
    actions: frozenset[str]
    statements: frozenset[str]
    bugs: frozenset[str]


@cache
def names_of(protocol: str) -> Names:
    """The names of a protocol.

    As they are without faults, with each kind of fault alone, with all, and with all and each further option; actions, which
    only a protocol with its formulas has, with all faults and all bugs, with all faults and all options, with what is
    further, and in the instances that show the bugs.
    """
    entry = PROTOCOLS[protocol]
    faults = [parameter.name for parameter in entry.parameters if parameter.type is int and parameter.default == 0]
    options = [parameter.name for parameter in entry.parameters if parameter.type is bool]
    alone: list[dict[str, Value]] = [{fault: 1, **NEEDED.get(fault, {})} for fault in faults]
    every = {name: value for each in alone for name, value in each.items() if name not in APART.get(protocol, ())}
    further = FURTHER_SETTINGS.get(protocol, [])
    suites = [entry.outline(s) for s in ({}, *alone, every, *(every | {option: True} for option in options), *further)]
    bugs = suites[0].protocol.bugs
    built = [entry.build(every, bugs), *(entry.build(s) for s in (every | dict.fromkeys(options, True), *further))]
    built += [entry.build(parameters, [bug]) for bug, parameters in entry.shown_by.items()]
    return Names(
        frozenset(parameter.name for parameter in entry.parameters),
        frozenset(v.family for p in (*built, *(suite.protocol for suite in suites)) for v in p.variables),
        frozenset(action.name for p in built for action in p.actions),
        frozenset(statement.name for suite in suites for statement in (*suite.properties, *suite.lemmas)),
        frozenset(bugs),
    )
