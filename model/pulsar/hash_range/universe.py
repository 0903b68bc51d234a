"""The bundles that a small hash range can have, numbered, so that any set of them is a layout: with gaps and overlaps, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from fencepost.model.pulsar.hash_range.algorithms import RANGE
from fencepost.model.pulsar.hash_range.boundaries import HashRange
from fencepost.model.pulsar.hash_range.layout import Bundle, Layout


@dataclass(frozen=True)
class Bundles:
    """The bundles of ``hashes`` that the split algorithm can lead to from ``first``, the bundles of a new namespace.

    By range_equally_divide a bundle has one boundary at which it can be cut; by the other algorithms any inside may come out,
    and these are all bundles that there are. Members are numbers, in the order of ``members``.
    """

    hashes: HashRange
    algorithm: str
    first: tuple[Bundle, ...]
    members: tuple[Bundle, ...]

    @classmethod
    def of(cls, hashes: HashRange, algorithm: str, count: int) -> Bundles:
        """Those of a namespace that begins with ``count`` bundles; ValueError unless the range can be cut into so many."""
        first = Layout.of_equal_bundles(count, hashes).bundles
        if algorithm != RANGE:
            bundles = [Bundle(*ends) for ends in combinations(range(hashes.last + 1), 2)]
        else:
            bundles = list(first)
            for bundle in bundles:
                middle = hashes.midpoint(*bundle)
                if hashes.splittable(*bundle):
                    bundles += [Bundle(bundle.lower, middle), Bundle(middle, bundle.upper)]
        return cls(hashes, algorithm, first, tuple(sorted(bundles)))

    @property
    def names(self) -> list[str]:
        """How traces show the members: by their boundaries."""
        return [f"u{lower}_{upper}" for lower, upper in self.members]

    def numbers(self, bundles: Iterable[Bundle]) -> set[int]:
        """The members that these bundles are; a bundle that holds no hash is none."""
        return {self.members.index(bundle) for bundle in bundles if bundle.lower < bundle.upper}

    def with_hash(self, hash: int) -> list[int]:
        """The members that have a hash."""
        return [u for u, bundle in enumerate(self.members) if self.hashes.contains(*bundle, hash)]

    def within(self, u: int) -> list[int]:
        """The members that are a part of this one."""
        lower, upper = self.members[u]
        return [c for c, part in enumerate(self.members) if c != u and lower <= part.lower and part.upper <= upper]

    def splittable(self, u: int) -> bool:
        """Whether the member is large enough to be cut."""
        return bool(self.hashes.splittable(*self.members[u]))

    @property
    def have_room_for_two(self) -> bool:
        """Whether two members that share no hash can be cut."""
        large = [self.members[u] for u in range(len(self.members)) if self.splittable(u)]
        return any(one.upper <= other.lower for one in large for other in large)

    def parts(self, u: int, boundary: int) -> set[int]:
        """What the member falls into when it is cut there; nothing where the algorithm, or Pulsar, does not cut it."""
        lower, upper = self.members[u]
        if not self.splittable(u) or not self.hashes.admits(lower, upper, boundary, boundary):
            return set()
        if self.algorithm == RANGE and boundary != self.hashes.midpoint(lower, upper):
            return set()
        return self.numbers((Bundle(lower, boundary), Bundle(boundary, upper)))
