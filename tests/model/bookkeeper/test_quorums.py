"""Quorums of up to twenty bookies: the terms of the ledger against plain lists, as RoundRobinDistributionSchedule has them.

The plain side has, as BookKeeper's metadata do, the first entry of each ensemble and its bookies in the order of their places;
the other is what ``model/bookkeeper/ensembles.py`` says, compiled, through random changes of ensemble.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.kernel import Kernel
from fencepost.model.language import And, Protocol
from tests.marking import first_at_once

ENTRIES, FRAGMENTS, SPARE, CHANGING = 6, 3, 2, 3
SIZES = first_at_once(pytest.param(size) for size in ((20, 20, 11), (20, 7, 4), (9, 8, 1)))
Change = tuple[int, int, int]


@dataclass
class Plain:
    """The ensembles by their first entries."""

    ensemble: int
    write_quorum: int
    ack_quorum: int
    fragments: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fragments[0] = list(range(self.ensemble))

    def replace(self, leaving: int, joining: int, at: int) -> bool:
        """EnsembleUtils.replaceBookiesInEnsemble from an entry on; whether that can be."""
        last = max(self.fragments)
        members = self.fragments[last]
        possible = leaving in members and joining not in members and at >= last
        if not possible or (at > last and len(self.fragments) == FRAGMENTS):
            return False
        self.fragments[at] = [joining if bookie == leaving else bookie for bookie in members]
        return True

    def write_set(self, entry: int) -> set[int]:
        """Where the entry is."""
        members = self.fragments[max(first for first in self.fragments if first <= entry)]
        return {members[(entry + copy) % self.ensemble] for copy in range(self.write_quorum)}

    def is_covered(self, heard: set[int]) -> bool:
        """No entry of the last ensemble, however high, has an ack quorum of bookies that were not heard."""
        members = self.fragments[max(self.fragments)]
        places = ({members[(entry + copy) % self.ensemble] for copy in range(self.write_quorum)} for entry in range(60))
        return all(len(write_set - heard) < self.ack_quorum for write_set in places)


@cache
def terms(ensemble: int, write_quorum: int, ack_quorum: int) -> Kernel:
    """The terms: what is where, what covers the last ensemble, and the changes between a few bookies."""
    p = Protocol("quorums")
    bookie = p.universe("bookie", ensemble + SPARE)
    p.universe("fragment", FRAGMENTS)
    copy = Ensembles.declare(p, "copy", Striping(ensemble, write_quorum, ENTRIES))
    heard = p.subset("heard", bookie)
    changing = range(ensemble - CHANGING, ensemble + SPARE)

    @p.step(by="writer", o=changing, n=changing, at=range(ENTRIES))
    def replace(o: int, n: int, at: int) -> Any:
        """One bookie is replaced by another."""
        return And(o != n, copy.may_replace(o, n, at)), copy.replaced(o, n, at)

    holds = [copy.holds(b, e) for e in range(ENTRIES) for b in bookie]
    return Kernel(p, [copy.covered_by(heard.has, ack_quorum), copy.are_full(), *holds])


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES, ids=str)
@settings(max_examples=20)
@given(data=st.data())
def test_ensembles_change_as_the_lists_do(size: tuple[int, int, int], data: st.DataObject) -> None:
    kernel, plain, bookies = terms(*size), Plain(*size), size[0] + SPARE
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    names = [variable.name for variable in kernel.protocol.variables]
    some = st.integers(size[0] - CHANGING, bookies - 1)
    state = kernel.initial()[0]
    changes: list[Change] = data.draw(st.lists(st.tuples(some, some, st.integers(0, ENTRIES - 1)), max_size=6))
    for leaving, joining, at in changes:
        last = max(plain.fragments)
        if leaving == joining or at < last:  # the writer's next entry is never before its last ensemble
            continue
        number = numbers[f"replace({leaving}, {joining}, {at})"]
        assert (number in kernel.enabled(state)) == plain.replace(leaving, joining, at)
        if number in kernel.enabled(state):
            state = kernel.apply(state, number)
        silent = data.draw(st.sets(st.integers(0, bookies - 1), max_size=bookies))
        heard = set(range(bookies)) - silent
        raw = list(kernel.packing.unpack(state))
        raw[names.index("heard")] = sum(1 << bookie for bookie in heard)
        observed = set(kernel.observe(kernel.packing.pack(raw)))
        assert (0 in observed) == plain.is_covered(heard)
        assert 1 in observed
        stored = {divmod(number - 2, bookies) for number in observed - {0, 1}}
        assert stored == {(entry, bookie) for entry in range(ENTRIES) for bookie in plain.write_set(entry)}


def test_a_wrong_quorum_is_noticed() -> None:
    plain, wrong = Plain(20, 7, 4), Plain(20, 7, 3)
    silent = {0, 1, 2}
    heard = set(range(22)) - silent
    assert plain.is_covered(heard)
    assert not wrong.is_covered(heard)
    scattered = set(range(22)) - {0, 5, 10, 15}  # four of twenty, and no write set of seven has more than two of them
    assert plain.is_covered(scattered)
