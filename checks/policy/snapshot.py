"""Snapshots of a cluster and lists of topics, as JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, TypeAdapter

from fencepost.checks.console.numbers import written_hash
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.policy.reading import json_path, read_json, value_of
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.isolation import FailureDomain, NamespaceIsolationData, Policies, beside_the_port
from fencepost.model.balance.load_data import Amount, BrokerLoad, BundleData, Count, LoadData, LocalBrokerData, ResourceUsage
from fencepost.model.balance.load_manager import Snapshot
from fencepost.model.balance.splitting import Topic

LAST_HASH = 0xFFFFFFFF

LEAST_NETWORK = 1000.0
"""kbit/s: a network card reports its speed in whole Mbit/s. A lower limit is no speed, but what the usage is a part of."""

IN_SECONDS = range(1_100_000_000, 100_000_000_000)
"""Times since 1970 that are seconds: as milliseconds they are before 1974."""

MOST_LOAD = 10.0
"""Above it an average usage of the extensible manager is no fraction, whatever the weights."""


def _hash(value: object) -> object:
    """A hash as a number or as text such as 0x7fffffff."""
    if isinstance(value, str):
        try:
            value = written_hash(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a hash; write it as 0x7fffffff or as a number") from None
    if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value <= LAST_HASH:
        raise ValueError(f"{value} is not from 0x00000000 to 0xffffffff")
    return value


def _named(topic: TopicEntry) -> TopicEntry:
    if topic.name is None and topic.hash is None:
        raise ValueError('has neither "name" nor "hash"; give one of them')
    return topic


@dataclass(frozen=True)
class TopicEntry:
    """A topic in a file."""

    name: str | None = None
    hash: Annotated[int | None, BeforeValidator(_hash)] = None
    msgRateIn: Amount = 0.0
    msgRateOut: Amount = 0.0
    msgThroughputIn: Amount = 0.0
    msgThroughputOut: Amount = 0.0

    @property
    def topic(self) -> Topic:
        """The topic of the model."""
        rates = (self.msgRateIn, self.msgRateOut, self.msgThroughputIn, self.msgThroughputOut)
        return Topic(self.name, self.hash, *rates)


Entry = Annotated[TopicEntry, AfterValidator(_named)]


def _domain(value: object) -> object:
    names = value.get("brokers") if isinstance(value, dict) else value
    return {"brokers": tuple(names)} if isinstance(names, list) else value


Domain = Annotated[FailureDomain, BeforeValidator(_domain)]
"""A failure domain as Pulsar writes it, or just the list of its brokers."""


@dataclass(frozen=True)
class SnapshotFile:
    """A snapshot as it is in a file; null is as good as missing."""

    brokers: Mapping[str, LocalBrokerData | None]
    bundles: Mapping[str, BundleData] | None = None
    recently_unloaded: Mapping[str, Count] | None = None
    recently_unloaded_brokers: Mapping[str, Count] | None = None
    now: Count | None = None
    loads: Mapping[str, BrokerLoad] | None = None
    preallocated: Mapping[str, str] | None = None
    isolation: Mapping[str, NamespaceIsolationData] | None = None
    anti_affinity: Mapping[str, str] | None = None
    failure_domains: Mapping[str, Domain] | None = None
    topics: Mapping[str, tuple[Entry, ...]] | None = None
    non_persistent: tuple[str, ...] | None = None

    @property
    def time(self) -> int:
        """``now``, or else the last time that the snapshot speaks of."""
        if self.now is not None:
            return self.now
        reports = [report.lastUpdate for report in self.brokers.values() if report is not None]
        return max([*reports, *(self.recently_unloaded or {}).values()], default=0)

    @property
    def reports(self) -> dict[str, LocalBrokerData | None]:
        """The reports, in which each network knows its unit.

        A report that does not say when it was made is as of ``time``: Java's constructor takes the clock.
        """
        return {
            name: report
            and replace(
                report,
                bandwidthIn=_network(report.bandwidthIn),
                bandwidthOut=_network(report.bandwidthOut),
                lastUpdate=report.lastUpdate or self.time,
            )
            for name, report in self.brokers.items()
        }

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot of the model."""
        load = LoadData(
            self.reports,
            self.bundles or {},
            self.recently_unloaded or {},
            self.recently_unloaded_brokers or {},
            self.time,
            self.loads or {},
            self.preallocated or {},
            self.non_persistent or (),
        )
        policies = Policies(self.isolation or {}, self.anti_affinity or {}, self.failure_domains or {})
        topics = {bundle: tuple(entry.topic for entry in entries) for bundle, entries in (self.topics or {}).items()}
        return Snapshot(load, policies, topics)


def _network(usage: ResourceUsage) -> ResourceUsage:
    """The usage of a network with its unit, which a file may leave out."""
    return replace(usage, unit="percent") if 0 < usage.limit < LEAST_NETWORK else usage


SNAPSHOT = TypeAdapter(SnapshotFile)
TOPICS: TypeAdapter[tuple[TopicEntry, ...]] = TypeAdapter(tuple[Entry, ...])


def as_snapshot(load: LoadData) -> dict[str, object]:
    """A load as it is in a snapshot."""
    reports = {name: replace(report, lastStats=dict(report.lastStats)) for name, report in load.reports.items()}
    file = SnapshotFile(
        {**load.brokers, **reports},
        dict(load.bundles),
        load.recently_unloaded,
        load.recently_unloaded_brokers,
        load.now,
        load.loads,
        load.preallocated,
        non_persistent=tuple(load.non_persistent) or None,
    )
    written: dict[str, object] = SNAPSHOT.dump_python(file, mode="json", exclude_defaults=True)
    return written


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot in a file; raises InputError."""
    return read_file(path).snapshot


def as_file(content: Mapping[str, object], path: Path) -> SnapshotFile:
    """A snapshot of what is in other files, such as load reports; InputError, naming the path, for what is no value of it."""
    return _required(path, value_of(content, SNAPSHOT, path))


def read_file(path: Path) -> SnapshotFile:
    """A snapshot as its file has it; raises InputError."""
    return _required(path, read_json(path, SNAPSHOT, "a snapshot of the cluster's load"))


def _required(path: Path, file: SnapshotFile) -> SnapshotFile:
    _require_milliseconds(path, file)
    for broker, load in (file.loads or {}).items():
        if load.weightedMaxEMA > MOST_LOAD:
            where = json_path(("loads", broker, "weightedMaxEMA"))
            raise InputError(f"{path}: {where} is {load.weightedMaxEMA:g}; it is a fraction: write 0.85 for 85 %")
    for name, policy in (file.isolation or {}).items():
        _require_patterns(path, name, policy)
    return file


def note_ports(path: Path, snapshot: Snapshot, conf: Configuration) -> None:
    """Notes on standard error which isolation policies name brokers with their ports, and so none."""
    for sentence in beside_the_port(snapshot.policies, snapshot.load.brokers, conf):
        print(f"note: {path}: {sentence}", file=sys.stderr)


def read_topics(path: Path) -> tuple[Topic, ...]:
    """The topics in a file; raises InputError."""
    return tuple(entry.topic for entry in read_json(path, TOPICS, "a JSON list of topics"))


def _require_milliseconds(path: Path, file: SnapshotFile) -> None:
    times: dict[tuple[str, ...], int] = {("now",): file.now or 0}
    times |= {("brokers", name, "lastUpdate"): report.lastUpdate for name, report in file.brokers.items() if report is not None}
    for key in ("recently_unloaded", "recently_unloaded_brokers"):
        times |= {(key, name): time for name, time in (getattr(file, key) or {}).items()}
    for place, time in times.items():
        if time in IN_SECONDS:
            raise InputError(f"{path}: {json_path(place)} is {time}, in seconds; write milliseconds since 1970: {time}000")


def _require_patterns(path: Path, name: str, policy: NamespaceIsolationData) -> None:
    for key in ("namespaces", "primary", "secondary"):
        for place, pattern in enumerate(getattr(policy, key)):
            try:
                re.compile(pattern)
            except re.error as error:
                where = json_path(("isolation", name, key, place))
                raise InputError(f"{path}: {where} is {pattern!r}; it is not a regular expression: {error}") from None
    limit = policy.auto_failover_policy.parameters.get("min_limit", 1)
    if not str(limit).strip().isdigit():
        where = json_path(("isolation", name, "auto_failover_policy", "parameters", "min_limit"))
        raise InputError(f"{path}: {where} is {limit!r}; it must be a whole number")
