"""Documents of JSON as rows: snapshots, load reports, dumps of the metadata store, answers of Prometheus, configurations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from fencepost.checks.cluster.running import without_secrets
from fencepost.checks.history.metrics import COLUMNS, add_sample
from fencepost.checks.history.rows import MICROSECONDS, Rows
from fencepost.checks.inputs.input_files import InputError, inputs_read_once
from fencepost.checks.inputs.prometheus import samples_of_range
from fencepost.checks.policy.cluster.reports import BROKERS, BUNDLES, read_metadata, read_report
from fencepost.checks.policy.snapshot import SnapshotFile, as_file, read_file
from fencepost.model.balance.load_data import LocalBrokerData, ResourceUsage

MOST = 1 << 26
"""Bytes of a document; a longer one is not opened."""

MAGIC, PARQUET = "PAR1", "is Parquet, which is no source: name what it was made of, or read it with Spark"
"""How a file of Parquet begins, whatever its name is, and what is said of it."""
SAVED = r"/(?:cluster|(?<kind>brokers|bookies)/(?<address>[^/]+)|namespaces/(?<namespace>[^/]+/[^/]+))\.json$"
"""The names of files in a folder of ``check --save``, in the syntax of Java. They say no time, and the same may come again."""
_SAVED = re.compile(SAVED.replace("(?<", "(?P<"))
_KINDS = {"brokers": "broker", "bookies": "bookie"}

SEVERAL = "has a document on each line, or several in a row: name it .log, and each line is read"
"""Of a file whose name says that it is one document."""


def add_document(rows: Rows, data: bytes, cluster: str, source: str, modified: int) -> None:
    """Adds the rows of a document, or leaves it with the reason. ``modified`` is the file's time, in microseconds."""

    def leave(kind: str, reason: str) -> None:
        rows.leave(kind, cluster, source, 0, reason, data[:200].decode(errors="replace"), modified)

    if data.startswith(MAGIC.encode()):
        leave("unread", PARQUET)
        return
    path = Path(source)
    try:
        with inputs_read_once() as inputs:
            inputs.give(path, data)
            document = json.loads(data)
            if not isinstance(document, dict):
                leave("unread", "is not a JSON object")
            elif "data" in document and "status" in document:
                for sample in samples_of_range(document):
                    add_sample(rows, sample, cluster, source, modified)
            elif any(key.startswith((BROKERS, BUNDLES)) for key in document):
                reports, bundles = read_metadata(path)
                _add(rows, as_file({"brokers": reports, "bundles": bundles}, path), cluster, source, modified)
            elif "lastStats" in document and "webServiceUrl" in document:
                broker, report = read_report(path)
                _add(rows, as_file({"brokers": {broker: report}}, path), cluster, source, modified)
            elif isinstance(document.get("brokers"), dict):
                _add(rows, read_file(path), cluster, source, modified)
            elif (who := _who_says(source, cluster)) is not None:
                _add_settings(rows, document, who, cluster, source, modified)
            else:
                leave("passed", "is a JSON object that no table takes")
    except InputError as error:
        leave("unread", str(error).removeprefix(f"{path}: "))
    except json.JSONDecodeError as error:
        leave("unread", SEVERAL if error.msg == "Extra data" else f"is not JSON: {error}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        leave("unread", f"cannot be read: {type(error).__name__}: {error}"[:200])


def _who_says(source: str, cluster: str) -> tuple[str, str] | None:
    """Whose configuration a file has, by its place in a folder of ``check --save``: the kind and the name; None for another."""
    match = _SAVED.search(source)
    if match is None:
        return None
    if match["namespace"]:
        return "namespace", match["namespace"]
    kind, address = match["kind"], match["address"]
    return (_KINDS[kind], re.sub(r"_(\d+)$", r":\1", address)) if kind else ("cluster", cluster)


def _add_settings(
    rows: Rows, document: Mapping[str, object], who: tuple[str, str], cluster: str, source: str, modified: int
) -> None:
    """A row for each setting; of what may be a password without the value."""
    kind, name = who
    for setting, value in without_secrets(document).items():
        if value is not None:
            said = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            where = {"kind": kind, "name": name, "setting": setting, "value": said}
            rows.add("settings", cluster=cluster, time=modified, source=source, **where)


def _add(rows: Rows, file: SnapshotFile, cluster: str, source: str, modified: int) -> None:
    """The rows of a snapshot: as of its own time, each broker's report with the time that the broker says."""
    moment = file.time * MICROSECONDS or modified
    for broker, report in file.reports.items():
        if report is None:
            continue
        reported = (said.lastUpdate * MICROSECONDS or None) if (said := file.brokers[broker]) else None
        time = moment if file.now is not None else reported or moment
        resources = (report.cpu, report.memory, report.directMemory, report.bandwidthIn, report.bandwidthOut)
        cpu, memory, direct_memory, bandwidth_in, bandwidth_out = (usage.percent for usage in resources)
        rows.add(
            "loads",
            cluster=cluster,
            time=time,
            broker=broker,
            **_traffic(report),
            topics=report.numTopics,
            producers=report.numProducers,
            consumers=report.numConsumers,
            cpu=cpu,
            memory=memory,
            direct_memory=direct_memory,
            bandwidth_in=bandwidth_in,
            bandwidth_out=bandwidth_out,
            bandwidth_in_limit=_limit(report.bandwidthIn),
            bandwidth_out_limit=_limit(report.bandwidthOut),
            reported=reported,
        )
        for bundle in report.spoken_of:
            stats = report.lastStats.get(bundle)
            carried = (
                {column: getattr(stats, key) for key, column in COLUMNS.items()}
                if stats
                else dict.fromkeys(COLUMNS.values(), 0)
            )
            rows.add("loads", cluster=cluster, time=time, broker=broker, bundle=bundle, **carried, reported=reported)
    for bundle, unloaded in (file.recently_unloaded or {}).items():
        decision = {"kind": "unload", "bundle": bundle, "reason": "the leader has it as recently unloaded"}
        rows.add("decisions", cluster=cluster, time=unloaded * MICROSECONDS, source=source, **decision)


def _traffic(report: LocalBrokerData) -> dict[str, float]:
    return {column: getattr(report, key) for key, column in COLUMNS.items() if key.startswith("msg")}


def _limit(usage: ResourceUsage) -> float | None:
    return usage.bytes_per_second
