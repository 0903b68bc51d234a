"""The transitions that a search records are those of its protocol, whoever writes them down and when."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search import transitions
from fencepost.model.kernel.search.graph import Graph, bytes_of_moves, graph_of, moves_of
from fencepost.model.kernel.search.results import Kept, Result
from fencepost.model.kernel.search.search import search
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS

ENOUGH = 1 << 28


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    entry = PROTOCOLS["ledger"]
    suite = entry.suite(entry.build({"entries": 1, "crashes": 1}))
    return Observed.of(suite, suite.properties).kernel


def graph(result: Result, workers: int) -> Graph:
    found = graph_of(result, workers=workers)
    assert found is not None
    return found


def same(one: Graph, other: Graph) -> bool:
    return all(
        (getattr(one, name) == getattr(other, name)).all() for name in ("depth", "rows", "targets", "actions", "observed")
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_recorded_is_what_an_expansion_of_all_states_gives(kernel: Kernel, workers: int) -> None:
    recorded = search(kernel, workers=workers, recording=ENOUGH)
    plain = search(kernel, workers=workers)
    assert recorded == plain
    assert recorded.reached.recorded is not None
    assert plain.reached.recorded is None
    assert same(graph(recorded, workers), graph(plain, workers))
    assert graph(recorded, workers).transitions == recorded.transitions == 125236


def test_the_rows_of_places_have_no_gap_and_no_overlap(kernel: Kernel) -> None:
    result = search(kernel, workers=2, recording=ENOUGH)
    moves = moves_of(result)
    assert moves is not None
    assert int(moves.counts.sum()) == result.transitions == len(moves.targets)
    some = np.flatnonzero(moves.counts)
    order = some[np.argsort(moves.first[some])]
    assert (np.cumsum(moves.counts[order])[:-1] == moves.first[order][1:]).all()


def test_of_what_does_not_fit_nothing_is_recorded_and_the_graph_is_the_same(kernel: Kernel) -> None:
    whole = search(kernel, workers=1, recording=ENOUGH)
    needed = whole.bytes_in_use + bytes_of_moves(whole)
    for memory in (1 << 16, needed // 2):
        cut = search(kernel, workers=1, recording=memory)
        assert cut == whole
        assert cut.reached.recorded is None
        assert same(graph(cut, 1), graph(whole, 1))


def test_a_search_that_is_kept_records_nothing(kernel: Kernel, tmp_path: Path) -> None:
    kept = search(kernel, workers=1, kept=Kept(tmp_path / "kept"), recording=ENOUGH)
    assert kept.reached.recorded is None
    assert same(graph(kept, 1), graph(search(kernel, workers=1, recording=ENOUGH), 1))


def test_an_expansion_tells_how_far_it_is(kernel: Kernel) -> None:
    result, told = search(kernel, workers=1), list[tuple[int, int]]()
    assert moves_of(result, workers=1, progress=lambda *done: told.append(done)) is not None
    assert all(done <= count == result.distinct for done, count in told)


def test_a_system_that_refuses_the_memory_of_a_record_gets_the_graph_later(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = graph(search(kernel, workers=1, recording=ENOUGH), 1)

    def refused(words: int, *, large_pages: bool = True) -> None:
        raise MemoryError("the system refuses")

    with monkeypatch.context() as system:
        system.setattr(transitions, "zeros", refused)
        plain = search(kernel, workers=1, recording=ENOUGH)
    assert plain.reached.recorded is None
    assert same(graph(plain, 1), whole)
