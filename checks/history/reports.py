"""The reports of brokers in a stretch of a cluster's history: which stand at which minute, who came and who went."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest
from statistics import median
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

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
from fencepost.model.balance.simulation.scenario import Event
from fencepost.model.pulsar.hash_range import Bundle

MINUTE = 60_000_000
"""Microseconds."""
MISSED = 2
"""Reports in a row that a broker misses when it has gone, or had not come yet."""
UNCHANGED = 15
"""Minutes between two reports of a broker whose load hardly changes: Pulsar's loadBalancerReportUpdateMaxIntervalMinutes."""
ONE_NAME = "brokers have one name in snapshots and another in metrics; ingest one of these, or relabel instance"

RATES = ("msg_rate_in", "msg_rate_out", "msg_throughput_in", "msg_throughput_out")
COUNTS = ("topics", "producers", "consumers")
USAGES = ("cpu", "memory", "direct_memory", "bandwidth_in", "bandwidth_out", "bandwidth_in_limit", "bandwidth_out_limit")
LOADS = ("time", "reported", "broker", "bundle", *RATES, *COUNTS, *USAGES)
"""The columns of loads that a window needs."""

Row: TypeAlias = dict[str, float | int | str | None]


class NoWindow(Exception):
    """A stretch with too few reports for a world; the message says what is missing."""


@dataclass(frozen=True)
class Reports:
    """The rows of the table loads since ``start``, in microseconds since 1970; the times below are minutes since then."""

    start: int
    loads: pa.Table

    @cached_property
    def _sorted(self) -> pa.Table:
        return self.loads.sort_by([("time", "ascending"), ("broker", "ascending"), ("bundle", "ascending")])

    @cached_property
    def _rows(self) -> list[Row]:
        return placed(self._sorted, self.start)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """What each row carries, by its place; 0 where no report says it."""
        return np.column_stack([self._sorted[name].fill_null(0.0).to_numpy() for name in RATES])

    @cached_property
    def times(self) -> list[int]:
        """When there are reports, in minutes."""
        return sorted({whole(row["minute"]) for row in self._rows})

    @cached_property
    def reports(self) -> dict[str, dict[int, list[Row]]]:
        """The rows of each broker, by the minute of its report."""
        found = defaultdict[str, dict[int, list[Row]]](dict)
        for row in self._rows:
            found[str(row["broker"])].setdefault(whole(row["minute"]), []).append(row)
        return dict(sorted(found.items()))

    @cached_property
    def _gaps(self) -> dict[str, int]:
        """The minutes between two reports of each broker, as usual, or as they may be where it reports what has changed."""
        own = {broker: [end - begin for begin, end in pairwise(reports)] for broker, reports in self.reports.items()}
        usual = round(median([gap for gaps in own.values() for gap in gaps] or [1]))
        by_itself = set(self.loads.filter(pc.equal(self.loads["time"], self.loads["reported"]))["broker"].to_pylist())
        return {
            broker: max(round(median(gaps)) if gaps else usual, UNCHANGED if broker in by_itself else 0)
            for broker, gaps in own.items()
        }

    @cached_property
    def _standing(self) -> dict[int, list[Row]]:
        """At each time the rows of the last report of each broker, the latest report last.

        Brokers do not report at one time. A report stands until the next one of its broker, also if one is missing in between,
        and a first one from the beginning on, if its broker was there then.
        """
        standing: dict[int, list[tuple[int, list[Row]]]] = {minute: [] for minute in self.times}
        for broker, reports in self.reports.items():
            gap, first = self._gaps[broker], next(iter(reports))
            for minute, following in zip_longest(reports, list(reports)[1:]):
                is_next = following is not None and following - minute <= MISSED * gap
                since = self.times[0] if minute == first < self.times[0] + MISSED * gap else minute
                begin, end = (bisect_left(self.times, each) for each in (since, following if is_next else minute + gap))
                for time in self.times[begin:end]:
                    standing[time].append((minute, reports[minute]))
        return {
            time: [row for _, rows in sorted(reports, key=lambda report: report[0]) for row in rows]
            for time, reports in standing.items()
        }

    @cached_property
    def bundles(self) -> dict[int, dict[str, Row]]:
        """The rows of bundles, by minute: of two that speak of one bundle the later, by the name of the broker."""
        return {
            minute: {str(row["bundle"]): row for row in rows if row["bundle"] is not None}
            for minute, rows in self._standing.items()
        }

    @cached_property
    def brokers(self) -> dict[int, dict[str, Row]]:
        """The rows of brokers, by minute."""
        return {
            minute: {str(row["broker"]): row for row in rows if row["bundle"] is None}
            for minute, rows in self._standing.items()
        }

    @cached_property
    def first(self) -> int:
        """The first minute with a report of bundles. Raises NoWindow."""
        for minute in self.times:
            if self.bundles[minute] and self.brokers[minute]:
                return minute
        raise NoWindow("no report of a broker with its bundles")

    @cached_property
    def absences(self) -> tuple[tuple[str, int | None, int | None], ...]:
        """Brokers that missed so many reports in a row that they were not there: the minute of the last report before, and of
        the first one after it; None at the begin and the end."""
        found = list[tuple[str, int | None, int | None]]()
        for broker, reports in self.reports.items():
            longest, minutes = MISSED * self._gaps[broker], list(reports)
            if minutes[0] - self.times[0] >= longest:
                found.append((broker, None, minutes[0]))
            for last, following in pairwise(minutes):
                others = bisect_left(self.times, following) - bisect_right(self.times, last)
                if following - last > longest and others >= MISSED:  # else nothing was collected of anybody
                    found.append((broker, last, following))
            if self.times[-1] - minutes[-1] >= longest:
                found.append((broker, minutes[-1], None))
        return tuple(found)

    @property
    def events(self) -> tuple[Event, ...]:
        """Brokers that came and that went."""
        went = [Event(last + self._gaps[broker], "stop", broker) for broker, last, _ in self.absences if last is not None]
        came = [Event(minute, "start", broker) for broker, _, minute in self.absences if minute is not None]
        return tuple(sorted([*went, *came], key=lambda event: (event.minute, event.broker)))

    def snapshot(self) -> Snapshot:
        """What the brokers that were there at the beginning report: each its first report of the first few. Raises NoWindow."""
        reports: dict[str, LocalBrokerData | None] = {}
        owners = dict[str, tuple[str, Row]]()
        others = dict[str, str]()
        brokers = dict[str, Row]()
        late = self.first + MISSED * max(self._gaps.values())
        for row in (row for minute in self.times if self.first <= minute < late for row in self._standing[minute]):
            broker = str(row["broker"])
            if row["bundle"] is None:
                brokers.setdefault(broker, row)
                continue
            bundle = str(row["bundle"])
            if owners.setdefault(bundle, (broker, row))[0] != broker:
                others[bundle] = broker
        if len(others) > len(owners) / 2:
            bundle, other = min(others.items())
            raise NoWindow(f"{owners[bundle][0]} and {other} report the same bundles: {ONE_NAME}")
        owned = defaultdict[str, dict[str, NamespaceBundleStats]](dict)
        for bundle, (broker, row) in _without_parts(owners).items():
            owned[broker][bundle] = _stats(row)
        for broker in sorted({*brokers, *owned}):
            reports[broker] = _report(brokers.get(broker, {}), owned[broker])
        return Snapshot(LoadData(reports, {}, {}, {}, self.start // 1000))


def placed(table: pa.Table, start: int) -> list[Row]:
    """The rows of a table, each with its minute since ``start`` (microseconds since 1970) and its place among them."""
    minutes = ((table["time"].to_numpy() - start) // MINUTE).tolist()
    rows = table.drop_columns([name for name in ("time", "reported") if name in table.column_names]).to_pylist()
    return [{**row, "minute": minute, "place": n} for n, (row, minute) in enumerate(zip(rows, minutes, strict=True))]


def whole(value: object) -> int:
    """A cell that is a whole number."""
    assert isinstance(value, int)
    return value


def number(value: object) -> float:
    """A cell that is a number, or null, which is 0."""
    return float(value) if isinstance(value, int | float) else 0.0


def _stats(row: Row) -> NamespaceBundleStats:
    rates = {key: number(row[column]) for key, column in zip(TRAFFIC, RATES, strict=True)}
    counts = {"consumerCount": "consumers", "producerCount": "producers", "topics": "topics"}
    return record(NamespaceBundleStats, **rates, **{key: int(number(row[name])) for key, name in counts.items()}, cacheSize=0)


def _report(row: Row, owned: Mapping[str, NamespaceBundleStats]) -> LocalBrokerData:
    """A report of a broker, whose row may lack what its bundles tell."""
    cpu, memory, direct = (ResourceUsage(number(row.get(name)), 100.0) for name in ("cpu", "memory", "direct_memory"))
    return LocalBrokerData.of(
        owned, [cpu, memory, direct, *(_network(row, name) for name in ("bandwidth_in", "bandwidth_out"))]
    )


def _network(row: Row, name: str) -> ResourceUsage:
    percent, limit = number(row.get(name)), row.get(f"{name}_limit")
    if limit is None:
        return ResourceUsage(percent, 100.0, "percent")
    return ResourceUsage(percent / 100 * number(limit) / KILOBIT, number(limit) / KILOBIT)


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
