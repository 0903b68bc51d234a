"""Ownership by the channel of the extensible load manager refines the stand-in of ownership, as that by locks does.

The node of the owner is the record of the unit, which goes from one broker to the next in one step, and stays when a session
expires. Without a fault a broker has topics open only while the record is its own.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.language import And, Condition, If
from fencepost.model.nobody import NOBODY
from fencepost.model.stand_ins.ownership import MOVES, stand_in
from fencepost.properties.service_unit.variables import ServiceUnitVariables, Units
from fencepost.properties.vocabulary import Suite

NAME = "is_the_owner_that_a_topic_has"
"""The property that says so."""

UNIT = 0
"""The unit of which it says so: units are alike."""

NEVER = ("acquire", "expire")
"""The moves of the stand-in that no step is: topics open after the record is written, and a record outlives a session."""

BOTH = ("taken_unowned", "deleted_while_owned")
"""The weak moves that it needs where sessions are lost; ``allows`` of a bug's history names those it needs besides."""


def channel_refinement(suite: Suite, now: Units, weak: Collection[str]) -> None:
    """Adds to a suite that each step is one of the stand-in with these weak moves, or changes nothing there."""
    s, broker, settings = ServiceUnitVariables.now(suite.protocol), now.broker, now.settings
    leaves = settings["unloads"] + settings["splits"] + now.brokers_go > 0
    never = NEVER if leaves else (*NEVER, "lose", "release")
    moves = [move for move in MOVES if move not in never]
    # Where no unit is moved, one lost session or process does not make a broker give one up: searches of two brokers, in both
    # stores, reach that only after two, of which one is a session.
    gives_up = settings["unloads"] + settings["splits"] + settings["shutdowns"] > 0
    gives_up |= settings["expiries"] > 0 and settings["expiries"] + settings["crashes"] > 1
    reached = [move for move in moves if gives_up or move != "release"]

    @suite.refines(stand_in(broker.size, 0, allows=weak, moves=moves), reached=reached)
    def is_the_owner_that_a_topic_has() -> dict[str, object]:
        """A topic sees which broker the record says, and which brokers have topics of the unit open."""
        record = now.record(UNIT)
        leaving = record.state.among("Releasing", "Splitting")

        def believes(b: int) -> Condition:
            return And(s.lives[b], s.topics[b, UNIT].among("open", "detaching", "late", "lingering"))

        owner = If(record.state == "Owned", record.dst, If(leaving, record.src, NOBODY))
        return {"owner": owner, "believes": believes, "expiries": 0}
