"""Layouts and bundles of numbers: named, looked up and split as Pulsar does, and refused where Pulsar refuses them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fencepost.model.pulsar.hash_range.boundaries import FULL, HashRange

NAME = re.compile(r"0x([0-9a-fA-F]{1,16})_0x([0-9a-fA-F]{1,16})")
MOST_BUNDLES = 2**31 - 1
"""The number of bundles of a new namespace is an int."""


class Refused(ValueError):
    """A layout, a bundle or a split that Pulsar refuses with an IllegalArgumentException; the message says why."""


def topic_hash(name: str) -> int:
    """The hash of a topic by its full name (``persistent://tenant/namespace/topic-partition-0``): CRC-32 of its UTF-8.

    Mirrors NamespaceBundleFactory.getLongHashCode with Guava's Hashing.crc32.
    """
    return zlib.crc32(name.encode("utf-8", "replace"))


def given_boundaries(texts: Sequence[str], hashes: HashRange = FULL) -> tuple[int, ...]:
    """The boundaries that a user gives for a new namespace, such as ``0x40000000``, as they are stored.

    Mirrors NamespacesBase.validateBundlesData, which sorts them as text: one that is greater than the last hash has more digits
    and passes between those that it looks like. Raises Refused if a text is no number, or the first and the last as text are
    not those of the hash range.
    """
    try:
        written = sorted({f"0x{int(text, 0):08x}" for text in texts})
    except ValueError as error:
        raise Refused(f"a boundary is not a number: {error}") from None
    if written[:1] != ["0x00000000"] or written[-1] != f"0x{hashes.last:08x}":
        raise Refused(f"the boundaries do not reach from 0x00000000 to 0x{hashes.last:08x}")
    return tuple(int(text, 16) for text in written)


class Bundle(NamedTuple):
    """A bundle by its boundaries; ``str`` gives the name by which Pulsar knows it within its namespace."""

    lower: int
    upper: int

    def __str__(self) -> str:
        return f"0x{self.lower:08x}_0x{self.upper:08x}"

    @classmethod
    def parse(cls, name: str) -> Bundle:
        """The bundle of that name, with or without a namespace before it; Refused if it is no such name."""
        match = NAME.fullmatch(name.rpartition("/")[2])
        if not match:
            raise Refused(f"{name!r} does not name a bundle; write one such as 0x00000000_0x40000000")
        return cls(int(match[1], 16), int(match[2], 16))


@dataclass(frozen=True)
class Layout:
    """The bundles of a namespace: ``boundaries`` of ``hashes``, one more than there are bundles.

    Raises Refused where the constructors of NamespaceBundles and NamespaceBundle do. Like them it does not look at the first
    boundary.
    """

    boundaries: tuple[int, ...]
    hashes: HashRange = FULL

    def __post_init__(self) -> None:
        if len(self.boundaries) < 2:
            raise Refused("a layout has at least two boundaries")
        for place, bundle in enumerate(self.bundles):
            if not self.hashes.accepts(bundle.lower, bundle.upper, place == len(self) - 1):
                raise Refused(
                    f"bundle {bundle}: each must hold some hash, and the last, and no other, end at 0x{self.hashes.last:08x}"
                )

    @classmethod
    def of_equal_bundles(cls, count: int, hashes: HashRange = FULL) -> Layout:
        """The layout of a new namespace with ``count`` bundles; ValueError unless 1 <= count <= 2^31 - 1."""
        if not 1 <= count <= min(MOST_BUNDLES, (hashes.last + 1) // 2):
            raise ValueError(f"a namespace cannot begin with {count} bundles")
        return cls(tuple(hashes.equal(count, index) for index in range(count + 1)), hashes)

    def __len__(self) -> int:
        return len(self.boundaries) - 1

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """The bundles in the order of their hashes."""
        return tuple(map(Bundle, self.boundaries, self.boundaries[1:]))

    def find(self, hash: int) -> Bundle | None:
        """The bundle in which a topic of this hash is looked up; None if the lookup ends outside the layout."""
        low, high, is_hit = 0, len(self), False
        while low <= high and not is_hit:
            middle, is_hit, further, nearer = self.hashes.narrowed(self.boundaries.__getitem__, low, high, hash)
            low, high = (middle, high) if is_hit else (further, nearer)
        place = self.hashes.place(is_hit, low, len(self))
        return self.bundles[place] if 0 <= place < len(self) else None

    def split(self, bundle: Bundle, inside: Sequence[int]) -> Layout | None:
        """The layout with the bundle cut at these boundaries; None if it has no such bundle.

        Raises Refused, as NamespaceBundleFactory.splitBundles and the constructors do, if the bundle is too small, if the first
        or the final boundary is not strictly inside it, or if the boundaries do not rise.
        """
        if not self.hashes.splittable(*bundle):
            raise Refused(f"bundle {bundle} is too small to be split")
        if not self.hashes.admits(*bundle, inside[0], inside[-1]):
            raise Refused(f"0x{inside[0]:08x} to 0x{inside[-1]:08x} is not strictly inside bundle {bundle}")
        if bundle not in self.bundles:
            return None
        place, more = self.bundles.index(bundle), len(inside)
        boundaries = (
            self.hashes.spliced(self.boundaries.__getitem__, place, inside.__getitem__, more, index)
            for index in range(len(self.boundaries) + more)
        )
        return Layout(tuple(boundaries), self.hashes)
