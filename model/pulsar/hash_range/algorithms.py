"""The four split algorithms of Pulsar: at which boundaries each would cut a bundle, or None if it sees no reason or no place.

They answer before ``Layout.split`` has checked anything, so what they answer may be refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import NamedTuple

from fencepost.model.pulsar.hash_range.boundaries import FULL, HashRange
from fencepost.model.pulsar.hash_range.layout import Bundle

RANGE = "range_equally_divide"
TOPIC_COUNT = "topic_count_equally_divide"
POSITIONS = "specified_positions_divide"
FLOW = "flow_or_qps_equally_divide"
ALGORITHMS = (RANGE, TOPIC_COUNT, POSITIONS, FLOW)
"""NamespaceBundleSplitAlgorithm.AVAILABLE_ALGORITHMS, in its order."""

MEBIBYTE = 1024 * 1024


class TopicLoad(NamedTuple):
    """What flow_or_qps_equally_divide knows of a topic: its hash, messages per second and bytes per second, in and out."""

    hash: int
    rate: float
    throughput: float


def range_equally_divide(bundle: Bundle, hashes: HashRange = FULL) -> list[int]:
    """Cuts in the middle of the bundle. Mirrors RangeEquallyDivideBundleSplitAlgorithm."""
    return [hashes.midpoint(*bundle)]


def topic_count_equally_divide(topics: Sequence[int], hashes: HashRange = FULL) -> list[int] | None:
    """Cuts midway between the two middle ones of the topics' hashes.

    Mirrors TopicCountEquallyDivideBundleSplitAlgorithm.
    """
    if len(topics) <= 1:
        return None
    ordered = sorted(topics)
    return [hashes.midpoint(ordered[len(ordered) // 2 - 1], ordered[len(ordered) // 2])]


def specified_positions_divide(
    bundle: Bundle, positions: Sequence[int], topics: int, *, force: bool = False, hashes: HashRange = FULL
) -> list[int] | None:
    """Cuts at those of the positions that lie strictly inside, if there are two topics or more, or if forced.

    Mirrors SpecifiedPositionsBundleSplitAlgorithm, which keeps duplicates. Raises ValueError if there are no positions.
    """
    if not positions:
        raise ValueError("there are no positions to split at")
    if topics <= 1 and not force:
        return None
    return [position for position in sorted(positions) if hashes.keeps(*bundle, position)] or None


def flow_or_qps_equally_divide(
    topics: Sequence[TopicLoad],
    *,
    most_rate: int = 30_000,
    most_mebibytes: int = 100,
    threshold_percentage: int = 10,
    hashes: HashRange = FULL,
) -> list[int] | None:
    """Cuts so that no part has more than so many messages or mebibytes per second, where no single topic has more.

    Only if the bundle exceeds one of them by the threshold. Mirrors FlowOrQpsEquallyDivideBundleSplitAlgorithm, in which the
    loads of topics with equal hashes overwrite each other: each of them counts with the load of the last.
    """
    if len(topics) <= 1:
        return None
    busy = [topic for topic in topics if topic.rate > 0 or topic.throughput > 0]
    load = {topic.hash: topic for topic in busy}
    most_bytes, slack = most_mebibytes * MEBIBYTE, 1 + threshold_percentage / 100.0
    light = _sum(t.rate for t in busy) < most_rate * slack and _sum(t.throughput for t in busy) < most_bytes * slack
    if len(load) < 2 or light:
        return None
    ordered = sorted(topic.hash for topic in busy)
    boundaries = []
    rate, throughput = load[ordered[0]].rate, load[ordered[0]].throughput
    for before, hash in pairwise(ordered):
        next_rate, next_throughput = load[hash].rate, load[hash].throughput
        if (
            rate > most_rate
            or throughput > most_bytes
            or rate + next_rate > most_rate
            or throughput + next_throughput > most_bytes
        ):
            boundaries.append(hashes.behind_midpoint(before, hash))
            rate, throughput = next_rate, next_throughput
        else:
            rate, throughput = rate + next_rate, throughput + next_throughput
    return boundaries


def _sum(values: Iterable[float]) -> float:
    """One after the other, as Java adds them; Python's own sum makes up for rounding."""
    return reduce(add, values, 0.0)
