"""Shrinking of runs whose states are wide: a search near the run takes what it needs to begin with."""

from __future__ import annotations

from typing import Any

from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.kernel.search.search import least_memory
from fencepost.model.language import Protocol
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Suite
from fencepost.traces.replay import replay_on
from fencepost.traces.shrinking.shrinking import NEARBY


def wide() -> Suite:
    """Twelve whole words that nothing changes, and a lamp that goes on and off and never stays off."""
    p = Protocol("wide")
    p.number("word", 0, 2**64 - 1 - 2**63, per=p.universe("word_of", 12))
    lit = p.flag("lit")

    @p.step(by="lamp", fair=True)
    def switch() -> Any:
        """It goes on, or off."""
        return True, {lit: lit == False}  # noqa: E712 a term, not a truth value

    suite = Suite(p)

    @suite.leads_to
    def goes_out_for_good() -> Any:
        """What never comes."""
        return True, False

    return suite


def test_a_violation_is_shrunk_though_a_search_near_it_needs_more_than_is_meant_for_it() -> None:
    suite = wide()
    observed = Observed.of(suite, suite.properties)
    assert least_memory(observed.kernel, 1) > NEARBY
    (verdict,) = exhaust(observed, Budget(workers=1)).verdicts
    assert verdict.verdict == "violated"
    assert replay_on(verdict.trace, suite.protocol, suite).replays
