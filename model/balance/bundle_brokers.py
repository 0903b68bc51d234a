"""Where AvgShedder means bundles to go, kept as it keeps that: from 4.0.8 on by what a bundle carries, not by its name.

Mirrors ``bundleBrokerMap`` of AvgShedder, a HashMap whose keys are BundleData. These are compared by content (Lombok's equals
and hashCode), and each report changes the content of a key while its place in the table stays. So bundles with equal averages
share an entry, and an entry whose bundle was reported since is found no more. Before 4.0.8 BundleData has no equals: a key is
found by the object, which is a bundle's for as long as the leader has its averages.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fencepost.model.balance.averages import never_seen
from fencepost.model.balance.java import string_hash
from fencepost.model.balance.load_data import BundleData, TimeAverageMessageData

PRIME, NULL = 59, 43
Content = bytes
"""All that equals looks at, in the order of hashCode: the count of topics, then both averages."""

_AVERAGE = struct.Struct(">ii4d")
_INT = struct.Struct(">i")


def content_of(data: BundleData) -> Content:
    """What a bundle's data are equal by. Doubles by Double.compare: NaN equals NaN, 0.0 is not -0.0."""
    return _INT.pack(data.topics) + _average(data.shortTermData) + _average(data.longTermData)


def hash_code(content: Content) -> int:
    """BundleData.hashCode, as 32 bits without a sign."""
    (topics,) = _INT.unpack(content[:4])
    result: int = PRIME + topics
    for start in (4, 4 + _AVERAGE.size):
        most, samples, *rates = struct.unpack(">ii4q", content[start : start + _AVERAGE.size])
        average = (PRIME + most) * PRIME + samples
        for bits in rates:
            average = average * PRIME + ((bits & 0xFFFFFFFFFFFFFFFF) >> 32 ^ bits)
        result = result * PRIME + average
    return result & 0xFFFFFFFF


def _average(average: TimeAverageMessageData) -> bytes:
    rates = (average.msgThroughputIn, average.msgThroughputOut, average.msgRateIn, average.msgRateOut)
    return _AVERAGE.pack(average.maxSamples, average.numSamples, *(math.nan if math.isnan(rate) else rate for rate in rates))


@dataclass(frozen=True)
class Entry:
    """An entry of the table: whose data are its key, what these are now, and the broker, or those of which one was drawn.

    ``follows``: the leader still has these data, so that reports change them.
    """

    bundle: str
    content: Content
    brokers: tuple[str, ...]
    follows: bool = True


@dataclass(frozen=True)
class BundleBrokers:
    """The table. ``entries`` are by the hash code that the key had when it was put in; the first that fits is found.

    ``by_object``: a bundle is found by the object that has its averages, not by their content. Its name stands for it here.
    """

    entries: Mapping[int, tuple[Entry, ...]] = field(default_factory=dict)
    bundles: Mapping[str, BundleData] = field(default_factory=dict, repr=False, compare=False)
    by_object: bool = False

    def reported(self, bundles: Mapping[str, BundleData], *, by_object: bool = False) -> BundleBrokers:
        """The table once the leader has these averages. Data of a bundle that it has no more stay as they were."""
        if bundles is self.bundles:
            return self
        entries = {}
        for hash, chain in self.entries.items():
            if by_object:
                entries[hash] = tuple(entry for entry in chain if entry.bundle in bundles)
            else:
                entries[hash] = tuple(_reported(entry, bundles) for entry in chain)
        return BundleBrokers(entries, bundles, by_object)

    def get(self, bundle: str) -> Entry | None:
        """The entry that is found for a bundle; None if there is none."""
        content = self._content(bundle)
        return next((entry for entry in self._chain(content) if entry.content == content), None)

    def put(self, bundle: str, brokers: tuple[str, ...]) -> BundleBrokers:
        """The table with a broker for a bundle. An entry that is found keeps its key."""
        content = self._content(bundle)
        chain, found = self._chain(content), self.get(bundle)
        if found is None:
            chain = (*chain, Entry(bundle, content, brokers))
        else:
            chain = tuple(replace(entry, brokers=brokers) if entry is found else entry for entry in chain)
        return replace(self, entries={**self.entries, self._hash(content): chain})

    def _content(self, bundle: str) -> Content:
        if self.by_object:
            return bundle.encode()
        return content_of(self.bundles[bundle] if bundle in self.bundles else never_seen())

    def _chain(self, content: Content) -> tuple[Entry, ...]:
        return self.entries.get(self._hash(content), ())

    def _hash(self, content: Content) -> int:
        return string_hash(content.decode()) if self.by_object else hash_code(content)


def _reported(entry: Entry, bundles: Mapping[str, BundleData]) -> Entry:
    if not entry.follows:
        return entry
    if entry.bundle not in bundles:
        return replace(entry, follows=False)
    return replace(entry, content=content_of(bundles[entry.bundle]))
