"""The entry of ``service_unit`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.service_unit import OUTSIDE, service_unit
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.service_unit import suite
from fencepost.properties.service_unit.in_cluster import IN_CLUSTER

_TOPIC: Mapping[str, Value] = {"store": "topic"}
_METADATA: Mapping[str, Value] = {"store": "metadata"}
_SPLIT: Mapping[str, Value] = {"units": 2, "splits": 1}

_FOUR: Mapping[str, Value] = {**_METADATA, "brokers": 4, "units": 4, "versions": 0}
_FAULTS: Mapping[str, Value] = {"crashes": 2, "expiries": 1, "disconnects": 2}

SIZES = {
    "ci": (
        Instance("unloads", {**_TOPIC, "unloads": 2, "burials": 1, "versions": 11}),
        Instance("crash", {**_TOPIC, "crashes": 1}),
        Instance("expiry", {**_TOPIC, "expiries": 1}),
        Instance("compaction", {**_TOPIC, "compactions": 1, "burials": 1}),
        Instance("late", {**_TOPIC, "timeouts": 1, "late_messages": 1, "burials": 1}),
        Instance("slow", {**_TOPIC, "slow": True}),
        Instance("at once", {**_TOPIC, "multi_phase": False, "timeouts": 1}),
        Instance("split", {**_TOPIC, **_SPLIT}),
        Instance("nodes", {**_METADATA, "unloads": 2, "burials": 1, "timeouts": 1, "versions": 11}),
        Instance("nodes, crash", {**_METADATA, "crashes": 1}),
        Instance("nodes, monitored", {**_METADATA, "crashes": 1, "rounds": 1}),
        Instance("nodes, shutdown", {**_METADATA, "shutdowns": 1, "versions": 12}),
        Instance("nodes, expiry", {**_METADATA, "expiries": 1}),
        Instance("nodes, cut off", {**_METADATA, "disconnects": 1}),
        Instance("nodes, split", {**_METADATA, **_SPLIT, "attempts": 2, "conflicts": 1}),
    ),
    "standard": (
        Instance("two units", {**_TOPIC, "units": 2}),
        Instance("crash and expiry", {**_TOPIC, "crashes": 1, "expiries": 1, "versions": 12}),
        Instance("three brokers, crash", {**_TOPIC, "brokers": 3, "crashes": 1}),
        Instance("nodes, all faults", {**_METADATA, "crashes": 1, "expiries": 1, "disconnects": 1, "versions": 12}),
        Instance("nodes, split fails", {**_METADATA, **_SPLIT, "attempts": 1, "conflicts": 1, "versions": 12}),
        Instance("monitored", {**_TOPIC, "crashes": 1, "rounds": 1}),
        Instance("shutdown", {**_TOPIC, "shutdowns": 1, "versions": 12}),
        Instance("nodes, split and shutdown", {**_METADATA, **_SPLIT, "unloads": 0, "shutdowns": 1, "versions": 12}),
        Instance("nodes, three brokers", {**_METADATA, "brokers": 3, "crashes": 1}),
        Instance("nodes, four brokers and units, cut off", {**_FOUR, "unloads": 3, "disconnects": 2}, by="induction"),
        Instance("nodes, four brokers and units, crashes", {**_FOUR, "unloads": 0, "crashes": 3}, by="induction"),
        Instance("nodes, four brokers and units, no unloads", {**_FOUR, "unloads": 0, **_FAULTS}, by="induction"),
        Instance("nodes, four brokers and units", {**_FOUR, "unloads": 3, "timeouts": 2, **_FAULTS}, by="induction"),
    ),
    "deep": (Instance("three brokers", {**_TOPIC, "brokers": 3, "crashes": 1, "expiries": 1, "versions": 12}),),
}

MUTATED = (
    Instance("unload", {**_TOPIC, "lag": 2, "burials": 1, "timeouts": 1}),
    Instance("compaction", {**_TOPIC, "lag": 2, "burials": 1, "compactions": 1}),
    Instance("late", {**_TOPIC, "lag": 2, "late_messages": 1}),
    Instance("at once", {**_TOPIC, "lag": 2, "multi_phase": False}),
    Instance("crash", {**_TOPIC, "lag": 2, "crashes": 1}),
    Instance("expiry", {**_TOPIC, "lag": 2, "unloads": 0, "expiries": 1}),
    Instance("split", {**_TOPIC, **_SPLIT, "lag": 2, "unloads": 0}),
    Instance("nodes", {**_METADATA, "burials": 1, "timeouts": 1}),
    Instance("nodes, slow", {**_METADATA, "slow": True}),
    Instance("nodes, crash", {**_METADATA, "crashes": 1, "rounds": 1}),
    Instance("nodes, shutdown", {**_METADATA, "unloads": 0, "shutdowns": 1, "versions": 12}),
    Instance("nodes, expiry", {**_METADATA, "unloads": 0, "expiries": 1}),
    Instance("nodes, cut off", {**_METADATA, "disconnects": 1}),
    Instance("nodes, split", {**_METADATA, **_SPLIT, "unloads": 0, "attempts": 2, "conflicts": 1}),
)


ENTRY = Entry(
    name="service_unit",
    summary="which broker owns a bundle with the extensible load manager: one record, in a topic or in the metadata store",
    function=service_unit,
    suite=suite.service_unit,
    sizes=SIZES,
    bugs=bugs_beside(__file__, service_unit),
    mutated=MUTATED,
    outside=OUTSIDE,
    in_cluster=IN_CLUSTER,
)
