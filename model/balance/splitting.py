"""Which bundles are split without being asked, and where each algorithm cuts them.

Mirrors BundleSplitterTask (modular load manager) and DefaultNamespaceBundleSplitStrategyImpl (extensible) of pulsar-broker.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import Amount, Figure, LoadData, Size, namespace_of, sizes
from fencepost.model.balance.wording import MIB
from fencepost.model.java_numbers import int_of
from fencepost.model.pulsar.hash_range import FULL, Bundle, Refused, TopicLoad, topic_hash
from fencepost.model.pulsar.hash_range import algorithms as cuts

FEWEST_TOPICS = 2
RATES: tuple[Figure, ...] = ("rate", "throughput")


@dataclass(frozen=True)
class Topic:
    """A topic of a bundle: its hash, or the full name that gives it, and its rates."""

    name: str | None = None
    hash: int | None = None
    msgRateIn: Amount = 0.0
    msgRateOut: Amount = 0.0
    msgThroughputIn: Amount = 0.0
    msgThroughputOut: Amount = 0.0

    @property
    def load(self) -> TopicLoad:
        """The topic as the split algorithms see it."""
        place = topic_hash(self.name or "") if self.hash is None else self.hash
        return TopicLoad(place, self.msgRateIn + self.msgRateOut, self.msgThroughputIn + self.msgThroughputOut)


@dataclass(frozen=True)
class Split:
    """A bundle that is to be split and the reason; the boundaries come from an algorithm."""

    bundle: str
    reason: str


def boundaries(
    algorithm: str,
    bundle: Bundle,
    topics: Sequence[Topic],
    conf: Configuration,
    positions: Sequence[int] = (),
    *,
    force: bool = False,
) -> tuple[list[int] | None, str]:
    """Where the algorithm cuts a bundle, or None and the reason; topics outside the bundle are passed over.

    Raises Refused, as Pulsar does, for a bundle that is too small, or boundaries that are not strictly inside or not all
    different.
    """
    if not FULL.splittable(*bundle):
        raise Refused(f"bundle {bundle} is too small to be split")
    inside = [topic.load for topic in topics if FULL.contains(*bundle, topic.load.hash)]
    cuts = _cut(algorithm, bundle, inside, conf, positions, force)
    if not cuts:
        return None, _no_cut(algorithm, inside, force)
    if not FULL.admits(*bundle, cuts[0], cuts[-1]):
        raise Refused(f"{algorithm} cuts at {', '.join(f'0x{cut:08x}' for cut in cuts)}, not strictly inside {bundle}")
    twice = next((cut for cut, following in pairwise(cuts) if cut == following), None)
    if twice is not None:
        raise Refused(f"{algorithm} cuts twice at 0x{twice:08x}, which leaves a bundle without a hash")
    return cuts, ""


def _cut(
    algorithm: str,
    bundle: Bundle,
    topics: list[TopicLoad],
    conf: Configuration,
    positions: Sequence[int],
    force: bool,
) -> list[int] | None:
    if algorithm == cuts.RANGE:
        return cuts.range_equally_divide(bundle)
    if algorithm == cuts.TOPIC_COUNT:
        return cuts.topic_count_equally_divide([topic.hash for topic in topics])
    if algorithm == cuts.POSITIONS:
        return cuts.specified_positions_divide(bundle, positions, len(topics), force=force)
    return cuts.flow_or_qps_equally_divide(
        topics,
        most_rate=conf.loadBalancerNamespaceBundleMaxMsgRate,
        most_mebibytes=conf.loadBalancerNamespaceBundleMaxBandwidthMbytes,
        threshold_percentage=conf.flowOrQpsDifferenceThresholdPercentage,
    )


def _no_cut(algorithm: str, topics: Sequence[TopicLoad], force: bool) -> str:
    if len(topics) <= 1 and not force:
        return f"{algorithm} needs two topics, and the bundle has {len(topics)}"
    if algorithm == cuts.POSITIONS:
        return "none of the positions is strictly inside the bundle"
    return "the bundle's load is not far enough above the maximum, or is on one hash"


def most(conf: Configuration) -> Size:
    """The size that a bundle may have and not be too large.

    The most bytes per second are a product of ints, as upstream: from 2048 MiB/s on it overflows, so that a bundle of any
    bandwidth may be too large.
    """
    sessions = conf.loadBalancerNamespaceBundleMaxSessions
    return Size(
        conf.loadBalancerNamespaceBundleMaxTopics,
        sessions if sessions > 0 else math.inf,
        conf.loadBalancerNamespaceBundleMaxMsgRate,
        int_of(conf.loadBalancerNamespaceBundleMaxBandwidthMbytes * MIB),
    )


def too_large(sizes: NDArray[np.float64], bounds: Size) -> NDArray[np.bool_]:
    """Which of many bundles are too large: strictly above the most of something. ``sizes`` has a column for each."""
    return np.asarray((sizes > np.array(bounds)[:, None]).any(axis=0))


def excess(size: Size, bounds: Size) -> str:
    """By what a bundle is too large, the first of topics, sessions, rate and bandwidth."""
    if size.topics > bounds.topics:
        return f"{size.topics} topics are more than {bounds.topics}"
    if size.sessions > bounds.sessions:
        return f"{size.sessions} sessions are more than {bounds.sessions}"
    if size.rate > bounds.rate:
        return f"{size.rate:g} msg/s are more than {bounds.rate}"
    return f"{size.throughput / MIB:g} MiB/s are more than {bounds.throughput // MIB}"


def bundles_to_split(data: LoadData, conf: Configuration, among: Collection[str] | None = None) -> list[Split]:
    """What the leader of the modular load manager splits now.

    It judges topics and sessions by the last statistics, rates and bandwidth by the long-term averages (0 where there are
    none). A namespace gets no more bundles than its maximum; of the splits of this pass all count that are thought of, also of
    a bundle that cannot be split, and one that two reports have twice; in 2.10 none counts. How many bundles it has is taken
    from the snapshot: those that it speaks of. ``among`` are brokers of which it is known that no other has one to split.
    """
    bounds, planned = most(conf), Counter[str]()
    splits: dict[str, Split] = {}
    for broker in data.reports:
        if among is not None and broker not in among:
            continue
        stats = data.stats_of(broker)
        averages = (data.columns.of("longTermData", figure, stats) for figure in RATES)
        judged = np.vstack([sizes(stats)[:2], *averages])
        for place in np.flatnonzero((judged[0] >= FEWEST_TOPICS) & too_large(judged, bounds)).tolist():
            bundle = list(stats)[place]
            if _has_room(bundle, planned, data, conf):
                planned[namespace_of(bundle)] += 0 if conf.is_2_10 else 1
                rate, throughput = judged[2:, place].tolist()
                size = Size.of(stats[bundle])._replace(rate=rate, throughput=throughput)
                splits[bundle] = Split(bundle, excess(size, bounds))
    return [split for split in splits.values() if is_splittable(split.bundle)]


Cut = Callable[[Split], bool]
"""Whether the algorithm cuts a bundle in two, as far as is known."""


@dataclass(frozen=True)
class SplitStrategy:
    """How the brokers of the extensible load manager split, each its own bundles. Each remembers hits in a row for each bundle.

    A bundle is split after more hits than the threshold. It judges all by the last statistics. A most of 0 splits in a cycle is
    none that is ever reached. A bundle that the algorithm does not cut at exactly one boundary keeps its hits.
    """

    hits: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def bundles_to_split(
        self,
        data: LoadData,
        conf: Configuration,
        splitting: Sequence[str] = (),
        cut: Cut = lambda split: True,
        among: Collection[str] | None = None,
    ) -> tuple[list[Split], SplitStrategy]:
        """What is split now, and the strategy of the next round. ``splitting`` are bundles whose split is under way:

        a bundle is passed over that shares its lower or its upper boundary with one of them, of a namespace whose name begins
        with that of its own. ``among`` are brokers of which it is known that no other has one to split, or hits.
        """
        splits: list[Split] = []
        bounds, following = most(conf), dict[tuple[str, str], int]()
        for broker in data.brokers if among is None else [broker for broker in data.brokers if broker in among]:
            report = data.brokers[broker]
            if report is None:
                continue
            stats, planned, own = data.stats_of(broker), Counter[str](), 0
            large = set(compress(stats, too_large(sizes(stats), bounds).tolist()))
            hits = {bundle: count for (where, bundle), count in self.hits.items() if where == broker and bundle in stats}
            concerned = large.union(hits)
            for bundle in [bundle for bundle in stats if bundle in concerned]:
                if stats[bundle].topics < FEWEST_TOPICS or bundle not in report.owned or not is_splittable(bundle):
                    continue
                hits[bundle] = hits.get(bundle, 0) + 1 if bundle in large else 0
                if hits[bundle] <= conf.loadBalancerNamespaceBundleSplitConditionHitCountThreshold:
                    continue
                if not _has_room(bundle, planned, data, conf) or any(_share_a_bound(bundle, other) for other in splitting):
                    continue
                split = Split(bundle, excess(Size.of(stats[bundle]), bounds))
                if not cut(split):
                    continue
                planned[namespace_of(bundle)] += 1
                hits[bundle] = 0
                own += 1
                splits.append(split)
                if own == conf.loadBalancerMaxNumberOfBundlesToSplitPerCycle:
                    break
            following |= {(broker, bundle): count for bundle, count in hits.items() if count}
        return splits, SplitStrategy(following)


def _share_a_bound(bundle: str, other: str) -> bool:
    one, two = Bundle.parse(bundle), Bundle.parse(other)
    return other.startswith(namespace_of(bundle)) and (one.lower == two.lower or one.upper == two.upper)


def _has_room(bundle: str, planned: Counter[str], data: LoadData, conf: Configuration) -> bool:
    """Whether the bundle's namespace may have one more, after the splits that are planned already."""
    namespace = namespace_of(bundle)
    return data.bundle_counts[namespace] + planned[namespace] < conf.loadBalancerNamespaceMaximumBundles


def is_splittable(bundle: str) -> bool:
    """Whether the name is one of a bundle that has room for a boundary."""
    try:
        return bool(FULL.splittable(*Bundle.parse(bundle)))
    except Refused:
        return False
