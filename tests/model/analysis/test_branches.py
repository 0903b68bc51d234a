"""The branches of actions."""

from __future__ import annotations

from typing import Any

from fencepost.model.analysis.branches import branches
from fencepost.model.language import And, If, Or, Protocol


def test_branches_are_the_alternatives_of_a_guard_and_the_ways_of_each_if() -> None:
    p = Protocol("door")
    shut, locked = p.flag("shut"), p.flag("locked")
    count = p.number("count", 0, 3)

    @p.step(by="somebody")
    def push() -> Any:
        """The door is pushed."""
        return And(count < 3, Or(shut, locked)), {count: If(shut, If(locked, count, count + 1), 0)}

    (action,) = p.actions
    found = [(str(taken), str(way)) for taken, way in branches(action)]
    assert found == [
        ("shut", "shut"),
        ("locked", "locked"),
        ("And(shut)", "shut"),
        ("And(Not(shut))", "Not(shut)"),
        ("And(shut, locked)", "locked"),
        ("And(shut, Not(locked))", "Not(locked)"),
    ]
