"""Samples of Prometheus as rows: of the loads of brokers and bundles, and of what the odds need."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from fencepost.checks.history.rows import MICROSECONDS, Cell, Rows
from fencepost.checks.inputs.prometheus import Sample
from fencepost.checks.odds.measuring import UNITS
from fencepost.checks.policy.cluster.exposition import STATISTICS, USAGE_METRICS

COLUMNS: Mapping[str, str] = {
    "msgRateIn": "msg_rate_in",
    "msgRateOut": "msg_rate_out",
    "msgThroughputIn": "msg_throughput_in",
    "msgThroughputOut": "msg_throughput_out",
    "topics": "topics",
    "consumerCount": "consumers",
    "producerCount": "producers",
}
"""The statistics of a bundle in a load report, and their columns."""

_USAGES = ("cpu", "memory", "directMemory", "bandwidth_in", "bandwidth_out")
_OF_BROKER = {
    metric: "direct_memory" if usage == "directMemory" else usage
    for metric, key in USAGE_METRICS.items()
    for usage in _USAGES
    if key == f"brk_lb_{usage}_usage"
}
_OF_BUNDLE = {metric: COLUMNS[key] for metric, key in STATISTICS.items()}
_COUNTS = ("topics", "producers", "consumers")
_FAMILIES = ("pulsar_lb_", "pulsar_bundle_")
_PART = ("_count", "_sum", "_bucket", "_created", "_total")


def add_sample(rows: Rows, sample: Sample, cluster: str, source: str, modified: int) -> None:
    """Adds the row of a sample, or leaves it with the reason. ``modified`` is the file's time, in microseconds, which a sample
    has that says none."""
    labels = dict(sample.labels)
    own = labels.pop("cluster", cluster)
    time = sample.time * MICROSECONDS or modified
    name, written = sample.name, f"{sample.name}{json.dumps(sample.labels, sort_keys=True)} {sample.value}"
    instance = labels.pop("instance", "")

    def leave(kind: str, reason: str) -> None:
        rows.leave(kind, own, source, sample.line, reason, written, modified)

    column = _OF_BROKER.get(name) or _OF_BUNDLE.get(name)
    unit = UNITS.get(name) or UNITS.get(next((name.removesuffix(part) for part in _PART if name.endswith(part)), ""))
    if column is not None:
        broker, bundle = instance or labels.get("broker", ""), labels.get("bundle")
        if not math.isfinite(sample.value):
            leave("unread", f"{name} is {sample.value}")
        elif not broker or (name in _OF_BUNDLE and not bundle):
            leave("unread", f"{name} has no label {'bundle' if broker else 'instance or broker'}")
        else:
            cells: dict[str, Cell] = {column: int(sample.value) if column in _COUNTS else sample.value}
            rows.add("loads", cluster=own, time=time, broker=broker, bundle=bundle, **cells)
    elif unit is not None:
        if not math.isfinite(sample.value):
            leave("passed", f"{name} is {sample.value}: nothing has happened yet")
        else:
            said = json.dumps(labels, sort_keys=True)
            rows.add(
                "rates",
                cluster=own,
                time=time,
                process=instance or source.rpartition("/")[2],
                metric=name,
                labels=said,
                value=sample.value,
                unit="1" if name.endswith("_count") else unit,
            )
    elif name.startswith(_FAMILIES):
        leave("unread", f"{name}: no unit of it is known")
    else:
        leave("passed", f"no table takes {name}")
