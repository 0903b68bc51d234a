"""A stretch of a cluster's history as the world of a simulation, and as a run of its own: what really happened in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fencepost.checks.history.reports import Reports, Row, number, placed, whole
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import namespace_of
from fencepost.model.balance.simulation.run import Action, Kind, Run
from fencepost.model.balance.simulation.scenario import Event, Pauses, Scenario
from fencepost.model.balance.simulation.snapshot_cluster import Pictured
from fencepost.model.balance.simulation.workload import Recorded
from fencepost.model.pulsar.hash_range import FULL, Bundle

DECISIONS = ("time", "kind", "bundle", "from", "to", "reason")
"""The columns of decisions that a window needs."""


@dataclass(frozen=True)
class Window:
    """The loads and decisions of a cluster from ``start`` (microseconds since 1970) on, for so many minutes."""

    start: int
    minutes: int
    loads: pa.Table
    decisions: pa.Table

    @cached_property
    def reports(self) -> Reports:
        """What brokers reported in it."""
        return Reports(self.start, self.loads)

    @property
    def events(self) -> tuple[Event, ...]:
        """Brokers that came and that went, as far as their reports show it."""
        return self.reports.events

    def scenario(self, name: str) -> Scenario:
        """The world: the cluster of the first reports, the rates as they were, brokers that come and go. Raises NoWindow."""
        snapshot = self.reports.snapshot()
        source = Pictured(snapshot)
        cluster = source.cluster(np.random.default_rng(0))
        return Scenario(name, source, (self._course(cluster.bundles, cluster.topics.bundle, cluster.topics.hash),), self.events)

    def _course(self, names: Sequence[str], bundle: NDArray[np.intp], hashes: NDArray[np.int64]) -> Recorded:
        """What each topic carries: its share of the bundle that its hash was in, at each time of which there are reports."""
        by_namespace = _by_namespace(names, bundle, hashes)
        rates, layout = list[NDArray[np.float64]](), list[str]()
        within = cache(lambda name: _inside(name, by_namespace, hashes))
        carried = np.zeros((4, len(hashes)))
        for minute in self.reports.times:
            rows = self.reports.bundles[minute]
            if list(rows) != layout:
                layout = list(rows)
                inside = [within(name) for name in layout]
                counts = np.array([len(topics) for topics in inside], dtype=np.intp)
                topics = np.concatenate([*inside, np.zeros(0, dtype=np.intp)])
            shares = self.reports.rates[[whole(row["place"]) for row in rows.values()]] / np.maximum(counts, 1)[:, None]
            carried = carried.copy()
            carried[:, topics] = np.repeat(shares, counts, axis=0).T  # where bundles overlap, the later one
            rates.append(carried)
        return Recorded(tuple(self.reports.times), np.array(rates))

    def happened(self, conf: Configuration) -> Run:
        """What the cluster did, as a run: its brokers' usages, its decisions, and the changes that only reports show."""
        brokers = tuple(self.reports.reports)
        place = {broker: number for number, broker in enumerate(brokers)}
        usage, rate, throughput = (np.full((self.minutes, len(brokers)), np.nan) for _ in range(3))
        bundles, assignment = np.zeros(self.minutes, np.int64), np.zeros(self.minutes, np.uint64)
        until = [*self.reports.times[1:], self.minutes]
        for minute, end in zip(self.reports.times, until, strict=True):
            begin = 0 if minute == self.reports.times[0] else minute
            for broker, row in self.reports.brokers[minute].items():
                usages = [number(row[name]) for name in ("cpu", "bandwidth_in", "bandwidth_out") if row[name] is not None]
                usage[begin:end, place[broker]] = max(usages, default=np.nan) / 100
                rate[begin:end, place[broker]] = number(row["msg_rate_in"]) + number(row["msg_rate_out"])
                throughput[begin:end, place[broker]] = number(row["msg_throughput_in"]) + number(row["msg_throughput_out"])
            bundles[begin:end] = len(self.reports.bundles[minute])
        owners = {bundle: str(row["broker"]) for bundle, row in self.reports.bundles[self.reports.first].items()}
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

    def _decided(self) -> Iterator[Row]:
        """The decisions, each once: a log and a snapshot may tell one and the same, of which the first has the brokers."""
        keys = [("time", "ascending"), ("bundle", "ascending"), ("to", "ascending")]
        known = defaultdict[tuple[str, str], list[int]](list)
        rows = placed(self.decisions.sort_by(keys), self.start)
        for row in sorted(rows, key=lambda row: row["from"] is None):
            at, minute = known[str(row["kind"]), str(row["bundle"])], whole(row["minute"])
            if row["from"] is not None or all(abs(minute - other) > 1 for other in at):
                yield row
            at.append(minute)

    def _actions(self) -> list[Action]:
        """The decisions, and the changes of owners and of layouts that no decision tells of."""
        decisions = list(self._decided())
        actions, pauses = list[Action](), Pauses()
        last, topics = dict[str, Row](), dict[str, int]()
        decided = defaultdict[str, list[int]](list)
        for row in decisions:
            decided[str(row["bundle"])].append(whole(row["minute"]))

        went = {(broker, minute) for broker, minute, _ in self.reports.absences}

        def seen(minute: int, kind: Kind, bundle: str, to: str) -> None:
            source, before, count = str(last[bundle]["broker"]), whole(last[bundle]["minute"]), topics[bundle]
            if (source, before) in went:  # nobody decided that
                actions.append(Action(minute, "assign", bundle, "", to, "seen in the reports", topics=count))
            elif not any(before <= at <= minute for at in decided[bundle]):
                actions.append(Action(minute, kind, bundle, source, to, "seen in the reports", pauses.of_unload(count), count))

        for minute in self.reports.times:
            now = self.reports.bundles[minute]
            for bundle, row in now.items():
                broker, topics[bundle] = str(row["broker"]), int(number(row["topics"]))
                if bundle in last and last[bundle]["broker"] != broker:
                    seen(minute, "unload", bundle, broker)
                last[bundle] = row
            for bundle in [bundle for bundle in last if bundle not in now and _parts_of(bundle, now)]:
                seen(minute, "split", bundle, "")
                del last[bundle]
        for row in decisions:
            bundle, kind = str(row["bundle"]), str(row["kind"])
            if kind in ("unload", "split"):
                count = topics.get(bundle, 0)
                seconds = pauses.of_unload(count)
                source, to, reason = (str(row[name] or "") for name in ("from", "to", "reason"))
                actions.append(Action(whole(row["minute"]), kind, bundle, source, to, reason, seconds, count))  # type: ignore[arg-type]
        return sorted(actions, key=lambda action: (action.minute, action.bundle))


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
