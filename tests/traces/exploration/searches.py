"""What an exhaustive search level by level has to find: what the engine in memory does."""

from __future__ import annotations

from dataclasses import fields

from fencepost.model.kernel.search.results import Result
from fencepost.model.kernel.search.search import search as engine
from fencepost.traces.exploration.levelwise import Searched
from fencepost.traces.exploration.run import Run

ALL = Run("ledger", {"entries": 1}, ("closes_at_lac",))


def by_itself(run: Run) -> Result:
    """What the one-machine engine establishes of the same instance."""
    observed = run.observed()
    return engine(observed.kernel, observed.sought())


def assert_same(result: Searched, wanted: Result) -> None:
    """Both establish the same, with the same runs."""
    for one in fields(Searched):
        if one.compare:
            assert getattr(result, one.name) == getattr(wanted, one.name), one.name
    for find in result.violations + result.watched:
        assert result.path(find) == wanted.path(find)


def with_a_bit_flipped(data: bytes) -> bytes:
    """The same with one bit changed."""
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
