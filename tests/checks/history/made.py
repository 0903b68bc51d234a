"""Files of a cluster that are made up: snapshots, an export of Prometheus, logs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

BEGIN = datetime(2026, 11, 2, tzinfo=UTC)
METRICS = {
    "pulsar_bundle_msg_rate_in": 40.0,
    "pulsar_bundle_msg_rate_out": 40.0,
    "pulsar_bundle_msg_throughput_in": 40e3,
    "pulsar_bundle_msg_throughput_out": 40e3,
    "pulsar_bundle_topics_count": 4.0,
    "pulsar_bundle_consumer_count": 4.0,
    "pulsar_bundle_producer_count": 4.0,
}


def bundles_of(count: int, namespaces: int = 4) -> list[str]:
    """The names of bundles, evenly over namespaces; ``count`` is a multiple of their number."""
    each = count // namespaces
    cuts = [(1 << 32) * number // each for number in range(each + 1)]
    cuts[-1] -= 1
    ranges = [f"0x{low:08x}_0x{high:08x}" for low, high in pairwise(cuts)]
    return [f"public/ns-{number}/{each}" for number in range(namespaces) for each in ranges]


def snapshots(brokers: int, bundles: int, minutes: range, seed: int = 0) -> Iterator[tuple[datetime, dict[str, Any]]]:
    """A snapshot for each of these minutes: one namespace grows by the day, and its broker becomes fuller than the others."""
    names, draw = bundles_of(bundles), random.Random(seed)
    weights = {name: draw.uniform(0.5, 1.5) for name in names}
    steady = {name: _stats(weight) for name, weight in weights.items() if not grows(name)}
    for minute in minutes:
        moment = BEGIN + timedelta(minutes=minute)
        now = int(moment.timestamp() * 1000)
        wave = 1 + 0.5 * minute / 1440
        reports = {}
        for number in range(brokers):
            own = names[number::brokers] if brokers < len(names) else names[number : number + 1]
            stats = {name: dict(steady[name]) if name in steady else _stats(weights[name] * wave) for name in own}
            reports[f"broker-{number + 1}:8080"] = _report(stats, now - 1000)
        yield moment, {"brokers": reports, "now": now}


def grows(bundle: str) -> bool:
    """Whether a bundle's load becomes more by the day; that of the others stays."""
    return "ns-0" in bundle


def _stats(weight: float) -> dict[str, Any]:
    rate = round(400 * weight, 3)
    return {
        "msgRateIn": rate,
        "msgRateOut": rate,
        "msgThroughputIn": rate * 1000,
        "msgThroughputOut": rate * 1000,
        "topics": 4,
        "producerCount": 4,
        "consumerCount": 4,
    }


def _report(stats: dict[str, Any], now: int) -> dict[str, Any]:
    total = {
        key: sum(each[key] for each in stats.values())
        for key in ("msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut")
    }
    rate = total["msgRateIn"] + total["msgRateOut"]
    return {
        **total,
        "cpu": {"usage": min(100.0, rate / 200), "limit": 100.0},
        "memory": {"usage": 50.0, "limit": 100.0},
        "directMemory": {"usage": 10.0, "limit": 100.0},
        "bandwidthIn": {"usage": total["msgThroughputIn"] * 8 / 1000, "limit": 10_000_000.0},
        "bandwidthOut": {"usage": total["msgThroughputOut"] * 8 / 1000, "limit": 10_000_000.0},
        "lastUpdate": now,
        "lastStats": stats,
        "bundles": list(stats),
        "numBundles": len(stats),
        "numTopics": 4 * len(stats),
    }


def write_snapshots(folder: Path, brokers: int, bundles: int, minutes: range) -> list[Path]:
    """A file for each minute."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for moment, snapshot in snapshots(brokers, bundles, minutes):
        files.append(folder / f"{moment:%Y-%m-%dT%H%M}.json")
        files[-1].write_text(json.dumps(snapshot), encoding="utf-8")
    return files


def openmetrics(brokers: int, bundles: int, minutes: range) -> str:
    """What promtool tsdb dump-openmetrics prints of some minutes: a series after the other."""
    names, lines = bundles_of(bundles), list[str]()
    for metric, value in METRICS.items():
        for place, bundle in enumerate(names):
            labels = f'{{bundle="{bundle}",cluster="prod",instance="broker-{place % brokers + 1}:8080"}}'
            lines += [f"{metric}{labels} {value:g} {BEGIN.timestamp() + 60 * minute:.3f}" for minute in minutes]
    for number in range(brokers):
        for resource in ("cpu", "memory", "directMemory", "bandwidth_in", "bandwidth_out"):
            labels = f'{{cluster="prod",instance="broker-{number + 1}:8080"}}'
            lines += [f"pulsar_lb_{resource}_usage{labels} 40 {BEGIN.timestamp() + 60 * minute:.3f}" for minute in minutes]
    return "\n".join([*lines, "# EOF", ""])


def matrix(metric: str, labels: dict[str, str], values: list[tuple[float, float]]) -> str:
    """What Prometheus answers to query_range."""
    series = {"metric": {"__name__": metric, **labels}, "values": [[time, str(value)] for time, value in values]}
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [series]}})


def log_line(minute: float, message: str, zone: str = "+0000", level: str = "INFO") -> str:
    """A line in Pulsar's own layout."""
    moment = BEGIN + timedelta(minutes=minute)
    return (
        f"{moment:%Y-%m-%dT%H:%M:%S},{moment.microsecond // 1000:03d}{zone} [main] {level:<5} org.apache.pulsar.X - {message}\n"
    )
