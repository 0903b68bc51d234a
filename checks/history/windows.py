"""A stretch of a cluster's history as the world of a simulation, and as a run of its own: what really happened in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import (
    KILOBIT,
    TRAFFIC,
    LoadData,
    LocalBrokerData,
    NamespaceBundleStats,
    ResourceUsage,
    namespace_of,
)
from fencepost.model.balance.load_manager import Snapshot
from fencepost.model.balance.simulation.records import record
from fencepost.model.balance.simulation.run import Action, Run
from fencepost.model.balance.simulation.scenario import Event, Pauses, Scenario
from fencepost.model.balance.simulation.snapshot_cluster import Pictured
from fencepost.model.balance.simulation.workload import Recorded
from fencepost.model.pulsar.hash_range import FULL, Bundle

MINUTE = 60_000_000
"""Microseconds."""
MISSED = 2
"""Reports in a row that a broker misses when it has gone, or had not come yet."""

RATES = ("msg_rate_in", "msg_rate_out", "msg_throughput_in", "msg_throughput_out")
COUNTS = ("topics", "producers", "consumers")
USAGES = ("cpu", "memory", "direct_memory", "bandwidth_in", "bandwidth_out", "bandwidth_in_limit", "bandwidth_out_limit")
LOADS = ("time", "broker", "bundle", *RATES, *COUNTS, *USAGES)
"""The columns of loads that a window needs."""
DECISIONS = ("time", "kind", "bundle", "from", "to", "reason")

Row: TypeAlias = dict[str, float | int | str | None]


class NoWindow(Exception):
    """A stretch with too few reports for a world; the message says what is missing."""


@dataclass(frozen=True)
class Window:
    """The loads and decisions of a cluster from ``start`` (microseconds since 1970) on, for so many minutes."""

    start: int
    minutes: int
    loads: pa.Table
    decisions: pa.Table

    @cached_property
    def _sorted(self) -> pa.Table:
        return self.loads.sort_by([("time", "ascending"), ("broker", "ascending"), ("bundle", "ascending")])

    @cached_property
    def _rows(self) -> list[Row]:
        return self._placed(self._sorted)

    def _placed(self, table: pa.Table) -> list[Row]:
        """The rows of a table, each with its minute and its place among them."""
        minutes = ((table["time"].to_numpy() - self.start) // MINUTE).tolist()
        rows = table.drop_columns(["time"]).to_pylist()
        return [{**row, "minute": minute, "place": n} for n, (row, minute) in enumerate(zip(rows, minutes, strict=True))]

    @cached_property
    def _rates(self) -> NDArray[np.float64]:
        """What each row carries, by its place; 0 where no report says it."""
        return np.column_stack([self._sorted[name].fill_null(0.0).to_numpy() for name in RATES])

    @cached_property
    def _times(self) -> list[int]:
        """When there are reports, in minutes."""
        return sorted({_whole(row["minute"]) for row in self._rows})

    @cached_property
    def _bundles(self) -> dict[int, dict[str, Row]]:
        """The rows of bundles, by minute: of two that speak of one bundle the later, by the name of the broker."""
        found: dict[int, dict[str, Row]] = {minute: {} for minute in self._times}
        for row in self._rows:
            if row["bundle"] is not None:
                found[_whole(row["minute"])][str(row["bundle"])] = row
        return found

    @cached_property
    def _brokers(self) -> dict[int, dict[str, Row]]:
        """The rows of brokers, by minute."""
        found: dict[int, dict[str, Row]] = {minute: {} for minute in self._times}
        for row in self._rows:
            if row["bundle"] is None:
                found[_whole(row["minute"])][str(row["broker"])] = row
        return found

    @cached_property
    def _first(self) -> int:
        """The first minute with a report of bundles. Raises NoWindow."""
        for minute in self._times:
            if self._bundles[minute] and self._brokers[minute]:
                return minute
        raise NoWindow("no report of a broker with its bundles")

    def _seen(self) -> dict[str, tuple[int, int]]:
        """For each broker the places of its first and last report among the times."""
        seen = dict[str, tuple[int, int]]()
        for place, minute in enumerate(self._times):
            for broker in {*self._brokers[minute], *(str(row["broker"]) for row in self._bundles[minute].values())}:
                seen[broker] = (seen.get(broker, (place, place))[0], place)
        return seen

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Brokers that came and that went, as far as their reports show it."""
        last, events = len(self._times) - 1, list[Event]()
        for broker, (first, end) in sorted(self._seen().items()):
            if first >= MISSED:
                events.append(Event(self._times[first], "start", broker))
            if last - end >= MISSED:
                events.append(Event(self._times[end + 1], "stop", broker))
        return tuple(sorted(events, key=lambda event: (event.minute, event.broker)))

    def scenario(self, name: str) -> Scenario:
        """The world: the cluster of the first reports, the rates as they were, brokers that come and go. Raises NoWindow."""
        snapshot = self._snapshot()
        source = Pictured(snapshot)
        cluster = source.cluster(np.random.default_rng(0))
        return Scenario(name, source, (self._course(cluster.bundles, cluster.topics.bundle, cluster.topics.hash),), self.events)

    def _snapshot(self) -> Snapshot:
        """What the brokers that were there at the beginning report: each its first report of the first few."""
        reports: dict[str, LocalBrokerData | None] = {}
        early = [minute for minute in self._times if minute >= self._first][:MISSED]
        owners = dict[str, tuple[str, Row]]()
        brokers = dict[str, Row]()
        for minute in early:
            for broker, row in self._brokers[minute].items():
                brokers.setdefault(broker, row)
            for bundle, row in self._bundles[minute].items():
                owners.setdefault(bundle, (str(row["broker"]), row))
        owned = defaultdict[str, dict[str, NamespaceBundleStats]](dict)
        for bundle, (broker, row) in _without_parts(owners).items():
            owned[broker][bundle] = _stats(row)
        for broker in sorted({*brokers, *owned}):
            reports[broker] = _report(brokers.get(broker, {}), owned[broker])
        return Snapshot(LoadData(reports, {}, {}, {}, self.start // 1000))

    def _course(self, names: Sequence[str], bundle: NDArray[np.intp], hashes: NDArray[np.int64]) -> Recorded:
        """What each topic carries: its share of the bundle that its hash was in, at each time of which there are reports."""
        by_namespace = _by_namespace(names, bundle, hashes)
        rates, layout, inside = list[NDArray[np.float64]](), list[str](), list[NDArray[np.intp]]()
        carried = np.zeros((4, len(hashes)))
        for minute in self._times:
            rows = self._bundles[minute]
            if list(rows) != layout:
                layout = list(rows)
                inside = [_inside(name, by_namespace, hashes) for name in layout]
                counts = np.array([len(topics) for topics in inside], dtype=np.intp)
                topics = np.concatenate([*inside, np.zeros(0, dtype=np.intp)])
            shares = self._rates[[_whole(row["place"]) for row in rows.values()]] / np.maximum(counts, 1)[:, None]
            carried = carried.copy()
            carried[:, topics] = np.repeat(shares, counts, axis=0).T  # where bundles overlap, the later one
            rates.append(carried)
        return Recorded(tuple(self._times), np.array(rates))

    def happened(self, conf: Configuration) -> Run:
        """What the cluster did, as a run: its brokers' usages, its decisions, and the changes that only reports show."""
        seen = self._seen()
        brokers = tuple(sorted(seen))
        place = {broker: number for number, broker in enumerate(brokers)}
        usage, rate, throughput = (np.full((self.minutes, len(brokers)), np.nan) for _ in range(3))
        bundles, assignment = np.zeros(self.minutes, np.int64), np.zeros(self.minutes, np.uint64)
        until = [*self._times[1:], self.minutes]
        for number, (minute, end) in enumerate(zip(self._times, until, strict=True)):
            begin = 0 if number == 0 else minute
            for broker, row in self._brokers[minute].items():
                usages = [_number(row[name]) for name in ("cpu", "bandwidth_in", "bandwidth_out") if row[name] is not None]
                usage[begin:end, place[broker]] = max(usages, default=np.nan) / 100
                rate[begin:end, place[broker]] = _number(row["msg_rate_in"]) + _number(row["msg_rate_out"])
                throughput[begin:end, place[broker]] = _number(row["msg_throughput_in"]) + _number(row["msg_throughput_out"])
            bundles[begin:end] = len(self._bundles[minute])
        owners = {bundle: str(row["broker"]) for bundle, row in self._bundles[self._first].items()}
        offered = np.nansum(rate, axis=1)
        return Run(
            policy="happened",
            scenario="history",
            seed=0,
            brokers=brokers,
            owners=owners,
            usage=usage,
            rate=rate,
            throughput=throughput,
            offered=offered,
            carried=offered,
            bundles=bundles,
            constant=np.zeros(self.minutes, np.bool_),
            assignment=assignment,
            actions=tuple(self._actions()),
            grace_minutes=conf.loadBalancerSheddingGracePeriodMinutes,
            overload_threshold=conf.overload_threshold,
        )

    def _actions(self) -> list[Action]:
        """The decisions, and the changes of owners and of layouts that no decision tells of."""
        decisions = self._placed(self.decisions.sort_by([("time", "ascending"), ("bundle", "ascending")]))
        actions, pauses = list[Action](), Pauses()
        owner, topics = dict[str, str](), dict[str, int]()
        decided = defaultdict[str, list[int]](list)
        for row in decisions:
            decided[str(row["bundle"])].append(_whole(row["minute"]))
        previous = 0
        for minute in self._times:
            now = self._bundles[minute]
            for bundle, row in now.items():
                broker, count = str(row["broker"]), int(_number(row["topics"]))
                before = owner.get(bundle)
                if before not in (None, broker) and not any(previous <= at <= minute for at in decided[bundle]):
                    seconds = pauses.of_unload(count)
                    actions.append(
                        Action(minute, "unload", bundle, before or "", broker, "seen in the reports", seconds, count)
                    )
                owner[bundle], topics[bundle] = broker, count
            gone = [bundle for bundle in owner if bundle not in now and _parts_of(bundle, now)]
            for bundle in gone:
                if not any(previous <= at <= minute for at in decided[bundle]):
                    seconds = pauses.of_unload(topics[bundle])
                    actions.append(
                        Action(minute, "split", bundle, owner[bundle], "", "seen in the reports", seconds, topics[bundle])
                    )
                del owner[bundle]
            previous = minute
        for row in decisions:
            bundle, kind = str(row["bundle"]), str(row["kind"])
            if kind in ("unload", "split"):
                count = topics.get(bundle, 0)
                seconds = pauses.of_unload(count)
                source, to, reason = (str(row[name] or "") for name in ("from", "to", "reason"))
                actions.append(Action(_whole(row["minute"]), kind, bundle, source, to, reason, seconds, count))  # type: ignore[arg-type]
        return sorted(actions, key=lambda action: (action.minute, action.bundle))


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _stats(row: Row) -> NamespaceBundleStats:
    rates = {key: _number(row[column]) for key, column in zip(TRAFFIC, RATES, strict=True)}
    counts = {"consumerCount": "consumers", "producerCount": "producers", "topics": "topics"}
    return record(NamespaceBundleStats, **rates, **{key: int(_number(row[name])) for key, name in counts.items()}, cacheSize=0)


def _report(row: Row, owned: Mapping[str, NamespaceBundleStats]) -> LocalBrokerData:
    """A report of a broker, whose row may lack what its bundles tell."""
    cpu, memory, direct = (ResourceUsage(_number(row.get(name)), 100.0) for name in ("cpu", "memory", "direct_memory"))
    return LocalBrokerData.of(
        owned, [cpu, memory, direct, *(_network(row, name) for name in ("bandwidth_in", "bandwidth_out"))]
    )


def _network(row: Row, name: str) -> ResourceUsage:
    percent, limit = _number(row.get(name)), row.get(f"{name}_limit")
    if limit is None:
        return ResourceUsage(percent, 100.0, "percent")
    return ResourceUsage(percent / 100 * _number(limit) / KILOBIT, _number(limit) / KILOBIT)


def _without_parts(owners: Mapping[str, tuple[str, Row]]) -> dict[str, tuple[str, Row]]:
    """The bundles without those that overlap a larger one: a split in the first reports is not done yet."""
    kept = dict[str, tuple[str, Row]]()
    taken = defaultdict[str, list[Bundle]](list)
    for name in sorted(owners, key=lambda name: (namespace_of(name), -_width(name), name)):
        bundle = Bundle.parse(name)
        if not any(bundle.lower < other.upper and other.lower < bundle.upper for other in taken[namespace_of(name)]):
            taken[namespace_of(name)].append(bundle)
            kept[name] = owners[name]
    return kept


def _width(name: str) -> int:
    bundle = Bundle.parse(name)
    return bundle.upper - bundle.lower


def _by_namespace(names: Sequence[str], bundle: NDArray[np.intp], hashes: NDArray[np.int64]) -> dict[str, NDArray[np.intp]]:
    """The topics of each namespace, in the order of their hashes."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(map(namespace_of, names)))}
    of_topics = np.array([numbers[namespace_of(name)] for name in names], dtype=np.intp)[bundle]
    order = np.lexsort((hashes, of_topics))
    ends = np.searchsorted(of_topics[order], np.arange(len(numbers) + 1))
    return {name: order[ends[number] : ends[number + 1]] for name, number in numbers.items()}


def _inside(name: str, by_namespace: Mapping[str, NDArray[np.intp]], hashes: NDArray[np.int64]) -> NDArray[np.intp]:
    """The topics whose hashes are in a bundle; the last one of a namespace is closed above."""
    bundle, topics = Bundle.parse(name), by_namespace.get(namespace_of(name), np.zeros(0, dtype=np.intp))
    low, high = np.searchsorted(hashes[topics], [bundle.lower, bundle.upper + (bundle.upper == FULL.last)])
    return topics[low:high]


def _parts_of(name: str, now: Mapping[str, Row]) -> bool:
    """Whether a bundle is there only in parts."""
    whole, namespace = Bundle.parse(name), namespace_of(name)
    prefix = f"{namespace}/0x{whole.lower:08x}_"
    return any(other.startswith(prefix) for other in now)
