"""The model's records as the harness reads them: by the names of Java's fields; what JSON does not have is a string."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TypedDict, TypeVar

from fencepost.model.balance.configuration import NAMES_BEFORE_4_0_8, Configuration, defaults
from fencepost.model.balance.load_data import (
    BundleData,
    LoadData,
    LocalBrokerData,
    NamespaceBundleStats,
    ResourceUsage,
    TimeAverageMessageData,
)

V = TypeVar("V")

Row = TypedDict(
    "Row",
    {
        "asked": dict[str, str],
        "averages": dict[str, float | str],
        "brokers": list[str],
        "bundles": list[str],
        "chosen": str | list[str | None] | None,
        "counted": dict[str, list[str]],
        "from": list[str],
        "hits": int,
        "order": dict[str, list[str]],
        "skip": str,
        "split": list[str],
        "throws": str,
        "unload": dict[str, list[str]],
        "unloads": list[tuple[str, str, str]],
    },
    total=False,
)
"""What a class answers to one round of a case: of the names those that its rule asks for."""

Answer = TypedDict(
    "Answer",
    {
        "boundaries": list[int] | None,
        "brokers": list[str],
        "bundle": str,
        "destinations": dict[str, str],
        "extensible": bool,
        "from": list[str],
        "hash": int,
        "left": dict[str, list[str]],
        "longTermData": list[float | str],
        "message": str,
        "msgThroughputEMA": float | str,
        "names": list[str],
        "refused": str,
        "reports": bool,
        "rounds": list[Row],
        "session": int,
        "shortTermData": list[float | str],
        "split": list[str],
        "static": list[str],
        "throws": str,
        "topics": int,
        "unload": dict[str, list[str]],
        "weightedMaxEMA": float | str,
    },
    total=False,
)
"""What a class answers to a case; ``throws`` is the class of what it threw."""

RESOURCES = ("cpu", "memory", "directMemory", "bandwidthIn", "bandwidthOut")
RATES = ("msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut")
STATS = (*RATES, "consumerCount", "producerCount", "topics", "cacheSize")


def number(value: float) -> float | str:
    """A number, or the name that Java has for it."""
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def settings(conf: Configuration) -> dict[str, object]:
    """The settings that are not the defaults of the release: these are to be those that its class has."""
    usual, changes = defaults(conf.pulsar_version), {}
    for field in fields(Configuration)[1:]:
        value = getattr(conf, field.name)
        if value != getattr(usual, field.name):
            name = NAMES_BEFORE_4_0_8.get(field.name, field.name) if conf.before("4.0.8") else field.name
            changes[name] = sorted(value) if isinstance(value, frozenset) else value
    return changes


def stats(seen: NamespaceBundleStats) -> dict[str, float | str]:
    """A bundle's statistics."""
    return {name: number(getattr(seen, name)) for name in STATS}


def resource(usage: ResourceUsage) -> list[float | str]:
    """Usage and limit."""
    return [number(usage.usage), number(usage.limit)]


def report(data: LocalBrokerData) -> dict[str, object]:
    """A broker's report."""
    return {
        **{name: resource(getattr(data, name)) for name in RESOURCES},
        **{name: number(getattr(data, name)) for name in RATES},
        "numTopics": data.numTopics,
        "numBundles": data.numBundles,
        "lastStats": {name: stats(seen) for name, seen in data.lastStats.items()},
        "bundles": list(data.bundles),
    }


def bundle(data: BundleData) -> dict[str, object]:
    """A bundle's averages."""

    def average(of: TimeAverageMessageData) -> list[float | str]:
        return [*(number(getattr(of, name)) for name in RATES), of.numSamples, of.maxSamples]

    return {"short": average(data.shortTermData), "long": average(data.longTermData), "topics": data.topics}


def load(data: LoadData) -> dict[str, object]:
    """What a leader knows."""
    return {
        "brokers": {name: report(its) for name, its in data.reports.items()},
        "bundles": {name: bundle(one) for name, one in data.bundles.items()},
        "recent": dict(data.recently_unloaded),
    }


def same(one: float, other: float) -> bool:
    """Whether two numbers are the same, or neither is one."""
    return one == other or (math.isnan(one) and math.isnan(other))


def in_order(data: Mapping[str, V], names: Iterable[str]) -> dict[str, V]:
    """The entries of these names in this order, then the others: Java's hash tables have an order of their own."""
    first = {name: data[name] for name in names if name in data}
    return {**first, **data}
