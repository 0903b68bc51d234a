"""The entry of ``topic`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.pulsar.topic import RELEASES, topic
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.topic import suite
from fencepost.properties.topic.in_cluster import IN_CLUSTER

_ALONE: Mapping[str, Value] = {"brokers": 1, "openings": 1, "connections": 1, "rolls": 0, "ledgers": 2}
_AGAIN: Mapping[str, Value] = {**_ALONE, "connections": 2}
_RELOADED: Mapping[str, Value] = {**_AGAIN, "openings": 2, "ledgers": 3}
_ROLLED: Mapping[str, Value] = {**_ALONE, "rolls": 1, "ledgers": 3}
_PLAIN: Mapping[str, Value] = {"dedup": False}
_TRIMMED: Mapping[str, Value] = {**_PLAIN, "trims": 1}
_READ: Mapping[str, Value] = {**_TRIMMED, "subscription": True}
_TWO: Mapping[str, Value] = {"brokers": 2, "messages": 1, "rolls": 0}
_MOVED: Mapping[str, Value] = {**_RELOADED, "rolls": 1, "transfers": 1, "truncations": 1}
_PROPERTIES: Mapping[str, Value] = {**_PLAIN, **_TWO, "messages": 2, "capacity": 1, "connections": 1, "property_updates": 1}

SIZES = {
    "ci": (
        Instance("two brokers", {}),
        Instance("two brokers, no deduplication", _PLAIN),
        Instance("failures", {**_ROLLED, "connections": 2, "failures": 2}),
        Instance("failed adds", {**_ROLLED, "connections": 2, "add_failures": 1, "recoveries": 1}),
        Instance("terminated", {**_ROLLED, "terminations": 1, **_PLAIN}),
        Instance("unloaded", {**_RELOADED, "closings": 1, "rolls": 1}),
        Instance("full ledgers, snapshots", {**_RELOADED, "capacity": 1, "snapshots": 1, "crashes": 1, "ledgers": 4}),
        Instance("trimmed", {**_READ, "ledgers": 4, "capacity": 1, "connections": 1, "rolls": 0}),
        Instance("deleted", {**_TWO, "messages": 2, "deletions": 1}),
        Instance("slow updates", {**_RELOADED, "rolls": 1, "ledgers": 4, "closings": 1, "slow_updates": 1}),
        Instance("transferred and truncated", _MOVED),
        Instance("properties", _PROPERTIES),
    ),
    "standard": (
        Instance("two brokers, a failure", {"failures": 1, "ledgers": 4}),
        Instance("two brokers, three messages", {"messages": 3, "ledgers": 3}),
        Instance("two brokers, a crash", {"crashes": 1, "ledgers": 4, "openings": 3}),
        Instance("trimmed, snapshots", {**_RELOADED, "trims": 1, "snapshots": 1, "capacity": 1, "crashes": 1, "ledgers": 4}),
        Instance("terminated and unloaded", {**_ROLLED, "terminations": 1, "closings": 1, "failures": 1, **_PLAIN}),
        Instance("three brokers", {"brokers": 3, "openings": 3, "ledgers": 4}),
        Instance("trimmed twice", {**_READ, "trims": 2, "capacity": 1, "ledgers": 5, "connections": 1, "rolls": 0}),
    ),
    "deep": (
        Instance("two brokers, four ledgers", {"ledgers": 4, "openings": 3, "rolls": 1, "failures": 1, "connections": 3}),
        Instance("two brokers, three messages, a failure", {"messages": 3, "ledgers": 4, "failures": 1, "crashes": 1}),
    ),
}


MUTATED = (
    Instance("failures", {**_ROLLED, "connections": 2, "failures": 1}),
    Instance("failed adds", {**_ROLLED, "connections": 2, "add_failures": 1, "recoveries": 1}),
    Instance("two brokers, one message", {"messages": 1, "ledgers": 4, **_PLAIN}),
    Instance("reloaded", {**_RELOADED, "capacity": 1, "snapshots": 1, "crashes": 1}),
    Instance("terminated", {**_ROLLED, "terminations": 1, **_PLAIN}),
    Instance("unloaded", {**_RELOADED, "closings": 1, "rolls": 1}),
    Instance("trimmed", {**_ALONE, **_READ, "capacity": 1, "ledgers": 3}),
    Instance("deleted", {**_TWO, "deletions": 1}),
    Instance("slow updates", {**_RELOADED, "rolls": 1, "ledgers": 4, "closings": 1, "slow_updates": 1}),
    Instance("two brokers, full ledgers", {**_TWO, "capacity": 1, "connections": 1}),
    Instance("transferred and truncated", _MOVED),
    Instance("properties", _PROPERTIES),
)


ENTRY = Entry(
    name="topic",
    summary="an acknowledged message: the managed ledger of a topic, its fence, deduplication and trimming, and a producer",
    function=topic,
    suite=suite.topic,
    sizes=SIZES,
    bugs=bugs_beside(__file__, topic),
    releases=RELEASES,
    mutated=MUTATED,
    in_cluster=IN_CLUSTER,
)
