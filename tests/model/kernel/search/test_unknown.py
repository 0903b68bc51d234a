"""Successors that are struck out as they are made: the same as those of ``Pieces``, without what is known."""

from __future__ import annotations

import numpy as np
import pytest

from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search import unknown
from fencepost.model.kernel.search.collapsed import Collapsed
from fencepost.model.kernel.search.expansion import DEADLOCKS, TRANSITIONS, Tally
from fencepost.model.kernel.search.pieces import Pieces
from fencepost.model.kernel.search.unknown import Unknown
from fencepost.traces.exploration.levelwise import finds_of
from tests.traces.exploration.searches import ALL, by_itself


def counted(tally: Tally) -> list[object]:
    return [tally.counters[[TRANSITIONS, DEADLOCKS]].tolist(), tally.enabled.tolist()]


@pytest.mark.parametrize("held", [unknown._HELD, 100], ids=["at once", "handed over in pieces"])
def test_what_is_new_comes_once(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    monkeypatch.setattr(unknown, "_HELD", held)
    monkeypatch.setattr(unknown, "_PIECE", 70)  # one more group of states than 64, which is not whole
    observed, result = ALL.observed(), by_itself(ALL)
    levels = [result.level(depth) for depth in (7, 8)]
    plain, states = Pieces(observed.kernel, finds_of(observed)), np.concatenate(levels)
    wanted = np.unique(np.concatenate(list(plain.successors([states]))), axis=0)
    with Crew(1) as crew:
        known = Collapsed(states, 1 << 26, 1)
        assert known.make_room(len(states) + len(wanted), crew)
        known.unknown(levels[1], 0)
        steps = Unknown(observed.kernel, finds_of(observed), known, 0)
        new: list[Words] = [piece.copy() for piece in steps.successors(levels)]
    assert steps.every
    assert (len(new) > 1) == (held == 100)
    rows = [tuple(row) for row in np.concatenate(new).tolist()]
    assert sorted(rows) == sorted({tuple(row) for row in wanted.tolist()} - {tuple(row) for row in levels[1].tolist()})
    assert counted(steps.worker) == counted(plain.worker)
    assert np.array_equal(steps.worker.seen_steps, plain.worker.seen_steps)
