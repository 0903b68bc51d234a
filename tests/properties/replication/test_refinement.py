"""That auto-recovery refines its stand-in, which known bugs need its weak move, and what a stand-in does not know."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from fencepost.checks.public_calls import explore
from fencepost.model.bookkeeper.replication import replication
from fencepost.model.language import ModelError
from fencepost.model.stand_ins.copies import WEAK, copies
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.replication.refinement import NAME, replication_refinement
from fencepost.properties.replication.variables import Terms
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once


def refines(parameters: Mapping[str, Any], weak: Collection[str] = (), bugs: Collection[str] = ()) -> bool:
    suite = Suite(replication(**parameters, bugs=tuple(bugs)))
    replication_refinement(suite, Terms(suite.protocol), weak)
    (outcome,) = explore(suite, properties=[NAME]).verdicts
    assert outcome.verdict in ("exhausted", "violated")
    return outcome.verdict == "exhausted"


def test_a_copy_that_was_made_in_time_comes_back() -> None:
    """A cluster may have no copy that the metadata name, and have one again: it was made before the last of those was lost."""
    assert refines({"gaps": 1, "rots": 1})


REPLICATION = PROTOCOLS["replication"].bugs


@pytest.mark.parametrize("bug", first_at_once(list(REPLICATION)))
def test_what_the_stand_in_allows_with_each_bug(bug: str) -> None:
    needs = REPLICATION[bug].allows
    assert refines(REPLICATION[bug].shown_by, needs, [bug])
    assert not needs or not refines(REPLICATION[bug].shown_by, (), [bug])


def test_a_stand_in_has_no_weak_move_that_it_does_not_know() -> None:
    assert {move for bug in REPLICATION.values() for move in bug.allows} == set(WEAK)
    with pytest.raises(ModelError, match="copies: copies have no weak move 'cut'; they have dropped"):
        copies(allows=("cut",))
