"""The arithmetic of boundaries, once: on Python's integers, and on terms, for all hashes at a time.

Java computes all of this in 64-bit longs, in which nothing here overflows (``properties/hash_range/arithmetic.py`` proves that
too), so unbounded integers stand for them. A condition is a bool for numbers and a formula for terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fencepost.model.java_numbers import choose, int_of, quotient

BUGS: dict[str, str] = {
    "lookup_hits_last_boundary": "Upstream as it is: a hash equal to the last boundary is looked up behind the last bundle.",
    "last_bundle_half_open": "The last bundle leaves its upper boundary out, as the others do.",
    "every_bundle_closed": "Every bundle includes its upper boundary, as the last does.",
    "last_boundary_too_high": "A new namespace ends at 2^32, the number of hashes, instead of 0xffffffff, the last hash.",
    "splits_any_bundle": "A bundle is split however small it is.",
    "boundaries_unchecked": "A split does not check that the boundaries it was given lie strictly inside the bundle.",
    "empty_bundles_allowed": "A bundle with equal boundaries, which holds no hash, is not refused.",
    "edges_kept": "specified_positions_divide keeps positions that are the bundle's own boundaries.",
    "midpoint_in_ints": "A midpoint is half the sum, in Java's 32-bit ints.",
}
"""The known bugs: switches of a HashRange."""


@dataclass(frozen=True)
class HashRange:
    """The hashes from 0 to ``last`` and what is done with their boundaries, with the given ``bugs`` switched on.

    Raises ValueError for a bug that does not exist.
    """

    last: int = 0xFFFFFFFF
    bugs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        unknown = self.bugs - BUGS.keys()
        if unknown:
            raise ValueError(f"the hash range has no bug {min(unknown)!r}; it has {', '.join(BUGS)}")

    # --- a bundle, from its lower boundary to its upper

    def contains(self, lower: Any, upper: Any, hash: Any) -> Any:
        """NamespaceBundle.includes: the bundle's range has this hash; it is closed above if it ends at the last hash."""
        if "every_bundle_closed" in self.bugs:
            return (lower <= hash) & (hash <= upper)
        below = hash < upper
        if "last_bundle_half_open" not in self.bugs:
            below = below | ((hash == upper) & (upper == self.last))
        return (lower <= hash) & below

    def accepts(self, lower: Any, upper: Any, is_last: Any) -> Any:
        """The constructors of NamespaceBundles and NamespaceBundle do not refuse this bundle of a layout.

        They want boundaries in order, the last bundle (and only it) to end at the last hash, and no bundle empty.
        """
        accepted = (lower <= upper) & ((upper == self.last) == is_last)
        return accepted if "empty_bundles_allowed" in self.bugs else accepted & ((lower < upper) | is_last)

    def splittable(self, lower: Any, upper: Any) -> Any:
        """NamespaceBundleFactory.canSplitBundle."""
        return (upper - lower > 1) | ("splits_any_bundle" in self.bugs)

    def admits(self, lower: Any, upper: Any, first: Any, final: Any) -> Any:
        """NamespaceBundleFactory.splitBundles takes a list of boundaries with this first and this final one."""
        return ((lower < first) & (final < upper)) | ("boundaries_unchecked" in self.bugs)

    # --- where a split cuts

    def keeps(self, lower: Any, upper: Any, position: Any) -> Any:
        """The positions of specified_positions_divide that it does not drop."""
        if "edges_kept" in self.bugs:
            return (lower <= position) & (position <= upper)
        return (lower < position) & (position < upper)

    def midpoint(self, lower: Any, upper: Any) -> Any:
        """Where range_equally_divide cuts a bundle, and topic_count_equally_divide between two hashes."""
        if "midpoint_in_ints" in self.bugs:
            return quotient(int_of(lower + upper), 2)
        return lower + quotient(upper - lower, 2)

    def behind_midpoint(self, lower: Any, upper: Any) -> Any:
        """Where flow_or_qps_equally_divide cuts between the hashes of two topics."""
        return self.midpoint(lower, upper) + 1

    def part(self, lower: Any, upper: Any, parts: Any, index: Any) -> Any:
        """Where part ``index`` (from 0) begins if splitBundles is told only into how many parts to cut."""
        return lower + index * quotient(upper - lower, parts)

    # --- a layout: boundaries 0 to count, of ``count`` bundles

    def equal(self, count: Any, index: Any) -> Any:
        """Boundary ``index`` of the layout of a new namespace of ``count`` bundles, as PoliciesUtil.getBundles makes it."""
        last = self.last + ("last_boundary_too_high" in self.bugs)
        return choose(index < count, lambda: index * quotient(self.last + 1, count), lambda: last)

    def spliced(self, boundary: Callable[[Any], Any], place: Any, inserted: Callable[[Any], Any], more: Any, index: Any) -> Any:
        """Boundary ``index`` of the layout in which ``more`` boundaries are inserted into the bundle at ``place``."""
        return choose(
            index <= place,
            lambda: boundary(index),
            lambda: choose(index <= place + more, lambda: inserted(index - place - 1), lambda: boundary(index - more)),
        )

    def narrowed(self, boundary: Callable[[Any], Any], low: Any, high: Any, hash: Any) -> tuple[Any, Any, Any, Any]:
        """One round of Arrays.binarySearch: the middle that it looks at, whether the hash is there, else where it goes on."""
        middle = quotient(low + high, 2)
        value = boundary(middle)
        return (
            middle,
            value == hash,
            choose(value < hash, lambda: middle + 1, lambda: low),
            choose(value < hash, lambda: high, lambda: middle - 1),
        )

    def place(self, is_hit: Any, at: Any, count: Any) -> Any:
        """NamespaceBundles.getBundle: the bundle's place after a search that found the hash ``at`` a boundary, or would there.

        Upstream has no bundle for the last boundary: the place that it takes is ``count``. What fixes that is to take the
        last bundle.
        """
        place = choose(is_hit, lambda: at, lambda: at - 1)
        if "lookup_hits_last_boundary" in self.bugs:
            return place
        return choose(place == count, lambda: count - 1, lambda: place)


FULL = HashRange()
"""Pulsar's hash range: 32 bits, with the lookup fixed."""
