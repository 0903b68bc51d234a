"""Layouts of the real hash range under splits by all four algorithms, as a state machine for Hypothesis.

After every split each hash is in one bundle and is looked up there, a bundle that may be split is cut in its middle if that is
asked for, and the split is a step of ``model/pulsar/split.py``, which knows only a few hashes. What of the real layout that
protocol sees is told by a few representatives, hashes in rising order: its hash i stands for the i-th. A real bundle is then
the abstract bundle of the representatives that it has, or nothing if it has none. A cut that parts them is a cut of the
protocol, several are several, one after the other, and any other is no step. The last two representatives are the last two
hashes, between which nothing can be cut, as in the protocol.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fencepost.model.kernel import Kernel
from fencepost.model.pulsar.hash_range import (
    ALGORITHMS,
    FULL,
    Bundle,
    HashRange,
    Layout,
    Refused,
    TopicLoad,
    algorithms,
    topic_hash,
)
from fencepost.model.pulsar.split import split

MOST_BUNDLES = 128
"""loadBalancerNamespaceMaximumBundles."""

FREE = 4
"""Representatives that may be chosen."""


class Abstract:
    """The split protocol, as the abstract side of real layouts: what of it is about the layout alone."""

    def __init__(self) -> None:
        self.hashes = FREE + 2
        self.kernel = Kernel(
            split(brokers=1, hashes=self.hashes, algorithm=algorithms.POSITIONS, maximum=self.hashes, in_order=False)
        )
        self._members = {name: number for number, name in enumerate(self.kernel.protocol.universes["bundle"].names)}
        self._numbers = {action.label: number for number, action in enumerate(self.kernel.actions)}

    def bundles(self, layout: Layout, representatives: Sequence[int]) -> list[Bundle]:
        """The abstract bundles of a layout."""
        last = self.hashes - 1
        ends = [bisect_left(representatives, boundary) for boundary in layout.boundaries[:-1]] + [last]
        return [Bundle(lower, upper) for lower, upper in pairwise(ends) if lower < upper]

    def steps(self, before: Layout, after: Layout, representatives: Sequence[int]) -> list[str]:
        """The actions of the protocol by which one layout becomes the other; none if they are the same to it.

        Raises AssertionError if there are no such actions.
        """
        layout, wanted = self.bundles(before, representatives), self.bundles(after, representatives)
        taken: list[str] = []
        for cut in sorted({b.lower for b in wanted} - {b.lower for b in layout}):
            parent = next(b for b in layout if b.lower < cut < b.upper)
            layout = self._cut(layout, parent, cut, taken)
        assert layout == wanted, f"the protocol has {layout}, and the layout is {wanted}"
        return taken

    def _cut(self, layout: list[Bundle], parent: Bundle, cut: int, taken: list[str]) -> list[Bundle]:
        """The abstract layout after the protocol has prepared a split of the bundle and written it."""
        protocol = self.kernel.protocol
        name = f"u{parent.lower}_{parent.upper}"
        mask = sum(1 << self._members[f"u{b.lower}_{b.upper}"] for b in layout)
        values = {"layout": mask, "view[b0]": mask, "split[b0]": 1, "parent[b0]": self._members[name]}
        raw = [values.get(variable.name, variable.initial[0]) for variable in protocol.variables]
        state = self.kernel.packing.pack(raw)
        for label in (f"prepare(b0, {name}, {cut})", "write(b0)"):
            assert self._numbers.get(label) in self.kernel.enabled(state), f"{label} is not enabled"
            state = self.kernel.apply(state, self._numbers[label])
            taken.append(label)
        after = dict(zip((v.name for v in protocol.variables), self.kernel.packing.unpack(state), strict=True))["layout"]
        return sorted(Bundle(*map(int, n[1:].split("_"))) for n, number in self._members.items() if after >> number & 1)


TOPICS = st.integers(0, 10**6).map(
    lambda number: f"persistent://tenant/namespace/orders-{number // 16}-partition-{number % 16}"
)
LOADS = st.tuples(st.integers(0, 40_000), st.integers(0, 120 * algorithms.MEBIBYTE))
NEAR = st.integers(-2, 2)


class LayoutMachine(RuleBasedStateMachine):
    """A namespace with topics whose bundles are split, every split compared with the protocol.

    Subclasses set ``hashes`` to a range with bugs.
    """

    hashes: ClassVar[HashRange] = FULL

    def __init__(self) -> None:
        super().__init__()
        self.layout = Layout.of_equal_bundles(1, self.hashes)
        self.loads: dict[int, tuple[int, int]] = {}

    @initialize(count=st.integers(1, MOST_BUNDLES // 2))
    def create(self, count: int) -> None:
        """The namespace is created with so many bundles."""
        self.layout = Layout.of_equal_bundles(count, self.hashes)

    @rule(topics=st.dictionaries(TOPICS, LOADS, min_size=1, max_size=20))
    def create_topics(self, topics: dict[str, tuple[int, int]]) -> None:
        """Topics come, by their names."""
        self.loads |= {topic_hash(name): load for name, load in topics.items()}

    @rule(place=st.integers(0, MOST_BUNDLES), near=NEAR, load=LOADS)
    def create_topic_at(self, place: int, near: int, load: tuple[int, int]) -> None:
        """A topic comes whose hash is at a boundary, or beside it, which few names have."""
        boundary = self.layout.boundaries[place % len(self.layout.boundaries)]
        self.loads[min(max(boundary + near, 0), self.hashes.last)] = load

    @rule(
        place=st.integers(0, MOST_BUNDLES - 1),
        algorithm=st.sampled_from(ALGORITHMS),
        positions=st.lists(st.integers(0, FULL.last), min_size=1, max_size=4),
        seen=st.lists(st.tuples(st.integers(0, MOST_BUNDLES), NEAR), min_size=FREE, max_size=FREE),
    )
    def split(self, place: int, algorithm: str, positions: list[int], seen: list[tuple[int, int]]) -> None:
        """A bundle is split, and the protocol, which sees representatives beside some boundaries, takes the same steps."""
        bundle = self.layout.bundles[place % len(self.layout)]
        cuts = self.cuts(algorithm, bundle, positions)
        try:
            after = self.layout.split(bundle, cuts) if cuts else None
        except Refused:
            after = None
        if algorithm == algorithms.RANGE and bundle.upper - bundle.lower > 1:
            assert after is not None, f"{bundle} is not cut at {cuts}"
        if after is None or len(after) > MOST_BUNDLES:
            return
        edges = [*(cuts or []), *bundle, *after.boundaries[:: len(after)]]
        chosen = {min(max(edges[index % len(edges)] + near, 0), FULL.last - 2) for index, near in seen}
        spare = (hash for hash in range(FREE) if hash not in chosen)
        representatives = sorted({*chosen, *(next(spare) for _ in range(FREE - len(chosen)))})
        abstract().steps(self.layout, after, [*representatives, FULL.last - 1, FULL.last])
        self.layout = after

    def cuts(self, algorithm: str, bundle: Bundle, positions: list[int]) -> list[int] | None:
        """Where the algorithm cuts the bundle, with the topics that are looked up in it."""
        inside = [hash for hash in self.loads if self.layout.find(hash) == bundle]
        if algorithm == algorithms.RANGE:
            return algorithms.range_equally_divide(bundle, self.hashes)
        if algorithm == algorithms.TOPIC_COUNT:
            return algorithms.topic_count_equally_divide(inside, self.hashes)
        if algorithm == algorithms.POSITIONS:
            within = [bundle.lower + position % (bundle.upper - bundle.lower + 1) for position in positions]
            return algorithms.specified_positions_divide(bundle, within, len(inside), force=True, hashes=self.hashes)
        loads = [TopicLoad(hash, *self.loads[hash]) for hash in inside]
        return algorithms.flow_or_qps_equally_divide(loads, hashes=self.hashes)

    @invariant()
    def every_hash_is_in_one_bundle_and_is_looked_up_there(self) -> None:
        """Of the topics, and of the hashes at each boundary and beside it."""
        beside = {boundary + near for boundary in self.layout.boundaries for near in (-1, 0, 1)}
        hashes = np.array([hash for hash in {*self.loads, *beside} if 0 <= hash <= FULL.last])
        lower, upper = np.array(self.layout.boundaries[:-1]), np.array(self.layout.boundaries[1:])
        has = self.hashes.contains(lower, upper, hashes[:, np.newaxis])
        for hash, having in zip(hashes.tolist(), has, strict=True):
            holders, answer = [self.layout.bundles[place] for place in np.flatnonzero(having)], self.layout.find(hash)
            assert holders == [answer], f"{hash:#010x} is in {', '.join(map(str, holders))}, and is looked up in {answer}"

    @invariant()
    def boundaries_rise_over_the_whole_range(self) -> None:
        """From 0 to the last hash."""
        boundaries = self.layout.boundaries
        assert (boundaries[0], boundaries[-1]) == (0, FULL.last)
        assert all(one < other for one, other in pairwise(boundaries)), f"{boundaries} do not rise"


@cache
def abstract() -> Abstract:
    """The abstract side, made once."""
    return Abstract()
